"""An edition: which lab, variant and language, for whom; and what of the prose it shows."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from sfumato.labs.filling import Filling
from sfumato.labs.languages import language
from sfumato.labs.prose import Block, Heading, Part, Place, Prose
from sfumato.labs.source import BEGIN, END, Cell, Lab
from sfumato.labs.variant import Variant
from sfumato.labs.words import text

Medium = Literal["notebook", "document"]
TEACHERS = ("teacher", "answer")  # blocks that no student sees
ON_PAPER = ("exercises", "questions", "report")  # sections that documents have and notebooks do not


@dataclass(frozen=True)
class Edition:
    """Everything that decides what a file of a lab says."""

    lab: Lab
    variant: Variant
    lang: str
    teacher: bool
    token: str = ""  # whose it is; empty for whoever works alone

    @property
    def name(self) -> str:
        whom = "teacher" if self.teacher else "student"
        return f"lab{self.lab.number:02}-variant{self.variant.number}-{self.lang}-{whom}"

    @property
    def prose(self) -> Prose:
        return self.lab.words(self.lang)

    @cached_property
    def filling(self) -> Filling:
        return Filling(self.lab, self.variant, self.lang)

    @property
    def title(self) -> str:
        return text("build.title", self.lang, number=str(self.lab.number), title=self.prose.title)

    @property
    def running_title(self) -> str:
        """What stands above every page: lab, variant, whose it is, and whether solutions are in it."""
        said = [self.title, text("build.variant", self.lang, number=str(self.variant.number))]
        return " · ".join([*said, *([self.token] if self.token else []), *self._for_teachers])

    @property
    def facts(self) -> str:
        """The line below the title: variant, hours, points, what comes before."""
        points = sum(self.lab.points.values())
        said = [
            text("build.variant", self.lang, number=str(self.variant.number)),
            text("build.facts", self.lang, hours=self.lab.hours, points=points),
        ]
        if self.lab.prerequisites:
            first = language(self.lang).comma.join(map(str, self.lab.prerequisites))
            said.append(text("build.after", self.lang, first=first))
        return " · ".join([*said, *([self.token] if self.token else []), *self._for_teachers])

    @property
    def _for_teachers(self) -> list[str]:
        return [text("build.teacher_edition", self.lang)] if self.teacher else []

    def parts(self, medium: Medium) -> tuple[Part, ...]:
        """What this edition shows in notebooks or documents, in order."""
        return _pruned(self.prose.parts, self._hidden(medium), ON_PAPER if medium == "notebook" else ())

    def _hidden(self, medium: Medium) -> tuple[str, ...]:
        other = "document" if medium == "notebook" else "notebook"
        return (other,) if self.teacher else (other, *TEACHERS)

    def shows(self, cell: Cell) -> bool:
        return self.teacher or cell.role != "teacher"

    def code(self, cell: Cell) -> str:
        """The source of a cell: solutions are the teacher's, students get a stub in their language."""
        source = cell.source if self.teacher else stripped(cell.source, text("build.stub", self.lang))
        return self.filling.code(source)


def stripped(source: str, stub: str) -> str:
    """Code without its solutions: in the place of each a comment, and an error until something is written."""
    kept: list[str] = []
    inside = False
    for line in source.split("\n"):
        if line.strip() == BEGIN:
            indent = line[: len(line) - len(line.lstrip())]
            kept += [f"{indent}# {stub}", f"{indent}raise NotImplementedError"]
            inside = True
        elif line.strip() == END:
            inside = False
        elif not inside:
            kept.append(line)
    return "\n".join(kept)


def _pruned(parts: Sequence[Part], hidden: Sequence[str], sections: Sequence[str]) -> tuple[Part, ...]:
    """Without blocks of a hidden kind, and without whole sections, but never without the place of a cell."""
    kept: list[Part] = []
    skipping = False
    for part in parts:
        if isinstance(part, Heading) and part.level <= 2:
            skipping = part.id in sections
        if isinstance(part, Block):
            if part.kind not in hidden and not skipping:
                kept.append(Block(part.kind, part.id, part.attributes, _pruned(part.parts, hidden, ())))
        elif not skipping or isinstance(part, Place):
            kept.append(part)
    return tuple(kept)
