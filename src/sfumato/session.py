"""One analyst's view of a private table. It plans, explains and shows; paying and looking are the door's."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from types import TracebackType
from typing import Protocol, Self, TypeVar, Unpack

from sfumato.answers.answer import Answer, check_confidence, finish
from sfumato.answers.builder import Builder
from sfumato.answers.clipped import Clipped
from sfumato.answers.clipping_line import clipping_line
from sfumato.answers.clipping_scan import Scan, check_points, public_range, released, scanned
from sfumato.answers.columns import CONFIDENCE
from sfumato.answers.explain import Explanation, explain
from sfumato.answers.offers import without_delta
from sfumato.answers.recalled import Kept, kept
from sfumato.answers.repeat import Repeat
from sfumato.answers.spending import error_of, spend_for
from sfumato.answers.supposed import supposed_rows
from sfumato.door import answer, sealed, written
from sfumato.engines.copies import Copies
from sfumato.engines.protocol import Engines
from sfumato.engines.sql.phrases import quoted
from sfumato.envelope import Envelope, check_purpose, without_keys
from sfumato.errors import UsageError
from sfumato.kernel.cost import Cost
from sfumato.kernel.entropy import SystemEntropy
from sfumato.kernel.shape import fits
from sfumato.ledger.balance import Balance
from sfumato.ledger.history import Charge
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.payment import Payment, Sealing
from sfumato.ledger.terms import Amount
from sfumato.ledger.typed import fraction
from sfumato.plan.expressions import Column as NamedColumn
from sfumato.query.bind_expressions import resolve
from sfumato.query.capping import OWNERS, AskedCaps, CapsGiven, asked_caps
from sfumato.query.planned import Prepared, planned_again, prepared
from sfumato.schema.budget import Spend
from sfumato.schema.given import check_analyst, check_kind, checked_request
from sfumato.schema.numbers import GivenNumber
from sfumato.schema.table import Schema
from sfumato.visible import visible

DEFAULT_ANALYST = "analyst"
MOST_QUESTIONS = 1000


Evaluation = TypeVar("Evaluation", covariant=True)
# Given `analyst=`, the Python that opens a session of theirs.
Opening = Callable[..., str]


class Evaluable(Protocol[Evaluation]):
    """Whatever measures itself on the rows of a session."""

    def evaluated_in(
        self, session: "Session", *, spend: GivenNumber | Spend | None, confidence: float, fresh: bool
    ) -> Evaluation: ...


class Session:
    """One analyst's view of one private table."""

    _is_guest = False  # made of another session, which closes what both use

    def __init__(
        self, schema: Schema, engine: Engines, ledger: Ledger, analyst: str, opening: Opening | str | None = None
    ) -> None:
        check_analyst(analyst)
        self._schema = schema
        self._analyst = analyst
        self._engine, self._dialect = engine, engine.dialect
        self._ledger = ledger
        self._opening = opening
        self._entropy = SystemEntropy()

    def __repr__(self) -> str:
        """Says what is public, and looks neither at the data nor at the ledger."""
        parts = {"table": self._schema.table, "analyst": self._analyst, "protects": str(self._schema.unit)}
        return visible(f"Session({', '.join(f'{name}={part!r}' for name, part in parts.items())})")

    @property
    def schema(self) -> Schema:
        return self._schema

    @property
    def analyst(self) -> str:
        return self._analyst

    def ask(
        self,
        question: str,
        *,
        spend: GivenNumber | Spend | None = None,
        fresh: bool = False,
        request: str | None = None,
        **caps: Unpack[CapsGiven],
    ) -> Answer:
        """Answer a question: certify it, pay for it, then look.

        Of a person at most `max_rows` rows count, in at most `max_groups` groups, at most `max_rows_per_group` in each:
        as the owner declared, or fewer here, for less noise. Other caps are another question. With `clipped` a tenth of
        the spend counts, in each group, rows whose values were clamped and people of whom something was cut off: notes
        say how many, and error bars hold it as far as they say.

        Claim: nothing but the noisy release depends on the data; the charge is on disk before the engine runs and is
        never refunded. The same question again is free and identical, unless `fresh`; `request` makes a retry safe.
        One that failed in the engine fails again without a look, until `fresh` pays for another try.
        """
        return self._answer([question], spend, fresh, request, asked_caps(caps, "spend", "fresh", "request"))[0]

    def ask_all(
        self,
        questions: Sequence[str],
        *,
        spend: GivenNumber | Spend | None = None,
        fresh: bool = False,
        request: str | None = None,
        **caps: Unpack[CapsGiven],
    ) -> list[Answer]:
        """Answer several questions for one charge, of which each different one gets an equal part.

        Claim: as `ask`; all are paid for together, or none is. The cost in each answer is that of all. A question that
        occurs twice is asked once: both answers have the same numbers.
        """
        if not isinstance(questions, list | tuple) or not 1 <= len(questions) <= MOST_QUESTIONS:
            raise UsageError(f"ask_all takes a list of 1 to {MOST_QUESTIONS} questions.", "ask takes one.")
        return self._answer(questions, spend, fresh, request, asked_caps(caps, "spend", "fresh", "request"))

    def _answer(
        self,
        questions: Sequence[str],
        spend: GivenNumber | Spend | None,
        fresh: bool,
        request: str | None,
        caps: AskedCaps = OWNERS,
        schema: Schema | None = None,
    ) -> list[Answer]:
        asked = prepared(questions, schema or self.schema, self._ledger.terms, spend, caps)
        plans = tuple(one.certified for one in asked.different)
        version = self._engine.version()
        payment = Payment(plans, self.analyst, asked.spend, version, asked.asking, fresh, checked_request(request))
        answered = answer(self._ledger, payment, self._engine, self._entropy)
        cost = payment.cost
        balance = self._ledger.balance(self.analyst, cost)
        values = {plan.digest: one for plan, one in zip(plans, answered.releases, strict=True)}
        repeat = None
        if self._opening is not None:
            together = tuple(questions) if len(plans) > 1 else ()
            opening = self._opening if isinstance(self._opening, str) else self._opening(analyst=self.analyst)
            repeat = Repeat(opening, asked.spend, asked.delta, together, caps.given())
        return [
            finish(
                one.question,
                one.certified,
                one.columns,
                values[one.certified.digest],
                cost=balance.cost(asked.spend, cost.delta),
                balance=balance,
                when=answered.when,
                cached=answered.cached,
                after=one.after,
                more=balance.more,
                repeat=repeat,
                clipping=one.draft.clipping,
            )
            for one in asked.planned
        ]

    def recall(self, receipt: int) -> list[Answer | Kept]:
        """What an earlier question of this analyst was answered, one answer a question that was paid for with it.

        Costs nothing and touches no data, also after the data has changed. What was asked is planned again from the
        ledger; where that is no longer possible (an answer of 0.1.0, or other columns since), the noisy integers are
        shown as they were kept, by the number of their group, without names and error bars.
        """
        check_kind(receipt, int, "receipt", "session.recall(answer.receipt)")
        charge, stored = self._ledger.recall(receipt, self.analyst)
        again = planned_again(charge, self.schema)
        same = again is not None and len(again) == len(stored.releases)
        if again is None or not (same and all(map(fits, stored.releases, (one.certified for one in again)))):
            return [kept(charge, release, stored.when) for release in stored.releases]
        terms, balance = self._ledger.terms(), self._ledger.balance(self.analyst)
        spend, delta = fraction(charge.content["spend"]), fraction(charge.content.get("delta", "0"))
        return [
            finish(
                one.question,
                one.certified,
                one.columns,
                release,
                cost=terms.cost(spend, delta),
                balance=balance,
                when=stored.when,
                cached=True,
                after=one.after,
                clipping=one.draft.clipping,
            )
            for one, release in zip(again, stored.releases, strict=True)
        ]

    def explain(
        self,
        question: str,
        *,
        spend: GivenNumber | Spend | None = None,
        rows: int | None = None,
        **caps: Unpack[CapsGiven],
    ) -> Explanation:
        """Plan, sensitivity, cost, expected error and SQL of a question; touches neither data nor budget.

        rows: about how many a group has, a guess; then errors are told that depend on the answer, as of an average.
        """
        return self._explained(question, spend, self.schema, asked_caps(caps, "spend", "rows"), supposed_rows(rows))

    def query(self) -> Builder:
        """A question in steps: `session.query().group_by("sex").count("n").ask(spend=0.5)`."""
        return Builder(self, self.schema.table)

    def spend_for(
        self,
        question: str,
        *,
        error: GivenNumber,
        column: str | None = None,
        confidence: float = CONFIDENCE,
        rows: int | None = None,
        **caps: Unpack[CapsGiven],
    ) -> float:
        """The smallest spend, to three digits, whose error bar is at most ±error; touches neither data nor budget.

        For a COUNT or a SUM, whose error is known beforehand; with `rows`, about how many a group has, also for what
        depends on the answer. `column` says which, if there are several numbers.
        """
        check_confidence(confidence)
        check_kind(column, str | None, "column", 'column="n"')
        own, many = asked_caps(caps, "error", "column", "confidence", "rows"), supposed_rows(rows)

        def expected(spend: Fraction) -> float:
            (one,) = self._prepare(question, spend, own).planned
            clipped = None if one.draft.clipping is None else Clipped(one.certified, one.draft.clipping)
            return error_of(one.columns, one.after, one.certified, column, confidence, clipped, many)

        return spend_for(expected, error)

    def questions_left(self, spend: GivenNumber) -> int:
        """How many more questions at this spend would be granted, counted in the ledger's own currency."""
        price = self._ledger.terms().price(Spend(spend).epsilon)
        return self._ledger.balance(self.analyst, price).more or 0

    def envelope(
        self,
        purpose: str,
        *,
        spend: GivenNumber | Spend | None = None,
        fresh: bool = False,
        request: str | None = None,
    ) -> Envelope:
        """Pay for a purpose, of which plans are drawn afterwards: what a learner asks with.

        Claim: one charge; the same purpose at the same spend on the same data is the same envelope, unless `fresh`, and
        then whatever was drawn from it is free. What is left undrawn is lost.
        """
        wanted = without_keys(spend)
        one = self._engine.one()
        version, terms = one.version(), self._ledger.terms()
        sealing = Sealing(
            check_purpose(purpose),
            self.analyst,
            wanted.epsilon,
            terms.price(wanted.epsilon),
            version,
            fresh,
            checked_request(request),
        )
        return Envelope(
            self.schema,
            self.analyst,
            wanted.epsilon,
            terms.cost(wanted.epsilon),
            sealed(self._ledger, sealing),
            self._ledger,
            one,
            self._entropy,
            Copies(one),
        )

    def evaluate(
        self,
        model: Evaluable[Evaluation],
        *,
        spend: GivenNumber | Spend | None = None,
        confidence: float = CONFIDENCE,
        fresh: bool = False,
    ) -> Evaluation:
        """How good a fitted learner is on this table: a question of its own, with error bars.

        Of a model that was fitted with `holdout`, on the people who were held out; else on everybody, which flatters.
        """
        check_confidence(confidence)
        if not callable(getattr(model, "evaluated_in", None)):
            raise UsageError("what is to be evaluated is no learner.", "E.g. session.evaluate(model, spend=0.1).")
        return model.evaluated_in(self, spend=spend, confidence=confidence, fresh=fresh)

    def price(self, spend: GivenNumber | Spend | None) -> Cost:
        """What an envelope at this spend holds, in the currency of the ledger; touches neither data nor budget."""
        return self._ledger.terms().price(without_keys(spend).epsilon)

    def amount(self, spend: GivenNumber | Spend | None) -> Amount:
        """The same in (ε, δ), as answers say it."""
        return self._ledger.terms().cost(without_keys(spend).epsilon)

    def bounds(
        self, column: str, *, spend: GivenNumber | None = None, upper: GivenNumber | None = None, points: int = 150
    ) -> Scan:
        """The sum of a column clipped at bounds up to `upper`, at most `points` of them, and the bound to declare.

        One line of counts is paid for. `upper` is public: what surely holds for everybody, by default the declared
        upper bound. `recommended` is None where the noise hides how far the values reach: spend more.
        """
        check_points(points)
        check_kind(column, str, "column", 'session.bounds("age", spend=0.1)')
        name = resolve(NamedColumn(column), self.schema).name
        declared = public_range(name, self.schema.columns[name], upper)
        columns = {**self.schema.columns, name: declared}
        view = Schema(self.schema.table, self.schema.unit, columns, allow=self.schema.allow)
        line = clipping_line(declared, points)
        # Questions like an analyst's; the names in them are declared ones.
        named, source = quoted(name), quoted(self.schema.table)
        later = self._explained(f"SELECT SUM({named}) AS s FROM {source}", spend, view)  # noqa: S608
        cells = line.cells(named, "running" in view.allow and self.price(spend).currency == "rho")
        question = f"SELECT {cells} AS h FROM {source}"  # noqa: S608
        (found,) = self._answer([question], spend, fresh=False, request=None, schema=view)
        return scanned(
            name,
            line,
            *released(found),
            unit_noise=(later.steps[0].deviation or 0.0) / line.upper,
            cost=found.cost,
            left=found.left,
            cached=found.cached,
        )

    @property
    def budget(self) -> Balance:
        """The limit, what is spent in all, and the largest spend this analyst would still be granted."""
        return self._ledger.balance(self.analyst)

    def history(self, *, before: int | None = None, limit: int | None = None) -> list[Charge]:
        """One entry per charge of this analyst, oldest first. The owner sees everybody's with `sfumato history`.

        With `limit` the newest so many, with `before` those before an entry: `history(limit=20)`, and then
        `history(before=page[0].entry, limit=20)`.
        """
        return self._ledger.history(self.analyst, before=before, limit=limit)

    def as_analyst(self, name: str, *, opening: str | None = None) -> "Session":
        """Another analyst's view of the same table: charges are booked on that name, and only theirs are listed.

        It shares engine and ledger. Closing it closes neither: whoever opened this session closes them, for all views.
        The name is believed: whoever lets others ask has to know who they are. `opening` is what `answer.script()` says
        in place of how this session was opened, such as an address in place of the path of a policy.
        """
        check_kind(opening, str | None, "opening", "opening=\"sf.open('people.toml')\"")
        guest = Session(self._schema, self._engine, self._ledger, name, self._opening if opening is None else opening)
        guest._is_guest = True
        return guest

    def close(self) -> None:
        """Close engine and ledger, for all views of them; of a view made by `as_analyst` nothing."""
        if not self._is_guest:
            self._engine.close()
            self._ledger.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _prepare(self, question: str, spend: GivenNumber | Spend | None, caps: AskedCaps = OWNERS) -> Prepared:
        return prepared([question], self.schema, self._ledger.terms, spend, caps)

    def _explained(
        self,
        question: str,
        spend: GivenNumber | Spend | None,
        schema: Schema,
        caps: AskedCaps = OWNERS,
        rows: int | None = None,
    ) -> Explanation:
        asked = prepared([question], schema, self._ledger.terms, spend, caps)
        (one,) = asked.planned
        cost = self._ledger.terms().cost(asked.spend, one.certified.cost.delta)
        told = ";\n".join(written(one.certified, self._dialect))
        explained = explain(question, one.certified, one.columns, told, cost, one.after, one.draft.clipping, rows)
        return replace(explained, without_delta=without_delta(one, asked.spend, self._ledger.terms(), schema, caps))
