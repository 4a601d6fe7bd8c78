"""sfumato evaluate"""

from pathlib import Path
from typing import Annotated

import typer

from sfumato.answers.answer import check_confidence
from sfumato.cli.format import Format, WithoutRows
from sfumato.cli.output import as_json, number, working, write
from sfumato.cli.writable import Static, ToFile, page_ready, ready
from sfumato.learn import load
from sfumato.plots.page import Figure, Section, page, write_page
from sfumato.protected import open_policy
from sfumato.session import DEFAULT_ANALYST

app = typer.Typer(add_completion=False)


@app.command(no_args_is_help=True)
def evaluate(
    policy: Annotated[Path, typer.Argument(help="The policy file, e.g. people.toml.")],
    model: Annotated[Path, typer.Argument(help="A model that `sfumato learn` wrote, e.g. tree.json.")],
    spend: Annotated[str, typer.Option(help="How much epsilon the evaluation may cost, e.g. 0.1.")],
    confidence: Annotated[float, typer.Option(help="Confidence level of the error bars.")] = 0.95,
    analyst: Annotated[str, typer.Option(help="Who is asking.")] = DEFAULT_ANALYST,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show what would be measured; touches neither data nor budget.")
    ] = False,
    fresh: Annotated[bool, typer.Option("--fresh", help="Pay again for an evaluation made before.")] = False,
    html: Annotated[Path | None, typer.Option(help="Draw the ROC curve with its band into this HTML file.")] = None,
    static: Static = False,
    format: Annotated[WithoutRows, typer.Option(help="How to print.")] = Format.table,
    output: ToFile = None,
) -> None:
    """How good a model is on private rows: a question of its own, with error bars.

    sfumato evaluate people.toml tree.json --spend 0.1
    """
    check_confidence(confidence)
    ready(output, html)
    page_ready(wanted=html is not None, static=static)
    learner = load(model)
    if explain:
        with open_policy(policy, analyst=analyst) as session:
            schedule = learner.explain_evaluation(session, spend=number(spend, "spend"))
        write(as_json(schedule.to_dict()) if format is Format.json else f"{schedule}\n", output)
        return
    with working("Evaluating …"), open_policy(policy, analyst=analyst) as session:
        found = session.evaluate(learner, spend=number(spend, "spend"), confidence=confidence, fresh=fresh)
    if html is not None:
        drawn = [Figure(found.plot(), "hits against false alarms, in the band that noise makes")] if found.roc else []
        sections = [Section("On private rows", [*str(found).split("\n"), *drawn])]
        write_page(html, page("How good a model is", sections, static=static))
    write(as_json(found.to_dict()) if format is Format.json else f"{found}\n", output)
