"""DuckDB as an engine: what it loads from where, how values are cast, how it fails, and what it cannot reach."""

import contextlib
import os
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset
import pyarrow.parquet
import pytest

from sfumato.engines.duckdb.dialect import DUCKDB
from sfumato.engines.duckdb.engine import DuckDBEngine, describe
from sfumato.engines.protocol import Query
from sfumato.engines.sql.counting import MOST_ADDED_UP
from sfumato.engines.sql.expressions import LARGEST_INTEGER
from sfumato.errors import DataUnreadable, EngineFailed, SfumatoError, UsageError
from sfumato.plan.expressions import Column, Comparison, Condition, Number, String
from sfumato.plan.lattice import LARGEST, Lattice
from sfumato.plan.nodes import CentredSum, CountRows, CountValues, Key, ListedKey, Measure, Plan, RangeKey, Sum
from sfumato.schema.columns import Category, Declared, Float, Identifier, Int, Text
from sfumato.schema.table import Schema
from sfumato.schema.unit import Person, Row, Unit
from tests.emitter import arrange, sql_of
from tests.engines.stores import stored_as

CANARY = "canary-7351"
WHO = "who"


def schema_of(unit: Unit | None = None, table: str = "data", **columns: Declared) -> Schema:
    return Schema(table, unit or Row(), columns)


def answer(
    source: Any, schema: Schema, *aggregates: Any, keys: tuple[Key, ...] = (), where: Condition | None = None
) -> list[tuple[int, ...]]:
    measures = tuple(Measure(aggregate, "laplace", Fraction(1)) for aggregate in aggregates or (CountRows(),))
    plan = Plan(schema.table, schema.unit, where, keys, measures)
    engine = DuckDBEngine(source, schema)
    try:
        return arrange(plan, engine.run(sql_of(plan, schema)))
    finally:
        engine.close()


def stored(source: Any, schema: Schema, column: str = "x") -> tuple[str, list[Any]]:
    """The type a column was given and its values."""
    engine = DuckDBEngine(source, schema)
    kind = {row[0]: row[1] for row in engine.run(f'DESCRIBE "{schema.table}"')}[column]
    values = [row[0] for row in engine.run(f'SELECT "{column}" FROM "{schema.table}"')]
    engine.close()
    return kind, values


# ---- one table, everywhere it can be kept

CROWD = pa.table(
    {
        WHO: ["ann", "ann", "bob", None, "cy", "o'hara"],
        "age": pa.array([30, 41, None, 50, 17, 90], pa.int64()),
        "pay": pa.array([1.5, None, float("inf"), 2.0, -7.25, 1e308]),
        "kind": ["a", "it's", "a;b", "a", None, "zz"],
        "code": pa.array([1, 2, 1, 3, None, 1], pa.int64()),
        "flag": pa.array([True, False, True, None, False, True]),
    }
)
COLUMNS: dict[str, Declared] = {
    "age": Int(18, 60),
    "pay": Float(-2, 3),
    "kind": Category(["a", "it's", "a;b"]),
    "code": Category([1, 2]),
    "flag": Category([True, False]),
}


def as_csv(folder: Path, separator: str = ",", name: str = "crowd.csv") -> Path:
    path = folder / name
    options = pyarrow.csv.WriteOptions(delimiter=separator)
    pyarrow.csv.write_csv(CROWD, path, options)
    return path


def as_parquet(folder: Path, table: pa.Table = CROWD, **options: Any) -> Path:
    path = folder / "crowd.parquet"
    pyarrow.parquet.write_table(table, path, **options)
    return path


DICTIONARY = CROWD.set_column(3, "kind", CROWD["kind"].combine_chunks().dictionary_encode())
SMALL = CROWD.set_column(1, "age", CROWD["age"].cast(pa.int8())).set_column(4, "code", CROWD["code"].cast(pa.uint8()))
STORES: dict[str, Callable[[Path], Any]] = {
    "arrow": lambda _: CROWD,
    "arrow in chunks": lambda _: pa.Table.from_batches(CROWD.to_batches(max_chunksize=1)),
    "arrow batch": lambda _: CROWD.to_batches()[0],
    "arrow reader": lambda _: CROWD.to_reader(),
    "arrow dictionary": lambda _: DICTIONARY,
    "arrow small types": lambda _: SMALL,
    "pandas": lambda _: CROWD.to_pandas(),
    "pandas nullable": lambda _: CROWD.to_pandas(types_mapper=pd.ArrowDtype),
    "pandas categorical": lambda _: DICTIONARY.to_pandas(),
    "polars": lambda _: pl.from_arrow(CROWD),
    "polars lazy": lambda _: pl.from_arrow(CROWD).lazy(),
    "polars categorical": lambda _: pl.from_arrow(CROWD).with_columns(pl.col("kind").cast(pl.Categorical)),
    "csv": as_csv,
    "csv in capitals": lambda folder: as_csv(folder, name="CROWD.CSV"),
    "csv with semicolons": lambda folder: as_csv(folder, ";"),
    "tsv": lambda folder: as_csv(folder, "\t", "crowd.tsv"),
    "path as text": lambda folder: str(as_csv(folder)),
    "parquet": as_parquet,
    "parquet dictionary": lambda folder: as_parquet(folder, DICTIONARY),
    "parquet small types": lambda folder: as_parquet(folder, SMALL),
    "parquet row groups": lambda folder: as_parquet(folder, row_group_size=2, compression="zstd"),
    "json lines": lambda folder: stored_as("json lines", CROWD, folder),
    "duckdb": lambda folder: stored_as("duckdb", CROWD, folder),
    "duckdb named .db": lambda folder: stored_as("duckdb", CROWD, folder).rename(folder / "crowd.db"),
    "sqlite": lambda folder: stored_as("sqlite", CROWD, folder),
    "sqlite named .db": lambda folder: stored_as("sqlite", CROWD, folder).rename(folder / "crowd.db"),
    "directory": lambda folder: stored_as("directory", CROWD, folder),
    "parquet dataset": lambda folder: pyarrow.dataset.dataset(as_parquet(folder)),
}


