"""What the time of an answer tells: the same question on a table with one person and without.

The attacker sees how long each answer took and names the table. `advantage` is how much more often than a coin the best
threshold on the times is right; chance alone stays below the limit all but once in a million runs. The twin lets DuckDB
filter inside the scan, as it does by default: it then skips the blocks of rows where nobody fits.
"""

import math
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import sfumato as sf
import sfumato.session
from benchmarks.measure import Report
from sfumato.engines import duckdb as engine
from sfumato.engines.ticks import next_tick

ROWS = 2_000_000
ANSWERS = 300
OUTLIER = 119
QUESTION = "SELECT COUNT(*) AS n, SUM(income) AS s FROM people WHERE age > {}"


def run() -> list[Report]:
    report = Report(f"What the time of an answer tells: one person in {ROWS:,} rows, {ANSWERS} answers each")
    inside, outside = _measured()
    ticks = {present: [next_tick(elapsed) for elapsed in times] for present, times in inside.items()}
    chance = 0.5 * math.sqrt(-math.log(5e-7) / ANSWERS)
    report.add("median time of the engine and the noise", statistics.median(inside[True]) / 1e6, "ms")
    report.add("advantage from the engine's own time", _advantage(inside), "")
    report.add("advantage from the tick it falls into", _advantage(ticks), "", at_most=chance)
    report.add("advantage from the time of the answer", _advantage(outside), "", at_most=chance)
    trusted = engine.DISTRUSTED
    engine.DISTRUSTED = "statistics_propagation"
    try:
        inside, outside = _measured()
    finally:
        engine.DISTRUSTED = trusted
    report.add("twin: advantage from the engine's own time", _advantage(inside), "", at_least=chance)
    report.add("twin: advantage from the time of the answer", _advantage(outside), "")
    return [report]


Times = dict[bool, list[int]]


def _measured() -> tuple[Times, Times]:
    with tempfile.TemporaryDirectory() as name:
        sessions = {present: _session(Path(name), present) for present in (True, False)}
        try:
            return _times(sessions)
        finally:
            for session in sessions.values():
                session.close()


def _session(folder: Path, present: bool) -> sf.Session:
    generator = np.random.default_rng(3)
    ages = generator.integers(20, 90, ROWS)
    ages[ROWS // 2] = OUTLIER if present else 50
    path = folder / f"{present}.parquet"
    pq.write_table(pa.table({"age": ages, "income": generator.uniform(0, 10**5, ROWS)}), path, row_group_size=500_000)
    columns = {"age": sf.Int(0, 120), "income": sf.Float(0, 10**5)}
    budget = sf.Budget(10**6)
    return sf.protect(path, table="people", unit=sf.Row(), columns=columns, budget=budget)


def _times(sessions: dict[bool, sf.Session]) -> tuple[Times, Times]:
    """Nanoseconds of the part that the ticks cover, and of the whole of `ask` after its charge, in turns."""
    inside: Times = {True: [], False: []}
    outside: Times = {True: [], False: []}
    covered = sfumato.session.leaving_at_a_tick
    marks: list[int] = []

    def clock() -> int:
        marks.append(time.monotonic_ns())
        return marks[-1]

    sfumato.session.leaving_at_a_tick = lambda: covered(clock)  # type: ignore[assignment]
    try:
        for round_ in range(ANSWERS + 20):
            for present in (True, False) if round_ % 2 else (False, True):
                marks.clear()
                sessions[present].ask(QUESTION.format(90 + round_ % 29), spend=0.5, fresh=True)
                if round_ >= 20:
                    inside[present].append(marks[1] - marks[0])
                    outside[present].append(time.monotonic_ns() - marks[0])
    finally:
        sfumato.session.leaving_at_a_tick = covered
    return inside, outside


def _advantage(times: Times) -> float:
    """Half the largest distance of the two distributions at any threshold (Kolmogorov and Smirnov's statistic)."""
    one, other = np.sort(times[True]), np.sort(times[False])
    places = np.concatenate([one, other])
    gaps = np.searchsorted(one, places, "right") / len(one) - np.searchsorted(other, places, "right") / len(other)
    return float(np.abs(gaps).max()) / 2
