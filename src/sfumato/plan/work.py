"""What one row can make an engine do for a question: how much it plans and evaluates, and how long texts it works on.

Claim: for a plan that is not refused here, the SQL that engines write holds at most MOST_NODES operators made of the
plan's expressions, each copy counted; and of the time that one row of a table takes, Σ over these operators of
(characters of their texts) · (nanoseconds a character, as measured) + NODE is at most MOST_WORK nanoseconds.
Needs: expressions that `plan.totality` accepts; `Function.copies` and the numbers below as engines write them, which
tests/plan/test_work.py compares with the SQL. Prices are measured (docs/decisions/0008) and not proved.
Proof: by induction over the closed `match`. A node is evaluated at most as often as it is written, whatever branches a
row takes: once, times the copies that each node around it makes of it. `nullif` is CASE WHEN x = y THEN NULL ELSE x END
to an engine and holds x twice. A source that is kept is written once: the door has it kept before it has any counting
of the plan written (`engines.copies`). No text is longer than `plan.totality` derives, so no operator works on more
characters than it is charged for. Nodes are shared in a plan: each is weighed once, and the weights of its copies are
added.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import assert_never

from sfumato.errors import not_supported
from sfumato.plan.counting import Counted, Counting, SumInCell
from sfumato.plan.expressions import (
    AllOf,
    AnyOf,
    Arithmetic,
    Call,
    Case,
    Column,
    Comparison,
    Condition,
    Cross,
    Day,
    Expression,
    Grid,
    IsNull,
    LineOfCells,
    ListedKey,
    Matches,
    Negative,
    Not,
    Number,
    OneOf,
    Pick,
    RangeKey,
    String,
    UnitPart,
    lines_of,
)
from sfumato.plan.functions import FUNCTIONS
from sfumato.plan.kinds import kind_of, may_be_nan, uncut
from sfumato.plan.nodes import (
    CentredSum,
    CountCut,
    CountDistinct,
    CountPeople,
    CountRows,
    CountValues,
    Magnitudes,
    OpenKey,
    Sum,
)
from sfumato.plan.once import once
from sfumato.plan.sources import Kept, Lookup, OnUnit, PerUnit, Rows, Source, derive
from sfumato.plan.totality import Seen, known
from sfumato.schema.table import Schema
from sfumato.schema.unit import Person

MOST_NODES = 1_500  # so many are planned and run on one row in about 50 ms
MOST_WORK = 3_000_000  # nanoseconds, as measured: below the first tick, with some room

FLATTER = "Nest functions and divisions less deep, or ask several questions."
SHORTER = "Declare a smaller longest= for the texts, or ask for fewer functions and patterns of them."

# How often SQL holds a value: to clamp it to a lattice, to put it into a cell, or into a cell of magnitudes.
ON_LATTICE, IN_CELL, IN_MAGNITUDE, IN_STEPS = 4, 4, 5, 4
# How often it holds the number of a cell, or the place in a range, where that is not a column yet.
CELL_PLACED, RANGE_PLACED = 3, 2
# A list of so many numbers is planned like an operator; a unit's part is made by so many, and so many a column.
LISTED, PART_OF_ID, PART_OF_COLUMN = 2, 9, 6

# Nanoseconds: of an operator on one row, and of a character that is compared, grouped by, or searched.
NODE, COMPARED, GROUPED, SEARCHED, TRIED, HASHED = 1_500, 1, 8, 15, 14, 40


@dataclass(frozen=True, slots=True)
class Work:
    """Operators that are written, and the nanoseconds of them that one row takes."""

    nodes: int = 0
    row: int = 0

    def __add__(self, other: "Work") -> "Work":
        return Work(self.nodes + other.nodes, self.row + other.row)

    def __rmul__(self, copies: int) -> "Work":
        return Work(copies * self.nodes, copies * self.row)


NOTHING = Work()


def check_work(countings: tuple[Counting, ...], schema: Schema) -> None:
    """Refuse the countings of a plan that together are more than one question may be: see the claim above."""
    kept: set[Kept] = set()
    found = total(work_of(counting, schema, kept) for counting in countings)
    if found.nodes > MOST_NODES:
        raise not_supported("a question whose expressions, written out in full, repeat themselves too often,", FLATTER)
    if found.row > MOST_WORK:
        raise not_supported("so much work on long texts that one row could be told by its time", SHORTER)


def total(works: Iterator[Work]) -> Work:
    return sum(works, NOTHING)


def work_of(counting: Counting, schema: Schema, kept: set[Kept]) -> Work:
    """What is written for one counting: its source, condition, keys and cells, and what is counted.

    `kept` are the sources that an engine has worked out already, and is added to.
    """
    scale = Scale(derive(counting.source, schema))
    # Rows are grouped by columns; of people, and of different values, the numbers of groups are made at once.
    placed = isinstance(counting.unit, Person) or counting.kind == "distinct"
    found = work_of_source(counting.source, schema, kept)
    if counting.where is not None:
        found += scale.of(counting.where)
    for key in counting.keys if counting.cells is None else (*counting.keys, counting.cells):
        found += _key(key, scale, placed)
    return found + total(_counted(each, counting, scale) for each in counting.counted)


def work_of_source(source: Source, schema: Schema, kept: set[Kept]) -> Work:
    match source:
        case Kept() if source in kept:
            return NOTHING
        case Kept(source=inner):
            kept.add(source)
            return work_of_source(inner, schema, kept)
        case str():
            return NOTHING
        case Rows(source=inner):
            return work_of_source(inner, schema, kept) + _made(source, schema)
        case Lookup(source=inner, column=name):
            # The key is hashed and compared; the columns that are carried along are not looked at.
            return work_of_source(inner, schema, kept) + Scale(derive(inner, schema)).grouped(Column(name))
        case PerUnit(source=inner, where=where, columns=folded):
            scale = Scale(derive(inner, schema))
            values = (
                scale.value(column.value) if column.how == "count" else ON_LATTICE * scale.of(column.value)
                for column in folded
            )
            found = work_of_source(inner, schema, kept) + total(values)
            return found if where is None else found + scale.of(where)
        case OnUnit(left=left, right=right):
            sides = [(side, derive(side, schema)) for side in (left, right)]
            # Where people may have too many rows, those that count are chosen by a hash of all columns.
            hashed = total(Scale(columns).held(Column(name)) for _, columns in sides for name in columns.visible)
            return hashed + total(work_of_source(side, schema, kept) for side, _ in sides)
        case _:
            assert_never(source)


@once(256)
def _made(rows: Rows, schema: Schema) -> Work:
    """Some rows and their columns, without the source that they are made of: many plans are about the same."""
    scale = Scale(derive(rows.source, schema))
    given = [column.value for column in rows.columns]
    # A column stays as it is; what is computed has no NaN.
    found = total(scale.of(value) if isinstance(value, Column) else scale.value(value) for value in given)
    return found if rows.where is None else found + scale.of(rows.where)


def _key(key: LineOfCells | Cross | OpenKey | Magnitudes, scale: "Scale", placed: bool) -> Work:
    match key:
        case Grid(value=value):
            return (CELL_PLACED if placed else 1) * (IN_CELL * scale.of(value))
        case Cross(lines=lines):
            return total(_key(line, scale, placed) for line in lines)
        case Magnitudes(value=value):
            return IN_MAGNITUDE * (IN_STEPS * scale.of(value))
        case RangeKey(expression=value):
            return (RANGE_PLACED if placed else 1) * scale.value(value)
        case ListedKey(expression=value) | OpenKey(expression=value):
            return scale.grouped(value)
        case _:
            assert_never(key)


def _counted(counted: Counted, counting: Counting, scale: "Scale") -> Work:
    match counted:
        case CountRows() | CountPeople() | CountCut():
            return NOTHING
        case CountValues(value=value):
            return scale.value(value)
        case CountDistinct(value=value):
            return scale.grouped(value)
        case Sum(value=value) | CentredSum(value=value):
            return ON_LATTICE * scale.of(value)
        case SumInCell():
            cells = counting.cells
            return IN_MAGNITUDE * (IN_STEPS * scale.of(cells.value)) if isinstance(cells, Magnitudes) else NOTHING
        case _:
            assert_never(counted)


class Scale:
    """Weighs expressions over the columns of one source, each node once."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._lengths: Seen = {}
        # With the node itself: while it is kept, no other can have its id.
        self._weighed: dict[int, tuple[Expression | Condition, Work]] = {}

    def of(self, node: Expression | Condition) -> Work:
        """A node as it is written, before NaN is made NULL."""
        if id(node) not in self._weighed:
            parts = self._parts(node)
            # A copy more than one is compared, in a CASE of its own.
            cut = self._cut(node)
            own = self._operators(node) + sum(copies - 1 for copies, _ in parts) + len(cut)
            # Columns of a unit's name are nodes of this line alone, which no other may be taken for later.
            beginnings = FUNCTIONS["LEFT"].price * sum(known(part, self._schema).longest for part in cut)
            found = Work(own, own * NODE + self._characters(node) + beginnings)
            self._weighed[id(node)] = node, found + total(copies * self.of(part) for copies, part in parts)
        return self._weighed[id(node)][1]

    def value(self, node: Expression) -> Work:
        """A value, in which NaN is made NULL."""
        return self._twice(node) * self.of(node)

    def grouped(self, node: Expression) -> Work:
        """A value that is hashed, compared and kept, as what rows are grouped by."""
        return self.value(node) + Work(0, GROUPED * self._longest(node))

    def held(self, node: Expression) -> Work:
        """The same of what an engine holds for longer: of a text that is uncut, the beginning."""
        made = (
            NOTHING if not uncut(node, self._schema) else Work(1, NODE + FUNCTIONS["LEFT"].price * self._longest(node))
        )
        return self.grouped(node) + made

    def _parts(self, node: Expression | Condition) -> list[tuple[int, Expression | Condition]]:
        """What a node is made of, and how often each part stands in its SQL; choices are listed, not evaluated."""
        match node:
            case Column() | Number() | String() | Day() | UnitPart():
                return []
            case Pick(cells=cells):
                return [self._placed(line, alone=line is cells) for line in lines_of(cells)]
            case Negative(operand=operand):
                return [(1, operand)]
            case Arithmetic(operator="/", left=left, right=right):
                return [(1, left), (2, right)]  # a divisor of 0 is made NULL
            case Arithmetic(left=left, right=right):
                return [(1, left), (1, right)]
            case Call(name=name, arguments=arguments):
                copies = FUNCTIONS[name].copied(len(arguments))
                return [(each * self._twice(part), part) for each, part in zip(copies, arguments, strict=True)]
            case Case(branches=branches, otherwise=otherwise):
                thens = [then for _, then in branches] + ([] if otherwise is None else [otherwise])
                return [(1, when) for when, _ in branches] + [(self._twice(then), then) for then in thens]
            case Comparison(left=left, right=right):
                return [(self._twice(left), left), (self._twice(right), right)]
            case OneOf(operand=operand) | Matches(operand=operand) | IsNull(operand=operand):
                return [(self._twice(operand), operand)]
            case Not(operand=inner):
                return [(1, inner)]
            case AllOf(operands=operands) | AnyOf(operands=operands):
                return [(1, inner) for inner in operands]
            case _:
                assert_never(node)

    def _cut(self, node: Expression | Condition) -> list[Expression]:
        """The texts of which a node is given a beginning."""
        match node:
            case Call(name=name, arguments=arguments):
                takes = FUNCTIONS[name].taken(len(arguments)) or ()
                given = [part for part, how in zip(arguments, takes, strict=True) if how == "text"]
            case Matches(operand=operand):
                given = [operand]
            case UnitPart() if not isinstance(self._schema.unit, Person):
                given = [Column(name) for name in self._schema.visible]
            case _:
                return []
        return [part for part in given if uncut(part, self._schema)]

    def _placed(self, line: LineOfCells, *, alone: bool) -> tuple[int, Expression]:
        """How often the place in a line holds what it is made of."""
        match line:
            case Grid(value=value):
                return (1 if alone else CELL_PLACED) * IN_CELL, value  # alone, the number after the last is in the list
            case RangeKey(expression=value):
                return RANGE_PLACED * self._twice(value), value
            case ListedKey(expression=value):
                return self._twice(value), value
            case _:
                assert_never(line)

    def _operators(self, node: Expression | Condition) -> int:
        """Of a node itself, with one copy of each part."""
        match node:
            case Pick(cells=cells, numbers=numbers):
                return 1 + len(numbers) // LISTED + sum(1 + _listed(line) // LISTED for line in lines_of(cells))
            case UnitPart() if not isinstance(self._schema.unit, Person):
                return PART_OF_ID + PART_OF_COLUMN * len(self._schema.visible)
            case UnitPart():
                return PART_OF_ID
            case _:
                return 1

    def _twice(self, node: Expression) -> int:
        return 2 if may_be_nan(node, self._schema) else 1

    def _longest(self, node: Expression) -> int:
        return known(node, self._schema, self._lengths).longest

    def _characters(self, node: Expression | Condition) -> int:
        """Nanoseconds of the texts that a node itself works on, those of its parts not counted."""
        match node:
            case Call(name="CONCAT", arguments=arguments):
                # One after the other is put behind what is there: the first is copied as often as there are others.
                return FUNCTIONS["CONCAT"].price * sum(accumulate(self._longest(part) for part in arguments))
            case Call(name=name, arguments=arguments) if FUNCTIONS[name].price:
                return FUNCTIONS[name].price * sum(self._longest(part) for part in arguments)
            case Pick(cells=cells):
                placed = (self._placed(line, alone=True)[1] for line in lines_of(cells))
                return GROUPED * sum(self._longest(part) for part in placed)
            case UnitPart() if not isinstance(self._schema.unit, Person):
                # Nodes of this line alone, which no other may be taken for later.
                lengths = [known(Column(name), self._schema).longest for name in self._schema.visible]
                return HASHED * sum(lengths) + FUNCTIONS["CONCAT"].price * sum(accumulate(lengths))
            case Case() if kind_of(node, self._schema) == "text":
                return COMPARED * self._longest(node)
            case Comparison(left=left, right=right):
                return COMPARED * (self._longest(left) + self._longest(right))
            case OneOf(operand=operand, choices=choices):
                return COMPARED * (self._longest(operand) + sum(self._longest(choice) for choice in choices))
            case Matches(operand=operand):
                return searched(node) * self._longest(operand)
            case _:
                return 0


def _listed(line: LineOfCells) -> int:
    return line.size if isinstance(line, ListedKey) else 0


def searched(node: Matches) -> int:
    """Nanoseconds a character of a text in which a pattern is looked for."""
    _, moving, rest = node.pattern.partition("%")
    if node.kind != "like" or "_" not in node.pattern or not moving:
        return SEARCHED
    return TRIED * max(1, len(rest))  # with a _ anywhere, what follows a % is tried at every place
