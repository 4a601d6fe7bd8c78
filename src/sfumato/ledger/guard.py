"""Holds a ledger's file in such a way that SQLite obeys no journal beside it, whenever somebody lays one there.

SQLite takes a journal for one that it has to finish only where nobody holds the RESERVED byte of the file's locks: with
a journal, whoever writes holds it; with a log, nobody ever does. So it is held here for all of them, shared with other
processes, from before SQLite opens the file until the last connection of this process is closed. The lock belongs to a
descriptor (an "open file description" lock), so that SQLite in the same process sees it too. Where the system has no
such locks, as on macOS, nothing is held, and looking for a journal before (see `starting`) is all there is.

Closing any descriptor of a file gives up SQLite's own locks on it: a process has one guard a file, and it is closed
when no other descriptor of that file is open here.
"""

import errno
import fcntl
import os
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from threading import RLock
from typing import Protocol, TypeVar

from sfumato.ledger.disk import patiently
from sfumato.ledger.switching import keeps_log, switch
from sfumato.ledger.wordings import journal_beside, ledger_swapped, ledger_unwritable

SET_LOCK: int | None = getattr(fcntl, "F_OFD_SETLK", None)
PENDING, RESERVED, LOCK_BYTES = 0x40000000, 0x40000001, 512  # where SQLite's locks on a file are
TRIES = 100

Identity = tuple[int, int]
Descriptor = tuple[int, Identity]


class Closable(Protocol):
    """A connection of SQLite's; nothing else is asked of it here."""

    def close(self) -> None: ...


Connected = TypeVar("Connected", bound=Closable)


@dataclass(slots=True)
class Guard:
    """Of one file, by its device and number. Needs: for each `hold`, one `let_go`, after the connection was closed."""

    file: Identity | None
    users: int = 0
    is_held: bool = False
    descriptors: list[int] = field(default_factory=list)

    def connect(self, connect: Callable[[], Connected], place: Path, path: Path) -> Connected:
        """Claim: the connection is to the file that is guarded. Needs: nothing was executed on it yet."""
        if self.file is None:
            return connect()
        try:
            for _ in range(TRIES):
                with _GUARDS.changing:
                    before = _open_descriptors()
                    connection = connect()
                    if self._is_of(connection, before, place):
                        return connection
        except OSError as error:
            raise ledger_unwritable(str(path)) from error
        raise ledger_swapped(str(path))

    def _is_of(self, connection: Closable, before: set[Descriptor], place: Path) -> bool:
        """Whether SQLite has opened the file that is guarded; else the connection is closed.

        Where no descriptor is new, SQLite uses one that it kept of an earlier connection to a file of this process,
        which is guarded. Where another file's is, it may be another thread's, or of a file that was put here meanwhile.
        """
        is_it = False
        try:
            opened = {file for _, file in _open_descriptors() - before}
            is_it = self.file in opened or (not opened and _identity(os.lstat(place)) == self.file)
        finally:
            if not is_it:
                connection.close()
        return is_it

    def take(self, journal: str, path: Path) -> bool:
        """Whether it could be locked; then the file keeps a log. Needs: the registry."""
        if not self.is_held:
            descriptor = self.descriptors[0]
            if not keeps_log(descriptor) and not _switch_alone(descriptor, journal, path):
                return False
            self.is_held = _lock(descriptor, fcntl.F_RDLCK, RESERVED, 1)
        self.users += self.is_held
        return self.is_held

    def let_go(self) -> None:
        with _GUARDS.changing:
            self.users -= 1
            self.forget()

    def forget(self) -> None:
        """Close it, unless somebody uses it, or has the file open otherwise. Needs: the registry."""
        if self.file is None or self.users > 0:
            return
        try:
            others = {number for number, file in _open_descriptors() if file == self.file}.difference(self.descriptors)
        except OSError:  # who cannot know keeps it
            return
        if not others:
            del _GUARDS.all[self.file]
            while self.descriptors:
                os.close(self.descriptors.pop())
            self.is_held = False


class _Registry:
    """Of this process. A guard is changed, and a connection made, by one thread at a time."""

    def __init__(self) -> None:
        self.changing = RLock()
        self.all: dict[Identity, Guard] = {}

    def unlock(self) -> None:
        """In a forked child: the lock may be a thread's that is not here. What is held is held here as well."""
        self.changing = RLock()


_GUARDS = _Registry()
os.register_at_fork(after_in_child=_GUARDS.unlock)


def hold(place: Path, path: Path, seconds: float) -> Guard:
    """Claim: until it is let go, SQLite obeys no journal beside this file, and the file keeps a log.

    Needs: a file at this place, which is no link. Waits for those who hold SQLite's locks on it, for so many seconds.
    """
    if SET_LOCK is None:
        return Guard(None)

    def attempt() -> Guard | None:
        with _GUARDS.changing:
            guard = _guard_of(place)
            try:
                return guard if guard.take(f"{place}-journal", path) else None
            finally:
                guard.forget()

    try:
        held = patiently(attempt, seconds)
    except OSError as error:
        raise ledger_unwritable(str(path)) from error
    if held is None:
        raise ledger_unwritable(str(path))
    return held


def _switch_alone(descriptor: int, journal: str, path: Path) -> bool:
    """Whether everybody else could be shut out; then the file keeps a log, and they are let in again."""
    if not _lock(descriptor, fcntl.F_WRLCK, PENDING, LOCK_BYTES):
        return False
    try:
        if os.path.lexists(journal):
            raise journal_beside(f"{path}-journal")
        switch(descriptor, str(path))
    finally:
        _lock(descriptor, fcntl.F_UNLCK, PENDING, LOCK_BYTES)
    return True


def _guard_of(place: Path) -> Guard:
    """Needs: the registry. A file that has a guard is not opened again: closing that would give up locks."""
    known = _GUARDS.all.get(_identity(os.lstat(place)))
    if known is not None:
        return known
    descriptor = os.open(place, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    file = _identity(os.fstat(descriptor))
    guard = _GUARDS.all.setdefault(file, Guard(file))
    guard.descriptors.append(descriptor)
    return guard


def _open_descriptors() -> set[Descriptor]:
    """All of this process, and which file each is of."""
    found = set()
    for name in os.listdir("/proc/self/fd"):
        try:
            found.add((int(name), _identity(os.fstat(int(name)))))
        except OSError:  # closed since, such as that of the listing itself
            continue
    return found


def _identity(found: os.stat_result) -> Identity:
    return found.st_dev, found.st_ino


def _lock(descriptor: int, kind: int, start: int, length: int) -> bool:
    """Whether the lock was to be had at once."""
    if SET_LOCK is None:
        return False
    try:
        fcntl.fcntl(descriptor, SET_LOCK, struct.pack("hhqqi4x", kind, os.SEEK_SET, start, length, 0))
    except OSError as error:
        if error.errno in (errno.EAGAIN, errno.EACCES):
            return False
        raise
    return True
