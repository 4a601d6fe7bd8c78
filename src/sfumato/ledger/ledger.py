"""The durable budget: who may still learn how much, and what was done so far."""

import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from pathlib import Path

from sfumato.errors import (
    BudgetExceeded,
    EngineFailed,
    ledger_broken,
    ledger_differs,
    ledger_gone,
    limit_differs,
    over_budget,
    over_key_budget,
    request_conflict,
)
from sfumato.kernel.cost import Cost
from sfumato.kernel.gate import Receipt, Release
from sfumato.ledger.anchor import Anchor
from sfumato.ledger.book import Book, demand
from sfumato.ledger.chain import Chain
from sfumato.ledger.entry import Entry
from sfumato.ledger.history import Charge, Line, history_line, line_of
from sfumato.ledger.limits import ROUNDING
from sfumato.ledger.payment import Payment, Stored
from sfumato.ledger.pen import Pen
from sfumato.ledger.places import checked_anchor
from sfumato.ledger.reader import Reader
from sfumato.ledger.releases import kept_failure, kept_release, kept_when, written
from sfumato.ledger.terms import Amount, Terms, rounded_down
from sfumato.ledger.totals import bounded
from sfumato.ledger.verifying import verified
from sfumato.ledger.wordings import ledger_replaced
from sfumato.schema.budget import Budget
from sfumato.schema.given import check_analyst
from sfumato.schema.table import Schema


@dataclass(frozen=True, slots=True)
class Balance:
    """The limit, what was spent of it and what is left, for one analyst; and the δ left for discovering keys."""

    limit: Amount
    spent: Amount
    left: Amount
    left_for_keys: float = 0.0
    more: int | None = None


