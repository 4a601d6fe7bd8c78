"""The one place where a question, the ledger, an engine and the kernel meet."""

import copy
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
from sfumato.engines.expressions import quoted
from sfumato.errors import UsageError, ledger_needed, missing_argument
from sfumato.kernel.certify import Certified, certify
from sfumato.kernel.entropy import SystemEntropy
from sfumato.kernel.gate import release
from sfumato.ledger.ledger import Balance, Charge, Ledger, Payment, Stored, now
from sfumato.ledger.terms import Terms
from sfumato.plan.expressions import Column as NamedColumn
from sfumato.plan.parts import parts
from sfumato.query.after import After
from sfumato.query.allocate import allocate
from sfumato.query.bind import bind
from sfumato.query.bind_expressions import resolve
from sfumato.query.explain import Explanation, explain
from sfumato.query.finish import Answer, finish
from sfumato.query.rewrite import OutputColumn, rewrite
from sfumato.query.scan import Scan, check_points, public_range, scanned
from sfumato.query.sql import parse
from sfumato.schema.budget import Budget
from sfumato.schema.columns import Column
from sfumato.schema.numbers import Number, exact_positive
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
) -> "Session":
    """A session on a CSV or Parquet file, or on a pandas, Polars or Arrow table.

    The ledger lies beside a file by default, `people.parquet` → `people.ledger`; a table in memory needs one named.
    """
    path = Path(source) if isinstance(source, str | os.PathLike) else None
    if ledger is None and path is None:
        raise ledger_needed()
    if not isinstance(budget, Budget):
        raise UsageError("budget must be a sf.Budget.", "E.g. budget=sf.Budget(epsilon=3, delta=1e-6).")
    name = table if table is not None else path.stem if path is not None else "data"
    schema = Schema(name, unit, columns)
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
        self, question: str, *, spend: Number | None = None, fresh: bool = False, request: str | None = None
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
            cost=self._terms.cost(prepared.spend),
            balance=self.budget,
            when=when,
            cached=isinstance(paid, Stored),
            after=prepared.after,
        )

    def explain(self, question: str, *, spend: Number | None = None) -> Explanation:
        """Plan, sensitivity, cost, expected error and SQL of a question; touches neither data nor budget."""
        prepared = self._prepare(question, spend)
        certified = prepared.certified
        return explain(
            question, certified, prepared.columns, ";\n".join(prepared.sql), self._terms.cost(prepared.spend)
        )

    def bounds(
        self, column: str, *, spend: Number | None = None, upper: Number | None = None, points: int = 150
    ) -> Scan:
        """The sum of a column clipped at every bound up to `upper`, and the bound to declare.

        One histogram is paid for, like any question; every sum of the curve follows from it. `upper` is public: what
        surely holds for everybody, by default the declared upper bound.
        """
        check_points(points)
        name = resolve(NamedColumn(column), self.schema).name
        declared = public_range(name, self.schema.columns[name], upper)
        view = copy.copy(self)
        view.schema = Schema(self.schema.table, self.schema.unit, {**self.schema.columns, name: declared})
        # Questions like an analyst's; the names in them are declared ones.
        named, source = quoted(name), quoted(self.schema.table)
        later = view.explain(f"SELECT SUM({named}) AS s FROM {source}", spend=spend)  # noqa: S608
        question = f"SELECT HISTOGRAM({named}, {points + 1}) AS h FROM {source}"  # noqa: S608
        told = view.explain(question, spend=spend)
        answer = view.ask(question, spend=spend)
        return scanned(
            name,
            answer.rows[0]["h"],
            told.steps[0].deviation or 0.0,
            unit_noise=(later.steps[0].deviation or 0.0) / later.steps[0].sensitivity * told.steps[0].sensitivity,
            cost=answer.cost,
            left=answer.left,
            cached=answer.cached,
        )

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

    def _prepare(self, question: str, spend: Number | None) -> Prepared:
        if spend is None:
            raise missing_argument("spend", "spend=0.5")
        amount = exact_positive(spend, "spend")
        price = self._terms.price(amount)
        bound = bind(parse(question), self.schema)
        draft = rewrite(bound)
        plan = allocate(bound, draft, self.schema, price)
        certified = certify(plan, self.schema, price.currency)
        sql = tuple(emit(part.plan, self.schema) for part in parts(plan))
        return Prepared(amount, certified, draft.columns, bound.after, sql)


def _request(request: str | None) -> str | None:
    if request is not None and (not isinstance(request, str) or not 0 < len(request) <= LONGEST_NAME):
        raise UsageError("request must be a short text.", 'E.g. request="id-17".')
    return request
