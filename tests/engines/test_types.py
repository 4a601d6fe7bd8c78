"""Types that one row gives to a whole column: every type is read by a rule, or refuses the table for its name alone."""

import contextlib
import math
import pickle
from collections.abc import Callable, Iterator
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest

from sfumato.engines.duckdb.cells import id_of, text_of
from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.errors import DataUnreadable, UsageError
from sfumato.schema.columns import Category, Date, Declared, Float, Int, Text
from sfumato.schema.table import Schema
from sfumato.schema.unit import Person, Row

# What DuckDB calls a type: how a column of it is made, a cell, and the text of that cell. None: missing by a rule.
READ: dict[str, tuple[str, str, str | None]] = {
    **{
        kind: (kind, "7", "7")
        for kind in (
            *("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT"),
            *("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT", "FLOAT", "DOUBLE"),
        )
    },
    "BOOLEAN": ("BOOLEAN", "true", "true"),
    "DECIMAL": ("DECIMAL(9, 3)", "7.50", "7.5"),
    "VARCHAR": ("VARCHAR", "'é'", "é"),
    "JSON": ("JSON", "'7'", "7"),
    "ENUM": ("ENUM('é', 'VARCHAR]')", "'VARCHAR]'", "VARCHAR]"),
    "BLOB": ("BLOB", "'a'", "a"),
    "UUID": ("UUID", "'00000000-0000-0000-0000-000000000005'", "00000000-0000-0000-0000-000000000005"),
    "DATE": ("DATE", "'2020-02-03'", "2020-02-03"),
    **{
        kind: (kind, "'2020-02-03'", "2020-02-03")
        for kind in ("TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS")
    },
    **{
        kind: (kind, "'2020-02-03 23:30:00-01'", "2020-02-04 00:30:00")
        for kind in ("TIMESTAMP WITH TIME ZONE", "TIMESTAMPTZ_NS")
    },
    **{kind: (kind, "'04:05:06'", None) for kind in ("TIME", "TIME WITH TIME ZONE", "TIME_NS")},
    "INTERVAL": ("INTERVAL", "'3 days'", None),
    "LIST": ("DECIMAL(4, 2)[]", "[1.5]", None),
    "ARRAY": ("TIMESTAMPTZ[2]", "NULL", None),
    "STRUCT": ("STRUCT(a INTEGER)", "{'a': 1}", None),
    "MAP": ("MAP(VARCHAR, INTEGER)", "MAP {'a': 1}", None),
}
REFUSED = {
    "BIGNUM": "BIGNUM",  # a text of one takes 2 s for a megabyte
    "BIT": "BIT",
    "VARIANT": "VARIANT",
    "UNION": "UNION(a INTEGER, b VARCHAR)",
    "GEOMETRY": "GEOMETRY",
}
NO_COLUMNS = {"NULL", "TUPLE", "TYPE"}  # which no stored column has


# A column of a type may be declared as any of these; one file has it once for each.
ANY: dict[str, Declared] = {
    "x": Text(),
    "whole": Int(),
    "real": Float(),
    "day": Date(),
    "listed": Category(["é", "7"]),
    "numbered": Category([0, 7]),
    "yes": Category([True, False]),
}


def kept(path: Path, kind: str, *cells: str) -> Path:
    with duckdb.connect(str(path)) as connection:
        connection.execute(f"CREATE TABLE kept ({', '.join(f'{name} {kind}' for name in ANY)}, unseen BIT)")
        for cell in cells or ("NULL",):
            connection.execute(f"INSERT INTO kept VALUES ({', '.join([cell] * len(ANY))}, '101')")
    return path


@contextlib.contextmanager
def opened(source: Any, columns: dict[str, Declared], unit: Any = None) -> Iterator[DuckDBEngine]:
    engine = DuckDBEngine(source, Schema("data", unit or Row(), columns))
    try:
        yield engine
    finally:
        engine.close()


def read(source: Any, column: Declared) -> list[Any]:
    with opened(source, {"x": column}) as engine:
        return [cell for (cell,) in engine.run("SELECT x FROM data")]


def test_every_type_of_the_engine_is_read_by_a_rule_or_refused() -> None:
    with duckdb.connect() as connection:
        rows = connection.execute(
            "SELECT DISTINCT upper(logical_type), upper(type_name) FROM duckdb_types()"
        ).fetchall()
    assert {kind for kind, _ in rows} | {"JSON"} == {*READ, *REFUSED, *NO_COLUMNS}


