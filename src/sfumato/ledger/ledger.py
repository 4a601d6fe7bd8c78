"""The durable budget: who may still learn how much, and what was done so far."""

import hashlib
import json
import secrets
import time
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Context
from fractions import Fraction
from pathlib import Path
from typing import Literal

from sfumato.errors import (
    BudgetExceeded,
    ledger_differs,
    ledger_unreadable,
    limit_differs,
    over_budget,
    request_conflict,
)
from sfumato.kernel.certify import Certified
from sfumato.kernel.cost import Cost
from sfumato.kernel.gate import Receipt, Release
from sfumato.ledger.anchor import Anchor
from sfumato.ledger.chain import Chain, Entry
from sfumato.ledger.terms import Amount, Terms
from sfumato.schema.budget import Budget
from sfumato.schema.table import Schema

# Sums of unrelated denominators may not grow without end; above this size a total is rounded up.
LARGEST_DENOMINATOR = 1 << 512
ROUNDED_TO = 1 << 256


@dataclass(frozen=True, slots=True)
class Balance:
    """The limit, what was spent of it and what is left, for one analyst."""

    limit: Amount
    spent: Amount
    left: Amount


@dataclass(frozen=True, slots=True)
class Payment:
    """One question, as the ledger needs to know it."""

    certified: Certified
    analyst: str
    spend: Fraction
    version: str
    fresh: bool = False
    request: str | None = None

    @property
    def question(self) -> str:
        text = json.dumps([self.certified.digest, str(self.spend), self.version])
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
        self._chain = Chain(path)
        self._anchor = Anchor(anchor or default_anchor(path))
        self._budget = budget
        try:
            self._open(budget, {"table": schema.table, "unit": str(schema.unit)})
        except BaseException:
            self._chain.close()
            raise

    def _open(self, budget: Budget, described: dict[str, str]) -> None:
        with self._anchor.held() as held:
            held.check(self._chain)
            first = self._chain.last("kind = 'open'")
            if first is None:
                with self._chain.transaction() as chain:
                    first = chain.append(
                        "open", {"id": secrets.token_hex(16), "when": now(), **described, **_written(budget)}
                    )
                held.remember(first)
        for what, given in described.items():
            if first.content[what] != given:
                raise ledger_differs(f"the {what}", first.content[what], given)

    def charge(self, payment: Payment) -> Receipt | Stored:
        """A receipt for a new charge, or what an earlier one bought.

        Claim: one charge at most for a request id, and for an unchanged question unless `fresh`; a charge whose
        process died before storing its release is resumed, because nothing of it was ever shown.
        """
        terms = self.terms()
        cost = payment.certified.cost
        with self._chain.transaction() as chain:
            known = self._known(payment)
            if known is not None:
                return self._bought(known, payment)
            total = self._admit(cost, terms, payment.analyst)
            entry = chain.append(
                "charge",
                {
                    "when": now(),
                    "currency": cost.currency,
                    "amount": str(cost.amount),
                    "spend": str(payment.spend),
                    "total": str(total[0]),
                    "analyst_total": str(total[1]),
                    "digest": payment.certified.digest,
                    "releases": [release.event for release in payment.certified.releases],
                },
                analyst=payment.analyst,
                question=payment.question,
                request=payment.request,
            )
        self._anchor.advance(entry)
        return Receipt(entry.seq, payment.certified.digest)

    def store(self, release: Release) -> Release:
        """Keep a release for ever; if its charge has one already, that one is the answer and this one is forgotten."""
        with self._chain.transaction() as chain:
            kept = chain.last("kind = 'release' AND charge = ?", release.entry)
            if kept is not None:
                return _release(kept)
            values = [[str(value) for value in row] for row in release.values]
            entry = chain.append("release", {"when": now(), "values": values}, charge=release.entry)
        self._anchor.advance(entry)
        return release

    def terms(self) -> Terms:
        """The limit in force; the policy must agree with it."""
        entry = self._chain.last("kind IN ('open', 'limit')")
        stored = None if entry is None else Budget(Fraction(entry.content["epsilon"]), Fraction(entry.content["delta"]))
        if stored != self._budget:
            raise limit_differs(str(stored), str(self._budget))
        return Terms(self._budget)

    def balance(self, analyst: str) -> Balance:
        terms = self.terms()
        total, analyst_total = self._totals(analyst)
        left = terms.limit - total
        own_limit = self._analyst_limit(analyst, terms)
        if own_limit is not None:
            left = min(left, own_limit - analyst_total)
        limit = Amount(float(self._budget.epsilon), float(self._budget.delta))
        return Balance(limit, terms.spent(total), terms.left(left))

    def history(self) -> list[Charge]:
        return [
            Charge(
                entry.seq,
                str(content["when"]),
                str(entry.analyst),
                float(Fraction(str(content["spend"]))),
                str(content["digest"]),
                tuple(content["releases"]),
                entry.request,
            )
            for entry in self._chain.entries("kind = 'charge'")
            for content in [entry.content]
        ]

    def verify(self) -> int:
        """Check the whole chain and the anchor; the number of entries."""
        count = self._chain.verify()
        with self._anchor.held() as held:
            held.check(self._chain)
        return count

    def close(self) -> None:
        self._chain.close()

    # ---- the owner's changes, each an entry of its own

    def record_limit(self) -> None:
        """Make the policy's limit the one in force; its currency stays."""
        entry = self._chain.last("kind IN ('open', 'limit')")
        if entry is not None and (entry.content["delta"] == "0") != (self._budget.delta == 0):
            raise ledger_differs("delta", entry.content["delta"], str(self._budget.delta))
        self._record("limit", _written(self._budget))

    def limit_analyst(self, analyst: str, epsilon: Fraction) -> None:
        """Grant an analyst this much of the table's limit and no more."""
        self.terms().price(epsilon)
        self._record("analyst", {"epsilon": str(epsilon)}, analyst=analyst)

    def _record(self, kind: Literal["limit", "analyst"], body: dict[str, str], analyst: str | None = None) -> None:
        with self._chain.transaction() as chain:
            entry = chain.append(kind, {"when": now(), **body}, analyst=analyst)
        self._anchor.advance(entry)

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
        kept = self._chain.last("kind = 'release' AND charge = ?", charge.seq)
        if kept is None:
            return Receipt(charge.seq, payment.certified.digest)
        return Stored(_release(kept), str(kept.content["when"]))

    def _admit(self, cost: Cost, terms: Terms, analyst: str) -> tuple[Fraction, Fraction]:
        """The totals after this charge, or BudgetExceeded."""
        total, analyst_total = self._totals(analyst)
        own_limit = self._analyst_limit(analyst, terms)
        if own_limit is not None and analyst_total + cost.amount > own_limit:
            raise self._too_much(cost, terms, f'analyst "{analyst}"', own_limit, own_limit - analyst_total)
        if total + cost.amount > terms.limit:
            raise self._too_much(cost, terms, "the table", terms.limit, terms.limit - total)
        return _bounded(total + cost.amount), _bounded(analyst_total + cost.amount)

    def _too_much(self, cost: Cost, terms: Terms, owner: str, limit: Fraction, left: Fraction) -> BudgetExceeded:
        asked, available, allowed = terms.spent(cost.amount), terms.left(left), terms.left(limit)
        return over_budget(_short(asked.epsilon), owner, _short(available.epsilon), _short(allowed.epsilon))

    def _totals(self, analyst: str) -> tuple[Fraction, Fraction]:
        newest = self._chain.last("kind = 'charge'")
        own = self._chain.last("kind = 'charge' AND analyst = ?", analyst)
        return (
            Fraction(str(newest.content["total"])) if newest else Fraction(0),
            Fraction(str(own.content["analyst_total"])) if own else Fraction(0),
        )

    def _analyst_limit(self, analyst: str, terms: Terms) -> Fraction | None:
        entry = self._chain.last("kind = 'analyst' AND analyst = ?", analyst)
        return None if entry is None else terms.price(Fraction(str(entry.content["epsilon"]))).amount


