"""Reports: CSV for the register, one page for the class, one for each student in the student's language.

Pages hold no script, no address of the network and nothing of the checks: codes became words when they were written.
"""

import csv
import io
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from sfumato.labs.course import Course
from sfumato.labs.grade.results import Graded, TaskResult, read_results
from sfumato.labs.grade.wordings import nothing_graded, report_exists
from sfumato.labs.languages import language
from sfumato.labs.running import said
from sfumato.labs.source import Lab, load
from sfumato.labs.students import Student
from sfumato.labs.words import CONTENT, number, text
from sfumato.visible import spreadsheet_cell, visible

STYLE = """
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#222}
table{border-collapse:collapse;margin:1rem 0;width:100%}th,td{border-bottom:1px solid #ddd;padding:.35rem .6rem;
text-align:left;vertical-align:top}td.n{text-align:right;white-space:nowrap}.good{color:#1b5e20}.bad{color:#b71c1c}
.warn{background:#fff3cd;border:1px solid #e0c060;padding:.6rem .8rem}small{color:#555}
@media print{body{margin:0}}
"""


def write_report(course: Course, folder: Path, *, content: Path = CONTENT) -> list[Path]:
    """Writes register.csv, details.csv, class.html and students/*.html into a new folder."""
    graded = read_results(course.results())
    if not graded:
        raise nothing_graded(str(course.folder))
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise report_exists(str(folder))
    (folder / "students").mkdir(parents=True, exist_ok=True)
    labs = {number_: load(number_, content) for number_ in sorted({one.lab for one in graded})}
    found = {(one.student, one.lab): one for one in graded}
    written = [
        _put(folder / "register.csv", register(course, labs, found)),
        _put(folder / "details.csv", details(course, graded)),
        _put(folder / "class.html", class_page(course, labs, found)),
    ]
    for student in course.students:
        own = [one for one in graded if one.student == student.id]
        if own:
            path = folder / "students" / f"{student.id}.html"
            written.append(_put(path, student_page(course, student, own, labs)))
    return written


def _put(path: Path, content: str) -> Path:
    # A mark at the front of a CSV lets spreadsheets see that it is UTF-8.
    path.write_text(content, encoding="utf-8-sig" if path.suffix == ".csv" else "utf-8", newline="")
    return path


def _csv(rows: Iterable[Sequence[Any]]) -> str:
    buffer = io.StringIO(newline="")
    csv.writer(buffer).writerows(map(spreadsheet_cell, row) for row in rows)
    return buffer.getvalue()


def _notes(graded: Graded, lang: str) -> str:
    notes = [text(f"report.{flag}", lang) for flag in graded.flags]
    return language(lang).semicolon.join([*notes, text("report.unsafe_short", lang)] if graded.unsafe else notes)


def _all_notes(own: Iterable[Graded | None], lang: str) -> str:
    return language(lang).semicolon.join(filter(None, (_notes(one, lang) for one in own if one)))


def register(course: Course, labs: Mapping[int, Lab], found: Mapping[tuple[str, int], Graded]) -> str:
    """One row a student: points of each lab, their sum, notes."""
    rows: list[list[Any]] = [["id", "name", "group", *(f"lab{number_:02}" for number_ in labs), "total", "notes"]]
    for student in course.students:
        own = [found.get((student.id, number_)) for number_ in labs]
        points = [_short(one.points) if one else "" for one in own]
        total = _short(sum(one.points for one in own if one))
        rows.append([student.id, student.name, student.group, *points, total, _all_notes(own, course.lang)])
    return _csv(rows)


def details(course: Course, graded: Iterable[Graded]) -> str:
    """One row a task: what LABS calls the details."""
    head = ["id", "lab", "variant", "task", "points", "out_of", "verdict", "p", "seconds", "file", "graded", "notes"]
    rows: list[list[Any]] = [head]
    for one in graded:
        for task in one.tasks:
            p = "" if task.verdict.p is None else f"{task.verdict.p:.3g}"
            figures = [task.task, _short(task.points), _short(task.out_of), task.verdict.code, p, task.seconds]
            rows.append([one.student, one.lab, one.variant, *figures, one.file, one.when, _notes(one, course.lang)])
    return _csv(rows)


def _short(points: float) -> float | int:
    return int(points) if points == int(points) else points


def _page(lang: str, title: str, body: str) -> str:
    head = f'<meta charset="utf-8"><title>{escape(visible(title))}</title><style>{STYLE}</style>'
    return f'<!doctype html>\n<html lang="{language(lang).tag}"><head>{head}</head><body>\n{body}\n</body></html>\n'


