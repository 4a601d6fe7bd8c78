"""Every proof states its claim and what it needs, and names code, tests and pages that exist; so do docstrings."""

import re

import pytest

from tests.pages import DOCS, text

PROOFS = sorted(path.stem for path in (DOCS / "proofs").glob("*.md"))
SOURCES = sorted((DOCS.parent / "src").rglob("*.py"))


@pytest.mark.parametrize("name", PROOFS)
def test_a_proof_states_its_claim_and_names_code_and_tests_that_exist(name: str) -> None:
    page = text(f"proofs/{name}.md")
    assert "**Claim.**" in page
    assert "**Needs.**" in page
    paths = re.findall(r"`((?:src|tests)/[\w/.]+)`", page)
    assert {path.split("/")[0] for path in paths} == {"src", "tests"}
    for path in paths:
        assert (DOCS.parent / path).exists(), path
    for target in re.findall(r"\]\(([\w-]+\.md)\)", page):
        assert (DOCS / "proofs" / target).exists(), target


def test_docstrings_name_pages_and_headings_that_exist() -> None:
    named = set()
    for source in SOURCES:
        code = source.read_text(encoding="utf-8")
        for page, heading in re.findall(r"docs/proofs/([\w-]+)\.md(?:, \"([^\"]+)\")?", code):
            named.add(page)
            assert page in PROOFS, (source.name, page)
            if heading:
                plain = re.escape(heading.rstrip("."))
                assert re.search(rf"^#+ {plain}$|^\*{plain}[.*]", text(f"proofs/{page}.md"), flags=re.MULTILINE), (
                    source.name,
                    heading,
                )
    assert named == set(PROOFS), "a proof that no docstring names"
