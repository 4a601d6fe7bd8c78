"""The one place that calls pandoc."""

import subprocess
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from sfumato.labs.build.wordings import document_failed, student_needs

# What the prose of labs may use; no raw HTML or TeX slips through.
READS = "markdown-raw_tex-raw_html-citations+pipe_tables+tex_math_dollars+fenced_divs+bracketed_spans"


def pandoc_path() -> str:
    """The pandoc of pypandoc_binary, and no other that the machine may have."""
    try:
        files = Path(str(import_module("pypandoc").__file__)).parent / "files"
    except ModuleNotFoundError:
        raise student_needs("a hand-out", "pypandoc_binary") from None
    found = [path for path in (files / "pandoc", files / "pandoc.exe") if path.is_file()]
    if not found:
        raise student_needs("a hand-out", "pypandoc_binary")
    return str(found[0])


def convert(markdown: str, arguments: Sequence[str], what: str) -> bytes:
    """What pandoc makes of it, from its standard output or nothing if it writes a file."""
    command = [pandoc_path(), f"--from={READS}", *arguments]
    done = subprocess.run(command, input=markdown.encode("utf-8"), capture_output=True, check=False)
    said = done.stderr.decode("utf-8", "replace").strip()
    serious = [line for line in said.splitlines() if "translation" not in line.lower()]
    if done.returncode or serious:
        raise document_failed(what, " ".join(serious or [said])[:500])
    return done.stdout


def printed(data_file: str) -> bytes:
    """A file that pandoc carries."""
    command = [pandoc_path(), f"--print-default-data-file={data_file}"]
    return subprocess.run(command, capture_output=True, check=True).stdout
