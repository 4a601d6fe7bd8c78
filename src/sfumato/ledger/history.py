"""What a charge says to people."""

from dataclasses import dataclass
from typing import Any

from sfumato.ledger.entry import Entry
from sfumato.ledger.typed import fraction, said_text, texts
from sfumato.ledger.wordings import ledger_broken
from sfumato.schema.budget import Budget
from sfumato.schema.numbers import shown


@dataclass(frozen=True, slots=True)
class Charge:
    """One line of the history: its questions, or the purpose of a learner; 0.1.0 kept neither."""

    entry: int
    when: str
    analyst: str
    spend: float
    digest: str
    releases: tuple[dict[str, str], ...]
    request: str | None
    questions: tuple[str, ...] = ()
    purpose: str = ""


def history_line(entry: Entry, said: dict[str, Any]) -> Charge:
    """Needs: what the entry says. Raises KeyError, TypeError, ValueError or ArithmeticError where a ledger would say it
    otherwise; no charge that a book has taken does."""
    return Charge(
        entry.seq,
        said_text(said["when"]),
        said_text(entry.analyst),
        float(fraction(said["spend"])),
        said_text(said["digest"]),
        events_of(said),
        entry.request,
        tuple(said_text(text) for text in said.get("sql", ())),
        said_text(said.get("envelope", "")),
    )


def events_of(said: dict[str, Any]) -> tuple[dict[str, str], ...]:
    """What was released, or was to be, in the words of mechanisms."""
    if not isinstance(said["releases"], list):
        raise TypeError
    releases = tuple(texts(release) for release in said["releases"])
    if not all("mechanism" in release for release in releases):
        raise KeyError
    return releases


@dataclass(frozen=True, slots=True)
class Drawn:
    """One draw from an envelope: in which round, what it took in the currency of the ledger, and what that bought."""

    entry: int
    when: str
    envelope: int
    round: int
    amount: float
    used: float
    releases: tuple[dict[str, str], ...]


def drawn_line(entry: Entry) -> Drawn:
    """Needs: a draw that a book has taken."""
    said, named = entry.content, str(entry.question).split("/")
    if len(named) < 3 or not named[1].isdecimal():
        raise ledger_broken(entry.seq)  # somebody has written it; no ledger names a draw so
    amount, used = float(fraction(said["amount"])), float(fraction(said["used"]))
    return Drawn(entry.seq, str(said["when"]), entry.charge or 0, int(named[1]), amount, used, events_of(said))


@dataclass(frozen=True, slots=True)
class Line:
    """Any entry, in a few words."""

    entry: int
    when: str
    kind: str
    analyst: str
    says: str


def line_of(entry: Entry) -> Line:
    """Needs: an entry that a book has taken."""
    said = entry.content
    when = said.get("when", "")
    return Line(entry.seq, str(when), str(entry.kind), entry.analyst or "", _says(entry, said))


def _says(entry: Entry, said: dict[str, Any]) -> str:
    match str(entry.kind):
        case "open" | "limit":
            return f"limit {Budget(fraction(said['epsilon']), fraction(said['delta']))}"
        case "analyst":
            return f"limit epsilon {shown(fraction(said['epsilon']))} of the table's"
        case "charge":
            return f"spend {shown(fraction(said['spend']))}"
        case "draw":
            return f"draw from entry {entry.charge}"
        case "interrupted":
            return f"entry {entry.charge} was interrupted"
        case kind:
            return f"{kind} of entry {entry.charge}"
