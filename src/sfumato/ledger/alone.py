"""One at a time: what is done while the anchor is locked, by whoever reads it, moves it, or makes the key beside it."""

import fcntl
import os
from collections.abc import Callable
from io import FileIO
from pathlib import Path
from typing import TypeVar

from sfumato.ledger.disk import patiently
from sfumato.ledger.wordings import anchor_held, ledger_unwritable

LONGEST_WAIT = 30.0  # seconds; whoever holds it does so for as long as a disk takes

Done = TypeVar("Done")


def alone(path: Path, work: Callable[[int], Done]) -> Done:
    """What `work` gives for the descriptor of the file at this path, which is locked meanwhile, and made if need be.

    Claim: the lock is given up whatever is raised, wherever an interruption comes, also while the error is kept: the
    file's own `with` is no Python, in which an interruption could come before the first step.
    """
    try:
        file = patiently(lambda: _locked(path), LONGEST_WAIT)
    except OSError as error:
        raise ledger_unwritable(str(path)) from error
    if file is None:
        raise anchor_held(str(path))
    with file:
        try:
            return work(file.fileno())
        finally:
            # A child that was forked meanwhile has a copy, and closing this one alone would leave the lock to it.
            fcntl.flock(file, fcntl.LOCK_UN)


def _locked(path: Path) -> FileIO | None:
    """Claim: the file that has this name while it is locked, not one that was replaced meanwhile."""
    file = FileIO(path, "r+", opener=_opened)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.samestat(os.fstat(file.fileno()), os.stat(path)):
            return file
    except (BlockingIOError, FileNotFoundError):
        pass
    except BaseException:
        file.close()
        raise
    file.close()
    return None


def _opened(path: str, _: int) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