@pytest.mark.parametrize("kind", READ)
def test_a_type_that_is_read(kind: str, tmp_path: Path) -> None:
    made, cell, expected = READ[kind]
    path = kept(tmp_path / "t.duckdb", made, cell)
    with opened(path, ANY) as engine:
        assert engine.run("SELECT x FROM data") == [(expected,)]
        for name in ANY:
            assert len(engine.run(f"SELECT {name} FROM data")) == 1


@pytest.mark.parametrize("kind", REFUSED)
def test_a_type_that_is_refused_by_its_name_and_only_where_it_is_declared(kind: str, tmp_path: Path) -> None:
    path = kept(tmp_path / "t.duckdb", REFUSED[kind])
    with pytest.raises(DataUnreadable, match=f"of the type {kind}, which is not read here"):
        read(path, Text())


# The first and the last that a column of the type can hold, and what it says of infinity.
ENDS = {
    "DATE": ["'-infinity'", "'infinity'", "'5877642-06-25 (BC)'", "'5881580-07-10'"],
    **{
        kind: ["'-infinity'", "'infinity'", f"{make}(-9223372022400000000)", f"{make}(9223372036854775806)"]
        for kind, make in (("TIMESTAMP", "make_timestamp"), ("TIMESTAMP WITH TIME ZONE", "make_timestamptz"))
    },
    "TIMESTAMP WITH TIME ZONE before all": ["make_timestamptz(-9223372036854775806)"],
    "TIMESTAMP_NS": ["make_timestamp_ns(-9223372036854775806)", "make_timestamp_ns(9223372036854775806)"],
    "TIMESTAMPTZ_NS": [
        f"CAST(make_timestamp_ns({end}) AS TIMESTAMPTZ_NS)" for end in (-9223286400000000000, 9223286400000000000)
    ],
    "TIMESTAMP_S": ["'-infinity'", "'infinity'", "'290309-12-22 (BC)'", "'294247-01-10'"],
    "TIMESTAMP_MS": ["'-infinity'", "'infinity'", "'290309-12-22 (BC)'", "'294247-01-10'"],
    "HUGEINT": ["-170141183460469231731687303715884105728", "170141183460469231731687303715884105727"],
    "UHUGEINT": ["0", "340282366920938463463374607431768211455"],
    "DOUBLE": ["'-infinity'", "'infinity'", "'nan'", "1.7976931348623157e308", "5e-324"],
    "DECIMAL": ["-" + "9" * 38, "9" * 38],
    "BLOB": [r"'\xFF'", r"'\xED\xA0\x80'"],
}


@pytest.mark.parametrize("kind", ENDS)
def test_no_end_of_a_type_makes_a_question_fail(kind: str, tmp_path: Path) -> None:
    """A question that names the column answers for everybody else, whatever the odd row holds."""
    cells, kind = ENDS[kind], kind.removesuffix(" before all")
    made = "DECIMAL(38, 0)" if kind == "DECIMAL" else READ[kind][0]
    for i, cell in enumerate(cells):
        path = kept(tmp_path / f"{i}.duckdb", made, *[READ[kind][1]] * 10, cell)
        with opened(path, ANY) as engine:
            for name in ANY:
                answers = f"COUNT(*) FILTER ({name} IS NOT NULL OR {name} IS NULL), COUNT(hash({name}))"
                assert engine.run(f"SELECT {answers} FROM data") == [(11, 11)]


JSON = {
    '"é"': "é",
    "1": "1",
    "1.0": "1",
    "1e16": "10000000000000000",
    "true": "true",
    '"2020-02-03"': "2020-02-03",
    "null": None,
    '{"a": 1}': None,
    "[1]": None,
}


def test_a_cell_of_json_says_what_it_would_say_alone(tmp_path: Path) -> None:
    """One list or structure makes a column of texts or numbers one of JSON, and one text a column of structures."""
    path = tmp_path / "t.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE kept (x JSON)")
        connection.executemany("INSERT INTO kept VALUES (?)", [[cell] for cell in JSON])
    assert read(path, Text()) == [*JSON.values()]
    odd = ["{bad", "", "[" * 3000, '"\\ud800"', "1 x"]
    cells = pa.ExtensionArray.from_storage(pa.json_(pa.string()), pa.array([*JSON, *odd]))
    assert read(pa.table({"x": cells}), Text()) == [*JSON.values(), *[None] * len(odd)]


# ---- moments in another unit, or in another zone, or days among moments


