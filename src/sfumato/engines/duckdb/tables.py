"""The table that questions are asked of, made from whatever holds the rows; failures in our own words."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import duckdb

from sfumato.engines.duckdb.canonical import canonical_columns, declared_columns
from sfumato.engines.sql.phrases import quoted
from sfumato.engines.wordings import too_large
from sfumato.errors import DataUnreadable, file_unreadable
from sfumato.schema.table import Schema

DAMAGED = "it is damaged or of another kind than its name says"
TORN = "its rows do not all have as many fields as its header"
Connection = duckdb.DuckDBPyConnection


@dataclass(frozen=True, slots=True)
class Sighting:
    """A state of a table by its name, and what tells it from the same files put back: not a part of the name."""

    state: str
    changed: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Copied:
    """As it was when it was opened: inside the engine, or in a file that nobody can change meanwhile."""

    state: str
    files: tuple[Path, ...] = ()

    def version(self, execute: Callable[[str], object]) -> str:  # noqa: ARG002 - like Scanned.version
        return self.state

    def seen(self) -> Sighting:
        return Sighting(self.state)


def create(connection: Connection, kind: str, relation: str, schema: Schema, name: str) -> dict[str, str]:
    """The table of the questions; gives the types that the source had."""
    try:
        described = connection.execute(f"DESCRIBE SELECT * FROM {relation}").fetchall()
        physical = {row[0]: row[1] for row in described}
        columns = canonical_columns(schema, physical)
        connection.execute(f"CREATE {kind} {quoted(schema.table)} AS SELECT {columns} FROM {relation}")
    except duckdb.OutOfMemoryException:
        raise too_large(name) from None
    except duckdb.Error as error:
        if "maximum_object_size" in str(error):
            raise file_unreadable(name, "a line is longer than 16 MB") from None
        raise damaged(name) from None
    return physical


def fingerprint(connection: Connection, schema: Schema) -> str:
    """The content of a table, whatever the order of its rows."""
    row = f"hash({', '.join(map(quoted, declared_columns(schema)))})"
    found = connection.execute(f"SELECT COUNT(*), bit_xor({row}), SUM({row}) FROM {quoted(schema.table)}").fetchall()
    return hashlib.sha256(repr(found[0]).encode()).hexdigest()


def damaged(name: str) -> DataUnreadable:
    return file_unreadable(name, DAMAGED)


def unreadable(name: str, error: duckdb.Error) -> DataUnreadable:
    """The cause in our own words: the engine's text would quote the file."""
    if isinstance(error, duckdb.OutOfMemoryException):
        return too_large(name)
    said = str(error).lower()
    if "utf" in said or "unicode" in said or "encod" in said:
        return file_unreadable(name, "it is not valid UTF-8")
    if "column" in said or "csv" in said or "sniff" in said:
        return file_unreadable(name, TORN)
    return damaged(name)
