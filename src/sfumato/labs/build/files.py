"""Files of editions, and the folder of a student."""

import json
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Literal, get_args

from sfumato.labs.build.data_files import write_data
from sfumato.labs.build.edition import Edition
from sfumato.labs.build.executing import NOTHING, Outputs, executed, theory_figures
from sfumato.labs.build.notebook import as_json, notebook, passport
from sfumato.labs.build.pandoc import pandoc_path
from sfumato.labs.build.paper import as_pages, as_pdf
from sfumato.labs.build.sheets import contact_sheet
from sfumato.labs.build.web import as_html
from sfumato.labs.build.word import as_docx
from sfumato.labs.build.wordings import folder_exists, folder_unwritable, languages_differ
from sfumato.labs.parity import differences
from sfumato.labs.source import Lab

Kind = Literal["ipynb", "docx", "pdf", "html", "csv"]
KINDS: tuple[Kind, ...] = get_args(Kind)
DOCUMENTS: dict[Kind, Callable[[Edition, Outputs], bytes]] = {"docx": as_docx, "pdf": as_pdf, "html": as_html}
LAB_JSON = "lab.json"
SHEET_DOTS = 48.0  # an inch: letters can just be read


def check_parity(lab: Lab) -> None:
    """Refuses a lab whose languages differ."""
    found = differences(lab)
    if found:
        raise languages_differ(lab.number, found)


def fresh(folder: Path) -> Path:
    """A new folder; one that exists stays as it is, unless it is empty."""
    try:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise folder_exists(str(folder))
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise folder_unwritable(str(folder), os.strerror(error.errno or 0)) from None
    return folder


def write_edition(
    edition: Edition, kinds: Iterable[Kind], folder: Path, seen: Outputs | None = None, *, sheets: bool = False
) -> tuple[list[Path], Outputs]:
    """The wanted files of one edition, and what its cells showed.

    The teacher's is executed, so its documents show what cells print and draw. `seen`: what the teacher's edition
    showed; of it students get the figures that need no solution. `sheets`: with all pages of the PDF in one picture.
    """
    wanted = list(kinds)
    documents = [kind for kind in wanted if kind in DOCUMENTS]
    content, shown = notebook(edition), NOTHING
    if edition.teacher and ("ipynb" in wanted or documents or sheets):
        content, shown = executed(edition)
    elif documents or sheets:
        shown = theory_figures(edition) if seen is None else _theory_of(edition, seen)
    written = []
    if "ipynb" in wanted:
        written.append(_put(folder / f"{edition.name}.ipynb", as_json(content).encode("utf-8")))
        written.append(_put(folder / LAB_JSON, _passport(edition)))
    written += [_put(folder / f"{edition.name}.{kind}", DOCUMENTS[kind](edition, shown)) for kind in documents]
    if sheets:
        pages = as_pages(edition, shown, SHEET_DOTS)
        written.append(_put(folder / f"{edition.name}.png", contact_sheet(pages)))
    if "csv" in wanted or "ipynb" in wanted:
        written += write_data(edition, folder)
    return written, shown


def _theory_of(edition: Edition, seen: Outputs) -> Outputs:
    theory = {cell.id for cell in edition.lab.cells if cell.theory}
    return Outputs({name: picture for name, picture in seen.figures.items() if name in theory}, {})


def write_student_folder(edition: Edition, folder: Path, hand_outs: Sequence[Kind] = ("html",)) -> list[Path]:
    """What a student works with: notebook, data, lab.json, hand-out. The folder must be new or empty."""
    if hand_outs:
        pandoc_path()
    shown = theory_figures(edition) if hand_outs else NOTHING
    pages = {kind: DOCUMENTS[kind](edition, shown) for kind in hand_outs}  # made first: nothing is left half done
    fresh(folder)
    return [
        _put(folder / notebook_name(edition), as_json(notebook(edition)).encode("utf-8")),
        _put(folder / LAB_JSON, _passport(edition)),
        *write_data(edition, folder),
        *(_put(folder / f"hand-out.{kind}", page) for kind, page in pages.items()),
    ]


def notebook_name(edition: Edition) -> str:
    return f"lab{edition.lab.number:02}.ipynb"


def _passport(edition: Edition) -> bytes:
    return (json.dumps(passport(edition), ensure_ascii=False, indent=1) + "\n").encode("utf-8")


def _put(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path
