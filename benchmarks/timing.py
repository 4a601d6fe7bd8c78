"""What the time of an answer tells: the same question on a table with one person and without.

The attacker sees how long each answer took and names the table. `advantage` is how much more often than a coin the best
threshold on the times is right; chance alone stays below the limit all but once in a million runs. The first twin lets
DuckDB filter inside the scan, as it does by default: it then skips the blocks of rows where nobody fits. The second
keeps texts however long they are: whoever wrote a book into a cell is found by the time it takes to work on it. The
third leaves long texts in the dictionaries of files, on which DuckDB works whole. The fourth lets a question work on
one row as much as it likes.
"""

import math
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import sfumato as sf
import sfumato.door
from benchmarks.measure import Report
from sfumato.engines.duckdb import canonical, engine
from sfumato.engines.ticks import next_tick
from sfumato.plan import work

ROWS = 2_000_000
ANSWERS = 300
OUTLIER = 119
READERS, READINGS = 20_000, 100
BOOK = 3_000_000
DEAREST = 40
DEPTH = 9  # brackets may be nested thirty deep

Times = dict[bool, list[int]]


def run() -> list[Report]:
    report = Report(f"What the time of an answer tells: one person in {ROWS:,} rows, {ANSWERS} answers each")
    inside, outside = _measured(_counting, _crowd, ANSWERS)
    ticks = {present: [next_tick(elapsed) for elapsed in times] for present, times in inside.items()}
    chance = 0.5 * math.sqrt(-math.log(5e-7) / ANSWERS)
    report.add("median time of the engine and the noise", statistics.median(inside[True]) / 1e6, "ms")
    report.add("advantage from the engine's own time", _advantage(inside), "")
    report.add("advantage from the tick it falls into", _advantage(ticks), "", at_most=chance)
    report.add("advantage from the time of the answer", _advantage(outside), "", at_most=chance)
    trusted = engine.DISTRUSTED
    engine.DISTRUSTED = "statistics_propagation"
    try:
        inside, outside = _measured(_counting, _crowd, ANSWERS)
    finally:
        engine.DISTRUSTED = trusted
    report.add("twin: advantage from the engine's own time", _advantage(inside), "", at_least=chance)
    report.add("twin: advantage from the time of the answer", _advantage(outside), "")
    return [report, _long_texts(), _dear_rows()]


