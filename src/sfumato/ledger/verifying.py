"""The whole ledger, checked: its file, every entry, and what is kept of answers."""

from sfumato.ledger.book import Book
from sfumato.ledger.entry import Entry
from sfumato.ledger.reader import Reader
from sfumato.ledger.releases import is_veiled, kept_failure, kept_releases, kept_when


def verified(reader: Reader) -> Book:
    """The book of a sound ledger.

    Claim: raises unless every hash is right, no tree of the file contradicts another, the entries are such as a ledger
    writes (see `Book.take`), and the answers and failures they keep can be read. Not what is veiled: that is read with
    its mark alone.
    """
    reader.chain.verify()
    return reader.read_anew(_check_kept)


def _check_kept(entry: Entry) -> None:
    if entry.kind == "release":
        kept_when(entry)
        if not is_veiled(entry):
            kept_releases(entry, b"")
    if entry.kind == "failure":
        kept_failure(entry)
