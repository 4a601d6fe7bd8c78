"""What came back, in any state: notebooks, folders, archives, read without unpacking, following or running anything."""

import json
import os
import re
import stat
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sfumato.labs.grade.wordings import no_folder, no_submissions
from sfumato.visible import visible

LARGEST = 64 << 20  # of a notebook; more is outputs, or an attack
SOURCES = 4 << 20  # of all code of a notebook
ENTRIES = 2000  # of an archive
SKIPPED = frozenset({"__MACOSX", ".ipynb_checkpoints", ".git"})


@dataclass(frozen=True)
class Notebook:
    """The code of a notebook, and what it says of itself; `problem` is a verdict's code when it cannot be read."""

    cells: tuple[dict[str, str], ...] = ()
    lab: int | None = None
    token: str = ""
    problem: str = ""


@dataclass(frozen=True)
class Found:
    """A file that may be a submission."""

    label: str  # its path, for people
    names: tuple[str, ...]  # folders and files on the way to it, of which one may carry the student's id
    written: float
    notebook: Notebook = field(default_factory=Notebook)


def collected(folder: Path) -> tuple[list[Found], list[str]]:
    """All notebooks of a folder, also inside archives; and what was left aside, in words for the teacher."""
    if not folder.is_dir():
        raise no_folder(str(folder))
    found: list[Found] = []
    aside: list[str] = []
    for path in _files(folder, aside):
        names = path.relative_to(folder).parts
        label = visible(str(path.relative_to(folder)))
        if path.suffix.casefold() == ".ipynb":
            found.append(Found(label, names, path.stat().st_mtime, _read_file(path)))
        elif path.suffix.casefold() == ".zip":
            found += _archive(path, names, label, aside)
    if not found and not aside:
        raise no_submissions(str(folder))
    return found, aside


def _files(folder: Path, aside: list[str]) -> Iterator[Path]:
    """Regular files only: a link could show any file of the teacher, a pipe would never end."""
    for here, folders, files in os.walk(folder, followlinks=False):
        links = [Path(here, name) for name in folders if os.path.islink(os.path.join(here, name))]
        aside += [f"{visible(str(link.relative_to(folder)))}: link" for link in links]
        folders[:] = sorted(name for name in folders if name not in SKIPPED)
        for name in sorted(files):
            path = Path(here, name)
            mode = path.lstat().st_mode
            if stat.S_ISREG(mode):
                yield path
            else:
                aside.append(f"{visible(str(path.relative_to(folder)))}: {'link' if stat.S_ISLNK(mode) else 'no file'}")


def _read_file(path: Path) -> Notebook:
    try:
        if path.stat().st_size > LARGEST:
            return Notebook(problem="too_long")
        return read_notebook(path.read_bytes())
    except OSError:
        return Notebook(problem="unreadable")


def _archive(path: Path, names: tuple[str, ...], label: str, aside: list[str]) -> Iterator[Found]:
    """Notebooks inside an archive, read up to a size in memory; nothing is unpacked to the disk."""
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
            if len(entries) > ENTRIES:
                aside.append(f"{label}: more than {ENTRIES} files")
                return
            wanted = [one for one in entries if _is_notebook(one)]
            for entry in wanted:
                inside = tuple(part for part in re.split(r"[\\/]", entry.filename) if part not in ("", ".", ".."))
                told = f"{label}/{visible('/'.join(inside))}"
                yield Found(told, (*names, *inside), path.stat().st_mtime, _read_entry(archive, entry))
            if not wanted:
                yield Found(label, names, path.stat().st_mtime, Notebook(problem="unreadable"))
    except (OSError, zipfile.BadZipFile, ValueError, NotImplementedError):
        yield Found(label, names, path.stat().st_mtime, Notebook(problem="unreadable"))


def _is_notebook(entry: zipfile.ZipInfo) -> bool:
    folders = re.split(r"[\\/]", entry.filename)
    is_link = stat.S_ISLNK(entry.external_attr >> 16)
    return entry.filename.casefold().endswith(".ipynb") and not SKIPPED & set(folders) and not is_link


def _read_entry(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> Notebook:
    if entry.file_size > LARGEST:
        return Notebook(problem="too_long")
    try:
        with archive.open(entry) as handle:
            raw = handle.read(LARGEST + 1)
    except (RuntimeError, OSError, zipfile.BadZipFile, NotImplementedError, ValueError, EOFError):
        return Notebook(problem="unreadable")  # with a password, damaged, of an unknown method
    return Notebook(problem="too_long") if len(raw) > LARGEST else read_notebook(raw)


def read_notebook(raw: bytes) -> Notebook:
    """Code cells of a notebook of any format that has cells; sources are texts, everything else is left behind."""
    try:
        content = json.loads(raw.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return Notebook(problem="unreadable")
    if not isinstance(content, dict):
        return Notebook(problem="unreadable")
    listed = content.get("cells")
    if listed is None and isinstance(content.get("worksheets"), list):  # format 3
        listed = [
            cell for sheet in content["worksheets"] if isinstance(sheet, dict) for cell in _list(sheet.get("cells"))
        ]
    if not isinstance(listed, list):
        return Notebook(problem="unreadable")
    cells = tuple(cell for cell in map(_cell, listed) if cell is not None)
    if sum(len(cell["source"]) for cell in cells) > SOURCES:
        return Notebook(problem="too_long")
    about = _dict(_dict(content.get("metadata")).get("sfumato"))
    lab, token = about.get("lab"), about.get("token")
    return Notebook(cells, lab if type(lab) is int else None, token[:100] if isinstance(token, str) else "")


def _cell(cell: Any) -> dict[str, str] | None:
    if not isinstance(cell, dict) or cell.get("cell_type") != "code":
        return None
    source = cell.get("source", cell.get("input", ""))
    if isinstance(source, list):
        source = "".join(line for line in source if isinstance(line, str))
    named = _dict(_dict(cell.get("metadata")).get("sfumato")).get("id", cell.get("id"))
    return {"id": named[:100] if isinstance(named, str) else "", "source": source} if isinstance(source, str) else None


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