@pytest.mark.parametrize("store", STORES)
def test_a_table_gives_the_same_integers_wherever_it_is_kept(store: str, tmp_path: Path) -> None:
    unit = Person(WHO, 2, 2)
    schema = Schema("data", unit, COLUMNS)
    aggregates = (
        CountRows(),
        CountValues(Column("age")),
        Sum(Column("age"), Lattice(18, 60, 0)),
        Sum(Column("pay"), Lattice(-4, 6, -1)),
        CentredSum(Column("pay"), Lattice(-4, 6, -1)),
    )
    measures = tuple(Measure(aggregate, "laplace", Fraction(1)) for aggregate in aggregates)
    engine = DuckDBEngine(STORES[store](tmp_path), schema)
    expected = {
        (): [(5, 4, 18 + 30 + 41 + 60, 3 + 6 - 4 + 6, 2 + 5 - 5 + 5)],
        ("kind",): [(1, 1, 30, 3, 2), (1, 1, 41, 0, 0), (1, 0, 0, 6, 5)],
        ("code",): [(3, 2, 90, 15, 12), (1, 1, 41, 0, 0)],
        ("flag",): [(3, 2, 90, 15, 12), (2, 2, 59, -4, -5)],
    }
    for names, integers in expected.items():
        keys = tuple(ListedKey(Column(name), COLUMNS[name].values) for name in names)
        plan = Plan("data", unit, None, keys, measures)
        assert arrange(plan, engine.run(sql_of(plan, schema))) == integers
    engine.close()


INTEGERS = {"int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"}


@pytest.mark.parametrize("kind", sorted(INTEGERS))
@pytest.mark.parametrize("stored_in", ["arrow", "parquet"])
def test_whole_numbers_of_every_width_are_clamped_grouped_and_compared(
    kind: str, stored_in: str, tmp_path: Path
) -> None:
    width, signed = getattr(pa, kind)().bit_width, not kind.startswith("u")
    low, high = (-(2 ** (width - 1)), 2 ** (width - 1) - 1) if signed else (0, 2**width - 1)
    table = pa.table({"x": pa.array([low, high, 3, None, 100], getattr(pa, kind)())})
    source = as_parquet(tmp_path, table) if stored_in == "parquet" else table
    schema = schema_of(x=Int(-5, 7))
    aggregates = (Sum(Column("x"), Lattice(-5, 7, 0)), CountValues(Column("x")))
    assert answer(source, schema, *aggregates) == [(max(low, -5) + 7 + 3 + 7, 4)]
    counts = [row[0] for row in answer(source, schema, CountRows(), keys=(RangeKey(Column("x"), -5, 7),))]
    assert counts == [int(value == 3 or value == low) for value in range(-5, 8)]
    for operator, number, expected in (
        ("<", -1, int(signed)),
        (">=", 2**70, 0),
        ("=", min(high, 2**63 - 1), 1),
        ("<>", Fraction(7, 2), 4),
        (">", -(2**63), 4 - (low == -(2**63))),
    ):
        where = Comparison(operator, Column("x"), Number(Fraction(number)))
        assert answer(source, schema, where=where) == [(expected,)]


@pytest.mark.parametrize("stored_in", ["arrow", "parquet", "polars", "pandas"])
def test_single_precision_is_read_as_the_double_of_the_same_value(stored_in: str, tmp_path: Path) -> None:
    values = pa.array([0.1, 2.5, float("nan"), float("inf"), None, 16777216.0], pa.float64())
    table = pa.table({"x": values.cast(pa.float32())})
    convert: dict[str, Callable[[], Any]] = {
        "arrow": lambda: table,
        "parquet": lambda: as_parquet(tmp_path, table),
        "polars": lambda: pl.from_arrow(table),
        "pandas": lambda: table.to_pandas(),
    }
    source, schema = convert[stored_in](), schema_of(x=Float(-2, 3))
    assert answer(source, schema, CountValues(Column("x")), Sum(Column("x"), Lattice(-4, 6, -1))) == [
        (4, 0 + 5 + 6 + 6)
    ]
    for number, expected in ((Fraction(1, 10), 0), (Fraction(5, 2), 1), (Fraction(16777217), 0)):
        assert answer(source, schema, where=Comparison("=", Column("x"), Number(number))) == [(expected,)]


# ---- casting: what does not fit becomes NULL, never an error

CSV_TEXTS = ["7", " 8 ", "-3", "2.0", "1e3", "", "seven", "nan", "inf", "99999999999999999999", "0x1F"]


def test_texts_of_a_csv_file_become_numbers_or_null(tmp_path: Path) -> None:
    path = tmp_path / "texts.csv"
    path.write_text("x,y\n" + "".join(f"{text},1\n" for text in CSV_TEXTS), encoding="utf-8")
    kind, values = stored(path, schema_of(x=Int(0, 9)))
    assert kind == "BIGINT"
    assert values[:4] == [7, 8, -3, 2]
    assert values[5:10] == [None, None, None, 2**63 - 1, 2**63 - 1]
    kind, values = stored(path, schema_of(x=Float(0, 9)))
    assert kind == "DOUBLE"
    assert values[:5] == [7.0, 8.0, -3.0, 2.0, 1000.0]
    assert values[5:7] == [None, None]
    assert np.isnan(values[7])
    assert values[8:10] == [float("inf"), 99999999999999999999.0]
    kind, values = stored(path, schema_of(x=Text()))
    assert kind == "VARCHAR"
    assert values == [text or None for text in CSV_TEXTS]


