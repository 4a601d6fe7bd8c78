"""The clipping scan: one noisy histogram, and from it the clipped sum at every bound. Post-processing only."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.answers.wordings import no_numbers, no_upper_end
from sfumato.ledger.terms import Amount
from sfumato.plots.charts import Band, Chart, Line, Mark, Panel, interactive
from sfumato.plots.fragment import fragment
from sfumato.plots.page import Table, escaped, table
from sfumato.query.sql_calls import MOST_BINS
from sfumato.schema.columns import Declared, Float, Int
from sfumato.schema.numbers import GivenNumber, exact_positive, whole

Numbers = NDArray[np.float64]
SHOWN = 15  # points in a table
DOUBT = 1.25  # how much more than its noise an estimate must be, far out; measured on ages, incomes and spikes
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
    """The sums of a column at every bound, all from one release; values below 0 count as 0.

    `recommended`: the bound to declare, or None where noise hides how far the values reach.
    """

    column: str
    points: tuple[Point, ...]
    recommended: float | None
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

    def says(self) -> str:
        """The bound in words, or that there is none to recommend."""
        if self.recommended is None:
            return f"Noise hides how far {self.column} reaches: no bound is recommended. Spend more to see it."
        return (
            f"Recommended upper bound of {self.column}: {self.recommended:.6g}. There clipping and the noise of later "
            "sums cost least together, as far as this release shows."
        )

    def price(self) -> str:
        """What it cost and what is left."""
        paid = "Asked before: free." if self.cached else f"Cost {self.cost} for all {len(self.points)} sums."
        return f"{paid} Left {self.left}."

    def plot(self) -> Any:
        """A Plotly figure of the curve with its 95 % error band."""
        return interactive(self.chart().panels[0])

    def _repr_html_(self) -> str:
        rows: list[list[str | float]] = [
            [f"{point.bound:,.6g}", point.total, WIDTH * point.deviation] for point in self.thinned()
        ]
        lines = [self.says(), "± at 95 %; values below 0 count as 0.", self.price()]
        shown = table(Table(["bound", "sum", "±"], rows))
        return fragment(f"{shown}<p>{'<br>'.join(map(escaped, lines))}</p>")

    def thinned(self) -> Sequence[Point]:
        """A few points, evenly spread."""
        return self.points[:: -(-len(self.points) // SHOWN)]

    def chart(self) -> Chart:
        """The curve with its error band, and the bound to declare."""
        bounds = [point.bound for point in self.points]
        panel = Panel(
            title=f"Sum of {self.column}, clipped at every bound",
            takeaway=f"{self.says()} All {len(bounds)} sums come from one release that cost {self.cost}.",
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
            marks=[
                Mark(point.bound, point.total, f"{point.bound:.4g}")
                for point in self.points
                if point.bound == self.recommended
            ],
            top=1.08 * max(point.interval[1] for point in self.points),
            bottom=min(0.0, *(point.interval[0] for point in self.points)),
        )
        return Chart(f"Bounds for {self.column}", [panel])


def public_range(name: str, declared: Declared, upper: GivenNumber | None) -> Int | Float:
    """The column as if its owner had declared 0 to `upper`, or to its own upper bound."""
    if not isinstance(declared, Int | Float):
        raise no_numbers(name)
    end = declared.upper if upper is None else exact_positive(upper, "upper")
    if end is None or end <= 0:
        raise no_upper_end(name)
    return Int(0, ceil(end)) if isinstance(declared, Int) else Float(0, end)


def check_points(points: int) -> None:
    whole(points, "points", least=2, most=MOST_BINS - 1)


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
    bound.
    """
    counts = np.array([one["count"] for one in bins], dtype=np.float64)
    values = np.array([(one["low"] + one["high"]) / 2 for one in bins], dtype=np.float64)
    ends = np.array([one["high"] for one in bins], dtype=np.float64)
    clipped = np.minimum(values[None, :], ends[:, None])
    totals, noises = clipped @ counts, deviation * np.sqrt((clipped**2).sum(axis=1))
    best = _best(counts, values, ends, deviation, unit_noise)
    points = tuple(Point(*numbers) for numbers in zip(ends.tolist(), totals.tolist(), noises.tolist(), strict=True))
    return Scan(column, points, None if best is None else points[best].bound, cost, left, cached)


def _best(counts: Numbers, values: Numbers, ends: Numbers, deviation: float, unit_noise: float) -> int | None:
    """The place of the bound that loses least to clipping and to later noise, as far as the noisy counts tell.

    What a bound loses is at least what the bins up to any other lose to it, since no count is negative: the largest of
    these estimates counts. Up to the last bin that surely holds somebody, or has one above it, an estimate counts as it
    is; further out it must exceed its own noise, the more the further, or empty bins would decide. What is lost never
    grows with the bound. None if no such bin is known.
    """
    reached = _reached(counts, deviation)
    if reached is None:
        return None
    reached = max(reached, int(np.argmax(ends > 0)))
    over = np.maximum(values[None, :] - ends[:, None], 0.0)
    estimates, noises = np.cumsum(over * counts, axis=1), deviation * np.sqrt(np.cumsum(over**2, axis=1))
    doubts = DOUBT * np.sqrt(2 * np.log(np.maximum(ends / ends[reached], 1.0)))
    lost = np.maximum((estimates - doubts * noises)[:, reached:].max(axis=1), 0.0)
    lost = np.maximum.accumulate(lost[::-1])[::-1]
    return reached + int(np.argmin((lost**2 + (unit_noise * ends) ** 2)[reached:]))


def _reached(counts: Numbers, deviation: float) -> int | None:
    """The last bin from which on so many are counted together that noise alone hardly ever does it; None for none.

    That there is somebody in all the bins together tells nothing: the first bin must be seen alone.

    All stretches of bins are looked at; a sum of m noises exceeds deviation · (√(2mL) + L/√2) with probability e^-L
    (Bernstein's inequality; Laplace noise has the heavier tail of the two that a release can have).
    """
    known = np.concatenate([[0.0], np.cumsum(counts)])
    first, last = np.triu_indices(len(known), 1)
    rare = np.log(len(counts))
    needed = deviation * (np.sqrt(2 * (last - first) * rare) + rare / np.sqrt(2))
    seen = known[last] - known[first] > needed
    return int(first[seen].max(initial=0)) or (0 if seen[0] else None)
