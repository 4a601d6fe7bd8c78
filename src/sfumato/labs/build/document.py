"""A document of a lab as Markdown for pandoc, in the words that each of the three writers understands."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from sfumato.labs.build.edition import Edition
from sfumato.labs.build.executing import Outputs
from sfumato.labs.build.listing import folded
from sfumato.labs.build.markup import Labels, labels, rendered
from sfumato.labs.build.notebook import NO_PARAGRAPH
from sfumato.labs.build.writers import WRITERS, Target, Writer
from sfumato.labs.prose import Block, Heading, Part, Place, Text
from sfumato.labs.source import BEGIN, END, Cell
from sfumato.labs.words import text

PLAIN = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "−0123456789")
SHORT = 600  # letters of a paragraph that may move to the next page as a whole
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
        for part, following in zip_longest(parts, parts[1:]):
            match part:
                case Text(source):
                    words = _printed(rendered(source, self.edition, self.numbers, self.writer.markup))
                    yield self.leading(words) if self.is_led_to(following) else words
                case Heading(level, title, id_):
                    yield "#" * level + " " + self.edition.filling.prose(title) + (f" {{#{id_}}}" if id_ else "")
                case Place(id_):
                    yield from self.cell(self.edition.lab.cell(id_))
                case Block(kind, _, _, inside):
                    counts[kind] = counts.get(kind, 0) + 1
                    yield self.block(part, counts[kind], list(self.written(inside)))

    def is_led_to(self, part: Part | None) -> bool:
        """Whether what stands before is read together with it: code, or a question before code."""
        if isinstance(part, Place):
            cell = self.edition.lab.cell(part.cell)
            return self.edition.shows(cell) and cell.role not in ("check", "figure")
        return isinstance(part, Block) and part.kind == "predict"

    def leading(self, words: str) -> str:
        """Words whose last paragraph stays on the page of what follows."""
        before, _, last = words.rpartition("\n\n")
        if not last or NO_PARAGRAPH.match(last) or len(last) > SHORT or "```" in words:
            return words
        return "\n\n".join([*([before] if before else []), self.writer.kept(last)])

    def led(self, lead: str, inside: list[str]) -> str:
        """A question or an exercise with a few words before it, on the page where its answer begins."""
        first = _led(lead, inside[:1])
        return "\n\n".join([self.writer.kept(first) if len(inside) > 1 else first, *inside[1:]])

    def block(self, block: Block, number: int, inside: list[str]) -> str:
        lang = self.edition.lang
        match block.kind:
            case "document":
                return "\n\n".join(inside)
            case "exercise":
                points = float(block.attributes.get("points", 0))
                return self.led(text("build.exercise", lang, number=str(number), points=points), inside)
            case "question":
                return self.led(text("build.question", lang, number=str(number)), inside)
            case kind:
                lead = text(f"build.{kind}", lang)
                alone = bool(inside) and NO_PARAGRAPH.match(inside[0])
                words = [self.writer.kept(lead.rstrip()), *inside] if alone else [_led(lead, inside)]
                return self.writer.box(kind, "\n\n".join(words))

    def cell(self, cell: Cell) -> Iterator[str]:
        """Code as a listing, figures as pictures; checks are for the screen only."""
        if not self.edition.shows(cell) or cell.role == "check":
            return
        if cell.role == "figure":
            yield self.figure(cell)
            return
        lines = (line for line in self.edition.code(cell).split("\n") if line.strip() not in (BEGIN, END))
        yield "```python\n" + folded("\n".join(lines)) + "\n```"
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
        return self.writer.figure("", text("build.to_draw", lang, caption=caption))


def _printed(markdown: str) -> str:
    """Small raised digits become digits that are raised: not every font of Word has them. And % stays at its number."""
    raised = re.sub("[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+", lambda match: f"^{match[0].translate(PLAIN)}^", markdown)
    return re.sub(r"(?<=[\d$]) (?=%)", "\N{NO-BREAK SPACE}", raised)


def _led(lead: str, inside: list[str]) -> str:
    """Blocks of Markdown with a few words before the first, in its line if that is a paragraph."""
    if inside and not NO_PARAGRAPH.match(inside[0]):
        return "\n\n".join([lead + inside[0], *inside[1:]])
    return "\n\n".join([lead.rstrip(), *inside])
