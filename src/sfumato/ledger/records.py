"""The file of a ledger with its anchor and its key: read, checked, written to, each always together with the others."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from sfumato.ledger.anchor import Anchor
from sfumato.ledger.blocks import block
from sfumato.ledger.book import Book
from sfumato.ledger.chain import Chain
from sfumato.ledger.data_key import key_beside
from sfumato.ledger.entry import Entry
from sfumato.ledger.marks import is_marked
from sfumato.ledger.pen import Pen
from sfumato.ledger.places import checked_anchor
from sfumato.ledger.reader import Reader
from sfumato.ledger.verifying import verified
from sfumato.ledger.wordings import ledger_broken, ledger_gone, ledger_replaced

Shown = TypeVar("Shown")


class Records:
    """Read whole when it is opened; `opening` writes the first entry where there is none. Only then is a key made."""

    def __init__(self, path: Path, anchor: Path | None, opening: Callable[[Pen], object]) -> None:
        self.path = path
        self._marking: bytes | None = None  # with which key; as long as there may be no ledger, there is none
        self.anchor = Anchor(checked_anchor(path, anchor))
        self.chain = Chain(path, self.anchor.watched)
        self.reader = Reader(self.chain)
        try:
            self._refuse_if_gone()
            self.reader.read()  # before anybody has to wait
            with self.writing() as (pen, book):
                if book.seq == 0:
                    opening(pen)
            self.key = self._marking = key_beside(self.anchor.path)
        except BaseException:
            self.close()
            raise

    @block
    def reading(self) -> Iterator[Book]:
        """What all entries say now; no other thread may add to it meanwhile."""
        self._refuse_if_gone()
        with self.chain.held():
            self.chain.refuse_inside()
            yield self.reader.read()

    @block
    def checking(self) -> Iterator[Book]:
        """The same, and what the anchor remembers is in it."""
        with self.chain.held():
            self.chain.refuse_inside()
            book = self._checked(self.reader.read)
            self.chain.check_layout()
            yield book

    def shown(self, find: Callable[[Book], Shown]) -> Shown:
        """What is found in the book, to be shown: an answer, or that there is none because the engine failed.

        Claim: the anchor remembers it before it is returned, also after a power cut. Else whoever can write the file
        takes it out again, and the same charge buys another.
        """
        with self.checking() as book:
            found = find(book)
        if found is not None:
            self.cover()
        return found

    @block
    def writing(self) -> Iterator[tuple[Pen, Book]]:
        """Hold the write lock, check the anchor, and let it remember the last entry once that is durable.

        Claim: ends without an error only if what was appended was read back, follows from all entries before, and is
        what the anchor remembers, or older in the same chain.
        """
        self._refuse_if_gone()
        with self.chain.transaction():
            book = self._checked(self.reader.read)
            pen = Pen(self.chain, book, self._marking)
            yield pen, book
        with self.reading() as book:
            for entry in pen.written:
                if not book.holds(entry.seq, entry.hash):
                    raise ledger_replaced(entry.seq)
            newest = book.seq, book.hash
        # Nothing of a new charge was shown yet; whatever else was done here may be, and is covered after a power cut.
        forced = [str(entry.kind) for entry in pen.written] not in (["charge"], ["draw"])
        self.anchor.advance(newest, self.reader.holds, forced=forced)

    def cover(self) -> None:
        """Let the anchor remember the newest entry that is in the file, also after a power cut."""
        with self.reading() as book:
            newest = book.seq, book.hash
        self.anchor.advance(newest, self.reader.holds)

    def proven(self, book: Book, seq: int) -> Entry:
        """An entry as it was when it was taken into the book."""
        entry = self.chain.at(seq)
        if entry is None or not book.proves(entry):
            raise ledger_broken(seq)
        return entry

    def marks(self, book: Book, entry: Entry) -> bool:
        """Whether an entry of the book was written by somebody who has the key."""
        return is_marked(entry, book.hash_at(entry.seq - 1), self.key)

    def anew(self, note: Callable[[Entry], object]) -> None:
        """All entries once more, each noted after it was taken; what the anchor or this process knows is among them."""
        self._checked(lambda: self.reader.read_anew(note))

    def verify(self) -> int:
        """Check the file, the whole chain, what its entries say, and the anchor; the number of entries."""
        return self._checked(lambda: verified(self.reader)).seq

    def close(self) -> None:
        self.chain.close()

    def _checked(self, read: Callable[[], Book]) -> Book:
        return self.anchor.check(read, self.chain.file, str(self.path))

    def _refuse_if_gone(self) -> None:
        """Before SQLite is asked, which would make a new file, or one of what is left in the log of the old."""
        if self.anchor.outlived(self.chain.file):
            raise ledger_gone(str(self.path))
