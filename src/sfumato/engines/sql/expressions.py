"""Row expressions and conditions as SQL. None can fail on any row: arithmetic is IEEE, NaN and x/0 are NULL."""

from typing import assert_never

from sfumato.engines.sql.functions import MATCHES, SQL, double, text
from sfumato.plan.expressions import (
    AllOf,
    AnyOf,
    Arithmetic,
    Call,
    Case,
    Column,
    Comparison,
    Condition,
    Day,
    Expression,
    IsNull,
    Matches,
    Negative,
    Not,
    Number,
    OneOf,
    String,
)
from sfumato.plan.functions import FUNCTIONS, Kind, Takes
from sfumato.plan.kinds import kind_of, may_be_nan
from sfumato.plan.lattice import Lattice
from sfumato.plan.nodes import Grid, Key, ListedKey, Magnitudes
from sfumato.schema.columns import Float
from sfumato.schema.table import Schema

LARGEST_INTEGER = 1 << 63
NAN = "CAST('NaN' AS DOUBLE)"


class Writer:
    """Writes expressions; knows the schema because an integer column and a real one are clamped differently."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema

    def value(self, node: Expression) -> str:
        """The value of a row, NULL for NaN."""
        written = self._written(node)
        return f"nullif({written}, {NAN})" if may_be_nan(node, self._schema) else written

    def on_lattice(self, node: Expression, lattice: Lattice) -> str:
        """Clamped to the lattice and rounded to it. NaN is above infinity here and so falls through.

        One comparison of the distance from the middle is quicker than two with the ends. It may round, but only so
        little that a value just beyond an end is let through and then rounded to that end.
        """
        written = self._written(node)
        lower, upper = integer(lattice.lower), integer(lattice.upper)
        if not self._is_real(node) and lattice.exponent == 0:
            return (
                f"CASE WHEN {written} BETWEEN {lower} AND {upper} THEN TRY_CAST({written} AS INTEGER) "
                f"WHEN {written} < {lower} THEN {lower} WHEN {written} > {upper} THEN {upper} END"
            )
        real = written if self._is_real(node) else f"CAST({written} AS DOUBLE)"
        low = double(float(lattice.lower * lattice.step))
        middle = double(float((lattice.lower + lattice.upper) * lattice.step / 2))
        reach = double(float((lattice.upper - lattice.lower) * lattice.step / 2))
        return (
            f"CASE WHEN abs({real} - {middle}) <= {reach} "
            f"THEN TRY_CAST({real} * {double(2.0**-lattice.exponent)} AS BIGINT) "
            f"WHEN {real} < {low} THEN {lower} WHEN {real} <= CAST('Infinity' AS DOUBLE) THEN {upper} END"
        )

    def cell(self, grid: Grid) -> str:
        """The number of a row's cell; beyond an end that end's cell, NULL for NULL and NaN.

        Rounding may give the number after the last one.
        """
        written = self._written(grid.value)
        real = written if self._is_real(grid.value) else f"TRY_CAST({written} AS DOUBLE)"
        low = double(float(grid.lower))
        middle, reach = (double(float(number / 2)) for number in (grid.lower + grid.upper, grid.upper - grid.lower))
        factor = double(float(1 / grid.width))
        return (
            f"CASE WHEN abs({real} - {middle}) < {reach} "
            f"THEN TRY_CAST(floor(abs({real} - {low}) * {factor}) AS INTEGER) "
            f"WHEN {real} < {middle} THEN 0 WHEN {real} <= CAST('Infinity' AS DOUBLE) THEN {grid.size - 1} END"
        )

    def magnitude(self, cells: Magnitudes) -> str:
        """The number of a row's cell of magnitudes; NULL for NULL and NaN."""
        steps, middle = self._steps(cells), len(cells.edges)
        size = self._quarters(steps)
        return (
            f"CASE WHEN {steps} > 0 THEN {middle + 1} + {size} WHEN {steps} < 0 THEN {middle - 1} - {size} "
            f"WHEN {steps} = 0 THEN {middle} END"
        )

    def within_magnitude(self, cells: Magnitudes) -> str:
        """A row's value in steps, no larger than the edge of its cell, however the logarithm was rounded."""
        steps = self._steps(cells)
        edge = edge_of(cells, f"{self._quarters(steps)} + 1")
        return f"CASE WHEN {steps} < 0 THEN -least(-{steps}, {edge}) ELSE least({steps}, {edge}) END"

    def _quarters(self, steps: str) -> str:
        """How many quarters of an octave a size is above one step, rounded up."""
        return f"CAST(ceil(4 * log2(CAST(greatest(abs({steps}), 1) AS DOUBLE))) AS INTEGER)"

    def _steps(self, cells: Magnitudes) -> str:
        """The value in steps, clamped to the largest magnitude. NaN is above infinity here and so falls through."""
        written, most = self._written(cells.value), 1 << cells.octaves
        if not self._is_real(cells.value):
            return (
                f"(CASE WHEN {written} BETWEEN {integer(-most)} AND {most} THEN TRY_CAST({written} AS HUGEINT) "
                f"WHEN {written} < 0 THEN {huge(-most)} WHEN {written} > 0 THEN {huge(most)} END)"
            )
        reach = double(float(most * cells.step))
        return (
            f"(CASE WHEN abs({written}) <= {reach} "
            f"THEN TRY_CAST(round({written} * {double(2.0**-cells.exponent)}) AS HUGEINT) "
            f"WHEN {written} < 0 THEN {huge(-most)} "
            f"WHEN {written} <= CAST('Infinity' AS DOUBLE) THEN {huge(most)} END)"
        )

    def key(self, key: Key) -> str:
        """What rows are grouped by: a listed value, or the number of a place in a range."""
        node = key.expression
        if isinstance(key, ListedKey):
            whole = self._is_real(node) and all(type(value) is int for value in key.values)
            return f"TRY_CAST({self.value(node)} AS BIGINT)" if whole else self.value(node)
        if isinstance(node, Column) and not self._is_real(node) and key.unit == 1 and key.offset == 0:
            return self.value(node)
        offset, unit = double(float(key.offset)), double(float(key.unit))
        return f"TRY_CAST(round(({self._as(node, 'number')} - {offset}) / {unit}) AS BIGINT)"

    def condition(self, node: Condition) -> str:
        match node:
            case Comparison(operator=operator, left=left, right=right):
                return f"({self.value(left)} {operator} {self.value(right)})"
            case OneOf(operand=operand, choices=choices):
                return f"({self.value(operand)} IN ({', '.join(self.value(choice) for choice in choices)}))"
            case Matches(kind=kind, operand=operand, pattern=pattern):
                return MATCHES[kind](self.value(operand), pattern)
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
                return column(name)
            case String(value=string):
                return text(string)
            case Number(value=number) if number.denominator == 1 and abs(number) < LARGEST_INTEGER:
                return integer(int(number))
            case Number(value=number):
                return double(float(number))
            case Negative(operand=operand):
                return f"(-{self._double(operand)})"
            case Day(value=day):
                return f"CAST({text(day)} AS DATE)"
            case Arithmetic(operator="/", left=left, right=right):
                # The divisor stands here once: written twice it would double the text with every level of nesting.
                return f"({self._double(left)} / nullif({self._double(right)}, {double(0.0)}))"
            case Arithmetic(operator=operator, left=left, right=right):
                return f"({self._double(left)} {operator} {self._double(right)})"
            case Call(name=name, arguments=arguments):
                function, kind = FUNCTIONS[name], kind_of(node, self._schema)
                takes = function.takes + function.takes[-1:] * (len(arguments) - len(function.takes))
                return SQL[name](*(self._argument(one, how, kind) for one, how in zip(arguments, takes, strict=True)))
            case Case(branches=branches, otherwise=otherwise):
                kind = kind_of(node, self._schema)
                whens = [f"WHEN {self.condition(when)} THEN {self._as(then, kind)}" for when, then in branches]
                last = [] if otherwise is None else [f"ELSE {self._as(otherwise, kind)}"]
                return f"CASE {' '.join(whens + last)} END"
            case _:
                assert_never(node)

    def _argument(self, node: Expression, takes: Takes, kind: Kind) -> str:
        match takes:
            case "same":
                return self._as(node, kind)
            case "number" | "text" | "date":
                return self._as(node, takes)
            case "constant" | "truncation" | "unit":
                return self._written(node)
            case _:
                return str(node.value) if isinstance(node, Number) else self._written(node)

    def _as(self, node: Expression, kind: Kind) -> str:
        """A number as a DOUBLE that is not NaN: functions and branches see no other."""
        if kind != "number":
            return self._written(node)
        if may_be_nan(node, self._schema):
            return f"nullif({self._written(node)}, {NAN})"
        return self._written(node) if self._is_real(node) else self._double(node)

    def _double(self, node: Expression) -> str:
        return f"TRY_CAST({self._written(node)} AS DOUBLE)"

    def _is_real(self, node: Expression) -> bool:
        match node:
            case Column(name=name):
                return isinstance(self._schema.columns[name], Float)
            case Arithmetic() | Negative():
                return True
            case Call() | Case():
                return kind_of(node, self._schema) == "number"
            case _:
                return False


