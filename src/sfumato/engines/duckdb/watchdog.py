"""Ends a query that takes too long."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock, Timer
from typing import Protocol


class Interruptible(Protocol):
    def interrupt(self) -> None: ...


@contextmanager
def at_most(seconds: float, connection: Interruptible) -> Iterator[None]:
    """Interrupts what runs inside after so many seconds, and nothing that runs after it."""
    guard = Lock()
    running = True

    def stop() -> None:
        with guard:
            if running:
                connection.interrupt()

    timer = Timer(seconds, stop)
    timer.daemon = True
    try:  # also around its start, after which a Ctrl-C may come: it would stop somebody else's question
        timer.start()
        yield
    finally:
        with guard:
            running = False
        timer.cancel()
