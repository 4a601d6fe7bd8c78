"""Where in a question a refusal is, shown below its line and told to machines."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from sfumato.cli.pointing import pointed

Shell = Callable[..., tuple[int, str, str]]


@pytest.mark.parametrize(
    ("question", "at", "shown"),
    [
        ("SELECT agee", (7, 11), "  SELECT agee\n         ^^^^"),
        ("SELECT a,\n  b FROM t", (12, 13), "    b FROM t\n    ^"),
        ("SELECT a,\n  b FROM t", (7, 16), "  SELECT a,\n         ^^"),
        ("SELECT 年龄, b", (7, 9), "  SELECT 年龄, b\n         ^^^^"),
        ("SELECT '年', b", (12, 13), "  SELECT '年', b\n               ^"),
        ("SELECT \x1b[31m, b", (14, 15), "  SELECT \\x1b[31m, b\n                   ^"),
        ("SELECT e\u0301, b", (11, 12), "  SELECT e\u0301, b\n            ^"),
        ("SELECT x", (8, 8), "  SELECT x\n          ^"),
    ],
)
def test_marks_stand_below_the_words(question: str, at: tuple[int, int], shown: str) -> None:
    assert pointed(question, at) == shown


def test_of_a_long_line_what_stands_around_is_shown() -> None:
    question = f"SELECT {'a + ' * 100}agee{' + b' * 100} FROM t"
    line, marks = pointed(question, (407, 411)).split("\n")
    assert len(line) < 110
    assert line[marks.index("^") : marks.rindex("^") + 1] == "agee"
    assert line.startswith("  …")
    assert line.endswith("…")
    line, marks = pointed(question, (7, 900)).split("\n")
    assert len(line) < 110
    assert set(marks.strip()) == {"^"}


def test_the_shell_points_at_the_word_and_json_tells_the_place(shell: Shell, policy: Path) -> None:
    question = "SELECT AVG(agee) AS a FROM people"
    code, out, err = shell("ask", policy, question, "--spend=0.5")
    assert (code, out) == (3, "")
    assert err.splitlines()[-2:] == [f"  {question}", f"{' ' * 13}^^^^"]
    _, _, told = shell("explain", policy, question, "--spend=0.5", "--format=json")
    assert json.loads(told)["at"] == [11, 15]
    _, _, told = shell("ask", policy, "SELECT COUNT(*) AS n FROM people", "--spend=50", "--format=json")
    assert "at" not in json.loads(told)
