"""One table in every place that Sfumato reads from."""

import contextlib
import json
import sqlite3
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

FORMS = ["memory", "csv", "parquet", "json lines", "duckdb", "sqlite", "directory"]


def stored_as(form: str, table: pa.Table, folder: Path, stem: str = "people") -> Any:
    """The source for a session; `memory` is the table itself."""
    match form:
        case "memory":
            return table
        case "pandas":
            return table.to_pandas()
        case "csv":
            path = folder / f"{stem}.csv"
            pyarrow.csv.write_csv(table, path)
        case "parquet":
            path = folder / f"{stem}.parquet"
            pyarrow.parquet.write_table(table, path)
        case "json lines":
            path = folder / f"{stem}.jsonl"
            rows = [{name: value for name, value in row.items() if value is not None} for row in table.to_pylist()]
            path.write_text("".join(json.dumps(row, default=str) + "\n" for row in rows), encoding="utf-8")
        case "duckdb":
            path = folder / f"{stem}.duckdb"
            with duckdb.connect(str(path)) as connection:
                connection.register("given", table)
                connection.execute("CREATE TABLE kept AS SELECT * FROM given")
        case "sqlite":
            path = folder / f"{stem}.sqlite"
            with contextlib.closing(sqlite3.connect(path)) as connection:
                connection.execute(f"CREATE TABLE kept ({', '.join(table.column_names)})")
                rows = [tuple(map(_for_sqlite, row.values())) for row in table.to_pylist()]
                connection.executemany(f"INSERT INTO kept VALUES ({', '.join('?' * table.num_columns)})", rows)
                connection.commit()
        case "directory":
            path = folder / stem
            path.mkdir()
            for i in range(max(1, table.num_rows)):  # a file a row, and what other programs leave beside
                pyarrow.parquet.write_table(table.slice(i, 1), path / f"part-{i:05}.parquet")
            (path / "_SUCCESS").touch()
        case _:
            raise ValueError(form)
    return path


def _for_sqlite(value: Any) -> Any:
    """SQLite has no decimals and no whole numbers beyond 64 bits."""
    return str(value) if isinstance(value, Decimal) or (isinstance(value, int) and abs(value) >= 2**63) else value
