"""Plans over several tables: the engine returns the reference's integers; an emitter with a fault does not."""

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.errors import EngineFailed, Refused
from sfumato.kernel.certify import certify
from sfumato.plan.expressions import Column, Comparison, Number
from sfumato.plan.lattice import Lattice
from sfumato.plan.nodes import CountRows, CountValues, Measure, Plan, Sum
from sfumato.plan.sources import Computed, Folded, Lookup, OnUnit, PerUnit, Rows, Source, Taken
from sfumato.schema.columns import Float, Int
from sfumato.schema.table import Schema
from sfumato.schema.unit import Person, Row
from tests.emitter import emit, sql_of, write_source
from tests.engines import several
from tests.engines.brute_force import twin
from tests.engines.several import opened, run, schema_of
from tests.reference import evaluate

REPEATABLE = settings(
    derandomize=True, database=None, deadline=None, max_examples=50, suppress_health_check=list(HealthCheck)
)


@REPEATABLE
@given(tables=several.tables, plans=st.lists(several.plans(), min_size=4, max_size=8))
def test_the_engine_returns_the_integers_of_the_reference(tables: Any, plans: list[Plan]) -> None:
    with opened(tables) as engine:
        for plan in plans:
            schema = schema_of(plan.unit)
            certify(plan, schema, "epsilon")
            assert run(engine, plan) == evaluate(plan, schema, tables), sql_of(plan, schema)


# ---- one set of tables with everything in it, and emitters with one fault each

NAN, INF = float("nan"), float("inf")
TABLES = several.PUBLIC_ROWS | {
    "people": [
        {"who": who, "letter": letter, "x": x, "z": z}
        for who, letter, x, z in (
            (1, "a", 3, 0.25),
            (1, "b", 9, NAN),
            (1, "z", -9, INF),
            (2, None, 1, None),
            (2, "a", None, -7.0),
            (3, "c", 2, 1.0),
            *[(4, letter, x, x + 0.5) for letter, x in (("a", 1), ("b", 2), ("c", 1), ("a", 3), ("b", 0))],
            (None, "a", 3, 2.0),
        )
    ],
    "visits": [
        {"who": who, "day": day, "cost": cost, "x": x}
        for who, day, cost, x in (
            *[(1, 1, 4.0, 1)] * 5,
            (1, 0, -INF, 0),
            (2, 9, NAN, None),
            (2, 2, 1.5, 7),
            (3, 1, NAN, 1),
            *[(4, 0, -9.0, 1)] * 6,
            (9, 1, 3.0, 1),
            (None, 1, 4.0, 1),
        )
    ],
}
X = Column("x")
WIDE, HALVES = Lattice(-2, 3, 0), Lattice(-4, 7, -1)
ABOVE_ZERO = Comparison(">", X, Number(Fraction(0)))
FOLDS = tuple(
    Folded(how, how, Column("cost"), HALVES if how in ("sum", "mean") else Lattice(-1, 4, 0))
    for how in ("count", "sum", "mean", "least", "most")
)
SOURCES: tuple[Source, ...] = (
    Rows("people", ABOVE_ZERO, (Computed("x", X, Int(-2, 3)), Computed("z", Column("z"), Float(-1, 2.5)))),
    Lookup("people", "letters", "letter", (Taken("weight", "weight"),), False),
    Lookup("people", "letters", "letter", (Taken("weight", "weight"),), True),
    Lookup("visits", "days", "day", (Taken("key", "day"),), False),
    PerUnit("visits", None, FOLDS, 4),
    PerUnit("visits", ABOVE_ZERO, FOLDS, 4),
    PerUnit("people", None, (Folded("whole", "sum", X, WIDE),), 4),
    OnUnit("people", "visits", (Taken("cost", "cost"),), True, 4, 4),
    OnUnit("people", "visits", (Taken("cost", "cost"),), False, 4, 4),
    OnUnit("people", PerUnit("visits", None, FOLDS, 4), (Taken("sum", "sum"),), False, 4, 1),
)


def plans_about(source: Source) -> Iterator[Plan]:
    columns = several.derive(source, schema_of(Person("who", 4, 3))).columns
    numbers = [Column(name) for name, kind in columns.items() if isinstance(kind, Int | Float)]
    aggregates = [CountRows(), *map(CountValues, numbers), *(Sum(number, Lattice(-200, 200, -2)) for number in numbers)]
    measures = tuple(Measure(aggregate, "laplace", Fraction(1)) for aggregate in aggregates)
    for unit in (Person("who", 4, 3), Person("who", 100, 1)):
        yield Plan(source, unit, None, (), measures)


