"""Reads a chain once, and after that only what was added to it."""

from collections.abc import Callable

from sfumato.ledger.book import Book
from sfumato.ledger.chain import LOWEST, Chain
from sfumato.ledger.entry import GENESIS, Entry
from sfumato.ledger.wordings import ledger_replaced


class Reader:
    """The book of one chain, kept up to date.

    Claim: what was read once is in every later book, or none is given: a ledger that is replaced while it is open, by
    an older copy or another, is refused.
    """

    def __init__(self, chain: Chain) -> None:
        self.chain = chain
        self._book: Book | None = None
        self._seen = (0, GENESIS)

    def read(self) -> Book:
        """The book of all entries that are in the file now. Needs: the chain held for as long as the book is used."""
        with self.chain.held():
            # Taken out meanwhile: neither an error nor an interruption nor a fork leaves half an entry in it.
            book, self._book = self._book or Book(), None
            entries = self.chain.entries(book.seq or LOWEST)
            if book.seq:
                newest = next(entries, None)
                if newest is None or newest.seq != book.seq or not book.proves(newest):
                    raise ledger_replaced(book.seq)
            for entry in entries:
                book.take(entry)
            if not book.holds(*self._seen):
                raise ledger_replaced(self._seen[0])
            self._seen = (book.seq, book.hash)
            self._book = book
            return book

    def read_anew(self, note: Callable[[Entry], object]) -> Book:
        """A book of its own, of all entries that are in the file now, each noted after it was taken."""
        seen, book = self._seen, Book()
        for entry in self.chain.entries():
            book.take(entry)
            note(entry)
        if not book.holds(*seen):
            raise ledger_replaced(seen[0])
        return book

    def holds(self, seq: int, digest: str) -> bool:
        """Whether the file has this entry: it was read in it, or is there now."""
        with self.chain.held():
            book = self._book
            return (book is not None and book.holds(seq, digest)) or self.read().holds(seq, digest)
