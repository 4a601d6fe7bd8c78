"""The page and the styles of Word documents: A4, margins 3/1/2/2 cm, Times New Roman 14, lines one and a half apart."""

from types import ModuleType
from typing import Any

FONT, EAST_ASIAN, CODE = "Times New Roman", "SimSun", "Courier New"
SIZE = 14
# kind of block -> colour of its bar and its ground
BLOCKS = {"predict": ("2A6FB0", "EEF4FA"), "answer": ("3B8A4A", "EFF6F0"), "teacher": ("B0562A", "FAF1EC")}


def set_styles(docx: ModuleType, document: Any) -> None:
    _page(docx, document)
    styles = document.styles
    for style in styles:
        if style.type == docx.enum.style.WD_STYLE_TYPE.PARAGRAPH:
            _font(docx, style, FONT)
            style.font.color.rgb = docx.shared.RGBColor(0, 0, 0)
    _paragraph(docx, styles["Normal"], SIZE)
    justified = docx.enum.text.WD_ALIGN_PARAGRAPH.JUSTIFY
    for name in ("Body Text", "First Paragraph"):
        _paragraph(docx, styles[name], SIZE, align=justified, indent=1.25)
    _paragraph(docx, styles["Compact"], SIZE, align=docx.enum.text.WD_ALIGN_PARAGRAPH.LEFT, lines=1.15)
    _headings(docx, styles)
    centre = docx.enum.text.WD_ALIGN_PARAGRAPH.CENTER
    _made(docx, styles, "Numbered Equation", align=centre, lines=1.0, before=4, after=4)
    _made(docx, styles, "Captioned Figure", align=centre, lines=1.0, before=6)
    styles["Captioned Figure"].paragraph_format.keep_with_next = True
    _made(docx, styles, "Image Caption", align=centre, lines=1.0, after=10)
    _made(docx, styles, "Table Caption", align=docx.enum.text.WD_ALIGN_PARAGRAPH.LEFT, lines=1.0, before=8)
    styles["Table Caption"].paragraph_format.keep_with_next = True
    for name in ("Image Caption", "Table Caption"):
        styles[name].font.italic = False
    for kind, (bar, ground) in BLOCKS.items():
        _made(docx, styles, f"Block {kind}", align=justified, lines=1.15, before=4, after=4)
        _boxed(docx, styles[f"Block {kind}"], bar, ground)
    _code(docx, styles)
    for name, size in (("Header", 9), ("Footer", 12)):
        _made(docx, styles, name, align=centre, size=size, lines=1.0, after=4)


def _page(docx: ModuleType, document: Any) -> None:
    centimetres = docx.shared.Cm
    for section in document.sections:
        section.page_width, section.page_height = centimetres(21), centimetres(29.7)
        section.left_margin, section.right_margin = centimetres(3), centimetres(1)
        section.top_margin, section.bottom_margin = centimetres(2), centimetres(2)
        section.header_distance = section.footer_distance = centimetres(1)


def _font(docx: ModuleType, style: Any, font: str) -> None:
    """All four of Word's fonts of a style, or Cyrillic and Chinese letters keep the theme's."""
    style.font.name = font
    fonts = style.element.get_or_add_rPr().get_or_add_rFonts()
    qualified = docx.oxml.ns.qn
    for part in ("asciiTheme", "hAnsiTheme", "eastAsiaTheme", "cstheme"):
        fonts.attrib.pop(qualified(f"w:{part}"), None)
    for part, name in (("ascii", font), ("hAnsi", font), ("cs", font), ("eastAsia", EAST_ASIAN)):
        fonts.set(qualified(f"w:{part}"), name)


def _paragraph(
    docx: ModuleType,
    style: Any,
    size: float,
    *,
    align: Any = None,
    indent: float = 0.0,
    lines: float = 1.5,
    before: float = 0,
    after: float = 0,
) -> None:
    style.font.size = docx.shared.Pt(size)
    shape = style.paragraph_format
    shape.alignment, shape.line_spacing = align, lines
    shape.first_line_indent = docx.shared.Cm(indent)
    shape.space_before, shape.space_after = docx.shared.Pt(before), docx.shared.Pt(after)


def _made(docx: ModuleType, styles: Any, name: str, *, size: float = SIZE, **shape: Any) -> None:
    """A style of this name, new if pandoc has none."""
    if name not in [style.name for style in styles]:
        style = styles.add_style(name, docx.enum.style.WD_STYLE_TYPE.PARAGRAPH)
        style.base_style = styles["Normal"]
        _font(docx, style, FONT)
    _paragraph(docx, styles[name], size, **shape)


def _headings(docx: ModuleType, styles: Any) -> None:
    centre = docx.enum.text.WD_ALIGN_PARAGRAPH.CENTER
    for name, size, align, before, after in (
        ("Title", 16, centre, 0, 6),
        ("Subtitle", 12, centre, 0, 12),
        ("Heading 1", 15, None, 18, 8),
        ("Heading 2", 14, None, 14, 6),
        ("Heading 3", 14, None, 10, 4),
    ):
        _paragraph(docx, styles[name], size, align=align, lines=1.15, before=before, after=after)
        styles[name].font.bold = name != "Subtitle"
        styles[name].font.italic = False
        styles[name].paragraph_format.keep_with_next = True
        for stretched in styles[name].element.rPr.findall(docx.oxml.ns.qn("w:spacing")):
            styles[name].element.rPr.remove(stretched)


def _code(docx: ModuleType, styles: Any) -> None:
    """Listings: narrow letters, lines close together, a grey ground."""
    _made(
        docx, styles, "Source Code", size=9, align=docx.enum.text.WD_ALIGN_PARAGRAPH.LEFT, lines=1.0, before=4, after=8
    )
    styles["Source Code"].paragraph_format.keep_together = True
    _font(docx, styles["Source Code"], CODE)
    _boxed(docx, styles["Source Code"], "", "F3F3F3")
    verbatim = styles["Verbatim Char"]
    _font(docx, verbatim, CODE)
    verbatim.font.size = docx.shared.Pt(SIZE - 2)


def _boxed(docx: ModuleType, style: Any, bar: str, ground: str) -> None:
    """A ground, and a bar at the left."""
    qualified, element = docx.oxml.ns.qn, docx.oxml.OxmlElement
    properties = style.element.get_or_add_pPr()
    made = []
    if bar:
        borders = element("w:pBdr")
        line = element("w:left")
        for name, value in (("val", "single"), ("sz", "24"), ("space", "8"), ("color", bar)):
            line.set(qualified(f"w:{name}"), value)
        borders.append(line)
        made.append(borders)
        style.paragraph_format.left_indent = docx.shared.Cm(0.4)
    shade = element("w:shd")
    for name, value in (("val", "clear"), ("color", "auto"), ("fill", ground)):
        shade.set(qualified(f"w:{name}"), value)
    # The order of these elements is fixed by the format: before spacing, indents and alignment.
    for place, part in enumerate([*made, shade]):
        after = [child for child in properties if child.tag in map(qualified, ("w:keepNext", "w:keepLines"))]
        properties.insert(len(after) + place, part)
