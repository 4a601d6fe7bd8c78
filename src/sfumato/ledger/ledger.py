"""The durable budget: who may still learn how much, and what was done so far."""

import secrets
import time
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from sfumato.errors import EngineFailed
from sfumato.kernel.cost import Cost
from sfumato.kernel.gate import Receipt, Release
from sfumato.ledger.admission import admit, exceeded, is_within
from sfumato.ledger.balance import Balance, balance_of
from sfumato.ledger.book import MOST_RESUMED, Book, demand
from sfumato.ledger.bought import OTHERWISE, Bought, fit
from sfumato.ledger.entry import Entry
from sfumato.ledger.history import Charge, Drawn, Line, drawn_line, line_of
from sfumato.ledger.in_force import InForce, as_said
from sfumato.ledger.listing import History, page
from sfumato.ledger.payment import Draw, Payment, Sealed, Sealing, Stored, demand_answerable
from sfumato.ledger.pen import Pen
from sfumato.ledger.records import Records
from sfumato.ledger.releases import written
from sfumato.ledger.terms import Terms
from sfumato.ledger.wordings import (
    envelope_at_another_price,
    envelope_empty,
    interrupted_too_often,
    ledger_differs,
    no_receipt,
)
from sfumato.plan.nodes import PLAN_LANGUAGE
from sfumato.schema.budget import Budget
from sfumato.schema.given import check_analyst
from sfumato.schema.table import Schema


