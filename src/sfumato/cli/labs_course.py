"""sfumato labs class new | hand-out | grade | report | selftest: a course from its list of students to its marks."""

from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.format import Format, Usual, WithoutRows
from sfumato.cli.output import print_record, print_rows, split
from sfumato.cli.progress import progress
from sfumato.errors import did_you_mean
from sfumato.labs.build.files import DOCUMENTS, Kind
from sfumato.labs.course import new_course, open_course
from sfumato.labs.grade.box import Limits
from sfumato.labs.grade.grading import grade
from sfumato.labs.grade.report import write_report
from sfumato.labs.grade.wordings import unknown_document
from sfumato.labs.handing import hand_out
from sfumato.labs.selftest import selftest
from sfumato.labs.selftest_table import long_run
from sfumato.labs.source import Lab, load, named, numbers_of_labs
from sfumato.labs.words import text

CourseFolder = Annotated[Path, typer.Argument(help="The folder of the course.", metavar="COURSE")]
Record = Annotated[WithoutRows, typer.Option(help="How to print.")]
classes = typer.Typer(add_completion=False, no_args_is_help=True, help="Make a course from a list of students.")


def register(app: typer.Typer) -> None:
    """Adds the teacher's commands to `sfumato labs`."""
    app.add_typer(classes, name="class")
    app.command("hand-out")(hand_out_command)
    app.command("grade")(grade_command)
    app.command("report")(report_command)
    app.command("selftest")(selftest_command)


@classes.command("new")
def new_command(
    students: Annotated[Path, typer.Argument(help="A CSV with the columns id, name and, if you like, lang, group.")],
    course: Annotated[Path, typer.Argument(help="The folder to make.", metavar="COURSE")],
    name: Annotated[str, typer.Option(help="What reports call the course; the folder's name if left out.")] = "",
    lang: Annotated[
        str, typer.Option(help="The language of students whose line names none, and of the class page.")
    ] = "en",
    format: Record = Format.table,
) -> None:
    """Make a course with a secret from which every student's variant, data and token follow. Keep the folder safe."""
    made, guessed = new_course(students, course, name=name, lang=lang)
    place, count = str(course), len(made.students)
    said = [text("shell.students", lang, students=count, course=place)]
    if guessed:
        said.append(text("shell.read_as", lang, file=students.name, encoding=guessed, course=place))
    said.append(text("shell.next", lang, command=f"sfumato labs hand-out {course}"))
    print_record({"course": place, "students": count, "read_as": guessed or "utf-8"}, "\n".join(said), format)


def _labs(written: str) -> list[Lab]:
    return [named(word) for word in split(written)] if written else [load(number) for number in numbers_of_labs()]


def _documents(written: str) -> list[Kind]:
    found: list[Kind] = []
    for word in split(written):
        kind = next((one for one in DOCUMENTS if one == word), None)
        if kind is None:
            raise unknown_document(word, did_you_mean(word, DOCUMENTS), DOCUMENTS)
        found.append(kind)
    return found


def hand_out_command(
    course: CourseFolder,
    lab: Annotated[str, typer.Option(help="Numbers of labs, e.g. 1,2; all if left out.")] = "",
    student: Annotated[str, typer.Option(help="Ids of students, e.g. s01,s02; all if left out.")] = "",
    documents: Annotated[str, typer.Option("--with", help="Hand-outs beside the notebook: html, docx, pdf.")] = "html",
    to: Annotated[Path | None, typer.Option(help="The folder for the archives; COURSE/hand-out if left out.")] = None,
    format: Record = Format.table,
) -> None:
    """Write a zip for each student and lab: notebook, data and hand-out of that student's variant."""
    opened = open_course(course)
    labs, kinds = _labs(lab), _documents(documents)
    students = [opened.student(one) for one in split(student)] if student else list(opened.students)
    folder = to or course / "hand-out"
    with progress("Handing out …") as done:
        written = hand_out(opened, labs, folder, students=students, documents=kinds, report=done)
    said = text("shell.handed_out", opened.lang, archives=len(written), folder=str(folder))
    print_record({"folder": str(folder), "archives": len(written)}, said, format)


