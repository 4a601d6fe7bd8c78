"""The languages of every lab say the same; and each way to differ is noticed."""

import shutil
from pathlib import Path

import pytest

from sfumato.labs.formulas import complaints, formulas, shared_form, spelling, stray_dollar
from sfumato.labs.numerals import numerals
from sfumato.labs.parity import differences
from sfumato.labs.prose import read_prose
from sfumato.labs.sections import sections
from sfumato.labs.source import read
from tests.labs.editions import SAMPLE, every_lab


@pytest.mark.parametrize("lab", every_lab(), ids=lambda lab: lab.slug)
def test_all_languages_of_a_lab_agree(lab) -> None:
    assert differences(lab) == ()


# what is changed in one language -> what is said of it
CHANGES = {
    "cell missing": ("<!-- cell: key -->\n", "", "the cell key stands in 0 places"),
    "cell twice": ("<!-- cell: key -->", "<!-- cell: key -->\n\n<!-- cell: key -->", "stands in 2 places"),
    "cells in another order": (
        "<!-- cell: setup -->\n\n<!-- cell: fig_law -->",
        "<!-- cell: fig_law -->\n\n<!-- cell: setup -->",
        "cells differ: setup against fig_law",
    ),
    "unknown cell": ("<!-- cell: key -->", "<!-- cell: key -->\n\n<!-- cell: other -->", "there is no cell other"),
    "task without heading": ("{#t2}", "{#t3}", "the task t2 has no heading"),
    "heading of another level": ("### Задание 2.", "#### Задание 2.", "headings differ"),
    "exercise missing": ("::: {.exercise #e2 points=3}", "::: {.question #e2}", "blocks differ"),
    "points": ("#e2 points=3", "#e2 points=2", "blocks differ: .exercise #e2 points=3"),
    "displayed formula": ("E \\left|Z\\right| = b", "E \\left|Z\\right| = 2b", "displayed formulas differ"),
    "formula in a line": ("$e^{-t/b}$", "$e^{-t}$", "formulas in theory: e^{-t/b} only in the first"),
    "label": ("{#eq:ratio}", "{#eq:share}", "labels in exercises differ"),
    "table": ("| низкий | $0{,}1$ |\n", "", "tables in theory differ: 4 rows"),
    "placeholder": ("{{n.rows}}", "40", "placeholders in goal: n.rows only in the first"),
    "key of the front matter": ('far_off = "Ваше', 'far = "Ваше', "front matter.messages"),
    "named value": ("{factor}", "{times}", "values in front matter.messages.far_off: factor only"),
    "two hints": ('"Каков масштаб?", ', "", "the task t2 needs 3 hints"),
    "caption": ('fig_noise = "Ответы с шумом"', "", "the caption fig_noise is missing"),
    "paragraph not translated": (
        "Докажите, что механизм приватен.",
        "Prove that the mechanism is private.",
        'not translated: "Prove that',
    ),
    "hint not translated": ("Возьмите его среднее.", "Take the mean of it.", 'not translated: "Take the'),
    "heading not translated": ("Контрольные вопросы", "Questions of control and more", "not translated"),
    "number": ("0,25 часа", "0,52 часа", "numbers in goal: 0.25 only in the first"),
    "number of a hint": ("Разделите на eps.", "Разделите на 20.", "numbers in front matter.hints.t2.1: 20 only"),
    "stray dollar": ("бюджет.", "бюджет $ 5.", "belongs to no formula"),
    "formula that Word misdraws": ("$t$", "$\\bar t$", "write \\overline"),
    "no answer": (
        "::: {.answer}\nОтвет на первый вопрос: бюджет.\n:::\n",
        "Ответ на первый вопрос: бюджет.\n",
        "blocks differ: .question #q1 (.answer)",
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_language_that_differs_is_noticed(change: str, tmp_path: Path) -> None:
    before, after, said = CHANGES[change]
    folder = _changed(tmp_path, "ru.md", before, after)
    assert any(said in each for each in differences(read(folder))), differences(read(folder))


@pytest.mark.parametrize(
    ("file", "before", "after", "said"),
    [
        ("en.md", "Prove that the", "Докажите, что", "en.md: not translated"),
        ("cells.py", "points=6", "points=5", "the points of the tasks are 9, and lab.toml says 10"),
        ("lab.toml", "exercises = 5", "exercises = 6", "the points of the exercises are 5, and lab.toml says 6"),
    ],
)
def test_a_file_that_differs_is_noticed(file: str, before: str, after: str, said: str, tmp_path: Path) -> None:
    assert any(said in each for each in differences(read(_changed(tmp_path, file, before, after))))


def test_a_missing_language_and_one_that_is_not_translated_are_noticed(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(SAMPLE, tmp_path / SAMPLE.name))
    (folder / "vi.md").write_text((folder / "en.md").read_text(encoding="utf-8"), encoding="utf-8")
    (folder / "zh.md").unlink()
    found = differences(read(folder))
    assert "zh.md is missing" in found
    assert any(each.startswith("vi.md: not translated") for each in found)


def _changed(place: Path, file: str, before: str, after: str) -> Path:
    folder = Path(shutil.copytree(SAMPLE, place / SAMPLE.name))
    source = (folder / file).read_text(encoding="utf-8")
    assert source.count(before) >= 1, before
    (folder / file).write_text(source.replace(before, after, 1), encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("formula", "right"),
    [
        (r"\left| z \right|", True),
        (r"\left\lVert x \right\rVert_1", True),
        (r"P(A \mid B)", True),
        (r"\begin{cases} 1 & x > 0 \\ 0 & x \leq 0 \end{cases}", True),
        (r"\text{if |x| isn't}", True),
        (r"|z|", False),
        (r"\lvert z \rvert", False),
        (r"\lVert x \rVert", False),
        (r"f'(x)", False),
        (r"\bar x", False),
        (r"\underbrace{x}", False),
        (r"\begin{aligned} a \end{aligned}", False),
        (r"x \tag{1}", False),
        (r"\left( 2b \right)^k + f(x)", True),
        (r"(2b)^k", False),
    ],
)
def test_formulas_that_word_and_libreoffice_draw_alike(formula: str, right: bool) -> None:
    assert (not list(complaints(formula))) == right


def test_formulas_are_found_outside_of_code() -> None:
    markdown = "a $x$ `$y$` \\$5 and $$ z $$\n\n```\n$w$\n```\n"
    assert list(formulas(markdown)) == [("x", False), ("z", True)]
    assert stray_dollar(markdown) == ""
    assert "5 each" in stray_dollar("costs $ 5 each")


def test_a_formula_has_one_form_in_all_languages_and_one_spelling() -> None:
    assert shared_form(r"b = 0{,}5 \text{ метров}") == shared_form(r"b = 0.5\text{ metres}")
    assert shared_form("a + b") != shared_form("a - b")
    assert spelling(r"\sum_{s}^{}D_{1} \lbrack 0{,}5\rbrack") == spelling(r"\sum_s D_1 [0,5]")
    assert spelling("x^{2}") != spelling("x^{3}")


@pytest.mark.parametrize(
    ("lang", "written"),
    [
        ("en", "12,500 people of 13,000,000, 0.250 and 1.5·10⁻²⁰, `f(1.5, 200)`"),
        ("ru", "12\u00a0500 человек из 13\u00a0000\u00a0000, 0,25 и 1,5·10⁻²⁰, `f(1.5, 200)`"),
        ("vi", "12.500 người trên 13.000.000; 0,25 và 1,5·10⁻²⁰, `f(1.5, 200)`"),
        ("zh", "13,000,000 人中的 12,500 人，0.25 和 1.5·10⁻²⁰，`f(1.5, 200)`"),
    ],
)
def test_a_number_is_read_as_its_language_writes_it(lang: str, written: str) -> None:
    assert numerals(written, lang) == {"12500", "13000000", "0.25", "1.5", "20", "200"}
    assert numerals("alg3 {{v.n20}} @eq:e20 {#t20} $20$ 2", lang) == set()


def test_headings_without_an_id_are_counted_so_that_languages_share_their_names() -> None:
    prose = read_prose('+++\ntitle = "T"\n+++\n## A {#a}\n\n### x\n\none\n\n### y\n\ntwo\n\n## B {#b}\n', "en", "en.md")
    assert list(sections(prose)) == ["", "a", "a.1", "a.2", "b"]
