"""One of the trees that are compared: a process of its own, which times the figure it is told to.

`python -m benchmarks.side SOURCE MODULE` reads a line {"topic", "figure", "repetitions"} and answers with a line
{"seconds"} a call, or {"missing"} with the reason if this tree cannot do it. Processor time counts, children included:
neither neighbours on the machine nor the ticks at which answers leave add to it.
"""

import gc
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Self

ROOT = Path(__file__).resolve().parents[1]


def installed() -> dict[str, str]:
    """What surrounds a process, such that modules are compiled once, as where the package is installed."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


class Broken(Exception):
    """A process ended without an answer."""


class Side:
    """A tree with its own `src`, asked through a pipe."""

    def __init__(self, source: Path, module: str) -> None:
        path = os.pathsep.join([str(source), str(ROOT)])
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.side", str(source), module],
            cwd=ROOT,
            env=installed() | {"PYTHONPATH": path},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def time(self, topic: str, figure: str, repetitions: int) -> float | str:
        """Seconds a call, or why there are none."""
        order, answers = self._process.stdin, self._process.stdout
        assert order is not None
        assert answers is not None
        try:
            print(json.dumps({"topic": topic, "figure": figure, "repetitions": repetitions}), file=order, flush=True)
            line = answers.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            raise Broken
        answer = json.loads(line)
        return str(answer["missing"]) if "missing" in answer else float(answer["seconds"])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._process.kill()
        self._process.communicate()


def main(source: str, module: str) -> None:
    found = find_spec("sfumato")
    if found is None or found.origin is None or not Path(found.origin).is_relative_to(source):
        raise SystemExit(f"the package is not the one in {source}, but {found and found.origin}")
    # What figures print must not mix with the answers.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    prepared: tuple[str, Callable[[], object]] | None = None
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        for count, line in enumerate(sys.stdin):
            order = json.loads(line)
            name = f"{order['topic']}: {order['figure']}"
            try:
                if prepared is None or prepared[0] != name:
                    prepared = None  # so that two tables are never held at once
                    place = Path(folder) / str(count)
                    place.mkdir()
                    prepared = name, _prepared(module, order, place)
                answer: dict[str, Any] = {"seconds": _timed(prepared[1], int(order["repetitions"]))}
            except Exception as error:  # noqa: BLE001 - an older tree may lack anything
                answer = {"missing": f"{type(error).__name__}: {error}".splitlines()[0]}
            print(json.dumps(answer), file=answers, flush=True)


def _prepared(module: str, order: dict[str, Any], place: Path) -> Callable[[], object]:
    figures = {figure.name: figure for figure in import_module(module).FIGURES[order["topic"]]}
    work = figures[order["figure"]].prepare(place)
    work()  # warms up
    return work


def _timed(work: Callable[[], object], repetitions: int) -> float:
    gc.collect()
    start = _processor()
    for _ in range(repetitions):
        work()
    return (_processor() - start) / repetitions


def _processor() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


if __name__ == "__main__":
    main(*sys.argv[1:])