@pytest.mark.parametrize(
    "written",
    [
        ("true", "false"),
        pytest.param(("True", "False")),
        pytest.param(("TRUE", "FALSE")),
    ],
)
def test_true_and_false_of_a_csv_file_are_declared_keys(written: tuple[str, str], tmp_path: Path) -> None:
    """pandas and spreadsheets write them in their own case; a key that is never met gives noise around 0."""
    path = tmp_path / "flags.csv"
    path.write_text(f"x,y\n{written[0]},1\n{written[1]},1\n{written[1]},1\nmaybe,1\n", encoding="utf-8")
    keys = (ListedKey(Column("x"), (True, False)),)
    assert answer(path, schema_of(x=Category([True, False])), keys=keys) == [(1,), (2,)]


CAST = {
    "whole as real": (pa.array([1, None], pa.int32()), Float(0, 9), "DOUBLE", [1.0, None]),
    "real as whole": (pa.array([2.5, float("nan"), 1e300, None]), Int(0, 9), "BIGINT", [2, None, 2**63 - 1, None]),
    "text as whole": (pa.array(["5", "x", None]), Int(0, 9), "BIGINT", [5, None, None]),
    "decimal as real": (pa.array([Decimal("1.25")], pa.decimal128(9, 2)), Float(0, 9), "DOUBLE", [1.25]),
    "decimal as whole": (pa.array([Decimal(10) ** 30], pa.decimal128(38, 0)), Int(0, 9), "BIGINT", [2**63 - 1]),
    "boolean as whole": (pa.array([True, False, None]), Int(0, 1), "BIGINT", [1, 0, None]),
    "whole as text": (pa.array([5, None]), Text(), "VARCHAR", ["5", None]),
    "date as text": (pa.array([0], pa.date32()), Text(), "VARCHAR", ["1970-01-01"]),
    "time as text": (
        pa.array([5_000_000], pa.timestamp("us")),
        Category(["1970-01-01 00:00:05"]),
        "VARCHAR",
        ["1970-01-01 00:00:05"],
    ),
    "dictionary as whole": (pa.array(["1", "x"]).dictionary_encode(), Category([1, 2]), "BIGINT", [1, None]),
    "boolean as category": (pa.array([True, None]), Category([True, False]), "VARCHAR", ["true", None]),
    "large text": (pa.array(["a"], pa.large_string()), Text(), "VARCHAR", ["a"]),
    "text view": (pa.array(["a"], pa.string_view()), Text(), "VARCHAR", ["a"]),
    "all NULL as whole": (pa.nulls(2), Int(0, 9), "BIGINT", [None, None]),
    "all NULL as real": (pa.nulls(2), Float(0, 9), "DOUBLE", [None, None]),
    "all NULL as category": (pa.nulls(2), Category(["a"]), "VARCHAR", [None, None]),
    "all NULL of a type": (pa.nulls(2, pa.int64()), Int(0, 9), "BIGINT", [None, None]),
    "identifier": (pa.array([3]), Identifier(), "VARCHAR", ["3"]),
}


@pytest.mark.parametrize("name", CAST)
def test_a_column_gets_the_type_its_declaration_promises(name: str) -> None:
    column, declared, kind, values = CAST[name]
    table = pa.table({"x": column, "y": pa.nulls(len(column), pa.int64())})
    assert stored(table, schema_of(x=declared, y=Int())) == (kind, values)


@pytest.mark.parametrize("huge", [2**127 - 1, -(2**127), 2**64, 2**63])
def test_whole_numbers_beyond_64_bits_are_clamped_like_any_other(huge: int) -> None:
    frame = pd.DataFrame({"x": pd.Series([huge, 3, None], dtype=object)})
    edge = 9 if huge > 0 else 0
    assert answer(frame, schema_of(x=Int(0, 9)), Sum(Column("x"), Lattice(0, 9, 0))) == [(edge + 3,)]
    assert answer(frame, schema_of(x=Int(0, 9)), keys=(RangeKey(Column("x"), 3, 4),)) == [(1,), (0,)]


def test_a_row_whose_id_is_nan_has_no_id() -> None:
    """Somebody's rows among them could move that one person from one end of the bounds to the other."""
    ids = np.array([1.0, float("nan"), float("nan"), None], dtype=object)
    schema = schema_of(Person(WHO, 3, 1), age=Int(0, 9))
    found = answer(
        pd.DataFrame({WHO: ids, "age": [1, 2, 3, 4]}), schema, CountRows(), Sum(Column("age"), Lattice(0, 9, 0))
    )
    assert found == [(1, 1)]


@pytest.mark.parametrize(
    "convert",
    [pytest.param(lambda table: table), pytest.param(pl.from_arrow), pa.Table.to_pandas],
    ids=["arrow", "polars", "pandas"],
)
@pytest.mark.parametrize("kind", [pa.float32(), pa.float64()])
def test_real_numbers_may_stand_for_two_ids_and_are_none(kind: pa.DataType, convert: Callable[[pa.Table], Any]) -> None:
    """From 2^53 on two neighbouring ids are one number: their people would be bounded like one. So none is taken."""
    table = pa.table({WHO: pa.array([1.5, 2.0], kind), "age": [1, 1]})
    with pytest.raises(DataUnreadable, match="floating-point"):
        DuckDBEngine(convert(table), schema_of(Person(WHO, 3, 1), age=Int(0, 9)))


def test_a_column_that_is_not_declared_is_not_loaded() -> None:
    engine = DuckDBEngine(CROWD, schema_of(age=Int(0, 9)))
    assert [row[0] for row in engine.run("DESCRIBE data")] == ["age"]
    engine.close()


CLASHES = ["t", "u", "g", "n", "v0", "m0", "k0", "s0", "c0", "most", "rank", "rows", "person", "one", "pairs", "data"]


