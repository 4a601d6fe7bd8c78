"""`sfumato noise`: the mechanisms of `sfumato.noise` on a number or on candidates typed in the shell."""

import sys
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Annotated, Any

import typer

from sfumato import noise
from sfumato.cli.output import Format, as_csv, as_json, as_table, number, write
from sfumato.noise.wordings import score_missing, value_not_whole, value_unknown
from sfumato.schema.numbers import exact, shown

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
Output = Annotated[Format, typer.Option("--format", help="How to print the answer.")]
Mechanism = Annotated[str, typer.Argument(help="laplace, geometric or gaussian.")]
Confidence = Annotated[str, typer.Option(help="The share of draws that stay within the error.")]
Entries = Annotated[int, typer.Option(min=1, help="How many numbers the sensitivity (L1, gaussian: L2) covers.")]
Error = Annotated[str, typer.Option(help="The error to stay within.")]


@app.command(context_settings=NEGATIVE_NUMBERS)
def laplace(
    value: Value, sensitivity: Absolute, epsilon: Epsilon, count: Count = 1, output: Output = Format.table
) -> None:
    """Add Laplace noise to a real number: pure epsilon."""
    real, change, price = _value(value), number(sensitivity, "sensitivity"), number(epsilon, "epsilon")
    about = noise.describe("laplace", sensitivity=change, epsilon=price)
    _print_draws([noise.laplace(real, sensitivity=change, epsilon=price) for _ in range(count)], about, output)


@app.command(context_settings=NEGATIVE_NUMBERS)
def geometric(
    value: Value, sensitivity: Absolute, epsilon: Epsilon, count: Count = 1, output: Output = Format.table
) -> None:
    """Add whole-number noise to a whole number, a count for instance: pure epsilon."""
    try:
        typed = int(value)
    except ValueError:
        raise value_not_whole() from None
    change, price = number(sensitivity, "sensitivity"), number(epsilon, "epsilon")
    about = noise.describe("geometric", sensitivity=change, epsilon=price)
    _print_draws([noise.geometric(typed, sensitivity=change, epsilon=price) for _ in range(count)], about, output)


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
    real, change = _value(value), number(sensitivity, "sensitivity")
    price, miss, zcdp = _maybe(epsilon, "epsilon"), _maybe(delta, "delta"), _maybe(rho, "rho")
    about = noise.describe("gaussian", sensitivity=change, epsilon=price, delta=miss, rho=zcdp)
    draws = [noise.gaussian(real, sensitivity=change, epsilon=price, delta=miss, rho=zcdp) for _ in range(count)]
    _print_draws(draws, about, output)


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
    names, scores = _candidates(candidate)
    change, price = number(sensitivity, "sensitivity"), number(epsilon, "epsilon")
    chosen = [
        noise.exponential(names, scores, sensitivity=change, epsilon=price, monotone=monotone) for _ in range(count)
    ]
    _print_releases("exponential", chosen, cost=_pure(price), error=None, output=output)


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
    names, scores = _candidates(candidate)
    change, price = number(sensitivity, "sensitivity"), number(epsilon, "epsilon")
    chosen = [
        noise.permute_and_flip(names, scores, sensitivity=change, epsilon=price, monotone=monotone)
        for _ in range(count)
    ]
    _print_releases("permute_and_flip", chosen, cost=_pure(price), error=None, output=output)


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
        epsilon=_maybe(epsilon, "epsilon"),
        delta=_maybe(delta, "delta"),
        rho=_maybe(rho, "rho"),
        confidence=level,
        entries=entries,
    )
    record: dict[str, object] = {"mechanism": mechanism, "interval": error, "confidence": float(level)}
    _print_record(record, f"{_percent(level)} of draws are within ±{error:.6g}.", output)


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
        delta=_maybe(delta, "delta"),
        entries=entries,
    )
    record = {"mechanism": mechanism, "epsilon": epsilon, "error": float(bound), "confidence": float(level)}
    _print_record(record, f"epsilon {epsilon:.6g} keeps {_percent(level)} of draws within ±{float(bound):.6g}.", output)


def _maybe(text: str | None, what: str) -> Decimal | None:
    return None if text is None else number(text, what)


def _value(text: str) -> Any:
    """The decimal that was typed; what comes back with noise is a float."""
    try:
        return Decimal(text)
    except InvalidOperation:
        raise value_unknown("text") from None


def _candidates(pairs: Sequence[str]) -> tuple[list[str], list[Decimal]]:
    split = [pair.rpartition("=") for pair in pairs]
    try:
        scores = [Decimal(score) for _, _, score in split]
    except InvalidOperation:
        raise score_missing() from None
    if not all(name for name, _, _ in split):
        raise score_missing()
    return [name for name, _, _ in split], scores


def _print_draws(draws: Sequence[float], about: noise.Description, output: Format) -> None:
    _print_releases(about.mechanism, draws, cost=dict(about.cost), error=about.error95, output=output)


def _print_releases(
    mechanism: str, values: Sequence[object], *, cost: dict[str, Fraction], error: float | None, output: Format
) -> None:
    within = f"95 % of draws are within ±{error:.6g}; " if error is not None else ""
    sentence = f"{within}{'c' if within else 'C'}osts {_price(cost, 1)}."
    if len(values) > 1:
        sentence += f" {len(values)} releases cost {_price(cost, len(values))} together."
    match output:
        case Format.json:
            prices = {name: float(amount) for name, amount in cost.items()}
            total = {name: float(len(values) * amount) for name, amount in cost.items()}
            unpriced = {"epsilon": None, "delta": None if "rho" in cost else 0.0}
            record = {"mechanism": mechanism, "values": values, **unpriced, **prices}
            write(as_json(record | {"error95": error, "count": len(values), "total": total}), None)
        case Format.csv:
            write(as_csv(["value"], [{"value": value} for value in values]), None)
            print(sentence, file=sys.stderr)
        case Format.table:
            rows = [{"release": place, "value": str(value)} for place, value in enumerate(values, start=1)]
            write(as_table(["release", "value"], rows, footer=sentence), None)


def _print_record(record: dict[str, object], sentence: str, output: Format) -> None:
    match output:
        case Format.json:
            write(as_json(record), None)
        case Format.csv:
            write(as_csv(list(record), [record]), None)
        case Format.table:
            write(sentence + "\n", None)


def _pure(epsilon: Decimal) -> dict[str, Fraction]:
    return {"epsilon": exact(epsilon, "epsilon")}


def _price(cost: dict[str, Fraction], times: int) -> str:
    return " and ".join(f"{name} {shown(times * amount)}" for name, amount in cost.items())


def _percent(level: Decimal) -> str:
    return f"{shown(100 * exact(level, 'confidence'))} %"
