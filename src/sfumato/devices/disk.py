"""Files that are locked, and files that are laid in the place of others."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import suppress
from io import FileIO
from pathlib import Path
from secrets import token_hex

from sfumato.devices.process import this_process
from sfumato.ledger.blocks import block
from sfumato.ledger.disk import force


class Folder:
    """A folder that is open for as long as somebody has this: no file of Python's own is one of a folder."""

    _handle: int | None = None

    def __init__(self, path: Path) -> None:
        self._handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)

    def fileno(self) -> int:
        if self._handle is None:
            raise ValueError("it is closed")
        return self._handle

    def close(self) -> None:
        handle, self._handle = self._handle, None
        if handle is not None:
            os.close(handle)

    def __enter__(self) -> "Folder":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()


def opened(path: Path, flags: int) -> FileIO:
    return FileIO(path, "r+", opener=lambda name, _: os.open(name, flags | os.O_CLOEXEC, 0o600))


@block
def locked(file: FileIO | Folder) -> Iterator[int]:
    """While nobody else holds the file, or the folder. In the end it is closed, wherever an interruption comes."""
    process = this_process()
    with file:
        fcntl.flock(file, fcntl.LOCK_EX)
        try:
            yield file.fileno()
        finally:
            # A child forked meanwhile has it too, and the lock would last as long as the child. If it is the child
            # that comes here, the lock is its parent's.
            if process == this_process():
                fcntl.flock(file, fcntl.LOCK_UN)


@block
def laid(path: Path, text: bytes) -> Iterator[int]:
    """Claim: the text is at this path, whole and durable, and was locked before others could find it there.

    So nobody repeats what it says before it is sure to last. Until then it has a name that nobody can guess, which is
    no other device's.
    """
    beside = path.parent / f".sfumato-{token_hex(16)}"
    with locked(opened(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL)) as handle:
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
    with Folder(folder) as found:
        os.fsync(found.fileno())
