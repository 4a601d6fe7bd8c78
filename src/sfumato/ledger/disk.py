"""Waits: for the disk, and for others who hold a lock."""

import fcntl
import os
from collections.abc import Callable
from time import monotonic, sleep
from typing import TypeVar

FIRST_PAUSE, LONGEST_PAUSE = 0.0005, 0.02

Got = TypeVar("Got")


def force(descriptor: int) -> None:
    """What was written is on the disk afterwards; on macOS too, where `fsync` alone leaves it in the disk's memory."""
    fully = getattr(fcntl, "F_FULLFSYNC", None)
    if fully is None:
        os.fsync(descriptor)
    else:
        fcntl.fcntl(descriptor, fully)


def patiently(attempt: Callable[[], Got | None], seconds: float) -> Got | None:
    """The first result that is not None, or None after this time: locks of files cannot be waited for with an end."""
    deadline, pause = monotonic() + seconds, FIRST_PAUSE
    while (got := attempt()) is None and monotonic() < deadline:
        sleep(pause)
        pause = min(2 * pause, LONGEST_PAUSE)
    return got
