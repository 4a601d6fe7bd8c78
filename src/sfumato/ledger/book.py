"""What all entries of a ledger say together: totals, limits, and what each charge bought.

Every process makes its own book from the entries, each checked as it is taken. Nothing in the file is asked instead:
neither an index, which could hide a charge or a release, nor a total that does not follow from the amounts.
"""

import re
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple

from sfumato.errors import UsageError
from sfumato.kernel.cost import Currency
from sfumato.ledger.entry import GENESIS, Entry
from sfumato.ledger.history import events_of, history_line
from sfumato.ledger.limits import least_above, least_above_pot
from sfumato.ledger.totals import bounded
from sfumato.ledger.typed import fraction, said_text
from sfumato.ledger.wordings import entry_senseless, ledger_broken
from sfumato.schema.budget import Budget

HASH_BYTES = 32
# A charge that was interrupted is resumed, because nothing of it was shown; but each try tells how long it took.
MOST_RESUMED = 3
WITH_CAPS = re.compile(r"person \((.*): at most [0-9]+ rows in [0-9]+ groups\)", re.DOTALL)


class Asked(NamedTuple):
    """A charge, and the question it paid for; one of before plans had a language is `old`, and never found again."""

    seq: int
    question: str
    old: bool


@dataclass(slots=True)
class Envelope:
    """What a charge for a purpose has paid, of which state of the data, and what was drawn of it."""

    analyst: str
    amount: Fraction
    delta: Fraction
    data: str
    used: Fraction = Fraction(0)
    delta_used: Fraction = Fraction(0)

    def with_draw(self, amount: Fraction, delta: Fraction) -> tuple[Fraction, Fraction]:
        """What is used after a draw; rounded up as totals are, so that it can always be written, and never less."""
        return bounded(self.used + amount), bounded(self.delta_used + delta)


