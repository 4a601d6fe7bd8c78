"""Random tables and plans, and one table with everything in it, for `check_engine` to ask about."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import date, datetime
from fractions import Fraction
from itertools import product
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

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
from sfumato.plan.functions import FUNCTIONS, TRUNCATIONS, UNITS
from sfumato.plan.lattice import Lattice
from sfumato.plan.nodes import CentredSum, CountRows, CountValues, Key, ListedKey, Measure, Plan, RangeKey, Sum
from sfumato.query.bind_expressions import bind_value
from sfumato.query.bind_keys import bind_key
from sfumato.query.sql import parse
from sfumato.schema.columns import Category, Date, Declared, Float, Int, Text
from sfumato.schema.table import Schema
from sfumato.schema.unit import Person, Row
from tests.reference import evaluate

REPEATABLE = settings(
    derandomize=True, database=None, deadline=None, max_examples=50, suppress_health_check=[HealthCheck.too_slow]
)

AWKWARD = (
    "plain",
    "it's",
    'say "x"',
    "a;b",
    "--",
    "/*",
    "",
    " plain",
    "Plain",
    "naïve",
    "日本",
    "🙂",
    "\\",
    "%",
    "NULL",
)
NUMBERED = (-1, 0, 3, 2**63 - 1)

COLUMNS: dict[str, Declared] = {
    "small": Int(-2, 3),
    "whole": Int(-5, 10),
    "large": Int(-(2**40), 2**40),
    "free": Int(),
    "real": Float(-2, 3.5),
    "wide": Float(-1e90, 1e90),
    "kind": Category(AWKWARD[:9]),
    "code": Category(NUMBERED),
    "flag": Category([True, False]),
    "note": Text(),
    "born": Date("1999-12-31", "2000-03-01"),
    "seen": Date(),
}
NUMBERS = ("small", "whole", "large", "free", "real", "wide", "code")
TEXTS = ("kind", "flag", "note")
DATES = ("born", "seen")
UNIT_ID = "who"
NAN, INF = float("nan"), float("inf")


INT_TYPES = {
    "TINYINT": pa.int8(),
    "SMALLINT": pa.int16(),
    "INTEGER": pa.int32(),
    "BIGINT": pa.int64(),
    "UTINYINT": pa.uint8(),
    "USMALLINT": pa.uint16(),
    "UINTEGER": pa.uint32(),
    "UBIGINT": pa.uint64(),
}


def edges(name: str) -> list[int]:
    """What the type can hold at its ends, and around the ends of the declared bounds and of 31, 53 and 63 bits."""
    if name == "HUGEINT":
        low, high = -(2**127), 2**127 - 1
    else:
        bits = INT_TYPES[name].bit_width
        low, high = (0, 2**bits - 1) if name.startswith("U") else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    around = [0, 10, -5, 3, -2, 2**31, -(2**31), 2**40, 2**53, -(2**53), 2**62, 2**63, 2**64, low, high]
    return sorted({value + step for value in around for step in (-1, 0, 1) if low <= value + step <= high})


@st.composite
def int_columns(draw: st.DrawFn, rows: int) -> pa.Array:
    name = draw(st.sampled_from([*INT_TYPES, "HUGEINT"]))
    values = st.one_of(st.none(), st.sampled_from(edges(name)), st.integers(0, 12))
    drawn = draw(st.lists(values, min_size=rows, max_size=rows))
    return pd.Series(drawn, dtype=object) if name == "HUGEINT" else pa.array(drawn, INT_TYPES[name])


@st.composite
def real_columns(draw: st.DrawFn, rows: int) -> pa.Array:
    kind = draw(st.sampled_from([pa.float64(), pa.float32()]))
    special = [0.0, -0.0, 0.5, 1.5, 2.5, -2.0, 3.5, 1e-300, 1e308, -1e308]
    values = st.one_of(
        st.none(),
        st.sampled_from([float("nan"), float("inf"), float("-inf"), *special]),
        st.floats(-4, 4, width=32),
        st.floats(),
    )
    drawn = draw(st.lists(values, min_size=rows, max_size=rows))
    if kind == pa.float32():
        return pa.array(drawn, pa.float64()).cast(pa.float32(), safe=False)
    return pa.array(drawn, kind)


@st.composite
def text_columns(draw: st.DrawFn, rows: int) -> pa.Array:
    values = st.one_of(st.none(), st.sampled_from([*AWKWARD, "undeclared", "a\x00b", "x" * 40]))
    drawn = pa.array(draw(st.lists(values, min_size=rows, max_size=rows)), pa.string())
    return drawn.dictionary_encode() if draw(st.booleans()) else drawn


@st.composite
def flag_columns(draw: st.DrawFn, rows: int) -> pa.Array:
    if draw(st.booleans()):
        return pa.array(draw(st.lists(st.sampled_from([True, False, None]), min_size=rows, max_size=rows)), pa.bool_())
    values = st.sampled_from(["true", "false", None])
    return pa.array(draw(st.lists(values, min_size=rows, max_size=rows)), pa.string())


@st.composite
def code_columns(draw: st.DrawFn, rows: int) -> pa.Array:
    values = st.sampled_from([*NUMBERED, 4, None])
    return pa.array(draw(st.lists(values, min_size=rows, max_size=rows)), pa.int64())


@st.composite
def date_columns(draw: st.DrawFn, rows: int) -> pa.Array:
    """Days, times and texts; what is no day is NULL."""
    days = [
        date(1, 1, 1),
        date(1999, 12, 31),
        date(2000, 2, 29),
        date(2000, 3, 1),
        date(2020, 12, 31),
        date(9999, 12, 31),
    ]
    drawn = draw(st.lists(st.one_of(st.none(), st.sampled_from(days), st.dates()), min_size=rows, max_size=rows))
    match draw(st.sampled_from(["date", "time", "text"])):
        case "date":
            return pa.array(drawn, pa.date32())
        case "time":
            times = [None if day is None else datetime(day.year, day.month, day.day, 23, 59) for day in drawn]
            return pa.array(times, pa.timestamp("us"))
        case _:
            broken = st.sampled_from(["", "2000-02-30", "yesterday", "infinity", "2000-13-01", "2000-02-29 23:59:00"])
            texts = [draw(broken) if day is None else day.isoformat() for day in drawn]
            return pa.array(texts, pa.string())


@st.composite
def id_columns(draw: st.DrawFn, rows: int) -> pa.Array:
    values = draw(st.sampled_from([("ann", "bob", "o'hara", None), (1, 2, 2**62, None)]))
    return pa.array(draw(st.lists(st.sampled_from(values), min_size=rows, max_size=rows)))


@st.composite
def tables(draw: st.DrawFn) -> dict[str, Any]:
    rows = draw(st.integers(0, 12))
    table: dict[str, Any] = {UNIT_ID: draw(id_columns(rows))}
    for name, declared in COLUMNS.items():
        match declared:
            case Int():
                table[name] = draw(int_columns(rows))
            case Float():
                table[name] = draw(real_columns(rows))
            case Text():
                table[name] = draw(text_columns(rows))
            case Date():
                table[name] = draw(date_columns(rows))
            case _:
                table[name] = draw({"kind": text_columns, "code": code_columns, "flag": flag_columns}[name](rows))
    return table


def frame_of(table: dict[str, Any]) -> Any:
    """Arrow, unless a column is wider than Arrow's integers: pandas then, whose objects become HUGEINT."""
    if all(isinstance(column, pa.Array) for column in table.values()):
        return pa.table(table)
    return pd.DataFrame({name: pd.Series(list_of(column), dtype=object) for name, column in table.items()})


