"""sfumato learn additive | bayes | tree | forest: models from private tables, for one charge each."""

from pathlib import Path
from typing import Annotated, Any

import typer

from sfumato.cli.format import Format, WithoutRows
from sfumato.cli.output import as_json, number, split, write
from sfumato.cli.progress import progress
from sfumato.cli.writable import ready
from sfumato.learn import Additive, Forest, NaiveBayes, Tree
from sfumato.learn.learner import Learner
from sfumato.plots.style import plotly
from sfumato.protected import open_policy
from sfumato.session import DEFAULT_ANALYST

app = typer.Typer(
    add_completion=False, no_args_is_help=True, help="Learn a model from a private table, for one charge."
)

PolicyFile = Annotated[Path, typer.Argument(help="The policy file, e.g. people.toml.")]
Target = Annotated[str, typer.Option(help="The column to predict.")]
SpendOption = Annotated[str, typer.Option(help="How much epsilon the model may cost, e.g. 1.")]
Columns = Annotated[str | None, typer.Option(help="Columns to learn from, with commas (default: all that can be).")]
MaxRows = Annotated[int | None, typer.Option("--max-rows", help="How many rows of a person count.")]
ExpectedRows = Annotated[
    int | None, typer.Option("--expected-rows", help="About how many rows the table has, if that is public.")
]
Holdout = Annotated[
    str | None, typer.Option(help="Put this share of the people aside, e.g. 0.2: sfumato evaluate measures on them.")
]
Analyst = Annotated[str, typer.Option(help="Who is asking.")]
Explain = Annotated[bool, typer.Option("--explain", help="Show the schedule; touches neither data nor budget.")]
Fresh = Annotated[bool, typer.Option("--fresh", help="Pay again for a model learnt before.")]
Output = Annotated[Path | None, typer.Option(help="Write the model to this JSON file.")]
Html = Annotated[Path | None, typer.Option(help="Write the model card to this HTML file.")]
FormatOption = Annotated[WithoutRows, typer.Option(help="Print the model card, or as JSON the model itself.")]


Depth = Annotated[int | None, typer.Option(help="How many questions at most (default: by spend and expected rows).")]
MinSamples = Annotated[
    int, typer.Option("--min-samples", help="Take back questions that leave fewer (noisy) rows on a side.")
]
MinGain = Annotated[
    float, typer.Option("--min-gain", help="Take back questions that lower the (noisy) impurity by less.")
]


@app.command()
def additive(
    policy: PolicyFile,
    target: Target,
    spend: SpendOption,
    columns: Columns = None,
    max_rows: MaxRows = None,
    expected_rows: ExpectedRows = None,
    holdout: Holdout = None,
    analyst: Analyst = DEFAULT_ANALYST,
    explain: Explain = False,
    fresh: Fresh = False,
    output: Output = None,
    html: Html = None,
    format: FormatOption = Format.table,
) -> None:
    """Scores that add up over columns, learnt together: the one to begin with. Two classes."""
    learner = Additive(**_shared(target, spend, columns, max_rows, expected_rows, holdout))
    _run(learner, policy, analyst, explain=explain, fresh=fresh, output=output, html=html, format=format)


@app.command()
def bayes(
    policy: PolicyFile,
    target: Target,
    spend: SpendOption,
    columns: Columns = None,
    max_rows: MaxRows = None,
    expected_rows: ExpectedRows = None,
    holdout: Holdout = None,
    analyst: Analyst = DEFAULT_ANALYST,
    explain: Explain = False,
    fresh: Fresh = False,
    output: Output = None,
    html: Html = None,
    format: FormatOption = Format.table,
) -> None:
    """Naive Bayes: the best at a small spend; its probabilities are too sure."""
    learner = NaiveBayes(**_shared(target, spend, columns, max_rows, expected_rows, holdout))
    _run(learner, policy, analyst, explain=explain, fresh=fresh, output=output, html=html, format=format)


@app.command()
def tree(
    policy: PolicyFile,
    target: Target,
    spend: SpendOption,
    columns: Columns = None,
    depth: Depth = None,
    min_samples: MinSamples = 0,
    min_gain: MinGain = 0.0,
    max_rows: MaxRows = None,
    expected_rows: ExpectedRows = None,
    holdout: Holdout = None,
    analyst: Analyst = DEFAULT_ANALYST,
    explain: Explain = False,
    fresh: Fresh = False,
    output: Output = None,
    html: Html = None,
    format: FormatOption = Format.table,
) -> None:
    """A decision tree: questions chosen privately, leaves counted with noise."""
    shared = _shared(target, spend, columns, max_rows, expected_rows, holdout)
    learner = Tree(**shared, depth=depth, min_samples=min_samples, min_gain=min_gain)
    _run(learner, policy, analyst, explain=explain, fresh=fresh, output=output, html=html, format=format)


@app.command()
def forest(
    policy: PolicyFile,
    target: Target,
    spend: SpendOption,
    columns: Columns = None,
    trees: Annotated[int, typer.Option(help="How many trees the people are divided among.")] = 5,
    depth: Depth = None,
    min_samples: MinSamples = 0,
    min_gain: MinGain = 0.0,
    max_rows: MaxRows = None,
    expected_rows: ExpectedRows = None,
    holdout: Holdout = None,
    analyst: Analyst = DEFAULT_ANALYST,
    explain: Explain = False,
    fresh: Fresh = False,
    output: Output = None,
    html: Html = None,
    format: FormatOption = Format.table,
) -> None:
    """Several trees on disjoint people, at the price of one; for large tables."""
    shared = _shared(target, spend, columns, max_rows, expected_rows, holdout)
    learner = Forest(**shared, trees=trees, depth=depth, min_samples=min_samples, min_gain=min_gain)
    _run(learner, policy, analyst, explain=explain, fresh=fresh, output=output, html=html, format=format)


def _shared(
    target: str,
    spend: str,
    columns: str | None,
    max_rows: int | None,
    expected_rows: int | None,
    holdout: str | None,
) -> dict[str, Any]:
    return {
        "target": target,
        "spend": number(spend, "spend"),
        "columns": None if columns is None else split(columns),
        "max_rows": max_rows,
        "expected_rows": expected_rows,
        "holdout": None if holdout is None else number(holdout, "holdout"),
    }


def _run(
    learner: Learner,
    policy: Path,
    analyst: str,
    *,
    explain: bool,
    fresh: bool,
    output: Path | None,
    html: Path | None,
    format: WithoutRows,
) -> None:
    ready(output, html)
    if html is not None:
        plotly()  # what is missing is said before anything is paid
    with open_policy(policy, analyst=analyst) as session:
        if explain:
            schedule = learner.explain(session)
            write(as_json(schedule.to_dict()) if format is Format.json else f"{schedule}\n", output)
            return
        with progress(f"Learning {learner.target} …") as report:
            learner.fit(session, fresh=fresh, progress=report)
    if output is not None:
        learner.save(output)
    if html is not None:
        learner.card_.to_html(html)
    if format is Format.json:
        write(learner.to_json(), None)
    else:
        wrote = "".join(f"Wrote {place}.\n" for place in (output, html) if place is not None)
        write(f"{learner.card_}\nCost {learner.cost_}; left {learner.left_}.\n{wrote}", None)
