"""What a question costs and is known by, and what an earlier charge for it bought."""

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from typing import Any

from sfumato.errors import plan_refused
from sfumato.kernel.certify import Certified
from sfumato.kernel.cost import Cost
from sfumato.kernel.gate import Release
from sfumato.ledger.data_key import keyed
from sfumato.ledger.entry import Entry
from sfumato.ledger.typed import fraction
from sfumato.plan.nodes import PLAN_LANGUAGE
from sfumato.schema.table import Schema
from sfumato.schema.unit import Person


@dataclass(frozen=True, slots=True)
class Asking:
    """What plans the questions of a payment again: each one's SQL, written back, and what all had to spend.

    `price` is in the currency of the limit, `key_delta` what each question that discovers keys took from its pot,
    `caps` what the analyst said of the rows of a person.
    """

    sql: tuple[str, ...]
    price: Fraction
    key_delta: Fraction = Fraction(0)
    caps: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Payment:
    """One question, or several that are paid together, as the ledger needs to know them."""

    plans: tuple[Certified, ...]
    analyst: str
    spend: Fraction
    version: str
    asking: Asking
    fresh: bool = False
    request: str | None = None

    def __post_init__(self) -> None:
        _check(self.plans)
        if len(self.asking.sql) != len(self.plans):
            raise ValueError("each plan of a payment has the question that it was made of")

    @property
    def cost(self) -> Cost:
        return cost_of(self.plans)

    @property
    def digest(self) -> str:
        return digest_of(self.plans)

    def name(self, key: bytes) -> str:
        """What the question is known by: the same plans, for the same price, of the same state of the data."""
        return keyed(key, "question", self.digest, str(self.spend), self.version)

    def said(self) -> dict[str, Any]:
        """What a charge says of it, its totals aside."""
        return {
            **_said(self.plans),
            "spend": str(self.spend),
            "sql": list(self.asking.sql),
            "price": str(self.asking.price),
            "key_delta": str(self.asking.key_delta),
            "caps": caps_of(self.plans[0].schema),
            **({"asked_caps": dict(self.asking.caps)} if self.asking.caps else {}),
            "together": len(self.plans),
            "language": PLAN_LANGUAGE,
        }

    def was_paid_by(self, charge: Entry) -> bool:
        """Whether a charge under this question's name took what the question costs, for the same plans.

        Needs: a charge that a book has taken.
        """
        said = charge.content
        return _paid(said) == (*_price(self.cost), self.digest) and fraction(said["spend"]) == self.spend


@dataclass(frozen=True, slots=True)
class Draw:
    """Plans of one round that are paid out of an envelope: a charge made before, for a purpose."""

    plans: tuple[Certified, ...]
    analyst: str
    envelope: int
    round: int
    version: str

    def __post_init__(self) -> None:
        _check(self.plans)

    @property
    def cost(self) -> Cost:
        return cost_of(self.plans)

    @property
    def digest(self) -> str:
        return digest_of(self.plans)

    @property
    def name(self) -> str:
        """The same plans in another round are another draw, with noise of its own."""
        return f"{self.envelope}/{self.round}/{self.digest}"

    def said(self) -> dict[str, Any]:
        return {**_said(self.plans), "language": PLAN_LANGUAGE}

    def was_paid_by(self, draw: Entry) -> bool:
        return _paid(draw.content) == (*_price(self.cost), self.digest)


@dataclass(frozen=True, slots=True)
class Sealing:
    """An envelope to be paid for: a purpose in canonical words, and all that may be drawn for it."""

    purpose: str
    analyst: str
    spend: Fraction
    cost: Cost
    version: str
    fresh: bool = False
    request: str | None = None

    def name(self, key: bytes) -> str:
        return keyed(key, "envelope", self.purpose, str(self.spend), self.version)

    def said(self, key: bytes, seed: str) -> dict[str, Any]:
        """What its charge says, totals aside; `data` is the state of the data that every draw must find."""
        return {
            "currency": self.cost.currency,
            "amount": str(self.cost.amount),
            "delta": str(self.cost.delta),
            "spend": str(self.spend),
            "digest": hashlib.sha256(self.purpose.encode()).hexdigest(),
            "releases": [],
            "envelope": self.purpose,
            "seed": seed,
            "data": keyed(key, "data", self.version),
            "language": PLAN_LANGUAGE,
        }

    def is_of(self, charge: Entry) -> bool:
        """Whether a charge under its name is for the same purpose, at whatever price: that follows from the limit."""
        return bool(charge.content.get("envelope") == self.purpose)

    def was_paid_by(self, charge: Entry) -> bool:
        return self.is_of(charge) and _paid(charge.content)[:3] == _price(self.cost)


@dataclass(frozen=True, slots=True)
class Sealed:
    """An envelope: its charge, what may be drawn from it, and a public seed for coins that need no privacy."""

    entry: int
    cost: Cost
    seed: str
    when: str = ""


@dataclass(frozen=True, slots=True)
class Stored:
    """Releases that were paid for before, one per plan: free, and the same to the last digit."""

    releases: tuple[Release, ...]
    when: str


def demand_answerable(paid: Payment | Draw, described: Mapping[str, str]) -> None:
    """Before anything new is drawn, for a new charge or an old one; what is stored is given out without asking.

    Claim: every plan was certified for the table and the unit that the ledger is of, and needs no mechanism that is
    switched off.
    """
    for plan in paid.plans:
        if {"table": plan.schema.table, "unit": plan.schema.unit.whose} != described:
            raise plan_refused("it protects another unit or asks another table")
        plan.demand_allowed()


def _check(plans: tuple[Certified, ...]) -> None:
    if not plans:
        raise ValueError("nothing is paid for without a plan")
    if len({plan.cost.currency for plan in plans}) > 1:
        raise plan_refused("its parts are paid in different currencies")


def cost_of(plans: tuple[Certified, ...]) -> Cost:
    """Needs: one plan or more, all in one currency: amounts of different ones have no sum."""
    amounts, deltas = ([getattr(plan.cost, part) for plan in plans] for part in ("amount", "delta"))
    return Cost(plans[0].cost.currency, sum(amounts, Fraction(0)), sum(deltas, Fraction(0)))


def digest_of(plans: tuple[Certified, ...]) -> str:
    return " ".join(plan.digest for plan in plans)


def caps_of(schema: Schema) -> dict[str, Any]:
    """How much of a person the owner lets count: in the first table, and in every other that has caps of its own.

    They are limits of questions and no part of the unit: what a question counted is in its plan and digest. Written
    down so that it can be planned again (`Asking.caps` are what the analyst said).
    """
    if not isinstance(schema.unit, Person):
        return {}
    own = {name: asdict(table.caps) for name, table in schema.tables.items() if table.caps is not None}
    return asdict(schema.unit.caps) | ({"tables": own} if own else {})


def _said(plans: tuple[Certified, ...]) -> dict[str, Any]:
    cost = cost_of(plans)
    return {
        "currency": cost.currency,
        "amount": str(cost.amount),
        "delta": str(cost.delta),
        "digest": digest_of(plans),
        "releases": [event for plan in plans for event in plan.events],
    }


def _price(cost: Cost) -> tuple[str, Fraction, Fraction]:
    return cost.currency, cost.amount, cost.delta


def _paid(said: dict[str, Any]) -> tuple[str, Fraction, Fraction, str]:
    return said["currency"], fraction(said["amount"]), fraction(said.get("delta", "0")), said["digest"]
