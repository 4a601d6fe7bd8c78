"""A text that was changed in one language marks the others as behind."""

import shutil
from pathlib import Path

import pytest

from sfumato.labs.abreast import FILE, record, stale, stale_strings
from sfumato.labs.source import Lab, load, numbers_of_labs, read
from tests.labs.editions import SAMPLE


@pytest.mark.parametrize("number", numbers_of_labs())
def test_the_languages_of_every_lab_are_abreast(number: int) -> None:
    assert stale(load(number)) == ()


def test_the_words_of_all_labs_are_abreast() -> None:
    assert stale_strings() == ()


def changed(place: Path, *changes: tuple[str, str, str]) -> Lab:
    """The sample, written down as abreast and then changed; read from another folder, since a lab is read once."""
    before = Path(shutil.copytree(SAMPLE, place / "before" / SAMPLE.name))
    record([read(before)], place)
    after = Path(shutil.copytree(before, place / "after" / SAMPLE.name))
    for file, old, new in changes:
        words = (after / file).read_text(encoding="utf-8")
        assert words.count(old) == 1
        (after / file).write_text(words.replace(old, new), encoding="utf-8")
    return read(after)


def test_a_paragraph_that_changed_alone_is_named(tmp_path: Path) -> None:
    lab = changed(tmp_path, ("en.md", "Find the mistake in", "Find and mend the mistake in"))
    assert stale(lab) == ("lab90_sample, exercises.e2: changed in en and not in ru, vi, zh",)


def test_two_languages_that_changed_leave_two_behind(tmp_path: Path) -> None:
    lab = changed(tmp_path, ("en.md", "Take its mean.", "Take the mean."), ("zh.md", "求它的均值。", "请求它的均值。"))
    assert stale(lab) == ("lab90_sample, hints.t1.1: changed in en, zh and not in ru, vi",)


def test_all_changed_waits_for_somebody_to_say_that_they_agree(tmp_path: Path) -> None:
    questions = {"en": "mean?", "ru": "означает", "vi": "nghĩa là gì?", "zh": "含义是什么？"}
    lab = changed(tmp_path, *((f"{lang}.md", words, words + " (?)") for lang, words in questions.items()))
    [said] = stale(lab)
    assert said.startswith("lab90_sample, questions.q1: changed in every language")
    record([lab], tmp_path)
    assert stale(lab) == ()


def test_line_breaks_and_spaces_change_nothing(tmp_path: Path) -> None:
    lab = changed(tmp_path, ("en.md", "Find the mistake in", "Find the\nmistake  in"))
    assert stale(lab) == ()


def test_a_file_that_is_missing_is_named(tmp_path: Path) -> None:
    lab = changed(tmp_path)
    (lab.folder / FILE).unlink()
    assert stale(lab) == ("lab90_sample: abreast.toml is missing: sfumato labs abreast --record",)
