"""The tutorials run as printed: every block, in order, in an empty folder; what is printed has the shape shown."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.pages import every_block, play, shape, text

FIRST, OWNERS, ANALYSTS, HOSPITAL, ATTACKED, MODEL = (
    f"tutorial/{name}.md"
    for name in ("first-question", "owners", "analysts", "hospital", "attacked", "a-private-model")
)


@pytest.fixture(autouse=True)
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_the_first_question(capsys: pytest.CaptureFixture[str]) -> None:
    play(FIRST, capsys)
    assert {"python", "toml", "sh", "text"} <= {language for language, _ in every_block(FIRST)}


def test_owners(capsys: pytest.CaptureFixture[str]) -> None:
    printed = play(OWNERS, capsys).printed
    # Nothing of these depends on noise.
    for exact in (
        "Groups:   discovered; a key that 75 units",
        "6 entries, all sound.",
        "The limit is now epsilon 2.5",
    ):
        assert exact in text(OWNERS)
        assert exact in printed


def test_analysts(capsys: pytest.CaptureFixture[str]) -> None:
    def counted(block: str, names: dict[str, Any]) -> None:
        """The sentence about questions that are left is exact: nothing in it depends on noise."""
        if "questions_left" in block:
            assert f"# {names['session'].questions_left(spend=0.5)}:" in block

    names = play(ANALYSTS, capsys, counted).names
    assert 95 < names["session"].explain(names["old"], spend=names["spend"]).expected_error["visits"] <= 100
    assert f"Spend {names['spend']} for" in text(ANALYSTS)
    assert names["again"].cached is True
    assert names["again"].rows[0]["n"] == names["built"].rows[0]["visits"]
    for page in ("ages.html", "sexes.html"):
        assert "<figure>" in Path(page).read_text(encoding="utf-8")


def test_a_hospital_with_two_tables(capsys: pytest.CaptureFixture[str]) -> None:
    played = play(HOSPITAL, capsys, policy="hospital.toml")
    names = played.names
    assert names["by_row"].cached
    assert names["by_person"].cached
    by_row, by_person = names["widths"]
    assert 3 < min(by_row) / max(by_person) < 8, "about five times narrower"
    assert "max_rows is 61, and the owner allows 60" in played.printed


def test_a_private_model(capsys: pytest.CaptureFixture[str]) -> None:
    played = play(MODEL, capsys, policy="letters.toml")
    names = played.names
    model, found = names["model"], names["found"]
    assert names["again"].to_json() == names["loaded"].to_json() == model.to_json()
    assert Path("shell.json").read_text() == model.to_json(), "the model of step 4"
    assert names["shares"].shape == (3, 2)
    truth = names["letters"]
    assert model.score(truth, truth["answered"].to_pylist()) > 0.68
    assert 0.6 < found.accuracy < 0.85
    assert names["scored"] == model.predict(names["customers"]).tolist()
    no = names["line"].coefficients_[0]
    ages, told = truth["age"].to_numpy(), np.array(truth["answered"].to_pylist())
    assert no.low < 0
    assert no.low - 3 < ages[told == "no"].mean() - ages[told == "yes"].mean() < no.high + 3
    assert set(names["near"].tolist()) == {0, 1, 2}
    for page in ("letters.html", "tree.html"):
        assert Path(page).read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert "the table has" in played.printed
    names["session"].close()


def test_attacked(capsys: pytest.CaptureFixture[str]) -> None:
    names = play(ATTACKED, capsys).names
    both, attack = names["both"], names["attack"]
    assert both.measures["first_alone"] == both.measures["second_alone"] == 0
    assert 0.14 < both.success < 0.2
    assert attack.success <= attack.bound


def test_the_shape_of_a_line_sees_words_and_not_numbers() -> None:
    assert shape("│ Female │  2,923 │ -4.27 │") == shape("│ Female │ 11 │   7 │")
    assert shape("│ Female │  2,923 │") != shape("│ Male │  2,923 │")
    assert shape("left epsilon 2.9, delta 5e-07.") == shape("left epsilon 1, delta 1e-06.")
