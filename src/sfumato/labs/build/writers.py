"""What differs between Word, typst and HTML: equations with numbers, boxes, figures."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from sfumato.labs.build.markup import Markup

Target = Literal["docx", "typst", "html"]
ITEM = re.compile(r"\n(?=(?:-|\d+\.) )")  # what stands before an item of a list


@dataclass(frozen=True, slots=True)
class Writer:
    markup: Markup
    box: Callable[[str, str], str]  # kind of block and Markdown -> Markdown
    figure: Callable[[str, str], str]  # picture as Markdown (or nothing) and caption -> Markdown
    kept: Callable[[str], str] = (
        str  # Markdown that stays on the page of what follows; Word finds it by itself (word.py)
    )


def _caption(words: str) -> str:
    return f": {words}"


def _styled(style: str, markdown: str) -> str:
    """A style of paragraphs of Word."""
    return f'::: {{custom-style="{style}"}}\n{markdown}\n:::'


def _word_box(kind: str, inside: str) -> str:
    """Items of lists become paragraphs: only to those does pandoc give the style of the box."""
    pieces = re.split(r"(^```.*?^```)", inside, flags=re.DOTALL | re.MULTILINE)
    loose = [piece if piece.startswith("```") else ITEM.sub("\n\n", piece) for piece in pieces]
    return _styled(f"Block {kind}", "".join(loose))


def _called(call: str, markdown: str) -> str:
    """A function of paper.typ around Markdown."""
    return f"```{{=typst}}\n#{call}[\n```\n\n{markdown}\n\n```{{=typst}}\n]\n```"


def _classed(name: str, markdown: str) -> str:
    return f"::: {name}\n{markdown}\n:::"


def _word_equation(formula: str, number: str) -> str:
    # The paragraph becomes a row of three cells (word.py): its formula is then set as a display, as it should be.
    return _styled("Numbered Equation", f"$$ {formula} $$ ({number})")


def _word_figure(picture: str, caption: str) -> str:
    shown = _styled("Captioned Figure", picture) + "\n\n" if picture else ""
    return shown + _styled("Image Caption", caption)


def _paper_equation(formula: str, number: str) -> str:
    return _called(f"numbered([({number})])", f"$$ {formula} $$")


def _web_equation(formula: str, number: str) -> str:
    return _classed("equation", f"$$ {formula} $$ [({number})]{{.number}}")


WRITERS: Mapping[Target, Writer] = {
    "docx": Writer(Markup(_word_equation, _caption), _word_box, _word_figure),
    "typst": Writer(
        Markup(_paper_equation, _caption),
        lambda kind, inside: _called(f'boxed("{kind}")', inside),
        lambda picture, caption: _called("pictured", f"{picture}\n\n{caption}"),
        lambda inside: _called("kept", inside),
    ),
    "html": Writer(
        Markup(_web_equation, _caption),
        _classed,
        lambda picture, caption: _classed("figure", f"{picture}\n\n{caption}"),
    ),
}
