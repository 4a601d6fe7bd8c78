"""What class tables say: the log-odds of a class in every cell of a column, as far as the noise lets them be known.

Post-processing of released numbers. Floats are of one thread and are rounded to steps of 1/256 before they are used.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.learn.bins import Cells
from sfumato.learn.task import Counts

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]

STEPS = 256  # of a weight: log-odds are whole numbers of 1/256
NEWTON_STEPS = 12
FARTHEST = 5.0  # of log-odds
LEAST_CLASS, MOST_CLASS = 0.01, 0.99  # of all rows
LEAST_NOISE = 1e-3  # standard deviations


@dataclass(frozen=True, slots=True)
class Evidence:
    """Of one class against all others: its log-odds in all, and how much more or less in every cell, with its error.

    `rows` are the noisy numbers of rows in cells, `total` that of all.
    """

    intercept: float
    weights: tuple[Floats, ...]
    errors: tuple[Floats, ...]
    rows: tuple[Floats, ...]
    total: float

    def carried(self) -> Floats:
        """How much of the log-odds each column carries."""
        parts = []
        for weights, rows in zip(self.weights, self.rows, strict=True):
            share = sigmoid(self.intercept + weights)
            parts.append(float((rows * share * (1 - share) * weights**2).sum()))
        return np.array(parts) / self.total


def sigmoid(score: Floats | float) -> Floats:
    return np.asarray(1 / (1 + np.exp(-np.clip(score, -40, 40))), dtype=np.float64)


def rounded(values: Floats) -> Whole:
    """In steps of 1/256."""
    return np.rint(values * STEPS).astype(np.int64)


def kernel(cells: Cells, variance: float = 1.0) -> Floats:
    """What is known of weights before any data: neighbours on a line are alike, other cells have nothing in common."""
    size = cells.size
    if not cells.ordered:
        return np.asarray(np.eye(size) * variance)
    places = np.arange(size - 1)
    reach = max(2.0, (size - 1) / 8)
    known = np.eye(size)
    known[:-1, :-1] = np.exp(-np.abs(places[:, None] - places[None, :]) / reach)
    return np.asarray(known * variance)


def strongest(carried: Floats, part: float) -> list[int]:
    """The columns that carry so large a part of all, the strongest first; all if none carries anything."""
    carried = np.round(carried, 9)
    order = np.argsort(-carried, kind="stable")
    if carried.sum() <= 0:
        return [int(place) for place in order]
    reached = np.cumsum(carried[order]) / carried.sum()
    return [int(place) for place in order[: int(np.searchsorted(reached, part)) + 1]]


def totals(tables: Sequence[Counts]) -> Floats:
    """How many rows of each class there are: every table tells, one of fewer cells more exactly."""
    weights = np.array([1 / len(table) for table in tables])
    sums = np.array([table.sum(axis=0) for table in tables], dtype=np.float64)
    return np.asarray(np.maximum((sums * weights[:, None]).sum(axis=0) / weights.sum(), 1.0))


def evidence(tables: Sequence[Counts], cells: Sequence[Cells], noise: Sequence[float], wanted: int) -> Evidence:
    """The most likely log-odds of class `wanted`, given noisy tables of rows by cell and class."""
    found = totals(tables)
    share = float(np.clip(found[wanted] / found.sum(), LEAST_CLASS, MOST_CLASS))
    intercept = float(np.log(share / (1 - share)))
    parts = [
        _column(table, each, deviation, wanted, intercept)
        for table, each, deviation in zip(tables, cells, noise, strict=True)
    ]
    weights, errors, rows = zip(*parts, strict=True)
    return Evidence(intercept, weights, errors, rows, float(found.sum()))


def _column(
    table: Counts, cells: Cells, deviation: float, wanted: int, intercept: float
) -> tuple[Floats, Floats, Floats]:
    """Gauss-Newton steps on r = c - p·n, whose variance is that of its noise and of counting.

    Of K classes the others have the noise of K - 1 numbers.
    """
    own, every = table[:, wanted].astype(np.float64), table.sum(axis=1).astype(np.float64)
    others = table.shape[1] - 1
    deviation = max(deviation, LEAST_NOISE)  # without any, a cell without rows has no variance to divide by
    rows = np.maximum(every, 0.25 * deviation)
    before = np.linalg.inv(kernel(cells))
    weights, matrix = np.zeros(len(table)), before
    for _ in range(NEWTON_STEPS):
        share = sigmoid(intercept + weights)
        slope = rows * share * (1 - share)
        variance = deviation**2 * ((1 - share) ** 2 + others * share**2) + slope
        matrix = before + np.diag(slope**2 / variance)
        step = np.linalg.solve(matrix, slope * (own - share * every) / variance - before @ weights)
        weights = weights + np.clip(step, -1, 1)
    errors = np.sqrt(np.diag(np.linalg.inv(matrix)))
    return np.clip(weights, -FARTHEST, FARTHEST), errors, rows
