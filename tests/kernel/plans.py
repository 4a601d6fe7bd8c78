"""Small plans and schemas to certify."""

from fractions import Fraction
from typing import Any

from sfumato.plan.expressions import Column
from sfumato.plan.lattice import Lattice
from sfumato.plan.nodes import Aggregate, CountRows, ListedKey, Measure, Plan, RangeKey
from sfumato.schema.columns import Category, Date, Float, Identifier, Int, Text
from sfumato.schema.table import Schema
from sfumato.schema.unit import Person, Row

AGE = Lattice(17, 90, 0)
PERSON = Person("user_id", max_rows=20, max_groups=5)
COLUMNS = {
    "age": Int(17, 90),
    "income": Float(0, 200_000),
    "sex": Category(["f", "m"]),
    "city": Text(),
    "born": Date(),
    "name": Identifier(),
}
BY_SEX = ListedKey(Column("sex"), ("f", "m"))
BY_AGE = RangeKey(Column("age"), 17, 90)


def schema(unit: Any = None) -> Schema:
    return Schema("people", Row() if unit is None else unit, COLUMNS)


def measure(aggregate: Aggregate | None = None, share: Any = 1, mechanism: Any = "laplace") -> Measure:
    return Measure(CountRows() if aggregate is None else aggregate, mechanism, Fraction(share))


def plan(
    *measures: Measure, unit: Any = None, where: Any = None, keys: tuple[Any, ...] = (), table: Any = "people"
) -> Plan:
    return Plan(table, Row() if unit is None else unit, where, keys, measures)
