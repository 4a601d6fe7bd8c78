"""What noisy tables say: the shares of cells, of columns and of pairs of them, as far as the noise lets them be known.

Post-processing of released numbers. Floats are of one thread, and end as whole parts of 2^24.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sfumato.learn.synthesis.pairs import Pair, Whole, penalty

Floats = NDArray[np.float64]

WHOLE = 1 << 24  # parts that the rows of a table are told in
CUT = 1.5  # standard deviations of noise below which the rows of a cell are taken for none
BELIEVED = 4.0  # variances of noise beyond which a cell is believed by itself
REACH = 2  # cells to each side that a cell on a line is like
A_TABLE = 1.2  # two standard deviations of how far noise alone puts a table, in those of a cell, by the root of cells
MEDIAN = 0.455  # of the square of a normal number
LEAST_NOISE = 1e-3  # standard deviations
FITTINGS = 50
A_LITTLE = 1e-3  # of what independent columns would have: no cell that rows can be in is empty


def rows_in(tables: Sequence[Whole]) -> int:
    """How many rows there are: every table tells, one of fewer cells more exactly."""
    weights = [Fraction(1, len(table)) for table in tables]
    sums = sum((weight * int(table.sum()) for weight, table in zip(weights, tables, strict=True)), Fraction(0))
    return max(1, round(sums / sum(weights)))


@dataclass(frozen=True, slots=True)
class Measured:
    """Noisy one-way tables and tables of pairs, and the standard deviations of their noise."""

    ones: tuple[Whole, ...]
    one_noise: float
    ordered: tuple[bool, ...]  # whether the cells of a column lie on a line, the last apart
    pairs: Mapping[Pair, Whole] = field(default_factory=dict)
    pair_noise: float = 1.0

    @property
    def rows(self) -> int:
        return rows_in(self.ones)

    @property
    def rows_noise(self) -> float:
        """The standard deviation of the noise on the number of rows."""
        return float(self.one_noise / sum(1 / len(one) for one in self.ones) ** 0.5)

    def shares(self) -> list[Whole]:
        """The shares of the cells of every column, by all that was measured: sums of pairs count by their noise."""
        own, theirs = (max(noise, LEAST_NOISE) ** -2 for noise in (self.one_noise, self.pair_noise))
        known = [np.full(len(one), own) for one in self.ones]
        total = [one * own for one in self.ones]
        for pair, table in self.pairs.items():
            for place, axis in zip(pair, (1, 0), strict=True):
                each = theirs / table.shape[axis]
                known[place], total[place] = known[place] + each, total[place] + each * table.sum(axis=axis)
        found = [(each / many, 1 / many) for each, many in zip(total, known, strict=True)]
        smooth = [_smoothed(*each) if line else each for each, line in zip(found, self.ordered, strict=True)]
        return [_cleaned(counts, noise, self.rows) for counts, noise in smooth]

    def is_noise(self, pair: Pair, ones: Sequence[Whole]) -> bool:
        """Whether the table of a pair is no farther from independent columns than noise alone may make it."""
        thought, noise = independent(ones, self.rows, pair), self.pair_noise
        apart = int(np.abs(self.pairs[pair].ravel() - thought).sum())
        return bool(apart < penalty(thought.size, noise) + A_TABLE * noise * thought.size**0.5)

    def fitted(self, pair: Pair, ones: Sequence[Whole]) -> Whole:
        """The shares of a pair: independent columns, and what was found beyond that as far as it is no noise.

        A difference is believed by its variance beside that of the noise: what all cells of the table show on average,
        in proportion to what is expected there, or what the cell itself shows. Then rows and columns get their sums.
        Where all of it may be noise, nothing is believed.
        """
        left, right = (np.asarray(ones[place] * (self.rows / WHOLE), dtype=np.float64) for place in pair)
        expected, noise = np.outer(left, right) / self.rows, max(self.pair_noise, LEAST_NOISE) ** 2
        if self.is_noise(pair, ones):
            return apportioned(expected)
        found = self.pairs[pair] - expected
        usual = max(float(((found**2 - noise) * expected).sum() / (expected**2).sum()), 0.0) * expected
        table = np.maximum(expected + found * _believed(found, noise, usual), A_LITTLE * expected)
        for _ in range(FITTINGS):
            table = table * _ratio(left, table.sum(axis=1))[:, None]
            table = table * _ratio(right, table.sum(axis=0))[None, :]
        return apportioned(table)


@dataclass(frozen=True, slots=True)
class Fit:
    """The shares of all columns, and of all pairs that were measured, which agree with these."""

    ones: Sequence[Whole]
    tables: Mapping[Pair, Whole]

    @classmethod
    def of(cls, measured: Measured, before: "Fit | None" = None) -> "Fit":
        """By all that was measured. A pair whose columns have the same shares as before is as it was."""
        ones = measured.shares()
        if before is None:
            return cls(ones, {pair: measured.fitted(pair, ones) for pair in measured.pairs})
        same = [np.array_equal(one, other) for one, other in zip(ones, before.ones, strict=True)]
        kept = {pair: table for pair, table in before.tables.items() if all(same[place] for place in pair)}
        return cls(ones, {pair: kept[pair] if pair in kept else measured.fitted(pair, ones) for pair in measured.pairs})


def _believed(found: Floats, noise: Floats | float, usual: Floats | float) -> Floats:
    """How much of a difference is no noise: by what is usual, or by what it shows itself, beside the noise."""
    true = np.maximum(usual, found**2 - BELIEVED * noise)
    return np.asarray(true / (true + noise))


def _smoothed(counts: Floats, noise: Floats) -> tuple[Floats, Floats]:
    """Counts on a line, each drawn towards its neighbours as far as it may differ by noise; and the variances left.

    How far cells usually differ is told by the median: a few that stand out are believed by themselves.
    """
    if len(counts) <= 2 * REACH + 1:
        return counts, noise
    weights = np.array([1 / (1 + abs(step)) if step else 0.0 for step in range(-REACH, REACH + 1)])
    beside = np.convolve(np.ones(len(counts) - 1), weights)[REACH:-REACH]
    around = np.convolve(counts[:-1], weights)[REACH:-REACH] / beside
    blurred = np.convolve(noise[:-1], weights**2)[REACH:-REACH] / beside**2
    found, both = counts[:-1] - around, noise[:-1] + blurred
    usual = max(float(np.median(found**2) / MEDIAN - both.mean()), 0.0)
    own = _believed(found, both, usual)
    smooth, left = around + own * found, own**2 * noise[:-1] + (1 - own) ** 2 * blurred
    return np.append(smooth, counts[-1]), np.append(left, noise[-1])


def _cleaned(counts: Floats, noise: Floats, rows: int) -> Whole:
    """Shares of counts that are 0 or more and add up to the rows, as near as can be; what may be noise is nothing."""
    return apportioned(_on_simplex(np.where(counts > CUT * noise**0.5, counts, 0.0), float(rows)))


def _on_simplex(values: Floats, total: float) -> Floats:
    """The nearest point with no negative number and this sum.

    All values less the largest have the same nearest point, and a sum that large ones would swallow is never lost.
    """
    values = values - values.max()
    falling = np.sort(values)[::-1]
    over = np.cumsum(falling) - total
    last = int(np.flatnonzero(falling * np.arange(1, len(values) + 1) > over)[-1])
    return np.asarray(np.maximum(values - over[last] / (last + 1), 0.0))


def apportioned(shares: Floats) -> Whole:
    """Whole parts of 2^24, each its share rounded up or down; the largest remainders are rounded up."""
    exact = shares.ravel() * (WHOLE / shares.sum())
    parts = np.floor(exact).astype(np.int64)
    parts[np.argsort(np.round(parts - exact, 6), kind="stable")[: WHOLE - int(parts.sum())]] += 1
    return np.asarray(parts.reshape(shares.shape))


def _ratio(wanted: Floats, found: Floats) -> Floats:
    return np.asarray(wanted / np.where(found > 0, found, 1.0))


def independent(ones: Sequence[Whole], rows: int, pair: Pair) -> Whole:
    """How many rows each cell of a pair would have if its columns had nothing to do with each other."""
    left, right = (ones[place] / WHOLE for place in pair)
    return np.asarray(np.rint(np.outer(left, right) * rows).ravel(), dtype=np.int64)
