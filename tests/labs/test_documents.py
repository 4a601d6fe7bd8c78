"""Word, PDF and web pages of every lab: real equations, numbered; tables, captions, figures; and no answers."""

import functools
import io
import re
import subprocess
import zipfile
from itertools import pairwise
from pathlib import Path

import pytest

from sfumato.labs.build.document import markdown
from sfumato.labs.build.executing import NOTHING, Outputs, executed, theory_figures
from sfumato.labs.build.markup import labels
from sfumato.labs.build.pandoc import pandoc_path
from sfumato.labs.build.paper import as_pdf, as_typst
from sfumato.labs.build.web import as_html
from sfumato.labs.build.word import as_docx
from sfumato.labs.formulas import formulas, spelling
from sfumato.labs.languages import LANGUAGES
from sfumato.labs.source import load
from sfumato.labs.words import text
from tests.labs.editions import edition, every_lab, sample, secrets, squeezed, words_of_docx, words_of_html
from tests.labs.paper_text import pages_of

pytestmark = pytest.mark.labs
EDITIONS = [(lab, lang) for lab in every_lab() for lang in lab.prose]
MATHS = "<m:oMath>"


def _name(value: object) -> str:
    return getattr(value, "slug", str(value))


@functools.cache
def shown() -> Outputs:
    return executed(edition(sample(), "ru", teacher=True))[1]


def xml(document: bytes, part: str = "word/document.xml") -> str:
    return zipfile.ZipFile(io.BytesIO(document)).read(part).decode("utf-8")


@pytest.mark.parametrize("teacher", [True, False], ids=["teacher", "student"])
@pytest.mark.parametrize(("lab", "lang"), EDITIONS, ids=_name)
def test_every_formula_is_an_equation_of_word_and_reads_back_the_same(lab, lang, teacher, tmp_path: Path) -> None:
    made = edition(lab, lang, teacher=teacher)
    written = [latex for latex, _ in formulas(markdown(made, NOTHING, "docx", tmp_path))]
    document = as_docx(made, NOTHING)
    assert xml(document).count(MATHS) == len(written)
    (tmp_path / "lab.docx").write_bytes(document)
    command = [pandoc_path(), "--from=docx", "--to=markdown", "--wrap=none", str(tmp_path / "lab.docx")]
    back = subprocess.run(command, capture_output=True, check=True).stdout.decode("utf-8")
    assert [spelling(latex) for latex, _ in formulas(back)] == [spelling(latex) for latex in written]
    assert "$" not in re.sub(r"\\\$", "", _outside_of_maths(document))


def _outside_of_maths(document: bytes) -> str:
    """Text of Word that is neither an equation nor code."""
    paragraphs = re.findall(r"<w:p>.*?</w:p>|<w:p .*?</w:p>", xml(document), re.DOTALL)
    plain = [each for each in paragraphs if "SourceCode" not in each and "VerbatimChar" not in each]
    return " ".join("".join(re.findall(r"<w:t[^>]*>([^<]*)", each)) for each in plain)


def test_a_lost_formula_would_be_noticed(tmp_path: Path) -> None:
    """The twin: a document from which one equation is missing."""
    document = as_docx(edition(sample()), NOTHING)
    whole = xml(document)
    assert whole.count(MATHS) - 1 == re.sub(r"<m:oMath>.*?</m:oMath>", "", whole, count=1, flags=re.DOTALL).count(MATHS)


@pytest.mark.parametrize(("lab", "lang"), EDITIONS, ids=_name)
def test_students_find_nothing_of_the_teachers_in_any_document(lab, lang: str) -> None:
    hidden = list(secrets(lab, lang))
    seen = theory_figures(edition(lab, lang))
    student, teacher = (edition(lab, lang, teacher=whose) for whose in (False, True))
    pages = {
        "docx": squeezed(words_of_docx(as_docx(student, seen))),
        "html": squeezed(words_of_html(as_html(student, seen))),
        "pdf": squeezed(as_typst(student, seen).decode("utf-8")),
    }
    for kind, page in pages.items():
        assert [secret for secret in hidden if secret in page] == [], kind
    theirs = squeezed(words_of_html(as_html(teacher, NOTHING)))
    found = [secret for secret in hidden if secret in theirs]
    assert len(found) > 0.9 * len(hidden), "the search finds them where they are"


