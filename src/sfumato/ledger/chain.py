"""The file under a ledger: an append-only table whose entries are chained by their hashes.

An entry's hash covers all of it and the hash before, so changing, removing or inserting one breaks every later hash.
"""

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path
from threading import RLock
from time import monotonic, sleep
from weakref import WeakSet

from sfumato.errors import LedgerDamaged
from sfumato.ledger.blocks import block
from sfumato.ledger.entry import GENESIS, Entry
from sfumato.ledger.forks import tell_of_forks
from sfumato.ledger.guard import Guard, hold
from sfumato.ledger.layout import is_laid_out, lay_out
from sfumato.ledger.starting import prepare_place
from sfumato.ledger.wordings import (
    asked_meanwhile,
    file_unsound,
    forked_meanwhile,
    forked_unnoticed,
    ledger_broken,
    ledger_replaced,
    ledger_unreadable,
    ledger_unwritable,
)

WAIT_SECONDS = 30.0
# The layout is compared besides; these let SQLite doubt a file that it is about to read.
DOUBTS = ("PRAGMA trusted_schema = OFF", "PRAGMA cell_size_check = ON")
SETTINGS = ("PRAGMA synchronous = FULL", "PRAGMA fullfsync = ON")
DEFENSIVE = 1010  # SQLITE_DBCONFIG_DEFENSIVE
ENTRIES_AT_ONCE = 20  # releases may be large
LOWEST = -(1 << 63)  # a number below 1 is one that no ledger gives, and must be seen
COLUMNS = "seq, kind, analyst, question, request, charge, body, hash"
# A complaint of SQLite's that quotes what is no text cannot be read by Python.
FAILURES = (sqlite3.Error, UnicodeDecodeError)

_CHAINS: WeakSet["Chain"] = WeakSet()


