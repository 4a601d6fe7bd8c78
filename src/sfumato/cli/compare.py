"""sfumato compare"""

from pathlib import Path
from typing import Annotated

import typer

from sfumato.attacks.comparison import COLUMNS, Comparison
from sfumato.attacks.comparison import compare as compared
from sfumato.cli.format import Format, WithPageAndText
from sfumato.cli.output import as_csv, as_json, as_table, beside, number, split, write
from sfumato.cli.progress import progress
from sfumato.cli.writable import Static, ToFile, page_ready, ready
from sfumato.tables.reading import read_file

app = typer.Typer(add_completion=False)


@app.command()
def compare(
    rows: Annotated[
        Path | None,
        typer.Argument(
            metavar="TABLE",
            help="A CSV, JSON, Parquet or Arrow file, one row per person; a made-up town if left out.",
        ),
    ] = None,
    quasi: Annotated[str, typer.Option(help="Numeric columns that the attacker knows, e.g. age,hours.")] = "",
    sensitive: Annotated[str | None, typer.Option(help="The sensitive column, with few values.")] = None,
    value: Annotated[str | None, typer.Option(help="A numeric column that is nobody's business.")] = None,
    epsilon: Annotated[str, typer.Option(help="Epsilon of each session, e.g. 0.1,1,10.")] = "0.1,1,3,10",
    k: Annotated[int, typer.Option(min=2, help="k of the k-anonymous release.")] = 5,
    seed: Annotated[int, typer.Option(min=0, help="Seed of who is held out and of generated data.")] = 0,
    format: Annotated[WithPageAndText, typer.Option(help="How to print.")] = Format.table,
    output: ToFile = None,
    static: Static = False,
) -> None:
    """Every method on the same table, the same questions and the same attacker, beside differential privacy.

    sfumato compare --format html --output compared.html
    """
    ready(output)
    page_ready(wanted=format is Format.html, static=static)
    attacked = None if rows is None else read_file(rows, typed=True)
    prices = [float(number(part, "epsilon")) for part in split(epsilon)]
    with progress("Comparing …") as report:
        found = compared(
            attacked,
            quasi=split(quasi),
            sensitive=sensitive,
            value=value,
            epsilons=prices,
            k=k,
            seed=seed,
            progress=report,
        )
    write(_rendered(found, format, static=static), output)
    if format not in (Format.table, Format.html):
        beside(found.notes)


def _rendered(found: Comparison, format: WithPageAndText, *, static: bool) -> str:
    rows = [dict(zip(COLUMNS, row, strict=True)) for row in found.table()]
    match format:
        case Format.html:
            return found.page(static=static)
        case Format.json:
            return as_json(found.rows)
        case Format.csv:
            return as_csv(COLUMNS, rows)
        case Format.markdown:
            return found.markdown()
        case _:
            return as_table(COLUMNS, rows, title="methods compared", footer="\n".join([found.says(), *found.notes]))
