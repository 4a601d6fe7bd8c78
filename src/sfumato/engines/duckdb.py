"""DuckDB as an engine, not as a boundary: it sees only SQL that `engines.emit` wrote, and can reach nothing else."""

import csv
import os
from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import Any

import duckdb

from sfumato.engines.beside import Copied, Loaded, Scanned, file_version, fingerprint, load_beside
from sfumato.engines.expressions import quoted
from sfumato.errors import (
    DataUnreadable,
    column_absent,
    engine_failed,
    file_kind_unknown,
    file_missing,
    file_unreadable,
    frame_unknown,
    session_closed,
    session_of_another_process,
)
from sfumato.schema.columns import Category, Column, Float, Int
from sfumato.schema.table import Schema
from sfumato.schema.unit import Person

WHOLE = {
    "TINYINT",
    "SMALLINT",
    "INTEGER",
    "BIGINT",
    "HUGEINT",
    "UTINYINT",
    "USMALLINT",
    "UINTEGER",
    "UBIGINT",
}  # not UHUGEINT: compared with a negative number it would fail on single rows
REAL = {"FLOAT", "DOUBLE"}
WILDCARDS = "*?["
SEPARATORS = ",;\t|"
# Statistics of a file leave out NaN: a rewrite that trusts them takes NaN for a number, or not, depending on the other
# rows (docs/decisions/0005-statistics-and-nan.md).
DISTRUSTED = "statistics_propagation"
RAW = "sfumato_raw"
FRAMES = {
    ("pandas", "DataFrame"),
    ("polars", "DataFrame"),
    ("polars", "LazyFrame"),
    ("pyarrow", "Table"),
    ("pyarrow", "RecordBatch"),
    ("pyarrow", "RecordBatchReader"),
    ("pyarrow", "FileSystemDataset"),
    ("pyarrow", "InMemoryDataset"),
}
FRAME = "sfumato_frame"


class DuckDBEngine:
    """One private table: CSV files and frames are copied in at the start, Parquet files are scanned in place."""

    dialect = "duckdb"

    def __init__(self, source: object, schema: Schema) -> None:
        self._pid = os.getpid()
        self._connection = duckdb.connect(":memory:")
        self._connection.execute(f"SET disabled_optimizers = '{DISTRUSTED}'")
        self._closed = False
        self._one_at_a_time = Lock()
        first = self._load(source, schema)
        self._tables: list[Loaded] = [first, *load_beside(schema, self._load, self._connection.execute)]
        self._lock_down()

    def version(self) -> str:
        """Names the state of the data: path, size and modification time, or the content of a frame.

        A file scanned in place is looked at anew; one that has gone is reported here, before anything is charged.
        """
        if self._closed:
            raise session_closed()
        if self._pid != os.getpid():
            raise session_of_another_process()
        return "\n".join(table.version(self._connection.execute) for table in self._tables)

    def run(self, sql: str) -> list[tuple[Any, ...]]:
        """The rows of a query; a failure says nothing about the data."""
        with self._one_at_a_time:  # a cursor would be a connection of its own, without the settings of this one
            try:
                return self._connection.execute(sql).fetchall()
            except (duckdb.Error, RuntimeError):
                raise engine_failed() from None

    def close(self) -> None:
        self._closed = True
        self._connection.close()

    def _load(self, source: object, schema: Schema) -> Loaded:
        if not isinstance(source, str | os.PathLike):
            self._load_frame(source, schema)
            return Copied(fingerprint(schema, self._connection.execute))
        path = Path(source).resolve()
        self._load_file(path, schema)
        return Scanned((path,)) if path.suffix.lower() == ".parquet" else Copied(file_version(path))

    def _load_file(self, path: Path, schema: Schema) -> None:
        _check_path(path)
        match path.suffix.lower():
            case ".csv" | ".tsv":
                self._load_csv(path, schema)
            case ".parquet":
                self._create("VIEW", f"read_parquet({_text(path)})", schema, path.name)
            case _:
                raise file_kind_unknown(str(path))

    def _load_csv(self, path: Path, schema: Schema) -> None:
        """As texts first: a cast inside the reader would fail where TRY_CAST gives NULL."""
        separator, names = _header(path)
        columns = ", ".join(f"{_literal(name)}: 'VARCHAR'" for name in names)
        try:
            if names:
                self._connection.execute(
                    f"CREATE TABLE {RAW} AS SELECT * FROM read_csv({_text(path)}, auto_detect = false, header = true, "
                    f"delim = {_literal(separator)}, quote = '\"', escape = '\"', columns = {{{columns}}}, "
                    "strict_mode = true, null_padding = false, ignore_errors = false)"
                )
            else:
                self._connection.execute(f"CREATE TABLE {RAW} (nothing INTEGER)")
        except duckdb.Error as error:
            raise _unreadable(path.name, error) from None
        self._create("TABLE", RAW, schema, path.name)
        self._connection.execute(f"DROP TABLE {RAW}")

    def _load_frame(self, frame: object, schema: Schema) -> None:
        module = type(frame).__module__.partition(".")[0]
        if (module, type(frame).__name__) not in FRAMES:
            raise frame_unknown(type(frame).__name__)
        try:
            if module == "polars":
                frame = frame.lazy().collect().to_arrow()  # type: ignore[attr-defined]
            self._connection.register(FRAME, frame)
        except Exception:  # noqa: BLE001 - other people's converters, whose messages may quote a value
            raise file_unreadable("the table", "its columns are of a kind DuckDB does not take") from None
        self._create("TABLE", FRAME, schema, "the table")
        self._connection.unregister(FRAME)

    def _create(self, kind: str, source: str, schema: Schema, name: str) -> None:
        try:
            described = self._connection.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()
            physical = {row[0]: row[1] for row in described}
            columns = ", ".join(_canonical_columns(schema, physical))
            self._connection.execute(f"CREATE {kind} {quoted(schema.table)} AS SELECT {columns} FROM {source}")
        except duckdb.Error:
            raise file_unreadable(name, "it is damaged or of another kind than its name says") from None

    def _lock_down(self) -> None:
        """No file, no network, no extension, no Python variable; and nobody can change that again."""
        allowed = ", ".join(_text(path) for table in self._tables for path in table.files)
        self._connection.execute(f"SET allowed_paths = [{allowed}]")
        for setting in (
            "enable_external_access = false",
            "python_enable_replacements = false",
            "autoinstall_known_extensions = false",
            "autoload_known_extensions = false",
            "lock_configuration = true",
        ):
            self._connection.execute(f"SET {setting}")


