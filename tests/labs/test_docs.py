"""The tutorials run as printed, the page for authors names what there is, and every command on them can be typed."""

import csv
import re
import shlex
from pathlib import Path

import pytest
from typer.core import TyperCommand

from benchmarks.labs_course import checks_beside
from sfumato.labs.prose import KINDS
from sfumato.labs.source import OPTIONS, ROLES
from tests.pages import play, text

FIRST, ADD = "tutorial/my-first-lab.md", "how-to/add-a-lab.md"
COURSE = "tutorial/run-a-course.md"


@pytest.mark.parametrize("page", [FIRST, COURSE, ADD, "decisions/0023-four-languages.md", "../README.md"])
def test_every_command_can_be_typed(shell, monkeypatch: pytest.MonkeyPatch, page: str) -> None:
    """The shell reads it with its own parser, and stops before it does anything."""
    read = list[str]()
    monkeypatch.setattr(TyperCommand, "invoke", lambda self, context: read.append(context.command_path))
    commands = re.findall(r"\bsfumato (labs [^`\n]+)", text(page))
    assert commands
    for command in commands:
        code, _, said = shell(*shlex.split(command, comments=True))
        assert code == 0, f"sfumato {command}: {said}"
    assert len(read) == len(commands)
    assert shell("labs", "selftest", "2")[0] == 2, "the twin: a number where an option belongs"


@pytest.mark.labs
def test_my_first_lab(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    printed = play(FIRST, capsys).printed
    # Nothing of these depends on noise that is not seeded.
    for exact in (
        "Your noise is 39.1 times too small: you divided ε by Δ.",
        "□□□■□□□□□□□ 1 of 10 points",
        "✓ t4: Right.",
    ):
        assert exact in text(FIRST)
        assert exact in printed
    assert (tmp_path / "lab02-variant3-en" / "hand-out.html").is_file()


def test_the_page_for_authors_names_every_option_role_and_block() -> None:
    page = text(ADD)
    for name in (*OPTIONS, *ROLES):
        assert name in page, name
    for kind in KINDS:
        assert f".{kind}" in page, kind


@pytest.mark.labs
def test_run_a_course(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    printed = play(COURSE, capsys).printed
    graded = {row["student"]: row for row in csv.DictReader(printed[printed.index("student,lab,") :].splitlines()[:4])}
    assert {name: row["points"] for name, row in graded.items()} == {"s01": "1.0", "s02": "0.0", "s03": "0.0"}
    assert "t4:swapped_eps_delta" in graded["s02"]["failed"]
    assert "t4:stopped" in graded["s03"]["failed"]
    assert "t1:not_yet" in graded["s01"]["failed"]
    for name in ("register.csv", "details.csv", "class.html", "students/s01.html"):
        assert (tmp_path / "autumn" / "report" / name).is_file()


@pytest.mark.labs
def test_the_shares_beside_the_leading_course_are_those_of_the_benchmark() -> None:
    page = text("explanation/benchmarks.md").partition("## Checks of labs")[2].partition("\n## ")[0]
    printed = dict(re.findall(r"^\| (\w[^|]*?) \| ([.\d].*) \|$", page, re.MULTILINE))
    measured = checks_beside()
    assert {name: [float(share) for share in row.split(" | ")] for name, row in printed.items()} == {
        name: [round(share, 2) for share in passed.values()] for name, passed in measured.items()
    }
