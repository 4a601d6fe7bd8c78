"""Every formula says the same in Word, PDF and on web pages: each is read back and compared with its source.

Word is compared in test_documents.
"""

import html
import re
import subprocess
from pathlib import Path

import pytest

from sfumato.labs.build.document import markdown
from sfumato.labs.build.executing import NOTHING
from sfumato.labs.build.pandoc import pandoc_path
from sfumato.labs.build.paper import as_typst
from sfumato.labs.build.web import as_html
from sfumato.labs.formulas import formulas, spelling
from tests.labs.editions import edition, every_lab

pytestmark = pytest.mark.labs
EDITIONS = [(lab, lang) for lab in every_lab() for lang in lab.prose]
BEGINNING = "#text(size: 10pt"  # the last line of paper.typ before the text
# pandoc's spelling of what it reads in typst -> ours
READ_BACK = (
    (r"\\mathrm\{(\\text\{[^{}]*\})\}", r"\1"),
    (r"\\mathrm(?=[^\\{}])", r"\\text"),
    (r"\\hat\b|\\hat(?=[A-Za-z])", r"\\widehat"),
    (r"\\limits", ""),
    (r"\\\|\{((?:[^{}]|\{[^{}]*\})*)\}\\\|", r"\\Vert\1\\Vert"),
    (r"\\\|", r"\\Vert"),
)


def _name(value: object) -> str:
    return getattr(value, "slug", str(value))


def _written(lab, lang: str, target) -> list[str]:
    return [
        spelling(latex) for latex, _ in formulas(markdown(edition(lab, lang, teacher=True), NOTHING, target, Path()))
    ]


def read_back(source: str) -> list[str]:
    """Formulas of a source of typst, as LaTeX in our spelling."""
    text = re.sub(r"```.*?```|`[^`\n]*`", "", source.partition(BEGINNING)[2], flags=re.DOTALL)
    alone = "\n\n".join(f"${found.strip()}$" for found in re.findall(r"(?<!\\)\$(.+?)(?<!\\)\$", text, re.DOTALL))
    command = [pandoc_path(), "--from=typst", "--to=markdown", "--wrap=none"]
    said = subprocess.run(command, input=alone.encode("utf-8"), capture_output=True, check=True).stdout.decode("utf-8")
    found = [spelling(latex) for latex, _ in formulas(said)]
    for pattern, ours in READ_BACK:
        found = [re.sub(pattern, ours, latex) for latex in found]
    return found


@pytest.mark.parametrize(("lab", "lang"), EDITIONS, ids=_name)
def test_the_printed_formula_reads_back_the_same(lab, lang: str) -> None:
    source = as_typst(edition(lab, lang, teacher=True), NOTHING).decode("utf-8")
    assert read_back(source) == _written(lab, lang, "typst")


@pytest.mark.parametrize(("lab", "lang"), EDITIONS, ids=_name)
def test_the_formula_of_a_web_page_carries_its_source(lab, lang: str) -> None:
    page = as_html(edition(lab, lang, teacher=True), NOTHING).decode("utf-8")
    found = re.findall(r'<annotation encoding="application/x-tex">(.*?)</annotation>', page, re.DOTALL)
    assert [spelling(html.unescape(latex)) for latex in found] == _written(lab, lang, "html")


def test_a_norm_that_falls_apart_in_print_would_be_noticed() -> None:
    """The twin: what pandoc writes by itself, where only the last sign is above the line of the fraction."""
    right, wrong = (f"{BEGINNING}\n$ exp ({norm} / b) $" for norm in ("norm(f - g)_1", "∥f - g∥_1"))
    [whole], [broken] = read_back(right), read_back(wrong)
    assert whole == r"\exp(\frac{\Vertf-g\Vert_1}b)"
    assert broken != whole


def test_norms_are_norms_in_print_and_upright_on_the_web() -> None:
    lab = next(lab for lab in every_lab() if lab.number == 2)
    assert "∥" not in as_typst(edition(lab, "zh", teacher=True), NOTHING).decode("utf-8")
    page = as_html(edition(lab, "zh", teacher=True), NOTHING).decode("utf-8")
    assert "∥" not in page
    assert re.search(r"<mo[^>]*>‖</mo>", page)
