"""Ends a query that takes too long."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Event, RLock, Thread
from typing import Protocol
from weakref import finalize, ref

AGAIN = 0.05  # seconds: between two queries of a look there is nothing to stop


class Interruptible(Protocol):
    def interrupt(self) -> None: ...


@dataclass(frozen=True, slots=True, eq=False)
class _Watched:
    until: float


class Watchdog:
    """Interrupts what runs for too long, and nothing that runs after it.

    One thread for many queries, since starting one takes a millisecond: it sleeps until the query that it met has no
    more time, looks what runs by then, and ends where nothing does. It keeps nothing alive that it watches.
    """

    def __init__(self, connection: Interruptible) -> None:
        self._connection = connection
        self._guard = RLock()
        self._watched: _Watched | None = None
        self._wakes: float | None = None  # when the thread looks next; None: there is none
        self._sooner = Event()
        finalize(self, self._sooner.set)  # its thread looks, and ends

    def forget(self) -> None:
        """What was watched before is not watched any longer, whoever left it. Needs: nothing runs."""
        with self._guard:
            self._watched = None

    def end(self) -> None:
        """Let the thread end. Needs: nothing runs."""
        self.forget()
        self._sooner.set()

    @contextmanager
    def at_most(self, seconds: float) -> Iterator[None]:
        this = _Watched(time.monotonic() + seconds)
        try:  # also around the start of a thread, after which a Ctrl-C may come
            self._watch(this)
            yield
        finally:
            with self._guard:
                if self._watched is this:  # else it was forgotten by now, and something else runs
                    self._watched = None

    def _watch(self, this: _Watched) -> None:
        with self._guard:
            self._watched = this
            if self._wakes is None:
                Thread(target=_look_after, args=(ref(self), self._sooner, this.until), daemon=True).start()
                self._wakes = this.until  # after it: where none was started, the next query tries again
            elif this.until < self._wakes:
                self._sooner.set()

    def _look(self) -> float | None:
        """Stop what has run for too long. When to look again; None where nothing runs."""
        with self._guard:
            self._sooner.clear()
            self._wakes = None
            if self._watched is not None:
                now = time.monotonic()
                if self._watched.until <= now:
                    self._connection.interrupt()
                self._wakes = max(self._watched.until, now + AGAIN)
            return self._wakes


def _look_after(watchdog: "ref[Watchdog]", sooner: Event, wakes: float | None) -> None:
    while wakes is not None:
        sooner.wait(max(0.0, wakes - time.monotonic()))
        alive = watchdog()
        wakes = None if alive is None else alive._look()
        del alive
