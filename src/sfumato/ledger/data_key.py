"""The key under which a ledger names the state of the data: beside the anchor, never in the ledger.

A name without a key could be tried out: whoever reads a ledger and guesses a table, or one person's row of it, would
find the guess confirmed. With the key lost, earlier answers are not found again, and nothing else happens.
"""

import hmac
import json
import os
import secrets
from pathlib import Path

from sfumato.errors import ledger_unwritable
from sfumato.ledger.disk import force
from sfumato.ledger.starting import first_name, forget
from sfumato.ledger.wordings import key_unreadable

KEY_BYTES = 32


def key_place(anchor: Path) -> Path:
    return anchor.with_name(anchor.name + ".key")


def key_beside(anchor: Path) -> bytes:
    """The key that lies beside an anchor; where there is none, a new one, for its owner alone.

    Claim: of several processes that find none, all get the key of the first.
    """
    place = key_place(anchor)
    if not os.path.lexists(place):
        _make(place)
    try:
        content = place.read_bytes()
        key = bytes.fromhex(content.decode("ascii"))
    except (OSError, ValueError):
        raise key_unreadable(str(place)) from None
    if len(key) != KEY_BYTES:
        raise key_unreadable(str(place))
    return key


def keyed(key: bytes, *said: str | int) -> str:
    """What is said, under the key: equal for equal words only, and nothing to whoever has no key."""
    return hmac.digest(key, json.dumps(said).encode(), "sha256").hex()


def _make(place: Path) -> None:
    """Written under another name and linked: nobody reads half a key."""
    unfinished = place.with_name(first_name(place) + secrets.token_hex(8))
    try:
        descriptor = os.open(unfinished, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        try:
            os.write(descriptor, secrets.token_hex(KEY_BYTES).encode())
            force(descriptor)
        finally:
            os.close(descriptor)
        _put(unfinished, place)
    except OSError as error:
        raise ledger_unwritable(str(place)) from error
    forget(place)  # also what processes that died have left


def _put(unfinished: Path, place: Path) -> None:
    """Whoever is first wins; of the others, the unfinished file may have been removed by then."""
    try:
        os.link(unfinished, place)
    except OSError:
        if not os.path.lexists(place):  # a file system without links
            unfinished.rename(place)
