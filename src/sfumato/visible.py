"""Texts as people see them: a sign without a shape of its own is spelt out, `\\x1b` or `\\u202e`.

A value of a table is chosen by whoever adds a row. Shown as it is, it could move the cursor of a terminal, turn round
the numbers beside it, or look like another value. Values themselves stay what they are: this is for the last step, at
which a text is shown, and showing twice is the same as showing once.
"""

import json
import re
from collections.abc import Callable
from typing import Any

# Printable for Python, and yet nothing to see: fillers, a blank, what chooses the variant of the sign before.
SHAPELESS = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
# A spreadsheet takes a text that begins with one of these for a formula, or hands it to another program; those of East
# Asia also where it is wide or small.
OPENS_FORMULA = (*"=+-@|%", *"＝＋－＠｜％", *"﹦﹢﹣﹫﹪")


def visible(text: str) -> str:
    """In one line: every control, format, private or unassigned sign and every blank but the common one, spelt out."""
    return _spelt(text, _as_python)


def visible_lines(text: str) -> str:
    """The same, for a text of ours that has several lines."""
    return "\n".join(visible(line) for line in text.split("\n"))


def visible_json(text: str) -> str:
    """The same JSON, whose reader finds every value as it was; strings hold no line break, so all of them are ours."""
    return "\n".join(_spelt(line, _as_json) for line in text.split("\n"))


def spreadsheet_cell(value: Any) -> Any:
    """What a cell of a CSV file says: a text as people see it, marked where it would be a formula; numbers as such."""
    if not isinstance(value, str):
        return value
    return f"'{visible(value)}" if value.lstrip().startswith(OPENS_FORMULA) else visible(value)


def _spelt(text: str, spell: Callable[[str], str]) -> str:
    if text.isprintable() and SHAPELESS.search(text) is None:
        return text
    return "".join(sign if sign.isprintable() and not SHAPELESS.match(sign) else spell(sign) for sign in text)


def _as_python(sign: str) -> str:
    return sign.encode("unicode_escape").decode("ascii")


def _as_json(sign: str) -> str:
    return json.dumps(sign)[1:-1]
