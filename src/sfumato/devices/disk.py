"""Files that are locked, and files that are laid in the place of others."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from secrets import token_hex

from sfumato.devices.process import this_process
from sfumato.ledger.blocks import block
from sfumato.ledger.disk import force


@block
def locked(handle: int) -> Iterator[int]:
    """While nobody else holds the file, or the folder. In the end the handle is closed."""
    process = this_process()
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield handle
    finally:
        # A child forked meanwhile has the handle too, and the lock would last as long as the child. If it is the child
        # that comes here, the lock is its parent's.
        if process == this_process():
            fcntl.flock(handle, fcntl.LOCK_UN)
        os.close(handle)


@block
def laid(path: Path, text: bytes) -> Iterator[int]:
    """Claim: the text is at this path, whole and durable, and was locked before others could find it there.

    So nobody repeats what it says before it is sure to last. Until then it has a name that nobody can guess, which is
    no other device's.
    """
    beside = path.parent / f".sfumato-{token_hex(16)}"
    with locked(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)) as handle:
        try:
            with open(handle, "wb", closefd=False) as file:
                file.write(text)
            force(handle)
            os.replace(beside, path)
        except BaseException:
            with suppress(OSError):
                os.unlink(beside)
            raise
        force_names(path.parent)
        yield handle


def force_names(folder: Path) -> None:
    """What has which name in a folder lasts after a power cut."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
