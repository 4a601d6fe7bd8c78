"""What an engine is to the rest: whoever keeps this, and passes `check_engine` (tests/contract), answers questions."""

from collections.abc import Hashable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from sfumato.engines.sql.dialect import Dialect
from sfumato.engines.sql.sources import NOTHING_KEPT, Names
from sfumato.kernel.mechanisms.protocol import Numbers
from sfumato.plan.sources import Source
from sfumato.schema.table import Schema

RowsFound = Sequence[Sequence[Any]] | Numbers


@dataclass(frozen=True, slots=True)
class Query:
    """SQL that `engines.sql` wrote. Of cells there may be many: an engine gives them as an array of two columns."""

    sql: str
    cells: bool = False


class Engines(Protocol):
    """One private table, and those beside it, in one engine or in several alike."""

    @property
    def dialect(self) -> Dialect: ...

    def version(self) -> str:
        """Names the state of the data. What makes a table unreadable is found here, before anything is charged."""

    def lane(self, asked: Hashable) -> AbstractContextManager["Engine"]:
        """An engine that a question may be run on: one that nobody asks, waited for if there is none.

        Who asks what is being asked there already gets the same engine, and so waits for its slot.
        """

    def one(self) -> "Engine":
        """Always the same engine, for whoever keeps something in it from question to question."""

    def close(self) -> None: ...


class Engine(Engines, Protocol):
    """One engine, which works on one question at a time. Its lane is itself."""

    @property
    def shortest_tick(self) -> int:
        """No answer leaves earlier, in nanoseconds: what hides how long a small question takes."""

    def state(self) -> str:
        """The state of the data, whatever name the owner gave it."""

    def slot(self) -> AbstractContextManager[object]:
        """Leave to run a question, taken before it is charged: nobody pays and then waits for others.

        Refuses a thread that has it already: it was interrupted, and would wait for itself.
        """

    def rows(self, queries: Sequence[Query], version: str) -> list[RowsFound]:
        """Of each query its rows.

        Claim: all see one state of the data, which `version` has named so, whatever else it named since; else it fails.
        Whatever the cause, a failure is `EngineFailed` with one text, which says nothing about the data and hangs on no
        other error.
        """

    def kept(
        self, source: Source, schema: Schema, version: str, names: Names = NOTHING_KEPT
    ) -> AbstractContextManager[str]:
        """The rows of a source under a private name, for as long as it lasts; `names` are those of others it needs.

        Claim: they are of one state, which `version` has named so; else it fails, as `rows` does.
        """
