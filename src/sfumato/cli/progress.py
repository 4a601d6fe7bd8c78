"""Bars for work that takes a while, of which the end is known or not."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

SLOW = 2.0  # seconds

Tick = Callable[[int], None]


@contextmanager
def progress(message: str) -> Iterator[Callable[..., None]]:
    """A bar on a terminal for work that takes more than two seconds, nothing in a pipe.

    What it yields is told the share that is done, and what is being done if that changes.
    """
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    bar = Progress(*columns, console=console, transient=True)
    task, started, shown = bar.add_task(message, total=1.0), time.monotonic(), False

    def report(share: float, now: str = message) -> None:
        nonlocal shown
        if not shown and console.is_terminal and time.monotonic() - started > SLOW:
            bar.start()
            shown = True
        bar.update(task, completed=share, description=now)

    try:
        yield report
    finally:
        if shown:
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
