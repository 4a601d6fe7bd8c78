"""A small file that remembers the newest entry of a ledger, so that an older copy is noticed.

It is written after the entry is durable: a crash leaves it behind the ledger, never ahead. Keep it on another disk, or
hand copies to somebody else, and even an administrator cannot restore an older ledger unnoticed.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from sfumato.errors import LedgerDamaged
from sfumato.ledger.alone import alone
from sfumato.ledger.book import Book
from sfumato.ledger.disk import force
from sfumato.ledger.wordings import (
    anchor_gone,
    anchor_went_back,
    ledger_gone,
    ledger_rolled_back,
    ledger_unwritable,
    not_the_anchored,
)

Known = tuple[int, str]

LENGTH = len(f"{0:020d} {'0' * 64}\n")


@dataclass(slots=True)
class Anchor:
    """Locked only while it is read or written, never while waiting for the ledger, so nobody can block anybody.

    Claim: what was read in it once is in it for as long as this process asks: where it is gone, it is written back. So
    an anchor must be read before SQLite sees the ledger, which could make it remove files.
    """

    path: Path
    _known: Known | None = field(default=None, init=False)

    def outlived(self, ledger: Path) -> bool:
        """Whether the ledger's file is gone while the anchor remembers it; asked before SQLite would make a new one."""
        return _is_gone(self.remembered(), ledger)

    def check(self, read: Callable[[], Book], ledger: Path, path: str) -> Book:
        """What is read of a ledger, unless it lacks the anchored entry.

        Claim: raises when the ledger was emptied, or replaced by an older or another one, since the anchor was written.
        """
        known = self.remembered()  # first: what it remembers by now is in everything that is read later
        if _is_gone(known, ledger):
            raise ledger_gone(path)
        with self.watched():
            book = read()
        # A ledger that holds no charge yet may have lost its process before the first anchor.
        if known is None and book.seq > 1:
            raise anchor_gone(str(self.path))
        if known is not None and book.seq == 0:
            raise ledger_gone(path)
        if known is not None and not book.holds(*known):
            raise ledger_rolled_back(book.seq, known[0])
        return book

    def remembered(self) -> Known | None:
        return alone(self.path, self._trusted)

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Claim: what was read in the anchor before is in it afterwards, also where something is raised meanwhile."""
        try:
            yield
        except BaseException:
            with suppress(LedgerDamaged):
                self._look_again()
            raise
        self._look_again()

    def _look_again(self) -> None:
        if self._known is not None:  # else there is nothing to write back, and no file to be made
            self.remembered()

    def advance(self, newest: Known, holds: Callable[[int, str], bool], *, forced: bool = True) -> None:
        """Remember this entry unless a newer one is remembered already; `forced`, also after a power cut.

        Claim: raises when what is remembered is not in the ledger, which `holds` says: two sessions on copies of one
        ledger, each of which found the anchored entry before it wrote its own, cannot both go on.
        """
        # The ledger is never asked while the anchor is locked: somebody who holds the ledger may wait for the anchor.
        # Each round that fails, somebody else has moved the anchor.
        while True:
            known = self.remembered()
            if known is not None and not holds(*known):
                raise not_the_anchored(known[0])
            if self._replace(known, newest, forced):
                return

    def _replace(self, known: Known | None, newest: Known, forced: bool) -> bool:
        """Whether the anchor was still what is known of it; then it is the newer of both now."""

        def replace(descriptor: int) -> bool:
            if self._trusted(descriptor) != known:
                return False
            if known is None or known[0] < newest[0]:
                self._write(descriptor, newest)
                self._known = newest
            if forced:  # also what somebody else has written, who need not have waited for the disk
                self._force(descriptor)
            return True

        return alone(self.path, replace)

    def _trusted(self, descriptor: int) -> Known | None:
        """What it says, unless more was read in it before."""
        known = self._known
        try:
            found = self._read(descriptor)
        except LedgerDamaged:
            if known is None:
                raise
            found = None
        if known is not None and (found is None or found[0] < known[0]):
            self._write(descriptor, known)
            self._force(descriptor)
            raise anchor_went_back(str(self.path))
        self._known = found
        return found

    def _write(self, descriptor: int, newest: Known) -> None:
        try:
            written = os.pwrite(descriptor, f"{newest[0]:020d} {newest[1]}\n".encode(), 0)
            os.ftruncate(descriptor, LENGTH)
        except OSError as error:
            raise ledger_unwritable(str(self.path)) from error
        if written != LENGTH:
            raise ledger_unwritable(str(self.path))

    def _force(self, descriptor: int) -> None:
        try:
            force(descriptor)
        except OSError as error:
            raise ledger_unwritable(str(self.path)) from error

    def _read(self, descriptor: int) -> Known | None:
        try:
            text = os.pread(descriptor, LENGTH + 1, 0)
        except OSError as error:
            raise anchor_gone(str(self.path)) from error
        if not text:
            return None
        seq, _, digest = text.decode("ascii", "replace").partition(" ")
        if len(text) != LENGTH or not seq.isdigit():
            raise anchor_gone(str(self.path))
        return int(seq), digest.strip()


def _is_gone(known: Known | None, ledger: Path) -> bool:
    return known is not None and not ledger.exists()
