"""How long people wait: a warm question with its durable charge, and the shell from a cold start."""

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pyarrow.parquet as pq

import sfumato as sf
from benchmarks.measure import Report
from benchmarks.people import POLICY
from benchmarks.side import installed


def run() -> list[Report]:
    report = Report("How long people wait (32,561 rows)")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        pq.write_table(sf.datasets.population(), folder / "people.parquet")
        (folder / "people.toml").write_text(POLICY)
        for what, question in (
            ("warm COUNT", "SELECT COUNT(*) FROM people WHERE age > {}"),
            (
                "warm GROUP BY, COUNT and AVG",
                "SELECT sex, COUNT(*), AVG(income) FROM people WHERE age > {} GROUP BY sex",
            ),
        ):
            report.add(f"{what}, unit Person, with its charge", _warm(folder, question) * 1e3, "ms", at_most=15)
        question = "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"
        shell = [sys.executable, "-m", "sfumato"]
        report.add(
            "sfumato ask, cold",
            _cold([*shell, "ask", "people.toml", question, "--spend", "0.1"], folder),
            "s",
            at_most=1,
        )
        report.add("sfumato --help", _cold([*shell, "--help"], folder), "s", at_most=0.3)
        town = [sys.executable, "-c", "import sfumato; sfumato.datasets.population()"]
        report.add("a town of 32,561 rows, cold", _cold(town, folder), "s", at_most=1.5)
        report.add("import sfumato", _cold([sys.executable, "-c", "import sfumato"], folder), "s")
        report.add("python alone", _cold([sys.executable, "-c", ""], folder), "s")
    return [report]


def _warm(folder: Path, question: str) -> float:
    times = []
    with sf.open(folder / "people.toml") as session:
        for age in range(17, 70):
            start = time.perf_counter()
            session.ask(question.format(age), spend=0.1)
            times.append(time.perf_counter() - start)
    return statistics.median(times[5:])


def _cold(command: list[str], folder: Path) -> float:
    times = []
    for _ in range(7):
        start = time.perf_counter()
        subprocess.run(command, cwd=folder, check=True, capture_output=True, env=installed())
        times.append(time.perf_counter() - start)
    return statistics.median(times[1:])