def default_anchor(path: Path) -> Path:
    return path.with_name(path.name + ".anchor")


def re_anchor(path: Path, anchor: Path | None = None) -> None:
    """The owner vouches for a ledger whose anchor was lost. A present anchor is never overruled."""
    chain = Chain(path)
    if not path.exists():
        raise ledger_unreadable(str(path))
    chain.verify()
    with Anchor(anchor or default_anchor(path)).held() as held:
        last = chain.last()
        if held.remembered() is None and last is not None:
            held.remember(last)
    chain.close()


def _written(budget: Budget) -> dict[str, str]:
    return {"epsilon": str(budget.epsilon), "delta": str(budget.delta)}


def _release(entry: Entry) -> Release:
    values = entry.content["values"]
    return Release(int(entry.charge or 0), tuple(tuple(int(v) for v in row) for row in values))


def _bounded(total: Fraction) -> Fraction:
    if total.denominator <= LARGEST_DENOMINATOR:
        return total
    return Fraction(-((-total * ROUNDED_TO) // 1), ROUNDED_TO)


def _short(epsilon: float) -> str:
    """Six digits, rounded down: what is offered can be typed in and is granted."""
    return f"{Context(prec=6, rounding=ROUND_FLOOR).create_decimal(repr(epsilon)).normalize():f}"


def now() -> str:
    """For people only: nothing is decided by the clock."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