def test_the_page_of_word_is_the_one_that_is_asked_for() -> None:
    import docx

    made = edition(sample(), "ru", teacher=True, token="ab12")
    document = docx.Document(io.BytesIO(as_docx(made, shown())))
    section = document.sections[0]
    sizes = (section.page_width, section.page_height, section.left_margin, section.right_margin)
    assert [round(size.cm, 1) for size in (*sizes, section.top_margin, section.bottom_margin)] == [21, 29.7, 3, 1, 2, 2]
    body = document.styles["Body Text"]
    assert (body.font.name, body.font.size.pt, body.paragraph_format.line_spacing) == ("Times New Roman", 14, 1.5)
    header = section.header.paragraphs[0].text
    for said in ("Лабораторная работа 90", "Вариант 2", "ab12", "для преподавателя"):
        assert said in header
    assert "PAGE" in section.footer.paragraphs[0]._p.xml


def test_equations_are_numbered_at_the_right_margin_and_tables_have_captions_and_lines() -> None:
    import docx

    made = edition(sample(), "ru", teacher=True)
    document = docx.Document(io.BytesIO(as_docx(made, shown())))
    rows = [table for table in document.tables if len(table.columns) == 3 and "oMathPara" in table._tbl.xml]
    assert [table.rows[0].cells[2].text for table in rows] == ["(1)", "(T1)"]
    for table in rows:
        left, middle, right = table.rows[0].cells
        assert (left.text, right.paragraphs[0].alignment) == ("", docx.enum.text.WD_ALIGN_PARAGRAPH.RIGHT)
        assert round(sum(cell.width.cm for cell in (left, middle, right)), 1) == 17, "the width of the text"
        assert "tblBorders" not in table._tbl.xml
    ruled = [table for table in document.tables if "tblBorders" in table._tbl.xml]
    assert [table.rows[1].cells[0].text for table in ruled] == ["низкий"]
    styles = [(paragraph.style.name, paragraph.text) for paragraph in document.paragraphs]
    assert ("Table Caption", "Таблица 1 – Бюджеты уровней") in styles
    assert ("Image Caption", "Рисунок 2 – Ответы с шумом") in styles
    assert len(document.inline_shapes) == 2
    assert any("Согласно (1) шум" in words for _, words in styles)


def test_students_see_theory_and_are_told_what_they_will_draw() -> None:
    made = edition(sample(), "en")
    seen = theory_figures(made)
    assert list(seen.figures) == ["fig_law"]
    assert seen.figures["fig_law"].startswith(b"\x89PNG")
    page = as_html(made, seen)
    assert page.count(b"data:image/png;base64") == 1
    words = " ".join(words_of_html(page).split())
    assert "Figure 1 – Density of the noise" in words
    assert "Figure 2 – Answers with noise (you draw this figure in the notebook)" in words


def test_numbers_are_the_same_for_students_and_teachers() -> None:
    student, teacher = (labels(edition(sample(), teacher=whose)) for whose in (False, True))
    assert student == teacher
    assert student.equations == {"eq:density": "1", "eq:ratio": "T1"}


def test_the_web_page_stands_alone() -> None:
    page = as_html(edition(sample(), "ru", teacher=True), shown()).decode("utf-8")
    assert page.count("<math ") == len(
        list(formulas(markdown(edition(sample(), "ru", teacher=True), shown(), "html", Path())))
    )
    bare = page.replace("http://www.w3.org/1998/Math/MathML", "")
    for outside in ("http:", "https:", "<script", "<link", "url(", "//cdn"):
        assert outside not in bare
    assert '<html lang="ru-RU">' in page


def test_the_paper_has_its_pages_its_numbers_and_its_letters() -> None:
    made = edition(sample(), "ru", teacher=True, token="ab12")
    source = as_typst(made, shown()).decode("utf-8")
    assert "margin: (left: 3cm, right: 1cm, top: 2cm, bottom: 2cm)" in source
    assert source.count("#numbered([(1)])") == 1
    assert '0","67' in source, "no space after a decimal comma"
    pdf = as_pdf(made, shown())
    assert pdf.startswith(b"%PDF-")
    assert 2 <= len(re.findall(rb"/Type\s*/Page\b", pdf)) <= 6


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_page_of_the_paper_says_its_number_and_whose_it_is(lang: str) -> None:
    """As a search finds it: lab, variant and token above each page but the first, whose title says them."""
    made = edition(load(2), lang, variant=5, token="ab12cd")
    pages = pages_of(as_pdf(made, NOTHING))
    assert len(pages) > 4
    above = "".join(made.running_title.split())
    assert "ab12cd" in above
    assert "".join(text("build.variant", lang, number="5").split()) in above
    for number, page in enumerate(pages, start=1):
        assert page.endswith(str(number)), (number, page[-80:])
        assert (above in page) is (number > 1), (number, page[:80])
    assert "ab12cd" in pages[0]


