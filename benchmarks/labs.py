"""Editions of labs: a student's folder, an executed teacher's edition, everything; a class graded, and our checks
beside another course's.

Needs the packages of locks/labs.lock (make labs installs them).
"""

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.labs_course import OURS, checks_beside, grading_thirty
from benchmarks.measure import Report, medians
from sfumato.labs.build.files import KINDS
from sfumato.labs.build.plan import Job, build, workers_here
from sfumato.labs.languages import LANGUAGES
from sfumato.labs.source import load, numbers_of_labs

LAB = 2
REPETITIONS = 3
STUDENT, TEACHER = 5.0, 20.0  # seconds, at most
WHOLE = 30 * 60.0  # for labs 0 to 4 in four languages
ONE_LANGUAGE = 8 * 60.0  # its share of that


GRADED, GRADING = 30, 90.0  # submissions; seconds, at most


def run() -> Iterator[Report]:
    yield _one_edition()
    yield _graded()
    yield _checks()
    yield _everything()


def _one_edition() -> Report:
    report = Report(f"Editions of lab {LAB}, as a command in the shell; median of {REPETITIONS}")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        count = iter(range(1000))

        def command(*arguments: str) -> None:
            output = place / str(next(count))
            line = [sys.executable, "-m", "sfumato", "labs", *arguments, "--output", str(output)]
            subprocess.run(line, check=True, capture_output=True)

        wanted = ("build", "--lab", str(LAB), "--variant", "3", "--lang", "ru")
        found = medians(
            {
                "student": lambda: command("start", str(LAB), "--variant", "3", "--lang", "ru"),
                "teacher": lambda: command(*wanted, "--edition", "teacher", "--kinds", "ipynb,docx,pdf"),
            },
            REPETITIONS,
        )
    report.add("a student's folder with its hand-out", found["student"], "s", at_most=STUDENT)
    report.add("a teacher's edition, executed, with Word and PDF", found["teacher"], "s", at_most=TEACHER)
    return report


def _graded() -> Report:
    report = Report(f"A class: {GRADED} submissions of lab {LAB}, each of its own variant and data")
    seconds, share = grading_thirty(LAB, GRADED)
    report.add("graded in", seconds, "s", at_most=GRADING)
    report.add("share of all points, all answers being right", share, "", at_least=1.0)
    return report


def _checks() -> Report:
    """The share of runs in which a check passes an answer: 1 is wanted of the right one, 0 of all others."""
    report = Report("Answers to one task that pass: checks of the leading course, and ours")
    for answer, passed in checks_beside().items():
        for check, share in passed.items():
            wanted = {"at_least": 1.0} if answer == "right" else {"at_most": 0.01}
            report.add(f"{answer}: {check}", share, "", **(wanted if check == OURS else {}))
    return report


def _everything() -> Report:
    labs = [load(number) for number in numbers_of_labs()]
    workers = workers_here()
    said = (
        f"All variants, editions and formats of {len(labs)} labs in {len(LANGUAGES)} languages, {workers} side by side"
    )
    report = Report(said)
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "labs"
        jobs = [
            Job(lab.folder, number, lang, (True, False), KINDS, output)
            for lab in labs
            for number in lab.variants
            for lang in LANGUAGES
        ]
        start = time.perf_counter()
        written = build(jobs, output, workers, lambda *_: None)
        seconds = time.perf_counter() - start
        report.add("the whole build", seconds, "s", at_most=WHOLE)
        report.add("a language", seconds / len(LANGUAGES), "s", at_most=ONE_LANGUAGE)
        report.add("files", len(written), "")
        report.add("their size", sum(path.stat().st_size for path in written) / 2**20, "MB")
    return report
