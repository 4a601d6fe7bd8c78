"""Google DP #126 and #127: sums of doubles depend on the order of rows and round, so one row moves more than its bound.

Rule: values are rounded to a lattice one by one, and only whole numbers are added up.
"""

from fractions import Fraction
from itertools import permutations

import duckdb
import pyarrow as pa

import sfumato as sf
from sfumato.plan.expressions import Column
from sfumato.plan.lattice import Lattice
from sfumato.plan.nodes import Sum
from sfumato.schema.table import Schema
from tests.emitter import arrange, sql_of
from tests.museum.room import bounds_of, integers, plan_of

SCHEMA = Schema("people", sf.Row(), {"x": sf.Float(-(2**53), 2**53)})
LATTICE = Lattice.covering(Fraction(-(2**53)), Fraction(2**53), whole=False)
PLAN = plan_of(Sum(Column("x"), LATTICE))
VALUES = [2.0**53, 1.0, 1.0, -(2.0**53), 3.5]


def test_every_order_of_rows_gives_one_sum() -> None:
    sql = sql_of(PLAN, SCHEMA)
    ours, doubles = set(), set()
    with duckdb.connect(":memory:") as connection:
        for order in sorted(set(permutations(VALUES))):
            connection.register("people", pa.table({"x": order}))
            ours.add(tuple(arrange(PLAN, connection.execute(sql).fetchall())))
            doubles.add(connection.execute("SELECT SUM(x) FROM people").fetchall()[0][0])
    assert len(ours) == 1
    assert len(doubles) > 1, "the twin adds up doubles"


def test_repeated_rounding_never_adds_up() -> None:
    """A thousand rows, each just below half a step: rounded one by one they are 0, whatever else is in the table."""
    step = float(LATTICE.step)
    claim = bounds_of(PLAN, SCHEMA)[0]
    small = [step * 0.499] * 1_000
    without = integers(PLAN, SCHEMA, pa.table({"x": small}))[0][0]
    assert without == 0
    for value in (2.0**53, step, step / 2, step * 0.501, -step, 1e300):
        assert abs(integers(PLAN, SCHEMA, pa.table({"x": [value, *small]}))[0][0] - without) <= claim
