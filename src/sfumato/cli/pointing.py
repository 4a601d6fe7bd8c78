"""The line of a question that a refusal is about, with marks below the words."""

import unicodedata

from sfumato.visible import visible

LONGEST = 100  # columns of a line; of a longer one is shown what stands around the place
BEFORE = 30
MORE = "…"


def pointed(question: str, at: tuple[int, int]) -> str:
    """The line in which the place begins, as people see it, and a line of marks below it."""
    start, end = at
    begin = question.rfind("\n", 0, start) + 1
    line = question[begin:].split("\n", 1)[0]
    parts = line[: start - begin], line[start - begin : end - begin], line[end - begin :]
    before, marked, after = _short(*(visible(part) for part in parts))
    return f"  {before}{marked}{after}\n  {' ' * _columns(before)}{'^' * max(1, _columns(marked))}"


def _short(before: str, marked: str, after: str) -> tuple[str, str, str]:
    if _columns(before + marked + after) <= LONGEST:
        return before, marked, after
    shown = marked[: LONGEST - BEFORE]
    rest = after[: LONGEST - BEFORE - len(shown)]
    more = MORE if len(shown + rest) < len(marked + after) else ""
    return (before if len(before) <= BEFORE else MORE + before[-BEFORE:]), shown, rest + more


def _columns(text: str) -> int:
    """How wide a terminal shows it: signs of East Asia take two columns, marks above others none."""
    return sum(0 if unicodedata.combining(sign) else 1 + (unicodedata.east_asian_width(sign) in "WF") for sign in text)
