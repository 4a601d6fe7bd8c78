"""What was learnt of numbers, in lines of text and in figures: coefficients, correlations, directions."""

from typing import Any

from sfumato.learn.bins import Listed, Span
from sfumato.learn.linear.coefficients import FINE, Coefficients, at_zero, coefficients
from sfumato.learn.linear.matrices import Correlations, Directions, plain
from sfumato.learn.model import Model
from sfumato.plots.coefficients import coefficients as dots
from sfumato.plots.matrix import matrix
from sfumato.schema.columns import plain_text

MOST_PAIRS = 20


def told_of_coefficients(model: Model, fitted: Coefficients) -> list[str]:
    lines = [f"{at_zero(model.features, fitted):.4g} where all numbers are 0 and listed values the last ones"]
    for one in coefficients(model.features, fitted):
        what = f"{_each(model, one.column)} of {one.column}" if one.value is None else one.label
        lines.append(f"{one.estimate:+.4g} ± {one.error:.2g} for {what}")
    listed = [(feature.name, feature.cells) for feature in model.features if isinstance(feature.cells, Listed)]
    last = ", ".join(f"{name} = {plain_text(cells.values[-1])}" for name, cells in listed)
    return [*lines, *([f"listed values are compared with {last}"] if last else [])]


def _each(model: Model, column: str) -> str:
    cells = next(feature.cells for feature in model.features if feature.name == column)
    return "each day" if isinstance(cells, Span) and cells.kind == "day" else "each 1"


def told_of_correlations(model: Model, fitted: Correlations) -> list[str]:
    """The strongest first."""
    names = [feature.name for feature in model.features]
    values, errors = plain(fitted.matrix), plain(fitted.errors)
    pairs = [(one, other) for one in range(len(names)) for other in range(one + 1, len(names))]
    strongest = sorted(pairs, key=lambda pair: -abs(values[pair]))
    lines = [
        f"{names[one]}, {names[other]}: {values[one, other]:+.2f} ± {errors[one, other]:.2f}"
        for one, other in strongest[:MOST_PAIRS]
    ]
    return lines + ([f"… and {len(pairs) - MOST_PAIRS} more"] if len(pairs) > MOST_PAIRS else [])


def told_of_directions(model: Model, fitted: Directions) -> list[str]:
    lines = []
    for number, (direction, share) in enumerate(zip(plain(fitted.directions), fitted.shares, strict=True), start=1):
        parts = sorted(zip(direction, model.features, strict=True), key=lambda part: -abs(part[0]))
        told = ", ".join(f"{part:+.2f} {feature.name}" for part, feature in parts[:MOST_PAIRS])
        lines.append(f"component {number}, {100 * share / FINE:.0f} % of the variance: {told}")
    return lines


def coefficients_figure(model: Model, fitted: Coefficients) -> Any:
    """What a column adds from one of its bounds to the other, so that columns can be compared."""
    found = coefficients(model.features, fitted)
    spans = {feature.name: feature.cells for feature in model.features if isinstance(feature.cells, Span)}
    wide = [1.0 if one.value is not None else 2 * spans[one.column].reach for one in found]
    labels = [one.label if one.value is not None else f"{one.column}, {spans[one.column].label(0)}" for one in found]
    return dots(
        labels,
        [one.estimate * width for one, width in zip(found, wide, strict=True)],
        [(one.low * width, one.high * width) for one, width in zip(found, wide, strict=True)],
        title=model.target,
        along=f"adds to {model.target}: from bound to bound, or in place of the last value",
    )


def correlations_figure(model: Model, fitted: Correlations) -> Any:
    names = [feature.name for feature in model.features]
    return matrix(names, names, plain(fitted.matrix).tolist(), plain(fitted.errors).tolist(), title="Correlations")


def directions_figure(model: Model, fitted: Directions) -> Any:
    shares = [f"component {number}, {100 * share / FINE:.0f} %" for number, share in enumerate(fitted.shares, start=1)]
    names = [feature.name for feature in model.features]
    return matrix(
        shares, names, plain(fitted.directions).tolist(), plain(fitted.errors).tolist(), title="What components are of"
    )
