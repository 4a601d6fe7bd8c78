"""Writes entries into a chain, each after the newest that this process has read and checked."""

from typing import Any

from sfumato.ledger.book import Book
from sfumato.ledger.chain import Chain
from sfumato.ledger.entry import Entry, EntryKind, following
from sfumato.ledger.marks import marked


class Pen:
    """Marks what it writes with the key, except the first entry of a ledger, which has none yet.

    Needs: a transaction of the chain, and the book of all entries in it. What the file says of its newest entry is not
    asked again: it could be another than the one that was read.
    """

    def __init__(self, chain: Chain, book: Book, key: bytes | None) -> None:
        self._chain, self._key = chain, key
        self._newest = book.seq, book.hash
        self.written: list[Entry] = []

    def append(self, kind: EntryKind, body: dict[str, Any], **fields: Any) -> Entry:
        entry = following(self._newest, kind, body, **fields)
        if self._key is not None:
            entry = marked(entry, self._newest[1], self._key)
        self._chain.append(entry)
        self._newest = entry.seq, entry.hash
        self.written.append(entry)
        return entry
