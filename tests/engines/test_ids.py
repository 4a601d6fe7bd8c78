"""Different ids are different people, or nobody: what makes one of two lets a person move more than is certified."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sfumato.engines.duckdb import cells
from sfumato.engines.duckdb.cells import id_of
from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.schema.columns import Int
from sfumato.schema.table import Schema
from sfumato.schema.unit import Person

SCHEMA = Schema("t", Person("id", max_rows=1), {"x": Int(0, 9)})
BERLIN = "Europe/Berlin"
TWICE = ("2024-10-27T00:30:00", "2024-10-27T01:30:00")  # of UTC: in Berlin both are half past two


def ids(source: object) -> list[Any]:
    engine = DuckDBEngine(source, SCHEMA)
    try:
        return [found for (found,) in engine.run('SELECT "id" FROM "t" ORDER BY "x"')]
    finally:
        engine.close()


# ---- decimals

CENTS = [Decimal(cell) for cell in ("12345678901234567.10", "12345678901234567.20", "0.30", "-0.30", "7.00", "0.00")]
DIGITS = ["12345678901234567.1", "12345678901234567.2", "0.3", "-0.3", "7", "0"]


def test_decimals_keep_their_digits_as_ids(tmp_path: Path) -> None:
    """The double next to two of them is one number."""
    table = pa.table({"id": pa.array(CENTS, pa.decimal128(20, 2)), "x": range(len(CENTS))})
    pq.write_table(table, tmp_path / "t.parquet")
    places = [
        table,
        tmp_path / "t.parquet",
        pl.DataFrame(table),
        table.to_pandas(),
        table.to_pandas(types_mapper=pd.ArrowDtype),
    ]
    assert [ids(place) for place in places] == [DIGITS] * len(places)
    assert id_of(Decimal("NaN")) is None
    assert id_of(Decimal(1).scaleb(500)) is None
    assert id_of(Decimal(7) / 10**30) == "0." + "0" * 29 + "7"


# ---- numbers in JSON

NUMBERS = (
    *("123456789012345678901234", "123456789012345678901235", "18446744073709551616", "18446744073709551617"),
    *("-9223372036854775809", "-9223372036854775810", "12345678901234567890", "12345678901234567891", "7", "-7"),
)
ROUNDED = ("9007199254740992.0", "9007199254740993.0", "0.12345678901234567", "0.12345678901234568", "1e30", "1.0e30")


def as_table(values: tuple[str, ...], place: str) -> None:
    with duckdb.connect(place) as connection:
        connection.execute("CREATE TABLE t (id JSON, x BIGINT)")
        connection.executemany("INSERT INTO t VALUES (?, ?)", [(value, row) for row, value in enumerate(values)])


def in_duckdb(values: tuple[str, ...], folder: Path) -> object:
    as_table(values, str(folder / "t.duckdb"))
    return folder / "t.duckdb"


def in_parquet(values: tuple[str, ...], folder: Path) -> object:
    as_table(values, str(folder / "t.duckdb"))
    with duckdb.connect(str(folder / "t.duckdb")) as connection:
        connection.execute(f"COPY t TO '{folder / 't.parquet'}'")
    return folder / "t.parquet"


def in_arrow(values: tuple[str, ...], folder: Path) -> object:
    return pa.table({"id": pa.array(values, pa.json_()), "x": list(range(len(values)))})


def in_lines(values: tuple[str, ...], folder: Path) -> object:
    (folder / "t.jsonl").write_text("".join(f'{{"id": {value}, "x": {row}}}\n' for row, value in enumerate(values)))
    return folder / "t.jsonl"


JSON = pytest.mark.parametrize("place", [in_duckdb, in_parquet, in_arrow, in_lines])
Place = Callable[[tuple[str, ...], Path], object]


@JSON
def test_whole_numbers_in_json_keep_their_digits(place: Place, tmp_path: Path) -> None:
    assert ids(place(NUMBERS, tmp_path)) == list(NUMBERS)


@JSON
def test_numbers_that_json_may_round_are_nobodys(place: Place, tmp_path: Path) -> None:
    assert ids(place((*ROUNDED, "3"), tmp_path)) == [None] * len(ROUNDED) + ["3"]


@JSON
def test_texts_in_json_are_what_they_say(place: Place, tmp_path: Path) -> None:
    said = ("ann", "Ä\n", '"', "1.0", "007", "", " 7", "null")
    values = (*(json.dumps(one) for one in said), "null", "true", "{}", "[1]")
    assert ids(place(values, tmp_path)) == [*said, None, "true", None, None]


# ---- moments with a zone


def zoned_column() -> pd.Series:
    return pd.Series(pd.to_datetime([*TWICE], utc=True).tz_convert(BERLIN))


def held_by_arrow() -> pd.Series:
    return zoned_column().astype(pd.ArrowDtype(pa.timestamp("us", BERLIN)))


def objects() -> pd.Series:
    return zoned_column().astype(object)


def of_python() -> pd.Series:
    shown = datetime(2024, 10, 27, 2, 30, tzinfo=timezone(timedelta(hours=2)))
    return pd.Series([shown, shown.replace(tzinfo=timezone(timedelta(hours=1)))], dtype=object)


def in_groups() -> pd.Series:
    return zoned_column().astype("category")


@pytest.mark.parametrize("column", [zoned_column, held_by_arrow, objects, of_python, in_groups])
def test_an_hour_that_a_clock_shows_twice_is_two_people(column: Callable[[], pd.Series]) -> None:
    """And one text whatever the type of the column is, which one row may change."""
    assert ids(pd.DataFrame({"id": column(), "x": [0, 1]})) == [
        "2024-10-27 00:30:00+00:00",
        "2024-10-27 01:30:00+00:00",
    ]


def test_the_same_in_columns_that_have_a_zone_of_their_own() -> None:
    moments = pa.array(np.array(TWICE, dtype="datetime64[us]")).cast(pa.timestamp("us", BERLIN))
    table = pa.table({"id": moments, "x": [0, 1]})
    assert len(set(ids(table))) == len(set(ids(pl.from_arrow(table)))) == 2


def test_clocks_without_a_zone_are_not_taken_for_those_of_one() -> None:
    naive = datetime(2024, 10, 27, 0, 30)
    assert id_of(naive) == "2024-10-27 00:30:00"
    assert id_of(naive.replace(tzinfo=UTC)) == "2024-10-27 00:30:00+00:00"
    assert id_of(datetime(2024, 10, 27)) == "2024-10-27"
    assert id_of(datetime(2024, 10, 27, tzinfo=UTC)) == "2024-10-27+00:00"


class Loud(tzinfo):
    def utcoffset(self, _: datetime | None) -> timedelta:
        raise RuntimeError("looked at")


@pytest.mark.parametrize(
    "cell", [datetime(2024, 1, 1, tzinfo=Loud()), datetime.max.replace(tzinfo=timezone(-timedelta(1 / 24)))]
)
def test_a_zone_that_says_nothing_makes_nobody(cell: datetime) -> None:
    assert id_of(cell) is None
    assert cells.text_of(cell) == str(cell.replace(tzinfo=None)).removesuffix(" 00:00:00")


@pytest.mark.parametrize(
    ("cell", "found"),
    [
        (np.longdouble(2**53) + np.longdouble("0.5"), None),
        (np.longdouble("0.1"), None),
        (np.longdouble(2**60) + 1, str(2**60 + 1)),
        (np.longdouble(2) ** (np.finfo(np.longdouble).nmant + 1), None),  # from here on neighbours look alike
        (np.clongdouble(7), "7"),
        (np.clongdouble("0.1"), None),
        (np.float32(2**53), None),
        (np.float32(2**24), str(2**24)),
        (float(2**53), None),
        (float(2**53 - 1), str(2**53 - 1)),
        (complex(2**53), None),
        (1.5, "1.5"),
    ],
    ids=repr,
)
def test_a_number_that_may_be_a_neighbours_is_nobodys(cell: Any, found: str | None) -> None:
    assert id_of(cell) == found


def test_one_by_one_and_together_they_have_the_same_texts() -> None:
    said = ["2024-10-27T00:30:00.5", "2024-10-27", "NaT", "1999-12-31T23:59:59.123456789"]
    together = cells.zoned_ids(np.array(said, dtype="datetime64[ns]")).to_pylist()
    assert together == [id_of(pd.Timestamp(one, tz="UTC")) for one in said]
    assert together[2] is None