def grade_command(
    course: CourseFolder,
    submissions: Annotated[Path, typer.Argument(help="The folder with what came back: notebooks, folders, archives.")],
    lab: Annotated[int | None, typer.Option(help="The lab of files that do not say it themselves.")] = None,
    unsafe: Annotated[
        bool,
        typer.Option("--unsafe", help="Run student code without a box where none can be made; every report says so."),
    ] = False,
    seconds: Annotated[int, typer.Option(min=1, help="Seconds of the processor that a task may use.")] = 20,
    jobs: Annotated[int | None, typer.Option(min=1, help="Submissions side by side; one a core if left out.")] = None,
    format: Annotated[Usual, typer.Option(help="How to print.")] = Format.table,
) -> None:
    """Grade a folder of whatever came back: each task in a box of its own, a verdict for each."""
    opened = open_course(course)
    with progress("Grading …") as done:
        session = grade(
            opened,
            submissions,
            lab=lab,
            unsafe=unsafe,
            workers=jobs,
            limits=Limits(seconds=seconds, wall=3 * seconds),
            report=done,
        )
    rows = [
        {
            "student": one.student,
            "lab": one.lab,
            "variant": one.variant,
            "points": one.points,
            "of": one.out_of,
            "failed": " ".join(f"{task.task}:{task.verdict.code}" for task in one.tasks if not task.verdict.passed),
            "notes": " ".join([*one.flags, *(["unsafe"] if one.unsafe else [])]),
        }
        for one in session.graded
    ]
    aside = "".join(f"\nnot graded: {one}" for one in session.aside)
    warning = "\n" + text("shell.unsafe", opened.lang) if unsafe else ""
    footer = text("shell.next", opened.lang, command=f"sfumato labs report {course}") + aside + warning
    print_rows(["student", "lab", "variant", "points", "of", "failed", "notes"], rows, format, footer=footer)


def report_command(
    course: CourseFolder,
    to: Annotated[Path | None, typer.Option(help="The folder to make; COURSE/report if left out.")] = None,
    format: Record = Format.table,
) -> None:
    """Write register.csv, details.csv, a page for the class and one for each student in the student's language."""
    folder = to or course / "report"
    opened = open_course(course)
    written = write_report(opened, folder)
    pages = sum(path.parent.name == "students" for path in written)
    said = text("shell.reported", opened.lang, pages=pages, folder=str(folder))
    print_record({"folder": str(folder), "pages": pages, "files": len(written)}, said, format)


def selftest_command(
    lab: Annotated[str, typer.Option(help="Numbers of labs, e.g. 1,2; all if left out.")] = "",
    seeds: Annotated[int, typer.Option(min=1, help="Seeds a variant.")] = 5,
    mutant_seeds: Annotated[
        int | None, typer.Option(min=1, help="Seeds a variant for wrong answers; as many if left out.")
    ] = None,
    full: Annotated[
        bool, typer.Option("--full", help="200 seeds a variant, and write the tables; goes on where it was broken off.")
    ] = False,
    to: Annotated[Path, typer.Option(help="Where --full writes its tables.")] = Path("tests/labs/selftest"),
    jobs: Annotated[int, typer.Option(min=1, help="How many run side by side.")] = 1,
    format: Annotated[Usual, typer.Option(help="How to print.")] = Format.table,
) -> None:
    """Test the checks: reference solutions and other right methods pass, every wrong answer fails and is named."""
    count = 200 if full and seeds == 5 else seeds
    shown, bad = [], 0
    for one in _labs(lab):
        with progress(f"Testing the checks of lab {one.number} …") as done:
            if full:
                rows = long_run(one, to, seeds=count, mutant_seeds=mutant_seeds or count, workers=jobs, report=done)
            else:
                rows = selftest(one, count, mutant_seeds=mutant_seeds, workers=jobs, report=done)
        bad += sum(not row.good for row in rows)
        shown += [
            {
                "lab": one.number,
                "task": row.task,
                "answer": f"{row.kind} {row.name}" if row.kind != "reference" else row.kind,
                "passed": f"{row.passed}/{row.runs}",
                "named": f"{row.code} {row.named}/{row.runs - row.passed}" if row.code else "",
                "good": "yes" if row.good else "NO",
            }
            for row in rows
        ]
    print_rows(
        ["lab", "task", "answer", "passed", "named", "good"],
        shown,
        format,
        footer=f"{bad} of {len(shown)} are not as they must be.",
    )
    if bad:
        raise typer.Exit(1)
