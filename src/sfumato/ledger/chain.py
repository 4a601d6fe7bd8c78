"""The file under a ledger: an append-only table whose entries are chained by their hashes.

An entry's hash covers all of it and the hash before, so changing, removing or inserting one breaks every later hash.
"""

import hashlib
import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock, RLock
from time import monotonic, sleep
from typing import Any, Literal

from sfumato.errors import ledger_broken, ledger_unreadable, ledger_unwritable

Kind = Literal["open", "charge", "release", "failure", "limit", "analyst"]

GENESIS = "0" * 64
WAIT_SECONDS = 30.0
SETTINGS = ("PRAGMA synchronous = FULL", "PRAGMA fullfsync = ON")
LAYOUT = (
    """CREATE TABLE IF NOT EXISTS entry (
       seq INTEGER PRIMARY KEY, kind TEXT NOT NULL, analyst TEXT, question TEXT, request TEXT, charge INTEGER,
       body TEXT NOT NULL, hash TEXT NOT NULL)""",
    "CREATE INDEX IF NOT EXISTS by_kind ON entry (kind, seq)",
    "CREATE INDEX IF NOT EXISTS by_analyst ON entry (analyst, kind, seq)",
    "CREATE INDEX IF NOT EXISTS by_question ON entry (analyst, question, seq) WHERE kind = 'charge'",
    "CREATE UNIQUE INDEX IF NOT EXISTS one_charge_a_request ON entry (analyst, request) WHERE kind = 'charge'",
    "CREATE UNIQUE INDEX IF NOT EXISTS one_release_a_charge ON entry (charge) WHERE kind = 'release'",
    "CREATE TRIGGER IF NOT EXISTS no_update BEFORE UPDATE ON entry BEGIN SELECT RAISE(ABORT, 'append only'); END",
    "CREATE TRIGGER IF NOT EXISTS no_delete BEFORE DELETE ON entry BEGIN SELECT RAISE(ABORT, 'append only'); END",
)
_CREATING = Lock()
# A fork in the middle would leave it locked in the child for ever.
os.register_at_fork(before=_CREATING.acquire, after_in_parent=_CREATING.release, after_in_child=_CREATING.release)
COLUMNS = "seq, kind, analyst, question, request, charge, body, hash"


@dataclass(frozen=True, slots=True)
class Entry:
    seq: int
    kind: Kind
    analyst: str | None
    question: str | None
    request: str | None
    charge: int | None
    body: str
    hash: str

    @property
    def content(self) -> dict[str, Any]:
        try:
            parsed = json.loads(self.body)
        except ValueError:
            raise ledger_broken(self.seq) from None
        if not isinstance(parsed, dict):
            raise ledger_broken(self.seq)
        return parsed

    def field(self, name: str) -> Any:
        """A field of the body; an entry without it was not written by a ledger."""
        if name not in self.content:
            raise ledger_broken(self.seq)
        return self.content[name]

    def expected_hash(self, previous: str) -> str:
        fields = [self.seq, self.kind, self.analyst, self.question, self.request, self.charge, self.body]
        text = previous + json.dumps(
            fields, ensure_ascii=True, separators=(",", ":"), default=lambda blob: [blob.hex()]
        )
        return hashlib.sha256(text.encode()).hexdigest()


