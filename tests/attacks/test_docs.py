"""The pages about attacks: their Python runs, and they name every attack."""

import re
from pathlib import Path

import pytest

import sfumato as sf
from sfumato.attacks.shows import SHOWS

DOCS = Path(__file__).parents[2] / "docs"


def test_the_examples_run(capsys: pytest.CaptureFixture[str]) -> None:
    page = (DOCS / "reference" / "attacks.md").read_text(encoding="utf-8")
    names: dict[str, object] = {}
    for block in re.findall(r"^```python\n(.*?)^```", page, flags=re.MULTILINE | re.DOTALL):
        exec(compile(block, "attacks.md", "exec"), names)  # noqa: S102
    out = capsys.readouterr().out.splitlines()
    assert out[0].startswith("linking: success 78.8%")
    assert out[0].endswith("in 3,000 attempts; chance 0.0008; nothing was promised")
    assert out[1].startswith("skewness: success")
    assert [line.rsplit(" ", 1)[1] for line in out[2:]] == ["True", "True", "False"]


def test_every_public_name_is_on_the_page() -> None:
    page = (DOCS / "reference" / "attacks.md").read_text(encoding="utf-8")
    assert [name for name in sf.attacks.__all__ if name not in page and name != "Demonstration"] == []


def test_the_explanation_speaks_of_every_attack() -> None:
    page = (DOCS / "explanation" / "attacks.md").read_text(encoding="utf-8").replace("–", "_").replace(" ", "_").lower()
    assert [name for name in SHOWS if name not in page and not name.startswith("denoise")] == []
    assert "denoising" in page
