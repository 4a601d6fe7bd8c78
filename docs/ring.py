"""The parts of texts that follow from the list of trusted files and from the number of planted bugs."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

from docs.markdown import between
from tests.architecture.ring import COVERED_BESIDES, PARTS, PROMISED, RING, Part, of_part
from tests.mutants.planted import PLANTED

ROOT = Path(__file__).parents[1]
BUGS = re.compile(r"\b(plants?) \S+ bugs\b")


def write_ring() -> None:
    for name, renewed in RENEWED.items():
        path = ROOT / name
        path.write_text(renewed(path.read_text(encoding="utf-8")), encoding="utf-8")


def architecture(text: str) -> str:
    """The table of the rings in ARCHITECTURE.md."""
    lines = ["| ring | where | if it is wrong |", "| --- | --- | --- |"]
    for part in PARTS:
        title = PROMISED[part].title
        lines.append(f"| trusted: {title[0].lower()}{title[1:]} | {', '.join(_folded(part))} | privacy is lost |")
    lines.append("| untrusted | everything else | an answer may be bad, late or refused, never leaky |")
    return between(text, "<!-- ring -->", "\n\n" + "\n".join(lines) + "\n\n", "<!-- end -->")


def audit_page(text: str) -> str:
    """What to read, and in which order, in docs/explanation/audit-in-an-hour.md."""
    parts = []
    for part in PARTS:
        promise, start = PROMISED[part], 0
        head = "minutes" if part == "mechanism" else "minute"
        lines = [f"\n## {promise.title}: {promise.takes}\n", f"Afterwards you know: {promise.known}.\n"]
        lines += [f"| {head} | file | ask |", "| --- | --- | --- |"]
        for trusted in of_part(part):
            span = str(trusted.minutes) if part == "mechanism" else f"{start}–{start + trusted.minutes}"
            where = f"`{trusted.file}`" + (f", {trusted.lines}" if trusted.lines else "")
            lines.append(f"| {span} | {where} | {trusted.claim} |")
            start += trusted.minutes
        parts.append("\n".join(lines) + "\n")
    return bugs(between(text, "<!-- ring -->", "\n" + "".join(parts) + "\n", "<!-- end -->"))


def coverage(text: str) -> str:
    """The files that coverage measures, in pyproject.toml."""
    listed = sorted({trusted.file for trusted in RING} | set(COVERED_BESIDES))
    lines = "".join(f'  "*/sfumato/{file}",\n' for file in listed)
    return between(text, "# <ring>: written by python -m docs.generate", f"\ninclude = [\n{lines}]\n", "# </ring>")


def bugs(text: str) -> str:
    """How many bugs are planted, wherever it is said."""
    return BUGS.sub(lambda found: f"{found[1]} {len(PLANTED)} bugs", text)


def _folded(part: Part) -> Iterator[str]:
    """`kernel/{bulk,lazy}.py` for several files of a folder."""
    folders: dict[str, list[str]] = {}
    for trusted in of_part(part):
        folder, _, file = trusted.file.rpartition("/")
        folders.setdefault(folder, []).append(file.removesuffix(".py"))
    for folder, files in folders.items():
        named = files[0] if len(files) == 1 else "{" + ",".join(files) + "}"
        yield f"`{folder}/{named}.py`" if folder else f"`{named}.py`"


RENEWED: dict[str, Callable[[str], str]] = {
    "ARCHITECTURE.md": architecture,
    "docs/explanation/audit-in-an-hour.md": audit_page,
    "pyproject.toml": coverage,
    "README.md": bugs,
    "Makefile": bugs,
}
