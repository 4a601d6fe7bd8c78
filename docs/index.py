"""The list of all pages in docs/README.md, by kind, from their first headings."""

from collections.abc import Iterator
from pathlib import Path

from docs.markdown import between, headings

HERE = Path(__file__).parent
PAGE = HERE / "README.md"
# Each folder and the heading of its pages.
KINDS = {
    "tutorial": "Tutorials",
    "how-to": "How-tos",
    "reference": "Reference",
    "explanation": "Explanation",
    "proofs": "Proofs",
    "decisions": "Decisions",
}


def write_index() -> None:
    PAGE.write_text(renewed(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


def renewed(text: str) -> str:
    return between(text, "<!-- pages -->", "\n\n" + "\n".join(_lines()) + "\n", "<!-- end -->")


def title(path: Path) -> str:
    return headings(path.read_text(encoding="utf-8"))[0]


def _lines() -> Iterator[str]:
    for folder, heading in KINDS.items():
        yield f"## {heading}\n"
        pages = sorted((HERE / folder).rglob("*.md"))
        pages.sort(key=lambda path: path.relative_to(HERE / folder).with_suffix("").parts)
        for path in pages:
            inside = len(path.relative_to(HERE / folder).parts) - 1
            yield f"{'  ' * inside}- [{title(path)}]({path.relative_to(HERE).as_posix()})"
        yield ""