@dataclass(slots=True)
class Book:
    """Grows by `take` alone. One that a `take` did not finish with is not to be used any more."""

    described: dict[str, str] = field(default_factory=dict)
    limits: list[Budget] = field(default_factory=list)
    limit_at: int = 0
    total: Fraction = Fraction(0)
    delta_total: Fraction = Fraction(0)
    analyst_totals: dict[str, Fraction] = field(default_factory=dict)
    analyst_limits: dict[str, Fraction] = field(default_factory=dict)
    paid: set[int] = field(default_factory=set)
    envelopes: dict[int, Envelope] = field(default_factory=dict)
    draws: dict[tuple[int, str], int] = field(default_factory=dict)
    requests: dict[tuple[str, str], Asked] = field(default_factory=dict)
    questions: dict[tuple[str, str], list[int]] = field(default_factory=dict)  # all of them: anybody can write one
    releases: dict[int, int] = field(default_factory=dict)
    failures: dict[int, int] = field(default_factory=dict)
    interruptions: dict[int, int] = field(default_factory=dict)
    _hashes: bytearray = field(default_factory=bytearray)

    @property
    def seq(self) -> int:
        """The number of the newest entry."""
        return len(self._hashes) // HASH_BYTES

    @property
    def hash(self) -> str:
        return self.hash_at(self.seq)

    @property
    def limit(self) -> Budget:
        """The limit in force. Needs: an entry, of which the first sets one."""
        return self.limits[-1]

    def hash_at(self, seq: int) -> str:
        """The hash of an entry that was taken, or that before the first."""
        return self._hashes[HASH_BYTES * (seq - 1) : HASH_BYTES * seq].hex() if seq else GENESIS

    def holds(self, seq: int, digest: str) -> bool:
        return seq <= self.seq and self.hash_at(seq) == digest

    def keeps_to(self, limit: Budget, analyst: str) -> bool:
        """Whether all charges together are within this limit, and those of an analyst within their own."""
        own, epsilon, delta = self.analyst_limits.get(analyst), limit.epsilon, limit.delta
        within = self.total < least_above(epsilon, delta) and self.delta_total < least_above_pot(delta)
        return within and (own is None or self.analyst_totals[analyst] < least_above(own, delta))

    def proves(self, entry: Entry) -> bool:
        """Whether this is the entry that was taken under its number, in every field."""
        expected = entry.expected_hash(self.hash_at(entry.seq - 1))
        return entry.hash == expected and self.holds(entry.seq, expected)

    def take(self, entry: Entry) -> None:
        """Add the next entry.

        Claim: raises unless its number and hash follow those before, and it says what a ledger may say there: one
        `open`, at the beginning; positive amounts of one currency, and totals that are their sums; one charge a request
        id; no charge above a limit in force; no draw without its envelope before, twice, or above what is in it; one
        release a charge or draw, one failure that is not later than it, few interruptions before either, and none of
        these without its charge or draw before.
        """
        if entry.seq != self.seq + 1 or entry.hash != entry.expected_hash(self.hash):
            raise ledger_broken(self.seq + 1)
        demand((entry.kind == "open") == (entry.seq == 1), entry.seq, "opens it, or does not")
        try:
            self._take(entry)
        except (KeyError, TypeError, ValueError, ArithmeticError, UsageError):
            raise entry_senseless(entry.seq, "lacks what it should say") from None
        self._hashes += bytes.fromhex(entry.hash)

    def _take(self, entry: Entry) -> None:
        for text in (entry.analyst, entry.question, entry.request):
            said_text(text or "")
        match str(entry.kind):
            case "open":
                said = entry.content
                unit = said_text(said["unit"])
                self.described = {
                    "table": said_text(said["table"]),
                    "unit": unit if "language" in said else whose(unit),
                }
                self._limit(entry, _budget(said))
            case "limit":
                limit = _budget(entry.content)
                demand(_currency(limit) == _currency(self.limit), entry.seq, "changes the currency")
                self._limit(entry, limit)
            case "analyst":
                own = fraction(entry.content["epsilon"])
                demand(own > 0, entry.seq, "limits an analyst to nothing")
                self.analyst_limits[said_text(entry.analyst)] = own
            case "charge":
                self._take_charge(entry, entry.content)
            case "draw":
                self._take_draw(entry, entry.content)
            case "release":
                demand(entry.charge in self.paid, entry.seq, "keeps an answer that nothing was charged for")
                demand(entry.charge not in self.releases, entry.seq, "keeps a second answer of one charge")
                self.releases[int(entry.charge or 0)] = entry.seq
            case "failure":
                demand(entry.charge in self.paid, entry.seq, "keeps a failure that nothing was charged for")
                demand(not self._ended(entry.charge), entry.seq, "keeps a failure of a charge that was answered")
                self.failures[int(entry.charge or 0)] = entry.seq
            case "interrupted":
                demand(entry.charge in self.paid, entry.seq, "was interrupted, and nothing was charged for it")
                charge = int(entry.charge or 0)
                many = self.interruptions.get(charge, 0) + 1
                demand(many <= MOST_RESUMED, entry.seq, "interrupts a charge too often")
                demand(not self._ended(charge), entry.seq, "interrupts a charge that was answered")
                self.interruptions[charge] = many
            case _:
                demand(False, entry.seq, "is of an unknown kind")

    def _ended(self, charge: int | None) -> bool:
        return charge in self.releases or charge in self.failures

    def _limit(self, entry: Entry, limit: Budget) -> None:
        self.limits.append(limit)
        self.limit_at = entry.seq

    def _take_charge(self, entry: Entry, said: dict[str, Any]) -> None:
        analyst, question = said_text(entry.analyst), said_text(entry.question)
        amount, delta = fraction(said["amount"]), fraction(said.get("delta", "0"))
        demand(amount > 0 and delta >= 0, entry.seq, "charges nothing")
        demand(said["currency"] == _currency(self.limit), entry.seq, "is charged in another currency")
        total, delta_total = (
            bounded(self.total + amount),
            bounded(self.delta_total + delta if delta else self.delta_total),
        )
        analyst_total = bounded(self.analyst_totals.get(analyst, Fraction(0)) + amount)
        follows = said["total"] == str(total) and said["analyst_total"] == str(analyst_total)
        # Entries from before keys could be discovered have no δ.
        follows = follows and said.get("delta_total", str(delta_total)) == str(delta_total)
        demand(follows, entry.seq, "has a total that is not the sum of the charges")
        history_line(entry, said)
        old = "language" not in said
        if entry.request is not None:
            identity = (analyst, said_text(entry.request))
            demand(identity not in self.requests, entry.seq, "charges a request id once more")
            self.requests[identity] = Asked(entry.seq, question, old)
        self.total, self.delta_total, self.analyst_totals[analyst] = total, delta_total, analyst_total
        demand(self.keeps_to(self.limit, analyst), entry.seq, "charges more than was left")
        if "envelope" in said:
            for what in ("envelope", "seed", "data"):
                said_text(said[what])
            self.envelopes[entry.seq] = Envelope(analyst, amount, delta, said["data"])
        else:
            self.paid.add(entry.seq)
        if not old:
            self.questions.setdefault((analyst, question), []).append(entry.seq)

    def _take_draw(self, entry: Entry, said: dict[str, Any]) -> None:
        name, envelope = (entry.charge or 0, said_text(entry.question)), self.envelopes.get(entry.charge or 0)
        if envelope is None:
            raise entry_senseless(entry.seq, "draws from what is no envelope")
        amount, delta = fraction(said["amount"]), fraction(said["delta"])
        demand(amount > 0 and delta >= 0, entry.seq, "draws nothing")
        demand(said["currency"] == _currency(self.limit), entry.seq, "is drawn in another currency")
        demand(entry.analyst == envelope.analyst, entry.seq, "draws from somebody else's envelope")
        demand(name not in self.draws, entry.seq, "draws once more what was drawn")
        used, delta_used = envelope.with_draw(amount, delta)
        follows = fraction(said["used"]) == used and fraction(said["delta_used"]) == delta_used
        demand(follows, entry.seq, "has a sum that is not that of the draws")
        demand(used <= envelope.amount and delta_used <= envelope.delta, entry.seq, "draws more than was left")
        said_text(said["when"]), said_text(said["digest"]), events_of(said)
        envelope.used, envelope.delta_used = used, delta_used
        self.draws[name] = entry.seq
        self.paid.add(entry.seq)


def whose(unit: str) -> str:
    """Who a unit protects, without the caps that 0.1.0 wrote down with it."""
    found = WITH_CAPS.fullmatch(unit)
    return unit if found is None else f"person ({found[1]})"


def demand(met: bool, entry: int, otherwise: str) -> None:
    if not met:
        raise entry_senseless(entry, otherwise)


def _budget(said: dict[str, Any]) -> Budget:
    return Budget(fraction(said["epsilon"]), fraction(said["delta"]))


def _currency(limit: Budget) -> Currency:
    return "rho" if limit.delta else "epsilon"
