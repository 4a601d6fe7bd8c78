"""PDF for print, through typst: no LaTeX, and only the fonts that come with the compiler."""

import re
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory

from sfumato.labs.build.document import markdown
from sfumato.labs.build.edition import Edition
from sfumato.labs.build.executing import Outputs
from sfumato.labs.build.pandoc import convert
from sfumato.labs.build.wordings import document_failed, maker_needs

# pandoc writes a decimal comma as punctuation, after which typst leaves a space.
DECIMAL_COMMA = re.compile(rb"(\d) \\, (?=\d)")


def as_pdf(edition: Edition, shown: Outputs) -> bytes:
    try:
        typst = import_module("typst")
    except ModuleNotFoundError:
        raise maker_needs("a PDF", "typst") from None
    with TemporaryDirectory() as folder:
        place = Path(folder)
        for name, picture in shown.figures.items():
            (place / f"{name}.png").write_bytes(picture)
        source = place / "paper.typ"
        source.write_bytes(as_typst(edition, shown))
        try:
            pdf: bytes = typst.compile(str(source), root=folder, ignore_system_fonts=True)
        except typst.TypstError as error:
            raise document_failed(f"{edition.name}.pdf", str(error)[:500]) from None
    return pdf


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
            f"--variable=title:{_plain(edition.title)}",
            f"--variable=facts:{_plain(edition.facts)}",
            f"--variable=running-title:{_plain(edition.running_title)}",
        )
        written = convert(markdown(edition, shown, "typst", Path()), arguments, f"{edition.name}.pdf")
    return DECIMAL_COMMA.sub(rb'\1","', written)


def _plain(words: str) -> str:
    """Without what typst would take for markup."""
    return "".join("\\" + letter if letter in '\\#$*_@<>[]`"~' else letter for letter in words)
