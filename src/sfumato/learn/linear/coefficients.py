"""What a linear model is made of: whole numbers, and what they mean in the units of the columns."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sfumato.learn.bins import Feature, Listed, Span
from sfumato.learn.noise import Floats
from sfumato.schema.columns import CategoryValue, plain_text

FINE = 1 << 30  # steps of a coefficient
MOST_STEPS = 1 << 60
Estimate = tuple[int, ...]  # a number, and how far its interval reaches to both sides


def fine(number: float) -> int:
    """In steps of 2^-30."""
    return max(-MOST_STEPS, min(MOST_STEPS, round(number * FINE)))


@dataclass(frozen=True, slots=True)
class Coefficients:
    """A sum over columns that predicts a number, all in steps of 2^-30 of half of what the bounds of that are apart.

    `slopes`: of a number one, for its place from -1 to 1 between its bounds; of listed values one each, of which the
    last is 0. `means` stand in for what is missing. `rows` is the noisy number of rows, `noise` its standard deviation.
    """

    target: Span
    intercept: Estimate
    slopes: tuple[tuple[Estimate, ...], ...]
    means: tuple[tuple[int, ...], ...]
    rows: int
    noise: int

    def predictions(self, scaled: Floats) -> Floats:
        """Of numbers from -1 to 1, and places of listed values. Beyond the bounds of the target it is as at them."""
        total = np.full(len(scaled), self.intercept[0] / FINE)
        for place, usual in enumerate(self.usual):
            own, slopes = scaled[:, place], np.array([slope[0] / FINE for slope in self.slopes[place]])
            known = ~np.isnan(own)
            filled = np.where(known, own, 0)
            added = slopes[filled.astype(np.int64)] if len(slopes) > 1 else slopes[0] * filled
            total += np.where(known, added, usual)
        return np.asarray(self.target.middle + self.target.reach * np.clip(total, -1, 1))

    @property
    def usual(self) -> list[float]:
        """What each column adds on average, where it is missing."""
        return [
            sum(slope[0] * mean for slope, mean in zip(slopes, means, strict=True)) / FINE**2
            for slopes, means in zip(self.slopes, self.means, strict=True)
        ]


@dataclass(frozen=True, slots=True)
class Coefficient:
    """What one more of a number adds to the prediction, or a listed `value` in place of the last; ± its `error`."""

    column: str
    value: CategoryValue | None
    estimate: float
    error: float

    @property
    def low(self) -> float:
        return self.estimate - self.error

    @property
    def high(self) -> float:
        return self.estimate + self.error

    @property
    def label(self) -> str:
        return self.column if self.value is None else f"{self.column} = {plain_text(self.value)}"


def coefficients(features: Sequence[Feature], fitted: Coefficients) -> list[Coefficient]:
    """In the units of the columns, of days by day; the last of listed values, which adds nothing, is left out."""
    found, reach = [], fitted.target.reach
    for feature, slopes in zip(features, fitted.slopes, strict=True):
        match feature.cells:
            case Listed(values=values):
                for value, slope in zip(values[:-1], slopes, strict=False):
                    found.append(Coefficient(feature.name, value, *(reach * one / FINE for one in slope)))
            case Span() as span:
                found.append(Coefficient(feature.name, None, *(reach * one / FINE / span.reach for one in slopes[0])))
            case _:
                raise TypeError("a linear model has no cells")
    return found


def at_zero(features: Sequence[Feature], fitted: Coefficients) -> float:
    """What is predicted where all numbers are 0 (days: 1970-01-01), and listed values the last ones."""
    total = fitted.intercept[0]
    middles = [-cells.middle / cells.reach if isinstance(cells := one.cells, Span) else 0.0 for one in features]
    shifts = [middle * slopes[0][0] for middle, slopes in zip(middles, fitted.slopes, strict=True) if middle]
    return float(fitted.target.middle + fitted.target.reach * (total + sum(shifts)) / FINE)
