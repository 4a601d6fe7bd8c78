"""sfumato attack"""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from sfumato.attacks.shows import ABOUT, SHOWS, Demonstration, staged
from sfumato.attacks.shows.pages import COLUMNS, report, save_plot, table
from sfumato.attacks.wordings import attack_missing
from sfumato.cli.format import Format, WithPage
from sfumato.cli.output import as_csv, as_json, as_table, beside, number, split, write
from sfumato.cli.progress import progress
from sfumato.cli.writable import PAGE, Static, ToFile, page_ready, ready
from sfumato.tables.reading import read_file

EVERY = "all"

app = typer.Typer(add_completion=False)


@app.command()
def attack(
    name: Annotated[str | None, typer.Argument(help="The attack, or all; --list names them.")] = None,
    rows: Annotated[
        Path | None,
        typer.Argument(
            metavar="TABLE",
            help="A CSV, JSON, Parquet or Arrow file, one row per person; a made-up town if left out.",
        ),
    ] = None,
    listed: Annotated[bool, typer.Option("--list", help="List the attacks and leave.")] = False,
    quasi: Annotated[str, typer.Option(help="Quasi-identifiers of your table, e.g. age,sex,zip.")] = "",
    sensitive: Annotated[str | None, typer.Option(help="The sensitive column of your table.")] = None,
    columns: Annotated[str, typer.Option(help="Numeric columns of your table, e.g. age,income.")] = "",
    epsilon: Annotated[str, typer.Option(help="What the session promises in all; for timing, in each answer.")] = "1",
    k: Annotated[int, typer.Option(min=2, help="k of the k-anonymous release.")] = 5,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the order of rows and of generated data.")] = 0,
    plot: Annotated[Path | None, typer.Option(help="Draw it into this .html, .png or .svg file.")] = None,
    format: Annotated[WithPage, typer.Option(help="How to print.")] = Format.table,
    output: ToFile = None,
    static: Static = False,
) -> None:
    """Run an attack on the bare table, on an older protection and through differential privacy, side by side.

    sfumato attack tracker · sfumato attack homogeneity people.csv --quasi age,sex,zip --sensitive diagnosis
    """
    if listed:
        write(_list(format), output)
        return
    if name is None:
        raise attack_missing()
    ready(output, plot=plot)
    drawn = plot is not None and plot.suffix.lower() == PAGE
    page_ready(wanted=drawn or format is Format.html, static=static)
    attacked = None if rows is None else read_file(rows, typed=True)
    chosen = list(SHOWS) if name == EVERY else [name]
    price = float(number(epsilon, "epsilon"))
    roles = {"quasi": split(quasi), "columns": split(columns)}
    shown: list[Demonstration] = []
    with progress("Attacking …") as done:
        done(0, "checking")
        demonstrations = [
            staged(each, attacked, sensitive=sensitive, epsilon=price, k=k, seed=seed, **roles) for each in chosen
        ]
        for place, (each, go) in enumerate(zip(chosen, demonstrations, strict=True)):
            done(place / len(chosen), each.replace("_", " "))
            shown.append(go())
    if plot is not None:
        save_plot(shown, plot, static=static)
    write(_rendered(shown, format, one=name != EVERY, static=static), output)
    if format not in (Format.table, Format.html):
        beside(note for each in shown for note in each.notes)


def _list(format: WithPage) -> str:
    rows = [{"attack": name, "what it does": ABOUT[name]} for name in SHOWS]
    if format is Format.json:
        return as_json(rows)
    if format is Format.csv:
        return as_csv(["attack", "what it does"], rows)
    return as_table(["attack", "what it does"], rows)


def _rendered(shown: Sequence[Demonstration], format: WithPage, *, one: bool, static: bool) -> str:
    if format is Format.html:
        return report(shown, static=static)
    if format is Format.json:
        content: list[dict[str, Any]] = [
            {"attack": each.name, "says": each.says, "notes": list(each.notes), "cases": each.rows} for each in shown
        ]
        return as_json(content[0] if one else content)
    if format is Format.csv:
        names = ["attack", "protection", "success", "outsiders", "chance", "bound", "attempts", "works"]
        rows = [{"attack": each.name, **_blanks(row)} for each in shown for row in each.rows]
        return as_csv(names, rows)
    return "".join(
        as_table(
            COLUMNS,
            [dict(zip(COLUMNS, row, strict=True)) for row in table(each).rows],
            title=each.name.replace("_", " "),
            footer="\n".join([each.says, *each.notes]),
        )
        for each in shown
    )


def _blanks(row: dict[str, Any]) -> dict[str, Any]:
    return {name: "" if value is None else value for name, value in row.items()}
