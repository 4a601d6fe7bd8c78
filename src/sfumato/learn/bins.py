"""Public bins: which cells a column has, from its declaration alone. No value of a row decides where a bin ends.

A column of few values has a cell for each; one from 0 on that reaches far has cells by size, four an octave; every
other has 32 equal cells. What is missing or not declared has a cell of its own, the last.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from fractions import Fraction
from functools import partial
from itertools import pairwise
from math import ceil, floor, inf, isfinite
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.learn.wordings import (
    bounds_too_near,
    column_of_texts,
    column_unbounded,
    column_without_use,
    too_many_values,
)
from sfumato.plan.expressions import (
    MOST_PICKED,
    Call,
    Case,
    Column,
    Comparison,
    Day,
    Expression,
    Grid,
    ListedKey,
    Number,
    Pick,
    String,
)
from sfumato.schema.columns import Category, CategoryValue, Date, Declared, Float, Identifier, Int, Text, plain_text

Codes = NDArray[np.int64]
Kind = Literal["whole", "real", "day"]

ZERO, HALF, ONE = Fraction(0), Fraction(1, 2), Fraction(1)
MOST_SINGLE, EQUAL, FEW_EQUAL = 32, 32, 16
FEW_ROWS = 2000  # of a table that is declared to be smaller, columns have fewer cells
SEGMENT = 4  # how many times its beginning a piece of a line of sizes ends, of which all cells are equally wide
LEAST_REACH, MOST_BOUND = 1e-250, 1e250  # of a number between two bounds
WIDE = 500  # how many times its lower bound, or 1, a column's upper bound is when its cells are by size


@dataclass(frozen=True, slots=True)
class Listed:
    """A cell for each value of a public list."""

    values: tuple[CategoryValue, ...]

    @property
    def size(self) -> int:
        return len(self.values) + 1

    @property
    def ordered(self) -> bool:
        return False

    def label(self, cell: int) -> str:
        return "other or missing" if cell == len(self.values) else plain_text(self.values[cell])

    @property
    def extent(self) -> int | str:
        return self.size


@dataclass(frozen=True, slots=True)
class Line:
    """Cells along a line of numbers, or of days: a value's cell is the number of cuts that are not above it."""

    cuts: tuple[float, ...]
    kind: Kind  # days are counted from 1970-01-01

    @property
    def size(self) -> int:
        return len(self.cuts) + 2

    @property
    def ordered(self) -> bool:
        return True

    def label(self, cell: int) -> str:
        if cell == len(self.cuts) + 1:
            return "missing"
        low = None if cell == 0 else self.cuts[cell - 1]
        high = None if cell == len(self.cuts) else self.cuts[cell]
        if low is None:
            return "any" if high is None else f"below {self.shown(high)}"
        if high is None:
            return f"{self.shown(low)} and more"
        if self.kind == "real":
            return f"{self.shown(low)} to below {self.shown(high)}"
        last = high - 1
        return self.shown(low) if last == low else f"{self.shown(low)} to {self.shown(last)}"

    def shown(self, cut: float) -> str:
        return shown(cut, self.kind)

    @property
    def extent(self) -> int | str:
        return self.size


@dataclass(frozen=True, slots=True)
class Span:
    """A number itself, or a day, between two bounds: one cell, in which the place counts."""

    lower: float
    upper: float
    kind: Kind

    @property
    def size(self) -> int:
        return 1

    @property
    def ordered(self) -> bool:
        return True

    def label(self, cell: int) -> str:  # noqa: ARG002 - there is but one
        return f"{shown(self.lower, self.kind)} to {shown(self.upper, self.kind)}"

    @property
    def middle(self) -> float:
        return self.lower / 2 + self.upper / 2

    @property
    def reach(self) -> float:
        """How far the bounds are from the middle."""
        return self.upper / 2 - self.lower / 2

    def factor(self, steps: int) -> float:
        """What a distance from the middle is multiplied by, to be in so many steps to each bound."""
        return float(2 * steps / (Fraction(self.upper) - Fraction(self.lower)))

    @property
    def extent(self) -> int | str:
        return self.label(0)


EPOCH = date(1970, 1, 1)
Cells = Listed | Line | Span


def told_apart(cells: Line | Span) -> bool:
    """Whether doubles tell cells, or two bounds, apart. What is declared or read from files is so, or refused."""
    edges = cells.cuts if isinstance(cells, Line) else (cells.lower, cells.upper)
    if not all(map(isfinite, edges)) or any(one >= other for one, other in pairwise(edges)):
        return False
    return isinstance(cells, Line) or LEAST_REACH <= cells.reach <= max(-cells.lower, cells.upper) <= MOST_BOUND


def along(name: str, cells: Line | Span) -> "Feature":
    """A column along a line, or a refusal: of bounds that are too near to each other for doubles."""
    if not told_apart(cells):
        raise bounds_too_near(name)
    return Feature(name, cells)


def shown(number: float, kind: Kind) -> str:
    """A number as people write it, or a day."""
    if kind == "day":
        return (EPOCH + timedelta(days=int(number))).isoformat()
    return f"{int(number)}" if kind == "whole" else f"{number:.6g}"


@dataclass(frozen=True, slots=True)
class Feature:
    """A column as a model knows it: its name, and which cell a value falls into; the last is for what is missing."""

    name: str
    cells: Cells

    @property
    def size(self) -> int:
        return self.cells.size