class Ledger:
    """Opens or starts the ledger of one table.

    Claim: the sum of what `charge` grants, over all analysts, threads, processes, crashes and restarts, never exceeds
    the limit in force; each charge is on disk before its receipt exists.
    """

    def __init__(self, path: Path, *, schema: Schema, budget: Budget, anchor: Path | None = None) -> None:
        self.path = path
        self._anchor = Anchor(checked_anchor(path, anchor))
        self._chain = Chain(path, self._anchor.watched)
        self._reader = Reader(self._chain)
        self._budget = budget
        try:
            self._open(budget, {"table": schema.table, "unit": str(schema.unit)})
        except BaseException:
            self._chain.close()
            raise

    def _open(self, budget: Budget, described: dict[str, str]) -> None:
        if self._anchor.outlived(self._chain.file):
            raise ledger_gone(str(self.path))
        self._reader.read()  # all of it, before anybody has to wait
        with self._writing() as (pen, book):
            if book.seq == 0:
                pen.append("open", {"id": secrets.token_hex(16), "when": now(), **described, **_written(budget)})
        with self._reading() as book:
            for what, given in described.items():
                if book.described[what] != given:
                    raise ledger_differs(f"the {what}", book.described[what], given)

    @contextmanager
    def _reading(self) -> Iterator[Book]:
        """What all entries say now; no other thread may add to it meanwhile."""
        with self._chain.held():
            yield self._reader.read()

    @contextmanager
    def _writing(self) -> Iterator[tuple[Pen, Book]]:
        """Hold the write lock, check the anchor, and let it remember the last entry once that is durable.

        Claim: ends without an error only if what was appended was read back, follows from all entries before, and is
        what the anchor remembers, or older in the same chain.
        """
        if self._anchor.outlived(self._chain.file):
            raise ledger_gone(str(self.path))
        with self._chain.transaction():
            book = self._anchor.check(self._reader.read, str(self.path))
            pen = Pen(self._chain, book)
            yield pen, book
        with self._reading() as book:
            for entry in pen.written:
                if not book.holds(entry.seq, entry.hash):
                    raise ledger_replaced(entry.seq)
            newest = book.seq, book.hash
        # Nothing of a new charge was shown yet; whatever else was done here may be, and is covered after a power cut.
        only_charged = [entry.kind for entry in pen.written] == ["charge"]
        self._anchor.advance(newest, self._reader.holds, forced=not only_charged)

    def charge(self, payment: Payment) -> Receipt | Stored:
        """A receipt for a new charge, or what an earlier one bought.

        Claim: one charge at most for a request id, and for an unchanged question unless `fresh`; a charge whose
        process died before storing its release is resumed, because nothing of it was ever shown, if it took what this
        payment costs and all charges are within the limits of now. One whose engine failed fails again, unlooked: how
        long it takes and whether it fails is told once a charge.
        """
        cost = payment.cost
        with self._writing() as (pen, book):
            terms = self._terms(book)
            known = _known(book, payment)
            if known is not None:
                return self._bought(book, known, payment, terms)
            payment.demand_allowed()
            total, analyst_total, delta_total = self._admit(book, payment, terms)
            entry = pen.append(
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
        return _receipt(entry.seq, payment)

    def store(self, release: Release) -> Release:
        """Keep a release for ever; if its charge has one already, that one is the answer and this one is forgotten."""
        with self._writing() as (pen, book):
            _demand_charge(book, release.entry)
            if release.entry in book.releases:
                return kept_release(self._proven(book, book.releases[release.entry]))
            pen.append("release", {"when": now(), **written(release)}, charge=release.entry)
        return release

    def fail(self, charge: int, failure: EngineFailed) -> None:
        """Keep that the engine failed, in the words that were shown, which are the same for all data."""
        with self._writing() as (pen, book):
            _demand_charge(book, charge)
            if charge not in book.releases and charge not in book.failures:
                pen.append("failure", {"when": now(), "told": [failure.message, failure.hint]}, charge=charge)

    def balance(self, analyst: str, like: Cost | None = None) -> Balance:
        """What is left; and of charges like this one, how many more would be granted one after the other."""
        with self._reading() as book:
            terms, own = self._terms(book), book.analyst_limits.get(analyst)
            total, analyst_total, delta_total = _totals(book, analyst)
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
        """One entry a charge, oldest first: those of one analyst, or for the owner all. Every hash is checked."""
        lines: list[Charge] = []

        def note(entry: Entry) -> None:
            if entry.kind == "charge" and analyst in (None, entry.analyst):
                lines.append(history_line(entry, entry.content))

        self._read_anew(note)
        return lines

    def lines(self) -> list[Line]:
        """One line an entry, of all kinds, oldest first, for the owner. Every hash is checked."""
        lines: list[Line] = []
        self._read_anew(lambda entry: lines.append(line_of(entry)))
        return lines

    def verify(self) -> int:
        """Check the file, the whole chain, what its entries say, and the anchor; the number of entries."""
        return self._anchor.check(lambda: verified(self._reader), str(self.path)).seq

    def close(self) -> None:
        self._chain.close()

    # ---- the owner's changes, each an entry of its own

    def record_limit(self) -> None:
        """Make the policy's limit the one in force; its currency stays."""
        with self._writing() as (pen, book):
            if (book.limit.delta == 0) != (self._budget.delta == 0):
                raise ledger_differs("delta", str(book.limit.delta), str(self._budget.delta))
            pen.append("limit", {"when": now(), **_written(self._budget)})

    def limit_analyst(self, analyst: str, epsilon: Fraction) -> None:
        """Grant an analyst this much of the table's limit and no more."""
        check_analyst(analyst)
        with self._writing() as (pen, book):
            self._terms(book).price(epsilon)
            pen.append("analyst", {"when": now(), "epsilon": str(epsilon)}, analyst=analyst)

    # ---- inside

    def _terms(self, book: Book) -> Terms:
        """Those of the limit in force; the policy must agree with it."""
        if book.limit != self._budget:
            raise limit_differs(str(book.limit), str(self._budget))
        return Terms(self._budget)

    def _bought(self, book: Book, charge: int, payment: Payment, terms: Terms) -> Receipt | Stored:
        """What a charge found under the payment's name gives: an entry may have been written by anybody."""
        demand(payment.was_paid_by(self._proven(book, charge)), charge, "was paid for something else than it names")
        if charge in book.releases:
            kept = self._proven(book, book.releases[charge])
            return Stored(kept_release(kept), kept_when(kept))
        if charge in book.failures:
            raise kept_failure(self._proven(book, book.failures[charge]))
        if not _is_within(book, payment.analyst, terms):
            raise self._exceeded(book, payment, terms)
        payment.demand_allowed()
        return _receipt(charge, payment)

    def _read_anew(self, note: Callable[[Entry], object]) -> None:
        """All entries once more, each noted after it was taken; what the anchor or this process knows is among them."""
        self._anchor.check(lambda: self._reader.read_anew(note), str(self.path))

    def _proven(self, book: Book, seq: int) -> Entry:
        """An entry as it was when it was taken into the book."""
        entry = self._chain.at(seq)
        if entry is None or not book.proves(entry):
            raise ledger_broken(seq)
        return entry

    def _admit(self, book: Book, payment: Payment, terms: Terms) -> tuple[Fraction, Fraction, Fraction]:
        """The totals after this charge, or BudgetExceeded."""
        amount, delta = payment.cost.amount, payment.cost.delta
        total, analyst_total, delta_total = _totals(book, payment.analyst)
        left, _, _ = self._left(book, payment.analyst, terms)
        if amount > left or delta_total + delta > terms.pot:
            raise self._exceeded(book, payment, terms)
        return bounded(total + amount), bounded(analyst_total + amount), bounded(delta_total + delta)

    def _left(self, book: Book, analyst: str, terms: Terms) -> tuple[Fraction, str, Fraction]:
        """Of the table or of the analyst, whoever has less: what is left, who it is, and the limit."""
        total, analyst_total, _ = _totals(book, analyst)
        pots = [(terms.limit - total, "the table", self._budget.epsilon)]
        own = book.analyst_limits.get(analyst)
        if own is not None:
            pots.append((terms.price(own).amount - analyst_total, f'analyst "{analyst}"', own))
        return min(pots, key=lambda pot: pot[0])

    def _exceeded(self, book: Book, payment: Payment, terms: Terms) -> BudgetExceeded:
        left, owner, limit = self._left(book, payment.analyst, terms)
        if payment.cost.amount > left:
            least = rounded_down(terms.left(left).epsilon)
            return over_budget(_rounded_up(payment.spend), owner, least, rounded_down(float(limit)))
        keys = max(terms.pot - book.delta_total, Fraction(0))
        return over_key_budget(f"{float(payment.cost.delta):.6g}", f"{float(keys):.6g}")


def _known(book: Book, payment: Payment) -> int | None:
    """The charge that this payment repeats."""
    if payment.request is not None:
        same_request = book.requests.get((payment.analyst, payment.request))
        if same_request is not None:
            if same_request.question != payment.question:
                raise request_conflict(payment.request)
            return same_request.seq
    if payment.fresh:
        return None
    return book.questions.get((payment.analyst, payment.question))


def _totals(book: Book, analyst: str) -> tuple[Fraction, Fraction, Fraction]:
    return book.total, book.analyst_totals.get(analyst, Fraction(0)), book.delta_total


def _demand_charge(book: Book, charge: int) -> None:
    demand(charge in book.charges, charge, "is no charge, and nothing can be kept for it")


def _written(budget: Budget) -> dict[str, str]:
    return {"epsilon": str(budget.epsilon), "delta": str(budget.delta)}


def _receipt(charge: int, payment: Payment) -> Receipt:
    return Receipt(charge, *(plan.digest for plan in payment.plans))


def _rounded_up(spend: Fraction) -> str:
    """Six digits, never less: a price just above the limit must not look like the limit."""
    context = Context(prec=6, rounding=ROUND_CEILING)
    return f"{context.divide(Decimal(spend.numerator), Decimal(spend.denominator)).normalize():f}"


def now() -> str:
    """For people only: nothing is decided by the clock."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def _is_within(book: Book, analyst: str, terms: Terms) -> bool:
    """Whether all charges together are within the limits of now, to the last digit but that of rounded sums."""
    own = book.analyst_limits.get(analyst)
    within = book.total <= terms.limit + ROUNDING and book.delta_total <= terms.pot + ROUNDING
    return within and (own is None or book.analyst_totals[analyst] <= terms.price(own).amount + ROUNDING)