def _long_texts() -> Report:
    """A condition that only one person meets, and work on a text of that person's."""
    report = Report(f"What a text of {BOOK / 1e6:g} MB tells: one person in {READERS:,} rows, {READINGS} answers each")
    chance = 0.5 * math.sqrt(-math.log(5e-7) / READINGS)
    report.add("worst work on a text of 1,000 characters, per text of one", _work_per_text(), "×", at_most=1000)
    inside, outside = _measured(_reading, _book, READINGS)
    report.add("loaded at open: advantage from the engine's own time", _advantage(inside), "")
    report.add("loaded at open: advantage from the time of the answer", _advantage(outside), "", at_most=chance)
    bounded = canonical._no_longer
    canonical._no_longer = lambda written, longest: written  # noqa: ARG005 - as its original
    try:
        inside, outside = _measured(_reading, _book, READINGS)
    finally:
        canonical._no_longer = bounded
    report.add("twin: advantage from the time of the answer", _advantage(outside), "", at_least=chance)
    inside, outside = _measured(_reading, _book_in_place, READINGS)
    more = statistics.median(inside[True]) - statistics.median(inside[False])
    report.add("scanned in place: what one such cell adds", more / 1e6 / (BOOK / 1e6), "ms/MB")
    report.add("scanned in place: advantage from the time of the answer", _advantage(outside), "")
    report.add("scanned in place, all texts worked on: what one such cell adds", _all_texts(), "ms/MB", at_most=8)
    cut = canonical._cut
    canonical._cut = lambda written, longest: written  # noqa: ARG005 - as its original
    try:
        report.add("twin: the same, with dictionaries as they are", _all_texts(), "ms/MB", at_least=15)
    finally:
        canonical._cut = cut
    for name, kept in (("a DuckDB file", _list_in_duckdb), ("Parquet, whose reader checks it", _list_in_parquet)):
        inside, _ = _measured(_reading, kept, READINGS // 4)
        more = statistics.median(inside[True]) - statistics.median(inside[False])
        report.add(f"the same in JSON, a list, in {name}: what it adds", more / 1e6 / (BOOK / 1e6), "ms/MB")
    return report


def _all_texts() -> float:
    """Of a question that works on the text of everybody: where a file keeps each text once, on hers as well."""
    inside, _ = _measured(_reading_all, _book_in_place, 4)
    return _added(inside) / (BOOK / 1e6)


def _dear_rows() -> Report:
    """The dearest questions that are allowed, on the dearest row; the twin lets anything be asked."""
    report = Report(f"What one row of 1,000 letters adds: {READERS:,} rows, {DEAREST} answers each")
    for name, question in (("capitals of joined texts", _capitals), ("nested roots", _roots)):
        many = _most(question)
        inside, _ = _measured(lambda round_, ask=question, many=many: ask(round_, many), _letters, DEAREST)
        report.add(f"{name}: with a short text", statistics.median(inside[False]) / 1e6, "ms")
        report.add(f"{name}: what her letters add", _added(inside), "ms", at_most=5)
    allowed = work.MOST_NODES, work.MOST_WORK
    work.MOST_NODES = work.MOST_WORK = 10**12
    try:
        inside, _ = _measured(lambda round_: _capitals(round_, 200), _letters, DEAREST)
    finally:
        work.MOST_NODES, work.MOST_WORK = allowed
    report.add("twin: capitals without the budget: what her letters add", _added(inside), "ms", at_least=5)
    return report


def _most(question: Callable[[int, int], str]) -> int:
    """How far a question may go before it is refused."""
    with tempfile.TemporaryDirectory() as name, _letters(Path(name), False) as session:
        for many in range(1, 100):
            try:
                session.explain(question(0, many + 1), spend=0.5)
            except sf.errors.Refused:
                return many
    raise AssertionError("nothing is refused")


def _added(times: Times) -> float:
    return (statistics.median(times[True]) - statistics.median(times[False])) / 1e6


def _letters(folder: Path, present: bool) -> sf.Session:
    table = _notes(False).to_pydict()
    table["note"][READERS // 2] = "é" * 1000 if present else "a few words"
    return _asked(pa.table(table), folder / f"{present}")


def _capitals(round_: int, many: int) -> str:
    """Of sixteen texts put together, in a sub-query so that they are put together once."""
    asked = " OR ".join(f"UPPER(m) = 'q{place}'" for place in range(many))
    joined = f"CASE WHEN age > {90 + round_ % 29} THEN CONCAT({', '.join(['note'] * 16)}) END AS m"
    return f"SELECT COUNT(*) AS n FROM (SELECT {joined} FROM people) AS s WHERE {asked}"


def _roots(round_: int, deep: int) -> str:
    return (
        f"SELECT COUNT(*) AS n FROM people WHERE CASE WHEN age > {90 + round_ % 29} "
        f"THEN {'SQRT(' * deep}LENGTH(note){')' * deep} END = 7"
    )


def _work_per_text() -> float:
    """Processor time that the dearest expression takes for a long text, over what it takes for a short one."""
    times = {}
    for length in (1, 1000):
        with tempfile.TemporaryDirectory() as name:
            table = pa.table({"age": [119] * READERS, "note": ["x" * length] * READERS})
            with _asked(table, Path(name)) as session:
                times[length] = math.inf
                for place in range(4):
                    start = time.process_time()
                    session.ask(f"{_reading(place)} OR note LIKE '%{'x' * 14}_y'", spend=0.5, fresh=True)
                    times[length] = min(times[length], time.process_time() - start)
    return times[1000] / times[1]


def _reading(round_: int) -> str:
    return _reading_all(0).replace("WHERE", f"WHERE age > {90 + round_ % 29} AND")


def _reading_all(round_: int) -> str:
    work = "note"
    for _ in range(DEPTH):
        work = f"REPLACE(UPPER(LOWER({work})), 'y', 'z')"
    return f"SELECT COUNT(*) AS n FROM people WHERE {work} = 'none{round_ or ''}'"


def _notes(present: bool) -> pa.Table:
    ages = np.full(READERS, 50)
    ages[READERS // 2] = OUTLIER
    notes = ["a few words"] * READERS
    notes[READERS // 2] = "x" * BOOK if present else "a few words"
    return pa.table({"age": ages, "note": pa.array(notes, pa.large_string())})


def _book(folder: Path, present: bool) -> sf.Session:
    return _asked(_notes(present), folder / f"{present}")


def _book_in_place(folder: Path, present: bool) -> sf.Session:
    path = folder / f"{present}.parquet"
    pq.write_table(_notes(present), path)
    return _asked(path, folder / f"{present}")


def _list_in_duckdb(folder: Path, present: bool) -> sf.Session:
    return _lists(folder / f"{present}.duckdb", present)


def _list_in_parquet(folder: Path, present: bool) -> sf.Session:
    return _lists(folder / f"{present}.parquet", present)


def _lists(path: Path, present: bool) -> sf.Session:
    """As `_notes`, in a column of JSON; the long one is a list."""
    long = "[" + "1," * (BOOK // 2) + "1]" if present else '"a few words"'
    where = str(path) if path.suffix == ".duckdb" else ":memory:"
    with duckdb.connect(where) as connection:
        connection.execute("CREATE TABLE people (age BIGINT, note JSON)")
        connection.execute(f"INSERT INTO people SELECT 50, '\"a few words\"' FROM range({READERS - 1})")
        connection.execute("INSERT INTO people VALUES (?, ?)", [OUTLIER, long])
        if path.suffix == ".parquet":
            connection.execute(f"COPY people TO '{path}'")
    return _asked(path, path.with_suffix(""))


def _asked(source: object, place: Path) -> sf.Session:
    return sf.protect(
        source,
        table="people",
        unit=sf.Row(),
        columns={"age": sf.Int(0, 120), "note": sf.Text()},
        budget=sf.Budget(10**6),
        ledger=place.with_name(f"{place.name}.ledger"),
    )


def _measured(
    question: Callable[[int], str], session: Callable[[Path, bool], sf.Session], answers: int
) -> tuple[Times, Times]:
    with tempfile.TemporaryDirectory() as name:
        sessions = {present: session(Path(name), present) for present in (True, False)}
        try:
            return _times(sessions, question, answers)
        finally:
            for session in sessions.values():
                session.close()


def _counting(round_: int) -> str:
    return f"SELECT COUNT(*) AS n, SUM(income) AS s FROM people WHERE age > {90 + round_ % 29}"


def _crowd(folder: Path, present: bool) -> sf.Session:
    generator = np.random.default_rng(3)
    ages = generator.integers(20, 90, ROWS)
    ages[ROWS // 2] = OUTLIER if present else 50
    path = folder / f"{present}.parquet"
    pq.write_table(pa.table({"age": ages, "income": generator.uniform(0, 10**5, ROWS)}), path, row_group_size=500_000)
    columns = {"age": sf.Int(0, 120), "income": sf.Float(0, 10**5)}
    budget = sf.Budget(10**6)
    return sf.protect(path, table="people", unit=sf.Row(), columns=columns, budget=budget)


def _times(sessions: dict[bool, sf.Session], question: Callable[[int], str], answers: int) -> tuple[Times, Times]:
    """Nanoseconds of the part that the ticks cover, and of the whole of `ask` after its charge, in turns."""
    inside: Times = {True: [], False: []}
    outside: Times = {True: [], False: []}
    covered = sfumato.door.leaving_at_a_tick
    marks: list[int] = []

    def clock() -> int:
        marks.append(time.monotonic_ns())
        return marks[-1]

    sfumato.door.leaving_at_a_tick = lambda **given: covered(clock, **given)  # type: ignore[assignment]
    try:
        for round_ in range(answers + 20):
            for present in (True, False) if round_ % 2 else (False, True):
                marks.clear()
                sessions[present].ask(question(round_), spend=0.5, fresh=True)
                if round_ >= 20:
                    inside[present].append(marks[1] - marks[0])
                    outside[present].append(time.monotonic_ns() - marks[0])
    finally:
        sfumato.door.leaving_at_a_tick = covered
    return inside, outside


def _advantage(times: Times) -> float:
    """Half the largest distance of the two distributions at any threshold (Kolmogorov and Smirnov's statistic)."""
    one, other = np.sort(times[True]), np.sort(times[False])
    places = np.concatenate([one, other])
    gaps = np.searchsorted(one, places, "right") / len(one) - np.searchsorted(other, places, "right") / len(other)
    return float(np.abs(gaps).max()) / 2
