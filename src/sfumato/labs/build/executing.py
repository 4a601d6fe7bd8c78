"""Runs the notebook of a teacher's edition, and draws the figures that need no solution."""

import base64
import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from sfumato.labs.build.data_files import write_data
from sfumato.labs.build.edition import Edition
from sfumato.labs.build.notebook import notebook, passport
from sfumato.labs.build.wordings import cell_failed, maker_needs, student_needs
from sfumato.labs.source import Cell

SECONDS = 300  # a cell may take
SHARP = '%config InlineBackend.figure_format = "retina"'
# Draws each figure into a file: given cells before the first task, then the figure.
DRAWING = """
import json, sys
import matplotlib
matplotlib.use("Agg")
from matplotlib import pyplot
plan = json.load(sys.stdin)
names = {}
for id_, source in plan["first"]:
    exec(compile(source, id_, "exec"), names)
pyplot.show = lambda *arguments, **options: None
for id_, source in plan["figures"]:
    pyplot.close("all")
    exec(compile(source, id_, "exec"), names)
    pyplot.savefig(f"{plan['folder']}/{id_}.png", dpi=144, bbox_inches="tight")
"""


@dataclass(frozen=True, slots=True)
class Outputs:
    """What cells showed: figures as PNG, and printed lines."""

    figures: Mapping[str, bytes]
    printed: Mapping[str, str]


NOTHING = Outputs({}, {})


def executed(edition: Edition) -> tuple[dict[str, Any], Outputs]:
    """The notebook of an edition with all its outputs. A cell that fails stops the build."""
    formats, client = _package("nbformat"), _package("nbclient")
    content = formats.from_dict(notebook(edition))
    content.cells.insert(0, formats.v4.new_code_cell(SHARP))
    with tempfile.TemporaryDirectory() as folder:
        _furnish(edition, Path(folder))
        runner = client.NotebookClient(content, timeout=SECONDS, resources={"metadata": {"path": folder}})
        runner.extra_arguments = ["--log-level=ERROR"]
        try:
            runner.execute()
        except client.exceptions.CellExecutionError as error:
            broken = next(cell for cell in content.cells if _failed(cell))
            raise cell_failed(edition.lab.number, broken.id, f"{error.ename}: {error.evalue}") from None
    del content.cells[0]
    for cell in content.cells:
        cell.metadata.pop("execution", None)  # times of day: the same source gives the same file
    plain: dict[str, Any] = json.loads(json.dumps(content))
    return plain, outputs(plain)


def outputs(content: Mapping[str, Any]) -> Outputs:
    """Figures and printed lines of an executed notebook, by cell."""
    figures: dict[str, bytes] = {}
    printed: dict[str, str] = {}
    for cell in content["cells"]:
        lines = []
        for output in cell.get("outputs", ()):
            data = output.get("data", {})
            if "image/png" in data:
                figures[cell["id"]] = base64.b64decode(data["image/png"])
            elif output["output_type"] == "stream":
                lines.append(_joined(output["text"]))
            elif "text/plain" in data:
                lines.append(_joined(data["text/plain"]))
        if lines:
            printed[cell["id"]] = "\n".join(line.rstrip("\n") for line in lines)
    return Outputs(figures, printed)


def theory_figures(edition: Edition) -> Outputs:
    """Figures that need no solution, drawn in a process of their own, which needs no Jupyter.

    They may use the given cells that stand before the first task.
    """
    cells = edition.lab.cells
    wanted = [cell for cell in cells if cell.role == "figure" and cell.theory]
    if not wanted:
        return NOTHING
    before = cells[: next(place for place, cell in enumerate(cells) if cell.role == "task")]
    first = [cell for cell in before if cell.role == "given"]
    with tempfile.TemporaryDirectory() as folder:
        _furnish(edition, Path(folder))
        plan = {"first": _sources(edition, first), "figures": _sources(edition, wanted), "folder": folder}
        command = [sys.executable, "-c", DRAWING]
        done = subprocess.run(command, input=json.dumps(plan), capture_output=True, text=True, cwd=folder, check=False)
        if done.returncode:
            _explain(edition, done.stderr)
        return Outputs({cell.id: (Path(folder) / f"{cell.id}.png").read_bytes() for cell in wanted}, {})


def _explain(edition: Edition, said: str) -> None:
    lines = said.strip().splitlines() or ["the process ended"]
    if lines[-1].startswith("ModuleNotFoundError: No module named 'matplotlib"):
        raise student_needs("the figures of a hand-out", "matplotlib")
    known = {cell.id for cell in edition.lab.cells}
    places = [word for line in lines for word in line.split('"') if word in known]
    raise cell_failed(edition.lab.number, places[-1] if places else "setup", lines[-1])


def _sources(edition: Edition, cells: list[Cell]) -> list[tuple[str, str]]:
    return [(cell.id, edition.code(cell)) for cell in cells]


def _furnish(edition: Edition, folder: Path) -> None:
    """What stands beside a notebook: its data, and lab.json."""
    write_data(edition, folder)
    (folder / "lab.json").write_text(json.dumps(passport(edition)), encoding="utf-8")


def _failed(cell: Mapping[str, Any]) -> bool:
    return any(output["output_type"] == "error" for output in cell.get("outputs", ()))


def _joined(said: str | list[str]) -> str:
    return said if isinstance(said, str) else "".join(said)


def _package(name: str) -> ModuleType:
    try:
        return import_module(name)
    except ModuleNotFoundError:
        raise maker_needs("an executed notebook", name) from None
