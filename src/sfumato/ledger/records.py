"""The file of a ledger with its anchor and its key: read, checked, written to, each always together with the others."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from sfumato.ledger.anchor import Anchor
from sfumato.ledger.book import Book
from sfumato.ledger.chain import Chain
from sfumato.ledger.data_key import key_beside
from sfumato.ledger.entry import Entry
from sfumato.ledger.pen import Pen
from sfumato.ledger.places import checked_anchor
from sfumato.ledger.reader import Reader
from sfumato.ledger.verifying import verified
from sfumato.ledger.wordings import ledger_broken, ledger_gone, ledger_replaced


class Records:
    """Read whole when it is opened; `opening` writes the first entry where there is none. Only then is a key made."""

    def __init__(self, path: Path, anchor: Path | None, opening: Callable[[Pen], object]) -> None:
        self.path = path
        self.anchor = Anchor(checked_anchor(path, anchor))
        self.chain = Chain(path, self.anchor.watched)
        self.reader = Reader(self.chain)
        try:
            self._refuse_if_gone()
            self.reader.read()  # before anybody has to wait
            with self.writing() as (pen, book):
                if book.seq == 0:
                    opening(pen)
            self.key = key_beside(self.anchor.path)
        except BaseException:
            self.close()
            raise

    @contextmanager
    def reading(self) -> Iterator[Book]:
        """What all entries say now; no other thread may add to it meanwhile."""
        self._refuse_if_gone()
        with self.chain.held():
            yield self.reader.read()

    @contextmanager
    def checking(self) -> Iterator[Book]:
        """The same, for what is shown: what the anchor remembers is in it."""
        self._refuse_if_gone()
        with self.chain.held():
            book = self.anchor.check(self.reader.read, str(self.path))
            self.chain.check_layout()
            yield book

    @contextmanager
    def writing(self) -> Iterator[tuple[Pen, Book]]:
        """Hold the write lock, check the anchor, and let it remember the last entry once that is durable.

        Claim: ends without an error only if what was appended was read back, follows from all entries before, and is
        what the anchor remembers, or older in the same chain.
        """
        self._refuse_if_gone()
        with self.chain.transaction():
            book = self.anchor.check(self.reader.read, str(self.path))
            pen = Pen(self.chain, book)
            yield pen, book
        with self.reading() as book:
            for entry in pen.written:
                if not book.holds(entry.seq, entry.hash):
                    raise ledger_replaced(entry.seq)
        # Nothing of a new charge was shown yet; whatever else was done here may be, and is covered after a power cut.
        self.cover(forced=[str(entry.kind) for entry in pen.written] not in (["charge"], ["draw"]))

    def cover(self, *, forced: bool = True) -> None:
        """Let the anchor remember the newest entry that this process has read."""
        with self.reading() as book:
            newest = book.seq, book.hash
        self.anchor.advance(newest, self.reader.holds, forced=forced)

    def proven(self, book: Book, seq: int) -> Entry:
        """An entry as it was when it was taken into the book."""
        entry = self.chain.at(seq)
        if entry is None or not book.proves(entry):
            raise ledger_broken(seq)
        return entry

    def anew(self, note: Callable[[Entry], object]) -> None:
        """All entries once more, each noted after it was taken; what the anchor or this process knows is among them."""
        self.anchor.check(lambda: self.reader.read_anew(note), str(self.path))

    def verify(self) -> int:
        """Check the file, the whole chain, what its entries say, and the anchor; the number of entries."""
        return self.anchor.check(lambda: verified(self.reader), str(self.path)).seq

    def close(self) -> None:
        self.chain.close()

    def _refuse_if_gone(self) -> None:
        """Before SQLite is asked, which would make a new file, or one of what is left in the log of the old."""
        if self.anchor.outlived(self.chain.file):
            raise ledger_gone(str(self.path))
