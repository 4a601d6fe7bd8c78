"""What somebody with the file of a ledger and a SQLite shell can do to it; its layout looks untouched afterwards."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from sfumato.ledger.chain import COLUMNS
from sfumato.ledger.entry import GENESIS, Entry
from sfumato.ledger.marks import marked


@contextmanager
def opened(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection of one's own; what was written is in the file itself afterwards, not in its log."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        yield connection
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


@contextmanager
def without_triggers(connection: sqlite3.Connection) -> Iterator[None]:
    kept = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger' ORDER BY rowid").fetchall()
    for name, _ in kept:
        connection.execute(f"DROP TRIGGER {name}")
    yield
    for _, text in kept:
        connection.execute(text)


def edit(path: Path, *statements: str) -> None:
    with opened(path) as connection, without_triggers(connection):
        for statement in statements:
            connection.execute(statement)


@contextmanager
def stale(connection: sqlite3.Connection, *indexes: str) -> Iterator[None]:
    """Whatever is done meanwhile, these indexes do not learn of it: their rows in the schema are out of sight."""
    names = ", ".join(f"'{name}'" for name in indexes)
    kept = connection.execute(f"SELECT rowid, * FROM sqlite_master WHERE name IN ({names})").fetchall()
    assert len(kept) == len(indexes)
    _schema(connection, f"DELETE FROM sqlite_master WHERE name IN ({names})")
    yield
    for row in kept:
        _schema(
            connection,
            "INSERT INTO sqlite_master (rowid, type, name, tbl_name, rootpage, sql) VALUES (?,?,?,?,?,?)",
            *row,
        )


def _schema(connection: sqlite3.Connection, statement: str, *values: Any) -> None:
    """Change the schema's rows behind SQLite's back, and let it read them anew."""
    connection.execute("PRAGMA writable_schema = ON")
    connection.execute(statement, values)
    (version,) = connection.execute("PRAGMA schema_version").fetchone()
    connection.execute(f"PRAGMA schema_version = {version + 1}")
    connection.execute("PRAGMA writable_schema = RESET")


def change_schema(path: Path, statement: str, *values: Any) -> None:
    with opened(path) as connection:
        _schema(connection, statement, *values)


def hide(path: Path, condition: str, *indexes: str) -> None:
    """The rows that meet the condition stay in the table and vanish from the indexes."""
    with opened(path) as connection, without_triggers(connection):
        rows = connection.execute(f"SELECT {COLUMNS} FROM entry NOT INDEXED WHERE {condition} ORDER BY seq").fetchall()
        assert rows
        connection.execute("REINDEX")  # else SQLite notices that an index lacks what is to be deleted
        connection.execute(f"DELETE FROM entry NOT INDEXED WHERE {condition}")
        with stale(connection, *indexes):
            connection.executemany("INSERT INTO entry VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)


def misfile(path: Path, statement: str, undo: str, *indexes: str) -> None:
    """The indexes learn of a change, and not that it was undone."""
    with opened(path) as connection, without_triggers(connection):
        connection.execute(statement)
        with stale(connection, *indexes):
            connection.execute(undo)


def rows(path: Path) -> list[Entry]:
    with opened(path) as connection:
        found = connection.execute(f"SELECT {COLUMNS} FROM entry NOT INDEXED ORDER BY seq")
        return [Entry(*row) for row in found]


def forge(path: Path, kind: str, body: dict[str, Any], *, key: bytes | None = None, **fields: Any) -> None:
    """Append an entry whose hash is right, as anybody can who can compute a hash; its mark too for who has the key."""
    last = rows(path)[-1]
    ordered = {name: body[name] for name in sorted(body, key=lambda name: (name != "mark", name))}
    if key is not None:
        ordered.pop("mark", None)
    columns = [fields.get(name) for name in ("analyst", "question", "request", "charge")]
    entry = Entry(last.seq + 1, kind, *columns, json.dumps(ordered, separators=(",", ":")), "")
    entry = replace(entry, hash=entry.expected_hash(last.hash)) if key is None else marked(entry, last.hash, key)
    edit_rows(path, "INSERT INTO entry VALUES (?,?,?,?,?,?,?,?)", [(entry.seq, kind, *columns, entry.body, entry.hash)])


def edit_rows(path: Path, statement: str, values: list[tuple[Any, ...]]) -> None:
    with opened(path) as connection, without_triggers(connection):
        connection.executemany(statement, values)


def rechain(path: Path) -> None:
    """Give every entry a number and a hash that follow, whatever it says now."""
    found, previous = rows(path), GENESIS
    with opened(path) as connection, without_triggers(connection):
        connection.execute("DELETE FROM entry")
        for number, entry in enumerate(found, 1):
            fields = (number, entry.kind, entry.analyst, entry.question, entry.request, entry.charge, entry.body)
            previous = Entry(*fields, "").expected_hash(previous)
            connection.execute("INSERT INTO entry VALUES (?,?,?,?,?,?,?,?)", (*fields, previous))
