"""SQLite files, read once through Python's own sqlite3: DuckDB's extension for them is a download."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from sfumato.engines.duckdb.cells import text_of, texts_of
from sfumato.engines.sql.phrases import quoted
from sfumato.engines.wordings import file_locked, no_tables, table_absent, table_needed, view_refused
from sfumato.errors import file_unreadable

if TYPE_CHECKING:
    import pyarrow as pa

ROWS_AT_ONCE = 50_000
PATIENCE_SECONDS = 2.0


def choose_table(path: Path, wanted: str | None, *, show_names: bool = False) -> str:
    """The table that was asked for, or the only one."""
    with closing(_connect(path)) as connection:
        found = _rows(connection, "SELECT name, type FROM sqlite_master WHERE type IN ('table', 'view')", path.name)
    tables = [name for name, kind in found if kind == "table" and not name.startswith("sqlite_")]
    if wanted is None:
        if not tables:
            raise no_tables(path.name)
        if len(tables) > 1:
            raise table_needed(path.name, tables if show_names else ())
        return str(tables[0])
    if wanted in tables:
        return wanted
    if (wanted, "view") in found:
        raise view_refused(path.name, wanted)
    raise table_absent(path.name, wanted, tables)


def columns_of(path: Path, table: str) -> dict[str, str]:
    """Names and declared types, which SQLite does not enforce."""
    with closing(_connect(path)) as connection:
        found = _rows(connection, f"SELECT name, type FROM pragma_table_xinfo({_literal(table)})", path.name)
    return {name: kind or "TEXT" for name, kind in found}


def computed_columns(path: Path, table: str) -> set[str]:
    """Columns that SQLite computes when a row is read, which may fail on single rows."""
    with closing(_connect(path)) as connection:
        query = f"SELECT name, type FROM pragma_table_xinfo({_literal(table)}) WHERE hidden IN (2, 3)"
        return {name for name, _ in _rows(connection, query, path.name)}


def read(path: Path, table: str, names: Sequence[str], unit_id: str | None) -> "pa.RecordBatchReader":
    """The columns as texts: in SQLite each cell has a type of its own. Bytes that are no text in UTF-8 are NULL."""
    import pyarrow as pa  # noqa: PLC0415 - slow to load

    schema = pa.schema([(name, pa.large_string()) for name in names])

    def batches() -> Iterator[pa.RecordBatch]:
        with closing(_connect(path)) as connection:
            # Qualified: SQLite takes an unknown name in quotes for a text.
            listed = ", ".join(f"t.{quoted(name)}" for name in names)
            cursor = connection.execute(f"SELECT {listed} FROM {quoted(table)} AS t")
            while rows := cursor.fetchmany(ROWS_AT_ONCE):
                columns = zip(*rows, strict=True)
                texts = [texts_of(cells, ids=name == unit_id) for name, cells in zip(names, columns, strict=True)]
                yield pa.RecordBatch.from_arrays(texts, schema=schema)

    return pa.RecordBatchReader.from_batches(schema, batches())


def _connect(path: Path) -> sqlite3.Connection:
    """Read-only, and texts as bytes: they need not be in UTF-8."""
    address = f"file:{quote(str(path))}?mode=ro"
    # The engine fetches batches in threads of its own, one at a time.
    try:
        connection = sqlite3.connect(address, uri=True, timeout=PATIENCE_SECONDS, check_same_thread=False)
    except sqlite3.Error:
        raise file_unreadable(path.name, "it may not be opened") from None
    connection.text_factory = bytes
    return connection


def _rows(connection: sqlite3.Connection, sql: str, name: str) -> list[tuple[str, str]]:
    try:
        return [(str(text_of(first)), str(text_of(second) or "")) for first, second in connection.execute(sql)]
    except sqlite3.Error as error:
        if "locked" in str(error):
            raise file_locked(name) from None
        if "unable to open" in str(error):
            raise file_unreadable(name, "it, or the log beside it, may not be opened") from None
        raise file_unreadable(name, "it is damaged or of another kind than its name says") from None


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
