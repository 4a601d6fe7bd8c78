"""sfumato budget"""

from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.output import Format, as_csv, as_json, as_table, write
from sfumato.ledger.terms import rounded_down
from sfumato.session import DEFAULT_ANALYST, open_policy

app = typer.Typer(add_completion=False)


@app.command()
def budget(
    policy: Annotated[Path, typer.Argument(help="The policy file, e.g. people.toml.")],
    analyst: Annotated[str, typer.Option(help="Whose budget.")] = DEFAULT_ANALYST,
    format: Annotated[Format, typer.Option(help="How to print.")] = Format.table,
    output: Annotated[Path | None, typer.Option(help="Write to this file instead of the screen.")] = None,
) -> None:
    """Show the limit, what is spent in all, and the largest spend that would still be granted."""
    with open_policy(policy, analyst=analyst) as session:
        balance, unit, questions = session.budget, str(session.schema.unit), len(session.history())
    amounts = {"limit": balance.limit, "spent": balance.spent, "left": balance.left}
    if format is Format.json:
        content = {name: {"epsilon": amount.epsilon, "delta": amount.delta} for name, amount in amounts.items()}
        write(as_json({**content, "unit": unit, "analyst": analyst, "charges": questions}), output)
        return
    rows = [
        {"": name, "epsilon": rounded_down(amount.epsilon, 9), "delta": f"{amount.delta:g}"}
        for name, amount in amounts.items()
    ]
    columns = ["", "epsilon", "delta"]
    if format is Format.csv:
        write(as_csv(columns, rows), output)
        return
    footer = f"Protects one {unit}. {questions} charge{'' if questions == 1 else 's'} so far."
    if balance.limit.delta:
        footer += "\nSpent and left need not add up to the limit: many small questions cost less than their sum."
    write(as_table(columns, rows, footer=footer), output)
