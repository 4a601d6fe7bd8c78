"""Word documents with real equations, in the form that a university asks for."""

from functools import cache
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any

from sfumato.labs.build.document import markdown
from sfumato.labs.build.edition import Edition
from sfumato.labs.build.executing import Outputs
from sfumato.labs.build.pandoc import convert, printed
from sfumato.labs.build.word_styles import set_styles
from sfumato.labs.build.wordings import maker_needs
from sfumato.labs.languages import language

MATHS = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
NUMBERED, LISTING = "NumberedEquation", "SourceCode"
BOX = "Block "  # how the names of its styles begin
EDGE, WHOLE = 1.5, 17.0  # centimetres: the cell of a number, and the width of the text
SHORT = 24  # rows of a table that stays on one page
BORDERS = ("top", "left", "bottom", "right", "insideH", "insideV")


def as_docx(edition: Edition, shown: Outputs) -> bytes:
    docx = library()
    with TemporaryDirectory() as folder:
        place = Path(folder)
        for name, picture in shown.figures.items():
            (place / f"{name}.png").write_bytes(picture)
        (place / "reference.docx").write_bytes(reference())
        made = place / "lab.docx"
        arguments = (
            "--to=docx",
            f"--output={made}",
            "--shift-heading-level-by=-1",
            "--syntax-highlighting=none",
            f"--reference-doc={place / 'reference.docx'}",
            f"--metadata=lang:{language(edition.lang).tag}",
            f"--metadata=title:{edition.title}",
            f"--metadata=subtitle:{edition.facts}",
        )
        convert(markdown(edition, shown, "docx", place), arguments, f"{edition.name}.docx")
        document = docx.Document(str(made))
        _finish(document, edition)
        document.save(str(made))
        return made.read_bytes()


def library() -> ModuleType:
    """python-docx with the parts of it that are used."""
    try:
        for part in (
            "docx.shared",
            "docx.enum.text",
            "docx.enum.style",
            "docx.enum.table",
            "docx.oxml",
            "docx.oxml.ns",
        ):
            import_module(part)
        return import_module("docx")
    except ModuleNotFoundError:
        raise maker_needs("a Word document", "python-docx") from None


@cache
def reference() -> bytes:
    """pandoc's own reference document with our page and our styles."""
    docx = library()
    with TemporaryDirectory() as folder:
        place = Path(folder) / "reference.docx"
        place.write_bytes(printed("reference.docx"))
        document = docx.Document(str(place))
        set_styles(docx, document)
        document.save(str(place))
        return place.read_bytes()


def _finish(document: Any, edition: Edition) -> None:
    for table in document.tables:
        _ruled(table)
    # pandoc makes two paragraphs of a numbered equation: the formula, and its number.
    parts = [paragraph for paragraph in document.paragraphs if paragraph.style.style_id == NUMBERED]
    for formula, number in zip(parts[::2], parts[1::2], strict=True):
        _without_indent(document, formula, number)
        _in_three_cells(document, formula, number)
    for paragraph, following in pairwise(document.paragraphs):
        if paragraph._p.getnext() is following._p and _leads_to(paragraph, following):
            paragraph.paragraph_format.keep_with_next = True
        if paragraph.style.name.startswith(BOX) and _is_table(paragraph._p.getnext()):
            paragraph.paragraph_format.keep_with_next = True
        if paragraph.style.name.startswith(BOX) and paragraph._p.pPr.numPr is not None:
            _in_box(paragraph)
    for listing in (paragraph for paragraph in document.paragraphs if paragraph.style.style_id == LISTING):
        for run in listing.runs:
            run.style = None  # pandoc gives it the letters of code within a sentence, which are larger
    section = document.sections[0]
    header = section.header.paragraphs[0]
    header.text = edition.running_title
    header.style = document.styles["Header"]
    footer = section.footer.paragraphs[0]
    footer.style = document.styles["Footer"]
    _page_number(footer)


def _leads_to(paragraph: Any, following: Any) -> bool:
    """Whether both are read together: words and their code, a question and its answer, an answer and its table."""
    before, after = paragraph.style.name, following.style.name
    answered = after in (f"{BOX}answer", f"{BOX}predict") and not before.startswith(BOX)
    tabled = after == "Table Caption" and before.startswith(BOX)
    return answered or tabled or (following.style.style_id == LISTING and paragraph.style.style_id != LISTING)


