"""The durable budget: who may still learn how much, and what was done so far."""

import hashlib
import json
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from sfumato.errors import (
    EngineFailed,
    LedgerDamaged,
    ledger_differs,
    ledger_gone,
    ledger_unreadable,
    limit_differs,
    over_budget,
    over_key_budget,
    request_conflict,
)
from sfumato.kernel.certify import Certified
from sfumato.kernel.cost import Cost
from sfumato.kernel.gate import Receipt, Release, Released
from sfumato.ledger.anchor import Anchor
from sfumato.ledger.chain import Chain, Entry
from sfumato.ledger.places import checked_anchor, default_anchor
from sfumato.ledger.terms import Amount, Terms, rounded_down
from sfumato.schema.budget import Budget
from sfumato.schema.table import Schema

# Sums of unrelated denominators may not grow without end; above this size a total is rounded up.
LARGEST_DENOMINATOR = 1 << 512
ROUNDED_TO = 1 << 256


@dataclass(frozen=True, slots=True)
class Balance:
    """The limit, what was spent of it and what is left, for one analyst; and the δ left for discovering keys."""

    limit: Amount
    spent: Amount
    left: Amount
    left_for_keys: float = 0.0
    more: int | None = None


@dataclass(frozen=True, slots=True)
class Payment:
    """One question, or several that are paid together, as the ledger needs to know them."""

    certified: Certified
    analyst: str
    spend: Fraction
    version: str
    fresh: bool = False
    request: str | None = None
    others: tuple[Certified, ...] = ()

    @property
    def plans(self) -> tuple[Certified, ...]:
        return (self.certified, *self.others)

    @property
    def cost(self) -> Cost:
        amounts, deltas = ([getattr(plan.cost, part) for plan in self.plans] for part in ("amount", "delta"))
        return Cost(self.certified.cost.currency, sum(amounts, Fraction(0)), sum(deltas, Fraction(0)))

    @property
    def digest(self) -> str:
        return " ".join(plan.digest for plan in self.plans)

    @property
    def question(self) -> str:
        text = json.dumps([self.digest, str(self.spend), self.version])
        return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Stored:
    """A release that was paid for before: free, and the same to the last digit."""

    release: Release
    when: str


@dataclass(frozen=True, slots=True)
class Charge:
    """One line of the history."""

    entry: int
    when: str
    analyst: str
    spend: float
    digest: str
    releases: tuple[dict[str, str], ...]
    request: str | None


