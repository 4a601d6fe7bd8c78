"""Bars for work that takes a while, of which the end is known or not."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Timer

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

SLOW = 2.0  # seconds

Tick = Callable[[int], None]


@contextmanager
def progress(message: str) -> Iterator[Callable[..., None]]:
    """A bar on a terminal for work that takes more than two seconds, nothing in a pipe.

    What it yields is told the share that is done, and what is being done if that changes. Until it is told a share, the
    bar moves to and fro.
    """
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    bar = Progress(*columns, console=console, transient=True)
    task = bar.add_task(message, total=None)
    # A step that says nothing for long must not keep the bar from appearing.
    appear = Timer(SLOW, bar.start)
    appear.daemon = True
    if console.is_terminal:
        appear.start()

    def report(share: float, now: str = message) -> None:
        bar.update(task, total=1.0 if share > 0 else None, completed=share, description=now)

    try:
        yield report
    finally:
        appear.cancel()
        if appear.ident is not None:
            appear.join()
            bar.stop()


@contextmanager
def counting(message: str) -> Iterator[Tick]:
    """A function to tell how much more is done; on a terminal a bar appears after two seconds."""
    console, started, done = Console(stderr=True), time.monotonic(), 0
    columns = (TextColumn("{task.description}"), BarColumn(bar_width=30), MofNCompleteColumn())
    bar = Progress(*columns, console=console, transient=True)
    task = bar.add_task(message, total=None)

    def tick(more: int) -> None:
        nonlocal done
        done += more
        if console.is_terminal and time.monotonic() - started > SLOW:
            bar.start()
            bar.update(task, completed=done)

    try:
        yield tick
    finally:
        bar.stop()
