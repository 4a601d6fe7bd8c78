"""What a question becomes: the closed set of things the kernel can certify.

A plan says everything an answer's privacy depends on: unit, keys, bounds, mechanism and share of each release. The
planner fills it in; `kernel.certify` derives sensitivity and cost from it and trusts nothing else.
"""

import hashlib
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import isqrt, prod
from typing import Literal, get_args

from sfumato.plan.caps import ONE_ROW, Caps
from sfumato.plan.expressions import Cells as Cells
from sfumato.plan.expressions import Column, Condition, Expression, fits_double, lines_of
from sfumato.plan.expressions import Cross as Cross
from sfumato.plan.expressions import Grid as Grid
from sfumato.plan.expressions import Key as Key
from sfumato.plan.expressions import ListedKey as ListedKey
from sfumato.plan.expressions import RangeKey as RangeKey
from sfumato.plan.lattice import MOST_EXPONENT, Lattice
from sfumato.plan.sources import Source, unit_of
from sfumato.plan.writing import Shared, spelt_out
from sfumato.schema.unit import Person, Row, Unit, UpTo

MOST_DIVIDED = 1 << 22  # numbers of 64 bits that scores of a group take
LARGEST_MODEL = 1 << 32  # of rows that a model expects in a cell
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
class CountCut:
    """The number of people in a group of whom something is cut off: rows of this group, or other groups."""


@dataclass(frozen=True, slots=True)
class OpenKey:
    """A grouping column whose values nobody listed: a value that enough units hold is shown, as a text."""

    expression: Column


@dataclass(frozen=True, slots=True)
class Histogram:
    """The number of rows in every cell."""

    cells: Cells


@dataclass(frozen=True, slots=True)
class CellSum:
    """The sum of values clamped and rounded to a lattice, in steps of it, in every cell."""

    cells: Cells
    value: Expression
    lattice: Lattice


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


@dataclass(frozen=True, slots=True)
class BetweenEnds:
    """What lies between two ends that are found first, with the part `finding` of the share: the rows in `bins` equal
    bins, running totals over these, or count, sum and squares.

    Cells are those of a line of logarithms, y = ±ln(1 + |x|/step), around 0 or from 0 on. Whole numbers: of step 1.
    """

    cells: Grid
    step: Fraction
    finding: Fraction
    wanted: Literal["bins", "totals", "moments"]
    bins: int = 1

    def __post_init__(self) -> None:
        if not 0 < self.finding < 1:
            raise ValueError("a part of the share goes into finding ends, and not all of it")
        if self.cells.lower not in (0, -self.cells.upper) or (self.cells.lower and self.cells.size % 2):
            raise ValueError("a line of logarithms has 0 at its beginning, or between two cells in its middle")
        if not (self.step > 0 and fits_double(self.step) and fits_double(1 / self.step)):
            raise ValueError("the steps of a line are of a size that doubles have")
        if type(self.bins) is not int or self.bins < 1 or (self.wanted == "moments" and self.bins > 1):
            raise ValueError("rows are counted in one bin or more")


@dataclass(frozen=True, slots=True)
class Question:
    """A way to divide the rows of a group: for every cell of a table the number of the child that its rows go to."""

    table: int
    children: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Gap:
    """How far the rows in the cells of a table are from a public model of them, in rows, less a public penalty."""

    table: int
    model: tuple[int, ...]
    penalty: int = 0


Score = Literal["gini", "max", "gap"]


