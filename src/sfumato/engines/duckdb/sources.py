"""Where a private table is kept, and how it gets in front of the engine: copied once, or scanned in place."""

import os
from collections.abc import Callable
from pathlib import Path

import duckdb

from sfumato.engines.duckdb import sqlite
from sfumato.engines.duckdb.canonical import declared_columns, id_of_unit
from sfumato.engines.duckdb.files import (
    BYTE_ORDER_MARK,
    beginning,
    compression,
    ending,
    folder,
    header,
    holds_rows,
    one_file,
    plain_rows,
    source_kind,
    state,
)
from sfumato.engines.duckdb.frames import typed, unlike_any
from sfumato.engines.duckdb.in_place import ATTACHED, Scanned, attach, duckdb_file, parquet_files, reading, same_columns
from sfumato.engines.duckdb.tables import TORN, Connection, Copied, create, fingerprint, unreadable
from sfumato.engines.sql.phrases import quoted, text
from sfumato.engines.wordings import column_computed, names_alike, one_array, source_table_unwanted
from sfumato.errors import column_absent, file_unreadable
from sfumato.schema.table import Schema

RAW = "sfumato_raw"
ROWS = 8192  # that are compared together
FRAME = "sfumato_frame"


def load(connection: Connection, source: object, schema: Schema, source_table: str | None = None) -> Copied | Scanned:
    """Put a table in front of the engine under its name in questions."""
    path = Path(source).resolve() if isinstance(source, str | os.PathLike) else None
    kind = "frame" if path is None else source_kind(path)
    if source_table is not None and kind not in ("duckdb", "sqlite"):
        raise source_table_unwanted("a table in memory" if path is None else path.name)
    if path is None:
        return _frame(connection, source, schema)
    match kind:
        case "csv":
            return _csv(connection, path, schema)
        case "json":
            return _json(connection, path, schema)
        case "duckdb":
            return duckdb_file(connection, path, schema, source_table)
        case "sqlite":
            return _sqlite(connection, path, schema, source_table)
        case "directory":
            return parquet_files(connection, folder(path), schema)
        case _:
            return parquet_files(connection, one_file(path), schema)


def _csv(connection: Connection, path: Path, schema: Schema) -> Copied:
    """As texts first: a cast inside the reader would fail where TRY_CAST gives NULL.

    Claim: no row hides another, wherever it stands.
    Needs: of lines that are all plain, readers that share them make the rows that a single one makes.
    Proof: readers that share a file begin at fixed bytes. One that begins inside a cell in quotes, or beside a line of
    another width, may refuse the file, or take what is outside of quotes for their inside, and lose lines. So they
    share no file with such a line. A single one would drop an open quote with all lines after it: what it reads is
    compared with what Python reads.
    """
    separator, names = header(path)
    columns = ", ".join(f"{text(name)}: 'VARCHAR'" for name in names)

    def read(how: str) -> None:
        connection.execute(
            f"CREATE OR REPLACE TABLE {RAW} AS SELECT * FROM read_csv({text(str(path))}, auto_detect = false, "
            f"header = true, delim = {text(separator)}, quote = '\"', escape = '\"', columns = {{{columns}}}, "
            f"strict_mode = true, null_padding = false, ignore_errors = false, parallel = {how}, "
            f"compression = {compression(path)})"
        )

    if not names:
        connection.execute(f"CREATE TABLE {RAW} (nothing INTEGER)")
    elif not _shared(read, connection, plain_rows(path, separator, len(names))):
        try:
            read("false")
        except duckdb.Error as error:
            raise unreadable(path.name, error) from None
        found = connection.sql(f"SELECT COALESCE(COLUMNS(*), '') FROM {RAW}")
        if not holds_rows(path, separator, len(names), found.to_arrow_reader(ROWS)):
            raise file_unreadable(path.name, TORN)
    create(connection, "TABLE", RAW, schema, path.name)
    connection.execute(f"DROP TABLE {RAW}")
    return Copied(state(path))


def _shared(read: Callable[[str], None], connection: Connection, rows: int | None) -> bool:
    """Whether readers that share a file have found as many rows as there are plain lines, and nothing else is there."""
    if rows is None:
        return False
    try:
        read("true")
    except duckdb.Error:
        return False
    return connection.execute(f"SELECT COUNT(*) FROM {RAW}").fetchall() == [(rows,)]


