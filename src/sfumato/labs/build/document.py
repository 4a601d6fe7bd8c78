"""A document of a lab as Markdown for pandoc, in the words that each of the three writers understands."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from sfumato.labs.build.edition import Edition
from sfumato.labs.build.executing import Outputs
from sfumato.labs.build.markup import Labels, labels, rendered
from sfumato.labs.build.notebook import NO_PARAGRAPH
from sfumato.labs.build.writers import WRITERS, Target, Writer
from sfumato.labs.prose import Block, Heading, Part, Place, Text
from sfumato.labs.source import BEGIN, END, Cell
from sfumato.labs.words import text

PLAIN = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "−0123456789")
LONGEST = 40  # printed lines of a cell that a page shows


def markdown(edition: Edition, shown: Outputs, target: Target, pictures: Path) -> str:
    """The whole document; figures are looked up in the folder `pictures`, as <id>.png."""
    page = _Page(edition, shown, labels(edition), WRITERS[target], pictures)
    return "\n\n".join(page.written(edition.parts("document"))) + "\n"


@dataclass(frozen=True, slots=True)
class _Page:
    edition: Edition
    shown: Outputs
    numbers: Labels
    writer: Writer
    pictures: Path

    def written(self, parts: Sequence[Part]) -> Iterator[str]:
        counts: dict[str, int] = {}
        for part in parts:
            match part:
                case Text(source):
                    yield _raised(rendered(source, self.edition, self.numbers, self.writer.markup))
                case Heading(level, title, id_):
                    yield "#" * level + " " + self.edition.filling.prose(title) + (f" {{#{id_}}}" if id_ else "")
                case Place(id_):
                    yield from self.cell(self.edition.lab.cell(id_))
                case Block(kind, _, _, inside):
                    counts[kind] = counts.get(kind, 0) + 1
                    yield self.block(part, counts[kind], list(self.written(inside)))

    def block(self, block: Block, number: int, inside: list[str]) -> str:
        lang = self.edition.lang
        match block.kind:
            case "document":
                return "\n\n".join(inside)
            case "exercise":
                points = text("build.points", lang, points=float(block.attributes.get("points", 0)))
                return _led(f"**{text('build.numbered_exercise', lang, number=str(number))}** ({points}).", inside)
            case "question":
                return _led(f"**{number}.**", inside)
            case kind:
                return self.writer.box(kind, _led(f"**{text(f'build.{kind}', lang)}**", inside))

    def cell(self, cell: Cell) -> Iterator[str]:
        """Code as a listing, figures as pictures; checks are for the screen only."""
        if not self.edition.shows(cell) or cell.role == "check":
            return
        if cell.role == "figure":
            yield self.figure(cell)
            return
        lines = (line for line in self.edition.code(cell).split("\n") if line.strip() not in (BEGIN, END))
        yield "```python\n" + "\n".join(lines) + "\n```"
        if cell.id in self.shown.printed:
            printed = self.shown.printed[cell.id].split("\n")
            cut = [*printed[:LONGEST], "…"] if len(printed) > LONGEST else printed
            yield "```\n" + "\n".join(cut) + "\n```"

    def figure(self, cell: Cell) -> str:
        """A figure that only a solution draws is announced to students: its number stays the same."""
        lang, number = self.edition.lang, self.numbers.figures[cell.id]
        words = self.edition.filling.prose(self.edition.prose.captions[cell.id])
        caption = text("build.figure", lang, number=number, words=words)
        if cell.id in self.shown.figures:
            return self.writer.figure(f"![]({(self.pictures / cell.id).as_posix()}.png)", caption)
        return self.writer.figure("", f"{caption} ({text('build.to_draw', lang)})")


def _raised(markdown: str) -> str:
    """Small raised digits become digits that are raised: not every font of Word has the small ones."""
    return re.sub("[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+", lambda match: f"^{match[0].translate(PLAIN)}^", markdown)


def _led(lead: str, inside: list[str]) -> str:
    """Blocks of Markdown with a few words before the first, in its line if that is a paragraph."""
    if inside and not NO_PARAGRAPH.match(inside[0]):
        return "\n\n".join([f"{lead} {inside[0]}", *inside[1:]])
    return "\n\n".join([lead, *inside])