def _table(head: Sequence[str], rows: Iterable[Sequence[tuple[str, str]]]) -> str:
    """Cells are (class, HTML)."""
    top = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    body = "".join(
        "<tr>" + "".join(f'<td class="{kind}">{inside}</td>' for kind, inside in row) + "</tr>\n" for row in rows
    )
    return f"<table><thead><tr>{top}</tr></thead><tbody>\n{body}</tbody></table>"


def _plain(value: str) -> tuple[str, str]:
    return "", escape(visible(value))


def _points(points: float, out_of: float, lang: str) -> tuple[str, str]:
    return "n", f"{number(_short(points), lang)} / {number(_short(out_of), lang)}"


def _warning(graded: Iterable[Graded], lang: str) -> str:
    unsafe = any(one.unsafe for one in graded)
    return f'<p class="warn">{escape(text("report.unsafe", lang))}</p>' if unsafe else ""


def class_page(course: Course, labs: Mapping[int, Lab], found: Mapping[tuple[str, int], Graded]) -> str:
    """All students, and for every lab which tasks were hard."""
    lang = course.lang
    title = text("report.class_title", lang, course=course.name)
    parts = [f"<h1>{escape(visible(title))}</h1>", _warning(found.values(), lang)]
    head = [text("report.student", lang), text("report.group", lang)]
    head += [text("report.lab", lang, number=str(one)) for one in labs] + [text("report.notes", lang)]
    rows = []
    for student in course.students:
        own = [found.get((student.id, one)) for one in labs]
        marks = [_points(one.points, one.out_of, lang) if one else _missing(lang) for one in own]
        named = text("report.named", lang, name=student.name, id=student.id)
        rows.append([_plain(named), _plain(student.group), *marks, _plain(_all_notes(own, lang))])
    parts.append(_table(head, rows))
    parts += [_hard(course, lab, [one for one in found.values() if one.lab == lab.number]) for lab in labs.values()]
    parts.append(f"<p><small>{escape(text('report.honest', lang))}</small></p>")
    return _page(lang, title, "\n".join(parts))


def _missing(lang: str) -> tuple[str, str]:
    return "n", escape(text("report.not_handed_in", lang))


def _hard(course: Course, lab: Lab, graded: Sequence[Graded]) -> str:
    """How many passed each task, and the mistake that was made most."""
    lang = course.lang
    rows = []
    for cell in lab.tasks:
        results = [(one, task) for one in graded for task in one.tasks if task.task == cell.id]
        failed = Counter(task.verdict.code for _, task in results if not task.verdict.passed)
        common = ""
        if failed:
            code = failed.most_common(1)[0][0]
            one, task = next((one, task) for one, task in results if task.verdict.code == code)
            common = text("report.often", lang, words=_words(course, lab, one, task, lang), count=failed[code])
        passed = sum(task.verdict.passed for _, task in results)
        rows.append([_plain(cell.id), ("n", f"{passed} / {len(results)}"), _plain(common)])
    head = [text("report.task", lang), text("report.share", lang), text("report.common", lang)]
    return f"<h2>{escape(text('report.lab', lang, number=str(lab.number)))}</h2>" + _table(head, rows)


def _words(course: Course, lab: Lab, graded: Graded, task: TaskResult, lang: str) -> str:
    return said(task.verdict, lab, course.variant(course.student(graded.student), lab), lang)


def student_page(course: Course, student: Student, graded: Sequence[Graded], labs: Mapping[int, Lab]) -> str:
    """What a student gets back: points and words for each task, nothing about anybody else."""
    lang = student.lang
    title = text("report.student_title", lang, course=course.name, name=student.name)
    parts = [f"<h1>{escape(visible(title))}</h1>", _warning(graded, lang)]
    for one in graded:
        lab = labs[one.lab]
        named = text("build.title", lang, number=str(one.lab), title=lab.words(lang).title)
        parts.append(f"<h2>{escape(visible(named))}</h2>")
        about = [text("report.variant", lang, number=str(one.variant)), text("report.graded", lang, when=one.when)]
        about.append(text("report.file", lang, name=one.file))
        parts.append(f"<p><small>{escape(visible(' · '.join(about)))}</small></p>")
        rows = [
            [
                ("good" if task.verdict.passed else "bad", escape(task.task)),
                _points(task.points, task.out_of, lang),
                _plain(_words(course, lab, one, task, lang)),
            ]
            for task in one.tasks
        ]
        rows.append([_plain(text("report.total", lang)), _points(one.points, one.out_of, lang), _plain("")])
        parts.append(_table([text(f"report.{key}", lang) for key in ("task", "points", "says")], rows))
    parts.append(f"<p><small>{escape(text('report.honest', lang))}</small></p>")
    return _page(lang, title, "\n".join(parts))