def test_a_figure_that_fails_names_its_cell(tmp_path: Path) -> None:
    import shutil

    from sfumato.errors import DataUnreadable
    from sfumato.labs.source import read
    from tests.labs.editions import SAMPLE

    folder = Path(shutil.copytree(SAMPLE, tmp_path / SAMPLE.name))
    cells = (folder / "cells.py").read_text(encoding="utf-8")
    (folder / "cells.py").write_text(cells.replace('plt.xlabel("z")', "undefined_name"), encoding="utf-8")
    broken = read(folder)
    with pytest.raises(DataUnreadable, match="lab 90: the cell fig_law fails: NameError"):
        theory_figures(edition(broken))
    with pytest.raises(DataUnreadable, match="lab 90: the cell fig_law fails: NameError"):
        executed(edition(broken, teacher=True))


def test_listings_are_small_and_short_tables_stay_on_a_page() -> None:
    import docx

    document = docx.Document(io.BytesIO(as_docx(edition(sample(), "zh", teacher=True), shown())))
    listings = [paragraph for paragraph in document.paragraphs if paragraph.style.style_id == "SourceCode"]
    assert listings
    assert {run.style.name for paragraph in listings for run in paragraph.runs} == {"Default Paragraph Font"}
    assert (document.styles["Source Code"].font.size.pt, listings[0].style.paragraph_format.keep_together) == (9, True)
    [ruled] = [table for table in document.tables if "tblBorders" in table._tbl.xml]
    kept = [cell.paragraphs[0].paragraph_format.keep_with_next for row in ruled.rows for cell in row.cells]
    assert kept == [True] * (len(kept) - 2) + [None] * 2, "all rows but the last"


def test_chinese_has_its_own_marks() -> None:
    words = " ".join(words_of_html(as_html(edition(sample(), "zh", teacher=True), NOTHING)).split())
    for said in ("习题 1（2 分）", "答案：第二题", "致教师：原文", "（这幅图由你在笔记本中绘制）", "表 1 各等级的预算"):
        assert said in words, said
    assert " (" not in re.sub(r"\(\d\)", "", words.partition("理论知识")[0])
    source = as_typst(edition(sample(), "zh"), NOTHING).decode("utf-8")
    assert 'lang: "zh", region: "CN"' in source


def test_what_is_read_together_stays_on_a_page_in_word() -> None:
    import docx

    lab = load(2)
    document = docx.Document(io.BytesIO(as_docx(edition(lab, "vi", teacher=True), NOTHING)))
    paragraphs = document.paragraphs
    pairs = [(one, other) for one, other in pairwise(paragraphs) if one._p.getnext() is other._p]
    led = [one for one, other in pairs if other.style.style_id == "SourceCode" != one.style.style_id]
    asked = [one for one, other in pairs if other.style.name == "Block answer" and "Block" not in one.style.name]
    assert len(led) > 5
    assert len(asked) > 10
    assert all(
        paragraph.paragraph_format.keep_with_next or "Heading" in paragraph.style.name for paragraph in led + asked
    )


def test_lists_stay_in_their_box_and_sentences_go_on_after_a_formula() -> None:
    import docx

    lab = load(2)
    document = docx.Document(io.BytesIO(as_docx(edition(lab, "ru", teacher=True), NOTHING)))
    items = [paragraph for paragraph in document.paragraphs if paragraph.text.startswith("E-1, E-8.")]
    assert [(item.style.name, item._p.pPr.numPr is not None) for item in items] == [("Block teacher", True)]
    going_on = [paragraph for paragraph in document.paragraphs if paragraph.text.startswith("где ")]
    assert going_on
    assert {paragraph.paragraph_format.first_line_indent for paragraph in going_on} == {0}


def test_no_line_begins_with_the_mark_after_a_formula_and_percent_stays_at_its_number() -> None:
    page = as_html(edition(load(0), "ru"), NOTHING).decode("utf-8")
    tied = re.sub(r'<span class="tied">.*?</span>', "", page, flags=re.DOTALL)
    assert '<span class="tied"><math display="inline"' in page
    assert not re.search(r"</math>[,.;:]", tied)
    assert re.search("\\d\N{NO-BREAK SPACE}%", words_of_html(page.encode("utf-8")))
    assert not re.search(r"\d %", words_of_html(page.encode("utf-8")))
