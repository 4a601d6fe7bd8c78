"""The tutorial runs as printed: every block, in order, in an empty folder; what it prints has the shape it shows."""

import re
import shlex
from pathlib import Path

import pytest

from sfumato.cli.main import run

PAGE = Path(__file__).parents[2] / "docs" / "tutorial" / "first-question.md"
POLICY = "visits.toml"


def blocks() -> list[tuple[str, str]]:
    """(language, text) of every block, in order."""
    return re.findall(r"^```(\w+)\n(.*?)^```", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


def shape(line: str) -> str:
    """A line without what noise, the clock and the widths of columns change."""
    line = re.sub(r"[━─┳╇┴┼]+", "─", line)
    line = re.sub(r"\d{4}-\d\d-\d\dT[\d:]+Z", "DATE", line)
    line = re.sub(r"-?\d[\d,.]*\d(e-?\d+)?|-?\d(e-?\d+)?", "0", line)
    return re.sub(r"\s+", " ", line).strip()


def typed(command: str, capsys: pytest.CaptureFixture[str]) -> str:
    """What a command prints; a comment may name another exit code than 0."""
    expected = re.search(r"# exit code (\d+)", command)
    program, *arguments = shlex.split(command, comments=True)
    assert program == "sfumato"
    with pytest.raises(SystemExit) as left:
        run(arguments)
    out, err = capsys.readouterr()
    assert (left.value.code or 0) == int(expected[1] if expected else 0), err
    return out + err


def test_the_tutorial(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    printed, kinds = "", []
    for language, text in blocks():
        kinds.append(language)
        if language == "python":
            exec(compile(text, PAGE.name, "exec"), names)  # noqa: S102
        elif language == "toml":
            assert Path(POLICY).exists(), "init drafts the policy before it is edited"
            Path(POLICY).write_text(text, encoding="utf-8")
        elif language == "sh":
            printed = "".join(typed(command, capsys) for command in text.splitlines())
            assert printed
        else:
            assert language == "text"
            found = iter([shape(line) for line in printed.splitlines()])
            for line in text.splitlines():
                # Looking in an iterator uses up what lies before: the lines must stand in this order.
                assert line == "…" or shape(line) in found, f"not printed, or not in this order: {line}"
    assert {"python", "toml", "sh", "text"} <= set(kinds)


def test_the_shape_of_a_line_sees_words_and_not_numbers() -> None:
    assert shape("│ Female │  2,923 │ -4.27 │") == shape("│ Female │ 11 │   7 │")
    assert shape("│ Female │  2,923 │") != shape("│ Male │  2,923 │")
    assert shape("left epsilon 2.9, delta 5e-07.") == shape("left epsilon 1, delta 1e-06.")
