"""The index names every page, and every link leads to a file and a heading that are there."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from docs.index import KINDS, PAGE, renewed, title
from docs.markdown import anchors, headings

from tests.architecture.sources import ROOT

PAGES = sorted(
    [*(ROOT / "docs").rglob("*.md"), *(ROOT / name for name in ("README.md", "ARCHITECTURE.md", "SECURITY.md"))]
    + [ROOT / name for name in ("CONTRIBUTING.md", "CHANGELOG.md", "tests/README.md") if (ROOT / name).is_file()]
)
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")


def text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@cache
def places(path: Path) -> frozenset[str]:
    return frozenset(anchors(headings(text(path))))


def links(page: str) -> Iterator[str]:
    """Local ones, code left out."""
    prose = re.sub(r"^```.*?^```|`[^`\n]*`", "code", page, flags=re.MULTILINE | re.DOTALL)
    for target in LINK.findall(prose):
        if not re.match(r"[a-z]+:", target):
            yield target


def broken(page: Path, content: str) -> list[str]:
    found = []
    for target in links(content):
        name, _, place = target.partition("#")
        file = (page.parent / name).resolve() if name else page
        if not file.exists() or (place and (file.suffix != ".md" or place not in places(file))):
            found.append(target)
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_link_leads_somewhere(page: Path) -> None:
    assert broken(page, text(page)) == []


def test_a_link_to_nowhere_is_seen() -> None:
    page = ROOT / "docs" / "README.md"
    wrong = "[a](nowhere.md) [b](../SECURITY.md#nowhere) ![c](images/none.svg) [d](#nowhere) [`e`](reference/none.md)"
    assert len(broken(page, wrong)) == 5
    assert (
        broken(page, "[a](../SECURITY.md#known-limits) [b](https://toml.io) `[c](none.md)`\n```\n[d](none.md)\n```")
        == []
    )


def test_the_index_is_up_to_date() -> None:
    assert text(PAGE) == renewed(text(PAGE)), "Run: python -m docs.generate"


def test_the_index_names_every_page() -> None:
    named = set(re.findall(r"^ *- \[.*\]\(([^)]+\.md)\)$", text(PAGE).partition("<!-- pages -->")[2], re.M))
    assert named == {
        path.relative_to(PAGE.parent).as_posix() for kind in KINDS for path in (PAGE.parent / kind).rglob("*.md")
    }
    assert {path.name for path in PAGE.parent.iterdir() if path.is_dir()} - set(KINDS) <= {"images", "__pycache__"}


@pytest.mark.parametrize(
    "page", [page for page in PAGES if page.is_relative_to(ROOT / "docs")], ids=lambda page: page.name
)
def test_a_page_begins_with_its_title(page: Path) -> None:
    assert text(page).startswith(f"# {title(page)}\n")


def test_the_index_has_its_place() -> None:
    with pytest.raises(ValueError, match="there is no"):
        renewed("a text without marks")


def test_places_are_counted_as_readers_see_them() -> None:
    assert anchors(["sf.geo.Device", "sf.geo.device", "Where is …", "`[data]`"]) == [
        "sfgeodevice",
        "sfgeodevice-1",
        "where-is-",
        "data",
    ]
    assert headings("# A\n```sh\n# no heading\n```\n## B\n") == ["A", "B"]


# ---- pages that name files


@pytest.mark.parametrize("name", ["ARCHITECTURE.md", "docs/how-to/change-it.md"])
def test_files_that_are_named_exist(name: str) -> None:
    """In backticks, below src/sfumato or from the root; `{a,b}.py` is both, `<name>` is yours, a bare name anywhere."""
    for given in re.findall(r"`([\w{},/.*<>-]+(?:\.(?:py|md|txt|toml)|/))`", text(ROOT / name)):
        folder, brace, rest = given.partition("{")
        inner, _, end = rest.partition("}")
        for path in [folder + one + end for one in inner.split(",")] if brace else [given]:
            if "<" in path:
                continue
            pattern = path.rstrip("/") if "/" in path else f"**/{path}"
            assert any(True for base in (ROOT / "src" / "sfumato", ROOT) for _ in base.glob(pattern)), path


def test_every_picture_is_shown_somewhere() -> None:
    shown = {(page.parent / target).resolve() for page in PAGES for target in links(text(page))}
    kept = {path for path in (ROOT / "docs" / "images").rglob("*") if path.suffix in (".svg", ".png")}
    assert sorted(path.name for path in kept - shown) == []


def test_the_packages_with_wordings_are_named() -> None:
    (row,) = [
        line for line in text(ROOT / "ARCHITECTURE.md").splitlines() if line.startswith("| a refusal is worded |")
    ]
    listed = re.findall(r"`(\w+)`", row.partition("(")[2].partition("; besides")[0])
    assert listed == sorted(path.parent.name for path in (ROOT / "src" / "sfumato").glob("*/wordings.py"))
