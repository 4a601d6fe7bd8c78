"""sfumato labs demo: the tour that a visitor sees, in each language, and what it found."""

import json
import re
import time
from pathlib import Path

import pytest

from sfumato.labs.course import open_course
from sfumato.labs.grade import grading
from sfumato.labs.languages import LANGUAGES, language
from sfumato.labs.source import load
from sfumato.labs.words import strings, text

FILES = {"lab02-variant3-vi", "students.csv", "autumn", "sent"}


@pytest.mark.labs
def test_the_whole_tour(shell, tmp_path: Path) -> None:
    started = time.monotonic()
    code, out, err = shell("labs", "demo", "--lang", "vi", "--format", "json", "--output", tmp_path / "tour")
    assert (code, err) == (0, "")
    assert time.monotonic() - started < 60, "half a minute on a machine with nothing else to do"
    found = json.loads(out)
    wrong, right = found["checks"]
    assert (wrong["passed"], right["passed"]) == (False, True)
    assert "bạn đã lấy ε chia cho Δ" in wrong["words"]
    assert text("verdict.passed", "vi") in right["words"]
    marks = {one["student"]: one["failed"] for one in found["students"]}
    assert (marks["s01"], marks["s03"], marks["s04"]) == ({}, {}, {"t1": "stopped"})
    assert marks["s02"]["t4"] == "swapped_eps_delta"
    points = {task.id: task.points for task in load(2).tasks}
    for one in found["students"]:
        assert one["points"] == one["of"] - sum(points[task] for task in one["failed"])
    assert (found["refused"], found["pages"]) == ("", 4)
    assert {path.name for path in (tmp_path / "tour").iterdir()} == FILES
    assert len(open_course(tmp_path / "tour" / "autumn").students) == 4
    assert (tmp_path / "tour" / "autumn" / "report" / "class.html").is_file()


@pytest.mark.labs
def test_a_visitor_reads_marks_and_the_reasons(shell) -> None:
    code, out, err = shell("labs", "demo", "--lang", "zh", "--fast")
    assert (code, err) == (0, "")
    shown = "".join(out.split())
    for said in ("李安", "10/10", "t4、", "陈博：你的噪声", "register.csv"):
        assert said in shown, said
    assert "".join(text("demo.gone", "zh", option="--output").split()) in shown


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_language_tells_where_no_box_can_be_made(shell, monkeypatch: pytest.MonkeyPatch, lang: str) -> None:
    """Nothing is graded then, and the tour says why; the rest of it is what the shell says in that language."""
    monkeypatch.setattr(grading, "refusal", lambda: "unshare: Operation not permitted")
    code, out, err = shell("labs", "demo", "--lang", lang)
    assert (code, err) == (0, "")
    shown = re.sub(r"[\s│]", "", out)  # the shell breaks lines, and frames what it quotes
    left_out = {"boxed", "report", "report_says", "failed", "told", "names", "kept"}
    for key, words in strings(lang).items():
        section, _, name = key.partition(".")
        if section == "demo" and name not in left_out and not name.endswith("ing"):
            assert "".join(words.partition("{")[0].split()) in shown, key
    assert "unshare:Operationnotpermitted" in shown
    assert f"sfumato labs start 2 --variant 3 --lang {lang}" in out


def test_a_name_for_each_student_in_every_language() -> None:
    for lang in LANGUAGES:
        assert len(text("demo.names", lang).split(language(lang).comma)) == 4


def test_a_folder_that_exists_stays_as_it_is(shell, tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("x")
    code, out, err = shell("labs", "demo", "--output", tmp_path)
    assert (code, out) == (2, "")
    assert "exists already; nothing was written" in err
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]
    assert shell("labs", "demo", "--lang", "xx")[0] == 2
