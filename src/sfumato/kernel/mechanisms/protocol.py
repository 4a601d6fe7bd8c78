"""What every mechanism is, what an engine gives it, and what it may show.

A measure has one mechanism. It holds all that its price follows from, and answers all groups of the measure at once.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np
import numpy.typing as npt

from sfumato.kernel.cost import Currency
from sfumato.kernel.entropy import Entropy
from sfumato.schema.allow import Family

Numbers = npt.NDArray[np.int64]
Event = dict[str, str]  # what a ledger keeps of a release
Released = int | tuple[int, ...]

MOST_COUNTED_ROWS = 1 << 32


@dataclass(frozen=True, slots=True)
class CellCounts:
    """How many rows lie in each cell; cells without rows are left out, the others are in order."""

    places: Numbers
    counts: Numbers

    def dense(self, size: int) -> Numbers:
        """A count for every cell, also for those without rows."""
        counts = np.zeros(size, dtype=np.int64)
        counts[self.places] = self.counts
        return counts

    def fit(self, size: int) -> bool:
        """Whether these are cells from 0 to size - 1, each once, upwards, with rows and not too many in all."""
        places, counts = self.places, self.counts
        if not (places.dtype == counts.dtype == np.int64 and len(places) == len(counts)):
            return False
        if len(places) == 0:
            return True
        most = MOST_COUNTED_ROWS
        return bool(upwards(places, size) and counts.min() >= 1 and counts.max() <= most and counts.sum() <= most)


def upwards(places: Numbers, size: int) -> bool:
    """Whether these are places from 0 to size - 1, each once, upwards."""
    return len(places) == 0 or bool(places[0] >= 0 and places[-1] < size and (np.diff(places) >= 1).all())


@dataclass(frozen=True, slots=True)
class CellSums:
    """The sum of the values in each cell, in steps; cells without rows are left out, the others are in order."""

    places: Numbers
    sums: tuple[int, ...]

    def dense(self, size: int) -> list[int]:
        """A sum for every cell, also for those without rows."""
        known = dict(zip(self.places.tolist(), self.sums, strict=True))
        return [known.get(place, 0) for place in range(size)]

    def fit(self, size: int) -> bool:
        """Whether these are whole numbers of cells from 0 to size - 1, each once, upwards."""
        places, sums = self.places, self.sums
        shaped = places.dtype == np.int64 and len(places) == len(sums) and all(type(total) is int for total in sums)
        return shaped and upwards(places, size)


@dataclass(frozen=True, slots=True)
class Weighed:
    """How many rows lie in each cell of magnitudes and the sum of their values, in steps."""

    cells: CellCounts
    sums: tuple[int, ...]

    def fit(self, edges: tuple[int, ...]) -> bool:
        """Whether every sum is one of so many values of its cell's sign, none larger than the cell's edge."""
        if not self.cells.fit(2 * len(edges) + 1) or len(self.sums) != len(self.cells.places):
            return False
        middle, largest = len(edges), (0, *edges)
        return all(
            type(total) is int
            and abs(total) <= count * largest[abs(place - middle)]
            and (total == 0 or (total > 0) == (place > middle))
            for place, count, total in zip(
                self.cells.places.tolist(), self.cells.counts.tolist(), self.sums, strict=True
            )
        )


Tables = tuple[CellCounts, ...]
Added = int | CellCounts | CellSums | Weighed | Tables  # what an engine added up for a measure in one group


class Mechanism(Protocol):
    """One shape for all: a price by its theorem, a record of it, and a draw. It holds its own sensitivity.

    `l1` and `l2_squared` are how far one unit moves what is measured, over all groups: in L1 norm, and in L2 norm
    *squared*, both whole numbers. Of cells that are chosen among, ranks and found bounds, what is measured are the rows
    that a unit has in each group: its cells move one rank together.
    """

    @property
    def family(self) -> Family:
        """By which an owner switches it off."""
        ...

    def cost(self, currency: Currency) -> Fraction:
        """What a release of all groups costs, by the mechanism's theorem; refuses a currency it has no theorem for."""
        ...

    def event(self) -> Event:
        """What a ledger keeps; `accounting.events` reads it."""
        ...

    def check(self, entry: Added) -> None:
        """Refuse what is not of the shape it was made for."""
        ...

    def draw(self, entries: Sequence[Added], entropy: Entropy) -> list[Released]:
        """One for every group. Needs: entries that were checked, at least one."""
        ...
