"""Answers along a line of cells: quantiles, histograms, running shares. Post-processing only."""

from fractions import Fraction
from functools import lru_cache
from math import ceil, expm1, floor, sqrt
from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.kernel.mechanisms.additive import Additive, Law
from sfumato.kernel.mechanisms.protocol import Mechanism
from sfumato.kernel.mechanisms.ranks import RankChoice
from sfumato.kernel.mechanisms.running import Strategy
from sfumato.kernel.widths import BAR_ERROR, deviation, error
from sfumato.plan.nodes import Grid
from sfumato.query.rewrite import CdfColumn, HistogramColumn, QuantileColumn

Interval = tuple[float, float]
Matrix = npt.NDArray[np.float64]
HALF = Fraction(1, 2)


# ---- quantiles


def quantile(column: QuantileColumn, positions: tuple[int, ...], mechanism: Mechanism) -> float:
    chosen = Fraction(positions[3 * column.place], _ranks(mechanism).parts)
    return _value(column, chosen, floor)


def quantile_interval(
    column: QuantileColumn, positions: tuple[int, ...], mechanism: Mechanism, confidence: float
) -> Interval:
    """From the two positions chosen for it; where these reach the neighbouring level's, that level's count too."""
    ranks, size = _ranks(mechanism), column.quantile.cells.size
    low, high = Fraction(0), Fraction(size)
    if confidence <= 1 - BAR_ERROR:
        low, high = _bar(ranks, positions, column.place)
    return _value(column, low, floor), _value(column, high, ceil)


def _bar(ranks: RankChoice, positions: tuple[int, ...], place: int) -> tuple[Fraction, Fraction]:
    node, size = ranks.nodes()[place], ranks.cells
    chosen, low, high = positions[3 * place : 3 * place + 3]
    # Whole cells: where in its cell a value lies is not known.
    lowest = Fraction(max(floor(Fraction(min(low, chosen) - 1, ranks.parts)), 0))
    highest = Fraction(min(ceil(Fraction(max(high, chosen) + 1, ranks.parts)), size))
    if node.level == 0 or (node.left is not None and min(low, chosen) <= _reached(positions, node.left, max)):
        lowest = Fraction(0) if node.left is None else min(lowest, _bar(ranks, positions, node.left)[0])
    if node.level == 1 or (node.right is not None and max(high, chosen) >= _reached(positions, node.right, min)):
        highest = Fraction(size) if node.right is None else max(highest, _bar(ranks, positions, node.right)[1])
    return lowest, highest


def _reached(positions: tuple[int, ...], place: int, side: Any) -> int:
    return int(side(positions[3 * place : 3 * place + 3]))


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
    totals = running_totals(_running(mechanism)[1]) @ np.array(answers, dtype=np.float64)
    shares = np.clip(_rising(totals / max(totals[-1], 1.0)), 0.0, 1.0)
    return [{"at": _edge(column, i + 1, -HALF), "share": float(share)} for i, share in enumerate(shares)]


def _edge(column: HistogramColumn | CdfColumn, place: int, inward: Fraction) -> float:
    edge = min(column.cells.lower + place * column.cells.width, column.upper)
    return int(edge + inward) if column.whole else float(edge)


def cdf_interval(cells: Grid, answers: tuple[int, ...], mechanism: Mechanism, confidence: float) -> list[Interval]:
    """All shares s for which total - s · all lies within its noise.

    That noise is a sum of noises: its quantile lies between a normal one and that of one of them.
    """
    law, strategy = _running(mechanism)
    one = deviation(law)
    alone = error(law, confidence) / one if one else 0.0
    width = max(alone, NormalDist().inv_cdf((1 + confidence) / 2))
    matrix = running_totals(strategy)
    totals = (matrix @ np.array(answers, dtype=np.float64)).tolist()
    everybody = totals[-1]
    found = []
    for i in range(cells.size):
        share = min(max(totals[i] / max(everybody, 1.0), 0.0), 1.0)
        noise = width * one * sqrt(float(((matrix[i] - share * matrix[-1]) ** 2).sum()))
        half = noise / everybody if everybody > noise else 1.0
        found.append((max(share - half, 0.0), min(share + half, 1.0)))
    return found


def _running(mechanism: Mechanism) -> tuple[Law, Strategy]:
    if not isinstance(mechanism, Additive) or mechanism.strategy is None:
        raise TypeError("running totals are noisy sums of cells")
    return mechanism.law, mechanism.strategy


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
