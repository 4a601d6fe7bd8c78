"""sfumato labs demo: a lab as its student meets it, and a small class as its teacher does."""

import json
import zipfile
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer

from sfumato.cli.format import Format, WithoutRows
from sfumato.cli.output import as_json, write
from sfumato.cli.tour.stage import BAD, GOOD, SOFT, Cell, Stage
from sfumato.errors import Unavailable
from sfumato.labs.build.edition import Edition
from sfumato.labs.build.files import fresh, notebook_name, write_student_folder
from sfumato.labs.course import Course, new_course
from sfumato.labs.grade.grading import grade
from sfumato.labs.grade.report import write_report
from sfumato.labs.grade.results import Graded
from sfumato.labs.handing import hand_out
from sfumato.labs.languages import language
from sfumato.labs.notebook.session import opened
from sfumato.labs.running import said
from sfumato.labs.selftest import Subject, answered, solved
from sfumato.labs.source import Lab, load
from sfumato.labs.wordings import student_needs_pandas
from sfumato.labs.words import number, text

NUMBER, VARIANT, TASK = 2, 3, "t4"
COURSE = "autumn"
ENDS = "import os\n\n\ndef model_dataset(probs, n, rng):\n    os._exit(0)\n"


@dataclass(frozen=True)
class Tour:
    """Where a tour plays, in which language, and the screen."""

    stage: Stage
    lang: str
    folder: Path
    lab: Lab

    def say(self, key: str, **values: Any) -> None:
        self.stage.say(text(f"demo.{key}", self.lang, **values))

    def scene(self, place: int, key: str, command: str = "") -> None:
        self.stage.scene(place, text(f"demo.{key}", self.lang))
        if command:
            self.stage.command(command)
            self.stage.gap()

    def progress(self, key: str) -> AbstractContextManager[Callable[[float], None]]:
        return self.stage.progress(text(f"demo.{key}", self.lang))


def demo(
    lang: Annotated[str, typer.Option(help="The language: en, ru, vi or zh.")] = "en",
    output: Annotated[
        Path | None, typer.Option(help="A new folder that keeps everything; if left out, nothing is kept.")
    ] = None,
    fast: Annotated[bool, typer.Option("--fast", help="Without the moments to read.")] = False,
    format: Annotated[WithoutRows, typer.Option(help="A tour to watch, or what it found.")] = Format.table,
) -> None:
    """A tour in half a minute: a lab that checks itself; a class that is handed out, answered, graded and reported."""
    lab, code = load(NUMBER), language(lang).code
    if find_spec("pandas") is None:
        raise student_needs_pandas()
    stage = Stage(fast=fast, silent=format is Format.json)
    with TemporaryDirectory(prefix="labs-demo-") as made:
        tour = Tour(stage, code, Path(made) if output is None else fresh(output), lab)
        found = {"checks": _student(tour), **_teacher(tour)}
    stage.gap()
    if output is None:
        tour.say("gone", option="--output")
    else:
        tour.say("kept", folder=str(output))
    commands = [
        f"sfumato labs start {NUMBER} --variant {VARIANT} --lang {code}",
        f"sfumato labs class new students.csv {COURSE} --lang {code}",
        f"sfumato labs build --lab {NUMBER} --variant {VARIANT} --lang {code}",
    ]
    stage.say(text("demo.go_on", code), style=SOFT)
    for command in commands:
        stage.command(command)
    if format is Format.json:
        folder = None if output is None else str(output)
        write(as_json({"lab": NUMBER, "lang": code, "folder": folder, **found, "next": commands}), None)


def _student(tour: Tour) -> list[dict[str, Any]]:
    """Scenes 1 and 2: a folder to work in; a wrong answer, a hint, a right answer."""
    name = f"lab{NUMBER:02}-variant{VARIANT}-{tour.lang}"
    tour.scene(1, "start", f"sfumato labs start {NUMBER} --variant {VARIANT} --lang {tour.lang}")
    edition = Edition(tour.lab, tour.lab.variant(VARIANT), tour.lang, teacher=False)
    written = write_student_folder(edition, tour.folder / name, ())
    files = language(tour.lang).comma.join(path.name for path in written)
    command = f"jupyter lab {name}/{notebook_name(edition)}"
    made = text("shell.started", tour.lang, title=edition.title, files=files, folder=name, command=command)
    for line in made.split("\n"):
        tour.stage.say(line)
    tour.say("start_says")

    tour.scene(2, "check")
    teacher = replace(edition, teacher=True)
    solutions, _ = solved(teacher)
    upside_down = _wrong(tour.lab)
    right = upside_down.replace("eps / sensitivity", "sensitivity / eps")
    found = []
    for key, source in (("wrong", upside_down), ("right", right)):
        tour.say(key)
        tour.stage.code(f"{source}\n\ncheck.{TASK}()", "python")
        functions = answered(teacher, solutions, Subject(TASK, "other", key, source))
        student = opened(NUMBER, tour.folder / name, functions)
        told = student.checked(TASK)
        tour.stage.notice(f"check.{TASK}()", told.words, style=GOOD if told.good else BAD)
        if not told.good:
            tour.stage.notice(f"hint.{TASK}()", student.hinted(TASK).words, style=SOFT)
        found.append({"answer": key, "passed": told.good, "words": told.words})
    tour.say("checked")
    return found


