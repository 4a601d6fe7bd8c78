"""The one place where a question, the ledger, an engine and the kernel meet."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from sfumato.engines.arrange import gather
from sfumato.engines.duckdb import DuckDBEngine
from sfumato.engines.emit import emit
from sfumato.errors import UsageError, delta_unused, ledger_needed, missing_argument
from sfumato.kernel.certify import Certified, certify
from sfumato.kernel.entropy import SystemEntropy
from sfumato.kernel.gate import release
from sfumato.ledger.ledger import Balance, Charge, Ledger, Payment, Stored, now
from sfumato.ledger.terms import Terms
from sfumato.plan.parts import parts
from sfumato.query.after import After
from sfumato.query.allocate import allocate
from sfumato.query.bind import bind
from sfumato.query.explain import Explanation, explain
from sfumato.query.finish import Answer, finish
from sfumato.query.rewrite import OutputColumn, rewrite
from sfumato.query.sql import parse
from sfumato.schema.budget import Budget, Spend
from sfumato.schema.columns import Column
from sfumato.schema.numbers import Number
from sfumato.schema.others import Lookup, Table
from sfumato.schema.policy import load_policy
from sfumato.schema.table import Schema
from sfumato.schema.unit import Unit

DEFAULT_ANALYST = "analyst"
LONGEST_NAME = 200


def open_policy(policy: str | os.PathLike[str], *, analyst: str = DEFAULT_ANALYST) -> "Session":
    """A session on the table that a policy file describes."""
    loaded = load_policy(Path(policy))
    engine = DuckDBEngine(loaded.source, loaded.schema)
    ledger = Ledger(loaded.ledger, schema=loaded.schema, budget=loaded.budget, anchor=loaded.anchor)
    return Session(loaded.schema, loaded.budget, engine, ledger, analyst)


def protect(
    source: Any,
    *,
    unit: Unit,
    columns: Mapping[str, Column],
    budget: Budget,
    table: str | None = None,
    ledger: str | os.PathLike[str] | None = None,
    anchor: str | os.PathLike[str] | None = None,
    analyst: str = DEFAULT_ANALYST,
    lookups: Mapping[str, Lookup] | None = None,
    tables: Mapping[str, Table] | None = None,
) -> "Session":
    """A session on a CSV or Parquet file, or on a pandas, Polars or Arrow table.

    lookups: public tables to join with. tables: more private tables with the same id.

    The ledger lies beside a file by default, `people.parquet` → `people.ledger`; a table in memory needs one named.
    """
    path = Path(source) if isinstance(source, str | os.PathLike) else None
    if ledger is None and path is None:
        raise ledger_needed()
    if not isinstance(budget, Budget):
        raise UsageError("budget must be a sf.Budget.", "E.g. budget=sf.Budget(epsilon=3, delta=1e-6).")
    name = table if table is not None else path.stem if path is not None else "data"
    schema = Schema(name, unit, columns, lookups or {}, tables or {})
    place = Path(ledger) if ledger is not None else Path(path or "").with_suffix(".ledger")
    engine = DuckDBEngine(source, schema)
    opened = Ledger(place, schema=schema, budget=budget, anchor=None if anchor is None else Path(anchor))
    return Session(schema, budget, engine, opened, analyst)


@dataclass(frozen=True, slots=True)
class Prepared:
    """A question that has been certified and not yet paid for."""

    spend: Fraction
    certified: Certified
    columns: tuple[OutputColumn, ...]
    after: After
    sql: tuple[str, ...]


class Session:
    """One analyst's view of one private table."""

    def __init__(self, schema: Schema, budget: Budget, engine: DuckDBEngine, ledger: Ledger, analyst: str) -> None:
        if not isinstance(analyst, str) or not 0 < len(analyst) <= LONGEST_NAME or not analyst.isprintable():
            raise UsageError("an analyst needs a name.", 'E.g. analyst="research".')
        self.schema = schema
        self.analyst = analyst
        self.ledger = ledger
        self._terms = Terms(budget)
        self._engine = engine
        self._entropy = SystemEntropy()

    def ask(
        self, question: str, *, spend: Number | Spend | None = None, fresh: bool = False, request: str | None = None
    ) -> Answer:
        """Answer a question: certify it, pay for it, then look.

        Claim: nothing but the noisy release depends on the data; the charge is on disk before the engine runs and is
        never refunded. The same question again is free and identical, unless `fresh`; `request` makes a retry safe.
        """
        prepared = self._prepare(question, spend)
        certified = prepared.certified
        payment = Payment(certified, self.analyst, prepared.spend, self._engine.version(), fresh, _request(request))
        paid = self.ledger.charge(payment)
        if isinstance(paid, Stored):
            released, when = paid.release, paid.when
        else:
            integers = gather(certified.plan, [self._engine.run(sql) for sql in prepared.sql])
            released = self.ledger.store(release(certified, paid, integers, self._entropy))
            when = now()
        return finish(
            question,
            certified,
            prepared.columns,
            released,
            cost=self._terms.cost(prepared.spend, certified.cost.delta),
            balance=self.budget,
            when=when,
            cached=isinstance(paid, Stored),
            after=prepared.after,
        )

    def explain(self, question: str, *, spend: Number | Spend | None = None) -> Explanation:
        """Plan, sensitivity, cost, expected error and SQL of a question; touches neither data nor budget."""
        prepared = self._prepare(question, spend)
        certified = prepared.certified
        cost = self._terms.cost(prepared.spend, certified.cost.delta)
        return explain(question, certified, prepared.columns, ";\n".join(prepared.sql), cost)

    @property
    def budget(self) -> Balance:
        """The limit, what is spent in all, and the largest spend this analyst would still be granted."""
        return self.ledger.balance(self.analyst)

    def history(self) -> list[Charge]:
        """One entry a charge, oldest first."""
        return self.ledger.history()

    def close(self) -> None:
        self._engine.close()
        self.ledger.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _prepare(self, question: str, spend: Number | Spend | None) -> Prepared:
        if spend is None:
            raise missing_argument("spend", "spend=0.5")
        wanted = spend if isinstance(spend, Spend) else Spend(spend)
        price = self._terms.price(wanted.epsilon)
        bound = bind(parse(question), self.schema)
        draft = rewrite(bound)
        plan = allocate(bound, draft, self.schema, price, self._terms.for_keys(wanted.delta))
        certified = certify(plan, self.schema, price.currency)
        sql = tuple(emit(part.plan, self.schema) for part in parts(plan))
        if wanted.delta is not None and not plan.open:
            raise delta_unused()
        return Prepared(wanted.epsilon, certified, draft.columns, bound.after, sql)


def _request(request: str | None) -> str | None:
    if request is not None and (not isinstance(request, str) or not 0 < len(request) <= LONGEST_NAME):
        raise UsageError("request must be a short text.", 'E.g. request="id-17".')
    return request
