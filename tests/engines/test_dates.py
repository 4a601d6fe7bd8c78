"""A column of dates, whatever it was before: days of the years 1 to 9999, and NULL for everything else."""

from datetime import UTC, date, datetime, time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest

from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.schema.columns import Date
from sfumato.schema.table import Schema
from sfumato.schema.unit import Row

SCHEMA = Schema("people", Row(), {"d": Date("2000-01-01", "2030-12-31")})
DAY = date(2024, 1, 31)


@pytest.mark.parametrize(
    ("values", "kind", "days"),
    [
        ([DAY, None, date(1, 1, 1), date(9999, 12, 31)], pa.date32(), [DAY, None, date(1, 1, 1), date(9999, 12, 31)]),
        ([datetime(2024, 1, 31, 23, 59), None], pa.timestamp("ns"), [DAY, None]),
        ([datetime(2024, 1, 31, 12, tzinfo=UTC), None], pa.timestamp("us", tz="UTC"), [DAY, None]),
        (["2024-01-31", "2024-01-31 23:59:59", "2024-02-30", "x", "", None], pa.string(), [DAY, DAY] + [None] * 4),
        (["infinity", "-infinity", "12000-01-01", "0044-03-15 (BC)"], pa.string(), [None] * 4),
        ([20240131, 0, None], pa.int64(), [None] * 3),
        ([1.5, float("nan")], pa.float64(), [None] * 2),
        ([True, False], pa.bool_(), [None] * 2),
        ([time(12), None], pa.time64("us"), [None] * 2),
    ],
)
@pytest.mark.parametrize("form", ["frame", "parquet"])
def test_what_is_no_day_is_null_and_never_an_error(
    tmp_path: Path, values: list[Any], kind: pa.DataType, days: list[Any], form: str
) -> None:
    source: Any = pa.table({"d": pa.array(values, kind)})
    if form == "parquet":
        pyarrow.parquet.write_table(source, tmp_path / "people.parquet")
        source = tmp_path / "people.parquet"
    engine = DuckDBEngine(source, SCHEMA)
    found = engine.run("SELECT typeof(d), d FROM people")
    engine.close()
    assert [row[1] for row in found] == days
    assert {row[0] for row in found} == {"DATE"}
