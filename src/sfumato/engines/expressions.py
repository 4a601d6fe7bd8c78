"""Row expressions and conditions as SQL. None can fail on any row: arithmetic is IEEE, NaN and x/0 are NULL."""

from typing import assert_never

from sfumato.plan.expressions import (
    AllOf,
    AnyOf,
    Arithmetic,
    Column,
    Comparison,
    Condition,
    Expression,
    IsNull,
    Negative,
    Not,
    Number,
    OneOf,
    String,
)
from sfumato.plan.lattice import Lattice
from sfumato.plan.nodes import Grid, Magnitudes
from sfumato.schema.columns import CategoryValue, Float
from sfumato.schema.table import Schema

LARGEST_INTEGER = 1 << 63


class Writer:
    """Writes expressions; knows the schema because an integer column and a real one are clamped differently."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema

    def value(self, node: Expression) -> str:
        """The value of a row, NULL for NaN."""
        written = self._written(node)
        return f"nullif({written}, CAST('NaN' AS DOUBLE))" if self._is_real(node) else written

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

    def condition(self, node: Condition) -> str:
        match node:
            case Comparison(operator=operator, left=left, right=right):
                return f"({self.value(left)} {operator} {self.value(right)})"
            case OneOf(operand=operand, choices=choices):
                return f"({self.value(operand)} IN ({', '.join(self.value(choice) for choice in choices)}))"
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
            case Arithmetic(operator="/", left=left, right=right):
                divisor = self._double(right)
                return f"CASE WHEN {divisor} = 0 THEN NULL ELSE ({self._double(left)} / {divisor}) END"
            case Arithmetic(operator=operator, left=left, right=right):
                return f"({self._double(left)} {operator} {self._double(right)})"
            case _:
                assert_never(node)

    def _double(self, node: Expression) -> str:
        return f"TRY_CAST({self._written(node)} AS DOUBLE)"

    def _is_real(self, node: Expression) -> bool:
        match node:
            case Column(name=name):
                return isinstance(self._schema.columns[name], Float)
            case Arithmetic() | Negative():
                return True
            case _:
                return False


def quoted(name: str) -> str:
    """An identifier; it may hold any printable character."""
    return '"' + name.replace('"', '""') + '"'


def column(name: str) -> str:
    """A column of the private table, qualified so that no alias of ours can be taken for it."""
    return f"t.{quoted(name)}"


def text(string: str) -> str:
    return "'" + string.replace("'", "''") + "'"


def plain_text(value: CategoryValue) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def integer(value: int) -> str:
    return f"({value})" if value < 0 else str(value)


def huge(value: int) -> str:
    """Multiplied with counts, it must not overflow at any number of rows."""
    return f"CAST({value} AS HUGEINT)"


def edge_of(cells: Magnitudes, place: str) -> str:
    """The edge of a cell, in steps: of the cell for zero at place 0, of the smallest sizes at place 1, and so on."""
    return f"list_extract([0, {', '.join(map(str, cells.edges))}], {place} + 1)"


def double(value: float) -> str:
    return f"CAST('{value!r}' AS DOUBLE)"