def _teacher(tour: Tour) -> dict[str, Any]:
    """Scenes 3 to 5: the class, what comes back, its marks."""
    commands = f"sfumato labs class new students.csv {COURSE}\nsfumato labs hand-out {COURSE} --lab {NUMBER}"
    tour.scene(3, "class", commands)
    course = _class(tour)
    with tour.progress("handing") as done:
        archives = hand_out(course, [tour.lab], course.folder / "hand-out", documents=(), report=done)
    tour.stage.say(text("shell.students", tour.lang, students=len(course.students), course=COURSE))
    folder = f"{COURSE}/hand-out"
    tour.stage.say(text("shell.handed_out", tour.lang, archives=len(archives), folder=folder))
    tour.say("class_says")

    tour.scene(4, "answers", f"sfumato labs grade {COURSE} sent")
    sent = tour.folder / "sent"
    _answer(tour, course, archives, sent)
    for place, student in enumerate(course.students, start=1):
        tour.say(f"sends_{place}", name=student.name)
    try:
        with tour.progress("grading") as done:
            graded = grade(course, sent, report=done).graded
    except Unavailable as error:
        tour.say("refused")
        tour.stage.notice(type(error).__name__, str(error))
        return {"students": [], "refused": str(error), "pages": 0}
    _show_marks(tour, course, graded)
    tour.say("boxed")

    tour.scene(5, "report", f"sfumato labs report {COURSE}")
    with tour.stage.working(text("demo.reporting", tour.lang)):
        pages = sum(path.parent.name == "students" for path in write_report(course, course.folder / "report"))
    tour.stage.say(text("shell.reported", tour.lang, pages=pages, folder=f"{COURSE}/report"))
    tour.say("report_says")
    students = [
        {
            "student": one.student,
            "points": one.points,
            "of": one.out_of,
            "failed": {task.task: task.verdict.code for task in one.tasks if not task.verdict.passed},
        }
        for one in graded
    ]
    return {"students": students, "refused": "", "pages": pages}


def _wrong(lab: Lab) -> str:
    source: str = lab.module("mutants").MUTANTS[TASK]["swapped"]
    return source


def _sent(lab: Lab) -> tuple[Mapping[str, str], ...]:
    """What each student of the class writes otherwise than the reference: task -> code."""
    other = lab.module("mutants").OTHERS[TASK]["difference_of_exponentials"]
    return {}, {TASK: _wrong(lab)}, {TASK: other}, {"t1": ENDS}


def _class(tour: Tour) -> Course:
    names = text("demo.names", tour.lang).split(language(tour.lang).comma)
    lines = ["id,name", *(f"s{place:02},{name}" for place, name in enumerate(names, start=1))]
    students = tour.folder / "students.csv"
    students.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return new_course(students, tour.folder / COURSE, lang=tour.lang)[0]


def _answer(tour: Tour, course: Course, archives: list[Path], sent: Path) -> None:
    """Each student's own notebook out of the archive, with that student's answers."""
    sent.mkdir()
    for student, archive, own in zip(course.students, archives, _sent(tour.lab), strict=True):
        teacher = Edition(tour.lab, course.variant(student, tour.lab), student.lang, teacher=True)
        answers = {task.id: teacher.code(task) for task in tour.lab.tasks} | dict(own)
        with zipfile.ZipFile(archive) as packed:
            content = json.loads(packed.read(f"{archive.stem}/{notebook_name(teacher)}"))
        for cell in content["cells"]:
            cell["source"] = answers.get(cell["id"], cell["source"])
        (sent / f"{student.id}.ipynb").write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")


def _show_marks(tour: Tour, course: Course, graded: tuple[Graded, ...]) -> None:
    lang = tour.lang
    heads = [text("report.student", lang), text("report.points", lang), text("demo.failed", lang)]
    rows, told = list[list[Cell]](), list[tuple[str, str]]()
    for one in graded:
        student = course.student(one.student)
        failed = [task for task in one.tasks if not task.verdict.passed]
        marks = f"{number(one.points, lang)} / {number(one.out_of, lang)}"
        missed = language(lang).comma.join(task.task for task in failed)
        rows.append([student.name, (marks, BAD if failed else GOOD), missed])
        if failed:
            told.append((student.name, said(failed[0].verdict, tour.lab, course.variant(student, tour.lab), lang)))
    tour.stage.table(heads, rows, right=heads[1:2])
    for name, words in told:
        tour.say("told", name=name, words=words)
