"""No connection to a ledger crosses a fork.

SQLite's locks belong to a process, and what it knows of them is copied into a child: there it takes locks for its own
that it does not have, and a log that others still write can be thrown away. So every connection is closed before a
fork, while no thread uses it, and made anew by whoever needs one.
"""

import os
from threading import RLock
from typing import Protocol
from weakref import WeakSet


class Forking(Protocol):
    def before_fork(self) -> bool:
        """Whether it is ready; who is not is not told afterwards either."""

    def after_fork(self, in_child: bool) -> None:
        """In the parent and in the child."""


class _Known:
    """Whoever has to be told. Nobody is added while a fork is under way."""

    def __init__(self) -> None:
        self.growing = RLock()
        self.all: WeakSet[Forking] = WeakSet()
        self.told: list[Forking] = []


_KNOWN = _Known()


def tell_of_forks(one: Forking) -> None:
    with _KNOWN.growing:
        _KNOWN.all.add(one)


def _before() -> None:
    _KNOWN.growing.acquire()
    for one in list(_KNOWN.all):
        if one.before_fork():
            _KNOWN.told.append(one)


def _in_parent() -> None:
    _tell(in_child=False)
    _KNOWN.growing.release()


def _in_child() -> None:
    _KNOWN.growing = RLock()  # perhaps a thread's that is not here
    _tell(in_child=True)


def _tell(in_child: bool) -> None:
    while _KNOWN.told:
        _KNOWN.told.pop().after_fork(in_child)


os.register_at_fork(before=_before, after_in_parent=_in_parent, after_in_child=_in_child)