@pytest.mark.parametrize("unit", [Row(), Person(WHO, 4, 3)], ids=["row", "person"])
def test_columns_may_be_called_like_the_names_inside_the_sql(unit: Unit) -> None:
    table = pa.table({WHO: [1, 1, 2], **{name: [i % 3, (i + 1) % 3, 2] for i, name in enumerate(CLASHES)}})
    rows = table.to_pylist()
    schema = Schema("data", unit, {name: Int(0, 2) for name in CLASHES})
    engine = DuckDBEngine(table, schema)
    for key, value in zip(CLASHES, [*CLASHES[3:], *CLASHES[:3]], strict=True):
        where = Comparison(">=", Column(value), Number(Fraction(1)))
        measure = Measure(Sum(Column(value), Lattice(0, 2, 0)), "laplace", Fraction(1))
        plan = Plan("data", unit, where, (RangeKey(Column(key), 0, 2),), (measure,))
        expected = [(sum(row[value] for row in rows if row[value] >= 1 and row[key] == k),) for k in range(3)]
        assert arrange(plan, engine.run(sql_of(plan, schema))) == expected
    engine.close()


@pytest.mark.parametrize(
    "name", ["rows", "pairs", "ranked", "bounded", "grouped", "sfumato_frame", "select", 'a"b', "日本", "t"]
)
@pytest.mark.parametrize("unit", [Row(), Person(WHO, 4, 1)], ids=["row", "person"])
def test_a_table_may_have_any_name(name: str, unit: Unit) -> None:
    schema = schema_of(unit, name, kind=Category(["a"]))
    assert answer(CROWD, schema, keys=(ListedKey(Column("kind"), ("a",)),)) == [(2 - isinstance(unit, Person),)]


@pytest.mark.parametrize(
    "text", ["' OR TRUE --", "'", "''", "b' OR 'a' = 'a", "a\\", "$$a$$", "a'; DROP TABLE data; --"]
)
def test_a_text_is_compared_and_never_read_as_sql(text: str) -> None:
    table = pa.table({WHO: [1, 2, 3], "city": ["a", "b", text]})
    schema = schema_of(Row(), city=Text())
    assert answer(table, schema, where=Comparison("=", Column("city"), String(text))) == [(1,)]
    assert answer(table.slice(0, 2), schema, where=Comparison("=", Column("city"), String(text))) == [(0,)]
    listed = schema_of(Row(), city=Category(["a", text]))
    assert answer(table, listed, keys=(ListedKey(Column("city"), ("a", text)),)) == [(1,), (1,)]


@pytest.mark.parametrize("name", ["name with blanks", 'quo"te', "semi;colon", "日本", "-- comment", "/*", "'"])
def test_a_column_may_have_any_printable_name(name: str) -> None:
    table = pa.table({name: [1, 2], "id ' \"": [1, 1]})
    schema = Schema("data", Person("id ' \"", 1, 1), {name: Int(0, 5)})
    assert answer(table, schema, keys=(RangeKey(Column(name), 0, 5),))
    assert answer(table, schema, where=Comparison("=", Column(name), Number(Fraction(2)))) == [(1,)]


# ---- CSV: how a row is read depends on that row alone

ORDINARY = ["x#y", "'x'", "a;b", "a|b", "a\\b", "it's", '"a ""b"""']
HOSTILE = [
    "#1,z",
    "1,#z",
    '1,"a,b"',
    '1,"a""b"',
    "1,'a'",
    '1,"\n"',
    '1,"#"',
    "1,a;b;c",
    f"1,{';' * 999}",  # more than there are commas
    "1,a|b|c",
    "1,a\tb",
    "1,\\",
    '1,"\\"',
]


@pytest.mark.parametrize("hostile", HOSTILE)
def test_one_row_of_a_csv_file_does_not_change_how_the_others_are_read(hostile: str, tmp_path: Path) -> None:
    """A sniffed dialect does: one line that begins with # made DuckDB cut every other line at its #."""
    path = tmp_path / "lines.csv"
    lines = [f"1,{text}" for text in ORDINARY for _ in range(30)]
    schema = schema_of(x=Text(), s=Text())
    counts = []
    for added in ([], [hostile]):
        path.write_text("\n".join(["x,s", *lines, *added, ""]), encoding="utf-8", newline="\n")
        engine = DuckDBEngine(path, schema)
        counts.append(dict(engine.run("SELECT s, COUNT(*) FROM data GROUP BY s")))
        engine.close()
    before, after = counts
    assert before["x#y"] == 30
    assert sum(after.values()) == sum(before.values()) + 1
    assert sum(abs(after.get(text, 0) - before.get(text, 0)) for text in {*before, *after}) == 1


# ---- versions


def test_the_version_of_a_csv_file_is_that_of_what_was_loaded(tmp_path: Path) -> None:
    path = as_csv(tmp_path)
    engine = DuckDBEngine(path, schema_of(age=Int(0, 9)))
    before = engine.version()
    path.unlink()
    assert engine.version() == before
    engine.close()
    newer = as_csv(tmp_path)
    os.utime(newer, ns=(1, 1))
    assert DuckDBEngine(newer, schema_of(age=Int(0, 9))).version() != before


def test_the_version_of_a_parquet_file_follows_the_file(tmp_path: Path) -> None:
    path = as_parquet(tmp_path)
    engine = DuckDBEngine(path, schema_of(age=Int(0, 9)))
    first = engine.version()
    assert engine.version() == first
    os.utime(path, ns=(1, 1))
    second = engine.version()
    pyarrow.parquet.write_table(CROWD.slice(0, 2), path)
    assert len({first, second, engine.version()}) == 3
    path.unlink()
    with pytest.raises(DataUnreadable, match="there is no file"):
        engine.version()
    with pytest.raises(EngineFailed):
        engine.run("SELECT COUNT(*) FROM data")


def frames() -> list[Any]:
    return [CROWD, CROWD.to_pandas(), pl.from_arrow(CROWD)]


@pytest.mark.parametrize("position", range(3), ids=["arrow", "pandas", "polars"])
def test_the_version_of_a_frame_is_its_content_in_any_order(position: int) -> None:
    schema = Schema("data", Person(WHO, 2, 1), COLUMNS)
    version = DuckDBEngine(frames()[position], schema).version()
    assert DuckDBEngine(frames()[position], schema).version() == version
    assert DuckDBEngine(CROWD.take([5, 3, 1, 0, 2, 4]), schema).version() == version


