"""The SQL writer knows a closed set of nodes: for anything else there is no SQL, and nothing is asked."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from sfumato.engines.duckdb.dialect import DUCKDB
from sfumato.engines.sql import counting, sources
from sfumato.engines.sql.expressions import Writer, position
from sfumato.errors import Refused
from sfumato.plan.expressions import Arithmetic, Column, Number
from sfumato.plan.kinds import kind_of
from sfumato.plan.lattice import Lattice
from sfumato.plan.nodes import Grid, Histogram, Measure, Plan
from sfumato.plan.sources import Computed, Folded, PerUnit, Rows
from sfumato.plan.walk import parts
from sfumato.schema.columns import Float, Int
from sfumato.schema.table import Schema
from sfumato.schema.unit import Person, Row, Unit
from tests.emitter import emit, numbers_of

PERSON = Person("who", max_rows=2, max_groups=2)
SCHEMA = Schema("people", PERSON, {"x": Int(0, 9), "z": Float(0, 9)})
HISTOGRAM = Histogram(Grid(Column("x"), Fraction(0), Fraction(9), 3))


def counted(unit: Any) -> Plan:
    return Plan("people", unit, None, (), (Measure(HISTOGRAM, "laplace", Fraction(1)),))


STRANGE: Any = object()
FOLD = Folded("f", STRANGE, Column("x"), Lattice(0, 9, 0))
UNKNOWN: dict[str, Callable[[], object]] = {
    "unit": lambda: emit(replace(numbers_of(counted(Row())), unit=STRANGE), SCHEMA),
    "key": lambda: position(STRANGE, "k0", DUCKDB),
    "source": lambda: sources.write_source(STRANGE, SCHEMA, DUCKDB),
    "fold": lambda: sources._fold(FOLD, "v0", 2, DUCKDB),
    "expression": lambda: Writer(SCHEMA, DUCKDB).value(STRANGE),
    "condition": lambda: Writer(SCHEMA, DUCKDB).condition(STRANGE),
    "kind": lambda: kind_of(STRANGE, SCHEMA),
    "parts": lambda: parts(STRANGE),
}


@pytest.mark.parametrize("what", UNKNOWN)
def test_an_unknown_node_is_an_error_and_never_sql(what: str) -> None:
    with pytest.raises(AssertionError, match="unreachable"):
        UNKNOWN[what]()


@pytest.mark.parametrize("unit", [Row(), PERSON])
def test_what_is_not_counted_has_no_sql(unit: Unit) -> None:
    schema = Schema("people", unit, SCHEMA.columns)
    strange = replace(numbers_of(counted(unit)), cells=None, counted=(HISTOGRAM,))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="no SQL for Histogram here"):
        emit(strange, schema)
    with pytest.raises(ValueError, match="no SQL for Histogram here"):
        counting._share(strange, 0, DUCKDB)


def test_rows_of_a_person_are_not_put_together_where_nobody_is_a_person() -> None:
    schema = Schema("people", Row(), SCHEMA.columns)
    with pytest.raises(Refused, match="puts rows of a person together"):
        sources.write_source(PerUnit("people", None, (FOLD,), 2), schema, DUCKDB)


@pytest.mark.parametrize(("declared", "kind"), [(Int(0, 9), "BIGINT"), (Float(0, 9), "DOUBLE")])
def test_a_computed_number_has_the_type_that_is_declared(declared: Int | Float, kind: str) -> None:
    value = Arithmetic("+", Column("x"), Number(Fraction(1)))
    written = sources.write_source(Rows("people", None, (Computed("y", value, declared),)), SCHEMA, DUCKDB)
    assert f'AS {kind}) AS "y"' in written
