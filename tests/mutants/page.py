"""The table of outcomes in docs/explanation/mutants.md; the words around it are written by hand."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.mutants.run import Outcome

BEGIN, END = "<!-- measured -->\n", "<!-- end -->"


def write_page(path: Path, outcomes: Sequence[Outcome]) -> None:
    before, _, rest = path.read_text(encoding="utf-8").partition(BEGIN)
    path.write_text(before + BEGIN + measured(outcomes) + END + rest.partition(END)[2], encoding="utf-8")


def measured(outcomes: Sequence[Outcome]) -> str:
    killed = sum(outcome.status == "killed" for outcome in outcomes)
    lines = [
        f"\n{killed} of {len(outcomes)} killed.\n",
        "| bug | file | what it does | outcome | noticed by | s |",
        "| --- | --- | --- | --- | --- | ---: |",
        *(
            f"| {one.name} | `{one.file}` | {one.harm} | {one.status} | `{one.by}` | {one.seconds:.1f} |".replace(
                "| `` |", "| |"
            )
            for one in outcomes
        ),
    ]
    return "\n".join(lines) + "\n\n"
