"""A small file that remembers the newest entry of a ledger, so that an older copy is noticed.

It is written after the entry is durable: a crash leaves it behind the ledger, never ahead. Keep it on another disk, or
hand copies to somebody else, and even an administrator cannot restore an older ledger unnoticed.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sfumato.errors import anchor_gone, ledger_gone, ledger_rolled_back, ledger_unwritable
from sfumato.ledger.chain import Chain, Entry

LENGTH = len(f"{0:020d} {'0' * 64}\n")


@dataclass(frozen=True, slots=True)
class Anchor:
    path: Path

    @contextmanager
    def held(self) -> Iterator["HeldAnchor"]:
        """Nobody else reads or writes the anchor meanwhile."""
        try:
            descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise ledger_unwritable(str(self.path)) from error
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield HeldAnchor(self.path, descriptor)
        finally:
            os.close(descriptor)

    def advance(self, entry: Entry) -> None:
        """Remember this entry unless a newer one is remembered already."""
        with self.held() as held:
            known = held.remembered()
            if known is None or known[0] < entry.seq:
                held.remember(entry)


@dataclass(frozen=True, slots=True)
class HeldAnchor:
    path: Path
    descriptor: int

    def check(self, chain: Chain) -> None:
        """Refuse a ledger that lacks the anchored entry.

        Claim: raises when the ledger was deleted, or replaced by an older or another one, since the anchor was written.
        """
        known = self.remembered()
        if known is None:
            if chain.path.exists() and chain.last() is not None:
                raise anchor_gone(str(self.path))
            return
        if not chain.path.exists():
            raise ledger_gone(str(chain.path))
        last = chain.last()
        if last is None:
            raise ledger_gone(str(chain.path))
        if chain.last("seq = ? AND hash = ?", *known) is None:
            raise ledger_rolled_back(last.seq, known[0])

    def remembered(self) -> tuple[int, str] | None:
        text = os.pread(self.descriptor, LENGTH + 1, 0)
        if not text:
            return None
        seq, _, digest = text.decode("ascii", "replace").partition(" ")
        if len(text) != LENGTH or not seq.isdigit():
            raise anchor_gone(str(self.path))
        return int(seq), digest.strip()

    def remember(self, entry: Entry) -> None:
        os.pwrite(self.descriptor, f"{entry.seq:020d} {entry.hash}\n".encode(), 0)
        os.ftruncate(self.descriptor, LENGTH)
