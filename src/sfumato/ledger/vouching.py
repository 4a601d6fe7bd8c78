"""The owner's word for a ledger whose anchor was lost."""

from contextlib import closing
from pathlib import Path

from sfumato.errors import LedgerDamaged
from sfumato.ledger.anchor import Anchor
from sfumato.ledger.chain import Chain
from sfumato.ledger.places import checked_anchor
from sfumato.ledger.reader import Reader
from sfumato.ledger.verifying import verified
from sfumato.ledger.wordings import ledger_unreadable


def re_anchor(path: Path, anchor: Path | None = None) -> None:
    """The owner vouches for a ledger whose anchor was lost. A present anchor is never overruled."""
    place = Anchor(checked_anchor(path, anchor))
    chain = Chain(path, place.watched)
    if not chain.file.exists():
        raise ledger_unreadable(str(path))
    known, damaged = None, False
    if place.path.exists():  # read before SQLite sees the ledger: what lies beside that could make SQLite remove a file
        try:
            known = place.remembered()
        except LedgerDamaged:
            damaged = True
    with closing(chain), place.watched():
        book = verified(Reader(chain))
        if book.seq == 0:
            return
        if damaged:  # unreadable is as good as lost
            place.path.unlink()
        if known is None:
            place.advance((book.seq, book.hash), book.holds)
