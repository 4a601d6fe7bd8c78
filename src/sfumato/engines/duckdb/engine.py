"""DuckDB as an engine, not as a boundary: it sees only SQL that `engines.sql` wrote, and can reach nothing else."""

import os
import shutil
import tempfile
from collections.abc import Hashable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from itertools import count
from pathlib import Path
from threading import RLock
from typing import Any, Self
from weakref import finalize

import duckdb
import numpy as np

from sfumato.engines.duckdb.dialect import DUCKDB
from sfumato.engines.duckdb.further_tables import load_beside
from sfumato.engines.duckdb.sources import describe, load
from sfumato.engines.duckdb.tables import Sighting
from sfumato.engines.duckdb.watchdog import Watchdog
from sfumato.engines.protocol import Query, RowsFound
from sfumato.engines.sql.phrases import text
from sfumato.engines.sql.sources import NOTHING_KEPT, Names, write_source
from sfumato.engines.ticks import SHORTEST_NS
from sfumato.engines.wordings import asked_meanwhile, engine_failed, session_closed, session_of_another_process
from sfumato.kernel.mechanisms.protocol import Numbers
from sfumato.plan.sources import Source
from sfumato.schema.limits import Limits
from sfumato.schema.table import Schema

__all__ = ["DuckDBEngine", "describe"]

# Whatever the cause, one text.
CTRL_C = "Query interrupted"  # the watchdog's is another error
OF_THE_ENGINE = (duckdb.Error, RuntimeError, MemoryError)
# Statistics of a file leave out NaN: a rewrite that trusts them takes NaN for a number, or not, depending on the other
# rows (docs/decisions/0005-statistics-and-nan.md). A filter inside the scan skips blocks of rows where nobody fits: one
# person would decide how long a question takes (docs/decisions/0008-the-time-of-a-question.md).
DISTRUSTED = "statistics_propagation,filter_pushdown,join_filter_pushdown"
# Begins no path and no fingerprint, so that no name an owner gives is that of a file.
NAMED = "named "
KEPT = "sfumato_kept_"


