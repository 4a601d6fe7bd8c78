"""Where a ledger and its anchor lie: what cannot be right is refused before a file is made."""

import errno
import os
from pathlib import Path

from sfumato.ledger.data_key import key_place
from sfumato.ledger.wordings import anchor_of_sqlite, ledger_behind_link, ledger_is_key, not_a_file
from sfumato.schema.wordings import anchor_is_ledger, folder_missing, unusable_path

OF_SQLITE = ("-journal", "-wal", "-shm")


def default_anchor(path: Path) -> Path:
    return path.with_name(path.name + ".anchor")


def checked_anchor(path: Path, anchor: Path | None) -> Path:
    """Where the anchor of the ledger at this path is."""
    if not path.name or os.path.isdir(path):  # false where nothing may be looked at
        raise unusable_path("ledger", "people.ledger")
    for what, given, example in (("ledger", path, "people.ledger"), ("anchor", anchor, "people.ledger.anchor")):
        if given is not None and _is_special(given):
            raise not_a_file(what, example)
    if anchor is not None and os.path.realpath(anchor) == os.path.realpath(path):
        raise anchor_is_ledger()
    if anchor is None and os.path.islink(path):  # who repoints the link would choose which anchor is asked
        raise ledger_behind_link(str(path))
    file = os.path.realpath(path)
    if anchor is not None and os.path.realpath(anchor) in [file + end for end in OF_SQLITE]:
        raise anchor_of_sqlite()
    place = anchor or default_anchor(Path(file))
    if os.path.realpath(key_place(place)) == file:
        raise ledger_is_key()
    # An anchor that is there knows more: the ledger is gone.
    if _is_missing(path.parent) and _is_missing(place):
        raise folder_missing(str(path))
    return Path(os.path.abspath(place))  # the working directory may change


def _is_special(path: Path) -> bool:
    """SQLite would read it as no file, or as an address with settings. Nobody who types that means a file's name."""
    return path.name == ":memory:" or any(part.lower().startswith("file:") for part in path.parts)


def _is_missing(path: Path) -> bool:
    """Not there at all; what may not be looked at may be there."""
    try:
        path.stat()
    except OSError as error:
        return error.errno == errno.ENOENT
    return False
