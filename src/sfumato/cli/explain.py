"""sfumato explain"""

from pathlib import Path
from typing import Annotated

import typer

from sfumato.answers.columns import CONFIDENCE
from sfumato.cli.format import Format, Usual
from sfumato.cli.output import as_csv, as_json, write
from sfumato.cli.spending import Clipped, MaxGroups, MaxRows, MaxRowsPerGroup, settled
from sfumato.cli.writable import ToFile
from sfumato.protected import open_policy
from sfumato.query.capping import CapsGiven
from sfumato.session import DEFAULT_ANALYST

app = typer.Typer(add_completion=False)


@app.command()
def explain(
    policy: Annotated[Path, typer.Argument(help="The policy file, e.g. people.toml.")],
    question: Annotated[str, typer.Argument(help="SELECT … FROM table [WHERE …] [GROUP BY …]")],
    spend: Annotated[str | None, typer.Option(help="How much epsilon the question may cost, e.g. 0.5.")] = None,
    error: Annotated[str | None, typer.Option(help="Or the error bar it may have, e.g. 10.")] = None,
    column: Annotated[str | None, typer.Option(help="Whose error bar, if the question has several numbers.")] = None,
    rows: Annotated[
        int | None,
        typer.Option(help="About how many rows a group has, your guess: tells errors that depend on it, e.g. 1000."),
    ] = None,
    delta: Annotated[
        str | None,
        typer.Option(help="Delta for discovering keys, e.g. 1e-9 (default: a fiftieth of the pot for keys)."),
    ] = None,
    max_rows: MaxRows = None,
    max_groups: MaxGroups = None,
    max_rows_per_group: MaxRowsPerGroup = None,
    clipped: Clipped = False,
    analyst: Annotated[str, typer.Option(help="Who is asking.")] = DEFAULT_ANALYST,
    sql: Annotated[bool, typer.Option("--sql", help="Show the SQL that would run, too.")] = False,
    format: Annotated[Usual, typer.Option(help="How to print.")] = Format.table,
    output: ToFile = None,
) -> None:
    """Show plan, sensitivity, cost and expected error, with --sql also the SQL; touches neither data nor budget."""
    caps = CapsGiven(max_rows=max_rows, max_groups=max_groups, max_rows_per_group=max_rows_per_group, clipped=clipped)
    with open_policy(policy, analyst=analyst) as session:
        amount, chosen = settled(
            session,
            question,
            spend=spend,
            error=error,
            column=column,
            delta=delta,
            confidence=CONFIDENCE,
            caps=caps,
            rows=rows,
        )
        explanation = session.explain(question, spend=amount, rows=rows, **caps)
    if format is Format.json:
        text = as_json(explanation.to_dict())
    elif format is Format.csv:
        steps = explanation.to_dict()["steps"]
        text = as_csv(["measures", "sensitivity", "rule", "share"], steps)
    else:
        text = f"{chosen}{explanation.as_text(sql=sql)}\n"
    write(text, output)
