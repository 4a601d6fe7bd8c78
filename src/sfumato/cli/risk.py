"""sfumato risk"""

from pathlib import Path
from typing import Annotated, Any

import typer

from sfumato import anonymise
from sfumato.cli.anonymise_output import parts
from sfumato.cli.format import Format, Usual
from sfumato.cli.output import as_csv, as_json, as_table, number, write
from sfumato.cli.progress import progress
from sfumato.cli.writable import Static, ToFile, page_ready, ready

SHOWN = 12

app = typer.Typer(add_completion=False)


@app.command(no_args_is_help=True)
def risk(
    table: Annotated[Path, typer.Argument(help="A CSV, JSON, Parquet or Arrow file.")],
    quasi: Annotated[
        list[str] | None, typer.Option(help="What others may know: columns, repeated or with commas.")
    ] = None,
    sensitive: Annotated[list[str] | None, typer.Option(help="What must not come out: columns.")] = None,
    policy: Annotated[Path | None, typer.Option(help="A policy whose columns have roles.")] = None,
    population: Annotated[Path | None, typer.Option(help="A larger table from which these rows were drawn.")] = None,
    subset: Annotated[int, typer.Option(min=1, help="Measure all subsets of up to so many columns.")] = 3,
    threshold: Annotated[str, typer.Option(help="Rows are at risk above this probability.")] = "0.2",
    report: Annotated[Path | None, typer.Option(help="Write a page with plots to this .html file.")] = None,
    static: Static = False,
    format: Annotated[Usual, typer.Option(help="How to print.")] = Format.table,
    output: ToFile = None,
) -> None:
    """Measure who stands out in a table: uniqueness, three attackers, k, l, t, the smallest groups.

    sfumato risk people.csv --quasi age,sex,zip --sensitive disease --report risk.html
    """
    ready(report, output)
    page_ready(wanted=report is not None, static=static)
    names, secrets, _ = parts(quasi, sensitive, policy)
    with progress("Counting groups …") as done:
        found = anonymise.risk(
            table,
            names,
            sensitive=secrets,
            population=population,
            subset=subset,
            threshold=float(number(threshold, "threshold")),
            progress=done,
        )
    if report is not None:
        found.save(report, static=static)
    match format:
        case Format.json:
            write(as_json(found.to_dict()), output)
        case Format.csv:
            rows = [{**one.to_dict(), "columns": " + ".join(one.columns)} for one in found.subsets]
            write(as_csv(list(rows[0]), rows), output)
        case _:
            write(_tables(found, report), output)


def _tables(found: anonymise.Risk, report: Path | None) -> str:
    facts: dict[str, Any] = {
        "rows": f"{found.rows:,}",
        "unique rows": f"{found.unique:.1%}",
        "rows in groups below 5": f"{found.below_small:.1%}",
        "k": found.k,
        "l": found.l,
        "t": None if found.t is None else f"{found.t:.4f}",
        "prosecutor: highest, average": f"{found.prosecutor:.2%}, {found.prosecutor_average:.2%}",
        "prosecutor: rows at risk": f"{found.prosecutor_at_risk:.1%}",
        "journalist: highest, average": f"{found.journalist:.2%}, {found.journalist_average:.2%}",
        "marketer": f"{found.marketer:.2%}",
        "smallest groups": ", ".join(str(size) for size in found.smallest),
    }
    rows = [{"what": what, "value": str(value)} for what, value in facts.items() if value is not None]
    telling = [
        {"columns": " + ".join(one.columns), "unique": f"{one.unique:.1%}", "k": one.k} for one in found.subsets[:SHOWN]
    ]
    where = f"Wrote {report}." if report is not None else "For a page with plots add --report risk.html."
    return as_table(["what", "value"], rows) + as_table(
        ["columns", "unique", "k"], telling, title="What a few columns give away", footer=where
    )
