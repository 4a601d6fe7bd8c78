"""The one walk from a question's text to its certified plan: parse, bind, rewrite, allocate, certify.

Nothing here touches data or budget. What it certifies is paid for and answered by `sfumato.door`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from sfumato.errors import SfumatoError, missing_argument
from sfumato.kernel.certify import Certified, certify
from sfumato.kernel.cost import Cost
from sfumato.ledger.entry import Entry
from sfumato.ledger.payment import Asking
from sfumato.ledger.terms import Terms
from sfumato.ledger.typed import fraction
from sfumato.query.allocate import allocate
from sfumato.query.bind import BoundQuestion, bind
from sfumato.query.capping import OWNERS, AskedCaps
from sfumato.query.clipping import with_clipping
from sfumato.query.ordering import After
from sfumato.query.rewrite import Draft, OutputColumn, rewrite
from sfumato.query.sql import parse, tree
from sfumato.query.sql_parts import written_back
from sfumato.query.sql_positions import located
from sfumato.query.wordings import delta_unused
from sfumato.schema.budget import Spend
from sfumato.schema.numbers import GivenNumber
from sfumato.schema.table import Schema
from sfumato.schema.unit import CAPS, Person


@dataclass(frozen=True, slots=True)
class Planned:
    """A question that has been certified and not yet paid for."""

    question: str
    bound: BoundQuestion
    draft: Draft
    certified: Certified

    @property
    def columns(self) -> tuple[OutputColumn, ...]:
        return self.draft.columns

    @property
    def after(self) -> After:
        return self.bound.after


def planned(
    question: str, schema: Schema, price: Cost, key_delta: Fraction = Fraction(0), caps: AskedCaps = OWNERS
) -> Planned:
    """What a question measures with all of this price; `key_delta` is for discovering keys, if it does."""
    return _planned(question, _bound(question, schema), schema, price, key_delta, caps)


def _bound(question: str, schema: Schema) -> BoundQuestion:
    asked = parse(question)
    with located(question, tree(question)):
        return bind(asked, schema)


def _planned(
    question: str, bound: BoundQuestion, schema: Schema, price: Cost, key_delta: Fraction, caps: AskedCaps
) -> Planned:
    with located(question):
        draft = rewrite(bound)
        if caps.clipped:
            draft = with_clipping(draft, bound.table, schema)
        plan = allocate(bound, draft, schema, price, key_delta, caps)
        return Planned(question, bound, draft, certify(plan, schema, price.currency))


@dataclass(frozen=True, slots=True)
class Prepared:
    """Questions that are to be paid together, each at an equal part; those that ask for the same have one part."""

    spend: Fraction
    delta: Fraction | None
    planned: tuple[Planned, ...]
    price: Cost
    key_delta: Fraction
    caps: AskedCaps = OWNERS

    @property
    def different(self) -> tuple[Planned, ...]:
        """One for each plan, the first that asks for it."""
        found: dict[str, Planned] = {}
        for one in self.planned:
            found.setdefault(one.certified.digest, one)
        return tuple(found.values())

    @property
    def asking(self) -> Asking:
        texts = tuple(written_back(one.question) for one in self.different)
        return Asking(texts, self.price.amount, self.key_delta, self.caps.given())


def prepared(
    questions: Sequence[str],
    schema: Schema,
    read_terms: Callable[[], Terms],
    spend: GivenNumber | Spend | None,
    caps: AskedCaps = OWNERS,
) -> Prepared:
    """What cannot be asked at all is refused before the ledger is read for its terms."""
    if spend is None:
        raise missing_argument("spend", "spend=0.5")
    wanted = spend if isinstance(spend, Spend) else Spend(spend)
    bound = [_bound(question, schema) for question in questions]
    terms = read_terms()
    whole, key_delta = terms.price(wanted.epsilon), terms.for_keys(wanted.delta)

    def among(many: int) -> tuple[Planned, ...]:
        part = Cost(whole.currency, whole.amount / many)
        both = zip(questions, bound, strict=True)
        return tuple(_planned(question, one, schema, part, key_delta, caps) for question, one in both)

    found = among(len(questions))
    different = len({one.certified.digest for one in found})
    if different < len(questions):
        found = among(different)
    if wanted.delta is not None and different == 1 and not found[0].certified.plan.open:
        raise delta_unused()
    return Prepared(wanted.epsilon, wanted.delta, found, whole, key_delta, caps)


def planned_again(charge: Entry, schema: Schema) -> tuple[Planned, ...] | None:
    """The plans of a charge, made anew from what it says; None if it does not say it, or they are no longer the same.

    Needs: a charge that a book has taken. Claim: what is given has the digest that was paid for.
    """
    said = charge.content
    try:
        texts, many = [str(text) for text in said["sql"]], int(said["together"])
        price = Cost(said["currency"], fraction(said["price"]) / many)
        then, own = _with_caps(schema, said["caps"]), AskedCaps(**said.get("asked_caps", {}))
        found = tuple(planned(text, then, price, fraction(said["key_delta"]), own) for text in texts)
    except (KeyError, TypeError, AttributeError, ValueError, ArithmeticError, SfumatoError):
        return None
    return found if " ".join(one.certified.digest for one in found) == said["digest"] else None


def _with_caps(schema: Schema, caps: dict[str, Any]) -> Schema:
    """The schema with the caps that were in force for a charge."""
    if not isinstance(schema.unit, Person):
        return schema
    own: dict[str, Any] = caps.get("tables", {})
    first: dict[str, Any] = {name: caps.get(name) for name in CAPS}
    unit = replace(schema.unit, **first)
    tables = {
        name: replace(table, **{cap: own.get(name, {}).get(cap) for cap in CAPS})
        for name, table in schema.tables.items()
    }
    return replace(schema, unit=unit, tables=tables)
