"""A line of logarithms: the values on it, how far an end is sought, and equal bins. No claim depends on it.

`mechanisms.found_ends` asks this file where to cut a line and what its cells are worth, and does not believe it: what
it says is made safe there before it is used. It is told parameters and what was released, never the data.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil, floor, log

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.int64]
Values = npt.NDArray[np.float64]

QUARTER = log(2) / 4  # of an octave, from one edge to the next
# What an end costs before the data is looked at, in units of 2/epsilon rows: one for each time the ends move twice as
# far apart, the logarithm of how narrow a cell is, and this if they lie on both sides of 0 and the anchors do not.
DENSITY, ACROSS_ZERO = 0.15, 4.0
ROUND = tuple(Fraction(tenths, 10) for tenths in (10, 15, 20, 25, 30, 40, 50, 60, 80))  # widths of bins, and times ten


@dataclass(frozen=True, slots=True)
class Line:
    """Cell c holds y from lower + c·width on, where y = ±ln(1 + |x|/step). Whole numbers have the step 1."""

    size: int
    lower: Fraction
    width: Fraction
    step: Fraction

    @property
    def whole(self) -> bool:
        return self.step == 1

    @property
    def one_sided(self) -> bool:
        """Whether it begins at 0, and with it every range on it."""
        return self.lower >= 0

    def place(self, value: float) -> int:
        """The cell of a value, worked out as in SQL; beyond an end that end's cell."""
        y = (log(abs(value) / float(self.step) + 1)) * (1 if value > 0 else -1)
        return floor(min(max((y - float(self.lower)) * float(1 / self.width), 0.0), self.size - 1))

    def values(self, places: Numbers) -> Values:
        """Where cells begin."""
        y = float(self.lower) + places * float(self.width)
        return np.asarray(np.sign(y) * float(self.step) * np.expm1(np.abs(y)))

    def edges(self) -> Numbers:
        """The places of all ends that there can be: both ends of the line, 0, and from there quarters of an octave."""
        return _edges(self)

    def at(self, edge: int) -> float:
        """The value of an edge."""
        return float(self.values(self.edges()[edge : edge + 1])[0])

    def farther(self, low: int, high: int, rows: float) -> tuple[Numbers, Numbers]:
        """What an end in each cell costs, downwards from the last cell and upwards from the first, in parts of a row.

        `low` and `high` are the edges of the anchors, `rows` what one unit costs.
        """
        edges, zero = self.values(self.edges()), int(np.searchsorted(self.edges(), self.place(0.0)))
        cells = len(edges) - 1
        apart = edges[high] - edges[low]
        if apart <= 0:
            apart = max(abs(float(edges[high])), abs(float(edges[low])), float(self.step))
        down = _farther(-edges[::-1], cells - 1 - low, cells - 1 - zero, apart, self.one_sided)
        up = _farther(edges, high - 1, zero, apart, self.one_sided)
        return (rows * down).astype(np.int64), (rows * up).astype(np.int64)

    def cuts(self, low: int, high: int, bins: int) -> Numbers:
        """Where bins between two ends begin, and the last one's end, as places of cells."""
        return np.array([self.place(float(cut)) for cut in self.bins(low, high, bins)], dtype=np.int64)

    def bins(self, low: int, high: int, bins: int) -> list[Fraction]:
        """The same as values: round numbers, so that all bins together hold both ends."""
        first, last = Fraction(self.at(low)), Fraction(self.at(high))
        if bins == 1:
            return [first, last]
        width = (last - first) / bins
        tens = Fraction(10) ** floor(log(float(width)) / log(10))
        wanted = (times * tens * tenfold for tenfold in (1, 10) for times in ROUND)
        widths = (Fraction(max(1, ceil(each))) if self.whole else each for each in wanted)
        starts = ((floor(first / width) * width, width) for width in widths)
        start, width = next(found for found in starts if found[0] + bins * found[1] >= last)
        return [start + place * width for place in range(bins + 1)]

    def deviations(self, low: int, high: int, most: int) -> Numbers:
        """Of each cell between two ends how far it lies from their middle, from which they are `most` away."""
        first, last = self.at(low), self.at(high)
        begin = self.values(np.arange(self.edges()[low], self.edges()[high] + 1))
        inside = (begin[:-1] + begin[1:]) / 2
        if self.whole:
            inside = np.rint(inside)
        parts = (2 * inside - first - last) / (last - first)
        return np.rint(np.clip(parts, -1.0, 1.0) * most).astype(np.int64)


@lru_cache(maxsize=8)
def _edges(line: Line) -> Numbers:
    stride, zero = max(1, round(QUARTER / float(line.width))), line.place(0.0)
    inside = np.arange(zero % stride, line.size, stride)
    kept = np.unique(np.concatenate([[0], inside, [line.size]])).astype(np.int64)
    kept.setflags(write=False)
    return kept


def _farther(edges: Values, first: int, zero: int, apart: float, one_sided: bool) -> Values:
    """Edges run outwards; `zero` is the cell of 0, which is as likely an end as any other."""
    width, away = np.diff(edges), np.maximum(edges[1:] - edges[first + 1], 0.0)
    likely = np.minimum(width / (apart + away), DENSITY) / DENSITY
    likely[zero] = 1.0
    costs = np.log2(1 + away / apart) - np.log(np.maximum(likely, 1e-300))
    places = np.arange(len(costs))
    if not one_sided and first <= zero:
        costs[places > zero] += ACROSS_ZERO
    return np.asarray(costs)
