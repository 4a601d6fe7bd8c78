"""One table with everything in it, and every small plan about it."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import product

import pyarrow as pa

from sfumato.plan.expressions import (
    AllOf,
    AnyOf,
    Arithmetic,
    Column,
    Comparison,
    Condition,
    IsNull,
    Negative,
    Not,
    Number,
    OneOf,
    String,
)
from sfumato.plan.lattice import Lattice
from sfumato.plan.nodes import CentredSum, CountRows, CountValues, Measure, Plan, Sum
from sfumato.query.bind_expressions import bind_value
from sfumato.query.sql import parse
from sfumato.schema.table import Schema
from sfumato.schema.unit import Person, Row
from tests.contract.random_plans import KEYS
from tests.contract.random_tables import COLUMNS, SCHEMA, UNIT_ID

NAN, INF = float("nan"), float("inf")

TABLE = pa.table(
    {
        UNIT_ID: pa.array(["ann"] * 7 + ["bob"] * 7 + ["cy"] * 3 + [None] * 2),
        "small": pa.array([0, 0, 0, 1, 1, 9, None, 0, 0, 0, 0, 0, 0, 0, 2, 2, -2, 0, 1], pa.int64()),
        "whole": pa.array([100, 100, 9, 9, -7, 3, 3, -9, -9, -9, -9, -9, -9, 10, None, 4, -5, 100, 100], pa.int64()),
        "real": pa.array(
            [
                0.25,
                0.75,
                1.25,
                NAN,
                NAN,
                None,
                NAN,
                -INF,
                -1e308,
                -3.0,
                0.5,
                -0.25,
                -1.75,
                NAN,
                1e308,
                -0.0,
                3.5,
                1.0,
                INF,
            ]
        ),
        "flag": pa.array(["true", "false", None, None] * 4 + ["true"] * 3),
        "note": pa.array(["it's", "", None, "a;b"] * 4 + ["it's"] * 3),
    }
)
CONDITIONS: tuple[Condition | None, ...] = (
    None,
    Comparison(">", Column("real"), Number(Fraction(1))),
    Not(Comparison(">", Column("real"), Number(Fraction(1)))),
    IsNull(Column("real")),
    IsNull(Arithmetic("/", Column("whole"), Column("small"))),
    AnyOf((Comparison("=", Column("note"), String("it's")), Comparison("<", Column("whole"), Column("small")))),
    AllOf((Not(OneOf(Column("note"), (String(""),))), Comparison("<>", Column("flag"), String("true")))),
)
UNITS = (Person(UNIT_ID, 4, 4), Row(), Person(UNIT_ID, 50, 7))
AGGREGATES = (
    CountRows(),
    CountValues(Column("real")),
    Sum(Column("whole"), Lattice(-5, 10, 0)),
    Sum(Column("real"), Lattice(-4, 7, -1)),
    Sum(Arithmetic("*", Column("real"), Column("whole")), Lattice(-30, -3, 1)),
    Sum(Arithmetic("/", Column("whole"), Column("small")), Lattice(2, 50, 0)),
    CentredSum(Column("whole"), Lattice(-5, 10, 0)),
    CentredSum(Negative(Column("real")), Lattice(1, 8, -2)),
    *(
        Sum(bind_value(parse(f"SELECT SUM({text}) FROM people").selected[0].call.value, SCHEMA), Lattice(-40, 40, -1))
        for text in (
            "ROUND(real, 1) + ROUND(whole, -1)",
            "LEAST(real, whole, small)",
            "LN(real) + SQRT(real)",
            "POWER(small, -1)",
            "SIGN(real)",
            "COALESCE(real, small)",
            "CASE WHEN real > 1 THEN 1 WHEN real <= 1 THEN 2 ELSE 3 END",
            "CASE WHEN note LIKE '_t%_s' THEN 1 WHEN note LIKE '%;%' THEN 2 END",
            "whole % 4",
            "LENGTH(note || flag)",
        )
    ),
)


def plans_about_everything() -> Iterator[tuple[Plan, Schema]]:
    columns = {name: COLUMNS[name] for name in TABLE.column_names if name != UNIT_ID}
    measures = tuple(Measure(aggregate, "laplace", Fraction(1)) for aggregate in AGGREGATES)
    for unit, keys, where in product(UNITS, ((), KEYS[3:4], KEYS[2:4]), CONDITIONS):
        yield Plan("people", unit, where, keys, measures), Schema("people", unit, columns)
