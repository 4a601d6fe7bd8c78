"""Words inside figures are Latin or symbols in every language: they are drawn with the letters that any machine has."""

import ast
import unicodedata
from dataclasses import replace

import pytest

from sfumato.labs.languages import LANGUAGES
from tests.labs.editions import edition, every_lab, sample


def foreign_words(source: str) -> list[str]:
    """Texts in a cell that have a letter which is neither plain Latin nor Greek."""
    texts = [node.value for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant)]
    return [text for text in texts if isinstance(text, str) and any(map(_foreign, text))]


def _foreign(letter: str) -> bool:
    return letter.isalpha() and not letter.isascii() and not unicodedata.name(letter, "").startswith("GREEK ")


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("lab", every_lab(), ids=lambda lab: lab.slug)
def test_words_inside_figures_are_latin_or_symbols(lab, lang: str) -> None:
    figures = [cell for cell in lab.cells if cell.role == "figure"]
    assert figures
    for number in lab.variants:
        made = edition(lab, lang, number, teacher=True)
        assert {cell.id: found for cell in figures if (found := foreign_words(made.code(cell)))} == {}


def test_a_label_in_another_script_is_found() -> None:
    figure = next(cell for cell in sample().cells if cell.role == "figure")
    for word in ("шум", "噪声", "nhiễu"):
        spoilt = replace(figure, source=f'{figure.source}\nplt.ylabel("{word}")')
        assert foreign_words(edition(sample()).code(spoilt)) == [word]
    assert foreign_words('f"{n} ε ≥ 0.5 %"  # шум') == []
