"""Timing in one run: interleaved repetitions, medians, ratios."""

import statistics
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from rich.console import Console
from rich.table import Table

Work = Callable[[], object]


@dataclass
class Report:
    """Lines of one topic; a target is a test on the value. Below them stands what was left out, and why."""

    title: str
    lines: list[tuple[str, str, str, bool | None]] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)

    def add(
        self, what: str, value: float, unit: str, *, at_most: float | None = None, at_least: float | None = None
    ) -> None:
        held, targets = [], []
        if at_least is not None:
            held, targets = [value >= at_least], [f"≥ {at_least:g}"]
        if at_most is not None:
            held, targets = [*held, value <= at_most], [*targets, f"≤ {at_most:g}"]
        self.lines.append((what, f"{value:,.4g} {unit}".strip(), ", ".join(targets), all(held) if held else None))

    @property
    def missed(self) -> list[tuple[str, str, str]]:
        """What missed its target, as measured, and the target."""
        return [(what, value, target) for what, value, target, reached in self.lines if reached is False]

    def show(self) -> None:
        table = Table(title=self.title, title_justify="left")
        for name in ("what", "measured", "target", ""):
            table.add_column(name, justify="right" if name in ("measured", "target") else "left")
        marks = {None: "", True: "reached", False: "MISSED"}
        for what, value, target, reached in self.lines:
            table.add_row(what, value, target, marks[reached])
        console = Console(width=110)
        console.print(table)
        for sentence in self.left_out:
            console.print(sentence, markup=False)


def show_missed(reports: Iterable[tuple[str, Report]]) -> None:
    """One table of every target that was missed, with its topic; nothing if there is none."""
    rows = [(name, report.title, *line) for name, report in reports for line in report.missed]
    if not rows:
        return
    table = Table(title="Missed targets", title_justify="left")
    for name in ("topic", "table", "what", "measured", "target"):
        table.add_column(name, justify="right" if name in ("measured", "target") else "left")
    for row in rows:
        table.add_row(*row)
    Console(width=110).print(table)


def medians(functions: dict[str, Callable[[], object]], repetitions: int) -> dict[str, float]:
    """Median seconds of each function, their repetitions interleaved; the first round warms up.

    Every other round goes backwards: what a neighbour leaves in caches and tables then helps both of a pair alike.
    """
    times: dict[str, list[float]] = {name: [] for name in functions}
    for repetition in range(repetitions + 1):
        for name, function in list(functions.items())[:: -1 if repetition % 2 else 1]:
            start = time.perf_counter()
            function()
            if repetition:
                times[name].append(time.perf_counter() - start)
    return {name: statistics.median(found) for name, found in times.items()}


def ratios(pairs: dict[str, tuple[Work, Work]], repetitions: int) -> dict[str, tuple[float, float]]:
    """Of each pair the median seconds of the first, and the median of its ratios to the second.

    A pair runs side by side and is compared with itself alone, so that a machine that slows down or speeds up within
    minutes moves both; the order changes every round. The first round warms up.
    """
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in pairs}
    for repetition in range(repetitions + 1):
        for name, pair in pairs.items():
            order = (0, 1) if repetition % 2 else (1, 0)
            seconds = [0.0, 0.0]
            for place in order:
                start = time.perf_counter()
                pair[place]()
                seconds[place] = time.perf_counter() - start
            if repetition:
                found[name].append((seconds[0], seconds[0] / seconds[1]))
    return {
        name: (statistics.median(one for one, _ in rounds), statistics.median(ratio for _, ratio in rounds))
        for name, rounds in found.items()
    }
