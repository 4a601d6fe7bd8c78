"""A plain-Python interpreter of a plan: what every engine must return, integer for integer.

It reads rows as dictionaries of Python values and follows the written meaning of the plan, not the SQL: NULL is `None`
and NaN counts as NULL, logic is three-valued, arithmetic is in doubles, x/0 is NULL, a value is clamped to its lattice
and rounded half to even, rows of undeclared groups or without a unit id are dropped, and a person is bounded as
docs/proofs/contribution-bounding.md says. Which of too many groups a person keeps, and from which of too many rows in
cells on, is an engine's own choice, so the caller says.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from math import floor, isfinite, isnan
from typing import Any, assert_never

from sfumato.plan.caps import Caps
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
    IsNull,
    Matches,
    Negative,
    Not,
    Number,
    OneOf,
    Pick,
    String,
    UnitPart,
    lines_of,
)
from sfumato.plan.lattice import Lattice
from sfumato.plan.nodes import Aggregate, CentredSum, CountRows, CountValues, Grid, ListedKey, Plan, RangeKey, Sum
from sfumato.plan.sources import derive
from sfumato.schema.columns import Date, Float
from sfumato.schema.table import Schema
from sfumato.schema.unit import Person
from tests.functions import MEANING, half_away, matches
from tests.reference_sources import Tables, rows_from

Value = int | float | str | date | None
RowOfData = Mapping[str, Any]
Integers = list[tuple[int, ...]]
Keep = Callable[[Any, list[int]], Iterable[int]]


def evaluate(plan: Plan, schema: Schema, rows: Sequence[RowOfData] | Tables, keep: Keep | None = None) -> Integers:
    """One row of integers for every declared group. `keep` chooses the groups of a person who has too many.

    Of a plan over several tables, `rows` are the rows of each by name.
    """
    if isinstance(rows, Mapping):
        rows = rows_from(plan.table, schema, rows)
    reader = Reader(derive(plan.table, schema))
    parts: dict[tuple[Any, int], list[Part]] = {}
    for number, row in enumerate(rows):
        person = row[plan.unit.id] if isinstance(plan.unit, Person) else number
        group = group_number(plan, row, reader)
        if person is None or group is None or (plan.where is not None and reader.truth(plan.where, row) is not True):
            continue
        own = parts.setdefault((person, group), [Part() for _ in plan.measures])
        for part, measure in zip(own, plan.measures, strict=True):
            part.add(measure.aggregate, reader, row)
    if isinstance(plan.unit, Person):
        parts = _kept(parts, plan.capped, keep)
    totals = [[0] * len(plan.measures) for _ in range(plan.groups)]
    for (person, group), own in parts.items():
        most = _most(person, parts, plan.capped) if isinstance(plan.unit, Person) else None
        for position, (part, measure) in enumerate(zip(own, plan.measures, strict=True)):
            totals[group][position] += part.share(measure.aggregate, most)
    return [tuple(row) for row in totals]


def group_number(plan: Plan, row: RowOfData, reader: "Reader") -> int | None:
    """The place of a row's group in the order of the declared keys."""
    number = 0
    for key in plan.keys:
        place = cell_number(key, row, reader)
        if place is None:
            return None
        number = number * key.size + place
    return number


def cell_number(cells: Cells, row: RowOfData, reader: "Reader") -> int | None:
    """The place of a row's cell; of crossed lines that of the last runs fastest."""
    number = 0
    for line in lines_of(cells):
        place = _place(line, reader.value(line.value if isinstance(line, Grid) else line.expression, row))
        if place is None:
            return None
        number = number * line.size + place
    return number


def _place(key: Any, value: Value) -> int | None:
    match key:
        case Grid(lower=lower, upper=upper, size=size):
            if value is None:
                return None
            if abs(value - float((lower + upper) / 2)) < float((upper - lower) / 2):
                return min(floor(abs(value - float(lower)) * float(1 / key.width)), size - 1)
            return 0 if value < upper else size - 1
        case ListedKey(values=values):
            if isinstance(value, float):
                value = int(value) if value.is_integer() else None
            listed = [_text(known) for known in values]
            return listed.index(_text(value)) if value is not None and _text(value) in listed else None
        case RangeKey(lower=lower, upper=upper, unit=unit, offset=offset):
            if isinstance(value, float) and isfinite(value):
                place = half_away((value - float(offset)) / float(unit))
                value = int(place) if isfinite(place) else None
            return value - lower if isinstance(value, int) and lower <= value <= upper else None
        case _:
            assert_never(key)


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


