"""What a question becomes: the closed set of things the kernel can certify.

A plan says everything an answer's privacy depends on: unit, keys, bounds, mechanism and share of each release. The
planner fills it in; `kernel.certify` derives sensitivity and cost from it and trusts nothing else.
"""

import hashlib
import json
from dataclasses import dataclass, fields, is_dataclass
from datetime import date
from fractions import Fraction
from functools import lru_cache
from math import isqrt, prod
from typing import Literal

from sfumato.plan.caps import ONE_ROW, Caps
from sfumato.plan.expressions import Column, Condition, Expression, fits_double, writable
from sfumato.plan.lattice import MOST_EXPONENT, Lattice
from sfumato.plan.sources import Source, unit_of
from sfumato.schema.columns import CategoryValue
from sfumato.schema.unit import Row, Unit

LARGEST_GRID = 1 << 18
LARGEST_END = 1 << 63  # of a range of whole numbers, as engines count them
MOST_OCTAVES = 90  # so that 2^32 values of the largest size add up in 128 bits
# What plans can say, and how their digest is made. Whoever changes a node, a field or a default counts on: what was
# stored under an earlier language is never taken for an answer.
PLAN_LANGUAGE = 4
MechanismName = Literal["laplace", "gaussian", "exponential", "permute_and_flip"]


@dataclass(frozen=True, slots=True)
class CountRows:
    """The number of rows."""


@dataclass(frozen=True, slots=True)
class CountValues:
    """The number of rows whose value is not NULL (nor NaN)."""

    value: Expression


@dataclass(frozen=True, slots=True)
class Sum:
    """The sum of values clamped and rounded to a lattice, in steps of it."""

    value: Expression
    lattice: Lattice


@dataclass(frozen=True, slots=True)
class CentredSum:
    """The sum of (value - centre of the lattice), in steps of it. A person above max_rows counts with the mean."""

    value: Expression
    lattice: Lattice


@dataclass(frozen=True, slots=True)
class CountDistinct:
    """The number of different values. A person adds at most max_rows of them."""

    value: Expression


@dataclass(frozen=True, slots=True)
class CountPeople:
    """The number of different units that have a row."""


@dataclass(frozen=True, slots=True)
class ListedKey:
    """What rows are grouped by, with the public list of its values."""

    expression: Expression
    values: tuple[CategoryValue, ...]

    def __post_init__(self) -> None:
        if not all(isinstance(value, int) or writable(value) for value in self.values):
            raise ValueError("the values of a key are whole numbers, or texts that can be written")

    @property
    def size(self) -> int:
        return len(self.values)


@dataclass(frozen=True, slots=True)
class RangeKey:
    """What rows are grouped by: the numbers offset + k · unit for k from lower to upper."""

    expression: Expression
    lower: int
    upper: int
    unit: Fraction = Fraction(1)
    offset: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        if not all(type(end) is int and -LARGEST_END <= end < LARGEST_END for end in (self.lower, self.upper)):
            raise ValueError("the ends of a range are whole numbers of 64 bits")
        if not (self.unit > 0 and all(fits_double(number) for number in (self.unit, self.offset))):
            raise ValueError("the steps of a range are of a size that doubles have")

    @property
    def values(self) -> tuple[int | float, ...]:
        places = range(self.lower, self.upper + 1)
        if self.unit.denominator == self.offset.denominator == 1:
            return tuple(int(self.offset) + place * int(self.unit) for place in places)
        return tuple(float(self.offset + place * self.unit) for place in places)

    @property
    def size(self) -> int:
        return max(0, self.upper - self.lower + 1)


Key = ListedKey | RangeKey


@dataclass(frozen=True, slots=True)
class Grid:
    """Equal cells from lower to upper; a value beyond an end falls into the cell at that end, NULL into none."""

    value: Expression
    lower: Fraction
    upper: Fraction
    size: int

    def __post_init__(self) -> None:
        if not (self.lower < self.upper and 1 <= self.size <= LARGEST_GRID):
            raise ValueError("a grid has cells and runs from its lower to its upper bound")
        if not all(fits_double(number) for number in (self.lower, self.upper, self.width)):
            raise ValueError("the cells of a grid are of a size that doubles have")

    @property
    def width(self) -> Fraction:
        return (self.upper - self.lower) / self.size


Cells = ListedKey | RangeKey | Grid


@dataclass(frozen=True, slots=True)
class OpenKey:
    """A grouping column whose values nobody listed: a value that enough units hold is shown, as a text."""

    expression: Column


@dataclass(frozen=True, slots=True)
class Histogram:
    """The number of rows in every cell."""

    cells: Grid


@dataclass(frozen=True, slots=True)
class Cumulative:
    """The number of rows in a cell and all cells before it, for every cell, measured together."""

    cells: Grid


@dataclass(frozen=True, slots=True)
class Quantiles:
    """Positions on a line of cells below which given parts of the values lie, with error bars.

    Levels run upwards from 0 (the smallest value) to 1 (the largest).
    """

    cells: Grid
    levels: tuple[Fraction, ...]


