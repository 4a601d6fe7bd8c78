"""The file under a ledger: an append-only table whose entries are chained by their hashes.

An entry's hash covers all of it and the hash before, so changing, removing or inserting one breaks every later hash.
"""

import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock, RLock
from time import monotonic, sleep
from typing import Any

from sfumato.errors import LedgerDamaged, ledger_broken, ledger_unreadable, ledger_unwritable
from sfumato.ledger.entry import GENESIS, Entry, Kind
from sfumato.ledger.layout import is_laid_out, lay_out
from sfumato.ledger.wordings import file_unsound, ledger_replaced

WAIT_SECONDS = 30.0
# The layout is compared besides; these let SQLite doubt a file that it is about to read.
DOUBTS = ("PRAGMA trusted_schema = OFF", "PRAGMA cell_size_check = ON")
SETTINGS = ("PRAGMA synchronous = FULL", "PRAGMA fullfsync = ON")
DEFENSIVE = 1010  # SQLITE_DBCONFIG_DEFENSIVE
BATCH = 20  # releases may be large
LOWEST = -(1 << 63)  # a number below 1 is one that no ledger gives, and must be seen
_CREATING = Lock()
# A fork in the middle would leave it locked in the child for ever.
os.register_at_fork(before=_CREATING.acquire, after_in_parent=_CREATING.release, after_in_child=_CREATING.release)
COLUMNS = "seq, kind, analyst, question, request, charge, body, hash"


class Chain:
    """One SQLite file, used by any number of threads and processes at once."""

    def __init__(self, path: Path) -> None:
        self.path = path
        # Absolute: SQLite reads some relative names as addresses, and the working directory may change.
        self.file = Path(os.path.realpath(path))
        self._pid = os.getpid()
        self._lock = RLock()
        self._connection: sqlite3.Connection | None = None
        self._inherited: list[sqlite3.Connection] = []
        self._appended: list[Entry] = []

    @contextmanager
    def transaction(self) -> Iterator["Chain"]:
        """Hold the only write lock; what was appended is on disk when this ends, or not in the file at all.

        Claim: ends without an error only if every appended entry was found in the file after the commit.
        """
        with self.held():
            connection, self._appended = self._connect(), []
            try:
                connection.execute("BEGIN IMMEDIATE")
                is_laid_out(connection, str(self.path))  # it may have been changed since this connection was made
                yield self
                connection.execute("COMMIT")
            except sqlite3.Error as error:
                raise self._refusal(error) from error
            finally:
                if connection.in_transaction:
                    with suppress(sqlite3.Error):
                        connection.execute("ROLLBACK")
            for entry in self._appended:
                if self.at(entry.seq) != entry:
                    raise ledger_replaced(entry.seq)

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
            f"INSERT INTO main.entry ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",  # noqa: S608 - a constant
            (seq, kind, analyst, question, request, charge, text, digest),
        )
        self._appended.append(entry)
        return entry

    def last(self) -> Entry | None:
        """The entry with the highest number."""
        return next(iter(self._rows("ORDER BY seq DESC LIMIT 1")), None)

    def at(self, seq: int) -> Entry | None:
        """The entry with this number, as it stands in the file: whoever needs it compares its hash."""
        return next(iter(self._rows("WHERE seq = ?", seq)), None)

    def entries(self, first: int = LOWEST) -> Iterator[Entry]:
        """Those from this number on, oldest first. Holds nothing between them."""
        while batch := self._rows("WHERE seq >= ? ORDER BY seq LIMIT ?", first, BATCH):
            yield from batch
            first = max(first, batch[-1].seq) + 1

    def verify(self) -> int:
        """Recompute every hash, and let SQLite compare its trees; the number of entries.

        Claim: raises when any entry was changed, removed or inserted before the last one, and when an index does not
        hold what the table holds.
        """
        previous, count = GENESIS, 0
        for entry in self.entries():
            count += 1
            if entry.seq != count or entry.hash != entry.expected_hash(previous):
                raise ledger_broken(count)
            previous = entry.hash
        with self.held():
            try:
                found = self._connect().execute("PRAGMA main.integrity_check(1)").fetchall()
            except sqlite3.Error as error:
                raise file_unsound(str(self.path)) from error
        if found != [("ok",)]:
            raise file_unsound(str(self.path))
        return count

    def close(self) -> None:
        with self.held():
            if self._connection is not None:
                self._connection.close()
            self._connection = None

    def held(self) -> RLock:
        """This process's lock. Neither lock nor connection may cross a fork; the parent's stays open, untouched."""
        if self._pid != os.getpid():
            if self._connection is not None:
                self._inherited.append(self._connection)
            self._pid, self._lock, self._connection = os.getpid(), RLock(), None
        return self._lock

    def _rows(self, rest: str, *values: object) -> list[Entry]:
        """From the tree of the table alone: an index in the file could hide rows, or show others."""
        with self.held():
            try:
                statement = f"SELECT {COLUMNS} FROM main.entry NOT INDEXED {rest}"  # noqa: S608 - constants of this package
                return [Entry(*row) for row in self._connect().execute(statement, values)]
            except sqlite3.Error as error:
                raise ledger_unreadable(str(self.path)) from error

    def _connect(self) -> sqlite3.Connection:
        if self._connection is None:
            connection: sqlite3.Connection | None = None
            _create_private(self.file, self.path)
            try:
                connection = sqlite3.connect(
                    self.file, timeout=WAIT_SECONDS, isolation_level=None, check_same_thread=False, uri=False
                )
                _prepare(connection, str(self.path))
            except BaseException as error:
                if connection is not None:
                    connection.close()  # else the error keeps it, and the write lock with it
                if isinstance(error, sqlite3.Error):
                    raise self._refusal(error) from error
                raise
            self._connection = connection
        return self._connection

    def _refusal(self, error: sqlite3.Error) -> LedgerDamaged:
        """What SQLite cannot do is a matter of the disk; what it cannot make sense of, one of the file."""
        of_sqlite = hasattr(error, "sqlite_errorcode")  # else Python could not read a text
        of_the_disk = of_sqlite and isinstance(error, sqlite3.OperationalError | sqlite3.IntegrityError)
        return (ledger_unwritable if of_the_disk else ledger_unreadable)(str(self.path))


def _prepare(connection: sqlite3.Connection, path: str) -> None:
    """The layout is compared before anything of the file can act."""
    for statement in DOUBTS:
        connection.execute(statement)
    configure = getattr(connection, "setconfig", None)  # since Python 3.12
    if configure is not None:
        configure(DEFENSIVE, True)
    laid_out = is_laid_out(connection, path)
    _write_ahead(connection)
    for statement in SETTINGS:
        connection.execute(statement)
    if not laid_out:
        lay_out(connection, path)


def _create_private(file: Path, path: Path) -> None:
    """A new ledger is readable by its owner alone, as are SQLite's two files beside it, which get its mode.

    An old one is not opened here: closing it would give up the locks that this process holds on it. For the same reason
    nobody else in this process may be at this point at the same time.
    """
    with _CREATING:
        try:
            os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
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
