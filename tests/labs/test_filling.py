"""Placeholders in code, text and formulas."""

import pytest

from sfumato.errors import DataUnreadable
from tests.labs.editions import edition, sample


def test_numbers_follow_the_language_in_text_latex_in_formulas_and_python_in_code() -> None:
    filling = edition(sample(), "ru").filling
    written = "by {{n.scale}}, $b = {{n.scale}}$, `{{n.scale}}`\n\n```\n{{v.levels}}\n```\n\n$$ {{n.rows}} $$"
    assert filling.prose(written) == "by 0,67, $b = 0{,}67$, `0.67`\n\n```\n[0.5, 1.0]\n```\n\n$$ 12\\,000 $$"
    assert edition(sample(), "en").filling.prose("{{n.rows}} and {{v.levels}}") == "12,000 and 0.5, 1"


def test_words_of_a_cell_keep_its_indent_and_its_comment() -> None:
    cell = sample().cell("t2")
    filled = edition(sample(), "en").filling.code(cell.source)
    assert "    # the scale of the noise\n    # for eps = 1.5\n" in filled


def test_what_is_unknown_is_named() -> None:
    with pytest.raises(DataUnreadable, match=r"nothing is known about \{\{v.epsi\}\}. Did you mean \"v.eps\""):
        edition(sample()).filling.prose("{{v.epsi}}")
