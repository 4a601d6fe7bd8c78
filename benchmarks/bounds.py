"""Sums without declared bounds on Adult, against the bound that libraries find and against public bounds."""

from fractions import Fraction
from math import ceil, log, log2, sqrt

import numpy as np
import pandas as pd

from benchmarks.measure import Report
from sfumato.kernel.entropy import SystemEntropy
from sfumato.kernel.mechanisms.additive import DiscreteLaplace
from sfumato.kernel.mechanisms.found_bounds import BoundedSum
from sfumato.kernel.mechanisms.protocol import CellCounts, Weighed
from sfumato.kernel.widths import deviation
from sfumato.plan.expressions import Column
from sfumato.plan.nodes import Magnitudes
from tests.tables import adult

RUNS = 400
WHOLE = Magnitudes(Column("x"), 0, 62)
TARGETS = {"age": 0.010, "capital_gain": 0.40, "hours_per_week": None, "fnlwgt": None, "capital_loss": None}
PUBLIC = {"age": 1024, "capital_gain": 1 << 20, "hours_per_week": 1024, "fnlwgt": 1 << 24, "capital_loss": 1 << 16}


def run() -> list[Report]:
    report = Report("Sums without declared bounds: Adult, ε = 1, RMSE in % of the sum")
    people = pd.concat([pd.read_csv(adult() / f"{part}.csv") for part in ("train", "test")])
    for column, target in TARGETS.items():
        values = people[column].dropna().to_numpy(dtype=np.int64)
        report.add(f"{column}, {len(values):,} rows, bounds found with 10 %", _found(values), "%", at_most=target)
        report.add(f"{column}, ApproxBounds, half and half", _approximate(values), "%")
        report.add(f"{column}, public bound {PUBLIC[column]:,}", _noise(values, PUBLIC[column], Fraction(1)), "%")
        report.add(f"{column}, the true maximum (not private)", _noise(values, int(values.max()), Fraction(1)), "%")
    return [report]


def weighed(values: np.ndarray) -> Weighed:
    """What an engine returns for values that are not negative."""
    edges = np.array([edge for edge in WHOLE.edges if edge < 1 << 62], dtype=np.int64)
    cells = len(WHOLE.edges) + np.where(values > 0, np.searchsorted(edges, values) + 1, 0)
    places, inverse, counts = np.unique(cells, return_inverse=True, return_counts=True)
    sums = tuple(int(values[inverse == place].sum()) for place in range(len(places)))
    return Weighed(CellCounts(places.astype(np.int64), counts.astype(np.int64)), sums)


def _found(values: np.ndarray) -> float:
    mechanism = BoundedSum.for_share(Fraction(1), "epsilon", 1, 1, WHOLE.edges, Fraction(1, 10))
    entropy, data = SystemEntropy(), weighed(values)
    return _rmse([mechanism.find(data, entropy)[2] for _ in range(RUNS)], values)


def _approximate(values: np.ndarray) -> float:
    """The highest power of two whose noisy count passes, as libraries find it, with half of ε."""
    half, entropy, sizes = Fraction(1, 2), SystemEntropy(), 64
    powers = np.array([0 if value == 0 else ceil(log2(value)) for value in range(int(values.max()) + 1)])
    counts = np.bincount(powers[values], minlength=sizes)
    threshold = -log(2 - 2 * (1 - 1e-9) ** (1 / (2 * sizes))) / float(half)
    answers = []
    for _ in range(RUNS):
        noisy = counts + DiscreteLaplace.for_epsilon(half, 1).draw(sizes, entropy)
        bound = 1 << int(np.flatnonzero(noisy >= threshold)[-1])
        noise = DiscreteLaplace.for_epsilon(half, bound).draw(1, entropy)[0]
        answers.append(int(np.minimum(values, bound).sum()) + int(noise))
    return _rmse(answers, values)


def _noise(values: np.ndarray, bound: int, epsilon: Fraction) -> float:
    return 100 * deviation(DiscreteLaplace.for_epsilon(epsilon, bound)) / float(values.sum())


def _rmse(answers: list[int], values: np.ndarray) -> float:
    total = int(values.sum())
    return 100 * sqrt(float(np.mean([(answer / total - 1) ** 2 for answer in answers])))