def stamped(*texts: str) -> Any:
    return pd.DataFrame({"x": pd.to_datetime(pd.Series([*texts]), utc=True, format="ISO8601")})


def in_parquet(frame: Any, path: Path) -> Path:
    frame.to_parquet(path)
    return path


def in_duckdb(frame: Any, path: Path) -> Path:
    with duckdb.connect(str(path)) as connection:
        connection.register("given", pa.Table.from_pandas(frame))
        connection.execute("CREATE TABLE kept AS SELECT * FROM given")
    return path


PLACES: dict[str, Callable[[Any, Path], Any]] = {
    "pandas": lambda frame, path: frame,
    "pandas on Arrow": lambda frame, path: frame.convert_dtypes(dtype_backend="pyarrow"),
    "polars": lambda frame, path: pl.from_pandas(frame),
    "arrow": lambda frame, path: pa.Table.from_pandas(frame),
    "parquet": lambda frame, path: in_parquet(frame, path / f"{len(frame)}.parquet"),
    "duckdb": lambda frame, path: in_duckdb(frame, path / f"{len(frame)}.duckdb"),
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("column", [Date("2020-01-01", "2021-01-01"), Text()])
def test_one_moment_with_nanoseconds_changes_no_other(place: str, column: Declared, tmp_path: Path) -> None:
    ordinary = ["2020-02-03 04:05:06Z", "2020-02-03T00:00:00Z", "2020-02-03 23:59:59.5Z"]
    without, more = stamped(*ordinary), stamped(*ordinary, "2020-02-03 04:05:06.123456789Z")
    assert without.x.dtype != more.x.dtype
    found = read(PLACES[place](without, tmp_path), column)
    assert None not in found
    assert read(PLACES[place](more, tmp_path), column)[:3] == found


def test_the_last_nanosecond_of_a_day_is_of_that_day_in_every_type(tmp_path: Path) -> None:
    """One text, or one moment with a zone, makes texts of all: these keep their day, and so does what is cast."""
    moments = ["1955-03-01 23:59:59.999999999", "1969-12-31 23:59:59.999999999", "2020-02-29 23:59:59.999999999"]
    days = [date(1955, 3, 1), date(1969, 12, 31), date(2020, 2, 29)]
    path = tmp_path / "t.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE data (x TIMESTAMP_NS)")
        connection.executemany("INSERT INTO data VALUES (?)", [[moment] for moment in moments])
    for source in (
        path,
        pa.table({"x": moments}),
        pa.table({"x": pa.array([np.datetime64(moment, "ns") for moment in moments])}),
        pd.DataFrame({"x": pd.to_datetime(moments)}),
        pd.DataFrame({"x": pd.Series([*pd.to_datetime(moments), "x"], dtype=object)}),
        pd.DataFrame({"x": pd.to_datetime(moments).tz_localize("UTC")}),
    ):
        assert read(source, Date())[:3] == days


WIDE = (-18014398509481987, 18014398509481987, -9007199254740993, 9007199254740993, -(2**60) - 129, 7)
KINDS = (pa.int64(), *(pa.decimal128(digits, 0) for digits in (19, 20, 38)), pa.string())


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_a_number_is_rounded_once_whatever_digits_its_column_has(kind: pa.DataType) -> None:
    """One number with more digits widens the type of all others; 128 bits are cast to doubles in two steps."""
    table = pa.table({"x": pa.array([Decimal(one) for one in WIDE], pa.decimal128(38, 0)).cast(kind)})
    assert read(table, Float()) == [float(one) for one in WIDE]


@pytest.mark.parametrize("kind", ["UBIGINT", "HUGEINT", "UHUGEINT", "VARCHAR", "JSON", "DECIMAL(38, 0)", "DOUBLE"])
def test_whole_numbers_end_where_64_bits_end_in_every_type(kind: str, tmp_path: Path) -> None:
    """One row more widens the type of all others: neither what they are nor how they are hashed may change."""
    beyond = [2**63, 2**64 - 1024] if kind != "DECIMAL(38, 0)" else [2**63]
    path = kept(tmp_path / "t.duckdb", kind, *(f"'{one}'" for one in beyond), "NULL")
    with opened(path, ANY) as engine:
        found = engine.run("SELECT whole, typeof(whole) FROM data")
    assert found == [(2**63 - 1, "BIGINT")] * len(beyond) + [(None, "BIGINT")]


