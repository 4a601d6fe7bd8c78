"""The tutorial on attacks runs as printed, and its sentences about numbers are true."""

import re
from pathlib import Path

import pytest

from tests.docs.test_tutorial import shape, typed

PAGE = Path(__file__).parents[2] / "docs" / "tutorial" / "attacked.md"


def test_the_tutorial_on_attacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    printed = ""
    text = PAGE.read_text(encoding="utf-8")
    for language, block in re.findall(r"^```(\w+)\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL):
        if language == "python":
            exec(compile(block, PAGE.name, "exec"), names)  # noqa: S102
        elif language == "sh":
            printed = "".join(typed(command, capsys) for command in block.splitlines())
        else:
            found = iter([shape(line) for line in printed.splitlines()])
            for line in block.splitlines():
                assert line == "…" or shape(line) in found, f"not printed, or not in this order: {line}"
    both, attack = names["both"], names["attack"]
    assert both.measures["first_alone"] == both.measures["second_alone"] == 0
    assert 0.14 < both.success < 0.2
    assert attack.success <= attack.bound
