"""A private table in its owner's hands, and how it is opened."""

import os
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from sfumato.answers.repeat import named_sources, opening_policy, opening_table
from sfumato.engines.duckdb.frames import array_of as array_of
from sfumato.engines.duckdb.frames import column_of as column_of
from sfumato.engines.duckdb.frames import library_of as library_of
from sfumato.engines.open import open_engine
from sfumato.engines.protocol import Engines
from sfumato.errors import ledger_needed
from sfumato.ledger.history import Charge, Drawn, Line
from sfumato.ledger.ledger import Ledger
from sfumato.schema.allow import FAMILIES, check_allowed
from sfumato.schema.budget import Budget
from sfumato.schema.columns import Declared
from sfumato.schema.given import as_path, check_analyst, check_kind, check_version
from sfumato.schema.limits import Limits
from sfumato.schema.numbers import GivenNumber, exact_positive
from sfumato.schema.others import Lookup, Table
from sfumato.schema.policy import load_policy
from sfumato.schema.table import Schema, described
from sfumato.schema.unit import Unit
from sfumato.session import DEFAULT_ANALYST, Opening, Session

LEDGER = "people.ledger"  # an example


def open_policy(policy: str | os.PathLike[str], *, analyst: str = DEFAULT_ANALYST) -> Session:
    """A session on the table that a policy file describes."""
    check_analyst(analyst)
    return Protected.open(policy).session(analyst)


def protect(
    source: Any,
    *,
    unit: Unit,
    columns: Mapping[str, Declared],
    budget: Budget,
    table: str | None = None,
    ledger: str | os.PathLike[str] | None = None,
    anchor: str | os.PathLike[str] | None = None,
    analyst: str = DEFAULT_ANALYST,
    source_table: str | None = None,
    limits: Limits | None = None,
    lookups: Mapping[str, Lookup] | None = None,
    tables: Mapping[str, Table] | None = None,
    version: str | None = None,
    allow: Sequence[str] | None = None,
    expected_rows: int | None = None,
) -> Session:
    """A session on a file, a directory of Parquet files, or a pandas, Polars or Arrow table.

    source_table: which table of a DuckDB or SQLite file. limits: what one question may use of the machine.

    lookups: public tables to join with. tables: more private tables with the same id.

    version: what the owner calls this state of the data. A question asked before is free while the version is the same;
    without a name that tells the analyst whether files, or the content of a table in memory, have changed.

    allow: the mechanisms that answers may be made with, of "additive", "keys", "ranks", "choice", "found_bounds",
    "running" and "splits"; all by default. What was answered before stays free.

    expected_rows: about how many rows there are, if that is public: learners choose by it how deep they go.

    The ledger lies beside a file by default, `people.parquet` → `people.ledger`; a table in memory needs one named.
    """
    path = _source(source) if isinstance(source, str | os.PathLike) else None
    if ledger is None and path is None:
        raise ledger_needed()
    check_kind(budget, Budget, "budget", "budget=sf.Budget(epsilon=3, delta=1e-6)")
    check_kind(limits, Limits | None, "limits", 'limits=sf.Limits(memory="4 GB", seconds=60)')
    check_kind(source_table, str | None, "source_table", 'source_table="people"')
    check_version(version)
    check_analyst(analyst)
    name = table if table is not None else path.stem if path is not None else "data"
    schema = Schema(
        name,
        unit,
        columns,
        {} if lookups is None else lookups,
        {} if tables is None else tables,
        allow=check_allowed(FAMILIES if allow is None else allow),
        expected_rows=expected_rows,
    )
    place = as_path(ledger if path is None or ledger is not None else path.with_suffix(".ledger"), "ledger", LEDGER)
    anchored = None if anchor is None else as_path(anchor, "anchor", f"{LEDGER}.anchor")
    # By its path or not at all: a table in memory is not to live as long as a script about it could be written.
    opening = partial(
        opening_table,
        source if path is not None else None,
        described(schema),
        budget,
        ledger=place,
        anchor=anchor,
        source_table=source_table,
        limits=limits,
        lookups=named_sources(lookups),
        tables=named_sources(tables),
        version=version,
        allow=None if allow is None else tuple(allow),
        expected_rows=expected_rows,
    )
    engine = open_engine(source, schema, source_table=source_table, limits=limits, version=version)
    return _opened(engine, schema, budget, place, anchored, opening).session(analyst)


def _opened(
    engine: Engines, schema: Schema, budget: Budget, place: Path, anchor: Path | None, opening: Opening
) -> "Protected":
    """The ledger comes last: what it was opened for is written down for ever.

    What the engine has opened is its own: a schema lives as long as anything that was worked out of it.
    """
    try:
        return Protected(described(schema), engine, Ledger(place, schema=schema, budget=budget, anchor=anchor), opening)
    except BaseException:
        engine.close()
        raise


def _source(source: str | os.PathLike[str]) -> Path:
    text = os.fspath(source)
    nameless = isinstance(text, str) and not Path(text).name  # such as "."
    return as_path(Path(text).resolve() if nameless else text, "source", "people.csv")


class Protected:
    """A private table in the hands of its owner: what it declares, its engine and its ledger.

    `Protected.open("people.toml")` is for whoever may raise limits and read everybody's history; an analyst gets a
    `Session`, which has none of these verbs.
    """

    def __init__(self, schema: Schema, engine: Engines, ledger: Ledger, opening: Opening | None = None) -> None:
        self.schema = schema
        self.ledger = ledger
        self.engine = engine
        self._opening = opening

    @classmethod
    def open(cls, policy: str | os.PathLike[str]) -> "Protected":
        """The table that a policy file describes."""
        loaded = load_policy(as_path(policy, "policy", "people.toml"))
        engine = open_engine(
            loaded.source,
            loaded.schema,
            source_table=loaded.source_table,
            limits=loaded.limits,
            version=loaded.version,
        )
        return _opened(
            engine, loaded.schema, loaded.budget, loaded.ledger, loaded.anchor, partial(opening_policy, policy)
        )

    def session(self, analyst: str = DEFAULT_ANALYST) -> Session:
        """One analyst's view. All views of a table share its engine and its ledger, and close with it."""
        return Session(self.schema, self.engine, self.ledger, analyst, self._opening)

    def history(
        self, analyst: str | None = None, *, before: int | None = None, limit: int | None = None
    ) -> list[Charge]:
        """One entry per charge of every analyst, or of one, oldest first; as of a session, a page at a time."""
        return self.ledger.history(analyst, before=before, limit=limit)

    def draws(self) -> list[Drawn]:
        """One entry per draw from an envelope, oldest first: what a learner's charge was used for."""
        return self.ledger.draws()

    def entries(self) -> list[Line]:
        """One line per entry of the ledger: charges, answers and failures kept, and all changes of limits."""
        return self.ledger.lines()

    def verify(self) -> int:
        """Check the ledger's file, every entry, what they say together, and the anchor; the number of entries."""
        return self.ledger.verify()

    def raise_limit(self) -> None:
        """Put the limit that was declared into force; sessions that are open take it from the ledger."""
        self.ledger.record_limit()

    def limit_analyst(self, analyst: str, epsilon: GivenNumber) -> None:
        """Grant an analyst this much of the table's limit and no more."""
        self.ledger.limit_analyst(analyst, exact_positive(epsilon, "epsilon"))

    def close(self) -> None:
        self.engine.close()
        self.ledger.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
