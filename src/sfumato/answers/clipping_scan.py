"""The clipping scan: one noisy line of cells, and from it the clipped sum at every bound. Post-processing only."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np

from sfumato.answers.answer import Answer
from sfumato.answers.clipping_bound import recommended, rows_from
from sfumato.answers.clipping_line import ClippingLine
from sfumato.answers.wordings import no_numbers, no_upper_end
from sfumato.kernel.mechanisms.additive import Additive
from sfumato.ledger.terms import Amount
from sfumato.plots.charts import Band, Chart, Line, Mark, Panel, interactive
from sfumato.plots.fragment import fragment
from sfumato.plots.page import Table, escaped, table
from sfumato.query.sql_calls import MOST_BINS
from sfumato.schema.columns import Declared, Float, Int
from sfumato.schema.numbers import GivenNumber, exact_positive, whole

SHOWN = 15  # points in a table
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

    `recommended`: the bound to declare, or None where noise hides how far the values reach. `beyond`: the part of the
    rows that lie beyond it, at most, as far as noise tells (95 %); `times`: about how much more to spend where there is
    none.
    """

    column: str
    points: tuple[Point, ...]
    recommended: float | None
    cost: Amount
    left: Amount
    cached: bool
    beyond: float | None = None
    times: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """What `--format json` prints."""
        return {
            "column": self.column,
            "recommended": self.recommended,
            "beyond": self.beyond,
            "times": self.times,
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
        """The bound in words and what it leaves beyond it, or that there is none to recommend."""
        if self.recommended is None:
            more = "" if self.times is None else f" (about {self.times:,.2g} times as much)"
            return f"Noise hides how far {self.column} reaches: no bound is recommended. Spend more{more} to see it."
        beyond = "" if self.beyond is None else f" At most {_up(self.beyond)} of the rows lie beyond it."
        return (
            f"Recommended upper bound of {self.column}: {self.recommended:.6g}.{beyond} Clipping these "
            "costs little beside the noise of later sums, as far as this release shows."
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
        """A few points, evenly spread over the line."""
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


def _up(share: float) -> str:
    """In per cent, rounded up to a tenth."""
    return f"{ceil(1000 * share) / 10:g} %"


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


def released(answer: Answer) -> tuple[Sequence[int], Additive]:
    """The noisy counts of a single line of cells, or running totals of them, and how they were measured."""
    (((answers, *_), *_), _, (measured, *_)) = answer._numbers
    if not (isinstance(answers, tuple) and isinstance(measured, Additive)):
        raise TypeError("a line of cells is counted with noise")
    return answers, measured


def scanned(
    column: str,
    line: ClippingLine,
    answers: Sequence[int],
    measured: Additive,
    *,
    unit_noise: float,
    cost: Amount,
    left: Amount,
    cached: bool,
) -> Scan:
    """Every clipped sum, and the bound to declare, from the noisy counts of a line or from its noisy running totals.

    Σ rows from a cell on · what the cell adds to a value: one matrix. `unit_noise` is the standard deviation a later
    sum has per unit of its bound.
    """
    rows = rows_from(line, answers, measured)
    within = np.minimum(rows.values[None, :], rows.ends[:, None])
    weights = np.diff(within, axis=1, prepend=0.0)
    totals, noises = weights @ rows.counts, rows.deviation * np.sqrt(((weights @ rows.noise) ** 2).sum(axis=1))
    points = tuple(
        Point(*numbers) for numbers in zip(rows.ends.tolist(), totals.tolist(), noises.tolist(), strict=True)
    )
    found = recommended(rows, unit_noise)
    bound = None if found.place is None else points[found.place].bound
    return Scan(column, points, bound, cost, left, cached, found.beyond, found.times)