@pytest.mark.parametrize(
    "changed",
    [
        CROWD.slice(1),
        pa.concat_tables([CROWD, CROWD]),
        pa.concat_tables([CROWD, CROWD.slice(0, 1), CROWD.slice(0, 1)]),
        CROWD.set_column(1, "age", pa.array([30, 41, None, 50, 17, 91])),
        CROWD.set_column(0, WHO, pa.array(["ann", "bob", "bob", None, "cy", "o'hara"])),
        CROWD.set_column(2, "pay", pa.array([1.5, None, float("inf"), 2.0, -7.25, 1e307])),
    ],
    ids=["a row less", "every row twice", "a row thrice", "another value", "another id", "another real"],
)
def test_another_content_is_another_version(changed: pa.Table) -> None:
    schema = Schema("data", Person(WHO, 2, 1), COLUMNS)
    assert DuckDBEngine(changed, schema).version() != DuckDBEngine(CROWD, schema).version()


def test_a_column_called_like_the_table_does_not_hide_changes_of_the_others() -> None:
    """ "data" is the name of a table by default and a likely one of a column."""
    schema = schema_of(data=Int(0, 9), other=Int(0, 9))
    versions = {DuckDBEngine(pa.table({"data": [1, 1], "other": [1, last]}), schema).version() for last in (2, 3)}
    assert len(versions) == 2


