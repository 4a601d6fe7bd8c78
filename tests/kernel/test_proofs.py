"""Every claim of the sources points to a page that exists, and every page is pointed to."""

import re
from pathlib import Path

import sfumato

SOURCE = Path(sfumato.__file__).parent
ROOT = SOURCE.parents[1]
POINTER = re.compile(r"docs/proofs/\s*([a-z0-9-]+\.md)")


def pointers() -> dict[str, set[str]]:
    """Page -> the source files that name it. A path may be broken over two lines."""
    found: dict[str, set[str]] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        for page in POINTER.findall(path.read_text(encoding="utf-8")):
            found.setdefault(page, set()).add(str(path.relative_to(SOURCE)))
    return found


def test_every_proof_the_sources_name_exists() -> None:
    missing = {page: where for page, where in pointers().items() if not (ROOT / "docs" / "proofs" / page).is_file()}
    assert not missing


def test_every_proof_is_named_by_a_source_or_by_another_proof() -> None:
    pages = sorted((ROOT / "docs" / "proofs").glob("*.md"))
    named = set(pointers())
    for page in pages:
        named |= set(re.findall(r"\(([a-z0-9-]+\.md)\)", page.read_text(encoding="utf-8")))
    assert {page.name for page in pages} - {"README.md"} <= named


def test_proofs_name_files_and_tests_that_exist() -> None:
    """`src/…` and `tests/…` in a proof are paths of this repository."""
    for page in sorted((ROOT / "docs" / "proofs").glob("*.md")):
        for path in re.findall(r"`((?:src|tests|docs)/[A-Za-z0-9_./-]+)`", page.read_text(encoding="utf-8")):
            assert (ROOT / path).exists(), f"{page.name} names {path}"


def test_links_between_proofs_hold() -> None:
    folder = ROOT / "docs" / "proofs"
    for page in sorted(folder.glob("*.md")):
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
            assert (folder / target).exists(), f"{page.name} links to {target}"
