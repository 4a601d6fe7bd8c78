"""Ends a query that takes too long."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock, Timer
from typing import Protocol


class Interruptible(Protocol):
    def interrupt(self) -> None: ...


class Watchdog:
    """Interrupts what runs for too long, and nothing that runs after it: a Ctrl-C may have left a timer behind."""

    def __init__(self, connection: Interruptible) -> None:
        self._connection = connection
        self._guard = RLock()
        self._watched: object = None

    @contextmanager
    def at_most(self, seconds: float) -> Iterator[None]:
        this = object()
        timer = Timer(seconds, self._stop, [this])
        timer.daemon = True
        try:  # also around its start, after which a Ctrl-C may come
            with self._guard:
                self._watched = this
            timer.start()
            yield
        finally:
            with self._guard:
                if self._watched is this:  # else it was forgotten by now, and something else runs
                    self._watched = None
            timer.cancel()

    def _stop(self, watched: object) -> None:
        with self._guard:
            if self._watched is watched:
                self._connection.interrupt()
