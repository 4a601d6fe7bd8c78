"""What the commands of `sfumato noise` read and print."""

import sys
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any

from sfumato.cli.format import Format
from sfumato.cli.output import as_csv, as_json, as_table, number, write
from sfumato.noise import Description
from sfumato.noise.wordings import answer_not_boolean, score_missing, value_unknown
from sfumato.schema.numbers import exact, shown

TRUTHS = {"true": True, "yes": True, "false": False, "no": False}


def maybe_number(text: str | None, what: str) -> Decimal | None:
    return None if text is None else number(text, what)


def real_value(text: str) -> Any:
    """The decimal that was typed; what comes back with noise is a float."""
    try:
        return Decimal(text)
    except InvalidOperation:
        raise value_unknown("text") from None


def truth(text: str) -> bool:
    try:
        return TRUTHS[text.casefold()]
    except KeyError:
        raise answer_not_boolean() from None


def candidates_and_scores(pairs: Sequence[str]) -> tuple[list[str], list[Decimal]]:
    split = [pair.rpartition("=") for pair in pairs]
    try:
        scores = [Decimal(score) for _, _, score in split]
    except InvalidOperation:
        raise score_missing() from None
    if not all(name for name, _, _ in split):
        raise score_missing()
    return [name for name, _, _ in split], scores


def print_draws(draws: Sequence[float], about: Description, output: Format) -> None:
    print_releases(about.mechanism, draws, cost=dict(about.cost), error=about.error95, output=output)


def print_releases(
    mechanism: str,
    values: Sequence[object],
    *,
    cost: dict[str, Fraction],
    error: float | None,
    output: Format,
    together: bool = False,
) -> None:
    """`together`: the values are the parts of one release, not releases of their own."""
    releases, column = (1, "place") if together else (len(values), "release")
    within = f"95 % of draws are within ±{error:.6g}; " if error is not None else ""
    sentence = f"{within}{'c' if within else 'C'}osts {_price(cost, 1)}."
    if releases > 1:
        sentence += f" {releases} releases cost {_price(cost, releases)} together."
    match output:
        case Format.json:
            prices = {name: float(amount) for name, amount in cost.items()}
            total = {name: float(releases * amount) for name, amount in cost.items()}
            unpriced = {"epsilon": None, "delta": None if "rho" in cost else 0.0}
            record = {"mechanism": mechanism, "values": values, **unpriced, **prices}
            write(as_json(record | {"error95": error, "count": releases, "total": total}), None)
        case Format.csv:
            write(as_csv(["value"], [{"value": value} for value in values]), None)
            print(sentence, file=sys.stderr)
        case Format.table:
            rows = [{column: place, "value": str(value)} for place, value in enumerate(values, start=1)]
            write(as_table([column, "value"], rows, footer=sentence), None)


def pure_cost(epsilon: Decimal) -> dict[str, Fraction]:
    return {"epsilon": exact(epsilon, "epsilon")}


def _price(cost: dict[str, Fraction], times: int) -> str:
    return " and ".join(f"{name} {shown(times * amount)}" for name, amount in cost.items())


def percent(level: Decimal) -> str:
    return f"{shown(100 * exact(level, 'confidence'))} %"
