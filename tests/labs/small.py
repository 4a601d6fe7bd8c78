"""The small lab of the grader's tests, and notebooks of made-up students."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sfumato.labs.build.edition import Edition
from sfumato.labs.build.notebook import notebook
from sfumato.labs.course import Course, new_course
from sfumato.labs.source import Lab, load
from sfumato.labs.students import Student

CONTENT = Path(__file__).parent / "course"
NUMBER = 91


def small() -> Lab:
    return load(NUMBER, CONTENT)


def solution(task: str) -> str:
    """The reference, as a student would write it."""
    lab = small()
    return Edition(lab, lab.variant(1), "en", teacher=True).code(lab.cell(task))


def course_of(folder: Path, count: int = 3, lang: str = "en") -> Course:
    lines = ["id,name,lang,group", *(f"s{n:02},Student {n},{lang if n % 2 else 'ru'},A" for n in range(1, count + 1))]
    students = folder / "students.csv"
    students.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return new_course(students, folder / "autumn", name="Autumn")[0]


def issued(course: Course, student: Student) -> dict[str, Any]:
    """The notebook that this student is given."""
    lab = small()
    edition = Edition(lab, course.variant(student, lab), student.lang, False, course.token(student, lab))
    return notebook(edition)


def answered(course: Course, student: Student, answers: Mapping[str, str] | None = None) -> dict[str, Any]:
    """The student's notebook with these answers; tasks that are not named are answered right."""
    content = issued(course, student)
    given = answers or {}
    for cell in content["cells"]:
        if cell["metadata"].get("sfumato", {}).get("role") == "task":
            cell["source"] = given.get(cell["id"], solution(cell["id"]))
    return content


def hand_in(folder: Path, name: str, content: Any) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
    return path