class Ledger:
    """Opens or starts the ledger of one table.

    Claim: the sum of what `charge` grants, over all analysts, threads, processes, crashes and restarts, never exceeds
    the limit in force; each charge is on disk before its receipt exists.
    """

    def __init__(self, path: Path, *, schema: Schema, budget: Budget, anchor: Path | None = None) -> None:
        self.path = path
        self._anchor = Anchor(checked_anchor(path, anchor))
        self._chain = Chain(path)
        self._budget = budget
        try:
            self._open(budget, {"table": schema.table, "unit": str(schema.unit)})
        except BaseException:
            self._chain.close()
            raise

    def _open(self, budget: Budget, described: dict[str, str]) -> None:
        if self._anchor.outlived(self._chain):
            raise ledger_gone(str(self.path))
        with self._chain.transaction() as chain:
            self._anchor.check(chain)
            first = chain.last("kind = 'open'")
            if first is None:
                first = chain.append(
                    "open", {"id": secrets.token_hex(16), "when": now(), **described, **_written(budget)}
                )
        self._anchor.advance(first)
        for what, given in described.items():
            if first.field(what) != given:
                raise ledger_differs(f"the {what}", first.field(what), given)

    @contextmanager
    def _writing(self) -> Iterator[Chain]:
        """Hold the write lock, check the anchor, and let it remember the last entry once that is durable."""
        if self._anchor.outlived(self._chain):
            raise ledger_gone(str(self.path))
        with self._chain.transaction() as chain:
            self._anchor.check(chain)
            yield chain
            last = chain.last()
        if last is not None:
            self._anchor.advance(last)

    def charge(self, payment: Payment) -> Receipt | Stored:
        """A receipt for a new charge, or what an earlier one bought.

        Claim: one charge at most for a request id, and for an unchanged question unless `fresh`; a charge whose
        process died before storing its release is resumed, because nothing of it was ever shown. One whose engine
        failed fails again, unlooked: how long it takes and whether it fails is told once a charge.
        """
        cost = payment.cost
        with self._writing() as chain:
            terms = self.terms()
            known = self._known(payment)
            if known is not None:
                return self._bought(known, payment)
            total, analyst_total, delta_total = self._admit(payment, terms)
            entry = chain.append(
                "charge",
                {
                    "when": now(),
                    "currency": cost.currency,
                    "amount": str(cost.amount),
                    "spend": str(payment.spend),
                    "total": str(total),
                    "analyst_total": str(analyst_total),
                    "delta": str(cost.delta),
                    "delta_total": str(delta_total),
                    "digest": payment.digest,
                    "releases": [event for plan in payment.plans for event in plan.events],
                },
                analyst=payment.analyst,
                question=payment.question,
                request=payment.request,
            )
        return _receipt(entry, payment)

    def store(self, release: Release) -> Release:
        """Keep a release for ever; if its charge has one already, that one is the answer and this one is forgotten."""
        with self._writing() as chain:
            kept = chain.last("kind = 'release' AND charge = ?", release.entry)
            if kept is not None:
                return _release(kept)
            chain.append("release", {"when": now(), **_body(release)}, charge=release.entry)
        return release

    def fail(self, charge: int, failure: EngineFailed) -> None:
        """Keep that the engine failed, in the words that were shown, which are the same for all data."""
        with self._writing() as chain:
            if chain.last("kind IN ('release', 'failure') AND charge = ?", charge) is None:
                chain.append("failure", {"when": now(), "told": [failure.message, failure.hint]}, charge=charge)

    def terms(self) -> Terms:
        """The limit in force; the policy must agree with it."""
        stored = self._limit_in_force()
        if stored != self._budget:
            raise limit_differs(str(stored), str(self._budget))
        return Terms(self._budget)

    def balance(self, analyst: str, like: Cost | None = None) -> Balance:
        """What is left; and of charges like this one, how many more would be granted one after the other."""
        terms = self.terms()
        total, analyst_total, delta_total = self._totals(analyst)
        own = self._own_limit(analyst)
        left, keys = terms.limit - total, max(terms.pot - delta_total, Fraction(0))
        if own is not None:
            left = min(left, terms.price(own).amount - analyst_total)
        many = None
        if like is not None:
            counts = [left // like.amount, *([keys // like.delta] if like.delta else [])]
            many = max(0, int(min(counts)))
        limit = Amount(float(self._budget.epsilon), float(self._budget.delta))
        return Balance(limit, terms.spent(total, delta_total), terms.left(left), float(keys), many)

    def history(self, analyst: str | None = None) -> list[Charge]:
        """One entry a charge, oldest first: those of one analyst, or for the owner all."""
        self._chain.verify()
        whose = ("kind = 'charge'",) if analyst is None else ("kind = 'charge' AND analyst = ?", analyst)
        return [
            Charge(
                entry.seq,
                entry.field("when"),
                str(entry.analyst),
                float(Fraction(entry.field("spend"))),
                entry.field("digest"),
                tuple(entry.field("releases")),
                entry.request,
            )
            for entry in self._chain.entries(*whose)
        ]

    def verify(self) -> int:
        """Check the whole chain and the anchor; the number of entries."""
        count = self._chain.verify()
        self._anchor.check(self._chain)
        return count

    def close(self) -> None:
        self._chain.close()

    # ---- the owner's changes, each an entry of its own

    def record_limit(self) -> None:
        """Make the policy's limit the one in force; its currency stays."""
        with self._writing() as chain:
            stored = self._limit_in_force()
            if (stored.delta == 0) != (self._budget.delta == 0):
                raise ledger_differs("delta", str(stored.delta), str(self._budget.delta))
            chain.append("limit", {"when": now(), **_written(self._budget)})

    def limit_analyst(self, analyst: str, epsilon: Fraction) -> None:
        """Grant an analyst this much of the table's limit and no more."""
        with self._writing() as chain:
            self.terms().price(epsilon)
            chain.append("analyst", {"when": now(), "epsilon": str(epsilon)}, analyst=analyst)

    # ---- inside

    def _known(self, payment: Payment) -> Entry | None:
        if payment.request is not None:
            same_request = self._chain.last(
                "kind = 'charge' AND analyst = ? AND request = ?", payment.analyst, payment.request
            )
            if same_request is not None:
                if same_request.question != payment.question:
                    raise request_conflict(payment.request)
                return same_request
        if payment.fresh:
            return None
        return self._chain.last("kind = 'charge' AND analyst = ? AND question = ?", payment.analyst, payment.question)

    def _bought(self, charge: Entry, payment: Payment) -> Receipt | Stored:
        kept = self._chain.last("kind IN ('release', 'failure') AND charge = ?", charge.seq)
        if kept is None:
            return _receipt(charge, payment)
        if kept.kind == "failure":
            raise EngineFailed(*kept.field("told"))
        return Stored(_release(kept), kept.field("when"))

    def _admit(self, payment: Payment, terms: Terms) -> tuple[Fraction, Fraction, Fraction]:
        """The totals after this charge, or BudgetExceeded, naming whoever has less left."""
        amount, delta = payment.cost.amount, payment.cost.delta
        total, analyst_total, delta_total = self._totals(payment.analyst)
        pots = [(terms.limit - total, "the table", self._budget.epsilon)]
        own = self._own_limit(payment.analyst)
        if own is not None:
            pots.append((terms.price(own).amount - analyst_total, f'analyst "{payment.analyst}"', own))
        left, owner, limit = min(pots, key=lambda pot: pot[0])
        if amount > left:
            raise over_budget(
                _rounded_up(payment.spend), owner, rounded_down(terms.left(left).epsilon), rounded_down(float(limit))
            )
        if delta_total + delta > terms.pot:
            raise over_key_budget(f"{float(delta):.6g}", f"{float(max(terms.pot - delta_total, Fraction(0))):.6g}")
        return _bounded(total + amount), _bounded(analyst_total + amount), _bounded(delta_total + delta)

    def _totals(self, analyst: str) -> tuple[Fraction, Fraction, Fraction]:
        newest = self._chain.last("kind = 'charge'")
        own = self._chain.last("kind = 'charge' AND analyst = ?", analyst)
        return (
            Fraction(newest.field("total")) if newest else Fraction(0),
            Fraction(own.field("analyst_total")) if own else Fraction(0),
            # Entries from before keys could be discovered have no δ.
            Fraction(newest.content.get("delta_total", 0)) if newest else Fraction(0),
        )

    def _own_limit(self, analyst: str) -> Fraction | None:
        entry = self._chain.last("kind = 'analyst' AND analyst = ?", analyst)
        return None if entry is None else Fraction(entry.field("epsilon"))

    def _limit_in_force(self) -> Budget:
        entry = self._chain.last("kind IN ('open', 'limit')")
        if entry is None:
            raise ledger_gone(str(self.path))
        return Budget(Fraction(entry.field("epsilon")), Fraction(entry.field("delta")))


def re_anchor(path: Path, anchor: Path | None = None) -> None:
    """The owner vouches for a ledger whose anchor was lost. A present anchor is never overruled."""
    chain = Chain(path)
    if not path.exists():
        raise ledger_unreadable(str(path))
    chain.verify()
    last = chain.last()
    place = Anchor(anchor or default_anchor(path))
    if last is not None:
        try:
            known = place.remembered()
        except LedgerDamaged:  # unreadable is as good as lost
            place.path.unlink()
            known = None
        if known is None:
            place.advance(last)
    chain.close()


def _written(budget: Budget) -> dict[str, str]:
    return {"epsilon": str(budget.epsilon), "delta": str(budget.delta)}


def _receipt(entry: Entry, payment: Payment) -> Receipt:
    return Receipt(entry.seq, *(plan.digest for plan in payment.plans))


def _body(release: Release) -> dict[str, Any]:
    body: dict[str, Any] = {"values": [[_text(value) for value in row] for row in release.values]}
    if release.groups is not None:
        body["groups"] = [list(group) for group in release.groups]
    if release.others:
        body["others"] = [_body(other) for other in release.others]
    return body


def _release(kept: Entry) -> Release:
    kept.field("values")
    return _read(int(kept.charge or 0), kept.content)


def _read(charge: int, body: dict[str, Any]) -> Release:
    groups = body.get("groups")
    return Release(
        charge,
        tuple(tuple(_number(value) for value in row) for row in body["values"]),
        None if groups is None else tuple(tuple(group) for group in groups),
        tuple(_read(charge, other) for other in body.get("others", ())),
    )


def _text(value: Released) -> str | list[str]:
    """Integers of any size survive as text."""
    return str(value) if isinstance(value, int) else [str(one) for one in value]


def _number(text: str | list[str]) -> Released:
    return int(text) if isinstance(text, str) else tuple(int(one) for one in text)


def _bounded(total: Fraction) -> Fraction:
    if total.denominator <= LARGEST_DENOMINATOR:
        return total
    return Fraction(-((-total * ROUNDED_TO) // 1), ROUNDED_TO)


def _rounded_up(spend: Fraction) -> str:
    """Six digits, never less: a price just above the limit must not look like the limit."""
    context = Context(prec=6, rounding=ROUND_CEILING)
    return f"{context.divide(Decimal(spend.numerator), Decimal(spend.denominator)).normalize():f}"


def now() -> str:
    """For people only: nothing is decided by the clock."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