def differences(emitter: Any) -> Iterator[Plan]:
    with opened(TABLES) as engine:
        for source in SOURCES:
            for plan in plans_about(source):
                try:
                    if run(engine, plan, emitter) != evaluate(plan, schema_of(plan.unit), TABLES):
                        yield plan
                except EngineFailed:
                    yield plan


def test_the_emitter_agrees_with_the_reference_on_tables_with_everything_in_them() -> None:
    assert list(differences(emit)) == []


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        pytest.param("LEAST(GREATEST({total}, {low}), {high})", "{total}", id="sum of a person not clamped"),
        pytest.param("GREATEST({total}, {low})", "{total}", id="not clamped below"),
        pytest.param("LEAST(COUNT({value}), {integer(rows)})", "COUNT({value})", id="count not clamped"),
        pytest.param("CASE WHEN COUNT({value}) > 0 THEN {clamped} END", "{clamped}", id="NULL becomes a bound"),
        pytest.param("nullif(COUNT({value}), 0)", "COUNT(*)", id="mean over NULLs too"),
        pytest.param('kept = f"{person_id} IS NOT NULL"', 'kept = "TRUE"', id="nobody becomes a person"),
        pytest.param("'MIN' if each.how == 'least' else 'MAX'", "'MAX'", id="least is most"),
        pytest.param("if only_matched else", "if True else", id="rows without partner lost"),
        pytest.param("if only_matched else", "if False else", id="no inner join"),
        pytest.param("one_row_each(inner) or one_row_each(right)", "True", id="join not limited"),
        pytest.param("one_row_each(inner) or one_row_each(right)", "False", id="always limited"),
        pytest.param("OVER (PARTITION BY {unit} ORDER", "OVER (ORDER", id="limit of all people together"),
        pytest.param("WHERE t.{rank} <= {most}", "WHERE t.{rank} < {most}", id="one row too few"),
        pytest.param("ORDER BY {chosen}) AS {rank}", "ORDER BY -{chosen}) AS {rank}", id="other rows kept"),
        pytest.param('else f" WHERE {dialect.filter(writer.condition(where))}"', 'else ""', id="WHERE left out"),
        pytest.param("float(lattice.step), dialect", "1.0, dialect", id="steps not scaled"),
    ],
)  # fmt: skip
def test_an_emitter_with_a_fault_disagrees(right: str, wrong: str) -> None:
    assert any(differences(twin((right, wrong))))


NAMES = {"n": Int(0, 9), "u": Int(0, 9), "counts": Int(0, 999), "hash": Float()}


def joined(own: Sequence[int], others: Sequence[int], most: int = 3) -> Counter[tuple[Any, ...]]:
    """What a join of a table with itself makes of one person's rows; every name in it is one of the emitter's own."""
    rows = [(7, each) for each in own] + [(8 + each % 5, each) for each in others]
    columns = {"other": [who for who, _ in rows], "n": [each % 3 for _, each in rows], "u": [0] * len(rows)}
    columns |= {"counts": [each for _, each in rows], "hash": [0.5] * len(rows)}
    schema = Schema("side", Person("other", most + 1, 1), NAMES)
    source = OnUnit("side", "side", (Taken("t", "counts"),), True, most, most + 1)
    engine = DuckDBEngine(pa.table(columns), schema)
    try:
        return Counter(engine.run(f'SELECT counts, t FROM {write_source(source, schema)} AS t WHERE "other" = 7'))
    finally:
        engine.close()


@pytest.mark.parametrize(
    ("own", "pairs"),
    [(range(2), 4), (range(3), 9), (range(4), 12), (range(900), 12), ([5] * 900, 12), ([5, 5, 6, 6, 7], 12)],
)
def test_a_persons_rows_multiply_to_those_of_both_sides_at_most(own: Sequence[int], pairs: int) -> None:
    found = joined(own, ())
    assert found.total() == pairs
    # Which rows: those of the person decide, in whatever order, and nobody else's.
    assert found == joined(own[::-1], range(500)) == joined(own, range(0, 400, 5))
    kept = Counter({left: count for (left, right), count in found.items() if left == right})
    assert all(count <= own.count(value) ** 2 for value, count in kept.items())


def test_rows_of_a_person_are_not_put_together_where_each_row_is_somebody() -> None:
    for source, aggregate in product(SOURCES[4:], (CountRows(),)):
        plan = Plan(source, Row(), None, (), (Measure(aggregate, "laplace", Fraction(1)),))
        for act in (sql_of, lambda plan, schema: certify(plan, schema, "epsilon")):
            with pytest.raises(Refused, match=r"protects rows|another table"):
                act(plan, schema_of(Row()))