def test_negative_whole_numbers_are_hashed_alike_in_every_type(tmp_path: Path) -> None:
    hashes = set()
    for number, kind in enumerate(("BIGINT", "HUGEINT", "SMALLINT", "VARCHAR", "DOUBLE", "DECIMAL(20, 0)")):
        path = kept(tmp_path / f"{number}.duckdb", kind, "'-7'")
        with opened(path, ANY) as engine:
            hashes.add(engine.run("SELECT hash(whole) FROM data")[0])
    assert len(hashes) == 1


@pytest.mark.parametrize("declared", [Date(), Text(), Category(["2262-04-11", "20000-01-01"])], ids=repr)
@pytest.mark.parametrize(
    "end", [pd.Timestamp.max, pd.Timestamp.min, pd.Timestamp(np.datetime64("20000-01-01", "s"))], ids=str
)
def test_moments_at_the_ends_of_their_type_are_missing_alone_and_among_texts(end: Any, declared: Declared) -> None:
    alone = pd.DataFrame({"x": pd.Series([end] * 3)})
    among = pd.DataFrame({"x": pd.Series([end] * 3 + ["x"], dtype=object)})
    assert read(alone, declared) == read(among, declared)[:3] == [None] * 3


def test_what_is_no_number_is_missing_in_every_column_of_pandas() -> None:
    cells = pa.array([1.5, math.nan, None])
    for series in (
        pd.Series(pd.arrays.ArrowExtensionArray(cells)),
        pd.Series(cells.to_pylist(), dtype=object),
        pd.Series([1.5, math.nan, math.nan]),
    ):
        assert read(pd.DataFrame({"x": series}), Float()) == [1.5, None, None]


def test_a_number_of_many_bits_is_rounded_once(tmp_path: Path) -> None:
    path = kept(tmp_path / "t.duckdb", "HUGEINT", *map(str, WIDE))
    with opened(path, ANY) as engine:
        assert [cell for (cell,) in engine.run("SELECT real FROM data")] == [float(one) for one in WIDE]


@pytest.mark.parametrize(("digits", "places"), [(9, 4), (15, 4), (15, 15), (16, 4), (18, 9), (38, 4), (38, 30)])
def test_a_fraction_is_rounded_once_whatever_digits_its_column_has(digits: int, places: int) -> None:
    cells = [Decimal(text) for text in ("0.7767", "-0.0001", "0.1", "-0.3333")]
    table = pa.table({"x": pa.array(cells, pa.decimal128(digits, places))})
    assert read(table, Float()) == [float(one) for one in cells]


def test_one_moment_among_days_changes_no_day(tmp_path: Path) -> None:
    days = [date(2020, 2, 3), date(2021, 1, 1)]
    without, more = (pl.DataFrame({"x": [*days, *odd]}, strict=False) for odd in ([], [datetime(2020, 2, 3, 4, 5)]))
    assert without.dtypes != more.dtypes
    for place in ("polars", "arrow", "parquet"):
        found = []
        for number, frame in enumerate((without, more)):
            if place == "parquet":
                frame.write_parquet(tmp_path / f"{number}.parquet")
            source = {"polars": frame, "arrow": frame.to_arrow(), "parquet": tmp_path / f"{number}.parquet"}[place]
            found.append(read(source, Category(["2020-02-03", "2021-01-01"]))[:2])
        assert found[0] == found[1] == ["2020-02-03", "2021-01-01"]


@pytest.mark.parametrize(
    "cell", [date(2020, 2, 3), datetime(2020, 2, 3), np.datetime64("2020-02-03T00", "ns"), pd.Timestamp("2020-02-03")]
)
def test_midnight_says_only_its_day(cell: Any) -> None:
    assert text_of(cell) == "2020-02-03"


@pytest.mark.parametrize("zone", ["UTC", "Asia/Tokyo", "America/New_York", timezone(timedelta(hours=14))])
@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_no_zoned_moment_stops_the_others(zone: Any, unit: str) -> None:
    whole = np.iinfo(np.int64)
    ordinary = pd.Series(np.array(["2020-02-03T23:30:00", "2020-07-03"], f"datetime64[{unit}]"))
    expected = list(ordinary.dt.tz_localize("UTC").dt.tz_convert(zone).dt.date)
    for odd in (whole.max, whole.min + 1, whole.max - 10**9, *np.array(["9999-12-31", "0001-01-01"], "datetime64[s]")):
        number = odd if unit == "ns" or isinstance(odd, int) else odd.astype(f"datetime64[{unit}]").astype(np.int64)
        more = np.append(ordinary.to_numpy().view(np.int64), np.int64(number)).view(f"datetime64[{unit}]")
        frame = pd.DataFrame({"x": pd.Series(more).dt.tz_localize("UTC").dt.tz_convert(zone)})
        assert read(frame, Date())[:2] == expected


