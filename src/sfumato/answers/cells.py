"""Answers along a line of cells: quantiles, histograms, running shares. Post-processing only."""

from fractions import Fraction
from functools import lru_cache
from math import ceil, expm1, floor, sqrt
from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.kernel.mechanisms.additive import Additive, DiscreteLaplace, Law
from sfumato.kernel.mechanisms.protocol import Mechanism
from sfumato.kernel.mechanisms.rank_bars import balanced
from sfumato.kernel.mechanisms.ranks import RankChoice
from sfumato.kernel.mechanisms.running import Strategy
from sfumato.kernel.widths import deviation, error, round_number
from sfumato.plan.nodes import Grid
from sfumato.query.rewrite import CdfColumn, HistogramColumn, QuantileColumn

Interval = tuple[float, float]
Matrix = npt.NDArray[np.float64]
HALF = Fraction(1, 2)


# ---- quantiles


def quantile(column: QuantileColumn, released: tuple[int, ...], mechanism: Mechanism) -> float:
    """At its position; in a cell with a round number, which is likelier than others, that number."""
    ranks, position = _ranks(mechanism), released[column.place]
    cell = position // ranks.parts
    number = None if ranks.line is None else round_number(*ranks.line, ranks.cells, cell)
    if number is not None:
        return int(number) if column.quantile.whole else float(number)
    return _value(column, Fraction(position, ranks.parts), floor)


def quantile_interval(
    column: QuantileColumn, released: tuple[int, ...], mechanism: Mechanism, confidence: float
) -> Interval:
    low, high = bar(_ranks(mechanism), released, column.place, confidence)
    return _value(column, Fraction(low), floor), _value(column, Fraction(high), ceil)


def says_nothing(column: QuantileColumn, interval: Interval) -> bool:
    """Whether a bar goes from one end of the line to the other."""
    return all(at_ends(column, interval))


def at_ends(column: QuantileColumn, interval: Interval) -> tuple[bool, bool]:
    """Whether a bar reaches the lower end of the line, and the upper one."""
    ends = _value(column, Fraction(0), floor), _value(column, Fraction(column.quantile.cells.size), ceil)
    return interval[0] == ends[0], interval[1] == ends[1]


