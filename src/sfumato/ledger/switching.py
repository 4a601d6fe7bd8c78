"""Lets a file keep a log instead of a journal, without SQLite: that would need a lock which a guard keeps from it.

A ledger is made with a log. Without one are files that are there and empty, and copies that SQLite itself has made.
"""

import errno
import os

from sfumato.ledger.disk import force
from sfumato.ledger.layout import WRITE_AHEAD, blank, compare_content

HEADER, BEGINNING = 100, b"SQLite format 3\0"
EMPTY = 1  # or less: on some systems SQLite writes a byte into an empty file, and takes such a one for empty
FORMATS, CHANGES, SIZE_VALID_FOR = slice(18, 20), slice(24, 28), slice(92, 96)  # where they are in a header


def keeps_log(descriptor: int) -> bool:
    """Also of what is no file of SQLite's: that is for SQLite to say."""
    header = os.pread(descriptor, HEADER, 0)
    is_file = len(header) == HEADER and header.startswith(BEGINNING)
    return len(header) > EMPTY and not (is_file and header[FORMATS][1] < WRITE_AHEAD[1])


def switch(descriptor: int, path: str) -> None:
    """Needs: nobody else who reads or writes the file, and no journal beside it.

    Claim: the file holds what it held, and keeps a log; whoever has read it before notices that it has changed. One
    that is not laid out like a ledger is left as it is.
    """
    content = os.pread(descriptor, os.fstat(descriptor).st_size, 0)
    if len(content) > EMPTY:
        compare_content(content, path)
    beginning = _switched(content[:HEADER]) if len(content) > EMPTY else blank()
    if os.pwrite(descriptor, beginning, 0) != len(beginning):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    force(descriptor)


def _switched(header: bytes) -> bytes:
    changed = bytearray(header)
    changes = (int.from_bytes(header[CHANGES]) + 1) % (1 << 32)
    changed[FORMATS], changed[CHANGES] = WRITE_AHEAD, changes.to_bytes(4)
    if header[CHANGES] == header[SIZE_VALID_FOR]:  # else the size in the header is an old one, and must not be believed
        changed[SIZE_VALID_FOR] = changed[CHANGES]
    return bytes(changed)