def test_the_last_day_there_is_keeps_its_text_whatever_its_column() -> None:
    """9999-12-31 often stands for never; in a column of objects, each cell is asked for itself."""
    for zone in ("UTC", "Asia/Tokyo", "America/New_York"):
        typed = pd.Series([datetime(9999, 12, 31, 5), datetime(1, 1, 2)]).dt.tz_localize("UTC").dt.tz_convert(zone)
        assert read(pd.DataFrame({"x": typed}), Text()) == [text_of(cell) for cell in typed]


def columns_on_arrow() -> dict[str, tuple[Any, Any]]:
    ones = [1] * 5

    def numbers(kind: Any, *odd: int) -> Any:
        return pa.array([*ones, *odd], pa.int64()).view(kind)

    def texts(*odd: bytes) -> Any:
        return pa.array([b"1"] * 5 + [*odd]).view(pa.string())

    def listed(*odd: bytes) -> Any:
        return pa.ListArray.from_arrays(pa.array(range(6 + len(odd)), pa.int32()), texts(*odd))

    zoned = pa.timestamp("s", "America/New_York")
    return {
        "durations": (numbers(pa.duration("s")), numbers(pa.duration("s"), 2**62)),
        "hours": (numbers(pa.time64("us")), numbers(pa.time64("us"), 2**62)),
        "zoned": (numbers(zoned), numbers(zoned, 2**60)),
        "dictionary": tuple(numbers(pa.timestamp("s"), *odd).dictionary_encode() for odd in ([], [2**60])),  # type: ignore[dict-item]
        "days": (numbers(pa.date64()), numbers(pa.date64(), -86_400_001)),
        "texts": (texts(), texts(b"\xff")),
        "dictionary of texts": (texts().dictionary_encode(), texts(b"\xff").dictionary_encode()),
        "lists": (listed(), listed(b"\xff")),
    }


@pytest.mark.parametrize("name", columns_on_arrow())
@pytest.mark.parametrize("column", [Int(), Text(), Date()])
def test_no_cell_on_arrow_stops_the_others(name: str, column: Declared) -> None:
    found = [
        read(pd.DataFrame({"x": pd.Series(pd.arrays.ArrowExtensionArray(pa.chunked_array([held])))}), column)
        for held in columns_on_arrow()[name]
    ]
    assert found[1][:5] == found[0]
    assert len(found[1]) == 6


def test_bytes_among_the_texts_of_pandas_are_missing() -> None:
    kind = type(pd.array(["a"], dtype="string[pyarrow]"))
    held = pa.chunked_array([pa.array([b"1", None, b"\xff"]).cast(pa.large_binary()).view(pa.large_string())])
    assert read(pd.DataFrame({"x": pd.Series(kind(held))}), Text()) == ["1", None, None]


# ---- numbers that are doubles because of one row


def test_a_whole_number_has_the_same_text_in_every_type() -> None:
    generator = np.random.default_rng(5)
    doubles = [1e16, 2.0**53, 2.0**60, -(2.0**80), 1e300, 1.7976931348623157e308]
    drawn = generator.integers(0, 2**64, 2000, np.uint64).view(np.float64)
    doubles += [float(one) for one in drawn if math.isfinite(one) and abs(one) >= 2**53]
    texts = [str(int(one)) for one in doubles]
    assert [text_of(one) for one in doubles] == texts
    assert [text_of(np.longdouble(one)) for one in doubles] == texts
    for source in (pd.DataFrame({"x": doubles}), pa.table({"x": doubles}), pl.DataFrame({"x": doubles})):
        assert read(source, Text()) == texts
    long = pd.DataFrame({"x": np.array(doubles, np.longdouble)})
    assert read(long, Text()) == texts
    assert read(pd.DataFrame({"x": [math.inf, -math.inf, 0.5]}), Text()) == ["inf", "-inf", "0.5"]


IDS = [2**60, 2**60 + 1]