def _json(connection: Connection, path: Path, schema: Schema) -> Copied:
    """Each line for itself: a line that is no object is a row of NULLs, a field that an object lacks is NULL."""
    _check_lines(path)
    names = list(declared_columns(schema))
    for name in names:
        if sum(name.casefold() == other.casefold() for other in names) > 1:
            raise names_alike(name)
    kinds = {name: "JSON" if name == id_of_unit(schema) else "VARCHAR" for name in names}
    columns = ", ".join(f"{text(name)}: '{kind}'" for name, kind in kinds.items())
    relation = (
        f"read_json({text(str(path))}, format = 'newline_delimited', columns = {{{columns}}}, auto_detect = false, "
        "records = true, ignore_errors = true, compression = 'uncompressed', hive_partitioning = false)"
    )
    create(connection, "TABLE", relation, schema, path.name)
    return Copied(state(path))


def _check_lines(path: Path) -> None:
    """Refuse what would be read as lines that are no objects. A .json file may be one array; others say lines."""
    begins = beginning(path, 1 << 10)
    if begins.startswith(BYTE_ORDER_MARK):
        raise file_unreadable(path.name, "it begins with a byte order mark")
    if ending(path) == ".json" and begins.lstrip().startswith(b"["):
        raise one_array(path.name)


def _sqlite(connection: Connection, path: Path, schema: Schema, source_table: str | None) -> Copied:
    table = sqlite.choose_table(path, source_table)
    present = sqlite.columns_of(path, table)
    for name in declared_columns(schema):
        if name not in present:
            raise column_absent(name, present)
        if name in sqlite.computed_columns(path, table):
            raise column_computed(name)
    reader = sqlite.read(path, table, list(declared_columns(schema)), id_of_unit(schema))
    connection.register(FRAME, reader)
    create(connection, "TABLE", FRAME, schema, path.name)
    connection.unregister(FRAME)
    return Copied(fingerprint(connection, schema))


def _frame(connection: Connection, frame: object, schema: Schema) -> Copied:
    ready = typed(frame, list(declared_columns(schema)), id_of_unit(schema))
    try:
        connection.register(FRAME, ready)
    except Exception:  # noqa: BLE001 - other people's converters, whose messages may quote a value
        raise unlike_any() from None
    create(connection, "TABLE", FRAME, schema, "the table")
    connection.unregister(FRAME)
    return Copied(fingerprint(connection, schema))


def describe(path: Path, source_table: str | None = None) -> dict[str, str]:
    """Column names and guessed types of a table."""
    kind = source_kind(path)
    if source_table is not None and kind not in ("duckdb", "sqlite"):
        raise source_table_unwanted(path.name)
    if kind == "sqlite":
        return sqlite.columns_of(path, sqlite.choose_table(path, source_table, show_names=True))
    place = text(str(path))
    try:
        with duckdb.connect(":memory:") as connection:
            match kind:
                case "csv":
                    separator, names = header(path)
                    if not any(names):
                        raise file_unreadable(path.name, "its first line names no column")
                    how = f"header = true, delim = {text(separator)}, compression = {compression(path)}"
                    relation = f"read_csv({place}, {how})"
                case "json":
                    _check_lines(path)
                    relation = (
                        f"read_json({place}, format = 'newline_delimited', ignore_errors = true, records = true, "
                        "map_inference_threshold = -1)"
                    )
                case "duckdb":
                    relation, _ = attach(connection, path, quoted(ATTACHED), source_table, show_names=True)
                case _:
                    files = folder(path) if kind == "directory" else one_file(path)
                    same_columns(connection, files)
                    relation = reading(files)
            return {row[0]: row[1] for row in connection.execute(f"DESCRIBE SELECT * FROM {relation}").fetchall()}
    except duckdb.Error as error:
        if kind == "json" and isinstance(error, duckdb.BinderException):
            raise file_unreadable(path.name, "a line of it is no JSON object, or it is empty") from None
        raise unreadable(path.name, error) from None
