"""Where a ledger and its anchor lie: what cannot be right is refused before a file is made."""

import errno
import os
from pathlib import Path

from sfumato.schema.wordings import anchor_is_ledger, folder_missing, unusable_path


def default_anchor(path: Path) -> Path:
    return path.with_name(path.name + ".anchor")


def checked_anchor(path: Path, anchor: Path | None) -> Path:
    """Where the anchor of the ledger at this path is."""
    if not path.name or os.path.isdir(path):  # false where nothing may be looked at
        raise unusable_path("ledger", "people.ledger")
    if anchor is not None and os.path.realpath(anchor) == os.path.realpath(path):
        raise anchor_is_ledger()
    place = anchor or default_anchor(path)
    # An anchor that is there knows more: the ledger is gone.
    if _is_missing(path.parent) and _is_missing(place):
        raise folder_missing(str(path))
    return place


def _is_missing(path: Path) -> bool:
    """Not there at all; what may not be looked at may be there."""
    try:
        path.stat()
    except OSError as error:
        return error.errno == errno.ENOENT
    return False
