"""The tutorial for owners runs as printed, and its sentences about numbers are true."""

import re
from pathlib import Path

import pytest

from tests.docs.test_tutorial import shape, typed

PAGE = Path(__file__).parents[2] / "docs" / "tutorial" / "owners.md"


def test_the_tutorial_for_owners(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    printed, everything = "", ""
    text = PAGE.read_text(encoding="utf-8")
    for language, block in re.findall(r"^```(\w+)\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL):
        if language == "python":
            exec(compile(block, PAGE.name, "exec"), names)  # noqa: S102
        elif language == "toml":
            assert Path("visits.toml").exists(), "init drafts the policy before it is edited"
            Path("visits.toml").write_text(block, encoding="utf-8")
        elif language == "sh":
            printed = "".join(typed(command, capsys) for command in block.splitlines())
            assert printed
            everything += printed
        else:
            assert language == "text"
            found = iter([shape(line) for line in printed.splitlines()])
            for line in block.splitlines():
                assert line == "…" or shape(line) in found, f"not printed, or not in this order: {line}"
    # Nothing of these depends on noise.
    for exact in (
        "Groups:   discovered; a key that 75 units",
        "6 entries, all sound.",
        "The limit is now epsilon 2.5",
    ):
        assert exact in text
        assert exact in everything
