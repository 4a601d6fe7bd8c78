"""The key under which a ledger names the state of the data: beside the anchor, never in the ledger.

A name without a key could be tried out: whoever reads a ledger and guesses a table, or one person's row of it, would
find the guess confirmed. With the key lost, earlier answers and envelopes are not found again.
"""

import hmac
import json
import os
import secrets
import stat
from pathlib import Path

from sfumato.ledger.alone import alone
from sfumato.ledger.starting import first_name, forget, write_new
from sfumato.ledger.wordings import key_for_all, key_unreadable, ledger_unwritable

KEY_BYTES = 32
BY_OTHERS = stat.S_IROTH | stat.S_IWOTH


def key_place(anchor: Path) -> Path:
    return anchor.with_name(anchor.name + ".key")


def key_beside(anchor: Path) -> bytes:
    """The key that lies beside an anchor; where there is none, a new one, for its owner alone.

    Claim: of several processes that find none, all get the key of the first: it is made while the anchor is locked.
    One that everybody may read or write is refused.
    """
    place = key_place(anchor)
    if not os.path.lexists(place):
        alone(anchor, lambda _: _make(place))
    try:
        key = bytes.fromhex(_content(place).decode("ascii"))
    except (OSError, ValueError):
        raise key_unreadable(str(place)) from None
    if len(key) != KEY_BYTES:
        raise key_unreadable(str(place))
    return key


def _content(place: Path) -> bytes:
    """Of a file that lies there itself: no link is followed, and nobody is waited for."""
    descriptor = os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        mode = os.fstat(descriptor).st_mode
        if not stat.S_ISREG(mode):
            raise OSError
        if mode & BY_OTHERS:
            raise key_for_all(str(place))
        return os.read(descriptor, 4 * KEY_BYTES)
    finally:
        os.close(descriptor)


def keyed(key: bytes, *said: str | int) -> str:
    """What is said, under the key: equal for equal words only, and nothing to whoever has no key."""
    return hmac.digest(key, json.dumps(said).encode(), "sha256").hex()


def _make(place: Path) -> None:
    """Written under another name and linked: nobody reads half a key. Somebody may have made it while this one waited.

    Needs: the anchor, locked.
    """
    if os.path.lexists(place):
        return
    unfinished = place.with_name(first_name(place) + secrets.token_hex(8))
    try:
        write_new(unfinished, secrets.token_hex(KEY_BYTES).encode())
        _put(unfinished, place)
    except OSError as error:
        raise ledger_unwritable(str(place)) from error
    finally:
        forget(place)  # also what processes that died have left


def _put(unfinished: Path, place: Path) -> None:
    """Whoever is first wins; of the others, the unfinished file may have been removed by then."""
    try:
        os.link(unfinished, place)
    except OSError:
        if not os.path.lexists(place):  # a file system without links, where the lock alone keeps others away
            unfinished.rename(place)
