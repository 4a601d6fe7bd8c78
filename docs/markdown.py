"""What the generated pages are made of."""

import re
from collections.abc import Iterable

MADE = "<!-- Written by `python -m docs.generate`. Change the code, then run it again. -->"


def table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join("| " + " | ".join(re.sub(r"(?<!\\)\|", r"\\|", cell) for cell in line) + " |" for line in lines)


def inline(text: str | None) -> str:
    return " ".join((text or "").split())


def joined(parts: list[str]) -> str:
    return "\n\n".join(part for part in parts if part) + "\n"


def anchors(headings: Iterable[str]) -> list[str]:
    """What links to the headings of a page end with, as GitHub makes them: those alike are numbered."""
    found: list[str] = []
    for heading in headings:
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading.strip().lower())
        place = re.sub(r"[^\w -]", "", plain).replace(" ", "-")
        alike = sum(re.fullmatch(rf"{re.escape(place)}(-\d+)?", one) is not None for one in found)
        found.append(f"{place}-{alike}" if alike else place)
    return found


def headings(text: str) -> list[str]:
    """The headings of a page, code left out."""
    return re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL), re.MULTILINE)


def between(text: str, begin: str, made: str, end: str) -> str:
    """The text with something else between two marks."""
    before, found, rest = text.partition(begin)
    _, closed, after = rest.partition(end)
    if not found or not closed:
        raise ValueError(f"there is no {begin} … {end}")
    return before + begin + made + end + after
