"""A table and plans about the leaves of a dialect: halves, NaN, patterns, dates, shares, keys that are not declared."""

from collections.abc import Iterator
from datetime import date
from fractions import Fraction

import pyarrow as pa

from sfumato.plan.expressions import Case, Column, Expression, Matches, Number, Pick, String, UnitPart
from sfumato.plan.lattice import Lattice
from sfumato.plan.nodes import (
    Aggregate,
    CentredSum,
    CountRows,
    CountValues,
    Cross,
    Grid,
    Key,
    ListedKey,
    Measure,
    Plan,
    RangeKey,
    Sum,
)
from sfumato.query.bind_expressions import bind_value
from sfumato.query.sql import parse
from sfumato.schema.columns import Category, Date, Float, Int, Text
from sfumato.schema.table import Schema
from sfumato.schema.unit import Person, Row

NAN, INF = float("nan"), float("inf")
COLUMNS = {
    "real": Float(-8, 8),
    "whole": Int(-5, 10),
    "note": Text(),
    "seen": Date(),
    "kind": Category(("it's", "b", '"')),
}
REALS = [0.25, 0.75, 1.25, 2.5, -0.25, -0.75, -2.5, 0.5, -0.5, 1.5, NAN, INF, -INF, None, 3.0, 1e300, -1e-300, 7.75]
NOTES = [
    "\\",
    "a\\b",
    "a%b",
    "a_b",
    "it's",
    "ab",
    "bab",
    "",
    None,
    "🙂é",
    "a\\%",
    "%",
    "B",
    "a",
    "b",
    "aab",
    "ba",
    "xay",
]
DAYS = [date(2023, 12, 31), date(2024, 1, 1), date(2024, 2, 29), date(2021, 1, 3), None, date(1999, 12, 31)]
TABLE = pa.table(
    {
        "who": pa.array([1] * 7 + [2] * 6 + [3, 3, 4, None, 5], pa.int64()),
        "real": pa.array(REALS, pa.float64()),
        "whole": pa.array([1, -7, 3, 0, 12, None, 2, 7, -1, 5, 5, 5, 0, 4, -5, 10, 9, 3], pa.int64()),
        "note": pa.array(NOTES, pa.string()),
        "seen": pa.array(DAYS * 3, pa.date32()),
        "kind": pa.array(["it's", "b", '"', "none", None, "it's"] * 3, pa.string()),
    }
)
PATTERNS = ("a\\%", "a_b", "%\\%", "a%", "%b", "_", "", "\\")
NUMBERS = (
    "real",
    "whole",
    "ROUND(real)",
    "ROUND(real, 1)",
    "FLOOR(real)",
    "CEIL(real)",
    "SIGN(real)",
    "real * whole",
    "whole / real",
    "whole / (whole - 5)",
    "-real",
    "SQRT(whole)",
    "POWER(real, 2)",
    "POWER(whole, -1)",
    "real % 0.5",
    "whole % 3",
    "LENGTH(note)",
    "YEAR(seen) - 2000",
    "QUARTER(seen)",
    "MONTH(seen)",
    "WEEK(seen)",
    "DAY(seen)",
    "DAYOFWEEK(seen)",
    "ISODOW(seen)",
    "DAYOFYEAR(seen) / 10",
    "DATE_DIFF('day', seen, '2024-01-01') / 100",
    "DATE_DIFF('month', seen, '2024-01-01')",
    "DATE_DIFF('year', '2021-06-01', seen)",
    "DAY(DATE_TRUNC('week', seen))",
    "MONTH(DATE_TRUNC('quarter', seen))",
)
SCHEMA = Schema("people", Row(), COLUMNS)
KEYS: tuple[tuple[Key, ...], ...] = (
    (),
    (ListedKey(Column("kind"), ("it's", "b", '"')),),
    (RangeKey(Column("whole"), -5, 10),),
)
UNITS = (Row(), Person("who", 100, 100), Person("who", 4, 4))


REAL = Grid(Column("real"), Fraction(-3), Fraction(5), 4)
KIND, WHOLE = ListedKey(Column("kind"), ("it's", "b", '"')), RangeKey(Column("whole"), -5, 10)
PICKED = (
    Pick(REAL, (7, -3, 0, 5)),
    Pick(KIND, (1, 2, 4)),
    Pick(KIND, (1, 2, 4), -9),
    Pick(WHOLE, tuple(range(-8, 8))),
    Pick(Cross((REAL, KIND)), tuple(range(12)), 12),
    Pick(RangeKey(Column("real"), -2, 2, Fraction(1, 2)), (2**31, -(2**40), 3, 2**53, -(2**53))),
    UnitPart(0, 5),
    UnitPart(2**63 - 1, 65536),
    UnitPart(1, 1),
)


def value(text: str) -> Expression:
    return bind_value(parse(f"SELECT SUM({text}) FROM people").selected[0].call.value, SCHEMA)


def _matching(kind: str, pattern: str) -> Sum:
    one = Number(Fraction(1))
    return Sum(Case(((Matches(kind, Column("note"), pattern), one),), Number(Fraction(2))), Lattice(0, 2, 0))  # type: ignore[arg-type]


def aggregates() -> Iterator[Aggregate]:
    yield CountRows()
    for text in NUMBERS:
        yield Sum(value(text), Lattice(-80, 90, -1))
        yield CountValues(value(text))
    for picked in PICKED:
        yield Sum(picked, Lattice(-(2**20), 2**20, 0))
        yield CountValues(picked)
    yield CentredSum(Column("real"), Lattice(-4, 9, -1))
    yield CentredSum(Column("whole"), Lattice(-5, 10, 0))
    for kind in ("like", "starts", "ends", "contains"):
        yield from (_matching(kind, pattern) for pattern in PATTERNS)
    yield CountValues(Case(((Matches("contains", Column("note"), "'"), String("it's")),), None))


def plans() -> Iterator[tuple[Schema, list[Plan]]]:
    """Of each unit a schema and its plans; nobody has more groups than a person may."""
    measures = tuple(Measure(aggregate, "laplace", Fraction(1)) for aggregate in aggregates())
    for unit in UNITS:
        keys = KEYS if unit != UNITS[2] else KEYS[:2]
        yield Schema("people", unit, COLUMNS), [Plan("people", unit, None, each, measures) for each in keys]
