"""Grades a folder of whatever came back: a verdict for every task of every student, one box a submission."""

import os
import re
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from sfumato.errors import Unavailable
from sfumato.labs.build.data_files import data_files
from sfumato.labs.build.edition import Edition
from sfumato.labs.course import Course
from sfumato.labs.fingerprint import hash_of
from sfumato.labs.grade.box import Box, Job, Limits, refusal
from sfumato.labs.grade.results import Graded, TaskResult, write_result
from sfumato.labs.grade.submission import Found, collected
from sfumato.labs.grade.wordings import box_refused
from sfumato.labs.running import needed, verdict_of
from sfumato.labs.source import Cell, Lab, load, numbers_of_labs
from sfumato.labs.students import Student
from sfumato.labs.verdict import Verdict
from sfumato.labs.words import CONTENT

LAB_IN_NAME = re.compile(r"lab[\s_-]*0*(\d{1,2})(?!\d)", re.IGNORECASE)


@dataclass(frozen=True)
class Submission:
    """A file that belongs to a student and a lab."""

    student: Student
    lab: Lab
    found: Found
    flags: tuple[str, ...] = ()


@dataclass(frozen=True)
class Session:
    """Everything that one run of grading found out."""

    graded: tuple[Graded, ...]
    aside: tuple[str, ...] = field(default_factory=tuple)  # files that were not graded, and why


def grade(
    course: Course,
    folder: Path,
    *,
    lab: int | None = None,
    unsafe: bool = False,
    workers: int | None = None,
    limits: Limits | None = None,
    content: Path = CONTENT,
    report: Callable[[float], None] = lambda share: None,  # noqa: ARG005
) -> Session:
    """Grades all that is found and writes it to the course. One broken submission costs nobody else anything."""
    found, aside = collected(folder)
    if not unsafe:
        why = refusal()
        if why:
            raise box_refused(why)
    submissions = assigned(course, found, aside, lab, content)
    done = 0
    graded: list[Graded] = []

    def one(submission: Submission) -> Graded:
        return graded_one(course, submission, unsafe=unsafe, limits=limits or Limits())

    with ThreadPoolExecutor(workers or os.cpu_count() or 1) as pool:
        for result in pool.map(one, submissions):
            write_result(result, course.graded)
            graded.append(result)
            done += 1
            report(done / len(submissions))
    return Session(tuple(graded), tuple(aside))


def assigned(
    course: Course, found: Iterable[Found], aside: list[str], lab: int | None, content: Path
) -> list[Submission]:
    """Whose each file is and of which lab; of several by one student the last counts, the others are named."""
    chosen: dict[tuple[str, int], Submission] = {}
    for one in sorted(found, key=lambda each: (each.written, each.label)):
        which = _lab(one, lab, content)
        if which is None:
            aside.append(f"{one.label}: unknown lab")
            continue
        submission = _assigned(course, one, which)
        if submission is None:
            aside.append(f"{one.label}: unknown student")
            continue
        key = (submission.student.id, which.number)
        if key in chosen:
            kept, left = sorted((chosen[key], submission), key=_worth)[::-1]
            aside.append(f"{left.found.label}: another file of this student counts")
            submission = kept
        chosen[key] = submission
    return sorted(chosen.values(), key=lambda each: (each.lab.number, each.student.id))


def _worth(submission: Submission) -> tuple[bool, bool, float, str]:
    """A file that can be read and is the student's own goes before one that is not; then the last one counts."""
    found = submission.found
    return (not found.notebook.problem, "foreign" not in submission.flags, found.written, found.label)


def _lab(found: Found, lab: int | None, content: Path) -> Lab | None:
    known = numbers_of_labs(content)
    named = [int(match[1]) for name in reversed(found.names) for match in LAB_IN_NAME.finditer(name)]
    said = [found.notebook.lab, lab, *named]
    number = next((one for one in said if one is not None and one in known), None)
    return None if number is None else load(number, content)


def _assigned(course: Course, found: Found, lab: Lab) -> Submission | None:
    """By the id in the path, else by the token. A token of somebody else, or of no one here, makes it foreign."""
    named = _named(course, found.names)
    token = found.notebook.token
    owner = course.owner(token, lab) if token else None
    if named is None:
        if owner is None:
            return None
        return Submission(owner, lab, found)
    if not token:
        return Submission(named, lab, found, () if found.notebook.problem else ("no_token",))
    if owner is None or owner.id != named.id:
        return Submission(named, lab, found, ("foreign",))
    return Submission(named, lab, found)


def _named(course: Course, names: Sequence[str]) -> Student | None:
    """The one student whose id stands in the path, not within a longer word."""
    path = "/".join(names).casefold()
    hits = []
    for student in course.students:
        place = re.search(rf"(?<![^\W_]){re.escape(student.id.casefold())}(?![^\W_])", path)
        if place:
            hits.append((len(student.id), student))
    longest = [student for length, student in hits if length == max(size for size, _ in hits)]
    return longest[0] if len(longest) == 1 else None


def graded_one(course: Course, submission: Submission, *, unsafe: bool, limits: Limits) -> Graded:
    """A verdict for each task, whatever the file is."""
    student, lab, found = submission.student, submission.lab, submission.found
    variant = course.variant(student, lab)
    problem = "foreign" if "foreign" in submission.flags else found.notebook.problem
    if not problem and found.notebook.lab not in (None, lab.number):
        problem = "other_lab"
    if problem:
        tasks = [TaskResult(task.id, 0.0, task.points, Verdict(False, problem), 0.0) for task in lab.tasks]
    else:
        tasks = _tasks(Edition(lab, variant, student.lang, teacher=False), found, unsafe=unsafe, limits=limits)
    return Graded(
        student=student.id,
        lab=lab.number,
        variant=variant.number,
        file=found.label,
        tasks=tuple(tasks),
        flags=submission.flags,
        unsafe=unsafe,
        when=datetime.now(UTC).isoformat(timespec="seconds"),
        checks=hash_of(lab),
    )


def _tasks(edition: Edition, found: Found, *, unsafe: bool, limits: Limits) -> list[TaskResult]:
    lab = edition.lab
    names = lab.module("numbers").files(edition.variant)
    setup = [edition.code(cell) for cell in lab.cells if cell.role == "given"]
    job = Job(setup, data_files(edition), names, limits)
    with tempfile.TemporaryDirectory(prefix="labs-") as folder:
        if unsafe:
            Path(folder).chmod(0o755)
        try:
            with Box(job, unsafe=unsafe, folder=Path(folder)) as box:
                return [_task(box, edition, found, task) for task in lab.tasks]
        except Unavailable:
            # The box died between two tasks, which student code cannot reach: said as it is, and graded again by hand.
            return [TaskResult(task.id, 0.0, task.points, Verdict(False, "stopped"), 0.0) for task in lab.tasks]


def _task(box: Box, edition: Edition, found: Found, task: Cell) -> TaskResult:
    started = time.monotonic()
    steps = [(cell.id, cell.defines) for cell in needed(edition.lab, task.id)]
    with box.task(found.notebook.cells, steps) as answers:
        verdict = verdict_of(edition.lab, task.id, answers, edition.variant)
    points = task.points if verdict.passed else 0.0
    return TaskResult(task.id, points, task.points, verdict, round(time.monotonic() - started, 2))
