"""The reference page of the learners: it runs, and leaves no learner, parameter or refusal out."""

import inspect
from pathlib import Path

import pytest

import sfumato as sf
from sfumato.learn.bins import FEW_ROWS, MOST_SINGLE
from sfumato.learn.files.file import MOST_MEGABYTES
from sfumato.learn.linear.linear import MOST_COEFFICIENTS, PRODUCTS, SQUARE, WITH_TARGET
from sfumato.learn.linear.moments import STEPS
from sfumato.learn.trees.forest import MOST_TREES
from sfumato.learn.trees.growing import ENOUGH_TO_SORT, MOST_DEPTH, USUAL_DEPTH
from tests.learn.people import LEARNERS, OF_NUMBERS
from tests.learn.test_pipelines import MAY_FAIL
from tests.pages import missing, play, text

PAGE = "reference/learn.md"
MANY = {12: "twelve", 13: "thirteen", 14: "fourteen", 15: "fifteen"}


def test_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    names = play(PAGE, capsys).names
    assert sf.learn.load("tree.json").to_json() == names["model"].to_json()
    names["session"].close()


def test_the_page_names_everything() -> None:
    assert missing(PAGE, [f"`{name}`" for name in sf.learn.__all__ if name not in ("load", "Schedule")]) == []
    for kind in (*LEARNERS, *OF_NUMBERS):
        assert missing(PAGE, [f"`{name}`" for name in inspect.signature(kind).parameters]) == []


def test_the_numbers_of_the_page() -> None:
    page = " ".join(text(PAGE).split())
    for said in (
        f"{MANY[len(MAY_FAIL)]} checks may fail",
        f"an Int with at most {MOST_SINGLE} values",
        f"where fewer than {FEW_ROWS:,} rows are expected",
        f"of {ENOUGH_TO_SORT:,} or more",
        f"2 to {MOST_TREES}",
        f"at most {MOST_DEPTH}",
        f"{USUAL_DEPTH} if that is not known",
        f"more than {MOST_MEGABYTES} MB",
        f"in steps of 1/{STEPS}",
        f"more than {MOST_COEFFICIENTS} coefficients",
        f"gives {100 * PRODUCTS} % to pairs of columns, {100 * WITH_TARGET} % to columns with the target, "
        f"{100 * SQUARE} % to the target with itself",
    ):
        assert said in page, said