def test_an_engine_does_not_follow_a_fork(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = DuckDBEngine(CROWD, schema_of(age=Int(0, 9)))
    monkeypatch.setattr(os, "getpid", lambda: -1)
    with pytest.raises(UsageError, match="another process"):
        engine.version()


# ---- files and frames that cannot be read


def refusal(source: Any, schema: Schema) -> SfumatoError:
    """The error, after a look that nothing in it or around it shows a value of the data."""
    with pytest.raises(SfumatoError) as caught:
        DuckDBEngine(source, schema)
    shown = "".join(traceback.format_exception(caught.value)) + repr(caught.value) + str(caught.value.args)
    assert CANARY not in shown
    return caught.value


XS = schema_of(x=Int(0, 9), s=Text())
LATE = 30_000
BAD_CSV: dict[str, tuple[bytes, str]] = {
    "not UTF-8": (f"x,s\n1,{CANARY}é\n".encode("latin-1"), "UTF-8"),
    "not UTF-8, late": (b"x,s\n" + b"1,a\n" * LATE + f"1,{CANARY}é\n".encode("latin-1"), "UTF-8"),
    "UTF-16": (f"x,s\n1,{CANARY}\n".encode("utf-16"), "UTF-8"),
    "too many fields": (f"x,s\n1,{CANARY},2\n2,b\n".encode(), "as many fields"),
    "too few fields": (f"x,s\n{CANARY}\n2,b\n".encode(), "as many fields"),
    "too many fields, late": (b"x,s\n" + b"1,a\n" * LATE + f"1,{CANARY},2\n".encode(), "as many fields"),
    "open quote": (f'x,s\n1,"{CANARY}\n2,b\n'.encode(), "as many fields"),
    "nothing at all": (b"", ""),
}


@pytest.mark.parametrize("name", BAD_CSV)
def test_a_csv_file_that_cannot_be_read_is_refused_without_showing_it(name: str, tmp_path: Path) -> None:
    content, reason = BAD_CSV[name]
    path = tmp_path / "bad.csv"
    path.write_bytes(content)
    error = refusal(path, XS)
    assert isinstance(error, DataUnreadable)
    assert reason in error.message


def test_a_row_with_another_separator_is_read_with_that_of_the_header(tmp_path: Path) -> None:
    """A guess took the row for the better header and showed its values as names of columns."""
    path = tmp_path / "mixed.csv"
    path.write_bytes(b"x,s\n" + b"1,a;b\n" * 9 + f'1;"{CANARY},b"\n'.encode())
    assert DuckDBEngine(path, XS).run("SELECT COUNT(*) FROM data") == [(10,)]


@pytest.mark.parametrize("content", ["x,s\n", "x,s", "x,s\r\n", "\ufeffx,s\n"], ids=["LF", "no end", "CRLF", "mark"])
def test_a_csv_file_may_be_a_header_only(content: str, tmp_path: Path) -> None:
    path = tmp_path / "header.csv"
    path.write_bytes(content.encode())
    assert answer(path, XS, CountRows(), Sum(Column("x"), Lattice(0, 9, 0))) == [(0, 0)]
    keys = (RangeKey(Column("x"), 0, 2),)
    assert answer(path, XS, CountRows(), keys=keys) == [(0,)] * 3


@pytest.mark.parametrize(
    "content",
    ['x,s\r\n1,"a,b"\r\n2,"c\nd"\r\n', "\ufeffx,s\n1,a\n2,b\n", "s,x,extra\na,1,9\nb,2,9\n", "x,s\n1,a\n2,b"],
    ids=["quotes and CRLF", "byte order mark", "other order and more columns", "no last line end"],
)
def test_ordinary_csv_files_are_read(content: str, tmp_path: Path) -> None:
    path = tmp_path / "fine.csv"
    path.write_bytes(content.encode())
    assert answer(path, XS, CountRows(), Sum(Column("x"), Lattice(0, 9, 0))) == [(2, 3)]


def test_the_wrong_file_is_refused(tmp_path: Path) -> None:
    schema = schema_of(age=Int(0, 9))
    for name, words in (("none.csv", "no file"), ("none.parquet", "no file"), ("folder.csv", "no file")):
        (tmp_path / "folder.csv").mkdir(exist_ok=True)
        assert words in refusal(tmp_path / name, schema).message
    for name in ("people.txt", "people", "people.arrow", "people.csv.zip", "people.jsonl.gz", "people.gz"):
        (tmp_path / name).write_text(f"age\n{CANARY}\n", encoding="utf-8")
        assert "of no kind that is read" in refusal(tmp_path / name, schema).message


@pytest.mark.parametrize(
    "name",
    [
        "damaged",
        pytest.param("utf-csv-columns"),
    ],
)
def test_a_damaged_parquet_file_is_refused(name: str, tmp_path: Path) -> None:
    path = tmp_path / f"{name}.parquet"
    whole = as_parquet(tmp_path, pa.table({"x": [1, 2], "s": [CANARY, CANARY]})).read_bytes()
    for content in (b"", f"x,s\n1,{CANARY}\n".encode(), whole[:-20], whole[:40], b"PAR1" + whole[4:-12] + b"\0" * 12):
        path.write_bytes(content)
        assert "is damaged or of another kind" in refusal(path, XS).message


def test_a_parquet_file_damaged_inside_fails_without_showing_it(tmp_path: Path) -> None:
    path = as_parquet(tmp_path, pa.table({"x": [1, 2], "s": [CANARY, CANARY]}), compression="snappy")
    content = bytearray(path.read_bytes())
    content[4:60] = bytes(byte ^ 0xFF for byte in content[4:60])
    path.write_bytes(bytes(content))
    engine = DuckDBEngine(path, XS)
    with pytest.raises(EngineFailed) as caught:
        engine.run("SELECT COUNT(s), SUM(x) FROM data")
    assert CANARY not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize("name", ["data[1]", "a*", "q?"])
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_path_is_one_file_and_no_pattern(name: str, ending: str, tmp_path: Path) -> None:
    """A pattern would read other files than the one whose ledger pays."""
    for stem, rows in ((name, 3), ("data1", 1), ("ab", 1), ("qb", 1)):
        table = pa.table({"x": [1] * rows})
        if ending == "csv":
            pyarrow.csv.write_csv(table, tmp_path / f"{stem}.csv")
        else:
            pyarrow.parquet.write_table(table, tmp_path / f"{stem}.parquet")
    with contextlib.suppress(DataUnreadable):
        assert answer(tmp_path / f"{name}.{ending}", schema_of(x=Int(0, 9))) == [(3,)]


@pytest.mark.parametrize("store", ["arrow", "pandas", "polars", "csv", "parquet", "duckdb", "sqlite", "directory"])
def test_a_missing_column_is_named_with_the_nearest_one(store: str, tmp_path: Path) -> None:
    source = STORES[store](tmp_path)
    message = refusal(source, schema_of(agee=Int(0, 9))).message
    assert message == 'the data has no column "agee". Did you mean "age"?'
    assert "no column" in refusal(source, schema_of(Person("id", 1, 1), age=Int(0, 9))).message
    assert 'mean "age"' in refusal(source, schema_of(AGE=Int(0, 9))).message


def test_names_that_differ_in_case_only_are_never_mixed_up() -> None:
    """DuckDB does not tell them apart, so the second would be read as the first."""
    table = pa.table({"id": [1, 1, 1], "ID": [1, 2, 3]})
    assert "no column" in refusal(table, schema_of(Person("ID", 1, 1), id=Int(0, 9))).message


@pytest.mark.parametrize(
    "frame",
    [
        {"x": [1]},
        [[1]],
        None,
        5,
        b"x",
        np.zeros((2, 2)),
        pd.Series([1]),
        pa.array([1]),
        pa.chunked_array([[1]]),
        pytest.param(pl.Series([1])),
    ],
    ids=lambda frame: type(frame).__module__.partition(".")[0] + " " + type(frame).__name__,
)
def test_what_is_no_table_is_refused(frame: Any) -> None:
    error = refusal(frame, schema_of(x=Int(0, 9)))
    assert isinstance(error, UsageError | DataUnreadable)


@pytest.mark.parametrize("frame", [pd.DataFrame(), pl.DataFrame(), pa.table({})], ids=["pandas", "polars", "arrow"])
def test_a_frame_without_columns_is_refused(frame: Any) -> None:
    assert isinstance(refusal(frame, schema_of(x=Int(0, 9))), DataUnreadable)


@pytest.mark.parametrize(
    "frame",
    [
        pa.table({"x": pa.array([np.float16(1)], pa.float16())}),
        pa.table({"x": pa.array([Decimal(1)], pa.decimal256(50, 2))}),
        pytest.param(
            pl.DataFrame({"x": [1]}, schema={"x": pl.Int128}),
        ),
        pd.DataFrame({"x": [object()]}),
        pd.DataFrame({"x": pd.Series([2**200], dtype=object)}),
    ],
    ids=["half precision", "wide decimal", "128 bits of Polars", "objects", "too large"],
)
def test_a_column_of_a_kind_duckdb_does_not_take_is_refused_or_null(frame: Any) -> None:
    with contextlib.suppress(DataUnreadable):
        kind, values = stored(frame, schema_of(x=Int(0, 9)))
        assert kind in ("BIGINT", "HUGEINT")
        assert values in ([None], [1], [2**63 - 1])


@pytest.mark.parametrize("frame", [CROWD.slice(0, 0), CROWD.slice(0, 0).to_pandas(), pl.from_arrow(CROWD.slice(0, 0))])
def test_an_empty_frame_counts_zero(frame: Any) -> None:
    schema = Schema("data", Person(WHO, 2, 1), COLUMNS)
    keys = (ListedKey(Column("kind"), COLUMNS["kind"].values),)
    assert answer(frame, schema, CountRows(), Sum(Column("pay"), Lattice(-4, 6, -1)), keys=keys) == [(0, 0)] * 3


# ---- failures while running


def test_a_failing_query_says_nothing_about_the_data() -> None:
    engine = DuckDBEngine(pa.table({"x": [1], "s": [CANARY]}), XS)
    texts = set()
    for sql in (
        "SELECT CAST(s AS INTEGER) FROM data",
        "SELECT error(s) FROM data",
        "SELECT nothing FROM data",
        "SELECT (SELECT x FROM data, range(2)) FROM data",
        "SELECT 9223372036854775807 + x FROM data",
        "not SQL at all",
        "",
    ):
        if sql:
            with pytest.raises(EngineFailed) as caught:
                engine.run(sql)
            assert CANARY not in "".join(traceback.format_exception(caught.value))
            texts.add(str(caught.value))
    assert len(texts) == 1
    assert engine.run("SELECT COUNT(*) FROM data") == [(1,)]


def test_a_closed_engine_fails_like_any_other() -> None:
    engine = DuckDBEngine(CROWD, schema_of(age=Int(0, 9)))
    engine.close()
    with pytest.raises(EngineFailed):
        engine.run("SELECT 1")


def test_many_threads_may_ask_at_once() -> None:
    engine = DuckDBEngine(CROWD, schema_of(age=Int(0, 99)))
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: engine.run("SELECT COUNT(*), SUM(age) FROM data"), range(64)))
    assert found == [[(6, 228)]] * 64


