"""Which pairs of columns a synthetic table is measured by, how the price is divided among them, and their plans.

All of it follows from declarations and the spend; where nobody said how many rows there are, from a released number.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import combinations
from math import log10, pi, sqrt

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import Refused
from sfumato.kernel.certify import certify
from sfumato.learn.task import Task
from sfumato.plan.expressions import Cross
from sfumato.plan.nodes import LARGEST_MODEL, Choose, Gap, Histogram, Measure, MechanismName, Plan

Pair = tuple[int, int]
Whole = NDArray[np.int64]

ONES, CHOICES = Fraction(1, 5), Fraction(1, 20)  # of the price; what is left is for tables of pairs
LARGEST_PAIR, MOST_KEPT = 1 << 14, 1 << 19  # cells of a pair, and of all pairs of a tree
MOST_OFFERED = 128  # pairs that are chosen from at once
MOST_FURTHER = 40
FEW_FOR_FURTHER = 5000  # rows times ε: with fewer, a tree is all that is measured
FURTHER_A_DECADE = 10
EXPECTED_OF_NOISE = sqrt(2 / pi)  # how far a cell is from its model by noise alone, in standard deviations


def measurable(sizes: Sequence[int]) -> tuple[Pair, ...]:
    """The pairs of columns that do not have too many cells together."""
    most = min(LARGEST_PAIR, MOST_KEPT // max(1, len(sizes) - 1))
    return tuple((one, other) for one, other in combinations(range(len(sizes)), 2) if sizes[one] * sizes[other] <= most)


class Parts:
    """Columns that pairs have joined so far."""

    def __init__(self, columns: int) -> None:
        self._part = list(range(columns))

    def join(self, pair: Pair) -> bool:
        """Whether the columns were apart before."""
        kept, gone = (self._part[column] for column in pair)
        self._part = [kept if part == gone else part for part in self._part]
        return kept != gone

    def joining(self, pairs: Sequence[Pair]) -> list[list[Pair]]:
        """The pairs whose columns are apart, those that would join the same parts together."""
        found: dict[frozenset[int], list[Pair]] = {}
        for pair in pairs:
            joined = frozenset(self._part[column] for column in pair)
            if len(joined) == len(pair):
                found.setdefault(joined, []).append(pair)
        return list(found.values())


def edges_of(columns: int, pairs: Sequence[Pair]) -> int:
    """How many pairs a tree has: one column less than there are, where all can be joined."""
    parts = Parts(columns)
    return sum(parts.join(pair) for pair in pairs)


def worth(epsilon: Fraction, rows: int, task: Task) -> float:
    """ε times rows, for one row of a unit: who may have several has as much more noise."""
    caps = one_plan(task, 0, Fraction(1)).capped
    return float(epsilon) * rows / (caps.l1 if task.currency == "epsilon" else sqrt(caps.l2_squared))


def further_for(value: float) -> int:
    """How many pairs beyond a tree are worth their noise, if a table is worth so much."""
    return max(0, min(MOST_FURTHER, round(FURTHER_A_DECADE * log10(max(value, 1.0) / FEW_FOR_FURTHER))))


@dataclass(frozen=True, slots=True)
class Division:
    """How a price of 1 is divided: among one-way tables, choices of pairs, and tables of pairs, each equally.

    Where all pairs are measured there is nothing to choose, and the tables have that part too.
    """

    columns: int
    edges: int
    further: int
    choosing: bool

    @classmethod
    def of(cls, columns: int, pairs: Sequence[Pair], further: int) -> "Division":
        edges = edges_of(columns, pairs)
        further = min(further, len(pairs) - edges)
        return cls(columns, edges, further, choosing=edges + further < len(pairs))

    @property
    def measured(self) -> int:
        return self.edges + self.further

    @property
    def one(self) -> Fraction:
        return (ONES if self.measured else Fraction(1)) / self.columns

    @property
    def choice(self) -> Fraction:
        return CHOICES / self.measured if self.choosing else Fraction(0)

    @property
    def pair(self) -> Fraction:
        return (1 - ONES) / self.measured - self.choice if self.measured else Fraction(0)


# ---- plans


def one_plan(task: Task, place: int, share: Fraction) -> Plan:
    """How many rows are in each cell of a column."""
    return task.plan((), Histogram(task.cell_key(place)), share)


def pair_plan(task: Task, pair: Pair, share: Fraction) -> Plan:
    """How many rows are in each cell of two columns. Cells and no groups: a person may be in several."""
    return task.plan((), Histogram(_cross(task, pair)), share)


def _cross(task: Task, pair: Pair) -> Cross:
    return Cross((task.cell_key(pair[0]), task.cell_key(pair[1])))


def choice_plan(task: Task, pairs: Sequence[Pair], models: Sequence[Whole], noise: float, share: Fraction) -> Plan:
    """Which pair of columns is farthest from what is thought of it, less what noise alone would make of a table."""
    gaps = tuple(
        Gap(place, tuple(np.minimum(model, LARGEST_MODEL).tolist()), penalty(len(model), noise))
        for place, model in enumerate(models)
    )
    mechanism: MechanismName = "permute_and_flip" if task.currency == "epsilon" else "exponential"
    chosen = Choose(tuple(_cross(task, pair) for pair in pairs), None, gaps, "gap")
    return Plan(task.source, task.unit, None, (), (Measure(chosen, mechanism, share),), caps=task.caps)


def penalty(cells: int, noise: float) -> int:
    return min(LARGEST_MODEL, round(EXPECTED_OF_NOISE * noise * cells))


@lru_cache(maxsize=4)  # of a task that is fitted it is asked for its schedule and its draws
def offered(task: Task) -> tuple[Pair, ...]:
    """The largest pairs that one plan can offer at once: half of them, and again, until it is not too large."""
    sizes = [one.size for one in task.columns]
    largest = sorted(measurable(sizes), key=lambda pair: -sizes[pair[0]] * sizes[pair[1]])[:MOST_OFFERED]
    while len(largest) > 1 and not _fits(task, largest):
        del largest[len(largest) // 2 :]
    return tuple(largest)


def _fits(task: Task, pairs: Sequence[Pair]) -> bool:
    try:
        certify(any_choice(task, pairs, Fraction(1)), task.schema, task.currency)
    except Refused:
        return False
    return True


def any_choice(task: Task, pairs: Sequence[Pair], share: Fraction) -> Plan:
    """A choice among these pairs, whatever is thought of them: for the schedule."""
    return choice_plan(task, pairs, [np.zeros(_cross(task, pair).size, dtype=np.int64) for pair in pairs], 0.0, share)