class Ledger:
    """Opens or starts the ledger of one table.

    Claim: the sum of what `charge` and `seal` grant, over all analysts, threads, processes, crashes and restarts, never
    exceeds the limit in force, and the sum of what `draw` grants of an envelope never exceeds its charge; each is on
    disk before its receipt exists.
    """

    def __init__(self, path: Path, *, schema: Schema, budget: Budget, anchor: Path | None = None) -> None:
        described = {"table": schema.table, "unit": schema.unit.whose}
        said = {"id": secrets.token_hex(16), "when": now(), "language": PLAN_LANGUAGE, **described, **as_said(budget)}
        self.path = path
        self.records = Records(path, anchor, lambda pen: pen.append("open", said))
        self._in_force = InForce(self.records, budget)
        self._history = History()
        self._bought = Bought(self.records)
        try:
            self._compare(described)
        except BaseException:
            self.records.close()
            raise

    def _compare(self, described: dict[str, str]) -> None:
        """With what it was opened for."""
        with self.records.reading() as book:
            for what, given in described.items():
                if book.described[what] != given:
                    raise ledger_differs(f"the {what}", book.described[what], given)
            self._in_force.to_plan_with(book)

    # ---- for the door, and nobody else

    def found(self, paid: Payment | Draw) -> Stored | None:
        """What was bought before and answered, or its failure: nothing is written, and no engine is needed.

        Refuses a thread that is reading here already: it was interrupted, and would take the lock along where it waits.
        """
        self.records.chain.refuse_again()

        def find(book: Book) -> Stored | EngineFailed | None:
            known = self._bought.known(book, paid)
            return None if known is None else self._bought.kept(book, known, paid)

        found = self.records.shown(find)
        if isinstance(found, EngineFailed):
            raise found
        return found

    def charge(self, payment: Payment) -> Receipt | Stored:
        """A receipt for a new charge, or what an earlier one bought.

        Claim: one charge at most for a request id, and for an unchanged question unless `fresh`; a charge whose
        look was broken off before its release was stored is resumed, because nothing of it was ever shown, if it took
        what this payment costs and all charges are within the limits of now. One whose engine failed fails again,
        unlooked, and so does one that was resumed three times, whoever broke it off: each try tells how long it takes,
        and each is an entry that the anchor covers before the look.
        """
        with self.records.writing() as (pen, book):
            repeated = self._repeated(pen, book, payment)
            if repeated is None:
                demand_answerable(payment, book.described)
                entry = self._charged(pen, book, payment, payment.said())
        if isinstance(repeated, EngineFailed):
            raise repeated  # covered by now, as everything that is shown
        return _receipt(entry.seq, payment) if repeated is None else repeated

    def seal(self, sealing: Sealing) -> Sealed:
        """An envelope: a charge for a purpose, of which draws take their parts. The same purpose again is the same.

        At another price it is not: what a spend is worth follows from the delta of the limit, which may have changed.
        """
        with self.records.writing() as (pen, book):
            self._demand_within(book, sealing)
            said = sealing.said(self.records.key, secrets.token_hex(16))
            entry = self._bought.known(book, sealing) or self._charged(pen, book, sealing, said)
            demand(sealing.is_of(entry), entry.seq, OTHERWISE)
            if not sealing.was_paid_by(entry):
                raise envelope_at_another_price(entry.seq)
        return Sealed(entry.seq, sealing.cost, entry.content["seed"], entry.content["when"])

    def draw(self, draw: Draw) -> Receipt | Stored:
        """A receipt for a part of an envelope, or what the same draw has bought.

        Claim: the costs of all draws of an envelope are at most its charge, whatever a learner reckons; the state of
        the data is the one it was sealed for. A draw is resumed, and fails, as a charge does.
        Proof: docs/proofs/composition.md, "Filters": draws are chosen with the answers before them in mind.
        """
        with self.records.writing() as (pen, book):
            repeated = self._repeated(pen, book, draw)
            if repeated is None:
                entry = self._drawn(pen, book, draw)
        if isinstance(repeated, EngineFailed):
            raise repeated
        return _receipt(entry.seq, draw) if repeated is None else repeated

    def store(self, paid: Payment | Draw, releases: Sequence[Release]) -> tuple[Release, ...]:
        """Keep releases for ever; if their charge has some already, those are the answer and these are forgotten."""
        charge = releases[0].entry
        with self.records.writing() as (pen, book):
            _demand_paid(book, charge)
            kept = self._bought.kept_for(book, charge, paid)
            if not isinstance(kept, Stored):
                demand(fit(releases, paid), charge, "would keep an answer of another shape than was paid for")
                pen.append("release", {"when": now(), **written(releases, self.records.key)}, charge=charge)
        return kept.releases if isinstance(kept, Stored) else tuple(releases)

    def fail(self, charge: int, failure: EngineFailed) -> None:
        """Keep that the engine failed, in the words that were shown, which are the same for all data."""
        with self.records.writing() as (pen, book):
            _demand_paid(book, charge)
            if charge not in book.releases and charge not in book.failures:
                pen.append("failure", _told(failure), charge=charge)

    # ---- to be read: `found`, `charge`, `draw`, `store` and `recall` alone show what depends on the data, and all of
    # it is covered by the anchor before. What follows from charges and limits alone may be shown uncovered: whoever
    # takes such an entry out again has seen nothing that was drawn for it.

    def terms(self) -> Terms:
        """What plans are made with: the currency, and what a spend is worth in it."""
        with self.records.reading() as book:
            return self._in_force.to_plan_with(book)

    def balance(self, analyst: str, like: Cost | None = None) -> Balance:
        """What is left; and of charges like this one, how many more would be granted one after the other."""
        with self.records.reading() as book:
            return balance_of(book, self._in_force.terms(book), analyst, like)

    def history(
        self, analyst: str | None = None, *, before: int | None = None, limit: int | None = None
    ) -> list[Charge]:
        """One entry per charge, oldest first: those of one analyst, or for the owner all; the newest before an entry.

        Every hash was checked when this process first read the entry; `verify` reads all of them again. A line says
        what was asked and paid, not whether it was answered: it need not be covered.
        """
        with self.records.checking() as book:
            return page(self._history.lines(book, self.records.chain.entries), analyst, before, limit)

    def recall(self, charge: int, analyst: str) -> tuple[Entry, Stored]:
        """A charge of this analyst and what was kept for it, or its failure.

        A charge and an answer that somebody without the key made up together are shown by their number, as those of
        0.1.0 are; no question finds them.
        """
        shown = self.records.shown(lambda book: self._bought.recalled(book, charge, analyst))
        if shown is None:
            raise no_receipt()
        found, kept = shown
        if isinstance(kept, EngineFailed):
            raise kept
        return found, kept

    def draws(self) -> list[Drawn]:
        """One line per draw from an envelope, of every analyst, oldest first. Every hash is checked. For the owner."""
        drawn: list[Drawn] = []
        self.records.anew(lambda entry: drawn.append(drawn_line(entry)) if entry.kind == "draw" else None)
        return drawn

    def lines(self) -> list[Line]:
        """One line per entry, of all kinds, oldest first. Every hash is checked.

        It tells which charges failed, covered or not: it is for the owner, who may see the data.
        """
        lines: list[Line] = []
        self.records.anew(lambda entry: lines.append(line_of(entry)))
        return lines

    def verify(self) -> int:
        """Check the file, the whole chain, what its entries say, and the anchor; the number of entries."""
        return self.records.verify()

    def close(self) -> None:
        self.records.close()

    # ---- the owner's changes, each an entry of its own

    def record_limit(self) -> None:
        """Make the policy's limit the one in force; its currency stays."""
        self._in_force.record(now())

    def limit_analyst(self, analyst: str, epsilon: Fraction) -> None:
        """Grant an analyst this much of the table's limit and no more."""
        check_analyst(analyst)
        with self.records.writing() as (pen, book):
            self._in_force.terms(book).price(epsilon)
            pen.append("analyst", {"when": now(), "epsilon": str(epsilon)}, analyst=analyst)

    # ---- inside

    def _charged(self, pen: Pen, book: Book, paid: Payment | Sealing, said: dict[str, Any]) -> Entry:
        """A new charge, if all that is left allows it."""
        terms, analyst = self._in_force.terms(book), paid.analyst
        total, analyst_total, delta_total = admit(book, terms, analyst, cost=paid.cost, spend=paid.spend)
        sums = {"total": str(total), "analyst_total": str(analyst_total), "delta_total": str(delta_total)}
        question = paid.name(self.records.key)
        return pen.append(
            "charge", {**_once(), **said, **sums}, analyst=analyst, question=question, request=paid.request
        )

    def _drawn(self, pen: Pen, book: Book, draw: Draw) -> Entry:
        """A new draw, if what is left in its envelope allows it. Needs: an envelope of this analyst's, of this data."""
        self._demand_within(book, draw)
        envelope, terms = book.envelopes[draw.envelope], self._in_force.terms(book)
        used, delta_used = envelope.with_draw(draw.cost.amount, draw.cost.delta)
        if used > envelope.amount or delta_used > envelope.delta or draw.cost.currency != terms.currency:
            raise envelope_empty(draw.envelope)
        demand_answerable(draw, book.described)
        said = {**_once(), **draw.said(), "used": str(used), "delta_used": str(delta_used)}
        return pen.append("draw", said, analyst=draw.analyst, question=draw.name, charge=draw.envelope)

    def _repeated(self, pen: Pen, book: Book, paid: Payment | Draw) -> Stored | EngineFailed | Receipt | None:
        """What this one repeats has bought; or its receipt, where nothing was kept and so nothing was shown.

        Then the look before was broken off, or goes on elsewhere; that this one is another is kept before it begins.
        """
        known = self._bought.known(book, paid)
        if known is None:
            return None
        kept = self._bought.kept(book, known, paid)
        if kept is not None:
            return kept
        self._demand_within(book, paid)
        demand_answerable(paid, book.described)
        if book.interruptions.get(known.seq, 0) < MOST_RESUMED:
            pen.append("interrupted", _once(), charge=known.seq)
            return _receipt(known.seq, paid)
        failure = interrupted_too_often(MOST_RESUMED)
        pen.append("failure", _told(failure), charge=known.seq)
        return failure

    def _demand_within(self, book: Book, paid: Payment | Draw | Sealing) -> None:
        """What was charged before buys something now only while all charges are within the limits of now.

        A charge may have been written by anybody, between two limits that were written with it.
        """
        terms = self._in_force.terms(book)
        if not is_within(book, paid.analyst, terms):
            spend = paid.cost.amount if isinstance(paid, Draw) else paid.spend
            raise exceeded(book, terms, paid.analyst, cost=paid.cost, spend=spend)


def _demand_paid(book: Book, charge: int) -> None:
    demand(charge in book.paid, charge, "is no charge, and nothing can be kept for it")


def _receipt(entry: int, paid: Payment | Draw) -> Receipt:
    return Receipt(entry, *(plan.digest for plan in paid.plans))


def _once() -> dict[str, Any]:
    """Of an entry that lets somebody look: no copy of this ledger writes the same one, so the anchor covers but one."""
    return {"when": now(), "token": secrets.token_hex(8)}


def _told(failure: EngineFailed) -> dict[str, Any]:
    return {"when": now(), "told": [failure.message, failure.hint]}


def now() -> str:
    """For people only: nothing is decided by the clock."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