def _canonical_columns(schema: Schema, physical: dict[str, str]) -> Sequence[str]:
    declared: dict[str, Column | None] = dict(schema.columns)
    if isinstance(schema.unit, Person):
        declared[schema.unit.id] = None
    columns = []
    for name, column in declared.items():
        if name not in physical:
            raise column_absent(name, physical)
        columns.append(f"{_canonical(quoted(name), column, physical[name])} AS {quoted(name)}")
    return columns


def _canonical(name: str, column: Column | None, physical: str) -> str:
    """The column in the type its declaration promises; what does not fit becomes NULL, never an error."""
    match column:
        case None:
            return f"nullif({name}, CAST('NaN' AS DOUBLE))" if physical in REAL else name
        case Category(values=values) if isinstance(values[0], bool):
            return f"CAST(TRY_CAST({name} AS BOOLEAN) AS VARCHAR)"
        case Category(values=values) if isinstance(values[0], int):
            return name if physical in WHOLE else f"TRY_CAST({name} AS BIGINT)"
        case Int():
            return name if physical in WHOLE else f"TRY_CAST({name} AS BIGINT)"
        case Float():
            return name if physical == "DOUBLE" else f"TRY_CAST({name} AS DOUBLE)"
        case _:
            return name if physical == "VARCHAR" else f"TRY_CAST({name} AS VARCHAR)"


def _unreadable(name: str, error: duckdb.Error) -> DataUnreadable:
    """The cause in our own words: the engine's text would quote the file."""
    said = str(error).lower()
    if "utf" in said or "unicode" in said or "encod" in said:
        return file_unreadable(name, "it is not valid UTF-8")
    if "column" in said or "csv" in said or "sniff" in said:
        return file_unreadable(name, "its rows do not all have as many fields as its header")
    return file_unreadable(name, "it is damaged or of another kind than its name says")


def _check_path(path: Path) -> None:
    if any(sign in str(path) for sign in WILDCARDS):
        raise file_unreadable(path.name, "its path holds *, ? or [, which would be read as a pattern")
    if not path.is_file():
        raise file_missing(str(path))


def _header(path: Path) -> tuple[str, list[str]]:
    """The separator and the column names, from the first line alone: no row can change how the file is read."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as lines:
            first = lines.readline()
            separator = max(SEPARATORS, key=first.count)
            lines.seek(0)
            names = next(csv.reader(lines, delimiter=separator), [])
    except (UnicodeDecodeError, csv.Error):
        raise file_unreadable(path.name, "it is not valid UTF-8") from None
    if len({name.casefold() for name in names}) < len(names):
        raise file_unreadable(path.name, "two columns have the same name")
    return separator, names


def _text(path: Path) -> str:
    return _literal(str(path))


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def describe(path: Path) -> dict[str, str]:
    """Column names and guessed types of a file."""
    _check_path(path)
    match path.suffix.lower():
        case ".csv" | ".tsv":
            source = f"read_csv({_text(path)}, header = true, delim = {_literal(_header(path)[0])})"
        case ".parquet":
            source = f"read_parquet({_text(path)})"
        case _:
            raise file_kind_unknown(str(path))
    try:
        with duckdb.connect(":memory:") as connection:
            return {row[0]: row[1] for row in connection.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()}
    except duckdb.Error as error:
        raise _unreadable(path.name, error) from None
