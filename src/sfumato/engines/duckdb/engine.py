"""DuckDB as an engine, not as a boundary: it sees only SQL that `engines.sql` wrote, and can reach nothing else."""

import os
import shutil
import tempfile
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar
from weakref import finalize

import duckdb
import numpy as np
import numpy.typing as npt

from sfumato.engines.duckdb.further_tables import load_beside
from sfumato.engines.duckdb.sources import describe, load
from sfumato.engines.duckdb.watchdog import at_most
from sfumato.engines.sql.functions import text
from sfumato.engines.ticks import SHORTEST_NS
from sfumato.errors import engine_failed, session_closed, session_of_another_process
from sfumato.schema.limits import Limits
from sfumato.schema.table import Schema

__all__ = ["DuckDBEngine", "describe"]

Fetched = TypeVar("Fetched")

# Statistics of a file leave out NaN: a rewrite that trusts them takes NaN for a number, or not, depending on the other
# rows (docs/decisions/0005-statistics-and-nan.md). A filter inside the scan skips blocks of rows where nobody fits: one
# person would decide how long a question takes (docs/decisions/0008-the-time-of-a-question.md).
DISTRUSTED = "statistics_propagation,filter_pushdown,join_filter_pushdown"
# Begins no path and no fingerprint, so that no name an owner gives is that of a file.
NAMED = "named "


class DuckDBEngine:
    """One private table: most sources are copied in at the start, Parquet and DuckDB files are scanned in place."""

    dialect = "duckdb"
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
        self._one_at_a_time = Lock()
        self._limits = limits or Limits()
        self._named = version
        self._connection = duckdb.connect(":memory:")
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
        """Names the state of the data: path, size and modification time, or the content of a frame.

        Where the owner gave it a name, that is all it says, and nothing else can be called the same.
        A file scanned in place is looked at anew; one that has gone is reported here, before anything is charged.
        """
        if self._closed:
            raise session_closed()
        if self._pid != os.getpid():
            raise session_of_another_process()
        found = "\n".join(table.version(self._execute) for table in self._tables)
        return found if self._named is None else f"{NAMED}{self._named}"

    def slot(self) -> AbstractContextManager[None]:
        """A place to run in, taken before anything is charged. There is one connection, which waits by itself."""
        return nullcontext()

    def run(self, sql: str) -> list[tuple[Any, ...]]:
        """The rows of a query; a failure, of whatever cause, has one text and says nothing about the data."""
        return self._fetch(sql, lambda result: result.fetchall())

    def counts(self, sql: str) -> npt.NDArray[np.int64]:
        """The rows of a query for cells and how many rows each has: an array, because there may be many."""
        whole = f"SELECT CAST(g AS BIGINT) AS g, CAST(m0 AS BIGINT) AS m0 FROM (\n{sql})"
        columns = self._fetch(whole, lambda result: result.fetchnumpy())
        return np.column_stack([columns["g"], columns["m0"]])

    def _fetch(self, sql: str, fetch: Callable[[duckdb.DuckDBPyConnection], Fetched]) -> Fetched:
        with self._one_at_a_time:  # a cursor would be a connection of its own, without the settings of this one
            try:
                with at_most(self._limits.seconds, self._connection):
                    return fetch(self._connection.execute(sql))
            except (duckdb.Error, RuntimeError, MemoryError):
                raise engine_failed() from None

    def close(self) -> None:
        self._closed = True
        self._connection.close()
        self._clean_up()

    def _execute(self, sql: str) -> None:
        with self._one_at_a_time:
            self._connection.execute(sql).fetchall()

    def _set_limits(self, private: Path) -> None:
        """What does not fit into memory goes to a directory of our own, which nobody else can enter."""
        settings = [
            f"disabled_optimizers = '{DISTRUSTED}'",
            f"temp_directory = {text(str(private / 'spill'))}",
            "enable_progress_bar = false",  # it would show how far the data let it come
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


def _remove(folder: str, pid: int) -> None:
    """Not in a forked child: the directory is its parent's."""
    if pid == os.getpid():
        shutil.rmtree(folder, ignore_errors=True)