class Chain:
    """One SQLite file, used by any number of threads and processes at once.

    Whatever SQLite makes of a file, it makes of it inside `watched`: what must outlast that is looked at afterwards.
    """

    _connection: sqlite3.Connection | None = None
    _guard: Guard

    def __init__(self, path: Path, watched: Callable[[], AbstractContextManager[None]] = nullcontext) -> None:
        self.path = path
        self._watched = watched
        # Absolute: SQLite reads some relative names as addresses, and the working directory may change.
        self.file = Path(os.path.realpath(path))
        self._pid = os.getpid()
        self._lock = RLock()
        self._appended: list[Entry] = []
        self._begun = False
        tell_of_forks(self)
        _CHAINS.add(self)

    @block
    def transaction(self) -> Iterator["Chain"]:
        """Hold the only write lock; what was appended is on disk when this ends, or not in the file at all.

        Claim: ends without an error only if every appended entry was found in the file after the commit. Whoever asks
        inside of it, such as a handler of signals in the same thread, is refused, and undoes nothing that others began.
        """
        with self.held():
            connection, appended = self._idle(), list[Entry]()
            self._writing, self._appended = connection, appended
            try:
                self._begun = True
                connection.execute("BEGIN IMMEDIATE")
                is_laid_out(connection, str(self.path))  # it may have been changed since this connection was made
                yield self
                connection.execute("COMMIT")
            except FAILURES as error:
                # A fork has closed it. Nothing may be written to another, which has no transaction.
                raise (self._refusal(error) if self._connection is connection else forked_meanwhile()) from error
            finally:
                self._begun = False  # first: if a Ctrl-C comes now, whoever is next rolls back
                with suppress(sqlite3.Error):
                    if connection.in_transaction:
                        connection.execute("ROLLBACK")
            for entry in appended:
                if self.at(entry.seq) != entry:
                    raise ledger_replaced(entry.seq)

    def append(self, entry: Entry) -> None:
        """Needs: an open transaction."""
        self._writing.execute(
            f"INSERT INTO main.entry ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",  # noqa: S608 - a constant
            tuple(getattr(entry, name) for name in Entry.__slots__),
        )
        self._appended.append(entry)

    def at(self, seq: int) -> Entry | None:
        """The entry with this number, as it stands in the file: whoever needs it compares its hash."""
        return next(iter(self._rows("WHERE seq = ?", seq)), None)

    def entries(self, first: int = LOWEST) -> Iterator[Entry]:
        """Those from this number on, oldest first. Holds nothing between them."""
        while batch := self._rows("WHERE seq >= ? ORDER BY seq LIMIT ?", first, ENTRIES_AT_ONCE):
            yield from batch
            if len(batch) < ENTRIES_AT_ONCE:
                return
            first = max(first, batch[-1].seq) + 1

    def check_layout(self) -> None:
        """Raises when the file holds anything but a ledger: it may have been changed since it was opened."""
        with self.held():
            try:
                is_laid_out(self._connect(), str(self.path))
            except sqlite3.Error as error:
                raise ledger_unreadable(str(self.path)) from error

    def verify(self) -> int:
        """Recompute every hash, compare the layout, and let SQLite compare its trees; the number of entries.

        Claim: raises when any entry was changed, removed or inserted before the last one, when the file holds anything
        else by now, and when an index does not hold what the table holds.
        """
        previous, count = GENESIS, 0
        for entry in self.entries():
            count += 1
            if entry.seq != count or entry.hash != entry.expected_hash(previous):
                raise ledger_broken(count)
            previous = entry.hash
        with self.held():
            try:
                is_laid_out(self._connect(), str(self.path))
                found = self._connect().execute("PRAGMA main.integrity_check(1)").fetchall()
            except FAILURES as error:
                raise file_unsound(str(self.path)) from error
        if found != [("ok",)]:
            raise file_unsound(str(self.path))
        return count

    def close(self) -> None:
        if self._inherited():
            return  # the parent's
        with self.held():
            self._disconnect()

    def __del__(self) -> None:
        """Of one that nobody closed: its guard would stay open for as long as this process lives."""
        with suppress(Exception):
            if not self._inherited():
                self._disconnect()

    def held(self) -> RLock:
        """This process's lock. Neither lock nor connection crosses a fork."""
        if self._inherited():
            raise forked_unnoticed(str(self.path))
        if self._pid != os.getpid():
            self.after_fork(in_child=True)
        return self._lock

    def before_fork(self) -> bool:
        """Wait for other threads, but not for ever. What this thread itself has begun to write is undone."""
        if self._inherited() or not self._lock.acquire(timeout=WAIT_SECONDS):
            return False
        with suppress(sqlite3.Error):
            self._disconnect()
        return True

    def after_fork(self, in_child: bool) -> None:
        if not in_child:
            self._lock.release()
            return
        self._begun = False
        self._pid, self._lock = os.getpid(), RLock()  # the lock of before may be a thread's that is not here

    def _inherited(self) -> bool:
        """Whether a fork has brought the connection here: one that nobody told of, or that could not wait longer."""
        return self._connection is not None and self._pid != os.getpid()

    def _rows(self, rest: str, *values: object) -> list[Entry]:
        """From the tree of the table alone: an index in the file could hide rows, or show others."""
        with self.held():
            try:
                statement = f"SELECT {COLUMNS} FROM main.entry NOT INDEXED {rest}"  # noqa: S608 - constants of this package
                return [Entry(*row) for row in self._connect().execute(statement, values)]
            except FAILURES as error:
                raise ledger_unreadable(str(self.path)) from error

    def _connect(self) -> sqlite3.Connection:
        if self._connection is None:
            if any(other._inherited() for other in list(_CHAINS) if other.file == self.file):
                raise forked_unnoticed(str(self.path))
            with self._watched():
                self._connection = self._connected()
        return self._connection

    def _idle(self) -> sqlite3.Connection:
        """A connection without a transaction. One that a Ctrl-C has left, and nobody is in, is undone."""
        self.refuse_inside()
        connection = self._connect()
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        return connection

    def refuse_inside(self) -> None:
        """Raises in a transaction, which is this very thread's: what is not committed is nobody's to read or to anchor.

        Needs: held.
        """
        if self._begun:
            raise asked_meanwhile(str(self.path))

    def refuse_again(self) -> None:
        """Raises where this very thread holds the lock, in a transaction or to read."""
        if self.held()._is_owned():  # type: ignore[attr-defined]
            raise asked_meanwhile(str(self.path))

    def _connected(self) -> sqlite3.Connection:
        """Claim: SQLite obeys no journal, from before it opens the file for as long as the connection is open."""
        prepare_place(self.file, self.path)
        guard, connection = hold(self.file, self.path, WAIT_SECONDS), None
        try:
            connection = guard.connect(self._unused_connection, self.file, self.path)
            _prepare(connection, str(self.path))
        except BaseException as error:
            if connection is not None:
                connection.close()  # else the error keeps it, and the write lock with it
            guard.let_go()
            if isinstance(error, FAILURES):
                raise self._refusal(error) from error
            raise
        self._guard = guard
        return connection

    def _unused_connection(self) -> sqlite3.Connection:
        return sqlite3.connect(
            self.file, timeout=WAIT_SECONDS, isolation_level=None, check_same_thread=False, uri=False
        )

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            try:
                connection.close()
            finally:
                self._guard.let_go()

    def _refusal(self, error: Exception) -> LedgerDamaged:
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


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Let the file keep a log. SQLite does not wait for others who do the same at the same time, so this does.

    Where there is none yet, in an empty file or a copy that SQLite made, the switch makes no journal beside it.
    """
    deadline = monotonic() + WAIT_SECONDS
    while True:
        try:
            if connection.execute("PRAGMA journal_mode").fetchone() != ("wal",):
                connection.execute("PRAGMA journal_mode = MEMORY")
                connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or monotonic() > deadline:
                raise
            sleep(0.01)
