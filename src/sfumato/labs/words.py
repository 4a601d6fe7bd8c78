"""Text of a key in a language, and numbers as that language writes them."""

import math
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from numbers import Integral, Real
from pathlib import Path
from typing import Any, Literal

from sfumato.labs.languages import language
from sfumato.labs.wordings import no_text, source_wrong, text_lacks_value

CONTENT = Path(__file__).parent / "content"
GROUPED = 10_000  # below it thousands are not set apart
DIGITS = 6  # significant ones, where nobody said how many
SMALL, LARGE = 1e-4, 1e15  # beyond them a power of ten is written
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")

# text: messages and notebooks; math: inside $…$; code: Python
Style = Literal["text", "math", "code"]


def text(key: str, code: str, **values: Any) -> str:
    """The words of a key such as "build.stub", with {named} values put in as the language writes them."""
    known = strings(code)
    if key not in known:
        raise no_text(key, code, known)
    return filled(known[key], code, values, key=key)


def filled(template: str, code: str, values: Mapping[str, Any], *, key: str = "") -> str:
    """A template with {named} values; numbers as the language writes them."""
    shown = {name: value if isinstance(value, str) else number(value, code) for name, value in values.items()}
    try:
        return template.format_map(shown)
    except KeyError as missing:
        raise text_lacks_value(key or template, code, str(missing.args[0])) from None


@cache
def strings(code: str) -> Mapping[str, str]:
    """All texts of a language: "section.key" -> text."""
    path = CONTENT / f"strings.{language(code).code}.toml"
    if not path.is_file():
        raise source_wrong(path.name, "the words of this language are missing")
    tables = tomllib.loads(path.read_text(encoding="utf-8"))
    return {f"{section}.{key}": words for section, keys in tables.items() for key, words in keys.items()}


@cache
def glossary(code: str) -> Mapping[str, str]:
    """Terms of the course by their id."""
    path = CONTENT / "glossary.toml"
    if not path.is_file():
        return {}
    terms = tomllib.loads(path.read_text(encoding="utf-8"))["term"]
    return {term["id"]: term[language(code).code] for term in terms}


def number(value: Any, code: str, *, digits: int | None = None, style: Style = "text") -> str:
    """A number, or several, as the language writes them; other values as they are.

    digits: how many stand behind the decimal mark; six significant ones if left out.
    """
    if isinstance(value, bool | str) or value is None:
        return str(value)
    if isinstance(value, Sequence):
        if style == "code":
            return repr(value)
        # Formulas have their own comma in every language.
        between = language(code).between_numbers if style == "text" or language(code).decimal == "," else ", "
        return between.join(number(each, code, digits=digits, style=style) for each in value)
    if isinstance(value, Integral):
        return _whole(int(value), code, style)
    if not isinstance(value, Real):
        return str(value)
    return _real(float(value), code, digits, style)


def _whole(value: int, code: str, style: Style) -> str:
    if style == "code" or abs(value) < GROUPED:
        return _signed(str(value), style)
    mark = language(code).group
    if style == "math":
        mark = "\\," if mark == "\u00a0" else f"{{{mark}}}"
    return _signed(f"{value:,}".replace(",", mark), style)


def _real(value: float, code: str, digits: int | None, style: Style) -> str:
    if style == "code":
        return repr(value if digits is None else round(value, digits))
    if math.isinf(value) or math.isnan(value):
        return _signed({"inf": "∞", "-inf": "-∞"}.get(str(value), "NaN"), style)
    if value and digits is None and not SMALL <= abs(value) < LARGE:
        return _power(value, code, style)
    plain = f"{value:.{digits}f}" if digits is not None else _short(value)
    whole, _, fraction = plain.partition(".")
    sign, whole = ("-", whole[1:]) if whole.startswith("-") else ("", whole)
    left = _whole(int(whole), code, style)
    if not fraction:
        return _signed(sign + left, style)
    mark = language(code).decimal
    return _signed(sign + left + ("{,}" if style == "math" and mark == "," else mark) + fraction, style)


def _short(value: float) -> str:
    """Six significant digits, never as a power."""
    behind = max(DIGITS - 1 - math.floor(math.log10(abs(value))), 0) if value else 0
    plain = f"{value:.{behind}f}"
    return plain.rstrip("0").rstrip(".") if "." in plain else plain


def _power(value: float, code: str, style: Style) -> str:
    mantissa, _, exponent = f"{value:.{DIGITS - 1}e}".partition("e")
    front = _real(float(mantissa), code, None, style)
    power = str(int(exponent))
    ten = f"10^{{{power}}}" if style == "math" else "10" + power.translate(SUPERSCRIPTS)
    if front == "1":
        return ten
    return front + (r" \cdot " if style == "math" else " · ") + ten


def _signed(plain: str, style: Style) -> str:
    """Outside of code and formulas a minus is a minus and no hyphen."""
    return plain.replace("-", "\u2212") if style == "text" else plain
