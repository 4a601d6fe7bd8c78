"""The page for owners runs as printed: nothing on it is random, so what it shows is what comes out, to the letter."""

import re
import tomllib
from pathlib import Path

import pytest

import sfumato as sf
from tests.pages import typed

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "choose-epsilon.md"


def test_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    text = PAGE.read_text(encoding="utf-8")
    names: dict[str, object] = {}
    printed, shown, values = "", 0, 0
    for language, block in re.findall(r"^```(\w+)\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL):
        if language == "sh":
            printed = "".join(typed(command, capsys) for command in block.splitlines())
        elif language == "text":
            shown += 1
            for piece in re.split(r"^…\n", block, flags=re.MULTILINE):
                assert piece in printed
            assert "…" in block or block == printed
        elif language == "python":
            values += run(block, names)
        else:
            assert language == "toml"
            assert sf.Budget(**tomllib.loads(block)["budget"]) == names["limit"]
    assert (shown, values) == (3, 11)


def run(block: str, names: dict[str, object]) -> int:
    """Run a block line by line; a line with a comment has the value that the comment shows. How many there were."""
    checked = 0
    for line in block.splitlines():
        code, _, comment = (part.strip() for part in line.partition("  # "))
        if comment:
            assert f"{eval(code, names)}" == comment, line  # noqa: S307 - the page is ours
            checked += 1
        else:
            exec(code, names)  # noqa: S102
    return checked


def test_a_wrong_value_on_the_page_is_seen() -> None:
    assert run("1 + 1   # 2\nthree = 3\nthree   # 3", {}) == 2
    with pytest.raises(AssertionError):
        run("1 + 1   # 3", {})
