"""python -m benchmarks --against REV [topic …]: this tree against another revision, in one run, turn by turn.

Three processes take turns: the other revision, this tree, and this tree once more. How far the two processes of this
tree are apart is what chance does on this machine today; a figure is worse only if it is slower by more than that.
"""

import json
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from statistics import median

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from benchmarks.revisions import unpacked
from benchmarks.side import ROOT, Broken, Side

FIGURES = "benchmarks.figures"
ROUNDS = 11
TURN = 0.3  # seconds that one side works in one round, if a call takes no longer
TOLERATED = 1.03
MOST_SECONDS = 30 * 60
WORSE, SAME, BETTER = "WORSE", "as before", "better"
NEW, FAILS, LATE = "not there before", "FAILS NOW", "no time left"
Rounds = list[tuple[float, float, float]]


@dataclass(frozen=True, slots=True)
class Line:
    """Median seconds a call before and now, their ratio, and what two runs of the same tree differ by."""

    topic: str
    figure: str
    verdict: str
    before: float | None = None
    now: float | None = None
    ratio: float | None = None
    spread: float | None = None
    reason: str = ""

    @property
    def passed(self) -> bool:
        return self.verdict not in (WORSE, FAILS, LATE)


def judged(topic: str, figure: str, rounds: Rounds) -> Line:
    """Each round has the seconds of the other revision, of this tree, and of this tree once more.

    The ratio is the median over the rounds. The spread is the largest factor between the two runs of this tree in a
    round, with the one most disturbed round left out.
    """
    ratio = median(now / before for before, now, _ in rounds)
    apart = sorted(max(again / now, now / again) for _, now, again in rounds)
    spread = apart[-2]
    verdict = SAME
    if ratio > max(TOLERATED, spread):
        verdict = WORSE
    elif 1 / ratio > max(TOLERATED, spread):
        verdict = BETTER
    before, now = (median(seconds) for seconds in zip(*((b, n) for b, n, _ in rounds), strict=True))
    return Line(topic, figure, verdict, before, now, ratio, spread)


def compare(revision: str, topics: list[str], *, as_json: bool = False, module: str = FIGURES) -> int:
    """Print the comparison; 1 if something is worse, fails, or could not be measured in time, else 0."""
    with tempfile.TemporaryDirectory() as name:
        commit, source = unpacked(revision, Path(name))
        lines = list(measured(source, ROOT / "src", topics, module=module))
    show(lines, commit, as_json=as_json)
    return 0 if all(line.passed for line in lines) else 1


def measured(before: Path, now: Path, topics: list[str], *, module: str = FIGURES) -> Iterator[Line]:
    """A line a figure; `before` and `now` are folders that hold the package."""
    figures = import_module(module).FIGURES
    todo = [(topic, figure.name) for topic in topics for figure in figures[topic]]
    end = time.monotonic() + MOST_SECONDS
    with Progress(console=Console(stderr=True)) as bar, ExitStack() as processes:
        sides = [processes.enter_context(Side(source, module)) for source in (before, now, now)]
        task = bar.add_task("", total=len(todo) * ROUNDS)
        for place, (topic, figure) in enumerate(todo):
            bar.update(task, description=f"{topic}: {figure}", completed=place * ROUNDS)
            if time.monotonic() > end:
                yield Line(topic, figure, LATE)
                continue
            yield _line(topic, figure, sides, lambda: bar.advance(task))
        bar.update(task, description="", completed=len(todo) * ROUNDS)


def _line(topic: str, figure: str, sides: list[Side], advance: Callable[[], None]) -> Line:
    try:
        first = [side.time(topic, figure, 1) for side in sides]
        if reasons := [found for found in first[1:] if isinstance(found, str)]:
            return Line(topic, figure, FAILS, reason=reasons[0])
        if isinstance(first[0], str):
            return Line(topic, figure, NEW, now=float(first[1]), reason=first[0])
        repetitions = max(1, int(TURN / max(map(float, first))))
        rounds: Rounds = []
        for place in range(ROUNDS):
            # Each side comes first, second and last equally often.
            order = [(place + turn) % 3 for turn in range(3)]
            found = {turn: float(sides[turn].time(topic, figure, repetitions)) for turn in order}
            rounds.append((found[0], found[1], found[2]))
            advance()
    except (Broken, ValueError):
        return Line(topic, figure, FAILS, reason="a process ended, or failed in the middle")
    return judged(topic, figure, rounds)


def show(lines: Iterable[Line], commit: str, *, as_json: bool) -> None:
    lines = list(lines)
    if as_json:
        print(json.dumps({"against": commit, "rounds": ROUNDS, "figures": [asdict(line) for line in lines]}, indent=2))
        return
    table = Table(title=f"Processor time against {commit[:12]}, medians of {ROUNDS} rounds", title_justify="left")
    for name in ("figure", "before", "now", "ratio", "A/A spread", "verdict"):
        table.add_column(name, justify="left" if name in ("figure", "verdict") else "right")
    for line in lines:
        numbers = (_seconds(line.before), _seconds(line.now), _factor(line.ratio), _factor(line.spread))
        table.add_row(f"{line.topic}: {line.figure}", *numbers, line.verdict)
    console = Console(width=120)
    console.print(table)
    for line in lines:
        if line.reason:
            console.print(f"{line.topic}: {line.figure}: {line.verdict} ({line.reason})", markup=False, soft_wrap=True)
    worse = [f"{line.topic}: {line.figure}" for line in lines if not line.passed]
    console.print(f"Not as good as before: {'; '.join(worse)}." if worse else "Nothing is worse.", soft_wrap=True)


def _seconds(value: float | None) -> str:
    return "" if value is None else f"{value * 1e3:,.4g} ms"


def _factor(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"