def values_or_bounds(cells: Cells) -> int | str:
    """The extent of a column of which complete rows alone count: what is missing or not listed has no cell."""
    return f"{len(cells.values)} values" if isinstance(cells, Listed) else cells.extent


def named(name: str, extent: int | str) -> str:
    return f"{name} ({extent})" if isinstance(extent, str) else f"{name} ({extent} cells)"


@dataclass(frozen=True, slots=True)
class Binned:
    """A feature, and the expression that gives a row's cell: the last for what is missing or not listed."""

    feature: Feature
    code: Expression

    @property
    def size(self) -> int:
        return self.feature.size


def binned(name: str, declared: Declared, expected_rows: int | None = None) -> Binned:
    """The public bins of a column, or a refusal: of one whose declaration does not bound its cells."""
    equal = FEW_EQUAL if expected_rows is not None and expected_rows < FEW_ROWS else EQUAL
    match declared:
        case Category(values=values) if len(values) > MOST_PICKED:
            raise too_many_values(name, len(values), MOST_PICKED)
        case Category(values=values):
            listed = ListedKey(Column(name), values)
            return Binned(Feature(name, Listed(values)), Pick(listed, tuple(range(len(values))), len(values)))
        case Int(lower=Fraction() as lower, upper=Fraction() as upper):
            if _is_wide(lower, upper) and upper - lower >= MOST_SINGLE:
                return _by_size(name, upper, "whole")
            single = int(upper - lower) + 1
            return _equal(name, Column(name), lower, upper, single if single <= MOST_SINGLE else equal, "whole")
        case Float(lower=Fraction() as lower, upper=Fraction() as upper):
            if _is_wide(lower, upper):
                return _by_size(name, upper, "real")
            return _equal(name, Column(name), lower, upper, equal, "real")
        case Date(lower=date() as first, upper=date() as last):
            lower, upper = (Fraction((day - EPOCH).days) for day in (first, last))
            return _equal(name, since_epoch(name), lower, upper, min(equal, int(upper - lower) + 1), "day")
        case Text():
            raise column_of_texts(name)
        case Identifier():
            raise column_without_use(name)
        case _:
            raise column_unbounded(name)


def since_epoch(name: str) -> Expression:
    """The days of a column, counted from 1970-01-01."""
    return Call("DATE_DIFF", (String("day"), Day(EPOCH.isoformat()), Column(name)))


def _equal(name: str, value: Expression, lower: Fraction, upper: Fraction, size: int, kind: Kind) -> Binned:
    """Cells of equal width; whole numbers lie in the middle of a piece of the line that is 1 wide.

    Half as many, and again, where doubles do not tell them apart.
    """
    half = ZERO if kind == "real" else HALF
    grid = Grid(value, lower - half, upper + half, size)
    line = Line(tuple(_cuts(grid, kind)), kind)
    if size > 2 and not told_apart(line):
        return _equal(name, value, lower, upper, size // 2, kind)
    return Binned(along(name, line), Pick(grid, tuple(range(size)), size))


def _cuts(grid: Grid, kind: Kind) -> Iterable[float]:
    """The smallest numbers of which an engine says that they lie in cell 1, 2, and so on; infinite without any."""
    for place in range(1, grid.size):
        below, above = (float(grid.lower + (place + step) * grid.width) for step in (-1, 1))
        if kind == "real":
            while (middle := (below + above) / 2) not in (below, above):
                below, above = (below, middle) if _cell(grid, middle) >= place else (middle, above)
            yield above
        else:
            wholes = range(ceil(below), ceil(above) + 1)
            found = bisect_left(wholes, place, key=partial(_cell, grid))
            yield float(wholes[found]) if found < len(wholes) else inf


def _cell(grid: Grid, value: float) -> int:
    """As `engines.sql.expressions` writes it, in the same doubles."""
    if abs(value - float((grid.lower + grid.upper) / 2)) < float((grid.upper - grid.lower) / 2):
        return min(floor(abs(value - float(grid.lower)) * float(1 / grid.width)), grid.size - 1)
    return 0 if value < float((grid.lower + grid.upper) / 2) else grid.size - 1


def _is_wide(lower: Fraction, upper: Fraction) -> bool:
    return lower >= 0 and upper >= WIDE * max(lower, ONE)


def _by_size(name: str, upper: Fraction, kind: Kind) -> Binned:
    """Below 1 (of whole numbers: zero), then four cells an octave: 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20 …

    They are picked from pieces of equal cells, each four times as far as the one before; no cut lies inside of a cell.
    """
    cuts, octave = [1.0], 1.0
    while cuts[-1] < upper:
        cuts += [octave * part for part in (1.25, 1.5, 1.75, 2.0) if (octave * part).is_integer()]
        octave *= 2
    cuts = [cut for cut in cuts if cut <= upper]
    value, pieces, begin, end = Column(name), list[tuple[int, Pick]](), 0, 4 * SEGMENT
    while begin <= cuts[-1]:
        width = max(1, begin // 4)
        numbers = tuple(bisect_right(cuts, begin + place * width) for place in range((end - begin) // width))
        grid = Grid(value, Fraction(begin), Fraction(end), len(numbers))
        pieces.append((end, Pick(grid, numbers, len(cuts) + 1)))
        begin, end = end, end * SEGMENT
    *first, (_, last) = pieces
    branches = tuple((Comparison("<", value, Number(Fraction(end))), picked) for end, picked in first)
    return Binned(along(name, Line(tuple(cuts), kind)), Case(branches, last) if branches else last)