def list_of(column: Any) -> list[Any]:
    return column.to_pylist() if isinstance(column, pa.Array) else column.tolist()


def rows_of(table: dict[str, Any]) -> list[dict[str, Any]]:
    lists = {name: list_of(column) for name, column in table.items()}
    # What is longer than every value of a category is NULL when it is read.
    most = max(len(value.encode()) for value in AWKWARD[:9])
    lists["kind"] = [None if text is None or len(text.encode()) > most else text for text in lists["kind"]]
    if not isinstance(frame_of(table), pa.Table):
        # Columns of objects are read as texts, whose whole numbers go to the ends of 64 bits.
        for name in (name for name, declared in COLUMNS.items() if isinstance(declared, Int) and name in lists):
            lists[name] = [None if value is None else min(max(value, -(2**63)), 2**63 - 1) for value in lists[name]]
    return [dict(zip(lists, values, strict=True)) for values in zip(*lists.values(), strict=True)]


@st.composite
def literals(draw: st.DrawFn) -> Number:
    choices = [
        *(Fraction(value) for value in (0, 1, -1, 3, 10, 2**31, 2**53, -(2**53) - 1, 2**63 - 1, 2**63, -(2**64))),
        *(Fraction(text) for text in ("1/10", "5/2", "-7/2", "1/3")),
        Fraction(10) ** 100,
    ]
    return Number(draw(st.sampled_from(choices)))


