"""`sfumato noise`: the mechanisms of `sfumato.noise` on a number or on candidates typed in the shell."""

from collections.abc import Callable
from typing import Annotated, Any

import typer

from sfumato import noise
from sfumato.cli.format import Format, Usual
from sfumato.cli.noise_output import (
    candidates_and_scores,
    maybe_number,
    percent,
    print_draws,
    print_releases,
    pure_cost,
    real_value,
    truth,
)
from sfumato.cli.output import number, print_record
from sfumato.noise.wordings import value_not_whole

# A negative number looks like an option; whatever is no option of ours is passed on as the value.
NEGATIVE_NUMBERS = {"ignore_unknown_options": True}

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    help="Exact noise on your own number. Nothing is charged to a ledger: you vouch for the sensitivity.",
)

Value = Annotated[str, typer.Argument(help="The number to protect.")]
Candidates = Annotated[list[str], typer.Option("--candidate", help="A candidate and its score, name=score; repeat it.")]
Absolute = Annotated[str, typer.Option("--sensitivity", help="The most one person can change the value.")]
ScoreChange = Annotated[str, typer.Option("--sensitivity", help="The most one person can change a single score.")]
Epsilon = Annotated[str, typer.Option(help="The price of one release.")]
MaybeEpsilon = Annotated[str | None, typer.Option("--epsilon", help="The price of one release, with --delta.")]
Delta = Annotated[str | None, typer.Option(help="The chance that epsilon does not hold, e.g. 1e-6.")]
Rho = Annotated[str | None, typer.Option(help="The price in zCDP, instead of --epsilon and --delta.")]
Count = Annotated[int, typer.Option(min=1, help="How many independent releases; each one is paid.")]
Monotone = Annotated[bool, typer.Option("--monotone", help="One person moves all scores in one direction.")]
Output = Annotated[Usual, typer.Option("--format", help="How to print the answer.")]
Picks = Annotated[int, typer.Option("--k", min=1, help="How many candidates, best first.")]
Answer = Annotated[str, typer.Argument(help="true or false, or one of the categories.")]
Categories = Annotated[list[str] | None, typer.Option("--category", help="A possible answer; repeat it for each.")]
Stream = Annotated[list[str], typer.Argument(help="The values, in the order in which they are compared.")]
Threshold = Annotated[str, typer.Option(help="A public number to compare with.")]
ValueChange = Annotated[str, typer.Option("--sensitivity", help="The most one person can change a single value.")]
Above = Annotated[int, typer.Option("--count", min=1, help="Stop when so many values were above.")]
Mechanism = Annotated[str, typer.Argument(help="laplace, geometric, gaussian or staircase.")]
Confidence = Annotated[str, typer.Option(help="The share of draws that stay within the error.")]
Entries = Annotated[int, typer.Option(min=1, help="How many numbers the sensitivity (L1, gaussian: L2) covers.")]
Error = Annotated[str, typer.Option(help="The error to stay within.")]


@app.command(context_settings=NEGATIVE_NUMBERS)
def laplace(
    value: Value, sensitivity: Absolute, epsilon: Epsilon, count: Count = 1, output: Output = Format.table
) -> None:
    """Add Laplace noise to a real number: pure epsilon."""
    _drawn(noise.laplace, real_value(value), sensitivity, epsilon, count, output)


@app.command(context_settings=NEGATIVE_NUMBERS)
def staircase(
    value: Value, sensitivity: Absolute, epsilon: Epsilon, count: Count = 1, output: Output = Format.table
) -> None:
    """Add staircase noise to a real number, less than laplace where epsilon is large: pure epsilon."""
    _drawn(noise.staircase, real_value(value), sensitivity, epsilon, count, output)


@app.command(context_settings=NEGATIVE_NUMBERS)
def geometric(
    value: Value, sensitivity: Absolute, epsilon: Epsilon, count: Count = 1, output: Output = Format.table
) -> None:
    """Add whole-number noise to a whole number, a count for instance: pure epsilon."""
    try:
        typed = int(value)
    except ValueError:
        raise value_not_whole() from None
    _drawn(noise.geometric, typed, sensitivity, epsilon, count, output)


@app.command(context_settings=NEGATIVE_NUMBERS)
def gaussian(
    value: Value,
    sensitivity: Absolute,
    epsilon: MaybeEpsilon = None,
    delta: Delta = None,
    rho: Rho = None,
    count: Count = 1,
    output: Output = Format.table,
) -> None:
    """Add Gaussian noise to a real number: epsilon with delta, or rho."""
    real, change = real_value(value), number(sensitivity, "sensitivity")
    price, miss, zcdp = maybe_number(epsilon, "epsilon"), maybe_number(delta, "delta"), maybe_number(rho, "rho")
    about = noise.describe("gaussian", sensitivity=change, epsilon=price, delta=miss, rho=zcdp)
    draws = [noise.gaussian(real, sensitivity=change, epsilon=price, delta=miss, rho=zcdp) for _ in range(count)]
    print_draws(draws, about, output)


@app.command()
def exponential(
    candidate: Candidates,
    sensitivity: ScoreChange,
    epsilon: Epsilon,
    monotone: Monotone = False,
    count: Count = 1,
    output: Output = Format.table,
) -> None:
    """Choose a candidate by score with the exponential mechanism: pure epsilon."""
    _chosen(noise.exponential, candidate, sensitivity, epsilon, monotone, count, output)


