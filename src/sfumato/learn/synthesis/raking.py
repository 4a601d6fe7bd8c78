"""Synthetic rows: drawn down a tree of pairs of columns, and weighed so that they fit all pairs that were measured.

Made of whole numbers with public coins. Weights are floats of one thread, and whole numbers before they are used.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from sfumato.learn.bins import Codes
from sfumato.learn.synthesis.cleaning import WHOLE, Floats
from sfumato.learn.synthesis.pairs import Pair, Whole
from sfumato.simulate import Stream

WEIGHT = 1 << 16  # of a row that counts once
LEAST_FACTOR, MOST_FACTOR = 0.2, 5.0  # of a weight, in one step


# ---- rows


def drawn_rows(ones: Sequence[Whole], tree: Mapping[Pair, Whole], count: int, stream: Stream) -> Codes:
    """Rows whose cells follow the tables of a tree: each column by the one before it, in numbers as even as can be."""
    codes = np.zeros((count, len(ones)), dtype=np.int64)
    for place, parent in downwards(len(ones), tree):
        if parent is None:
            before, table = np.zeros(count, dtype=np.int64), ones[place][None, :]
        else:
            before = codes[:, parent]
            table = tree[parent, place] if parent < place else tree[place, parent].T
        codes[:, place] = _spread(before, table, stream)
    return codes


def downwards(columns: int, tree: Iterable[Pair]) -> list[tuple[int, int | None]]:
    """Every column after the one that it hangs on; the first of those that are joined hangs on none."""
    beside: dict[int, list[int]] = {place: [] for place in range(columns)}
    for one, other in tree:
        beside[one].append(other)
        beside[other].append(one)
    order: list[tuple[int, int | None]] = []
    seen = set[int]()
    for root in range(columns):
        waiting: list[tuple[int, int | None]] = [] if root in seen else [(root, None)]
        while waiting:
            place, parent = waiting.pop(0)
            seen.add(place)
            order.append((place, parent))
            waiting += [(other, place) for other in beside[place] if other not in seen]
    return order


def _spread(before: Codes, table: Whole, stream: Stream) -> Codes:
    """A cell for each row, by the row of the table that its cell before names: one more or less than its share."""
    table = np.where(table.sum(axis=1, keepdims=True) > 0, table, 1)
    totals, rows = table.sum(axis=1), np.bincount(before, minlength=len(table))
    begins = np.floor(stream.uniform(len(table)) * totals).astype(np.int64)
    ends = (np.cumsum(table, axis=1) * rows[:, None] + begins[:, None]) // totals[:, None]
    many = np.diff(ends, axis=1, prepend=0)
    cells = np.repeat(np.tile(np.arange(table.shape[1]), len(table)), many.ravel())
    found = np.empty(len(before), dtype=np.int64)
    found[np.lexsort((stream.uniform(len(before)), before))] = cells
    return found


def resampled(weights: Whole, count: int, begin: float) -> Codes:
    """The numbers of the rows that are taken, each about as often as it weighs: at equal steps along all weights."""
    ends = np.cumsum(weights)
    steps = np.floor((np.arange(count) + begin) * (ends[-1] / count)).astype(np.int64)
    return np.asarray(np.searchsorted(ends, np.minimum(steps, ends[-1] - 1), side="right"), dtype=np.int64)


# ---- weights


@dataclass(slots=True)
class Weighted:
    """Rows with weights, 1 each at first. Changes by `rake` alone."""

    codes: Codes
    sizes: Sequence[int]
    weights: Floats = field(init=False)
    _cells: dict[Pair, Codes] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.weights = np.ones(len(self.codes))

    def rake(self, tables: Mapping[Pair, Whole], sweeps: int) -> None:
        """Make the rows weigh what the shares of pairs say: one after the other, and all of them again."""
        wanted = {pair: table.ravel() * (len(self.codes) / WHOLE) for pair, table in tables.items()}
        for _ in range(sweeps):
            for pair, table in wanted.items():
                found = self._weighed(pair)
                factors = np.where(found > 0, table / np.where(found > 0, found, 1.0), 1.0)
                self.weights *= np.clip(factors, LEAST_FACTOR, MOST_FACTOR)[self._cells_of(pair)]
        self.weights = self.whole() / WEIGHT

    def expected(self, rows: int, pair: Pair) -> Whole:
        """How many of so many rows are in each cell of a pair, by what these weigh."""
        return np.rint(self._weighed(pair) * (rows / len(self.codes))).astype(np.int64)

    def whole(self) -> Whole:
        """Weights as whole numbers, of which a row that counts once has 65536."""
        return np.rint(self.weights * WEIGHT).astype(np.int64)

    def _weighed(self, pair: Pair) -> Floats:
        cells = self.sizes[pair[0]] * self.sizes[pair[1]]
        return np.asarray(np.bincount(self._cells_of(pair), self.weights, minlength=cells), dtype=np.float64)

    def _cells_of(self, pair: Pair) -> Codes:
        if pair not in self._cells:
            self._cells[pair] = self.codes[:, pair[0]] * self.sizes[pair[1]] + self.codes[:, pair[1]]
        return self._cells[pair]