@dataclass(frozen=True, slots=True)
class Choose(Shared):
    """The place of the question with the best score to the rows of a group: one for every group, chosen privately.

    Of rows that are divided by "gini" (children of few classes) or by "max" (children with one large class), every
    table counts cells and classes; "gap" has no classes and compares cells with a model.
    """

    tables: tuple[Cells, ...]
    classes: Cells | None
    questions: tuple[Question | Gap, ...]
    score: Score = "gini"

    def __post_init__(self) -> None:
        if self.score not in get_args(Score) or (self.classes is None) != (self.score == "gap"):
            raise ValueError("rows are divided by their classes, and compared with a model without")
        if not self.tables or len(set(self.tables)) < len(self.tables) or not self.questions:
            raise ValueError("there are questions to choose from, and tables that differ")
        if not all(isinstance(table, get_args(Cells)) and table.size for table in (*self.tables, *self.counted)):
            raise ValueError("a table has cells of a known number, one or more")
        kind = Gap if self.score == "gap" else Question
        for question in self.questions:
            if type(question) is not kind or not self._fits(question):
                raise ValueError("a question has a number for every cell of a table")
        if self.work > MOST_DIVIDED:
            raise ValueError("there are fewer questions to choose from, or they divide rows into fewer children")

    def _fits(self, question: Question | Gap) -> bool:
        if type(question.table) is not int or not 0 <= question.table < len(self.tables):
            return False
        size = self.tables[question.table].size
        match question:
            case Question(children=numbers):
                return len(numbers) == size and all(type(one) is int and 0 <= one < size for one in numbers)
            case Gap(model=numbers, penalty=penalty):
                known = (*numbers, penalty)
                return len(numbers) == size and all(type(one) is int and abs(one) <= LARGEST_MODEL for one in known)

    @property
    def work(self) -> int:
        """Cells of tables that are looked at for scores: all for every child of a question."""
        return sum(_many(one) * self.tables[one.table].size for one in self.questions)

    @property
    def children(self) -> int:
        """What the rows of a group are divided into, by all questions, and there by classes."""
        return sum(map(_many, self.questions)) * (1 if self.classes is None else self.classes.size)

    @property
    def counted(self) -> tuple[Cells, ...]:
        """The cells of each table as they are counted: with classes, the classes of a cell one after the other."""
        if self.classes is None:
            return self.tables
        return tuple(Cross((*lines_of(table), *lines_of(self.classes))) for table in self.tables)


def _many(question: Question | Gap) -> int:
    return max(question.children) + 1 if isinstance(question, Question) else 1


Binned = Histogram | CellSum | Cumulative | Quantiles | MostFrequent | Choose
Aggregate = (
    CountRows
    | CountValues
    | Sum
    | CentredSum
    | CountDistinct
    | CountPeople
    | CountCut
    | UnboundedSum
    | BetweenEnds
    | Binned
)


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
    `weighted`: a unit of k keys adds 1/√k to each of them in place of 1, so that who holds few adds more.
    """

    share: Fraction
    delta: Fraction
    by: int | None = None
    weighted: bool = False


@dataclass(frozen=True, slots=True)
class Plan:
    """A question with everything decided.

    The limits of `unit` are how much of a person counts in this source unless a question says otherwise; `caps` are
    this question's own.
    """

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
    def asked_caps(self) -> Caps:
        """How much of one unit is asked for: a row, where a row is a person; without an id, all that one may have."""
        match unit_of(self.table, self.unit):
            case Row():
                return ONE_ROW
            case UpTo(rows=rows):
                return Caps(rows, rows, rows)
            case Person() as person:
                usual = Caps(person.max_rows, person.max_groups, person.max_rows)
                return usual if self.caps is None else self.caps

    @property
    def capped(self) -> Caps:
        """What counts of one unit: in never more groups than there are."""
        caps = self.asked_caps
        return caps if self.open else Caps(caps.rows, max(1, min(caps.groups, self.groups)), caps.rows_per_group)

    @property
    def open(self) -> bool:
        return any(isinstance(key, OpenKey) for key in self.keys)

    def digest(self) -> str:
        """Equal for equal plans only: SHA-256 of the language and of all in the plan that is not at its default."""
        text = f'{{"language":{PLAN_LANGUAGE},"plan":{spelt_out(self)}}}'
        return hashlib.sha256(text.encode()).hexdigest()


def number_of_groups(keys: tuple[Key | OpenKey, ...]) -> int:
    return prod(1 if isinstance(key, OpenKey) else key.size for key in keys)
