"""sfumato budget"""

from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.format import Format, Usual
from sfumato.cli.output import as_csv, as_json, as_table, number, write
from sfumato.cli.writable import ToFile
from sfumato.ledger.terms import rounded_down
from sfumato.protected import Protected
from sfumato.session import DEFAULT_ANALYST

app = typer.Typer(add_completion=False)


@app.command()
def budget(
    policy: Annotated[Path, typer.Argument(help="The policy file, e.g. people.toml.")],
    analyst: Annotated[str, typer.Option(help="Whose budget.")] = DEFAULT_ANALYST,
    spend: Annotated[str | None, typer.Option(help="How many more questions at this spend fit; else the last.")] = None,
    format: Annotated[Usual, typer.Option(help="How to print.")] = Format.table,
    output: ToFile = None,
) -> None:
    """Show the limit, what is spent in all, and the largest spend that would still be granted."""
    with Protected.open(policy) as owned:
        session, charges = owned.session(analyst), owned.history()
        balance, unit = session.budget, str(session.schema.unit)
        own = [charge.spend for charge in charges if charge.analyst == analyst]
        each = float(number(spend, "spend")) if spend is not None else own[-1] if own else None
        more = None if each is None else session.questions_left(each)
    questions = len(charges)
    amounts = {"limit": balance.limit, "spent": balance.spent, "left": balance.left}
    if format is Format.json:
        content = {name: {"epsilon": amount.epsilon, "delta": amount.delta} for name, amount in amounts.items()}
        write(
            as_json(
                {
                    **content,
                    "left_for_keys": balance.left_for_keys if balance.limit.delta else None,
                    "unit": unit,
                    "analyst": analyst,
                    "charges": questions,
                    "spend": each,
                    "more": more,
                }
            ),
            output,
        )
        return
    columns = ["", "epsilon", "delta"]
    cells = [(name, rounded_down(amount.epsilon, 9), f"{amount.delta:g}") for name, amount in amounts.items()]
    if balance.limit.delta:
        cells.append(("left for keys", "", f"{balance.left_for_keys:g}"))
    rows = [dict(zip(columns, row, strict=True)) for row in cells]
    if format is Format.csv:
        write(as_csv(columns, rows), output)
        return
    footer = f"Protects one {unit}. {questions} charge{'' if questions == 1 else 's'} so far."
    if balance.limit.delta:
        footer += (
            "\nSpent and left need not add up to the limit: many small questions cost less than their sum."
            "\nLeft for keys: the delta from which questions that discover keys take theirs."
        )
    if more is not None:
        footer += (
            f"\nAbout {more:,} more question{'' if more == 1 else 's'} at epsilon {each:g} fit{'s' * (more == 1)}."
        )
    write(as_table(columns, rows, footer=footer), output)
