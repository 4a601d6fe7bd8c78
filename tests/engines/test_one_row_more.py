"""One row that changes the type of a column changes no other row: pairs of tables in which a hostile look found one."""

from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.door import written
from sfumato.engines.arrange import look
from sfumato.engines.duckdb.cells import text_of
from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.schema.columns import Category, Date, Declared, Float, Int, Text
from sfumato.schema.table import Schema
from sfumato.schema.unit import Person, Row

ROWS = 6
DECLARED: dict[str, Declared | None] = {
    "date": Date(),
    "text": Text(),
    "whole": Int(),
    "real": Float(),
    "category": Category(["0.00001", "0.00000095367431640625", "1"]),
    "id": None,
}


def read(source: Any, declared: Declared | None) -> list[tuple[Any, ...]]:
    """Values and hashes of the rows that both tables have, in the order of "x"."""
    if declared is None:
        schema = Schema("people", Person("v", max_rows=1), {"x": Int()})
    else:
        schema = Schema("people", Row(), {"x": Int(), "v": declared})
    engine = DuckDBEngine(source, schema)
    try:
        return engine.run(f"SELECT v, hash(v) FROM people ORDER BY x LIMIT {ROWS}")
    finally:
        engine.close()


def framed(series: Any) -> pd.DataFrame:
    return pd.DataFrame({"x": range(len(series)), "v": series.reset_index(drop=True)})


def beside_a_text(series: Any) -> tuple[Any, Any]:
    return framed(series), framed(pd.concat([series, pd.Series(["x"], dtype=object)]))


def zoned_on_arrow(unit: str, zone: str, moment: str) -> tuple[Any, Any]:
    moments = np.array([moment] * ROWS, dtype=f"datetime64[{unit}]")
    return beside_a_text(
        pd.Series(pa.array(moments).cast(pa.timestamp(unit, zone)), dtype=pd.ArrowDtype(pa.timestamp(unit, zone)))
    )  # type: ignore[call-overload]


def extension(kind: Any, cells: Any) -> tuple[Any, Any]:
    held = pa.chunked_array([pa.ExtensionArray.from_storage(kind, cells)])
    return beside_a_text(pd.Series(pd.arrays.ArrowExtensionArray(held)))  # type: ignore[attr-defined]


def pairs() -> Iterator[tuple[str, Any, Any]]:
    for moment in ("2050-07-01 22:30", "2038-07-01 22:30", "2024-07-01 22:30", "1900-07-01 22:30"):
        for unit in ("s", "us", "ns"):
            for zone in ("Europe/Berlin", "America/New_York", "+02:00"):
                yield f"{moment} {unit} {zone}", *zoned_on_arrow(unit, zone, moment)
    for zone, moment in ((timezone(timedelta(hours=14)), "9999-12-31T23:30"), ("America/New_York", "0001-01-01T00:30")):
        utc = pd.Series(np.array([moment] * ROWS, "datetime64[us]")).dt.tz_localize("UTC")
        yield f"the end of time {moment}", *beside_a_text(utc.dt.tz_convert(zone))  # type: ignore[arg-type]
    for skipped in (datetime(2024, 3, 31, 2, 30), datetime(2024, 10, 27, 2, 30), datetime(2024, 10, 27, 2, 30, fold=1)):
        cells = [skipped.replace(tzinfo=ZoneInfo("Europe/Berlin"))] * ROWS
        yield f"an hour {skipped} {skipped.fold}", framed(pd.Series(cells)), framed(pd.Series([*cells, "x"]))
    yield "bool8", *extension(pa.bool8(), pa.array([1, 0, None, 1, 0, 1], pa.int8()))
    yield "json", *extension(pa.json_(), pa.array(["1", '"a"', None, "2", "1.5", "{}"]))
    yield (
        "hundreds",
        *beside_a_text(pd.Series([Decimal(100), None] * 3, dtype=pd.ArrowDtype(pa.decimal128(5, -2)))),  # type: ignore[call-overload]
    )
    for number in (Decimal(2) ** -20, Decimal("0.5"), Decimal("0.00001"), -(Decimal(2) ** -30), Decimal(2) ** -38):
        table = pl.DataFrame(
            {"x": range(ROWS), "v": pl.Series([number] * ROWS, dtype=pl.Decimal(38, 38 if abs(number) < 1e-3 else 20))}
        )
        yield (
            f"decimals {number}",
            table,
            pl.concat([table, pl.DataFrame({"x": [ROWS], "v": [1e300]})], how="vertical_relaxed"),
        )

    for clock in ("America/New_York", "Europe/Berlin", "UTC"):
        moments = [datetime(2020, 2, 3 + day, 23, 30, tzinfo=ZoneInfo(clock)) for day in range(ROWS)]
        yield f"objects of Polars {clock}", *after_another([*moments])
    yield "objects of Polars without a clock", *after_another([datetime(2020, 2, 3, 23, 30)] * ROWS)