def _is_table(element: Any) -> bool:
    return element is not None and element.tag == library().oxml.ns.qn("w:tbl")


def _in_box(item: Any) -> None:
    """An item of a list within a box: its bar stands where the bar of the box does."""
    centimetres = library().shared.Cm
    item.paragraph_format.left_indent, item.paragraph_format.first_line_indent = centimetres(0.9), centimetres(-0.5)


def _without_indent(document: Any, formula: Any, number: Any) -> None:
    """A sentence that goes on after its formula is no new paragraph. Chinese has no capitals: there the end tells."""
    around = {paragraph._p: paragraph for paragraph in document.paragraphs}
    before, after = around.get(formula._p.getprevious()), around.get(number._p.getnext())
    if after is None or after.style.style_id not in ("BodyText", "FirstParagraph"):
        return
    first, last = after.text[:1], before.text.rstrip()[-1:] if before is not None else ""
    if first.islower() or (first.isalpha() and not first.isupper() and last not in ("", "。", "：")):
        after.paragraph_format.first_line_indent = library().shared.Cm(0)


def _in_three_cells(document: Any, equation: Any, number: Any) -> None:
    """The formula in the middle as a display, its number at the right margin: a row without lines."""
    docx = library()
    row = document.add_table(rows=1, cols=3)
    row.autofit = False
    _fixed(row)
    for cell, width in zip(row.rows[0].cells, (EDGE, WHOLE - 2 * EDGE, EDGE), strict=True):
        cell.width = docx.shared.Cm(width)
        cell.vertical_alignment = docx.enum.table.WD_ALIGN_VERTICAL.CENTER
        cell.paragraphs[0].style = document.styles["Numbered Equation"]
    left, middle, right = row.rows[0].cells
    middle.paragraphs[0]._p.append(equation._p.find(f"{MATHS}oMathPara"))
    right.paragraphs[0].text = number.text
    right.paragraphs[0].alignment = docx.enum.text.WD_ALIGN_PARAGRAPH.RIGHT
    left.paragraphs[0].text = ""
    equation._p.addprevious(row._tbl)
    for paragraph in (equation, number):
        paragraph._p.getparent().remove(paragraph._p)


def _fixed(table: Any) -> None:
    """Widths as given, no lines."""
    docx = library()
    properties = table._tbl.tblPr
    layout = docx.oxml.OxmlElement("w:tblLayout")
    layout.set(docx.oxml.ns.qn("w:type"), "fixed")
    properties.append(layout)
    for grid, width in zip(table.columns, (EDGE, WHOLE - 2 * EDGE, EDGE), strict=True):
        grid.width = docx.shared.Cm(width)


def _ruled(table: Any) -> None:
    """Lines around every cell, the heads repeated on the next page."""
    docx = library()
    qualified, element = docx.oxml.ns.qn, docx.oxml.OxmlElement
    borders = element("w:tblBorders")
    for side in BORDERS:
        line = element(f"w:{side}")
        for name, value in (("val", "single"), ("sz", "4"), ("space", "0"), ("color", "808080")):
            line.set(qualified(f"w:{name}"), value)
        borders.append(line)
    table._tbl.tblPr.append(borders)
    table.alignment = docx.enum.table.WD_TABLE_ALIGNMENT.CENTER
    for row in table.rows:
        row_properties = row._tr.get_or_add_trPr()
        row_properties.append(element("w:cantSplit"))
    if len(table.rows) <= SHORT:
        for row in list(table.rows)[:-1]:
            for paragraph in (paragraph for cell in row.cells for paragraph in cell.paragraphs):
                paragraph.paragraph_format.keep_with_next = True
    for cell in table.rows[0].cells:
        for paragraph in cell.paragraphs:
            for run in paragraph.runs:
                run.bold = True


def _page_number(paragraph: Any) -> None:
    docx = library()
    for kind, words in (("begin", ""), ("", " PAGE "), ("end", "")):
        run = paragraph.add_run()
        if kind:
            mark = docx.oxml.OxmlElement("w:fldChar")
            mark.set(docx.oxml.ns.qn("w:fldCharType"), kind)
        else:
            mark = docx.oxml.OxmlElement("w:instrText")
            mark.text = words
        run._r.append(mark)
