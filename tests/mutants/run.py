"""Plants each bug in a copy of the package and runs the tests that should notice it.

A bug is killed when a test fails; a test that cannot even be collected proves nothing and counts as an error. Tests
that plant faults of their own look for the very texts changed here, so they are left out: only behaviour may kill.
"""

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from tests.mutants.mutant import Mutant
from tests.mutants.page import write_page
from tests.mutants.planted import PLANTED

ROOT = Path(__file__).parents[2]
COPIED = ("src", "tests", "pyproject.toml")
NOT_BY_TEXT = "not twin and not fault and not broken"
SECONDS = 240.0

Status = Literal["killed", "survived", "too slow", "error"]


@dataclass(frozen=True, slots=True)
class Outcome:
    name: str
    file: str
    harm: str
    status: Status
    by: str
    seconds: float


def main(arguments: Sequence[str]) -> int:
    options = _options(arguments)
    chosen = [mutant for mutant in PLANTED if not options.only or mutant.name in options.only]
    errors = Console(stderr=True)
    start = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="sfumato-mutants-") as scratch:
        sound = copy(Path(scratch) / "sound")
        complaint = unsound(sound, chosen, options.workers)
        if complaint:
            errors.print(f"Without any bug the tests fail already: {complaint}", markup=False)
            return 2
        outcomes = _all(chosen, Path(scratch), options.workers, errors)
    seconds = time.perf_counter() - start
    if options.write:
        write_page(ROOT / "docs" / "explanation" / "mutants.md", outcomes, [mutant.name for mutant in PLANTED])
    (_print_json if options.format == "json" else _print_table)(outcomes, seconds)
    return 0 if enough(outcomes) else 1


def enough(outcomes: Sequence[Outcome]) -> bool:
    """All of them: two that survived once had lost what killed them, one to luck and one to other prices."""
    return all(outcome.status == "killed" for outcome in outcomes)


def copy(folder: Path) -> Path:
    """The package and its tests, without what other runs left there."""
    folder.mkdir()
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, folder / name)
    return folder


def unsound(folder: Path, chosen: Sequence[Mutant], workers: int) -> str:
    """What fails in a copy without a bug, or nothing; else every outcome below would be worthless."""
    where = _run(folder, "-c", "import sfumato; print(sfumato.__file__)")[1].strip()
    if not Path(where).is_relative_to(folder):
        return "they import another copy of the package"
    targets = sorted({test for mutant in chosen for test in mutant.tests})
    with ThreadPoolExecutor(workers) as pool:
        found = list(pool.map(lambda target: (target, *_tests(folder, [target])), targets))
    return "; ".join(f"{target} {by}" for target, status, by in found if status != "survived")


def judge(mutant: Mutant, folder: Path) -> Outcome:
    """Plant one bug in a copy of its own and run its tests."""
    copy(folder)
    path = folder / "src" / "sfumato" / mutant.file
    path.write_text(mutant.planted(path.read_text(encoding="utf-8")), encoding="utf-8")
    start = time.perf_counter()
    status, by = _tests(folder, mutant.tests)
    seconds = time.perf_counter() - start
    shutil.rmtree(folder)
    return Outcome(mutant.name, mutant.file, mutant.harm, status, by, round(seconds, 1))


def _tests(folder: Path, targets: Sequence[str]) -> tuple[Status, str]:
    plain = ("-x", "-q", "-p", "no:cacheprovider", "--no-header", "--tb=no", "-k", NOT_BY_TEXT)
    code, printed = _run(folder, "-m", "pytest", *plain, *targets)
    failed = re.search(r"^(?:FAILED|ERROR) (\S+?::\w+)", printed, re.MULTILINE)
    match code:
        case 0:
            return "survived", ""
        case 1 if failed:
            return "killed", failed[1]
        case None:
            return "too slow", f"still running after {SECONDS:g} s"
        case _:
            return "error", f"pytest ended with {code}: {printed[-300:].strip()}"


def _run(folder: Path, *arguments: str) -> tuple[int | None, str]:
    """Exit code and output of a Python that knows this copy only; no code when it took too long."""
    environment = {
        # A copy is no part of what coverage measures.
        **{name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")},
        "PYTHONPATH": os.pathsep.join([str(folder / "src"), str(folder)]),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    process = subprocess.Popen(
        [sys.executable, *arguments],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    try:
        printed, _ = process.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return None, process.communicate()[0]
    return process.returncode, printed


def _all(chosen: Sequence[Mutant], scratch: Path, workers: int, errors: Console) -> list[Outcome]:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=errors, disable=not errors.is_terminal) as progress:
        task = progress.add_task("planting", total=len(chosen))

        def one(mutant: Mutant) -> Outcome:
            outcome = judge(mutant, scratch / mutant.name)
            progress.update(task, advance=1, description=f"{outcome.status} {mutant.name}")
            return outcome

        with ThreadPoolExecutor(workers) as pool:
            return list(pool.map(one, chosen))


def _print_table(outcomes: Sequence[Outcome], seconds: float) -> None:
    table = Table(title="Privacy bugs planted in the trusted files", title_justify="left")
    for name in ("bug", "file", "outcome", "noticed by", "s"):
        table.add_column(name, justify="right" if name == "s" else "left", overflow="fold")
    for outcome in outcomes:
        shown = outcome.status if outcome.status == "killed" else outcome.status.upper()
        table.add_row(outcome.name, outcome.file, shown, outcome.by.rpartition("::")[2], f"{outcome.seconds:.1f}")
    console = Console(width=None if sys.stdout.isatty() else 140)
    console.print(table)
    killed = sum(outcome.status == "killed" for outcome in outcomes)
    console.print(f"{killed} of {len(outcomes)} killed in {seconds:.0f} s.")


def _print_json(outcomes: Sequence[Outcome], seconds: float) -> None:
    killed = sum(outcome.status == "killed" for outcome in outcomes)
    report = {"planted": len(outcomes), "killed": killed, "seconds": round(seconds, 1)}
    print(json.dumps({**report, "mutants": [asdict(outcome) for outcome in outcomes]}, indent=1, ensure_ascii=False))


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description="Plant privacy bugs; see who notices.")
    names = [mutant.name for mutant in PLANTED]
    parser.add_argument("--only", metavar="NAME", action="append", choices=names, help="this bug; may be repeated")
    parser.add_argument("--workers", type=int, default=2, help="how many at a time (2)")
    parser.add_argument("--format", choices=("table", "json"), default="table")
    parser.add_argument("--write", action="store_true", help="put the outcomes into docs/explanation/mutants.md")
    return parser.parse_args(arguments)
