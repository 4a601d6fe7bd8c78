"""What Markdown of a lab has beyond pandoc's: numbered equations, tables and figures, and references to them."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sfumato.labs.build.edition import TEACHERS, Edition
from sfumato.labs.build.wordings import unknown_label
from sfumato.labs.filling import SPECIAL
from sfumato.labs.prose import Block, Part, Place, Text
from sfumato.labs.words import text

EQUATION = re.compile(r"\$\$(?P<formula>.+?)\$\$(?:[ \t]*\{#(?P<label>eq:[\w-]+)\})?", re.DOTALL)
CAPTION = re.compile(r"^(?:Table)?:[ \t]+(?P<words>.+?)(?:[ \t]*\{#(?P<label>tbl:[\w-]+)\})?[ \t]*$", re.MULTILINE)
REFERENCE = re.compile(r"@((?:eq|tbl|fig):[\w-]+)")


@dataclass(frozen=True, slots=True)
class Labels:
    """Which number an equation, a table or a figure has.

    Claim: what a student sees has the same number in the teacher's edition: what only teachers see is counted apart.
    """

    equations: Mapping[str, str]
    tables: Mapping[str, str]  # by label, or by its words where it has none
    figures: Mapping[str, str]  # by the id of the cell

    def reference(self, label: str) -> str:
        kind, _, name = label.partition(":")
        numbers = {"eq": self.equations, "tbl": self.tables, "fig": self.figures}[kind]
        key = name if kind == "fig" else label
        if key not in numbers:
            raise unknown_label(label, [*self.equations, *self.tables, *(f"fig:{each}" for each in self.figures)])
        return f"({numbers[key]})" if kind == "eq" else numbers[key]


def labels(edition: Edition) -> Labels:
    """Numbers in the order of reading; those in blocks for teachers are T1, T2, …"""
    equations: dict[str, str] = {}
    tables: dict[str, str] = {}
    figures: dict[str, str] = {}
    pictures = {cell.id for cell in edition.lab.cells if cell.role == "figure"}
    for part, hidden in _seen(edition.prose.parts, hidden=False):
        if isinstance(part, Place) and part.cell in pictures:
            figures[part.cell] = _next(figures, hidden)
        elif isinstance(part, Text):
            for match in EQUATION.finditer(part.markdown):
                if match["label"]:
                    equations[match["label"]] = _next(equations, hidden)
            for match in CAPTION.finditer(part.markdown):
                tables[match["label"] or match["words"]] = _next(tables, hidden)
    return Labels(equations, tables, figures)


@dataclass(frozen=True, slots=True)
class Markup:
    """How one kind of file writes what pandoc does not know."""

    equation: Callable[[str, str], str]  # formula and number -> Markdown
    caption: Callable[[str], str]  # words with number -> the line at a table


def rendered(markdown: str, edition: Edition, numbers: Labels, markup: Markup) -> str:
    """Markdown of a part, with placeholders filled and numbers in place."""

    def equation(match: re.Match[str]) -> str:
        label = match["label"]
        formula = match["formula"].strip()
        return markup.equation(formula, numbers.equations[label]) if label else f"$$ {formula} $$"

    def caption(match: re.Match[str]) -> str:
        number = numbers.tables[match["label"] or match["words"]]
        return markup.caption(text("build.table", edition.lang, number=number, words=match["words"]))

    outside = EQUATION.sub(equation, CAPTION.sub(caption, markdown))
    return edition.filling.prose(_references(outside, numbers))


def _references(markdown: str, numbers: Labels) -> str:
    """References become numbers, except in code, where an @ is a decorator."""
    pieces, end = [], 0
    for match in SPECIAL.finditer(markdown):
        if match["verbatim"]:
            pieces += [_numbered(markdown[end : match.start()], numbers), match[0]]
            end = match.end()
    return "".join([*pieces, _numbered(markdown[end:], numbers)])


def _numbered(markdown: str, numbers: Labels) -> str:
    return REFERENCE.sub(lambda match: numbers.reference(match[1]), markdown)


def _seen(parts: Sequence[Part], *, hidden: bool) -> Iterator[tuple[Part, bool]]:
    for part in parts:
        yield part, hidden
        if isinstance(part, Block):
            yield from _seen(part.parts, hidden=hidden or part.kind in TEACHERS)


def _next(given: Mapping[str, str], hidden: bool) -> str:
    mark = "T" if hidden else ""
    return mark + str(1 + sum(number.startswith("T") == hidden for number in given.values()))
