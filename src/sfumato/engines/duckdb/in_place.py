"""Tables that stay in their files: Parquet files and DuckDB files are scanned where they lie."""

from collections.abc import Callable
from pathlib import Path

import duckdb

from sfumato.engines.duckdb.canonical import declared_columns, doubtful_values
from sfumato.engines.duckdb.files import Files, state_with_log
from sfumato.engines.duckdb.tables import Connection, Copied, Sighting, create, damaged
from sfumato.engines.sql.phrases import quoted, text
from sfumato.engines.wordings import (
    column_computed,
    file_locked,
    folder_mixed,
    no_tables,
    table_absent,
    table_needed,
    values_unreadable,
    view_refused,
)
from sfumato.errors import DataUnreadable, file_unreadable
from sfumato.schema.table import Schema

ATTACHED = "sfumato_file"


class Scanned:
    """Lies in its files, which each question reads anew."""

    def __init__(self, files: Files, name: str, doubtful: str | None) -> None:
        self.files = files.listed
        self._where = files
        self._name = name
        self._doubtful = doubtful
        self._checked: Sighting | None = None

    def version(self, execute: Callable[[str], object]) -> str:
        """The state of the files; where they are new, all values that might be none are looked at first.

        One text that is no UTF-8, or one time out of range, would let a question fail or not, depending on whose rows
        it reads. So the file is refused as a whole, before any question.
        """
        found = self._now()
        if found != self._checked:
            try:
                if self._doubtful is not None:
                    execute(self._doubtful)
            except duckdb.Error:
                raise values_unreadable(self._name) from None
            self._checked = found
        return found.state

    def seen(self) -> Sighting | None:
        """The state that the files are in, if they are still those that `version` looked at last."""
        try:
            found = self._now()
        except DataUnreadable:
            return None
        return found if found == self._checked else None

    def _now(self) -> Sighting:
        return Sighting(self._where.state(), self._where.changed())


def parquet_files(connection: Connection, files: Files, schema: Schema) -> Scanned:
    name = files.path.name
    if files.is_folder:
        same_columns(connection, files)
    relation = reading(files)
    physical = create(connection, "VIEW", relation, schema, name)
    _check_digits(connection, files, schema)
    doubtful = doubtful_values(schema, physical)
    scanned = Scanned(files, name, None if doubtful is None else f"SELECT {doubtful} FROM {relation}")
    scanned.version(lambda sql: connection.execute(sql).fetchall())
    return scanned


def _check_digits(connection: Connection, files: Files, schema: Schema) -> None:
    """DuckDB reads longer decimals as doubles, and not as the nearest ones."""
    listed = ", ".join(text(str(file)) for file in files.listed)
    long = connection.execute(f"SELECT name FROM parquet_schema([{listed}]) WHERE precision > 38").fetchall()
    if {name for (name,) in long} & set(declared_columns(schema)):
        raise file_unreadable(files.path.name, "it has decimals of more than 38 digits")


def reading(files: Files) -> str:
    listed = ", ".join(text(str(file)) for file in files.listed)
    return f"read_parquet([{listed}], hive_partitioning = false, union_by_name = false)"


def same_columns(connection: Connection, files: Files) -> None:
    """Refuse a directory whose files differ in names, types or order of columns."""
    listed = ", ".join(text(str(file)) for file in files.listed)
    try:
        rows = connection.execute(
            "SELECT file_name, name, type, type_length, num_children, converted_type, scale, precision, logical_type "
            f"FROM parquet_schema([{listed}])"
        ).fetchall()
    except duckdb.Error:
        raise damaged(files.path.name) from None
    columns: dict[str, list[tuple[object, ...]]] = {}
    for file, *column in rows:
        columns.setdefault(file, []).append(tuple(column))
    described = [columns.get(str(file), [])[1:] for file in files.listed]  # the first is the file's own node
    for file, found in zip(files.listed, described, strict=True):
        if found != described[0]:
            raise folder_mixed(files.path.name, file.name)


def duckdb_file(connection: Connection, path: Path, schema: Schema, source_table: str | None) -> Copied:
    """Scanned in place. Nobody else can write to the file meanwhile, so its state is that of when it was opened."""
    alias = quoted(f"{ATTACHED} {schema.table}")
    place, table = attach(connection, path, alias, source_table)
    try:
        described = connection.execute(f"DESCRIBE SELECT * FROM {place}").fetchall()
    except duckdb.Error:
        raise damaged(path.name) from None
    physical = {row[0]: row[1] for row in described}
    computed = connection.execute(
        "SELECT column_name FROM duckdb_columns() WHERE is_generated AND database_name = ? AND table_name = ?",
        [f"{ATTACHED} {schema.table}", table],
    ).fetchall()
    for name in declared_columns(schema):
        if (name,) in computed:
            raise column_computed(name)
    # A collation would let different texts fall into one group, under the name of whichever comes first.
    columns = ", ".join(
        f'{quoted(name)} COLLATE "binary" AS {quoted(name)}' if kind == "VARCHAR" else quoted(name)
        for name, kind in physical.items()
    )
    create(connection, "VIEW", f"(SELECT {columns} FROM {place})", schema, path.name)
    return Copied(state_with_log(path), (path,))


def attach(
    connection: Connection, path: Path, alias: str, wanted: str | None, *, show_names: bool = False
) -> tuple[str, str]:
    """What follows FROM, and the bare name of the table."""
    try:
        connection.execute(f"ATTACH {text(str(path))} AS {alias} (READ_ONLY)")
    except duckdb.Error as error:
        in_use = any(words in str(error) for words in ("Could not set lock", "file handle conflict"))
        raise file_locked(path.name) if in_use else damaged(path.name) from None
    database = alias[1:-1].replace('""', '"')
    kinds = {
        kind: connection.execute(
            f"SELECT schema_name, {kind}_name FROM duckdb_{kind}s() WHERE database_name = ? AND NOT internal",
            [database],
        ).fetchall()
        for kind in ("table", "view")
    }
    tables = {_shown(*found): found for found in kinds["table"]}
    if wanted is None:
        if not tables:
            raise no_tables(path.name)
        if len(tables) > 1:
            raise table_needed(path.name, tables if show_names else ())
        wanted = next(iter(tables))
    if wanted not in tables:
        if wanted in {_shown(*found) for found in kinds["view"]}:
            raise view_refused(path.name, wanted)
        raise table_absent(path.name, wanted, tables)
    folder_name, table = tables[wanted]
    return f"{alias}.{quoted(folder_name)}.{quoted(table)}", table


def _shown(schema_name: str, table: str) -> str:
    return table if schema_name == "main" else f"{schema_name}.{table}"
