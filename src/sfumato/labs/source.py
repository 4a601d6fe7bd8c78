"""A lab's folder, read: cells, prose by language, variants. Nothing else reads these files."""

import importlib.util
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, get_args

from sfumato.labs.languages import LANGUAGES, language
from sfumato.labs.prose import Prose, read_prose
from sfumato.labs.variant import Variant, practice_seed
from sfumato.labs.wordings import language_missing, no_lab_named, source_wrong, unknown_lab, unknown_variant
from sfumato.labs.words import CONTENT

Role = Literal["given", "task", "check", "figure", "teacher"]
ROLES: tuple[Role, ...] = get_args(Role)
OPTIONS = ("id", "role", "points", "defines", "needs", "after", "theory")
FOLDER = re.compile(r"lab(\d\d)_\w+")
BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"


@dataclass(frozen=True, slots=True)
class Cell:
    """One `# %%` of cells.py; placeholders still in it."""

    id: str
    role: Role
    source: str
    points: float = 0.0
    defines: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    after: str = ""
    theory: bool = False  # a figure that needs no solution


@dataclass(frozen=True)
class Lab:
    """All of a lab but its modules, which are loaded by `module`."""

    number: int
    slug: str
    hours: float
    prerequisites: tuple[int, ...]
    points: Mapping[str, float]
    cells: tuple[Cell, ...]
    prose: Mapping[str, Prose]
    variants: Mapping[int, Mapping[str, Any]]
    folder: Path

    @property
    def tasks(self) -> tuple[Cell, ...]:
        return tuple(cell for cell in self.cells if cell.role == "task")

    def cell(self, id_: str) -> Cell:
        return next(cell for cell in self.cells if cell.id == id_)

    def words(self, lang: str) -> Prose:
        """The prose of one language; refuses one that is unknown or not written yet."""
        if language(lang).code not in self.prose:
            raise language_missing(self.number, lang, self.prose)
        return self.prose[lang]

    def variant(self, number: int, seed: int | None = None) -> Variant:
        """A row of variants.toml with a student's seed; without one, that of whoever works alone."""
        if number not in self.variants:
            raise unknown_variant(self.number, number, self.variants)
        return Variant(self.slug, number, practice_seed(number) if seed is None else seed, self.variants[number])

    def module(self, name: Literal["checks", "mutants", "numbers"]) -> ModuleType:
        """A Python file of the folder."""
        return _module(self.folder, name)


def numbers_of_labs(content: Path = CONTENT) -> tuple[int, ...]:
    """Which labs there are."""
    return tuple(sorted(_folders(content)))


def load(number: int, content: Path = CONTENT) -> Lab:
    """The lab of this number; read once."""
    folders = _folders(content)
    if number not in folders:
        raise unknown_lab(number, folders)
    return read(folders[number])


def named(word: str, content: Path = CONTENT) -> Lab:
    """The lab that somebody means by its number, its slug or the last part of that."""
    folders = _folders(content)
    if word.strip().isdecimal():
        return load(int(word), content)
    names = {name: path for path in folders.values() for name in (path.name, path.name.partition("_")[2])}
    if word not in names:
        raise no_lab_named(word, names, folders)
    return read(names[word])


@cache
def read(folder: Path) -> Lab:
    """A lab from its folder."""
    about = _toml(folder / "lab.toml")
    missing = [key for key in ("number", "slug", "hours", "prerequisites", "points") if key not in about]
    if missing:
        raise source_wrong(f"{folder.name}/lab.toml", f"{', '.join(missing)} missing")
    if about["slug"] != folder.name:
        raise source_wrong(f"{folder.name}/lab.toml", f"the slug {about['slug']} is not the name of the folder")
    prose = {
        code: read_prose(path.read_text(encoding="utf-8"), code, f"{folder.name}/{path.name}")
        for code in LANGUAGES
        if (path := folder / f"{code}.md").is_file()
    }
    rows = _toml(folder / "variants.toml")["variant"]
    return Lab(
        number=about["number"],
        slug=about["slug"],
        hours=about["hours"],
        prerequisites=tuple(about["prerequisites"]),
        points=about["points"],
        cells=read_cells((folder / "cells.py").read_text(encoding="utf-8"), f"{folder.name}/cells.py"),
        prose=prose,
        variants={row["number"]: row for row in rows},
        folder=folder,
    )


def read_cells(source: str, where: str) -> tuple[Cell, ...]:
    """The cells of a py:percent file, in order."""
    pieces = re.split(r"^# %%(.*)$", source, flags=re.MULTILINE)
    cells = [_cell(options, body.strip("\n"), where) for options, body in zip(pieces[1::2], pieces[2::2], strict=True)]
    seen: set[str] = set()
    for cell in cells:
        if cell.id in seen:
            raise source_wrong(where, f"two cells have the id {cell.id}")
        unknown = [need for need in (*cell.needs, *filter(None, [cell.after])) if need not in seen]
        if unknown:
            raise source_wrong(f"{where}, cell {cell.id}", f"{', '.join(unknown)} does not stand before it")
        seen.add(cell.id)
    return tuple(cells)


def _cell(options: str, body: str, where: str) -> Cell:
    pairs = dict(word.partition("=")[::2] for word in options.split())
    unknown = [name for name in pairs if name not in OPTIONS]
    here = f"{where}, cell {pairs.get('id', '?')}"
    if unknown or not pairs.get("id"):
        raise source_wrong(here, f"a cell has the options {', '.join(OPTIONS)}, and an id always")
    role = next((role for role in ROLES if role == pairs.get("role")), None)
    if role is None:
        raise source_wrong(here, f"role must be one of {', '.join(ROLES)}")
    defines = _names(pairs.get("defines", ""))
    if (role == "task") != bool(defines and pairs.get("points")):
        raise source_wrong(here, "a task has points and says what it defines, and nothing else does")
    if body.count(BEGIN) != body.count(END) or (role == "task") != (BEGIN in body):
        raise source_wrong(here, f"the solution of a task, and nothing else, stands between {BEGIN} and {END}")
    return Cell(
        id=pairs["id"],
        role=role,
        source=body,
        points=float(pairs.get("points") or 0),
        defines=defines,
        needs=_names(pairs.get("needs", "")),
        after=pairs.get("after", ""),
        theory=pairs.get("theory", "false") == "true",
    )


def _names(written: str) -> tuple[str, ...]:
    return tuple(name for name in written.split(",") if name)


def _folders(content: Path) -> dict[int, Path]:
    matched = ((FOLDER.fullmatch(path.name), path) for path in content.iterdir() if (path / "lab.toml").is_file())
    return {int(match[1]): path for match, path in matched if match}


def _toml(path: Path) -> dict[str, Any]:
    where = f"{path.parent.name}/{path.name}"
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise source_wrong(where, "the file is missing") from None
    except tomllib.TOMLDecodeError as error:
        raise source_wrong(where, f"not TOML: {error}") from None


@cache
def _module(folder: Path, name: str) -> ModuleType:
    """Shipped labs are modules of the package; a folder elsewhere (a test's) is loaded from its file."""
    if folder.parent == CONTENT:
        return import_module(f"sfumato.labs.content.{folder.name}.{name}")
    specification = importlib.util.spec_from_file_location(f"{folder.name}_{name}", folder / f"{name}.py")
    if specification is None or specification.loader is None:
        raise source_wrong(f"{folder.name}/{name}.py", "the file is missing")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module