@app.command()
def permute_and_flip(
    candidate: Candidates,
    sensitivity: ScoreChange,
    epsilon: Epsilon,
    monotone: Monotone = False,
    count: Count = 1,
    output: Output = Format.table,
) -> None:
    """Choose a candidate by score with permute-and-flip, never worse than exponential: pure epsilon."""
    _chosen(noise.permute_and_flip, candidate, sensitivity, epsilon, monotone, count, output)


@app.command()
def noisy_max(
    candidate: Candidates,
    sensitivity: ScoreChange,
    epsilon: Epsilon,
    monotone: Monotone = False,
    count: Count = 1,
    output: Output = Format.table,
) -> None:
    """Choose the candidate whose score plus exponential noise is largest: pure epsilon."""
    _chosen(noise.noisy_max, candidate, sensitivity, epsilon, monotone, count, output)


@app.command()
def top_k(
    candidate: Candidates,
    k: Picks,
    sensitivity: ScoreChange,
    epsilon: Epsilon,
    monotone: Monotone = False,
    output: Output = Format.table,
) -> None:
    """Choose k different candidates by score, best first: pure epsilon for the whole list."""
    names, scores = candidates_and_scores(candidate)
    change, price = number(sensitivity, "sensitivity"), number(epsilon, "epsilon")
    chosen = noise.top_k(names, scores, k, sensitivity=change, epsilon=price, monotone=monotone)
    print_releases("top_k", chosen, cost=pure_cost(price), error=None, output=output, together=True)


@app.command()
def randomised_response(
    value: Answer,
    epsilon: Epsilon,
    category: Categories = None,
    count: Count = 1,
    output: Output = Format.table,
) -> None:
    """Answer truthfully with a known probability, else otherwise: pure epsilon, no trust in anyone needed."""
    price = number(epsilon, "epsilon")
    if category:
        answers = [noise.randomised_response(value, epsilon=price, categories=category) for _ in range(count)]
    else:
        answers = [noise.randomised_response(truth(value), epsilon=price) for _ in range(count)]
    print_releases("randomised_response", answers, cost=pure_cost(price), error=None, output=output)


@app.command(context_settings=NEGATIVE_NUMBERS)
def above_threshold(
    values: Stream,
    threshold: Threshold,
    sensitivity: ValueChange,
    epsilon: Epsilon,
    count: Above = 1,
    monotone: Monotone = False,
    output: Output = Format.table,
) -> None:
    """Say of each value whether it lies above the threshold, up to the count-th that does: pure epsilon for all."""
    answers = noise.above_threshold(
        [real_value(value) for value in values],
        number(threshold, "threshold"),
        sensitivity=number(sensitivity, "sensitivity"),
        epsilon=(price := number(epsilon, "epsilon")),
        count=count,
        monotone=monotone,
    )
    print_releases("above_threshold", answers, cost=pure_cost(price), error=None, output=output, together=True)


@app.command()
def interval(
    mechanism: Mechanism,
    sensitivity: Absolute,
    epsilon: MaybeEpsilon = None,
    delta: Delta = None,
    rho: Rho = None,
    confidence: Confidence = "0.95",
    entries: Entries = 1,
    output: Output = Format.table,
) -> None:
    """The error that a price buys."""
    level = number(confidence, "confidence")
    error = noise.interval(
        mechanism,
        sensitivity=number(sensitivity, "sensitivity"),
        epsilon=maybe_number(epsilon, "epsilon"),
        delta=maybe_number(delta, "delta"),
        rho=maybe_number(rho, "rho"),
        confidence=level,
        entries=entries,
    )
    record: dict[str, object] = {"mechanism": mechanism, "interval": error, "confidence": float(level)}
    print_record(record, f"{percent(level)} of draws are within ±{error:.6g}.", output)


@app.command()
def epsilon_for(
    mechanism: Mechanism,
    sensitivity: Absolute,
    error: Error,
    delta: Delta = None,
    confidence: Confidence = "0.95",
    entries: Entries = 1,
    output: Output = Format.table,
) -> None:
    """The price of an error."""
    level, bound = number(confidence, "confidence"), number(error, "error")
    epsilon = noise.epsilon_for(
        mechanism,
        sensitivity=number(sensitivity, "sensitivity"),
        error=bound,
        confidence=level,
        delta=maybe_number(delta, "delta"),
        entries=entries,
    )
    record = {"mechanism": mechanism, "epsilon": epsilon, "error": float(bound), "confidence": float(level)}
    print_record(record, f"epsilon {epsilon:.6g} keeps {percent(level)} of draws within ±{float(bound):.6g}.", output)


def _drawn(
    mechanism: Callable[..., Any], value: Any, sensitivity: str, epsilon: str, count: int, output: Format
) -> None:
    """Noise on a number, so many times."""
    change, price = number(sensitivity, "sensitivity"), number(epsilon, "epsilon")
    about = noise.describe(mechanism.__name__, sensitivity=change, epsilon=price)
    print_draws([mechanism(value, sensitivity=change, epsilon=price) for _ in range(count)], about, output)


def _chosen(
    mechanism: Callable[..., Any],
    candidate: list[str],
    sensitivity: str,
    epsilon: str,
    monotone: bool,
    count: int,
    output: Format,
) -> None:
    """One of the candidates, so many times."""
    names, scores = candidates_and_scores(candidate)
    change, price = number(sensitivity, "sensitivity"), number(epsilon, "epsilon")
    chosen = [mechanism(names, scores, sensitivity=change, epsilon=price, monotone=monotone) for _ in range(count)]
    print_releases(mechanism.__name__, chosen, cost=pure_cost(price), error=None, output=output)