@dataclass(frozen=True, slots=True)
class MostFrequent:
    """The cell with the most rows."""

    cells: Cells


@dataclass(frozen=True, slots=True)
class Magnitudes:
    """Cells by sign and size: one for zero, and four an octave for each sign, in whole steps of 2^exponent.

    A value is rounded to steps and clamped to 2^octaves of them. Cell j of a sign holds sizes up to edges[j].
    """

    value: Expression
    exponent: int
    octaves: int

    def __post_init__(self) -> None:
        if not 1 <= self.octaves <= MOST_OCTAVES:
            raise ValueError(f"magnitudes cover 1 to {MOST_OCTAVES} octaves")
        if abs(self.exponent) > MOST_EXPONENT:
            raise ValueError("the steps of magnitudes are of a size that doubles have")

    @property
    def edges(self) -> tuple[int, ...]:
        """2^(j/4), rounded down."""
        return _fourth_roots(4 * self.octaves)

    @property
    def size(self) -> int:
        """The largest negative values come first, zero lies in the middle."""
        return 2 * len(self.edges) + 1

    @property
    def step(self) -> Fraction:
        return Fraction(2) ** self.exponent


@lru_cache(maxsize=8)
def _fourth_roots(last: int) -> tuple[int, ...]:
    return tuple(isqrt(isqrt(1 << j)) for j in range(last + 1))


@dataclass(frozen=True, slots=True)
class UnboundedSum:
    """The sum of values clamped to bounds that are found first, with the part `finding` of the share."""

    cells: Magnitudes
    finding: Fraction

    def __post_init__(self) -> None:
        if not 0 < self.finding < 1:
            raise ValueError("a part of the share goes into finding bounds, and not all of it")


Binned = Histogram | Cumulative | Quantiles | MostFrequent
Aggregate = CountRows | CountValues | Sum | CentredSum | CountDistinct | CountPeople | UnboundedSum | Binned


@dataclass(frozen=True, slots=True)
class Measure:
    """One release: an aggregate for every group, a mechanism, and its share of the spend (ε or ρ)."""

    aggregate: Aggregate
    mechanism: MechanismName
    share: Fraction


@dataclass(frozen=True, slots=True)
class Selection:
    """What finding the values of open keys may cost: a share of the spend, and a chance to show one it should not.

    `by`: the place of a measure that counts units. Then its noisy numbers select, and there is no share besides.
    """

    share: Fraction
    delta: Fraction
    by: int | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """A question with everything decided. `caps` are this question's own; without them the unit's limits are meant."""

    table: Source
    unit: Unit
    where: Condition | None
    keys: tuple[Key | OpenKey, ...]
    measures: tuple[Measure, ...]
    selection: Selection | None = None
    caps: Caps | None = None

    @property
    def groups(self) -> int:
        """The number of declared groups; each is there for every combination of open keys."""
        return number_of_groups(self.keys)

    @property
    def capped(self) -> Caps:
        """What counts of one unit: a row, where a row is a person; never more groups than there are."""
        unit = unit_of(self.table, self.unit)
        if isinstance(unit, Row):
            return ONE_ROW
        caps = Caps(unit.max_rows, unit.max_groups, unit.max_rows) if self.caps is None else self.caps
        return caps if self.open else Caps(caps.rows, max(1, min(caps.groups, self.groups)), caps.rows_per_group)

    @property
    def open(self) -> bool:
        return any(isinstance(key, OpenKey) for key in self.keys)

    def digest(self) -> str:
        """Equal for equal plans only: SHA-256 of the language and of all in the plan that is not at its default."""
        said = {"language": PLAN_LANGUAGE, "plan": _plain(self)}
        text = json.dumps(said, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
        return hashlib.sha256(text.encode()).hexdigest()


def number_of_groups(keys: tuple[Key | OpenKey, ...]) -> int:
    return prod(1 if isinstance(key, OpenKey) else key.size for key in keys)


Plain = dict[str, "Plain"] | list["Plain"] | str | int | bool | None


def _plain(value: object) -> Plain:
    """A field at its default is left out, so that one that is added later changes no digest of before."""
    if is_dataclass(value) and not isinstance(value, type):
        named = {field.name: (getattr(value, field.name), field.default) for field in fields(value)}
        parts: dict[str, Plain] = {
            name: _plain(said) for name, (said, usual) in named.items() if not _same(said, usual)
        }
        return {"node": type(value).__name__, **parts}
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if isinstance(value, Fraction):
        return f"{value.numerator}/{value.denominator}"
    if isinstance(value, date):
        return {"day": value.isoformat()}
    if value is None or isinstance(value, str | int | bool):
        return value
    raise TypeError(f"{type(value).__name__} has no place in a plan")


def _same(value: object, usual: object) -> bool:
    """True is no 1 here: both are written out, and otherwise."""
    return type(value) is type(usual) and value == usual
