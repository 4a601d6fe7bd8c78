"""Notebooks, written without any package of Jupyter: students need none but the server."""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from sfumato.labs.build.edition import Edition
from sfumato.labs.build.markup import Labels, Markup, labels, rendered
from sfumato.labs.prose import Block, Heading, Part, Place, Text
from sfumato.labs.source import Cell
from sfumato.labs.words import text

# Markdown that begins with something else than a sentence.
NO_PARAGRAPH = re.compile(r"[|>#]|:::|: |```|\$\$|[-*+] |\d+[.)] ")
LOCKED = ("given", "check", "figure")
MARKUP = Markup(
    equation=lambda formula, number: f"$$ {formula} \\tag{{{number}}} $$",
    caption=lambda words: f"*{words}*",
)


def notebook(edition: Edition) -> dict[str, Any]:
    """A notebook of format 4.5, not executed."""
    numbers = labels(edition)
    cells: list[dict[str, Any]] = []
    waiting = [f"# {edition.title}", edition.facts]

    def settle() -> None:
        if waiting:
            cells.append(_markdown(f"text-{len(cells)}", "\n\n".join(waiting)))
            waiting.clear()

    for part in edition.parts("notebook"):
        if isinstance(part, Place):
            cell = edition.lab.cell(part.cell)
            if edition.shows(cell):
                settle()
                cells += list(_code_cells(edition, cell, numbers))
            continue
        if isinstance(part, Heading):
            settle()
        waiting.append(_shown(part, edition, numbers))
        if isinstance(part, Block) and part.kind == "predict":
            settle()
            prediction = text("build.prediction", edition.lang)
            cells.append(_markdown(part.id, prediction, editable=True))
    waiting.append(text("build.rest_on_paper", edition.lang))
    settle()
    return {"cells": cells, "metadata": _metadata(edition), "nbformat": 4, "nbformat_minor": 5}


def as_json(content: dict[str, Any]) -> str:
    return json.dumps(content, ensure_ascii=False, indent=1) + "\n"


def passport(edition: Edition) -> dict[str, Any]:
    """What lab.json beside the notebook says: from it the checks know whose data they see."""
    return {
        "lab": edition.lab.number,
        "variant": edition.variant.number,
        "seed": edition.variant.seed,
        "lang": edition.lang,
        "token": edition.token,
    }


def _metadata(edition: Edition) -> dict[str, Any]:
    return {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
        "sfumato": {"id": edition.lab.slug, **passport(edition)},
    }


def _code_cells(edition: Edition, cell: Cell, numbers: Labels) -> Iterator[dict[str, Any]]:
    locked = {"editable": False, "deletable": False} if cell.role in LOCKED else {"deletable": False}
    if cell.role == "figure":
        words = text("build.figure", edition.lang, number=numbers.figures[cell.id], words=_caption(edition, cell))
        yield _markdown(f"caption-{cell.id}", f"**{words}**")
    yield {
        "cell_type": "code",
        "execution_count": None,
        "id": cell.id,
        "metadata": {**locked, "sfumato": {"id": cell.id, "role": cell.role}},
        "outputs": [],
        "source": edition.code(cell),
    }


def _caption(edition: Edition, cell: Cell) -> str:
    return edition.filling.prose(edition.prose.captions[cell.id])


def _markdown(id_: str, source: str, *, editable: bool = False) -> dict[str, Any]:
    metadata = {} if editable else {"editable": False}
    return {"cell_type": "markdown", "id": id_, "metadata": {**metadata, "sfumato": {"id": id_}}, "source": source}


def _shown(part: Part, edition: Edition, numbers: Labels) -> str:
    match part:
        case Text(markdown):
            return rendered(markdown, edition, numbers, MARKUP)
        case Heading(level, title, _):
            return "#" * level + " " + edition.filling.prose(title)
        case Block(kind, _, _, parts):
            return _quoted(kind, parts, edition, numbers)
        case Place(_):
            return ""


def _quoted(kind: str, parts: Sequence[Part], edition: Edition, numbers: Labels) -> str:
    """A block as a quotation with its name before it; blocks for one medium only are plain text there."""
    inside = "\n\n".join(filter(None, (_shown(part, edition, numbers) for part in parts)))
    if kind == "notebook":
        return inside
    lead = text(f"build.{kind}", edition.lang)
    named = f"{lead.rstrip()}\n\n{inside}" if NO_PARAGRAPH.match(inside) else lead + inside
    return "\n".join(f"> {line}".rstrip() for line in named.split("\n"))