def real_ids(path: Path) -> Iterator[Any]:
    for odd in (0.5, None, 1j, np.longdouble("0.5")):
        yield pd.DataFrame({"who": pd.concat([pd.Series(IDS), pd.Series([odd])]).infer_objects(), "x": 1})
    yield pd.DataFrame({"who": pd.Series([*IDS, 0.5]).astype("category"), "x": 1})
    yield pd.DataFrame({"who": pd.Series([*IDS, 0.5]).convert_dtypes(), "x": 1})
    yield pd.DataFrame({"who": pd.Series([*IDS, 0.5]).convert_dtypes(dtype_backend="pyarrow"), "x": 1})
    yield pd.DataFrame({"who": pd.arrays.SparseArray([*IDS, 0.5]), "x": 1})
    yield pl.DataFrame({"who": [*IDS, 0.5], "x": 1}, strict=False)
    for kind in (np.float16, np.float32, np.float64):
        yield pa.table({"who": pa.array(np.array([1, 0.5], kind)), "x": [1, 1]})
    dictionary = pa.chunked_array([pa.array([1.0, 0.5]).dictionary_encode()])
    yield pa.table({"who": dictionary, "x": [1, 1]})
    yield pd.DataFrame({"who": pd.Series(pd.arrays.ArrowExtensionArray(dictionary)), "x": 1})
    whole = pd.DataFrame({"who": pd.Series([1, 2], dtype="float32"), "x": 1})
    yield in_parquet(whole, path / "t.parquet")
    yield in_duckdb(whole, path / "t.duckdb")


def test_ids_of_a_real_type_are_refused_for_the_type_alone(tmp_path: Path) -> None:
    """Whatever they hold: from 2^53 on several people have one such number, and one row makes a column one of them."""
    for source in real_ids(tmp_path):
        with (
            pytest.raises(DataUnreadable, match="floating-point numbers") as refusal,
            opened(source, {"x": Int(0, 1)}, Person("who", 1)),
        ):
            pass
        assert 'astype("Int64")' in str(refusal.value)
        assert "0.5" not in str(refusal.value)


def test_the_cure_for_real_ids_works() -> None:
    frame = pd.DataFrame({"who": [1, 2, None], "x": 1})
    frame["who"] = frame["who"].astype("Int64")
    with opened(frame, {"x": Int(0, 1)}, Person("who", 1)) as engine:
        assert engine.run("SELECT who FROM data") == [(1,), (2,), (None,)]


def test_each_id_of_a_column_of_objects_is_weighed_by_itself() -> None:
    assert [id_of(cell) for cell in (2**60, 2.0**60, 0.5, 3.0)] == [str(2**60), None, "0.5", "3"]


def test_names_of_folders_are_no_column(tmp_path: Path) -> None:
    """Arrow makes whole numbers of them until one is a text. Told by the schema alone, so that no row decides."""
    from pyarrow import dataset

    for odd in ([], ["EC1A"]):
        folder = tmp_path / f"{len(odd)}"
        rows = pa.table({"zip": ["01234", "04321", *odd], "x": range(2 + len(odd))})
        pyarrow.parquet.write_to_dataset(rows, folder, partition_cols=["zip"])
        made = dataset.dataset(folder, partitioning="hive")
        assert made.schema.field("zip").type == (pa.string() if odd else pa.int32())
        again = pickle.loads(pickle.dumps(made))  # noqa: S301 - our own; it forgets how its folders were read
        other = dataset.FileSystemDataset(list(made.get_fragments()), made.schema, made.format, made.filesystem)
        for one in (made, again, made.replace_schema(made.schema), other):
            with pytest.raises(UsageError, match='"zip" is read off the names of folders'):
                DuckDBEngine(one, Schema("data", Row(), {"zip": Text(), "x": Int(0, 9)}))
        with pytest.raises(UsageError, match="filtered"):
            DuckDBEngine(again.filter(dataset.field("x") >= 0), Schema("data", Row(), {"zip": Text(), "x": Int(0, 9)}))
        engine = DuckDBEngine(made, Schema("data", Row(), {"x": Int(0, 9)}))
        with contextlib.closing(engine):
            assert engine.run("SELECT COUNT(x) FROM data") == [(2 + len(odd),)]


def test_a_category_that_nobody_has_decides_nothing() -> None:
    for kinds in (["a", "b"], ["a", "b", "\ud800"]):
        made = pd.Categorical.from_codes([0, 1], dtype=pd.CategoricalDtype(pd.Index(kinds, dtype=object)))
        engine = DuckDBEngine(pd.DataFrame({"x": made}), Schema("data", Row(), {"x": Text()}))
        with contextlib.closing(engine):
            assert sorted(engine.run("SELECT x FROM data")) == [("a",), ("b",)]
