"""PDF for print, through typst: no LaTeX, and only the fonts that come with the compiler and beside this file."""

import re
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sfumato.labs.build.document import markdown
from sfumato.labs.build.edition import Edition
from sfumato.labs.build.executing import Outputs
from sfumato.labs.build.pandoc import convert
from sfumato.labs.build.wordings import document_failed, maker_needs
from sfumato.labs.languages import language

FONTS = Path(__file__).parent / "fonts"  # letters that the compiler lacks
# pandoc writes a decimal comma as punctuation, after which typst leaves a space.
DECIMAL_COMMA = re.compile(rb"(\d) \\, (?=\d)")
# It leaves a space after a name of several letters, which typst shows: adv (x).
NAME_OF_FUNCTION = re.compile(rb'(upright\("[^"]*"\)) (?=\\\()')
# It writes a norm with the sign of parallel lines: the index falls below, and a fraction takes only the last of them.
NORM = re.compile("∥([^∥$]*)∥".encode())
# A Chinese line would begin with these after a formula.
NO_BEGINNING = re.compile("\\$(?=：|；)".encode())


def as_pdf(edition: Edition, shown: Outputs) -> bytes:
    pdf: bytes = _compiled(edition, shown, format="pdf")
    return pdf


def as_pages(edition: Edition, shown: Outputs, dots: float) -> list[bytes]:
    """Pictures of the pages of the PDF, so many dots an inch."""
    pages = _compiled(edition, shown, format="png", ppi=dots)
    return list(pages) if isinstance(pages, list) else [pages]


def _compiled(edition: Edition, shown: Outputs, **wanted: Any) -> Any:
    try:
        typst = import_module("typst")
    except ModuleNotFoundError:
        raise maker_needs("a PDF", "typst") from None
    fonts = {"font_paths": [str(FONTS)], "ignore_system_fonts": True}
    with TemporaryDirectory() as folder:
        place = Path(folder)
        for name, picture in shown.figures.items():
            (place / f"{name}.png").write_bytes(picture)
        source = place / "paper.typ"
        source.write_bytes(as_typst(edition, shown))
        try:
            return typst.compile(str(source), root=folder, **fonts, **wanted)
        except typst.TypstError as error:
            raise document_failed(f"{edition.name}.pdf", str(error)[:500]) from None


def as_typst(edition: Edition, shown: Outputs) -> bytes:
    """The source of the PDF; figures are beside it."""
    template = files("sfumato.labs.build").joinpath("paper.typ").read_text(encoding="utf-8")
    with TemporaryDirectory() as folder:
        place = Path(folder) / "paper.typ"
        place.write_text(template, encoding="utf-8")
        arguments = (
            "--to=typst",
            "--standalone",
            "--shift-heading-level-by=-1",
            "--syntax-highlighting=idiomatic",
            f"--template={place}",
            f"--variable=language:{edition.lang}",
            f"--variable=region:{language(edition.lang).tag.partition('-')[2]}",
            f"--variable=title:{_plain(edition.title)}",
            f"--variable=facts:{_plain(edition.facts)}",
            f"--variable=running-title:{_plain(edition.running_title)}",
        )
        written = convert(markdown(edition, shown, "typst", Path()), arguments, f"{edition.name}.pdf")
    mended = NAME_OF_FUNCTION.sub(rb"\1", DECIMAL_COMMA.sub(rb'\1","', written))
    return NO_BEGINNING.sub(b"$#sym.wj;", NORM.sub(rb"norm(\1)", mended))


def _plain(words: str) -> str:
    """Without what typst would take for markup."""
    return "".join("\\" + letter if letter in '\\#$*_@<>[]`"~' else letter for letter in words)
