"""Grading a class, and checks beside those of the leading course, run again on the same wrong answers.

The other course's asserts are those of its homework notebooks (github.com/jnear/cs3110-data-privacy, homework 3,
question 3, and homework 5, question 1), word for word but for the table, which is replaced by its counts.
"""

import json
import tempfile
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from sfumato.labs import judge, laws
from sfumato.labs.build.edition import Edition
from sfumato.labs.build.notebook import notebook
from sfumato.labs.course import new_course
from sfumato.labs.grade.grading import grade
from sfumato.labs.source import load

OURS = "ours"
COUNT = 9726
OCCUPATIONS = np.array([4140, 4099, 4066, 3770, 3650, 3295, 2002, 1843, 1597, 1370, 994, 928, 649, 149, 9])
ANSWERS: dict[str, Callable[[float, np.random.Generator], float]] = {
    "right": lambda scale, rng: rng.laplace(0, scale),
    "no noise": lambda scale, rng: 0.0,  # noqa: ARG005
    "ε ten times too large": lambda scale, rng: rng.laplace(0, scale / 10),
    "half the noise": lambda scale, rng: rng.laplace(0, scale / 2),
    "uniform, private for no ε": lambda scale, rng: rng.uniform(-scale, scale),
    "biased": lambda scale, rng: 0.8 * scale + rng.laplace(0, scale),
    "twice the noise": lambda scale, rng: rng.laplace(0, 2 * scale),
}


def _question_3(noise: Callable[[float, np.random.Generator], float], rng: np.random.Generator) -> bool:
    dp_results = [COUNT + noise(1 / 0.1, rng) for _ in range(100)]
    spec = [rng.laplace(loc=COUNT, scale=1 / 0.1) for _ in range(100)]
    return bool(stats.wasserstein_distance(dp_results, spec) < 10)


def _histogram(noise: Callable[[float, np.random.Generator], float], rng: np.random.Generator) -> bool:
    def passes(epsilon: float, low: float, high: float) -> bool:
        def released() -> Any:
            return OCCUPATIONS + np.array([noise(1 / epsilon, rng) for _ in OCCUPATIONS])

        dp_results = [np.abs(released() - OCCUPATIONS) for _ in range(200)]
        all_dp_results = [item for sublist in dp_results for item in sublist]
        spec = [rng.laplace(loc=0, scale=1 / epsilon) for _ in range(2000)]
        return low < stats.wasserstein_distance(all_dp_results, spec) < high

    return passes(1.0, 0, 2) and passes(0.01, 50, 150)


def _ours(noise: Callable[[float, np.random.Generator], float], rng: np.random.Generator) -> bool:
    def draw(seed: int) -> Any:
        source = np.random.default_rng(seed)
        return COUNT + np.array([noise(10.0, source) for _ in range(5000)])

    with judge.seeded(int(rng.integers(1 << 40))):
        return judge.law(draw, laws.laplace(COUNT, 10.0)).passed


def checks_beside(runs: int = 400, histogram_runs: int = 40, seed: int = 7) -> dict[str, dict[str, float]]:
    """answer -> the share of runs in which each check passes it."""
    rng = np.random.default_rng(seed)
    table: dict[str, dict[str, float]] = {}
    for name, noise in ANSWERS.items():
        table[name] = {
            "their count (homework 3)": float(np.mean([_question_3(noise, rng) for _ in range(runs)])),
            "their histogram (homework 5)": float(np.mean([_histogram(noise, rng) for _ in range(histogram_runs)])),
            OURS: float(np.mean([_ours(noise, rng) for _ in range(runs // 4)])),
        }
    return table


def grading_thirty(lab_number: int = 2, students: int = 30) -> tuple[float, float]:
    """Seconds to grade thirty right submissions of a lab, each of its own variant; and their share of all points."""
    lab = load(lab_number)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        lines = ["id,name,lang", *(f"s{n:02},Student {n},{('en', 'ru')[n % 2]}" for n in range(students))]
        (place / "students.csv").write_text("\n".join(lines), encoding="utf-8")
        course, _ = new_course(place / "students.csv", place / "course")
        (place / "sent").mkdir()
        for student in course.students:
            edition = Edition(lab, course.variant(student, lab), student.lang, True, course.token(student, lab))
            with zipfile.ZipFile(place / "sent" / f"{student.id}.zip", "w") as archive:
                archive.writestr(f"lab{lab_number:02}.ipynb", json.dumps(notebook(edition)))
        start = time.perf_counter()
        session = grade(course, place / "sent")
        seconds = time.perf_counter() - start
    return seconds, float(np.mean([one.points / one.out_of for one in session.graded]))
