"""What a charge says to people."""

from dataclasses import dataclass
from fractions import Fraction

from sfumato.errors import ledger_broken
from sfumato.ledger.entry import Entry


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


def history_line(entry: Entry) -> Charge:
    said = entry.content
    try:
        return Charge(
            entry.seq,
            said["when"],
            str(entry.analyst),
            float(Fraction(said["spend"])),
            said["digest"],
            tuple(said["releases"]),
            entry.request,
        )
    except (KeyError, TypeError, ValueError):
        raise ledger_broken(entry.seq) from None
