"""The one place where a question, the ledger, an engine and the kernel meet."""

import copy
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from sfumato.engines.arrange import look_at_all
from sfumato.engines.open import open_engine
from sfumato.engines.protocol import Engine
from sfumato.engines.sql.counting import emit
from sfumato.engines.sql.phrases import quoted
from sfumato.engines.ticks import leaving_at_a_tick
from sfumato.errors import EngineFailed, UsageError, ledger_needed, missing_argument
from sfumato.kernel.certify import Certified, certify
from sfumato.kernel.cost import Cost
from sfumato.kernel.entropy import SystemEntropy
from sfumato.kernel.gate import release
from sfumato.ledger.history import Charge
from sfumato.ledger.ledger import Balance, Ledger, now
from sfumato.ledger.payment import Payment, Stored
from sfumato.ledger.terms import Terms
from sfumato.plan.expressions import Column as NamedColumn
from sfumato.query.after import After
from sfumato.query.allocate import allocate
from sfumato.query.bind import bind
from sfumato.query.bind_expressions import resolve
from sfumato.query.builder import Builder
from sfumato.query.explain import Explanation, explain
from sfumato.query.finish import CONFIDENCE, Answer, check_confidence, finish
from sfumato.query.rewrite import OutputColumn, rewrite
from sfumato.query.scan import Scan, check_points, public_range, scanned
from sfumato.query.script import Repeat, named_sources, opening_policy, opening_table
from sfumato.query.spending import error_of, spend_for
from sfumato.query.sql import parse
from sfumato.query.wordings import delta_unused
from sfumato.schema.allow import FAMILIES, check_allowed
from sfumato.schema.budget import Budget, Spend
from sfumato.schema.columns import Column
from sfumato.schema.given import LONGEST_NAME, as_path, check_analyst, check_kind, check_version
from sfumato.schema.limits import Limits
from sfumato.schema.numbers import Number
from sfumato.schema.others import Lookup, Table
from sfumato.schema.policy import load_policy
from sfumato.schema.table import Schema
from sfumato.schema.unit import Unit

DEFAULT_ANALYST = "analyst"
LEDGER = "people.ledger"  # an example
MOST_QUESTIONS = 1000