class Chain:
    """One SQLite file, used by any number of threads and processes at once."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._pid = os.getpid()
        self._lock = RLock()
        self._connection: sqlite3.Connection | None = None
        self._inherited: list[sqlite3.Connection] = []

    @contextmanager
    def transaction(self) -> Iterator["Chain"]:
        """Hold the only write lock; what was appended is on disk when this ends, or not in the file at all."""
        with self._mine():
            connection = self._connect()
            try:
                connection.execute("BEGIN IMMEDIATE")
                yield self
                connection.execute("COMMIT")
            except sqlite3.Error as error:
                raise ledger_unwritable(str(self.path)) from error
            finally:
                if connection.in_transaction:
                    with suppress(sqlite3.Error):
                        connection.execute("ROLLBACK")

    def append(
        self,
        kind: Kind,
        body: dict[str, Any],
        *,
        analyst: str | None = None,
        question: str | None = None,
        request: str | None = None,
        charge: int | None = None,
    ) -> Entry:
        """Needs: an open transaction."""
        last = self.last()
        seq, previous = (1, GENESIS) if last is None else (last.seq + 1, last.hash)
        text = json.dumps(body, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
        digest = Entry(seq, kind, analyst, question, request, charge, text, "").expected_hash(previous)
        entry = Entry(seq, kind, analyst, question, request, charge, text, digest)
        self._connect().execute(
            f"INSERT INTO entry ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",  # noqa: S608 - a constant
            (seq, kind, analyst, question, request, charge, text, digest),
        )
        return entry

    def last(self, condition: str = "1", *values: object) -> Entry | None:
        """The newest entry that meets a condition written in this package.

        Claim: raises when the entry was changed after it was written; nothing is built on a changed entry.
        """
        found = next(self._rows(f"WHERE {condition} ORDER BY seq DESC LIMIT 1", values), None)
        if found is not None:
            before = next(self._rows("WHERE seq = ?", (found.seq - 1,)), None)
            if found.hash != found.expected_hash(GENESIS if before is None else before.hash):
                raise ledger_broken(found.seq)
        return found

    def entries(self, condition: str = "1", *values: object) -> Iterator[Entry]:
        return self._rows(f"WHERE {condition} ORDER BY seq", values)

    def verify(self) -> int:
        """Recompute every hash; the number of entries.

        Claim: raises when any entry was changed, removed or inserted before the last one.
        """
        previous, count = GENESIS, 0
        for entry in self.entries():
            count += 1
            if entry.seq != count or entry.hash != entry.expected_hash(previous):
                raise ledger_broken(count)
            previous = entry.hash
        return count

    def close(self) -> None:
        with self._mine():
            if self._connection is not None:
                self._connection.close()
            self._connection = None

    def _rows(self, rest: str, values: tuple[object, ...]) -> Iterator[Entry]:
        with self._mine():
            try:
                statement = f"SELECT {COLUMNS} FROM entry {rest}"  # noqa: S608 - constants of this package
                rows = self._connect().execute(statement, values).fetchall()
            except sqlite3.Error as error:
                raise ledger_unreadable(str(self.path)) from error
        return (Entry(*row) for row in rows)

    def _mine(self) -> RLock:
        """This process's lock. Neither lock nor connection may cross a fork; the parent's stays open, untouched."""
        if self._pid != os.getpid():
            if self._connection is not None:
                self._inherited.append(self._connection)
            self._pid, self._lock, self._connection = os.getpid(), RLock(), None
        return self._lock

    def _connect(self) -> sqlite3.Connection:
        if self._connection is None:
            connection: sqlite3.Connection | None = None
            _create_private(self.path)
            try:
                connection = sqlite3.connect(
                    self.path, timeout=WAIT_SECONDS, isolation_level=None, check_same_thread=False
                )
                _write_ahead(connection)
                for statement in (*SETTINGS, "BEGIN IMMEDIATE", *LAYOUT, "COMMIT"):
                    connection.execute(statement)
            except sqlite3.Error as error:
                if connection is not None:
                    connection.close()  # else the error keeps it, and the write lock with it
                damaged = not isinstance(error, sqlite3.OperationalError)
                raise (ledger_unreadable if damaged else ledger_unwritable)(str(self.path)) from error
            self._connection = connection
        return self._connection


def _create_private(path: Path) -> None:
    """A new ledger is readable by its owner alone, as are SQLite's two files beside it, which get its mode.

    An old one is not opened here: closing it would give up the locks that this process holds on it. For the same reason
    nobody else in this process may be at this point at the same time.
    """
    with _CREATING:
        try:
            os.close(os.open(os.path.realpath(path), os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        except FileExistsError:
            pass
        except OSError as error:
            raise ledger_unwritable(str(path)) from error


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Switch the journal. SQLite does not wait for others who do the same at the same time, so this does."""
    deadline = monotonic() + WAIT_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or monotonic() > deadline:
                raise
            sleep(0.01)