# ---- nothing else can be reached

visible_to_replacement_scans = CROWD


@pytest.mark.parametrize("store", ["arrow", "csv", "parquet", "json lines", "duckdb", "sqlite", "directory"])
def test_the_engine_is_locked_in(store: str, tmp_path: Path) -> None:
    other = tmp_path / "other.csv"
    other.write_text(f"x\n{CANARY}\n", encoding="utf-8")
    pyarrow.parquet.write_table(CROWD, tmp_path / "other.parquet")
    out = tmp_path / "out.csv"
    other_database = stored_as("duckdb", CROWD, tmp_path, "other")
    engine = DuckDBEngine(STORES[store](tmp_path), schema_of(age=Int(0, 9)))
    if store == "directory":
        pyarrow.parquet.write_table(CROWD, tmp_path / "people" / "later.parquet")
    for sql in (
        f"SELECT * FROM read_csv('{other}')",
        f"SELECT * FROM read_text('{other}')",
        f"SELECT * FROM read_blob('{other}')",
        f"SELECT * FROM read_json('{other}')",
        f"SELECT * FROM read_parquet('{tmp_path / 'other.parquet'}')",
        f"SELECT * FROM '{other}'",
        f"SELECT * FROM glob('{tmp_path}/*')",
        f"SELECT * FROM sniff_csv('{other}')",
        f"COPY data TO '{out}'",
        f"COPY data FROM '{other}'",
        f"EXPORT DATABASE '{tmp_path / 'export'}'",
        f"ATTACH '{tmp_path / 'new.db'}'",
        f"ATTACH '{other_database}' (READ_ONLY)",
        f"SELECT * FROM read_parquet('{tmp_path}/*.parquet')",
        f"SELECT * FROM read_parquet('{tmp_path / 'people' / 'later.parquet'}')",
        f"CREATE TABLE copied AS SELECT * FROM '{other}'",
        "SELECT * FROM visible_to_replacement_scans",
        "SELECT * FROM read_csv('http://127.0.0.1:1/x.csv')",
        "INSTALL httpfs",
        "LOAD httpfs",
        "LOAD 'any.duckdb_extension'",
        "SET enable_external_access = true",
        "SET allowed_paths = ['/']",
        "SET allowed_directories = ['/']",
        "SET python_enable_replacements = true",
        "SET autoload_known_extensions = true",
        "SET autoinstall_known_extensions = true",
        "SET allow_unsigned_extensions = true",
        "SET lock_configuration = false",
        "SET threads = 1",
        "SET memory_limit = '1GB'",
        f"SET temp_directory = '{tmp_path}'",
        "RESET enable_external_access",
        "PRAGMA enable_external_access",
        "PRAGMA threads = 3",
    ):
        with pytest.raises(EngineFailed):
            engine.run(sql)
    assert not out.exists()
    assert not (tmp_path / "new.db").exists()
    settings = dict(engine.run("SELECT name, value FROM duckdb_settings()"))
    for name in ("enable_external_access", "autoinstall_known_extensions", "autoload_known_extensions"):
        assert settings[name] == "false"
    assert settings["lock_configuration"] == "true"
    assert engine.run("SELECT COUNT(*) FROM data") == [(6,)]


def test_variables_of_python_are_out_of_reach_of_every_cursor() -> None:
    engine = DuckDBEngine(CROWD, schema_of(age=Int(0, 9)))
    setting = "SELECT value FROM duckdb_settings() WHERE name = 'python_enable_replacements'"
    assert engine.run(setting) == [("false",)]


def test_two_engines_do_not_see_each_other() -> None:
    first = DuckDBEngine(CROWD, schema_of(table="first", age=Int(0, 9)))
    second = DuckDBEngine(CROWD, schema_of(table="second", age=Int(0, 9)))
    for engine, table in ((first, "second"), (second, "first")):
        with pytest.raises(EngineFailed):
            engine.run(f"SELECT * FROM {table}")


def test_the_frame_itself_is_gone_after_loading() -> None:
    engine = DuckDBEngine(CROWD, schema_of(age=Int(0, 9)))
    with pytest.raises(EngineFailed):
        engine.run("SELECT * FROM sfumato_frame")


# ---- describing a file


def test_describe_names_columns_and_guesses_types(tmp_path: Path) -> None:
    assert describe(as_csv(tmp_path))["age"] == "BIGINT"
    assert describe(as_parquet(tmp_path))["pay"] == "DOUBLE"


def test_describe_refuses_what_it_cannot_read(tmp_path: Path) -> None:
    (tmp_path / "people.txt").write_text("x", encoding="utf-8")
    (tmp_path / "bad.parquet").write_text(CANARY, encoding="utf-8")
    for name in ("none.csv", "people.txt", "bad.parquet"):
        with pytest.raises(DataUnreadable) as caught:
            describe(tmp_path / name)
        assert CANARY not in "".join(traceback.format_exception(caught.value))


# ---- arranging rows


