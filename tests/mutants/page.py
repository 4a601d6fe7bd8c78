"""The table of outcomes in docs/explanation/mutants.md; the words around it are written by hand."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.mutants.run import Outcome

BEGIN, END = "<!-- measured -->\n", "<!-- end -->"


def write_page(path: Path, outcomes: Sequence[Outcome], names: Sequence[str]) -> None:
    """The newest outcome of every bug that is planted: those of this run, and of earlier ones for the others."""
    before, _, rest = path.read_text(encoding="utf-8").partition(BEGIN)
    table, _, after = rest.partition(END)
    rows = {row.split(" | ")[0].removeprefix("| "): row for row in table.splitlines() if row.startswith("| ")}
    rows |= {outcome.name: _row(outcome) for outcome in outcomes}
    kept = [rows[name] for name in names if name in rows]
    path.write_text(before + BEGIN + measured(kept) + END + after, encoding="utf-8")


def measured(rows: Sequence[str]) -> str:
    killed = sum(" | killed | " in row for row in rows)
    head = ("| bug | file | what it does | outcome | noticed by | s |", "| --- | --- | --- | --- | --- | ---: |")
    return "\n".join([f"\n{killed} of {len(rows)} killed.\n", *head, *rows]) + "\n\n"


def _row(one: Outcome) -> str:
    row = f"| {one.name} | `{one.file}` | {one.harm} | {one.status} | `{one.by}` | {one.seconds:.1f} |"
    return row.replace("| `` |", "| |")