ARGUMENTS: dict[str, st.SearchStrategy[Expression]] = {
    "digits": st.sampled_from([-15, -2, 0, 1, 3, 15]).map(lambda n: Number(Fraction(n))),
    "place": st.sampled_from([1, 2, 4, 10_000]).map(lambda n: Number(Fraction(n))),
    "length": st.sampled_from([0, 1, 3, 10_000]).map(lambda n: Number(Fraction(n))),
    "divisor": st.sampled_from(["1", "-3", "5/2", "1/10", "-1000000"]).map(lambda n: Number(Fraction(n))),
    "exponent": st.sampled_from(["0", "1", "2", "3", "-1", "-2", "1/2", "-5/2", "10"]).map(
        lambda n: Number(Fraction(n))
    ),
    "truncation": st.sampled_from(TRUNCATIONS).map(String),
    "unit": st.sampled_from(UNITS).map(String),
}
PATTERNS = (
    "%_a_n",
    "%t__",
    "%(_[",
    "_%._",
    "%",
    "_",
    "plain",
    "%a%",
    "p_a%n",
    "%__",
    "",
    "\\%",
    "it's",
    "%%i",
    "日_",
    "100%",
    "N%L",
    "%\\",
    "P",
)
# libm and the engine may differ in the last bit of these.
INEXACT = {"LN", "LOG10", "EXP", "POWER"}


