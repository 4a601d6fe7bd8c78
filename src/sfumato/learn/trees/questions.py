"""What a tree may ask of a row: is a column beyond a cut, or one value against the rest, or among the likeliest values.

A question is public: it names cells. Which one a node asks is chosen privately, by the kernel.
"""

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sfumato.learn.bins import Cells, Listed
from sfumato.learn.task import Counts, Task
from sfumato.learn.wordings import questions_unordered
from sfumato.plan.nodes import Question

TINY = 1e-300
Orders = Mapping[int, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question: of which column, and which of its cells go to the right."""

    column: int
    right: tuple[int, ...]

    def children(self, size: int) -> tuple[int, ...]:
        chosen = set(self.right)
        return tuple(int(cell in chosen) for cell in range(size))

    def ranked(self, orders: Orders) -> "Asked":
        """The same question of cells that are numbered by their place in an order."""
        order = orders.get(self.column)
        return self if order is None else Asked(self.column, tuple(sorted(order.index(cell) for cell in self.right)))

    def unranked(self, orders: Orders) -> "Asked":
        """The same question of cells as they were numbered before."""
        order = orders.get(self.column)
        return self if order is None else Asked(self.column, tuple(sorted(order[rank] for rank in self.right)))


def questions(task: Task, ranked: Container[int]) -> tuple[Asked, ...]:
    """All that may be asked. `ranked`: columns of listed values whose cells are numbered by an order, too."""
    return tuple(
        Asked(place, right)
        for place, one in enumerate(task.columns)
        for right in _sides(one.feature.cells, place in ranked)
    )


def _sides(cells: Cells, ranked: bool) -> list[tuple[int, ...]]:
    """What lies beyond a cut, missing values included; of listed values each against the rest."""
    size = cells.size
    beyond = [tuple(range(cut, size)) for cut in range(1, size)]
    if not isinstance(cells, Listed):
        return beyond
    singles: list[tuple[int, ...]] = [(cell,) for cell in (range(size) if size > 3 else (0, 2))]  # of two one is enough
    return [*beyond[:-1], *singles] if ranked else singles


def likeliest_last(table: Counts, deviation: float, *, rising: bool = False) -> tuple[int, ...]:
    """Cells by the share of all classes but the first, as far as the noise lets it be known; of `rising` classes, by
    which on average.
    """
    counts = np.maximum(table, 0).astype(np.float64)
    worth = np.arange(counts.shape[1]) if rising else np.minimum(np.arange(counts.shape[1]), 1)
    base = float((counts @ worth).sum() / max(counts.sum(), 1.0))
    known = np.maximum(counts.sum(axis=1) + deviation, TINY)  # of a cell without rows, beside hardly any noise
    share = (counts @ worth + deviation * base) / known
    return tuple(int(cell) for cell in np.argsort(np.round(share, 9), kind="stable"))


def to_plan(asked: Sequence[Asked], task: Task) -> tuple[Question, ...]:
    return tuple(Question(one.column, one.children(task.columns[one.column].size)) for one in asked)


def orders_in(asked: Sequence[Asked], task: Task) -> Orders:
    """The orders of listed values in which all sets that are asked for are the last ones."""
    found: dict[int, tuple[int, ...]] = {}
    for place, one in enumerate(task.columns):
        sets = [set(each.right) for each in asked if each.column == place and len(each.right) > 1]
        if sets and not one.feature.cells.ordered:
            often = [sum(cell in each for each in sets) for cell in range(one.size)]
            order = sorted(range(one.size), key=often.__getitem__)
            if any(set(order[one.size - len(each) :]) != each for each in sets):
                raise questions_unordered(one.feature.name)
            found[place] = tuple(order)
    return found