def test_rows_are_laid_out_by_group_and_absent_groups_count_zero() -> None:
    keys = (ListedKey(Column("k"), ("a", "b", "c")),)
    measures = (Measure(CountRows(), "laplace", Fraction(1)), Measure(CountValues(String("x")), "laplace", Fraction(1)))
    plan = Plan("data", Row(), None, keys, measures)
    assert arrange(plan, [(2, 5, Decimal(6)), (0, 1, 2)]) == [(1, 2), (0, 0), (5, 6)]
    assert arrange(plan, []) == [(0, 0)] * 3
    assert all(type(value) is int for row in arrange(plan, [(1, Decimal(7), True)]) for value in row)


# ---- sums in 64 bits


def test_values_next_to_the_ends_of_the_lattice_land_on_it() -> None:
    for lattice in (
        Lattice(0, 1677721600, -24),
        Lattice(-3, 2, 0),
        Lattice(-(2**31) + 1, 2**31 - 1, 5),
        Lattice(7, 8, -40),
    ):
        ends = [float(end * lattice.step) for end in (lattice.lower, lattice.upper)]
        near = [np.nextafter(end, side) for end in ends for side in (-np.inf, np.inf)]
        for value in (*ends, *near):
            schema = schema_of(x=Float(*ends))
            [(total,)] = answer(pa.table({"x": [value]}), schema, Sum(Column("x"), lattice))
            nearest = min(max(round(Fraction(value) / lattice.step), lattice.lower), lattice.upper)
            assert total == nearest


def test_more_rows_than_fit_give_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    table, schema, total = (
        pa.table({"x": [1.0, 2.0, None]}),
        schema_of(x=Float(0, 2)),
        Sum(Column("x"), Lattice(0, 2, 0)),
    )
    monkeypatch.setattr("sfumato.engines.sql.counting.MOST_ADDED_UP", 3)
    assert answer(table, schema, total) == [(3,)]
    monkeypatch.setattr("sfumato.engines.sql.counting.MOST_ADDED_UP", 2)
    with pytest.raises(EngineFailed, match="could not finish"):
        answer(table, schema, total)
    centred = CentredSum(Column("x"), Lattice(0, 2, 0))
    assert answer(table, schema, centred) == [(1,)]  # only values are added up
    monkeypatch.setattr("sfumato.engines.sql.counting.MOST_ADDED_UP", 1)
    with pytest.raises(EngineFailed, match="could not finish"):
        answer(table, schema, centred)


def test_the_largest_sum_that_is_answered_fits_into_64_bits() -> None:
    assert MOST_ADDED_UP * (LARGEST - 1) < LARGEST_INTEGER <= (MOST_ADDED_UP + 2) * LARGEST


@pytest.mark.parametrize(("lower", "upper"), [(0, 1), (-3, 5), (1, 2), (0, 200_000), (-1, 0)])
def test_a_real_value_a_few_steps_beyond_its_bounds_is_clamped_to_them(lower: int, upper: int) -> None:
    """Steps are so fine that only values this near the end tell whether the clamp ends where it should."""
    lattice = Lattice.covering(Fraction(lower), Fraction(upper), whole=False)
    schema = Schema("people", Row(), {"x": Float(lower, upper)})
    plan = Plan("people", Row(), None, (), (Measure(Sum(Column("x"), lattice), "laplace", Fraction(1)),))
    for steps in (1, 2, 3, 5, 100):
        for end, side in ((lattice.lower, -1), (lattice.upper, 1)):
            value = float((end + side * steps) * lattice.step)
            engine = DuckDBEngine(pa.table({"x": [value]}), schema)
            assert arrange(plan, engine.run(sql_of(plan, schema))) == [(end,)], (value, steps)
            engine.close()


def test_a_double_of_the_emitter_is_that_double_to_the_last_bit() -> None:
    """Bounds and factors of a lattice among them: one that is read as its neighbour moves the clamp."""
    generator = np.random.default_rng(5)
    patterns = generator.integers(0, 1 << 63, 20_000, dtype=np.uint64)
    any_double = [float(x) for x in patterns.view(np.float64) if np.isfinite(x)]
    close = [n + d for n in (0.1, 0.5, 1.0, 1e15, 2.0**53, 2e5) for d in (0.0, np.spacing(n), -np.spacing(n))]
    edges = [5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, 0.0, -0.0, float("inf"), -float("inf")]
    values = [*any_double, *(-x for x in any_double[:1000]), *map(float, close), *edges]
    connection = duckdb.connect()
    for start in range(0, len(values), 500):
        some = values[start : start + 500]
        written = ", ".join(DUCKDB.double(value) for value in some)
        ((found, kinds),) = connection.execute(f"SELECT [{written}], typeof({DUCKDB.double(some[0])})").fetchall()
        assert np.array(found).tobytes() == np.array(some).tobytes()
        assert kinds == "DOUBLE"


def test_a_file_written_anew_within_a_second_is_read_anew_even_if_it_is_as_long_as_before(tmp_path: Path) -> None:
    """DuckDB takes a footer that it keeps for that of the file if size and second are the same."""
    schema, path = Schema("people", Row(), {"n": Int(0, 999)}), tmp_path / "people.parquet"
    count = Query("SELECT COUNT(*), SUM(n) FROM people")
    found, sizes = [], []
    engine: DuckDBEngine | None = None
    for place, values in enumerate(([100] * 40, [100] * 41, [101] * 42)):
        pyarrow.parquet.write_table(pa.table({"n": values}), path)
        os.utime(path, ns=(10**18 + place, 10**18 + place))
        sizes.append(path.stat().st_size)
        engine = engine or DuckDBEngine(path, schema)
        found.append([tuple(map(int, row)) for row in engine.rows([count], engine.version())[0]])
    assert engine is not None
    engine.close()
    assert len(set(sizes)) == 1
    assert found == [[(40, 4000)], [(41, 4100)], [(42, 4242)]]
