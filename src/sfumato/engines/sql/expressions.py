"""Row expressions and conditions as SQL. None can fail on any row: arithmetic is IEEE, NaN and x/0 are NULL."""

from typing import assert_never

from sfumato.engines.sql.dialect import Dialect, column, integer
from sfumato.engines.sql.phrases import MATCHES, SQL
from sfumato.plan.expressions import (
    AllOf,
    AnyOf,
    Arithmetic,
    Call,
    Case,
    Cells,
    Column,
    Comparison,
    Condition,
    Day,
    Expression,
    Grid,
    IsNull,
    Key,
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
from sfumato.plan.functions import FUNCTIONS, Kind, Takes
from sfumato.plan.kinds import kind_of, may_be_nan, uncut
from sfumato.plan.lattice import Lattice
from sfumato.plan.nodes import Magnitudes
from sfumato.plan.totality import longest
from sfumato.schema.columns import Float, plain_text
from sfumato.schema.table import Schema
from sfumato.schema.unit import Person

LARGEST_INTEGER = 1 << 63
FINEST = 2.0**20  # of reals in the name of a row


class Writer:
    """Writes expressions; knows the schema because an integer column and a real one are clamped differently."""

    def __init__(self, schema: Schema, dialect: Dialect) -> None:
        self._schema = schema
        self.dialect = dialect

    def value(self, node: Expression) -> str:
        """The value of a row, NULL for NaN."""
        written = self._written(node)
        return f"nullif({written}, {self.dialect.NAN})" if may_be_nan(node, self._schema) else written

    def held(self, node: Expression) -> str:
        """The value of a row, NULL for NaN, where an engine is to hold it: of a text no more than a row may show."""
        return self._text(node) if uncut(node, self._schema) else self.value(node)

    def discovered(self, node: Expression) -> str:
        """The value of a key that is discovered, as a text: the same for equal values, whatever type they have."""
        written = self.value(node)
        return written if kind_of(node, self._schema) == "text" else self.dialect.as_text(written)

    def on_lattice(self, node: Expression, lattice: Lattice) -> str:
        """Clamped to the lattice and rounded to it. NaN is above infinity here and so is NULL.

        One comparison of the distance from the middle is quicker than two with the ends, and quickest if it holds for
        few. It may round, but only so little that a value just beyond an end is let through and then rounded to that
        end. The ends are doubles, and whole in steps.
        """
        written = self._written(node)
        lower, upper = integer(lattice.lower), integer(lattice.upper)
        if not self.is_real(node) and lattice.exponent == 0:
            return (
                f"CASE WHEN {written} BETWEEN {lower} AND {upper} THEN {self.dialect.small(written)} "
                f"WHEN {written} < {lower} THEN {lower} WHEN {written} > {upper} THEN {upper} END"
            )
        real = written if self.is_real(node) else self.dialect.to_double(written)
        low = self.dialect.double(float(lattice.lower * lattice.step))
        high = self.dialect.double(float(lattice.upper * lattice.step))
        middle = self.dialect.double(float((lattice.lower + lattice.upper) * lattice.step / 2))
        reach = self.dialect.double(float((lattice.upper - lattice.lower) * lattice.step / 2))
        end = f"CASE WHEN {real} < {low} THEN {low} WHEN {real} <= {self.dialect.INFINITY} THEN {high} END"
        clamped = f"CASE WHEN {self.dialect.distance(real, middle)} > {reach} THEN {end} ELSE {real} END"
        return self.dialect.small(self.dialect.scaled(clamped, 2.0**-lattice.exponent))

    def cell(self, grid: Grid) -> str:
        """The number of a row's cell; beyond an end that end's cell, NULL for NULL and NaN.

        Rounding may give the number after the last one.
        """
        written = self._written(grid.value)
        real = written if self.is_real(grid.value) else self.dialect.to_double(written)
        middle = self.dialect.double(float((grid.lower + grid.upper) / 2))
        reach = self.dialect.double(float((grid.upper - grid.lower) / 2))
        above = self.dialect.distance(real, self.dialect.double(float(grid.lower)))
        return (
            f"CASE WHEN {self.dialect.distance(real, middle)} < {reach} "
            f"THEN {self.dialect.small(self.dialect.floor(self.dialect.scaled(above, float(1 / grid.width))))} "
            f"WHEN {real} < {middle} THEN 0 WHEN {real} <= {self.dialect.INFINITY} THEN {grid.size - 1} END"
        )

    def magnitude(self, cells: Magnitudes) -> str:
        """The number of a row's cell of magnitudes; NULL for NULL and NaN."""
        steps, middle = self._steps(cells), len(cells.edges)
        size = self.dialect.quarters(steps, cells.edges)
        return (
            f"CASE WHEN {steps} > 0 THEN {middle + 1} + {size} WHEN {steps} < 0 THEN {middle - 1} - {size} "
            f"WHEN {steps} = 0 THEN {middle} END"
        )

    def within_magnitude(self, cells: Magnitudes) -> str:
        """A row's value in steps, no larger than the edge of its cell, however the logarithm was rounded."""
        steps = self._steps(cells)
        edge = self.dialect.edge(cells.edges, f"{self.dialect.quarters(steps, cells.edges)} + 1")
        return f"CASE WHEN {steps} < 0 THEN -least(-{steps}, {edge}) ELSE least({steps}, {edge}) END"

    def _steps(self, cells: Magnitudes) -> str:
        """The value in steps, clamped to the largest magnitude. NaN is above infinity here and so falls through."""
        written, most = self._written(cells.value), 1 << cells.octaves
        least, largest = self.dialect.huge(-most), self.dialect.huge(most)
        if not self.is_real(cells.value):
            return (
                f"(CASE WHEN {written} BETWEEN {integer(-most)} AND {most} THEN CAST({written} AS {self.dialect.HUGE}) "
                f"WHEN {written} < 0 THEN {least} WHEN {written} > 0 THEN {largest} END)"
            )
        reach = self.dialect.double(float(most * cells.step))
        steps = self.dialect.half_away(self.dialect.scaled(written, 2.0**-cells.exponent))
        return (
            f"(CASE WHEN abs({written}) <= {reach} THEN {self.dialect.to_huge(steps)} "
            f"WHEN {written} < 0 THEN {least} WHEN {written} <= {self.dialect.INFINITY} THEN {largest} END)"
        )

    def key(self, key: Key) -> str:
        """What rows are grouped by: a listed value, or the number of a place in a range."""
        node = key.expression
        if isinstance(key, ListedKey):
            whole = self.is_real(node) and all(type(value) is int for value in key.values)
            return self.dialect.to_big(self.value(node)) if whole else self.value(node)
        if isinstance(node, Column) and not self.is_real(node) and key.unit == 1 and key.offset == 0:
            return self.value(node)
        offset, unit = self.dialect.double(float(key.offset)), self.dialect.double(float(key.unit))
        above = self.dialect.arithmetic("-", self._as(node, "number"), offset)
        return self.dialect.to_big(self.dialect.half_away(self.dialect.arithmetic("/", above, unit)))

    def line(self, line: LineOfCells) -> str:
        """What rows are grouped by, in which `position` finds the number of a cell."""
        return self.cell(line) if isinstance(line, Grid) else self.key(line)

    def place(self, cells: Cells) -> str:
        """The number of a row's cell; NULL where it is in none."""
        first, *others = lines_of(cells)
        number = position(first, self.line(first), self.dialect)
        for line in others:
            number = f"({number} * {line.size} + {position(line, self.line(line), self.dialect)})"
        return number

    def condition(self, node: Condition) -> str:
        match node:
            case Comparison(operator=operator, left=left, right=right):
                return f"({self.value(left)} {operator} {self.value(right)})"
            case OneOf(operand=operand, choices=choices):
                return f"({self.value(operand)} IN ({', '.join(self.value(choice) for choice in choices)}))"
            case Matches(kind=kind, operand=operand, pattern=pattern):
                return MATCHES[kind](self.dialect, self._text(operand), pattern)
            case IsNull(operand=operand):
                return f"({self.value(operand)} IS NULL)"
            case Not(operand=operand):
                return f"(NOT {self.condition(operand)})"
            case AllOf(operands=operands):
                return f"({' AND '.join(self.condition(operand) for operand in operands)})"
            case AnyOf(operands=operands):
                return f"({' OR '.join(self.condition(operand) for operand in operands)})"
            case _:
                assert_never(node)

    def _written(self, node: Expression) -> str:
        match node:
            case Column(name=name):
                return column(name, self.dialect)
            case String(value=string):
                return self.dialect.text(string)
            case Number(value=number) if number.denominator == 1 and abs(number) < LARGEST_INTEGER:
                return integer(int(number))
            case Number(value=number):
                return self.dialect.double(float(number))
            case Negative(operand=operand):
                return self.dialect.negative(self._double(operand))
            case Day(value=day):
                return self.dialect.day(day)
            case Arithmetic(operator=operator, left=left, right=right):
                return self.dialect.arithmetic(operator, self._double(left), self._double(right))
            case Call(name=name, arguments=arguments):
                function, kind = FUNCTIONS[name], kind_of(node, self._schema)
                takes = function.takes + function.takes[-1:] * (len(arguments) - len(function.takes))
                given = (self._argument(one, how, kind) for one, how in zip(arguments, takes, strict=True))
                return SQL[name](self.dialect, *given)
            case Case(branches=branches, otherwise=otherwise):
                kind = kind_of(node, self._schema)
                whens = [f"WHEN {self.condition(when)} THEN {self._as(then, kind)}" for when, then in branches]
                last = [] if otherwise is None else [f"ELSE {self._as(otherwise, kind)}"]
                return f"CASE {' '.join(whens + last)} END"
            case Pick(cells=cells, numbers=numbers, missing=missing):
                if isinstance(cells, Grid):  # the number after the last cell stands for the last one
                    found = self.dialect.element((*numbers, numbers[-1]), self.cell(cells))
                else:
                    found = self.dialect.element(numbers, self.place(cells))
                return found if missing is None else f"COALESCE({found}, {integer(missing)})"
            case UnitPart(salt=salt, parts=parts):
                return self.dialect.part_of([self.dialect.text(str(salt)), *self._named()], parts)
            case _:
                assert_never(node)

    def _named(self) -> list[str]:
        """Texts that name a row's unit: its id, or all the row's columns, each with a mark where it is NULL."""
        if isinstance(self._schema.unit, Person):
            return [self.dialect.as_text(column(self._schema.unit.id, self.dialect))]
        texts = []
        for name in self._schema.visible:
            written = self._text(Column(name))
            if self.is_real(Column(name)):  # engines write them otherwise
                written = self.dialect.to_big(self.dialect.scaled(written, FINEST))
            texts.append(f"COALESCE({self.dialect.as_text(written)}, {self.dialect.text('')})")
        return texts

    def _argument(self, node: Expression, takes: Takes, kind: Kind) -> str:
        match takes:
            case "same":
                return self._as(node, kind)
            case "text":
                return self._text(node)
            case "number" | "date":
                return self._as(node, takes)
            case "constant":
                return self._written(node)
            case _:  # a phrase reads these itself
                return str(node.value) if isinstance(node, Number | String) else self._written(node)

    def _text(self, node: Expression) -> str:
        """A text that something works on; of a category's no more than its longest value has.

        No row shows more, but where a file keeps each text once, in a dictionary, an engine may work on all of it,
        whichever rows are meant.
        """
        written = self._written(node)
        return self.dialect.beginning(written, longest(node, self._schema)) if uncut(node, self._schema) else written

    def _as(self, node: Expression, kind: Kind) -> str:
        """A number as a DOUBLE that is not NaN: functions and branches see no other."""
        if kind != "number":
            return self._written(node)
        if may_be_nan(node, self._schema):
            return f"nullif({self._written(node)}, {self.dialect.NAN})"
        return self._written(node) if self.is_real(node) else self._double(node)

    def _double(self, node: Expression) -> str:
        return self.dialect.to_double(self._written(node))

    def is_real(self, node: Expression) -> bool:
        """Whether its SQL is a DOUBLE, which may be NaN."""
        match node:
            case Column(name=name):
                return isinstance(self._schema.columns[name], Float)
            case Arithmetic() | Negative():
                return True
            case Call() | Case():
                return kind_of(node, self._schema) == "number"
            case _:
                return False


def position(line: LineOfCells, written: str, dialect: Dialect) -> str:
    """The number of a cell on its line, given what rows are grouped by; NULL where it is in none."""
    match line:
        case Grid(size=size):
            return f"CASE WHEN {written} < {size} THEN {written} WHEN {written} >= {size} THEN {size - 1} END"
        case RangeKey(lower=lower, upper=upper):
            low, high = integer(lower), integer(upper)
            place = dialect.small(f"{dialect.whole(written)} - {low}")
            return f"CASE WHEN {written} BETWEEN {low} AND {high} THEN {place} END"
        case ListedKey(values=values):
            return dialect.position(written, [plain_text(value) for value in values])
        case _:
            assert_never(line)
