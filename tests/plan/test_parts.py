"""What a plan is run as: in cells of every kind a person counts with max_rows rows, whatever they have."""

from fractions import Fraction

import pyarrow as pa
import pytest

from sfumato.engines.arrange import look
from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.kernel.mechanisms.protocol import CellCounts, Weighed
from sfumato.plan.counting import countings
from sfumato.plan.expressions import Column
from sfumato.plan.nodes import (
    Aggregate,
    BetweenEnds,
    CountDistinct,
    Cumulative,
    Grid,
    Histogram,
    Magnitudes,
    Measure,
    MostFrequent,
    Plan,
    Quantiles,
    UnboundedSum,
)
from sfumato.schema.columns import Int
from sfumato.schema.table import Schema
from sfumato.schema.unit import Person, Row
from tests.emitter import emit

MAX_ROWS = 4
UNIT = Person("who", max_rows=MAX_ROWS, max_groups=2)
SCHEMA = Schema("people", UNIT, {"x": Int(0, 100)})
LINE = Grid(Column("x"), Fraction(0), Fraction(100), 10)
AGGREGATES: dict[str, Aggregate] = {
    "histogram": Histogram(LINE),
    "cumulative": Cumulative(LINE),
    "quantiles": Quantiles(LINE, (Fraction(1, 2),)),
    "most frequent": MostFrequent(LINE),
    "distinct": CountDistinct(Column("x")),
    "unbounded sum": UnboundedSum(Magnitudes(Column("x"), 0, 8), Fraction(1, 2)),
    "between ends": BetweenEnds(
        Grid(Column("x"), Fraction(-100), Fraction(100), 20), Fraction(1), Fraction(1, 2), "bins"
    ),
}


def rows_counted(aggregate: Aggregate, values: list[int]) -> int:
    """How many rows of somebody with these values are counted, in all cells together."""
    plan = Plan("people", UNIT, None, (), (Measure(aggregate, "laplace", Fraction(1)),))
    engine = DuckDBEngine(pa.table({"who": [1] * len(values), "x": values}), SCHEMA)
    try:
        ((found,),) = look(engine, countings(plan), [emit(counting, SCHEMA) for counting in countings(plan)]).entries
    finally:
        engine.close()
    match found:
        case CellCounts(counts=counts) | Weighed(cells=CellCounts(counts=counts)):
            return int(counts.sum())
        case _:
            return int(found)


@pytest.mark.parametrize("name", AGGREGATES)
def test_a_person_counts_with_max_rows_rows_at_most(name: str) -> None:
    assert rows_counted(AGGREGATES[name], [5, 15, 25]) == 3
    assert rows_counted(AGGREGATES[name], list(range(0, 100, 5))) == MAX_ROWS


def test_a_counting_has_the_plans_unit() -> None:
    for unit in (Row(), UNIT):
        measures = tuple(Measure(aggregate, "laplace", Fraction(1)) for aggregate in AGGREGATES.values())
        for counting in countings(Plan("people", unit, None, (), measures)):
            assert type(counting.unit) is type(unit)