def quoted(name: str) -> str:
    """An identifier; it may hold any printable character."""
    return '"' + name.replace('"', '""') + '"'


def column(name: str) -> str:
    """A column of the private table, qualified so that no alias of ours can be taken for it."""
    return f"t.{quoted(name)}"


def as_date(name: str, physical: str) -> str:
    """A column as a day of the years 1 to 9999; anything else, infinity included, is NULL."""
    plain = (
        name if physical == "VARCHAR" or physical.startswith(("DATE", "TIMESTAMP")) else f"TRY_CAST({name} AS VARCHAR)"
    )
    day = name if physical == "DATE" else f"TRY_CAST({plain} AS DATE)"
    return f"CASE WHEN {day} BETWEEN DATE '0001-01-01' AND DATE '9999-12-31' THEN {day} END"


def integer(value: int) -> str:
    return f"({value})" if value < 0 else str(value)


def big(value: int) -> str:
    """Of 64 bits, whatever it is multiplied with."""
    return f"CAST({value} AS BIGINT)"


def huge(value: int) -> str:
    """Multiplied with counts, it must not overflow at any number of rows."""
    return f"CAST({value} AS HUGEINT)"


def edge_of(cells: Magnitudes, place: str) -> str:
    """The edge of a cell, in steps: of the cell for zero at place 0, of the smallest sizes at place 1, and so on."""
    return f"list_extract([0, {', '.join(map(str, cells.edges))}], {place} + 1)"
