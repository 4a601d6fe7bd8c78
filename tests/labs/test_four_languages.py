"""A student in each language, right, wrong and hostile: handed out, answered, graded, reported in that language."""

import json
import zipfile
from pathlib import Path

import pytest

from sfumato.labs.build.edition import Edition
from sfumato.labs.course import Course, new_course
from sfumato.labs.grade.box import Limits
from sfumato.labs.grade.grading import grade
from sfumato.labs.grade.report import write_report
from sfumato.labs.handing import hand_out
from sfumato.labs.languages import LANGUAGES, language
from sfumato.labs.running import said
from sfumato.labs.source import load
from sfumato.labs.words import number, text

pytestmark = pytest.mark.labs
LAB = load(2)
NAMES = {"en": "Ann Lee", "ru": "Анна Ли", "vi": "Lê Thị An", "zh": "李安"}
HOSTILE = "import os\ndef model_dataset(n, probs, rng):\n    os._exit(0)\n"
KINDS = ("right", "wrong", "hostile")
# tasks that do not pass -> code of the verdict
FAILED = {"right": {}, "wrong": {"t9": "no_logarithm", "t11": "sign_turned"}, "hostile": {"t1": "stopped"}}


def course_of_twelve(folder: Path) -> Course:
    rows = [f"{lang}-{kind},{NAMES[lang]},{lang},A" for lang in LANGUAGES for kind in KINDS]
    students = folder / "students.csv"
    students.write_text("\n".join(["id,name,lang,group", *rows]) + "\n", encoding="utf-8")
    return new_course(students, folder / "autumn", name="Autumn", lang="zh")[0]


def answers(kind: str) -> dict[str, str]:
    teacher = Edition(LAB, LAB.variant(1), "en", teacher=True)
    mutants = LAB.module("mutants").MUTANTS
    wrong = {"t9": mutants["t9"]["no_logarithm"], "t11": mutants["t11"]["sign"]}
    right = {task.id: teacher.code(task) for task in LAB.tasks}
    return right | {"right": {}, "wrong": wrong, "hostile": {"t1": HOSTILE}}[kind]


def test_every_language_from_hand_out_to_report(tmp_path: Path) -> None:
    course = course_of_twelve(tmp_path)
    archives = hand_out(course, [LAB], tmp_path / "out")
    for student, path in zip(course.students, archives, strict=True):
        with zipfile.ZipFile(path) as archive:
            files = {Path(name).name: archive.read(name).decode("utf-8") for name in archive.namelist()}
        page = files["hand-out.html"]
        assert f'<html lang="{language(student.lang).tag}">' in page
        assert LAB.words(student.lang).title in page
        content = json.loads(files["lab02.ipynb"])
        tasks = [cell for cell in content["cells"] if cell["metadata"]["sfumato"].get("role") == "task"]
        assert all(text("build.stub", student.lang) in cell["source"] for cell in tasks)
        given = answers(student.id.partition("-")[2])
        for cell in tasks:
            cell["source"] = given[cell["id"]]
        place = tmp_path / "in" / student.id
        place.mkdir(parents=True)
        (place / "lab02.ipynb").write_text(json.dumps(content), encoding="utf-8")

    session = grade(course, tmp_path / "in", limits=Limits(seconds=20))
    got = {one.student: one for one in session.graded}
    assert sorted(got) == sorted(student.id for student in course.students)
    report = tmp_path / "report"
    write_report(course, report)
    for student in course.students:
        kind = student.id.partition("-")[2]
        verdicts = {task.task: task.verdict for task in got[student.id].tasks}
        failed = {task: verdict.code for task, verdict in verdicts.items() if not verdict.passed}
        assert failed == FAILED[kind], student.id
        told = (report / "students" / f"{student.id}.html").read_text(encoding="utf-8")
        for task in failed:
            assert said(verdicts[task], LAB, course.variant(student, LAB), student.lang) in told
        assert text("verdict.passed", student.lang) in told
        points = sum(task.points for task in LAB.tasks if task.id not in failed)
        assert f"{number(points, student.lang)} / 10" in told
    everything = (report / "class.html").read_text(encoding="utf-8")
    assert "Autumn：成绩" in everything
    assert "李安（zh-right）" in everything
    assert "（4 人）" in everything, "four students made the mistake"
