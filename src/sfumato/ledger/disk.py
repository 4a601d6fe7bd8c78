"""Waits for the disk."""

import fcntl
import os


def force(descriptor: int) -> None:
    """What was written is on the disk afterwards; on macOS too, where `fsync` alone leaves it in the disk's memory."""
    fully = getattr(fcntl, "F_FULLFSYNC", None)
    if fully is None:
        os.fsync(descriptor)
    else:
        fcntl.fcntl(descriptor, fully)
