"""Puts a new ledger into its place, whole or not at all, and refuses what must not lie there.

SQLite obeys a journal that lies beside a file: it writes from it into the file, and removes another file that the
journal names, such as an anchor. No ledger ever has one. It is made in memory, written under another name, and linked.
One that is laid there after this look is kept from SQLite by `guard`.
"""

import hashlib
import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path
from threading import RLock

from sfumato.ledger.disk import force
from sfumato.ledger.layout import image
from sfumato.ledger.wordings import beside_strange, journal_beside, ledger_is_link, ledger_linked, ledger_unwritable

_STARTING = RLock()


def prepare_place(file: Path, path: Path) -> None:
    """Start a ledger where there is no file.

    Claim: raises when a journal of SQLite lies beside the file; when it is no file, a link, or has a second name, under
    which another process would keep another log; and when its log is such, which SQLite would write into.
    """
    with _STARTING:
        if not os.path.lexists(file):
            _start(file, path)
    found = _look(file, path)
    if os.path.lexists(f"{file}-journal"):
        raise journal_beside(f"{path}-journal")
    if found.st_nlink > 1:  # whoever started it may be about to remove the first name, or have died before
        forget(file)
        found = _look(file, path)
    if found.st_nlink > 1:
        raise ledger_linked(str(path))
    for end in ("-wal", "-shm"):
        _look_beside(f"{file}{end}", f"{path}{end}")


def _look(file: Path, path: Path) -> os.stat_result:
    try:
        found = file.lstat()
    except OSError as error:
        raise ledger_unwritable(str(path)) from error
    if stat.S_ISLNK(found.st_mode):  # the name was looked up to its end when the ledger was opened
        raise ledger_is_link(str(path))
    if not stat.S_ISREG(found.st_mode):
        raise ledger_unwritable(str(path))
    return found


def _look_beside(file: str, shown: str) -> None:
    with suppress(FileNotFoundError):
        found = os.lstat(file)
        if not stat.S_ISREG(found.st_mode) or found.st_nlink > 1:
            raise beside_strange(shown)


def _start(file: Path, path: Path) -> None:
    """A new ledger is readable by its owner alone, as are SQLite's two files beside it, which get its mode."""
    unfinished = file.with_name(first_name(file) + secrets.token_hex(8))
    try:
        write_new(unfinished, image())
        _link(unfinished, file)
        _sync(file.parent)
    except OSError as error:
        raise ledger_unwritable(str(path)) from error
    finally:
        with suppress(OSError):
            unfinished.unlink(missing_ok=True)
    forget(file)


def _link(unfinished: Path, file: Path) -> None:
    """Whoever is first wins; of the others, the unfinished file may have been removed by then."""
    try:
        os.link(unfinished, file)
    except (FileExistsError, FileNotFoundError):
        if not os.path.lexists(file):
            raise
    except OSError:  # a file system without links: SQLite lays out the empty file, one process after the other
        # Nobody in this process has it open yet: closing it would give up their locks.
        with suppress(FileExistsError):
            os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))


def forget(file: Path) -> None:
    """Remove first names, also those of processes that died. Needs: the ledger in its place."""
    with suppress(OSError):
        for name in os.listdir(file.parent):
            if name.startswith(first_name(file)):
                file.with_name(name).unlink(missing_ok=True)


def first_name(file: Path) -> str:
    """How the names begin under which a file is written before it is linked into its place."""
    return f".sfumato-{hashlib.sha256(os.fsencode(file.name)).hexdigest()[:16]}-"


def write_new(place: Path, content: bytes) -> None:
    """A file for its owner alone, with all of this in it, on the disk. Needs: a name that no file has."""
    descriptor = os.open(place, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    try:
        while content:
            content = content[os.write(descriptor, content) :]
        force(descriptor)
    finally:
        os.close(descriptor)


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # not every file system can
            os.fsync(descriptor)
    finally:
        os.close(descriptor)
