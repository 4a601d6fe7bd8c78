"""What grading found out, as plain values that are written to the course and read by reports."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sfumato.labs.verdict import Verdict


@dataclass(frozen=True, slots=True)
class TaskResult:
    task: str
    points: float
    out_of: float
    verdict: Verdict
    seconds: float


@dataclass(frozen=True, slots=True)
class Graded:
    """One student's submission of one lab. `flags` are for the teacher's eyes: codes of [report]."""

    student: str
    lab: int
    variant: int
    file: str
    tasks: tuple[TaskResult, ...]
    flags: tuple[str, ...]
    unsafe: bool
    when: str
    checks: str  # hash of the checks that gave the verdicts

    @property
    def points(self) -> float:
        return sum(task.points for task in self.tasks)

    @property
    def out_of(self) -> float:
        return sum(task.out_of for task in self.tasks)


def write_result(graded: Graded, folder: Path) -> Path:
    """Whole or not at all; an earlier result of the same student and lab is replaced."""
    place = folder / f"lab{graded.lab:02}"
    place.mkdir(parents=True, exist_ok=True)
    path = place / f"{graded.student}.json"
    waiting = path.with_suffix(".new")
    content = asdict(graded)
    for task, one in zip(content["tasks"], graded.tasks, strict=True):
        task["verdict"] = _as_dict(one.verdict)
    waiting.write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    waiting.replace(path)
    return path


def _as_dict(verdict: Verdict) -> dict[str, Any]:
    return {"passed": verdict.passed, "code": verdict.code, "values": dict(verdict.values), "p": verdict.p}


def read_results(paths: Iterable[Path]) -> list[Graded]:
    return [_graded(json.loads(path.read_text(encoding="utf-8"))) for path in paths]


def _graded(content: dict[str, Any]) -> Graded:
    tasks = tuple(TaskResult(**{**task, "verdict": Verdict(**task["verdict"])}) for task in content["tasks"])
    return Graded(**{**content, "tasks": tasks, "flags": tuple(content["flags"])})
