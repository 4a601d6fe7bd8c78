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
    """Locked only while it is read or written, never while waiting for the ledger, so nobody can block anybody."""

    path: Path

    def outlived(self, chain: Chain) -> bool:
        """Whether the ledger's file is gone while the anchor remembers it; asked before SQLite would make a new one."""
        return self.remembered() is not None and not chain.path.exists()

    def check(self, chain: Chain) -> None:
        """Refuse a ledger that lacks the anchored entry.

        Claim: raises when the ledger was emptied, or replaced by an older or another one, since the anchor was written.
        """
        known, last = self.remembered(), chain.last()
        if known is None:
            # A ledger that holds no charge yet may have lost its process before the first anchor.
            if last is not None and last.seq > 1:
                raise anchor_gone(str(self.path))
            return
        if last is None:
            raise ledger_gone(str(chain.path))
        if chain.last("seq = ? AND hash = ?", *known) is None:
            raise ledger_rolled_back(last.seq, known[0])

    def remembered(self) -> tuple[int, str] | None:
        with self._held() as descriptor:
            return self._read(descriptor)

    def advance(self, entry: Entry) -> None:
        """Remember this entry unless a newer one is remembered already."""
        with self._held() as descriptor:
            known = self._read(descriptor)
            if known is not None and known[0] >= entry.seq:
                return
            try:
                written = os.pwrite(descriptor, f"{entry.seq:020d} {entry.hash}\n".encode(), 0)
            except OSError as error:
                raise ledger_unwritable(str(self.path)) from error
            if written != LENGTH:
                raise ledger_unwritable(str(self.path))

    @contextmanager
    def _held(self) -> Iterator[int]:
        try:
            descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise ledger_unwritable(str(self.path)) from error
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield descriptor
        finally:
            os.close(descriptor)

    def _read(self, descriptor: int) -> tuple[int, str] | None:
        text = os.pread(descriptor, LENGTH + 1, 0)
        if not text:
            return None
        seq, _, digest = text.decode("ascii", "replace").partition(" ")
        if len(text) != LENGTH or not seq.isdigit():
            raise anchor_gone(str(self.path))
        return int(seq), digest.strip()
