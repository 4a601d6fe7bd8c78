"""Texts and numbers in each language."""

import math

import pytest

from sfumato.errors import DataUnreadable, UsageError
from sfumato.labs.languages import COMPLETE, LANGUAGES, language
from sfumato.labs.tongues import foreign
from sfumato.labs.words import filled, glossary, number, strings, text

THIN = "\u00a0"


@pytest.mark.parametrize(
    ("value", "digits", "english", "russian", "formula", "code"),
    [
        (0.5, None, "0.5", "0,5", "0{,}5", "0.5"),
        (1 / 3, 3, "0.333", "0,333", "0{,}333", "0.333"),
        (1 / 3, None, "0.333333", "0,333333", "0{,}333333", repr(1 / 3)),
        (9999, None, "9999", "9999", "9999", "9999"),
        (32561, None, "32,561", f"32{THIN}561", "32\\,561", "32561"),
        (-1234567, None, "−1,234,567", f"−1{THIN}234{THIN}567", "-1\\,234\\,567", "-1234567"),
        (12345.678, 1, "12,345.7", f"12{THIN}345,7", "12\\,345{,}7", "12345.7"),
        (-0.25, None, "−0.25", "−0,25", "-0{,}25", "-0.25"),
        (1e-5, None, "10⁻⁵", "10⁻⁵", "10^{-5}", "1e-05"),
        (2.5e-7, None, "2.5 · 10⁻⁷", "2,5 · 10⁻⁷", "2{,}5 \\cdot 10^{-7}", "2.5e-07"),
        (1e-5, 6, "0.000010", "0,000010", "0{,}000010", "1e-05"),
        (100.0, None, "100", "100", "100", "100.0"),
        (math.inf, None, "∞", "∞", "∞", "inf"),
        ([0.1, 2], None, "0.1, 2", "0,1; 2", "0{,}1; 2", "[0.1, 2]"),
        ("plain", None, "plain", "plain", "plain", "plain"),
        (True, None, "True", "True", "True", "True"),
    ],
)
def test_a_number_is_written_as_its_language_writes_it(value, digits, english, russian, formula, code) -> None:
    assert number(value, "en", digits=digits) == english
    assert number(value, "ru", digits=digits) == russian
    assert number(value, "ru", digits=digits, style="math") == formula
    assert number(value, "ru", digits=digits, style="code") == code


def test_the_other_languages_have_their_marks() -> None:
    assert number(12345.5, "vi") == "12.345,5"
    assert number(12345.5, "zh") == "12,345.5"
    assert number([0.1, 2], "zh") == "0.1、2"
    assert number([0.1, 2], "zh", style="math") == "0.1, 2"
    assert number([0.1, 2], "vi") == "0,1; 2"
    assert number([0.1, 2], "vi", style="math") == "0{,}1; 2"
    assert [language(code).code for code in ("en", "ru", "vi", "zh")] == list(LANGUAGES)


def test_languages_say_the_same_keys_with_the_same_values() -> None:
    first = strings("en")
    for code in COMPLETE:
        other = strings(code)
        assert set(other) == set(first), code
        for key, words in first.items():
            assert _values(words) == _values(other[key]), f"{key} in {code}"
            assert not foreign(code, other[key]), f"{key} in {code} is not translated"


def _values(words: str) -> set[str]:
    """The names in braces."""

    class Names(dict[str, str]):
        def __missing__(self, name: str) -> str:
            self[name] = ""
            return ""

    names = Names()
    words.format_map(names)
    return set(names)


def test_the_glossary_has_every_term_in_four_languages() -> None:
    terms = [glossary(code) for code in LANGUAGES]
    assert all(set(each) == set(terms[0]) for each in terms)
    assert all(word.strip() for each in terms for word in each.values())


def test_a_text_puts_in_its_values() -> None:
    assert text("build.variant", "ru", number="3") == "Вариант 3"
    assert filled("{factor} times", "ru", {"factor": 131.5}) == "131,5 times"


def test_what_is_missing_is_named() -> None:
    with pytest.raises(DataUnreadable, match=r'no text "build.stubb" in en. Did you mean "build.stub"'):
        text("build.stubb", "en")
    with pytest.raises(DataUnreadable, match=r"speaks of \{number\}"):
        text("build.variant", "en")
    with pytest.raises(UsageError, match=r'no language "rus". Did you mean "ru"'):
        number(0.5, "rus")
