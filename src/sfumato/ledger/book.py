"""What all entries of a ledger say together: totals, limits, and what each charge bought.

Every process makes its own book from the entries, each checked as it is taken. Nothing in the file is asked instead:
neither an index, which could hide a charge or a release, nor a total that does not follow from the amounts.
"""

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple

from sfumato.errors import UsageError, ledger_broken
from sfumato.kernel.cost import Currency
from sfumato.ledger.entry import GENESIS, Entry
from sfumato.ledger.history import history_line
from sfumato.ledger.limits import least_above, least_above_pot
from sfumato.ledger.totals import bounded
from sfumato.ledger.typed import fraction, said_text
from sfumato.ledger.wordings import entry_senseless
from sfumato.schema.budget import Budget

HASH_BYTES = 32


class Asked(NamedTuple):
    """A charge, and the question it paid for."""

    seq: int
    question: str


@dataclass(slots=True)
class Book:
    """Grows by `take` alone. One that a `take` did not finish with is not to be used any more."""

    described: dict[str, str] = field(default_factory=dict)
    limits: list[Budget] = field(default_factory=list)
    total: Fraction = Fraction(0)
    delta_total: Fraction = Fraction(0)
    analyst_totals: dict[str, Fraction] = field(default_factory=dict)
    analyst_limits: dict[str, Fraction] = field(default_factory=dict)
    charges: set[int] = field(default_factory=set)
    requests: dict[tuple[str, str], Asked] = field(default_factory=dict)
    questions: dict[tuple[str, str], int] = field(default_factory=dict)
    releases: dict[int, int] = field(default_factory=dict)
    failures: dict[int, int] = field(default_factory=dict)
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
        id; no charge above a limit in force; one release a charge, one failure that is not later than it, and neither
        without its charge before.
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
        match str(entry.kind):
            case "open":
                self.described = {what: said_text(entry.content[what]) for what in ("table", "unit")}
                self.limits.append(_budget(entry.content))
            case "limit":
                limit = _budget(entry.content)
                demand(_currency(limit) == _currency(self.limit), entry.seq, "changes the currency")
                self.limits.append(limit)
            case "analyst":
                own = fraction(entry.content["epsilon"])
                demand(own > 0, entry.seq, "limits an analyst to nothing")
                self.analyst_limits[said_text(entry.analyst)] = own
            case "charge":
                self._take_charge(entry, entry.content)
            case "release":
                demand(entry.charge in self.charges, entry.seq, "keeps an answer that nothing was charged for")
                demand(entry.charge not in self.releases, entry.seq, "keeps a second answer of one charge")
                self.releases[int(entry.charge or 0)] = entry.seq
            case "failure":
                demand(entry.charge in self.charges, entry.seq, "keeps a failure that nothing was charged for")
                answered = entry.charge in self.releases or entry.charge in self.failures
                demand(not answered, entry.seq, "keeps a failure of a charge that was answered")
                self.failures[int(entry.charge or 0)] = entry.seq
            case _:
                demand(False, entry.seq, "is of an unknown kind")

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
        if entry.request is not None:
            identity = (analyst, said_text(entry.request))
            demand(identity not in self.requests, entry.seq, "charges a request id once more")
            self.requests[identity] = Asked(entry.seq, question)
        self.total, self.delta_total, self.analyst_totals[analyst] = total, delta_total, analyst_total
        demand(self.keeps_to(self.limit, analyst), entry.seq, "charges more than was left")
        self.questions[analyst, question] = entry.seq
        self.charges.add(entry.seq)


def demand(met: bool, entry: int, otherwise: str) -> None:
    if not met:
        raise entry_senseless(entry, otherwise)


def _budget(said: dict[str, Any]) -> Budget:
    return Budget(fraction(said["epsilon"]), fraction(said["delta"]))


def _currency(limit: Budget) -> Currency:
    return "rho" if limit.delta else "epsilon"
