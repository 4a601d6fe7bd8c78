"""The tutorial for analysts runs as printed, and its sentences about numbers are true."""

import re
from pathlib import Path

import pytest

from tests.docs.test_tutorial import shape, typed

PAGE = Path(__file__).parents[2] / "docs" / "tutorial" / "analysts.md"


def test_the_tutorial_for_analysts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    printed = ""
    text = PAGE.read_text(encoding="utf-8")
    for language, block in re.findall(r"^```(\w+)\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL):
        if language == "python":
            exec(compile(block, PAGE.name, "exec"), names)  # noqa: S102
            printed = capsys.readouterr().out
            if "questions_left" in block:
                # The sentence about them is exact: nothing in it depends on noise.
                assert f"# {names['session'].questions_left(spend=0.5)}:" in block
        elif language == "toml":
            Path("visits.toml").write_text(block, encoding="utf-8")
        elif language == "sh":
            printed = "".join(typed(command, capsys) for command in block.splitlines())
        else:
            found = iter([shape(line) for line in printed.splitlines()])
            for line in block.splitlines():
                assert line == "…" or shape(line) in found, f"not printed, or not in this order: {line}"
    assert 95 < names["session"].explain(names["old"], spend=names["spend"]).expected_error["visits"] <= 100
    assert f"Spend {names['spend']} for" in text
    assert names["again"].cached is True
    assert names["again"].rows[0]["n"] == names["built"].rows[0]["visits"]
    for page in ("ages.html", "sexes.html"):
        assert "<figure>" in Path(page).read_text(encoding="utf-8")
    assert "session.ask(" in Path("again.py").read_text(encoding="utf-8")