def bar(ranks: RankChoice, released: tuple[int, ...], place: int, confidence: float) -> tuple[int, int]:
    """The edges of the cells between which a quantile lies, from the noisy counts around the released positions.

    From the outermost cut inwards, as long as so few rows lie below it (or above) that noise does not explain it: a
    bar that is wrong has passed the first cut on the wrong side of the quantile, one with an error of known size.
    Proof: docs/proofs/quantiles.md, "Error bars"
    """
    many = len(ranks.levels)
    positions, answers = released[:many], np.array(released[many:], dtype=np.float64)
    cuts = ranks.cuts(positions)
    law = ranks.noise(cuts)
    weights = _beside_cuts(len(cuts) + 1, ranks.levels[place], ranks.tilt if ranks.gaussian else None)
    beside = weights @ answers
    # One row more: how a quantile between two rows is called differs. And one step of the sum, where it has steps: its
    # own quantile may lie that far beyond the larger of a normal law's and of one noise's.
    step = max(ranks.levels[place], 1 - ranks.levels[place]) if isinstance(law, DiscreteLaplace) else 0
    noise = 1 + float(step) + _widths(law, confidence) * deviation(law) * np.sqrt((weights**2).sum(axis=1))
    below, above = _leading(beside <= -noise), _leading(beside[::-1] >= noise[::-1])
    chosen = min(positions[place] // ranks.parts, ranks.cells - 1)
    low = cuts[below - 1] if below else 0
    high = cuts[-above] if above else ranks.cells
    return min(low, chosen), max(high, chosen + 1)


def _leading(passed: npt.NDArray[np.bool_]) -> int:
    """How many hold, up to the first that does not."""
    return len(passed) if passed.all() else int(np.argmin(passed))


@lru_cache(maxsize=256)
def _beside_cuts(size: int, level: Fraction, tilt: Fraction | None) -> Matrix:
    """What makes of noisy answers, for every cut, the rows below it minus the level's part of all rows."""
    wanted = (np.arange(1, size)[:, None] > np.arange(size)).astype(np.float64) - float(level)
    if tilt is not None:
        wanted = wanted @ np.linalg.pinv(balanced(size, tilt).astype(np.float64))
    return np.asarray(wanted)


def _widths(law: Law, confidence: float) -> float:
    """Of a sum of noises, in deviations: but for its steps, between a normal law's quantile and that of one noise."""
    one = deviation(law)
    return max(error(law, confidence) / one if one else 0.0, NormalDist().inv_cdf((1 + confidence) / 2))


def _value(column: QuantileColumn, cell: Fraction, rounded: Any) -> float:
    """The value at a position, counted in cells."""
    grid, step = column.quantile.cells, column.quantile.step
    place = grid.lower + cell * grid.width
    if step is not None:
        place = (1 if place > 0 else -1) * step * Fraction(expm1(abs(place)))
    if not column.quantile.whole:
        return float(place)
    # Whole numbers lie in the middle of their cells.
    nearest = int(rounded(place + HALF if rounded is floor else place - HALF))
    return nearest if step is not None else min(max(nearest, int(grid.lower + HALF)), int(grid.upper - HALF))


def apart(cells: Grid) -> float:
    """By what part two neighbouring numbers differ on a line of logarithms."""
    return expm1(cells.width)


def _ranks(mechanism: Mechanism) -> RankChoice:
    if not isinstance(mechanism, RankChoice):
        raise TypeError("a quantile is chosen by rank")
    return mechanism


# ---- histograms and running shares


def histogram(column: HistogramColumn, counts: tuple[int, ...]) -> list[dict[str, float]]:
    """Bins [low, high), the last one with its end; of whole numbers the first and the last of each bin.

    The last bin ends where the values end; whatever lies beyond was counted in it.
    """
    return [
        {"low": _edge(column, place, HALF), "high": _edge(column, place + 1, -HALF), "count": count}
        for place, count in enumerate(counts)
    ]


def cdf(column: CdfColumn, answers: tuple[int, ...], mechanism: Mechanism) -> list[dict[str, float]]:
    """The share of rows up to each point, never falling, from 0 to 1."""
    found = shares(_running(mechanism), answers)
    return [{"at": _edge(column, i + 1, -HALF), "share": float(share)} for i, share in enumerate(found)]


def shares(measured: Additive, answers: tuple[int, ...]) -> Matrix:
    """The share of rows up to the end of each cell, never falling, from 0 to 1."""
    totals = running_totals(_strategy(measured)) @ np.array(answers, dtype=np.float64)
    return np.asarray(np.clip(_rising(totals / max(totals[-1], 1.0)), 0.0, 1.0))


def _edge(column: HistogramColumn | CdfColumn, place: int, inward: Fraction) -> float:
    edge = min(column.cells.lower + place * column.cells.width, column.upper)
    return int(edge + inward) if column.whole else float(edge)


def cdf_interval(answers: tuple[int, ...], mechanism: Mechanism, confidence: float) -> list[Interval]:
    return share_intervals(_running(mechanism), answers, confidence)


def share_intervals(measured: Additive, answers: tuple[int, ...], confidence: float) -> list[Interval]:
    """All shares s for which total - s · all lies within its noise."""
    law, strategy = measured.law, _strategy(measured)
    one, width = deviation(law), _widths(law, confidence)
    matrix = running_totals(strategy)
    totals = (matrix @ np.array(answers, dtype=np.float64)).tolist()
    everybody = totals[-1]
    found = []
    for i in range(strategy.size):
        share = min(max(totals[i] / max(everybody, 1.0), 0.0), 1.0)
        noise = width * one * sqrt(float(((matrix[i] - share * matrix[-1]) ** 2).sum()))
        half = noise / everybody if everybody > noise else 1.0
        found.append((max(share - half, 0.0), min(share + half, 1.0)))
    return found


def _running(mechanism: Mechanism) -> Additive:
    if not isinstance(mechanism, Additive):
        raise TypeError("running totals are noisy sums of cells")
    return mechanism


def _strategy(measured: Additive) -> Strategy:
    if measured.strategy is None:
        raise TypeError("running totals are noisy sums of cells")
    return measured.strategy


@lru_cache(maxsize=8)
def running_totals(strategy: Strategy) -> Matrix:
    """The matrix that makes running totals of noisy answers, with the least variance."""
    size = strategy.size
    measured = np.stack([strategy.answers(row) for row in np.eye(size, dtype=np.int64)], axis=1).astype(np.float64)
    inverse = np.linalg.solve(measured.T @ measured, measured.T) if len(measured) > size else np.linalg.inv(measured)
    return np.asarray(np.cumsum(inverse, axis=0))


def _rising(values: Matrix) -> Matrix:
    """The nearest sequence that never falls (pool adjacent violators)."""
    pools: list[tuple[float, int]] = []
    for value in values.tolist():
        pools.append((value, 1))
        while len(pools) > 1 and pools[-2][0] > pools[-1][0]:
            (one, many), (two, more) = pools[-2:]
            pools[-2:] = [((one * many + two * more) / (many + more), many + more)]
    return np.repeat([value for value, _ in pools], [many for _, many in pools])