def _listed(values: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(values, min_size=1, max_size=3).map(tuple)


def calls(gives: str, numbers: Any, texts: Any, dates: Any) -> st.SearchStrategy[Expression]:
    """Every function that gives a number, a text or a date, with arguments of the right kinds."""
    kinds = {"number": numbers, "text": texts, "date": dates}
    found: list[st.SearchStrategy[Expression]] = []
    for name, function in FUNCTIONS.items():
        if function.gives not in (gives, "same"):
            continue
        if name == "REPLACE":
            changes = st.sampled_from([("a", "b"), ("pl", ""), ("日", "it"), ("本", "é")])
            found.append(st.builds(lambda text, pair: Call("REPLACE", (text, *map(String, pair))), texts, changes))
            continue
        takes = [*function.takes, function.takes[-1]] if function.more else list(function.takes)
        arguments = [kinds[gives] if each == "same" else {**kinds, **ARGUMENTS}[each] for each in takes]
        found.append(st.tuples(*arguments).map(lambda given, name=name: Call(name, given)))
    return st.one_of(found)


def cases(values: st.SearchStrategy[Expression], tests: st.SearchStrategy[Condition]) -> st.SearchStrategy[Expression]:
    return st.builds(Case, _listed(st.tuples(tests, values)), st.one_of(st.none(), values))


plain_numbers = st.one_of(st.sampled_from([Column(name) for name in NUMBERS]), literals())
plain_texts = st.one_of(
    st.sampled_from([Column(name) for name in TEXTS]),
    st.builds(String, st.sampled_from([*AWKWARD, "true", "false", "undeclared"])),
)
plain_dates = st.one_of(
    st.sampled_from([Column(name) for name in DATES]),
    st.sampled_from([Day("2000-02-29"), Day("0001-01-01"), Day("9999-12-31")]),
)
ORDERS = ["=", "<>", "<", "<=", ">", ">="]
tests = st.one_of(
    st.builds(Comparison, st.sampled_from(ORDERS), plain_numbers, plain_numbers),
    st.builds(Comparison, st.sampled_from(["=", "<>"]), plain_texts, plain_texts),
    st.builds(IsNull, plain_numbers),
)
dates: st.SearchStrategy[Expression] = st.one_of(
    plain_dates,
    calls("date", plain_numbers, plain_texts, plain_dates),
    cases(plain_dates, tests),
)
textual: st.SearchStrategy[Expression] = st.recursive(
    plain_texts,
    lambda inner: st.one_of(calls("text", plain_numbers, inner, plain_dates), cases(inner, tests)),
    max_leaves=3,
)
numeric: st.SearchStrategy[Expression] = st.recursive(
    plain_numbers,
    lambda inner: st.one_of(
        st.builds(Negative, inner),
        st.builds(Arithmetic, st.sampled_from(["+", "-", "*", "/"]), inner, inner),
        calls("number", inner, textual, dates),
        cases(inner, tests),
    ),
    max_leaves=4,
)


conditions: st.SearchStrategy[Condition] = st.recursive(
    st.one_of(
        st.builds(Comparison, st.sampled_from(ORDERS), numeric, numeric),
        st.builds(Comparison, st.sampled_from(["=", "<>"]), textual, textual),
        st.builds(Comparison, st.sampled_from(ORDERS), dates, dates),
        st.builds(OneOf, numeric, _listed(literals())),
        st.builds(OneOf, textual, _listed(st.builds(String, st.sampled_from(AWKWARD)))),
        st.builds(OneOf, dates, _listed(st.just(Day("2000-02-29")))),
        st.builds(Matches, st.sampled_from(["like", "starts", "ends", "contains"]), textual, st.sampled_from(PATTERNS)),
        st.builds(IsNull, st.one_of(numeric, textual, dates)),
    ),
    lambda inner: st.one_of(st.builds(Not, inner), st.builds(AllOf, _listed(inner)), st.builds(AnyOf, _listed(inner))),
    max_leaves=4,
)

lattices = st.one_of(
    st.sampled_from(
        [
            Lattice(-5, 10, 0),
            Lattice(2, 5, 0),
            Lattice(-5, -2, 0),
            Lattice(0, 7, -1),
            Lattice(-(2**31) + 1, 2**31 - 1, -29),
            Lattice.covering(Fraction(-(2**40)), Fraction(2**40), whole=True),
            Lattice.covering(Fraction(-1, 3), Fraction(1, 7), whole=False),
            Lattice.covering(Fraction(-(10**90)), Fraction(10**90), whole=False),
        ]
    ),
    st.builds(lambda low, width, exponent: Lattice(low, low + width, exponent), st.integers(-20, 20), st.integers(1, 9),
              st.integers(-3, 3)),
)  # fmt: skip

aggregates = st.one_of(
    st.just(CountRows()),
    st.builds(CountValues, st.one_of(numeric, textual, dates)),
    st.builds(Sum, numeric, lattices),
    st.builds(CentredSum, numeric, lattices),
)

SCHEMA = Schema("people", Row(), COLUMNS)
KEYS: tuple[Key, ...] = (
    ListedKey(Column("kind"), AWKWARD[:9]),
    ListedKey(Column("code"), NUMBERED),
    ListedKey(Column("flag"), (True, False)),
    RangeKey(Column("small"), -2, 3),
    RangeKey(Column("free"), 2**62, 2**62 + 2),
    RangeKey(Column("whole"), -5, 10),
    *(
        bind_key(bind_value(parse(f"SELECT COUNT(*) FROM people GROUP BY {key}").keys[0], SCHEMA), SCHEMA)
        for key in (
            "BIN(whole, 4)",
            "BIN(real, 0.1)",
            "ROUND(large, -11)",
            "3 + BIN(whole - 3, 5)",
            "whole % 3",
            "SIGN(wide)",
            "FLOOR(ABS(real))",
            "GREATEST(LEAST(free, 3), -1)",
            "CASE WHEN real > 0 THEN 1 WHEN whole > 0 THEN 7 WHEN small > 1 THEN -2 END",
            "CASE WHEN note LIKE '%l%' THEN kind ELSE 'else' END",
            "COALESCE(flag, 'unknown')",
            "UPPER(CASE WHEN whole > 3 THEN 'plain' ELSE 'it''s' END)",
            "born",
            "DATE_TRUNC('week', born)",
            "DATE_TRUNC('month', born)",
            "YEAR(born)",
            "DAYOFWEEK(seen)",
            "WEEK(seen)",
            "DATE_DIFF('month', born, '2000-01-01')",
        )
    ),
)
units = st.sampled_from(
    [Row(), Person(UNIT_ID, 1, 1), Person(UNIT_ID, 3, 2), Person(UNIT_ID, 5, 3), Person(UNIT_ID, 4, 4)]
)


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    measures = tuple(
        Measure(aggregate, "laplace", Fraction(1)) for aggregate in draw(st.lists(aggregates, min_size=1, max_size=3))
    )
    keys = tuple(draw(st.lists(st.sampled_from(KEYS), max_size=2, unique=True)))
    return Plan("people", draw(units), draw(st.one_of(st.none(), conditions)), keys, measures)


def schema_for(unit: Row | Person) -> Schema:
    return Schema("people", unit, COLUMNS)


def groups_of_each_person(plan: Plan, rows: list[dict[str, Any]]) -> dict[Any, int]:
    """How many groups each person has without any bound."""
    count_rows = Measure(CountRows(), "laplace", Fraction(1))
    unbounded = replace(plan, unit=Person(UNIT_ID, 10**6, 10**6), measures=(count_rows,))
    schema = schema_for(unbounded.unit)
    people = {row[UNIT_ID] for row in rows} - {None}
    return {
        person: sum(
            count > 0 for (count,) in evaluate(unbounded, schema, [row for row in rows if row[UNIT_ID] == person])
        )
        for person in people
    }


@st.composite
def crowded_tables(draw: st.DrawFn) -> dict[str, Any]:
    """Few people in many groups."""
    rows = draw(st.integers(6, 12))

    def column(values: list[Any], kind: pa.DataType) -> pa.Array:
        return pa.array(draw(st.lists(st.sampled_from(values), min_size=rows, max_size=rows)), kind)

    return {
        UNIT_ID: column(["ann", "bob", "bob", None], pa.string()),
        "kind": column([*AWKWARD[:6], "undeclared", None], pa.string()),
        "flag": column([True, False, None], pa.bool_()),
        "whole": column([-100, -5, 1, 10, 100, None], pa.int16()),
        "real": column([float("-inf"), -2.0, 0.25, 3.0, float("nan"), None], pa.float64()),
    }


def rows_of_one(table: dict[str, Any], person: Any) -> pa.Table:
    whole = pa.table(table)
    return whole.filter(pc.equal(whole[UNIT_ID], person))


# ---- one table with everything in it

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
