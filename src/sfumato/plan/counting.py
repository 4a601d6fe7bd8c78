"""What an engine adds up: a plan as the counting queries that `kernel.certify` certifies and `engines.sql` writes.

All countings of a plan have the same rows, keys, caps and salt. So which groups of a person count, and how many rows of
each, is decided once for the whole plan, before any value or cell is looked at.
Proof: docs/proofs/contribution-bounding.md
"""

from dataclasses import dataclass
from typing import Literal

from sfumato.plan.caps import Caps
from sfumato.plan.expressions import Condition
from sfumato.plan.nodes import (
    Cells,
    CentredSum,
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


@dataclass(frozen=True, slots=True)
class SumInCell:
    """The sum of the values in a cell of magnitudes, in steps."""


Counted = CountRows | CountValues | Sum | CentredSum | CountPeople | CountDistinct | SumInCell


@dataclass(frozen=True, slots=True)
class Counting:
    """One integer a group for everything that is counted; with `cells`, which are one more key, one per cell and group.

    `unit` is Row() where a row is a person. `measures` are the places in the plan of what is counted; all measures that
    look at the same cells, or count the same values, share a counting.
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

    @property
    def kind(self) -> Literal["numbers", "cells", "distinct", "magnitudes"]:
        if isinstance(self.cells, Magnitudes):
            return "magnitudes"
        if self.cells is not None:
            return "cells"
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


def countings(plan: Plan) -> tuple[Counting, ...]:
    """One for all plain numbers, one for every line of cells and one for every count of different values."""
    numbers: dict[int, Counted] = {}
    lines: dict[Cells | Magnitudes | CountDistinct, list[int]] = {}
    for place, measure in enumerate(plan.measures):
        match measure.aggregate:
            case CountDistinct() as distinct:
                lines.setdefault(distinct, []).append(place)
            case UnboundedSum(cells=magnitudes):
                lines.setdefault(magnitudes, []).append(place)
            case Histogram(cells=cells) | Cumulative(cells=cells) | Quantiles(cells=cells) | MostFrequent(cells=cells):
                lines.setdefault(cells, []).append(place)
            case plain:
                numbers[place] = plain
    made, salt = [], int(plan.digest()[:SALT_DIGITS], 16)
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
    return tuple(made)


def _counting(
    plan: Plan, salt: int, cells: Cells | Magnitudes | None, counted: tuple[Counted, ...], measures: list[int]
) -> Counting:
    unit = unit_of(plan.table, plan.unit)
    return Counting(plan.table, unit, plan.capped, salt, plan.where, plan.keys, cells, counted, tuple(measures))
