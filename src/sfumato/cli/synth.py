"""sfumato synth"""

import json
from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.format import Format, WithoutRows
from sfumato.cli.output import as_json, number, split, write
from sfumato.cli.progress import progress
from sfumato.cli.writable import Static, page_ready, ready
from sfumato.learn import Comparison, Synthetic
from sfumato.learn.synthesis.sampling import beside, check_drawn, check_ending
from sfumato.protected import open_policy
from sfumato.session import DEFAULT_ANALYST

app = typer.Typer(add_completion=False)


@app.command(no_args_is_help=True)
def synth(
    policy: Annotated[Path, typer.Argument(help="The policy file, e.g. people.toml.")],
    spend: Annotated[str, typer.Option(help="How much epsilon the table may cost, e.g. 1.")],
    output: Annotated[
        Path | None, typer.Option(help="Write the rows to this .parquet or .csv file, marked as synthetic.")
    ] = None,
    rows: Annotated[
        int | None, typer.Option(help="How many rows (default: as many as there are, by noisy count).")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="Other rows of the same likeness (default: the model's own).")
    ] = None,
    columns: Annotated[str | None, typer.Option(help="Columns, with commas (default: all that can be).")] = None,
    max_rows: Annotated[int | None, typer.Option("--max-rows", help="How many rows of a person count.")] = None,
    expected_rows: Annotated[
        int | None, typer.Option("--expected-rows", help="About how many rows the table has, if that is public.")
    ] = None,
    compare: Annotated[
        str | None, typer.Option(help="Spend this epsilon more to count every column privately beside it, e.g. 0.1.")
    ] = None,
    analyst: Annotated[str, typer.Option(help="Who is asking.")] = DEFAULT_ANALYST,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show the schedule; touches neither data nor budget.")
    ] = False,
    fresh: Annotated[bool, typer.Option("--fresh", help="Pay again for a table made before.")] = False,
    model: Annotated[
        Path | None, typer.Option(help="Write the model that rows are drawn from to this JSON file.")
    ] = None,
    html: Annotated[
        Path | None, typer.Option(help="Write the card, with its columns drawn, to this HTML file.")
    ] = None,
    static: Static = False,
    format: Annotated[WithoutRows, typer.Option(help="Print the card, or as JSON the model itself.")] = Format.table,
) -> None:
    """Make a synthetic table: rows that nobody is, alike in every column and in the pairs that matter most.

    sfumato synth people.toml --spend 1 --output synthetic.parquet
    """
    if output is not None:
        check_ending(output)
    check_drawn(rows, seed)
    ready(output, None if output is None else beside(output), model, html)
    page_ready(wanted=html is not None, static=static)
    extra = None if compare is None else number(compare, "compare")
    learner = Synthetic(
        spend=number(spend, "spend"),
        columns=None if columns is None else split(columns),
        max_rows=max_rows,
        expected_rows=expected_rows,
    )
    with open_policy(policy, analyst=analyst) as session:
        if explain:
            schedule = learner.explain(session)
            write(as_json(schedule.to_dict()) if format is Format.json else f"{schedule}\n", None)
            return
        with progress("Measuring …") as report:
            learner.fit(session, fresh=fresh, progress=report)
        if output is not None:
            learner.write(output, rows, seed)
        if model is not None:
            learner.save(model)
        compared = None if extra is None else learner.compared_in(session, spend=extra, fresh=fresh)
        left = session.budget.left
    if html is not None:
        learner.card_.to_html(html, drawn=() if compared is None else compared.figures(), static=static)
    if format is Format.json:
        write(_both(learner, compared), None)
        return
    wrote = "".join(f"Wrote {place}.\n" for place in (output, model, html) if place is not None)
    told = "" if compared is None else f"{compared}\n"
    write(f"{learner.card_}\n{told}Cost {learner.cost_}; left {left}.\n{wrote}", None)


def _both(learner: Synthetic, compared: Comparison | None) -> str:
    """The model, and beside it what it was compared with."""
    if compared is None:
        return learner.to_json()
    return as_json({"model": json.loads(learner.to_json()), "comparison": compared.to_dict()})
