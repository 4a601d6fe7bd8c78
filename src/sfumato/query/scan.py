"""The clipping scan: one noisy histogram, and from it the clipped sum at every bound. Post-processing only."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np

from sfumato.errors import not_whole, out_of_range
from sfumato.ledger.terms import Amount
from sfumato.plots.accounting import Band, Chart, Line, Mark, Panel
from sfumato.query.sql_calls import MOST_BINS
from sfumato.query.wordings import no_numbers, no_upper_end
from sfumato.schema.columns import Column, Float, Int
from sfumato.schema.numbers import Number, exact_positive

WIDTH = 1.959964  # standard deviations of a 95 % error bar: a sum of many noises is nearly normal


@dataclass(frozen=True, slots=True)
class Point:
    """The sum of all values clipped to [0, bound], and the standard deviation of its noise."""

    bound: float
    total: float
    deviation: float

    @property
    def interval(self) -> tuple[float, float]:
        return self.total - WIDTH * self.deviation, self.total + WIDTH * self.deviation


@dataclass(frozen=True, slots=True)
class Scan:
    """The sums of a column at every bound, all from one release; values below 0 count as 0."""

    column: str
    points: tuple[Point, ...]
    recommended: float
    cost: Amount
    left: Amount
    cached: bool

    def to_dict(self) -> dict[str, Any]:
        """What `--format json` prints."""
        return {
            "column": self.column,
            "recommended": self.recommended,
            "points": [
                {"bound": p.bound, "sum": p.total, "deviation": p.deviation, "interval": list(p.interval)}
                for p in self.points
            ],
            "confidence": 0.95,
            "cost": {"epsilon": self.cost.epsilon, "delta": self.cost.delta},
            "left": {"epsilon": self.left.epsilon, "delta": self.left.delta},
            "cached": self.cached,
        }

    def chart(self) -> Chart:
        """The curve with its error band, and the bound to declare."""
        bounds = [point.bound for point in self.points]
        chosen = next(point for point in self.points if point.bound == self.recommended)
        panel = Panel(
            title=f"Sum of {self.column}, clipped at every bound",
            takeaway=f"Beyond {self.recommended:.6g} the sum hardly grows, and every question gets noisier. "
            f"All {len(bounds)} sums come from one release that cost {self.cost}.",
            horizontal=f"upper bound of {self.column}",
            vertical=f"sum of {self.column}",
            lines=[Line("clipped sum", bounds, [point.total for point in self.points], bold=True)],
            bands=[
                Band(
                    "95 % error",
                    bounds,
                    [point.interval[0] for point in self.points],
                    [point.interval[1] for point in self.points],
                )
            ],
            marks=[Mark(chosen.bound, chosen.total, f"{chosen.bound:.4g}")],
            top=1.08 * max(point.interval[1] for point in self.points),
            bottom=min(0.0, *(point.interval[0] for point in self.points)),
        )
        return Chart(f"Bounds for {self.column}", [panel])


def public_range(name: str, declared: Column, upper: Number | None) -> Int | Float:
    """The column as if its owner had declared 0 to `upper`, or to its own upper bound."""
    if not isinstance(declared, Int | Float):
        raise no_numbers(name)
    end = declared.upper if upper is None else exact_positive(upper, "upper")
    if end is None or end <= 0:
        raise no_upper_end(name)
    return Int(0, ceil(end)) if isinstance(declared, Int) else Float(0, end)


def check_points(points: int) -> None:
    if type(points) is not int:
        raise not_whole("points", repr(points))
    if not 2 <= points < MOST_BINS:
        raise out_of_range("points", "2", str(MOST_BINS - 1), str(points))


def scanned(
    column: str,
    bins: Sequence[Mapping[str, float]],
    deviation: float,
    *,
    unit_noise: float,
    cost: Amount,
    left: Amount,
    cached: bool,
) -> Scan:
    """Every clipped sum of a noisy histogram whose counts have this standard deviation.

    Σ count · min(value, bound): one matrix. `unit_noise` is the standard deviation a later sum has per unit of its
    bound; the bound to recommend loses least to it and to clipping together, as far as the noisy counts tell.
    """
    counts = np.array([one["count"] for one in bins], dtype=np.float64)
    values = np.array([(one["low"] + one["high"]) / 2 for one in bins], dtype=np.float64)
    ends = np.array([one["high"] for one in bins], dtype=np.float64)
    clipped = np.minimum(values[None, :], ends[:, None])
    totals, noises = clipped @ counts, deviation * np.sqrt((clipped**2).sum(axis=1))
    over = np.maximum(values[None, :] - ends[:, None], 0.0)
    # The noise of the estimate itself must not look like something that is lost.
    lost = np.maximum(over @ counts - deviation * np.sqrt((over**2).sum(axis=1)), 0.0) ** 2
    usable = ends > 0
    best = int(np.flatnonzero(usable)[np.argmin((lost + (unit_noise * ends) ** 2)[usable])])
    points = tuple(Point(*numbers) for numbers in zip(ends.tolist(), totals.tolist(), noises.tolist(), strict=True))
    return Scan(column, points, points[best].bound, cost, left, cached)
