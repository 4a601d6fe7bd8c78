"""sfumato learn additive | bayes | tree | forest | linear | correlation | components | clusters: for one charge each.

A command has the parameters of its learner as options, and those of `run`.
"""

import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from sfumato.cli.format import Format, WithoutRows
from sfumato.cli.output import as_json, number, split, write
from sfumato.cli.progress import progress
from sfumato.cli.writable import Static, page_ready, ready
from sfumato.learn import Additive, Clusters, Components, Correlation, Forest, Linear, NaiveBayes, Tree
from sfumato.learn.learner import Learner
from sfumato.protected import open_policy
from sfumato.session import DEFAULT_ANALYST

app = typer.Typer(
    add_completion=False, no_args_is_help=True, help="Learn a model from a private table, for one charge."
)
COMMANDS: dict[str, tuple[type[Learner[Any]], str]] = {
    "additive": (
        Additive,
        "Scores that add up over columns: the one to begin with. Classes, or a number.",
    ),
    "bayes": (NaiveBayes, "Naive Bayes: the best at a small spend; its probabilities are too sure."),
    "tree": (Tree, "A decision tree of classes or of a number: questions chosen privately, leaves counted with noise."),
    "forest": (Forest, "Several trees on disjoint people, at the price of one; for large tables."),
    "linear": (Linear, "A number as a sum over columns: coefficients with intervals."),
    "correlation": (Correlation, "Which numbers vary together: the correlation of every two columns."),
    "components": (Components, "The few directions in which numbers vary most (principal components)."),
    "clusters": (Clusters, "Centres near which rows lie (k-means), of numbers and dates; of a row: sfumato predict."),
}
OPTIONS: Mapping[str, Any] = {
    "target": Annotated[str, typer.Option(help="The column to predict.")],
    "spend": Annotated[str, typer.Option(help="How much epsilon the model may cost, e.g. 1.")],
    "columns": Annotated[
        str | None, typer.Option(help="Columns to learn from, with commas (default: all that can be).")
    ],
    "max_rows": Annotated[int | None, typer.Option("--max-rows", help="How many rows of a person count.")],
    "expected_rows": Annotated[
        int | None, typer.Option("--expected-rows", help="About how many rows the table has, if that is public.")
    ],
    "holdout": Annotated[
        str | None,
        typer.Option(help="Put this share of the people aside, e.g. 0.2: sfumato evaluate measures on them."),
    ],
    "trees": Annotated[int, typer.Option(help="How many trees the people are divided among.")],
    "depth": Annotated[
        int | None, typer.Option(help="How many questions at most (default: by spend and expected rows).")
    ],
    "min_samples": Annotated[
        int, typer.Option("--min-samples", help="Take back questions that leave fewer (noisy) rows on a side.")
    ],
    "min_gain": Annotated[
        float, typer.Option("--min-gain", help="Take back questions that lower the (noisy) impurity by less.")
    ],
    "k": Annotated[int, typer.Option("--k", help="How many of them.")],
}
NEEDED = ("target", "spend")
READ: Mapping[str, Callable[[str], Any]] = {
    "spend": lambda text: number(text, "spend"),
    "holdout": lambda text: number(text, "holdout"),
    "columns": split,
}


def run(
    learner: Learner[Any],
    policy: Annotated[Path, typer.Argument(help="The policy file, e.g. people.toml.")],
    *,
    analyst: Annotated[str, typer.Option(help="Who is asking.")] = DEFAULT_ANALYST,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show the schedule; touches neither data nor budget.")
    ] = False,
    fresh: Annotated[bool, typer.Option("--fresh", help="Pay again for a model learnt before.")] = False,
    output: Annotated[Path | None, typer.Option(help="Write the model to this JSON file.")] = None,
    html: Annotated[Path | None, typer.Option(help="Write the model card to this HTML file.")] = None,
    static: Static = False,
    format: Annotated[WithoutRows, typer.Option(help="Print the model card, or as JSON the model itself.")] = (
        Format.table
    ),
) -> None:
    ready(output, html)
    page_ready(wanted=html is not None, static=static)
    with open_policy(policy, analyst=analyst) as session:
        if explain:
            schedule = learner.explain(session)
            write(as_json(schedule.to_dict()) if format is Format.json else f"{schedule}\n", output)
            return
        with progress(f"Learning {learner.target or learner.learner} …") as report:
            learner.fit(session, fresh=fresh, progress=report)
    if output is not None:
        learner.save(output)
    if html is not None:
        learner.card_.to_html(html, static=static)
    if format is Format.json:
        write(learner.to_json(), None)
    else:
        wrote = "".join(f"Wrote {place}.\n" for place in (output, html) if place is not None)
        write(f"{learner.card_}\nCost {learner.cost_}; left {learner.left_}.\n{wrote}", None)


def _command(kind: type[Learner[Any]]) -> Callable[..., None]:
    """A function with an option for every parameter of a learner; typer reads its signature."""
    own = [one for name, one in inspect.signature(kind).parameters.items() if name in OPTIONS]
    _, policy, *rest = inspect.signature(run).parameters.values()

    def command(**given: Any) -> None:
        parameters = {one.name: given.pop(one.name) for one in own}
        read = {
            name: READ[name](value) if name in READ and value is not None else value
            for name, value in parameters.items()
        }
        run(kind(**read), **given)

    options = [
        inspect.Parameter(
            one.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if one.name in NEEDED else one.default,
            annotation=OPTIONS[one.name],
        )
        for one in own
    ]
    made = [policy.replace(kind=inspect.Parameter.KEYWORD_ONLY), *options, *rest]
    command.__signature__ = inspect.Signature(made)  # type: ignore[attr-defined]
    command.__annotations__ = {one.name: one.annotation for one in made}
    return command


for name, (kind, told) in COMMANDS.items():
    app.command(name, help=told)(_command(kind))