def after_another(cells: list[Any]) -> tuple[Any, Any]:
    """The first cell tells Polars what its column is of."""
    numbered = pl.DataFrame({"x": range(ROWS), "v": cells})
    first = pl.DataFrame({"x": [ROWS, *range(ROWS)], "v": [UUID(int=7), *cells]}, strict=False)
    assert first.schema["v"] == pl.Object()
    return numbered, first


PAIRS = {name: (before, after) for name, before, after in pairs()}


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("declared", DECLARED)
def test_one_row_more_changes_no_other(name: str, declared: str) -> None:
    before, after = PAIRS[name]
    if declared == "id" and name.startswith("decimals"):
        return  # a column of doubles is refused as ids, which SECURITY says
    assert read(before, DECLARED[declared]) == read(after, DECLARED[declared])


@pytest.mark.parametrize("kind", ["DECIMAL(9,5)", "DECIMAL(18,8)", "DECIMAL(38,20)"])
@pytest.mark.parametrize("declared", ["text", "category", "real", "whole"])
def test_a_double_among_decimals(kind: str, declared: str, tmp_path: Path) -> None:
    found = []
    for name, more in (("before", ""), ("after", f" UNION ALL SELECT {ROWS}, 1e300::DOUBLE")):
        path = tmp_path / f"{name}.duckdb"
        with duckdb.connect(str(path)) as connection:
            numbers = f"SELECT i AS x, ((i - 2) * 0.00001::DECIMAL(9,5))::{kind} AS v FROM range({ROWS}) t(i)"
            connection.execute(f"CREATE TABLE people AS SELECT x, v::{kind} AS v FROM ({numbers}){more}")
        found.append(read(path, DECLARED[declared]))
    assert found[0] == found[1]


@pytest.mark.parametrize("hers", [[], ['{"who": 99999, "v": "x", "x": 0}']])
def test_which_rows_are_joined_does_not_follow_from_how_missing_numbers_are_written(
    hers: list[str], tmp_path: Path
) -> None:
    """One text makes JSON of a column of doubles, where NaN is missing; of several rows some are chosen by a hash."""
    rows = [f'{{"who": {i // 4}, "v": {"NaN" if i % 4 < 2 else i % 4}, "x": {i % 4}}}' for i in range(4000)]
    lines, path = tmp_path / "rows.jsonl", tmp_path / "rows.duckdb"
    lines.write_text("\n".join([*rows, *hers]))
    with duckdb.connect(str(path)) as connection:
        connection.execute(f"CREATE TABLE people AS SELECT * FROM read_json_auto('{lines}')")
        kind = connection.execute("SELECT typeof(v) FROM people").fetchone()
    assert kind == ("JSON" if hers else "DOUBLE",)
    unit, columns = sf.Person("who", max_rows=1), {"v": sf.Float(0, 9), "x": sf.Int(0, 9)}
    question = "SELECT COUNT(*) AS n FROM people AS a JOIN people AS b ON a.who = b.who WHERE b.x >= 2"
    with sf.protect(
        path, table="people", unit=unit, columns=columns, budget=sf.Budget(1), ledger=tmp_path / "a.ledger"
    ) as session:
        (asked,) = session._prepare(question, 1).planned
        found = look(
            session._engine, asked.certified.countings, written(asked.certified, session._engine.dialect)
        ).entries
    assert found == [(JOINED,)]


JOINED = 553


def test_numbers_are_written_alike_by_python_and_by_the_engine() -> None:
    chance = np.random.default_rng(5)
    drawn = [*chance.standard_normal(300), *(10.0 ** chance.uniform(-320, 20, 2000))]
    reals = [*map(float, drawn), 5e-324, 1e-4, 9.9e-5, 1e-5, 0.1]
    reals += [-real for real in reals]
    engine = DuckDBEngine(pa.table({"v": reals}), Schema("people", Row(), {"v": Text()}))
    try:
        found = [text for (text,) in engine.run("SELECT v FROM people")]
    finally:
        engine.close()
    assert found == [text_of(real) for real in reals]
    assert [float(text) for text in found] == reals
    assert not any("e" in text for text in found)
    exact = [real for real in reals if abs(real) < 2**53]  # of larger ones the shortest text is another number
    assert [text_of(Decimal(repr(real))) for real in exact] == [text_of(real) for real in exact]


def test_a_decimal_that_is_not_whole_is_the_double_next_to_it() -> None:
    cells = [
        "0.12345678901234567890",
        "-9007199254740993.50000000000000000000",
        "123456789012345678.00000000000000000000",
    ]
    table = pa.table({"v": pa.array([Decimal(cell) for cell in cells], pa.decimal128(38, 20))})
    engine = DuckDBEngine(table, Schema("people", Row(), {"v": Text()}))
    try:
        found = [text for (text,) in engine.run("SELECT v FROM people")]
    finally:
        engine.close()
    assert found == ["0.12345678901234568", "-9007199254740994", "123456789012345678"]
    assert found == [text_of(Decimal(cell)) for cell in cells]
