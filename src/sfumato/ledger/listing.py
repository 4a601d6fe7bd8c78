"""The charges of a ledger, listed: each is read and checked once in a process."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import islice

from sfumato.ledger.book import Book
from sfumato.ledger.entry import Entry
from sfumato.ledger.history import Charge, history_line
from sfumato.ledger.wordings import ledger_broken
from sfumato.schema.numbers import whole

MOST_LISTED = 10**9


class History:
    """The charges of one ledger, each read once.

    Claim: every line was made of an entry that is in the book, and none of the book is left out; what was read before
    is not read again.
    """

    def __init__(self) -> None:
        self._lines: list[Charge] = []
        self._read = 0

    def lines(self, book: Book, entries: Callable[[int], Iterable[Entry]]) -> list[Charge]:
        """Needs: the book of all entries that are in the file now, and the entries from a number on."""
        for entry in entries(self._read + 1):
            if entry.seq > book.seq:
                break
            if entry.seq != self._read + 1 or not book.proves(entry):
                raise ledger_broken(self._read + 1)
            if entry.kind == "charge":
                self._lines.append(history_line(entry, entry.content))
            self._read = entry.seq
        if self._read != book.seq:
            raise ledger_broken(self._read + 1)
        return self._lines


def page(lines: Sequence[Charge], analyst: str | None, before: int | None, limit: int | None) -> list[Charge]:
    """The newest charges of one analyst, or of all, before an entry; oldest first. Without a limit all of them."""
    first = None if before is None else whole(before, "before", least=1, most=MOST_LISTED)
    most = None if limit is None else whole(limit, "limit", least=1, most=MOST_LISTED)
    wanted = (
        line for line in reversed(lines) if analyst in (None, line.analyst) and (first is None or line.entry < first)
    )
    return [_own(line) for line in islice(wanted, most)][::-1]


def _own(line: Charge) -> Charge:
    """For one reader: what they make of it, no other sees."""
    return replace(line, releases=tuple(map(dict, line.releases)))