@dataclass(slots=True)
class Part:
    """What one person brings into one group for one measure."""

    rows: int = 0
    values: int = 0
    total: int = 0

    def add(self, aggregate: Aggregate, reader: "Reader", row: RowOfData) -> None:
        self.rows += 1
        match aggregate:
            case CountRows():
                return
            case CountValues(value=expression):
                self.values += reader.value(expression, row) is not None
            case Sum(value=expression, lattice=lattice) | CentredSum(value=expression, lattice=lattice):
                step = reader.on_lattice(expression, lattice, row)
                if step is not None:
                    self.values += 1
                    self.total += step
            case _:
                assert_never(aggregate)

    def share(self, aggregate: Aggregate, most: int | None) -> int:
        match aggregate:
            case CountRows():
                return self.rows if most is None else min(self.rows, most)
            case CountValues():
                return self.values if most is None else min(self.values, most)
            case Sum(lattice=lattice):
                if most is None:
                    return self.total
                return max(most * min(lattice.lower, 0), min(most * max(lattice.upper, 0), self.total))
            case CentredSum(lattice=lattice):
                centred = self.total - lattice.centre * self.values
                return centred if most is None else part_of_sum(centred, self.values, most)
            case _:
                assert_never(aggregate)


def _kept(parts: dict[tuple[Any, int], list[Part]], caps: Caps, keep: Keep | None) -> dict[Any, list[Part]]:
    groups: dict[Any, list[int]] = {}
    for person, group in parts:
        groups.setdefault(person, []).append(group)
    kept = set()
    for person, own in groups.items():
        if len(own) > caps.groups and keep is None:
            raise ValueError("max_groups binds: say which groups are kept")
        chosen = own if len(own) <= caps.groups else list(keep(person, own))
        assert len(chosen) <= caps.groups
        kept |= {(person, group) for group in chosen}
    return {place: own for place, own in parts.items() if place in kept}


