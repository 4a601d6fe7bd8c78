"""show of every task in every language: numbers as the language writes them, and a plot that is drawn."""

import re

import matplotlib as mpl
import numpy as np
import pytest

from sfumato.labs.answers import InNotebook
from sfumato.labs.build.edition import Edition
from sfumato.labs.languages import LANGUAGES, language
from sfumato.labs.notebook import pictures
from sfumato.labs.notebook.values import ITEMS, written
from sfumato.labs.selftest import solved
from sfumato.labs.source import load, numbers_of_labs
from sfumato.labs.words import text

mpl.use("Agg")
# What Python or NumPy would print: names of types, powers with an e.
RAW = re.compile(r"array\(|np\.|float64|\bNone\b|\d[eE][-+]?\d")
DIGITS = 6


def raw(words: str, lang: str) -> list[str]:
    """Numbers that are not written as the language does, or with more digits than anybody reads."""
    spoken = language(lang)
    found = RAW.findall(words)
    for one in re.findall(r"\d+(?:[.,]\d+)*", words):
        whole, mark, fraction = one.rpartition(spoken.decimal)
        known = re.fullmatch(rf"\d+|\d{{1,3}}(?:\{spoken.group}\d{{3}})+", whole if mark else one)
        if not known or (mark and len((whole + fraction).replace(spoken.group, "").lstrip("0")) > DIGITS):
            found.append(one)
    return found


def test_a_value_is_written_as_the_language_writes_it() -> None:
    pair = [1 / 3, np.float64(-2e-7)]
    assert written(pair, "en") == "[0.333333, −2 · 10⁻⁷]"
    assert written(pair, "ru") == written(np.array(pair), "ru") == "[0,333333; −2 · 10⁻⁷]"
    assert written((0.5, [1, 2.25]), "vi") == "(0,5; [1; 2,25])"
    assert written({"a": 0.1, "b": np.int64(12345)}, "zh") == "{a: 0.1、b: 12,345}"
    assert written(np.array([[0.5, 1], [2, 3]]), "ru") == "[[0,5; 1]; [2; 3]]"
    assert written(np.zeros(10**8), "en") == "[0, 0, 0, 0, 0, 0, 0, 0, …]"
    assert written(range(10**9), "en") == "[0, 1, 2, 3, 4, 5, 6, 7, …]"
    assert written([0.5] * ITEMS, "en").count("0.5") == ITEMS
    assert written({0.5}, "ru") == "{0,5}"
    assert [written(one, "ru") for one in ("0.5", True, None, np.bool_(1), np.nan)] == [
        "0.5",
        "True",
        "None",
        "True",
        "NaN",
    ]
    itself: list[object] = [0.5]
    itself.append(itself)
    assert written(itself, "ru") == "[0,5; [0,5; [0,5; […; …]]]]"
    assert written("x" * 1000, "en") == "x" * 400 + " …"


def test_what_python_prints_would_be_noticed() -> None:
    for words in ("0.1234567", "[0.12345678]", "array([1])", "np.float64(1)", "1e-07"):
        assert raw(words, "en"), words
    assert raw("0.5", "ru")
    assert raw("0.25", "vi")
    assert raw("12.345,5 и 0,5", "vi") == []


@pytest.mark.labs
@pytest.mark.parametrize("number", numbers_of_labs())
def test_every_task_in_every_language(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    from matplotlib import pyplot

    lab = load(number)
    variant = lab.variant(3)
    answers = InNotebook(*solved(Edition(lab, variant, "en", teacher=True)))
    drawn = list[str]()
    for task in lab.tasks:
        verdict, seen = pictures.looked(lab, task.id, answers, variant)
        assert verdict.passed, task.id
        assert seen, task.id
        with monkeypatch.context() as once:
            for lang in LANGUAGES:
                words = pictures.shown(verdict, seen, lab, variant, lang)
                assert raw(words, lang) == [], (task.id, lang, words)
                assert words.startswith(text("verdict.passed", lang)), (task.id, lang, words)
                assert len(words.splitlines()) == 2, (task.id, lang, words)
                drawn += [task.id] if pyplot.get_fignums() and lang == "en" else []
                pyplot.close("all")
                once.setattr(pictures, "_draw", lambda plots, one: None)  # the plot has no words of a language
    assert bool(drawn) is (number > 0), "the warm-up alone has no draws"


def test_the_course_has_44_tasks() -> None:
    assert sum(len(load(number).tasks) for number in numbers_of_labs()) == 44
