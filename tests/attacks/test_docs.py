"""The pages about attacks: their Python runs, and they name every attack."""

import pytest

import sfumato as sf
from sfumato.attacks.shows import SHOWS
from tests.pages import blocks, missing, text, written

PAGE = "reference/attacks.md"


def test_the_examples_run(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, object] = {}
    for block in blocks(PAGE, "python"):
        written(block, PAGE, names)
    out = capsys.readouterr().out.splitlines()
    assert out[0].startswith("linking: success 78.8%")
    assert out[0].endswith("in 3,000 attempts; chance 0.0008; nothing was promised")
    assert out[1].startswith("skewness: success")
    assert [line.rsplit(" ", 1)[1] for line in out[2:]] == ["True", "True", "False"]


def test_every_public_name_is_on_the_page() -> None:
    assert missing(PAGE, sf.attacks.__all__) in ([], ["Demonstration"])


def test_the_explanation_speaks_of_every_attack() -> None:
    page = text("explanation/attacks.md").replace("–", "_").replace(" ", "_").lower()
    assert [name for name in SHOWS if name not in page and not name.startswith("denoise")] == []
    assert "denoising" in page
