"""sfumato bounds"""

from pathlib import Path
from typing import Annotated

import typer

from sfumato.answers.clipping_scan import Scan
from sfumato.cli.format import Format, Usual
from sfumato.cli.output import as_csv, as_json, as_table, number, working, write
from sfumato.cli.writable import Static, ToFile, ready
from sfumato.protected import open_policy
from sfumato.session import DEFAULT_ANALYST

app = typer.Typer(add_completion=False)


@app.command(no_args_is_help=True)
def bounds(
    policy: Annotated[Path, typer.Argument(help="The policy file, e.g. people.toml.")],
    column: Annotated[str, typer.Argument(help="A column of whole or real numbers.")],
    spend: Annotated[str, typer.Option(help="How much epsilon the scan may cost, e.g. 0.1.")],
    upper: Annotated[
        str | None, typer.Option(help="A public number that no value surely exceeds (default: the declared bound).")
    ] = None,
    points: Annotated[int, typer.Option(help="How many bounds to look at, at most.")] = 150,
    plot: Annotated[Path | None, typer.Option(help="Draw the curve into this .html, .png or .svg file.")] = None,
    static: Static = False,
    analyst: Annotated[str, typer.Option(help="Who is asking.")] = DEFAULT_ANALYST,
    format: Annotated[Usual, typer.Option(help="How to print.")] = Format.table,
    output: ToFile = None,
) -> None:
    """The sum of a column, clipped at every bound from 0 on, and the bound to declare. One release pays for all.

    sfumato bounds people.toml age --upper 150 --spend 0.1 --plot bounds.html
    """
    ready(output, plot=plot, static=static)
    amount, end = number(spend, "spend"), None if upper is None else number(upper, "upper")
    with working("Asking …"), open_policy(policy, analyst=analyst) as session:
        scan = session.bounds(column, spend=amount, upper=end, points=points)
    if plot is not None:
        scan.chart().save(plot, static=static)
    write(_rendered(scan, format), output)


def _rendered(scan: Scan, format: Usual) -> str:
    if format is Format.json:
        return as_json(scan.to_dict())
    half = "±" if format is Format.table else "plus_minus"
    rows = [
        {"bound": point.bound, "sum": point.total, half: (point.interval[1] - point.interval[0]) / 2}
        for point in (scan.thinned() if format is Format.table else scan.points)
    ]
    if format is Format.csv:
        return as_csv(list(rows[0]), rows)
    footer = f"{scan.says()}\n± at 95 %; values below 0 count as 0.\n{scan.price()}"
    return as_table(list(rows[0]), rows, footer=footer)