def open_policy(policy: str | os.PathLike[str], *, analyst: str = DEFAULT_ANALYST) -> "Session":
    """A session on the table that a policy file describes."""
    check_analyst(analyst)
    loaded = load_policy(as_path(policy, "policy", "people.toml"))
    engine = open_engine(
        loaded.source,
        loaded.schema,
        source_table=loaded.source_table,
        limits=loaded.limits,
        version=loaded.version,
    )
    return _opened(
        engine, loaded.schema, loaded.budget, loaded.ledger, loaded.anchor, analyst, opening_policy(policy, analyst)
    )


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
    source_table: str | None = None,
    limits: Limits | None = None,
    lookups: Mapping[str, Lookup] | None = None,
    tables: Mapping[str, Table] | None = None,
    version: str | None = None,
    allow: Sequence[str] | None = None,
) -> "Session":
    """A session on a file, a directory of Parquet files, or a pandas, Polars or Arrow table.

    source_table: which table of a DuckDB or SQLite file. limits: what one question may use of the machine.

    lookups: public tables to join with. tables: more private tables with the same id.

    version: what the owner calls this state of the data. A question asked before is free while the version is the same;
    without a name that tells the analyst whether files, or the content of a table in memory, have changed.

    allow: the mechanisms that answers may be made with, of "additive", "keys", "ranks", "choice", "found_bounds" and
    "running"; all by default. What was answered before stays free.

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
    )
    place = as_path(ledger if path is None or ledger is not None else path.with_suffix(".ledger"), "ledger", LEDGER)
    anchored = None if anchor is None else as_path(anchor, "anchor", f"{LEDGER}.anchor")
    opening = opening_table(
        source,
        schema,
        budget,
        ledger=place,
        anchor=anchor,
        analyst=analyst,
        source_table=source_table,
        limits=limits,
        lookups=named_sources(lookups),
        tables=named_sources(tables),
        version=version,
        allow=None if allow is None else tuple(allow),
    )
    engine = open_engine(source, schema, source_table=source_table, limits=limits, version=version)
    return _opened(engine, schema, budget, place, anchored, analyst, opening)


def _opened(
    engine: Engine, schema: Schema, budget: Budget, place: Path, anchor: Path | None, analyst: str, opening: str
) -> "Session":
    """The ledger comes last: what it was opened for is written down for ever."""
    try:
        return Session(
            schema, budget, engine, Ledger(place, schema=schema, budget=budget, anchor=anchor), analyst, opening
        )
    except BaseException:
        engine.close()
        raise


def _source(source: str | os.PathLike[str]) -> Path:
    text = os.fspath(source)
    nameless = isinstance(text, str) and not Path(text).name  # such as "."
    return as_path(Path(text).resolve() if nameless else text, "source", "people.csv")


@dataclass(frozen=True, slots=True)
class Prepared:
    """A question that has been certified and not yet paid for."""

    spend: Fraction
    delta: Fraction | None
    certified: Certified
    columns: tuple[OutputColumn, ...]
    after: After
    sql: tuple[str, ...]


class Session:
    """One analyst's view of one private table."""

    def __init__(
        self,
        schema: Schema,
        budget: Budget,
        engine: Engine,
        ledger: Ledger,
        analyst: str,
        opening: str | None = None,
    ) -> None:
        check_analyst(analyst)
        self.schema = schema
        self.analyst = analyst
        self.ledger = ledger
        self._terms = Terms(budget)
        self._engine, self._dialect = engine, engine.dialect
        self._opening = opening
        self._entropy = SystemEntropy()

    def ask(
        self, question: str, *, spend: Number | Spend | None = None, fresh: bool = False, request: str | None = None
    ) -> Answer:
        """Answer a question: certify it, pay for it, then look.

        Claim: nothing but the noisy release depends on the data; the charge is on disk before the engine runs and is
        never refunded. The same question again is free and identical, unless `fresh`; `request` makes a retry safe.
        One that failed in the engine fails again without a look, until `fresh` pays for another try.
        """
        return self._answer([question], spend, fresh, request)[0]

    def ask_all(
        self,
        questions: Sequence[str],
        *,
        spend: Number | Spend | None = None,
        fresh: bool = False,
        request: str | None = None,
    ) -> list[Answer]:
        """Answer several questions for one charge, of which each different one gets an equal part.

        Claim: as `ask`; all are paid for together, or none is. The cost in each answer is that of all. A question that
        occurs twice is asked once: both answers have the same numbers.
        """
        if not isinstance(questions, list | tuple) or not 1 <= len(questions) <= MOST_QUESTIONS:
            raise UsageError(f"ask_all takes a list of 1 to {MOST_QUESTIONS} questions.", "ask takes one.")
        return self._answer(questions, spend, fresh, request)

    def _answer(
        self, questions: Sequence[str], spend: Number | Spend | None, fresh: bool, request: str | None
    ) -> list[Answer]:
        prepared = self._prepare_all(questions, spend)
        different = {one.certified.digest: one for one in prepared}
        first, *others = different.values()
        payment = Payment(
            first.certified,
            self.analyst,
            first.spend,
            self._engine.version(),
            fresh,
            _request(request),
            tuple(other.certified for other in others),
        )
        paid = self.ledger.charge(payment)
        if isinstance(paid, Stored):
            released, when = paid.release, paid.when
        else:
            with leaving_at_a_tick():
                made = []
                try:
                    looked = look_at_all(
                        self._engine, [(one.certified.countings, one.sql) for one in different.values()]
                    )
                    for one, found in zip(different.values(), looked, strict=True):
                        made.append(release(one.certified, paid, found, self._entropy))
                except EngineFailed as failure:
                    self.ledger.fail(paid.entry, failure)
                    raise
                released = self.ledger.store(replace(made[0], others=tuple(made[1:])))
            when = now()
        cost = payment.cost
        balance = self.ledger.balance(self.analyst, cost)
        values = dict(zip(different, (released, *released.others), strict=True))
        repeat = None
        if self._opening is not None:
            repeat = Repeat(self._opening, first.spend, first.delta, tuple(questions) if others else ())
        return [
            finish(
                question,
                one.certified,
                one.columns,
                values[one.certified.digest],
                cost=self._terms.cost(first.spend, cost.delta),
                balance=balance,
                when=when,
                cached=isinstance(paid, Stored),
                after=one.after,
                more=balance.more,
                repeat=repeat,
            )
            for question, one in zip(questions, prepared, strict=True)
        ]

    def explain(self, question: str, *, spend: Number | Spend | None = None) -> Explanation:
        """Plan, sensitivity, cost, expected error and SQL of a question; touches neither data nor budget."""
        prepared = self._prepare(question, spend)
        certified = prepared.certified
        cost = self._terms.cost(prepared.spend, certified.cost.delta)
        return explain(question, certified, prepared.columns, ";\n".join(prepared.sql), cost)

    def query(self) -> Builder:
        """A question in steps: `session.query().group_by("sex").count("n").ask(spend=0.5)`."""
        return Builder(self, self.schema.table)

    def spend_for(
        self, question: str, *, error: Number, column: str | None = None, confidence: float = CONFIDENCE
    ) -> float:
        """The smallest spend, to three digits, whose error bar is at most ±error; touches neither data nor budget.

        For a COUNT or a SUM, whose error is known beforehand; `column` says which, if there are several numbers.
        """
        check_confidence(confidence)
        check_kind(column, str | None, "column", 'column="n"')
        return spend_for(lambda spend: self._expected(question, spend, column, confidence), error)

    def questions_left(self, spend: Number) -> int:
        """How many more questions at this spend would be granted, counted in the ledger's own currency."""
        price = self._terms.price(Spend(spend).epsilon)
        return self.ledger.balance(self.analyst, price).more or 0

    def bounds(
        self, column: str, *, spend: Number | None = None, upper: Number | None = None, points: int = 150
    ) -> Scan:
        """The sum of a column clipped at every bound up to `upper`, and the bound to declare.

        One histogram is paid for, like any question; every sum of the curve follows from it. `upper` is public: what
        surely holds for everybody, by default the declared upper bound. `recommended` is None where the noise hides how
        far the values reach: spend more.
        """
        check_points(points)
        check_kind(column, str, "column", 'session.bounds("age", spend=0.1)')
        name = resolve(NamedColumn(column), self.schema).name
        declared = public_range(name, self.schema.columns[name], upper)
        view = copy.copy(self)
        columns = {**self.schema.columns, name: declared}
        view.schema = Schema(self.schema.table, self.schema.unit, columns, allow=self.schema.allow)
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
        """One entry a charge of this analyst, oldest first. The owner sees everybody's with `sfumato history`."""
        return self.ledger.history(self.analyst)

    def close(self) -> None:
        self._engine.close()
        self.ledger.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _expected(self, question: str, spend: Fraction, column: str | None, confidence: float) -> float:
        prepared = self._prepare(question, spend)
        mechanisms = tuple(release.mechanism for release in prepared.certified.releases)
        return error_of(prepared.columns, mechanisms, column, confidence)

    def _prepare_all(self, questions: Sequence[str], spend: Number | Spend | None) -> list[Prepared]:
        """Each at an equal part of the spend; those that ask for the same have one part together."""
        prepared = [self._prepare(question, spend, len(questions)) for question in questions]
        many = len({one.certified.digest for one in prepared})
        if many == len(questions):
            return prepared
        return [self._prepare(question, spend, many) for question in questions]

    def _prepare(self, question: str, spend: Number | Spend | None, together: int = 1) -> Prepared:
        """A question certified at an equal part of what all that are asked together may cost."""
        if spend is None:
            raise missing_argument("spend", "spend=0.5")
        wanted = spend if isinstance(spend, Spend) else Spend(spend)
        whole = self._terms.price(wanted.epsilon)
        price = Cost(whole.currency, whole.amount / together)
        bound = bind(parse(question), self.schema)
        draft = rewrite(bound)
        plan = allocate(bound, draft, self.schema, price, self._terms.for_keys(wanted.delta))
        certified = certify(plan, self.schema, price.currency)
        sql = tuple(emit(counting, self.schema, self._dialect) for counting in certified.countings)
        if wanted.delta is not None and not plan.open and together == 1:
            raise delta_unused()
        return Prepared(wanted.epsilon, wanted.delta, certified, draft.columns, bound.after, sql)


def _request(request: str | None) -> str | None:
    if request is not None and (
        not isinstance(request, str) or not 0 < len(request) <= LONGEST_NAME or not request.isprintable()
    ):
        raise UsageError("request must be a short text.", 'E.g. request="id-17".')
    return request
