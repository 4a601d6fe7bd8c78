"""sfumato ledger verify | show | raise | analyst: for the owner of a table."""

from contextlib import closing
from dataclasses import asdict, fields
from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.format import Format, Usual
from sfumato.cli.output import as_csv, as_json, as_table, number, print_record, write
from sfumato.cli.writable import ToFile
from sfumato.ledger.history import Line
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.vouching import re_anchor
from sfumato.schema.numbers import exact_positive, shown
from sfumato.schema.policy import Policy, load_policy
from sfumato.visible import visible

app = typer.Typer(
    add_completion=False, no_args_is_help=True, help="Verify and show the ledger; record the owner's changes."
)

PolicyFile = Annotated[Path, typer.Argument(help="The policy file, e.g. people.toml.")]
FormatOption = Annotated[Usual, typer.Option(help="How to print.")]


@app.command()
def verify(
    policy: PolicyFile,
    re_anchor_lost: Annotated[
        bool, typer.Option("--re-anchor", help="Make a lost anchor anew: you vouch for this ledger.")
    ] = False,
    format: FormatOption = Format.table,
) -> None:
    """Check the file, every entry, what they say together, and the anchor."""
    loaded = load_policy(policy)
    if re_anchor_lost:
        re_anchor(loaded.ledger, loaded.anchor)
    with closing(_open(loaded)) as ledger:
        count = ledger.verify()
    said = f"{count} {'entry' if count == 1 else 'entries'}, all sound."
    print_record({"ledger": loaded.ledger.name, "entries": count, "verified": True}, said, format)


@app.command()
def show(
    policy: PolicyFile,
    format: FormatOption = Format.table,
    output: ToFile = None,
) -> None:
    """List every entry, oldest first: charges, answers and failures kept, and all changes of limits."""
    with closing(_open(load_policy(policy))) as ledger:
        rows = [asdict(line) for line in ledger.lines()]
    columns = [field.name for field in fields(Line)]
    if format is Format.json:
        write(as_json(rows), output)
    else:
        write(as_csv(columns, rows) if format is Format.csv else as_table(columns, rows), output)


@app.command("raise")
def raise_limit(policy: PolicyFile, format: FormatOption = Format.table) -> None:
    """Put the limit that the policy file now says into force. The change is an entry of the ledger."""
    loaded = load_policy(policy)
    with closing(_open(loaded)) as ledger:
        ledger.record_limit()
    said = {"epsilon": float(loaded.budget.epsilon), "delta": float(loaded.budget.delta)}
    print_record(said, f"The limit is now {loaded.budget}.", format)


@app.command()
def analyst(
    policy: PolicyFile,
    name: Annotated[str, typer.Argument(help="The analyst.")],
    epsilon: Annotated[str, typer.Option(help="How much of the table's limit this analyst may spend.")],
    format: FormatOption = Format.table,
) -> None:
    """Limit what one analyst may spend. The change is an entry of the ledger."""
    amount = exact_positive(number(epsilon, "epsilon"), "epsilon")
    with closing(_open(load_policy(policy))) as ledger:
        ledger.limit_analyst(name, amount)
    print_record(
        {"analyst": name, "epsilon": float(amount)},
        f'"{visible(name)}" may spend epsilon {shown(amount)} in all.',
        format,
    )


def _open(policy: Policy) -> Ledger:
    return Ledger(policy.ledger, schema=policy.schema, budget=policy.budget, anchor=policy.anchor)