def _most(person: Any, parts: dict[Any, list[Part]], caps: Caps) -> int:
    """What each of the person's groups may count."""
    own = [min(part[0].rows, caps.rows_per_group) for (who, _), part in parts.items() if who == person]
    return min(caps.rows_per_group, caps.rows // len(own)) if sum(own) > caps.rows else caps.rows_per_group


def thinned(counts: Sequence[int], most: int, start: int) -> list[int]:
    """Of a person's rows in cells `most` at equal distances; `start`, an engine's own choice, says where they begin."""
    total = sum(counts)
    if total <= most:
        return list(counts)
    taken = [(most * sum(counts[: i + 1]) + start) // total for i in range(len(counts))]
    return [upto - before for upto, before in zip(taken, [0, *taken], strict=False)]


def part_of_sum(total: int, count: int, most: int) -> int:
    """What so many of the values add up to, if each is their mean."""
    return total if count <= most else _towards_zero(total * most, count)


def _towards_zero(number: int, divisor: int) -> int:
    return number // divisor if number >= 0 else -(-number // divisor)


class Reader:
    """Expressions and conditions of one row."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema

    def value(self, node: Expression, row: RowOfData) -> Value:
        match node:
            case Column(name=name):
                found = row[name]
                if isinstance(found, bool):
                    return _text(found)
                if isinstance(self._schema.columns[name], Date):
                    return as_day(found)
                return None if isinstance(found, float) and isnan(found) else found
            case String(value=text):
                return text
            case Day(value=day):
                return date.fromisoformat(day)
            case Call(name=name, arguments=arguments):
                return self._call(name, arguments, row)
            case Case(branches=branches, otherwise=otherwise):
                for when, then in branches:
                    if self.truth(when, row) is True:
                        return _plain(self.value(then, row))
                return None if otherwise is None else _plain(self.value(otherwise, row))
            case Pick(cells=cells, numbers=numbers, missing=missing):
                place = cell_number(cells, row, self)
                return missing if place is None else numbers[place]
            case UnitPart(salt=salt, parts=parts):
                named = "|".join([str(salt), *self._named(row)])
                return int(hashlib.md5(named.encode(), usedforsecurity=False).hexdigest()[:8], 16) % parts
            case Number(value=number):
                return int(number) if number.denominator == 1 and abs(number) < 1 << 63 else float(number)
            case Negative(operand=operand):
                found = self._double(operand, row)
                return None if found is None else -found
            case Arithmetic(operator=operator, left=left, right=right):
                return _arithmetic(operator, self._double(left, row), self._double(right, row))
            case _:
                assert_never(node)

    def _named(self, row: RowOfData) -> list[str]:
        """Texts that name whose row this is: an id, or all columns, reals in whole numbers of 2^-20."""
        if isinstance(self._schema.unit, Person):
            return [_text(row[self._schema.unit.id])]
        texts = []
        for name in self._schema.visible:
            found, declared = self.value(Column(name), row), self._schema.columns[name]
            if isinstance(declared, Float) and found is not None:
                steps = found * 2.0**20
                found = round(steps) if isfinite(steps) and -(2**63) <= round(steps) < 2**63 else None
            texts.append("" if found is None else _text(found))
        return texts

    def _call(self, name: str, arguments: tuple[Expression, ...], row: RowOfData) -> Value:
        given = [_plain(self.value(argument, row)) for argument in arguments]
        if name == "COALESCE":
            return next((value for value in given if value is not None), None)
        if name == "NULLIF":
            return None if given[0] is not None and given[0] == given[1] else given[0]
        if None in given:
            return None
        result = MEANING[name](*given)
        return None if isinstance(result, float) and isnan(result) else result

    def on_lattice(self, node: Expression, lattice: Lattice, row: RowOfData) -> int | None:
        value = self.value(node, row)
        if value is None:
            return None
        assert not isinstance(value, str)
        if self._is_real(node) or lattice.exponent != 0:
            value = float(value) * 2.0**-lattice.exponent
        return round(max(lattice.lower, min(lattice.upper, value)))

    def truth(self, node: Condition, row: RowOfData) -> bool | None:
        match node:
            case Comparison(operator=operator, left=left, right=right):
                return _compare(operator, self.value(left, row), self.value(right, row))
            case OneOf(operand=operand, choices=choices):
                found = [self.value(operand, row), *(self.value(choice, row) for choice in choices)]
                if any(isinstance(value, float) for value in found):
                    found = [value if value is None else float(value) for value in found]
                return None if found[0] is None else found[0] in found[1:]
            case Matches(kind=kind, operand=operand, pattern=pattern):
                found = self.value(operand, row)
                return None if found is None else matches(kind, found, pattern)
            case IsNull(operand=operand):
                return self.value(operand, row) is None
            case Not(operand=operand):
                truth = self.truth(operand, row)
                return None if truth is None else not truth
            case AllOf(operands=operands):
                truths = [self.truth(operand, row) for operand in operands]
                return False if False in truths else None if None in truths else True
            case AnyOf(operands=operands):
                truths = [self.truth(operand, row) for operand in operands]
                return True if True in truths else None if None in truths else False
            case _:
                assert_never(node)

    def _double(self, node: Expression, row: RowOfData) -> float | None:
        value = self.value(node, row)
        return None if value is None else float(value)

    def _is_real(self, node: Expression) -> bool:
        if isinstance(node, Column):
            return isinstance(self._schema.columns[node.name], Float)
        return isinstance(node, Arithmetic | Negative | Call | Case)


def _arithmetic(operator: str, left: float | None, right: float | None) -> float | None:
    if left is None or right is None or (operator == "/" and right == 0):
        return None
    match operator:
        case "+":
            result = left + right
        case "-":
            result = left - right
        case "*":
            result = left * right
        case _:
            result = left / right
    return None if isnan(result) else result


def _compare(operator: str, left: Value, right: Value) -> bool | None:
    if left is None or right is None:
        return None
    if isinstance(left, float) or isinstance(right, float):
        left, right = float(left), float(right)
    match operator:
        case "=":
            return left == right
        case "<>":
            return left != right
        case "<":
            return left < right
        case "<=":
            return left <= right
        case ">":
            return left > right
        case _:
            return left >= right


def _plain(value: Value) -> Value:
    """Numbers meet functions and branches as doubles."""
    return float(value) if isinstance(value, int) else value


def as_day(found: Any) -> date | None:
    """What a column of dates holds: days; times lose their hour, and texts are read where they start with a day."""
    if isinstance(found, datetime):
        return found.date()
    if isinstance(found, str):
        try:
            return date.fromisoformat(found[:10])
        except ValueError:
            return None
    return found