class DuckDBEngine:
    """One private table: most sources are copied in at the start, Parquet and DuckDB files are scanned in place."""

    dialect = DUCKDB
    shortest_tick = SHORTEST_NS

    def __init__(
        self,
        source: object,
        schema: Schema,
        *,
        source_table: str | None = None,
        limits: Limits | None = None,
        version: str | None = None,
    ) -> None:
        self._pid = os.getpid()
        self._closed = False
        self._begun: object = None  # whose transaction is open, or may be
        self._connected, self._slot, self._kept = RLock(), RLock(), count()
        self._limits = limits or Limits()
        self._named = version
        self._connection = duckdb.connect(":memory:")
        self._watchdog = Watchdog(self._connection)
        self._clean_up = finalize(self, _remove, private := tempfile.mkdtemp(prefix="sfumato-"), self._pid)
        self._set_limits(Path(private))
        try:
            self._tables = [
                load(self._connection, source, schema, source_table),
                *load_beside(self._connection, schema),
            ]
        except BaseException:
            self.close()
            raise
        self._lock_down()

    def version(self) -> str:
        """Names the state of the data. Where the owner gave it a name, that is all it says, and no state is called so.

        A file scanned in place is looked at anew; one that has gone is reported here, before anything is charged.
        """
        return self._called(self.state())

    def state(self) -> str:
        """Path, size and modification time, or the content of a frame, whatever name the owner gave."""
        if self._closed:
            raise session_closed()
        if self._pid != os.getpid():
            raise session_of_another_process()
        return "\n".join(table.version(self._execute) for table in self._tables)

    def _called(self, state: str) -> str:
        return state if self._named is None else f"{NAMED}{self._named}"

    def lane(self, asked: Hashable) -> AbstractContextManager[Self]:  # noqa: ARG002 - there is no other
        return nullcontext(self)

    def one(self) -> Self:
        return self

    def slot(self) -> AbstractContextManager[object]:
        """One question at a time: a connection works on one, and a second has settings of its own.

        The lock itself: its `with` is no Python, in which a Ctrl-C could come when it is taken and not yet given back.
        """
        return _not_taken(self._slot)

    def rows(self, queries: Sequence[Query], version: str) -> list[RowsFound]:
        """Of each query its rows; a failure, of whatever cause, has one text and says nothing about the data.

        Claim: all see one state, which `version` has named so. Proof: one transaction for what is copied, which one
        query by itself is; and files that are scanned in place have this name before and after, are the same ones, and
        nobody has touched them meanwhile, not even to put them back; a directory with a file more is another state.
        """
        with self._alone(), self._one_state(version, begin=len(queries) > 1), self._in_time():
            return [self._cells(one.sql) if one.cells else _fetch_all(self._run(one.sql)) for one in queries]

    def run(self, sql: str) -> list[tuple[Any, ...]]:
        """The rows of one query by itself, whatever state the data are in: not for answers."""
        with self._alone(), self._in_time():
            return _fetch_all(self._run(sql))

    @contextmanager
    def kept(self, source: Source, schema: Schema, version: str, names: Names = NOTHING_KEPT) -> Iterator[str]:
        """A copy of the rows of a source, under a name that no other copy has, dropped at the end."""
        name = f"{KEPT}{next(self._kept)}"
        rows = write_source(source, schema, self.dialect, names)
        with self._alone(), self._one_state(version, commit=True), self._in_time():
            _fetch_all(self._run(f"CREATE TEMP TABLE {name} AS SELECT * FROM {rows} AS t"))
        try:
            yield name
        except GeneratorExit:  # a Ctrl-C has left it, and now it is forgotten, who knows where: it goes with the engine
            raise
        except BaseException:
            self._drop(name)
            raise
        self._drop(name)

    def _drop(self, name: str) -> None:
        """Not in a forked child: the table is its parent's, and the lock may be a thread's that is not here."""
        if self._pid != os.getpid():
            return
        with self._alone(), suppress(duckdb.Error):  # a closed connection has dropped it
            self._watchdog.forget()
            self._connection.execute(f"DROP TABLE IF EXISTS {name}")

    @contextmanager
    def _one_state(self, version: str, *, begin: bool = True, commit: bool = False) -> Iterator[None]:
        before = self._seen(version)
        self._watchdog.forget()  # what a Ctrl-C has left open: whoever has the slot is alone here
        if self._begun:
            self._undo()
        this = object()
        try:
            if begin:
                self._begun = this
                with self._failing_alike():
                    self._run("BEGIN TRANSACTION")
            yield
            if self._seen(version) != before:
                raise engine_failed()
            if commit:
                with self._failing_alike():
                    self._run("COMMIT")
        finally:
            if self._begun is this:  # else a Ctrl-C has left it; now it is forgotten, and somebody else has begun
                self._undo()

    def _undo(self) -> None:
        """Where there is no transaction, DuckDB says so and nothing else happens."""
        with suppress(*OF_THE_ENGINE):
            self._connection.execute("ROLLBACK")
            self._begun = None

    def _seen(self, version: str) -> list[Sighting]:
        """What is in front of the engine now, which has this name; else it fails, whatever was named last."""
        found = [seen for table in self._tables if (seen := table.seen()) is not None]
        if len(found) < len(self._tables) or self._called("\n".join(seen.state for seen in found)) != version:
            raise engine_failed()
        return found

    def _cells(self, sql: str) -> Numbers:
        """Numbers of cells and how many rows each has: an array, because there may be many."""
        whole = f"SELECT CAST(g AS BIGINT) AS g, CAST(m0 AS BIGINT) AS m0 FROM (\n{sql}) AS cells"
        columns = self._run(whole).fetchnumpy()
        return np.column_stack([columns["g"], columns["m0"]])

    @contextmanager
    def _in_time(self) -> Iterator[None]:
        """So many seconds for all of it; neither for the begin nor for the end of a transaction, which must be told."""
        with self._failing_alike(), self._watchdog.at_most(self._limits.seconds):
            yield

    @contextmanager
    def _failing_alike(self) -> Iterator[None]:
        """One text for every cause. A Ctrl-C, which DuckDB tells as an error of its own, stays one."""
        failure: BaseException | None = None
        try:
            yield
        except OF_THE_ENGINE as error:
            stopped = isinstance(error, RuntimeError) and CTRL_C in str(error)
            failure = KeyboardInterrupt() if stopped else engine_failed()
        if failure is not None:  # not inside of the except: what DuckDB said would be kept beside it
            raise failure from None

    def _alone(self) -> AbstractContextManager[object]:
        return _not_taken(self._connected)

    def _run(self, sql: str) -> duckdb.DuckDBPyConnection:
        return self._connection.execute(sql)

    def close(self) -> None:
        self._closed = True
        self._connection.close()
        self._watchdog.end()
        self._clean_up()

    def _execute(self, sql: str) -> None:
        with self._alone():
            self._watchdog.forget()
            self._connection.execute(sql).fetchall()

    def _set_limits(self, private: Path) -> None:
        """What does not fit into memory goes to a directory of our own, which nobody else can enter."""
        settings = [
            f"disabled_optimizers = '{DISTRUSTED}'",
            f"temp_directory = {text(str(private / 'spill'))}",
            "enable_progress_bar = false",  # it would show how far the data let it come
            "disable_parquet_prefetching = true",  # a copy of every column chunk, which the system has read ahead
        ]
        if self._limits.memory is not None:
            settings.append(f"memory_limit = '{self._limits.memory} B'")
        if self._limits.threads is not None:
            settings.append(f"threads = {self._limits.threads}")
        for setting in settings:
            self._connection.execute(f"SET {setting}")

    def _lock_down(self) -> None:
        """No file but the table's own, no network, no extension, no Python variable; nobody can change that again."""
        allowed = ", ".join(text(str(path)) for table in self._tables for path in table.files)
        for setting in (
            f"allowed_paths = [{allowed}]",
            "enable_external_access = false",
            "python_enable_replacements = false",
            "autoinstall_known_extensions = false",
            "autoload_known_extensions = false",
            "lock_configuration = true",
        ):
            self._connection.execute(f"SET {setting}")


def _not_taken(lock: RLock) -> RLock:
    """Not by this thread: interrupted by a handler that asks, it would wait for itself, or be two at a time."""
    if lock._is_owned():  # type: ignore[attr-defined]
        raise asked_meanwhile()
    return lock


def _fetch_all(result: duckdb.DuckDBPyConnection) -> list[tuple[Any, ...]]:
    return result.fetchall()


def _remove(folder: str, pid: int) -> None:
    """Not in a forked child: the directory is its parent's."""
    if pid == os.getpid():
        shutil.rmtree(folder, ignore_errors=True)
