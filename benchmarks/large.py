"""100 M rows in a directory of Parquet files: whether questions finish, in which time, in how much memory; and
classifiers on 10 M rows.

Each measurement is a process of its own, so that its largest size is its own.
"""

import multiprocessing
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import sfumato as sf
from benchmarks.engine import COLUMNS, HOURS, INCOME, MAX_GROUPS, MAX_ROWS
from benchmarks.learn import fitted
from benchmarks.learn_tables import Data, census
from benchmarks.measure import Report
from benchmarks.people import BLOCK, block

ROWS = 100_000_000
PERSONS = 9_000_000
FILES = 20
MOST_GIB = 24
LEARNT = 10_000_000
SLOWEST = {"Additive": 60, "Tree": 40}
QUESTION = "SELECT education, marital, COUNT(*), SUM(income), AVG(hours) FROM people GROUP BY education, marital"
RAW = f"SELECT education, marital, COUNT(*), SUM({INCOME}), AVG({HOURS}) FROM '{{}}/*.parquet' GROUP BY 1, 2"
RAW_BY_PERSON = f"""
    SELECT education, marital, SUM(n), SUM(s), SUM(h) / SUM(n) FROM (
      SELECT user_id, education, marital, COUNT(*) AS n, SUM({INCOME}) AS s, SUM({HOURS}) AS h
      FROM '{{}}/*.parquet' GROUP BY 1, 2, 3)
    GROUP BY 1, 2"""


def run() -> list[Report]:
    folder = people(Path(".benchmarks"))
    report = Report(f"{ROWS // 10**6} M rows in {FILES} Parquet files; GROUP BY 16 × 7, COUNT, SUM and AVG")
    person = sf.Person("user_id", max_rows=MAX_ROWS, max_groups=MAX_GROUPS)
    for unit, raw in ((sf.Row(), RAW), (person, RAW_BY_PERSON)):
        name = type(unit).__name__
        plain, plain_gib = _alone(_plain, folder, raw)
        seconds, gib = _alone(_private, folder, unit)
        report.add(f"unit {name}, a question", seconds, "s")
        report.add(f"unit {name}, raw DuckDB, the same grouping", plain, "s")
        report.add(f"unit {name}, ratio", seconds / plain, "× raw")
        report.add(f"unit {name}, largest size of the process", gib, "GiB", at_most=MOST_GIB)
        report.add(f"unit {name}, raw DuckDB, largest size", plain_gib, "GiB")
    return [learners(), report]


def learners() -> Report:
    """Rows of Adult, drawn again and again; fitting alone is timed, and what it has to read is a Parquet file."""
    data, rows = census(), census_rows(Path(".benchmarks"))
    report = Report(f"Classifiers on {LEARNT // 10**6} M rows of Adult in a Parquet file, pure ε = 1")
    for kind, most in SLOWEST.items():
        seconds, gib = _alone(_fitted, kind, data, rows)
        report.add(f"{kind}, a fit", seconds, "s", at_most=most)
        report.add(f"{kind}, largest size of the process", gib, "GiB", at_most=MOST_GIB)
    return report


def census_rows(folder: Path) -> Path:
    """The file, made once."""
    path = folder / f"adult_{LEARNT}.parquet"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        part, train, writer = path.with_suffix(".part"), census().train, None
        for number in range(LEARNT // BLOCK):
            rows = train.sample(BLOCK, replace=True, random_state=number)
            table = pa.Table.from_pandas(rows, preserve_index=False)
            writer = writer or pq.ParquetWriter(part, table.schema)
            writer.write_table(table)
        assert writer is not None
        writer.close()
        part.rename(path)
    return path


def _fitted(kind: str, data: Data, rows: Path) -> float:
    return float(fitted(kind, data, 1.0, rows=rows, expected_rows=LEARNT).seconds)


def people(folder: Path) -> Path:
    """The directory, made once."""
    place = folder / f"people_{ROWS}"
    if not place.exists():
        part = folder / f"people_{ROWS}.part"
        part.mkdir(parents=True, exist_ok=True)
        generator = np.random.default_rng(11)
        for number in range(FILES):
            writer = None
            for _ in range(ROWS // FILES // BLOCK):
                table = block(generator.integers(0, PERSONS, BLOCK).astype(np.int32), generator)
                writer = writer or pq.ParquetWriter(part / f"part-{number:03}.parquet", table.schema)
                writer.write_table(table)
            assert writer is not None
            writer.close()
        part.rename(place)
    return place


def _private(folder: Path, unit: sf.Row | sf.Person) -> float:
    with tempfile.TemporaryDirectory() as ledger:
        settings = {"table": "people", "columns": COLUMNS, "budget": sf.Budget(1), "limits": sf.Limits(seconds=3600)}
        with sf.protect(folder, unit=unit, ledger=Path(ledger) / "people.ledger", **settings) as session:
            start = time.perf_counter()
            assert len(session.ask(QUESTION, spend=0.5).rows) == 16 * 7
            return time.perf_counter() - start


def _plain(folder: Path, sql: str) -> float:
    with tempfile.TemporaryDirectory() as spill, duckdb.connect() as raw:
        raw.execute(f"SET temp_directory = '{spill}'")
        raw.execute("SET enable_progress_bar = false")
        start = time.perf_counter()
        assert len(raw.execute(sql.format(folder)).fetchall()) == 16 * 7
        return time.perf_counter() - start


def _alone(work: Callable[..., float], *arguments: object) -> tuple[float, float]:
    """Seconds, and the largest resident size in GiB, of a process that does nothing else."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_measured, (work, arguments))


def _measured(work: Callable[..., float], arguments: tuple[object, ...]) -> tuple[float, float]:
    seconds = work(*arguments)
    return seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
