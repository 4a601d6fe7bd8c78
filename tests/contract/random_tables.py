"""Random tables with columns of every kind, and of every type such a column can have."""

from datetime import date, datetime
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from hypothesis import strategies as st

from sfumato.schema.columns import Category, Date, Declared, Float, Int, Text
from sfumato.schema.table import Schema
from sfumato.schema.unit import Row

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
SCHEMA = Schema("people", Row(), COLUMNS)


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
    # Whole numbers go to the ends of 64 bits.
    for name in (name for name, declared in COLUMNS.items() if isinstance(declared, Int) and name in lists):
        lists[name] = [None if value is None else min(max(value, -(2**63)), 2**63 - 1) for value in lists[name]]
    return [dict(zip(lists, values, strict=True)) for values in zip(*lists.values(), strict=True)]


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
