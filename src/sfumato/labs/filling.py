"""Placeholders: {{v.eps}}, {{s.key}}, {{n.key}}, {{file.key}}, {{g.term}} become what they stand for."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sfumato.labs.source import Lab
from sfumato.labs.variant import Variant
from sfumato.labs.wordings import unknown_placeholder
from sfumato.labs.words import Style, glossary, number

PLACEHOLDER = re.compile(r"\{\{\s*((?:v|s|n|file|g)\.[\w-]+)\s*\}\}")
# Code and formulas within Markdown, where numbers are written in another way.
VERBATIM = r"^ *(?P<fence>`{3,}|~{3,}).*?^ *(?P=fence)`*~*|(?P<ticks>`+)(?!`).+?(?<!`)(?P=ticks)(?!`)"
FORMULA = r"\$\$.+?\$\$|(?<![\\$])\$(?![\s$])(?:[^$\\]|\\.)*?(?<![\s\\])\$(?!\d)"
SPECIAL = re.compile(f"(?P<verbatim>{VERBATIM})|(?P<formula>{FORMULA})", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Filling:
    """What placeholders stand for, in one lab, variant and language."""

    lab: Lab
    variant: Variant
    lang: str

    @cached_property
    def values(self) -> Mapping[str, tuple[Any, int | None]]:
        """name -> value, and how many digits stand behind its decimal mark."""
        module = self.lab.module("numbers")
        computed = {
            key: value if isinstance(value, tuple) else (value, None)
            for key, value in module.numbers(self.variant).items()
        }
        return {
            **{f"v.{key}": (value, None) for key, value in self.variant.row.items()},
            **{f"n.{key}": value for key, value in computed.items()},
            **{f"s.{key}": (value, None) for key, value in self.lab.words(self.lang).code.items()},
            **{f"file.{key}": (name, None) for key, name in module.files(self.variant).items()},
            **{f"g.{key}": (term, None) for key, term in glossary(self.lang).items()},
        }

    def code(self, source: str) -> str:
        """A cell: values as Python writes them, texts as they are, further lines of a text indented like its first."""
        return "\n".join(self._line(line) for line in source.split("\n"))

    def prose(self, markdown: str) -> str:
        """Markdown: numbers as the language writes them, in formulas as LaTeX does, in code as Python does."""
        pieces, end = [], 0
        for match in SPECIAL.finditer(markdown):
            style: Style = "code" if match["verbatim"] else "math"
            pieces += [self._in(markdown[end : match.start()], "text"), self._in(match[0], style)]
            end = match.end()
        return "".join([*pieces, self._in(markdown[end:], "text")])

    def _line(self, line: str) -> str:
        indent = line[: len(line) - len(line.lstrip())]
        further = "\n" + indent + ("# " if line.lstrip().startswith("#") else "")
        return self._replaced(line, lambda name: self._value(name, "code", line).replace("\n", further))

    def _in(self, piece: str, style: Style) -> str:
        return self._replaced(piece, lambda name: self._value(name, style, piece))

    def _replaced(self, piece: str, value: Callable[[str], str]) -> str:
        return PLACEHOLDER.sub(lambda match: value(match[1]), piece)

    def _value(self, name: str, style: Style, where: str) -> str:
        if name not in self.values:
            raise unknown_placeholder(name, f"{self.lab.slug}, {self.lang}: {where.strip()[:60]}", self.values)
        value, digits = self.values[name]
        if isinstance(value, str):
            return self._in(value, style)  # words of a cell may speak of a constant
        return number(value, self.lang, digits=digits, style=style)
