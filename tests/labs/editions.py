"""Labs that tests build: the sample, and every lab that ships."""

import functools
import html
import io
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

from sfumato.labs.build.edition import TEACHERS, Edition
from sfumato.labs.filling import SPECIAL
from sfumato.labs.prose import Block, Text, walk
from sfumato.labs.source import BEGIN, END, Lab, load, numbers_of_labs, read

SAMPLE = Path(__file__).parent / "sample" / "lab90_sample"
SHIPPED = numbers_of_labs()


@functools.cache
def sample() -> Lab:
    return read(SAMPLE)


def every_lab() -> list[Lab]:
    return [sample(), *map(load, SHIPPED)]


def edition(lab: Lab, lang: str = "en", variant: int = 2, *, teacher: bool = False, token: str = "") -> Edition:
    return Edition(lab, lab.variant(variant), lang, teacher, token)


def squeezed(text: str) -> str:
    """Text without spaces and marks, so that line breaks and escapes hide nothing."""
    return re.sub(r"[\W_]+", "", text)


def words_of_html(page: bytes) -> str:
    without = re.sub(r"<style>.*?</style>|data:[^\"]+", "", page.decode("utf-8"), flags=re.DOTALL)
    return html.unescape(re.sub(r"<[^>]+>", "", without))


def words_of_docx(document: bytes) -> str:
    archive = zipfile.ZipFile(io.BytesIO(document))
    names = [name for name in archive.namelist() if name.endswith(".xml")]
    return "".join(html.unescape(re.sub(r"<[^>]+>", "", archive.read(name).decode("utf-8"))) for name in names)


def secrets(lab: Lab, lang: str) -> Iterator[str]:
    """What students must not find: lines of solutions, cells and blocks for teachers. Squeezed."""
    shared = squeezed("\n".join(_outside(cell.source) for cell in lab.cells if cell.role != "teacher"))
    for cell in lab.cells:
        lines = cell.source.split("\n") if cell.role == "teacher" else _inside(cell.source)
        for line in lines:
            code = squeezed(re.sub(r"\{\{.*?\}\}|#.*", "", line))
            if len(code) >= 16 and code not in shared and "{{" not in line:
                yield code
    prose = lab.words(lang)
    seen = squeezed(" ".join(_plain(part) for part in _students(prose.parts)))
    for part in _hidden(prose.parts):
        for piece in re.split(r"[\n·]+", _plain(part)):
            words = squeezed(piece)
            if len(words) >= 24 and words not in seen:
                yield words


def _plain(part: Text) -> str:
    """Words between formulas, code and placeholders."""
    return re.sub(r"\{\{.*?\}\}|@\w+:[\w-]+|\{#.*?\}|\|", "·", SPECIAL.sub("·", part.markdown))


def _students(parts) -> Iterator[Text]:
    for part in parts:
        if isinstance(part, Text):
            yield part
        elif isinstance(part, Block) and part.kind not in TEACHERS:
            yield from _students(part.parts)


def _hidden(parts) -> Iterator[Text]:
    for part in walk(parts):
        if isinstance(part, Block) and part.kind in TEACHERS:
            yield from (inside for inside in walk(part.parts) if isinstance(inside, Text))


def _inside(source: str) -> list[str]:
    return [line for piece in re.findall(f"{BEGIN}\n(.*?){END}", source, re.DOTALL) for line in piece.split("\n")]


def _outside(source: str) -> str:
    return re.sub(f"{BEGIN}\n.*?{END}", "", source, flags=re.DOTALL)
