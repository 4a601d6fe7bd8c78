"""What an engine adds up: a plan as the counting queries that `kernel.certify` certifies and `engines.sql` writes.

All countings of a plan have the same rows, keys, caps and salt. So which groups of a person count, and how many rows of
each, is decided once for the whole plan, before any value or cell is looked at.
Proof: docs/proofs/contribution-bounding.md
"""

from dataclasses import dataclass
from functools import lru_cache
from math import isqrt
from typing import Literal

from sfumato.plan.caps import Caps
from sfumato.plan.expressions import Condition
from sfumato.plan.nodes import (
    BetweenEnds,
    Cells,
    CellSum,
    CentredSum,
    Choose,
    CountCut,
    CountDistinct,
    CountPeople,
    CountRows,
    CountValues,
    Cumulative,
    Histogram,
    Key,
    Magnitudes,
    MostFrequent,
    OpenKey,
    Plan,
    Quantiles,
    Sum,
    UnboundedSum,
    number_of_groups,
)
from sfumato.plan.sources import Source, unit_of
from sfumato.schema.unit import Unit

SALT_DIGITS = 15  # of the plan's digest, so that it fits 64 bits
WHOLE_WEIGHT = 1 << 16  # of a unit that holds one key
MOST_TOLD_APART = 256  # keys of a unit; who holds more counts as if they held as many as anybody may


@dataclass(frozen=True, slots=True)
class SumInCell:
    """The sum of the values in a cell of magnitudes, in steps."""


Counted = CountRows | CountValues | Sum | CentredSum | CountPeople | CountCut | CountDistinct | SumInCell


@dataclass(frozen=True, slots=True)
class Counting:
    """One integer a group for everything that is counted; with `cells`, which are one more key, one per cell and group.

    `unit` is Row() where a row is a person. Of a unit without an id all rows count: its caps are believed. `measures`
    are the places in the plan of what is counted; all measures that look at the same cells, or count the same values,
    share a counting. Of a choice every table is a counting of its own, and `table` says which. `weights` are of people
    by the number of their groups: where there are any, groups come with the sum of the weights of their people, and not
    with their number.
    """

    source: Source
    unit: Unit
    caps: Caps
    salt: int
    where: Condition | None
    keys: tuple[Key | OpenKey, ...]
    cells: Cells | Magnitudes | None
    counted: tuple[Counted, ...]
    measures: tuple[int, ...]
    table: int | None = None
    weights: tuple[int, ...] = ()

    @property
    def kind(self) -> Literal["numbers", "cells", "sums", "distinct", "magnitudes"]:
        if isinstance(self.cells, Magnitudes):
            return "magnitudes"
        if self.cells is not None:
            return "sums" if any(isinstance(counted, Sum) for counted in self.counted) else "cells"
        return "distinct" if any(isinstance(counted, CountDistinct) for counted in self.counted) else "numbers"

    @property
    def size(self) -> int:
        """The number of cells of a group."""
        return 1 if self.cells is None else self.cells.size

    @property
    def groups(self) -> int:
        return number_of_groups(self.keys)

    @property
    def open(self) -> bool:
        return any(isinstance(key, OpenKey) for key in self.keys)


def countings(plan: Plan, digest: str | None = None) -> tuple[Counting, ...]:
    """One for all plain numbers, for the rows of each line of cells, for the sums in them, for every count of different
    values, and for every table of a choice. `digest` is the plan's own, where it is known.
    """
    numbers: dict[int, Counted] = {}
    sums: dict[Cells, dict[int, Sum]] = {}
    lines: dict[Cells | Magnitudes | CountDistinct, list[int]] = {}
    for place, measure in enumerate(plan.measures):
        match measure.aggregate:
            case CountDistinct() as distinct:
                lines.setdefault(distinct, []).append(place)
            case UnboundedSum(cells=magnitudes):
                lines.setdefault(magnitudes, []).append(place)
            case (
                Histogram(cells=cells)
                | Cumulative(cells=cells)
                | Quantiles(cells=cells)
                | MostFrequent(cells=cells)
                | BetweenEnds(cells=cells)
            ):
                lines.setdefault(cells, []).append(place)
            case CellSum(cells=cells, value=value, lattice=lattice):
                sums.setdefault(cells, {})[place] = Sum(value, lattice)
            case Choose():
                pass
            case plain:
                numbers[place] = plain
    made, salt = [], int((digest or plan.digest())[:SALT_DIGITS], 16)
    # Open keys are found with the plain numbers, of which there may be none.
    if numbers or plan.open:
        made.append(_counting(plan, salt, None, tuple(numbers.values()) or (CountRows(),), list(numbers)))
    for line, places in lines.items():
        match line:
            case CountDistinct():
                made.append(_counting(plan, salt, None, (line,), places))
            case Magnitudes():
                made.append(_counting(plan, salt, line, (CountRows(), SumInCell()), places))
            case _:
                made.append(_counting(plan, salt, line, (CountRows(),), places))
    made += [_counting(plan, salt, cells, tuple(added.values()), list(added)) for cells, added in sums.items()]
    for place, measure in enumerate(plan.measures):
        if isinstance(measure.aggregate, Choose):
            tables = enumerate(measure.aggregate.counted)
            made += [_counting(plan, salt, cells, (CountRows(),), [place], table) for table, cells in tables]
    return tuple(made)


def _counting(
    plan: Plan,
    salt: int,
    cells: Cells | Magnitudes | None,
    counted: tuple[Counted, ...],
    measures: list[int],
    table: int | None = None,
) -> Counting:
    unit, weighted = unit_of(plan.table, plan.unit), plan.selection is not None and plan.selection.weighted
    held, places = weights(plan.capped.groups) if weighted else (), tuple(measures)
    return Counting(plan.table, unit, plan.capped, salt, plan.where, plan.keys, cells, counted, places, table, held)


@lru_cache(maxsize=64)
def weights(groups: int) -> tuple[int, ...]:
    """What a unit adds to each of its keys if it holds 1, 2, … of them; the last is for all it may hold beyond.

    Claim: of k <= groups keys the squares of a unit's weights add up to at most WHOLE_WEIGHT².
    Proof: each is WHOLE_WEIGHT/√k rounded down, or less: that of `groups`.
    """
    held = list(range(1, min(groups, MOST_TOLD_APART) + 1))
    held += [groups] if groups > MOST_TOLD_APART else []
    return tuple(isqrt(WHOLE_WEIGHT**2 // keys) for keys in held)
