"""Entries of a chain that no book was asked for: what a test appends to a chain alone."""

from typing import Any

from sfumato.ledger.chain import Chain
from sfumato.ledger.entry import GENESIS, Entry, following


def last(chain: Chain) -> Entry | None:
    """The entry with the highest number."""
    return next(reversed(list(chain.entries())), None)


def append(chain: Chain, kind: Any, body: dict[str, Any], **fields: Any) -> Entry:
    """Needs: an open transaction."""
    newest = last(chain)
    entry = following((0, GENESIS) if newest is None else (newest.seq, newest.hash), kind, body, **fields)
    chain.append(entry)
    return entry
