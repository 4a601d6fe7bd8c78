"""The prose of a lab in one language: front matter, and a tree of text, places of cells and marked blocks."""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sfumato.labs.wordings import source_wrong

FENCE = "+++"
# What a block may be: whom it is for, or what it asks.
KINDS = ("predict", "exercise", "question", "answer", "teacher", "document", "notebook")
HEADING = re.compile(r"^(#{1,6})\s+(.*?)\s*(?:\{#([\w:-]+)\})?\s*$")
CELL = re.compile(r"^<!--\s*cell:\s*([\w-]+)\s*-->\s*$")
OPENS = re.compile(r"^:{3,}\s*\{(.*)\}\s*$")
CLOSES = re.compile(r"^:{3,}\s*$")
CODE_FENCE = re.compile(r"^\s*(`{3,}|~{3,})")
ATTRIBUTE = re.compile(r"""([\w-]+)=(?:"([^"]*)"|(\S+))""")


@dataclass(frozen=True, slots=True)
class Text:
    """Markdown between two marks."""

    markdown: str


@dataclass(frozen=True, slots=True)
class Heading:
    level: int
    title: str
    id: str


@dataclass(frozen=True, slots=True)
class Place:
    """Where a cell of cells.py stands."""

    cell: str


@dataclass(frozen=True, slots=True)
class Block:
    """::: {.exercise #e1 points=1} … :::"""

    kind: str
    id: str
    attributes: Mapping[str, str]
    parts: "tuple[Part, ...]"


Part = Text | Heading | Place | Block


@dataclass(frozen=True, slots=True)
class Prose:
    """One language of a lab."""

    lang: str
    title: str
    front: Mapping[str, Any]  # all of the front matter
    parts: tuple[Part, ...]

    @property
    def code(self) -> Mapping[str, str]:
        """Words that stand in cells: {{s.key}}."""
        return self._table("code")

    @property
    def captions(self) -> Mapping[str, str]:
        return self._table("captions")

    @property
    def hints(self) -> Mapping[str, Sequence[str]]:
        return self._table("hints")

    @property
    def messages(self) -> Mapping[str, str]:
        """Words of this lab's own verdicts, with {named} values."""
        return self._table("messages")

    def _table(self, name: str) -> Mapping[str, Any]:
        table: Mapping[str, Any] = self.front.get(name, {})
        return table


def read_prose(source: str, lang: str, where: str) -> Prose:
    """A file of prose; `where` names it in what is said about mistakes."""
    lines = source.splitlines()
    if not lines or lines[0].strip() != FENCE or FENCE not in (line.strip() for line in lines[1:]):
        raise source_wrong(where, f"the file must begin with front matter between two lines of {FENCE}")
    end = next(place for place, line in enumerate(lines[1:], start=1) if line.strip() == FENCE)
    try:
        front = tomllib.loads("\n".join(lines[1:end]))
    except tomllib.TOMLDecodeError as error:
        raise source_wrong(where, f"the front matter is not TOML: {error}") from None
    if not isinstance(front.get("title"), str):
        raise source_wrong(where, "the front matter has no title")
    parts = _parts(list(enumerate(lines[end + 1 :], start=end + 2)), where)
    return Prose(lang, front["title"], front, parts)


def walk(parts: Sequence[Part]) -> Iterator[Part]:
    """All parts in the order of reading, blocks before what stands in them."""
    for part in parts:
        yield part
        if isinstance(part, Block):
            yield from walk(part.parts)


def _parts(lines: list[tuple[int, str]], where: str) -> tuple[Part, ...]:
    """A stack of open blocks; each collects its parts until it is closed."""
    open_blocks: list[tuple[int, tuple[str, str, dict[str, str]]]] = []
    collected: list[list[Part]] = [[]]
    waiting: list[str] = []
    fence = ""

    def settle() -> None:
        markdown = "\n".join(waiting).strip("\n")
        waiting.clear()
        if markdown.strip():
            collected[-1].append(Text(markdown))

    for place, line in lines:
        if mark := CODE_FENCE.match(line):
            fence = "" if fence and mark[1].startswith(fence) else fence or mark[1]
        if fence or CODE_FENCE.match(line):
            waiting.append(line)
        elif match := CELL.match(line):
            settle()
            collected[-1].append(Place(match[1]))
        elif match := HEADING.match(line):
            settle()
            collected[-1].append(Heading(len(match[1]), match[2], match[3] or ""))
        elif match := OPENS.match(line):
            settle()
            open_blocks.append((place, _attributes(match[1], f"{where}, line {place}")))
            collected.append([])
        elif CLOSES.match(line):
            settle()
            if not open_blocks:
                raise source_wrong(f"{where}, line {place}", "::: closes a block that nothing opened")
            _, (kind, id_, attributes) = open_blocks.pop()
            inside = tuple(collected.pop())
            collected[-1].append(Block(kind, id_, attributes, inside))
        else:
            waiting.append(line)
    settle()
    if open_blocks:
        raise source_wrong(f"{where}, line {open_blocks[-1][0]}", "this block is never closed by :::")
    return tuple(collected[0])


def _attributes(written: str, where: str) -> tuple[str, str, dict[str, str]]:
    attributes = {name: quoted or plain for name, quoted, plain in ATTRIBUTE.findall(written)}
    words = ATTRIBUTE.sub("", written).split()
    kinds = [word[1:] for word in words if word.startswith(".")]
    ids = [word[1:] for word in words if word.startswith("#")]
    if len(kinds) != 1 or kinds[0] not in KINDS or len(ids) > 1 or len(kinds) + len(ids) != len(words):
        raise source_wrong(where, f"a block is opened as ::: {{.kind #id}}, where kind is one of {', '.join(KINDS)}")
    return kinds[0], ids[0] if ids else "", attributes
