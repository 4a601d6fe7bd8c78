"""What one question may use of the machine, and when its answer leaves."""

import gc
import os
import stat
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from threading import Event
from typing import Any
from weakref import ref

import pyarrow as pa
import pyarrow.parquet
import pytest

import sfumato as sf
import sfumato.door
from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.engines.duckdb.watchdog import Watchdog
from sfumato.engines.ticks import SHORTEST_NS, STEPS_A_DOUBLING, leaving_at_a_tick, next_tick, ticks
from sfumato.errors import DataUnreadable, EngineFailed, UsageError
from sfumato.schema.columns import Int, Text
from sfumato.schema.limits import DEFAULT_SECONDS, Limits
from sfumato.schema.table import Schema
from sfumato.schema.unit import Row
from tests.engines.stores import FORMS, stored_as

ENDLESS = "SELECT COUNT(*) FROM range(1000000000000) AS r(i) WHERE hash(i) % 7 = 8"
GREEDY = "SELECT length(list(i)) FROM (SELECT i FROM range(100000000) AS r(i))"
TABLE = pa.table({"x": [1, 2, 3], "s": ["a", "b", "c"]})
SCHEMA = Schema("data", Row(), {"x": Int(0, 9), "s": Text()})
COUNT = "SELECT COUNT(*) AS n FROM people"
Open = Callable[..., sf.Session]
TICKS_NS = ticks()


# ---- how limits are written


@pytest.mark.parametrize(
    ("written", "size"),
    [("4 GB", 4 * 10**9), ("64MB", 64 * 10**6), ("2 GiB", 2**31), ("1 TB", 10**12), (10**9, 10**9)],
)
def test_memory_is_written_with_its_unit_or_in_bytes(written: str | int, size: int) -> None:
    assert Limits(memory=written).memory == size


@pytest.mark.parametrize(
    "written", ["4", "4 KB", "much", "", "63 MB", "-4 GB", "4.5 GB", "0 GB", 4, True, 10**30, 1e9, "4 GB; x"]
)
def test_other_amounts_are_refused(written: Any) -> None:
    with pytest.raises(UsageError, match="is no amount of memory"):
        Limits(memory=written)


@pytest.mark.parametrize("changes", [{"seconds": 0}, {"seconds": 1.5}, {"seconds": "60"}, {"threads": 0}])
def test_seconds_and_threads_are_whole_numbers(changes: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        Limits(**changes)


def test_defaults() -> None:
    assert Limits() == Limits(memory=None, seconds=DEFAULT_SECONDS, threads=None)
    assert sf.Limits is Limits


# ---- how the engine keeps them


def settings_of(engine: DuckDBEngine) -> dict[str, str]:
    return dict(engine.run("SELECT name, value FROM duckdb_settings()"))


@pytest.mark.parametrize("form", FORMS)
def test_the_engine_is_set_to_its_limits_for_every_source(form: str, tmp_path: Path) -> None:
    engine = DuckDBEngine(stored_as(form, TABLE, tmp_path), SCHEMA, limits=Limits("1 GiB", 9, 1))
    found = settings_of(engine)
    assert (found["memory_limit"], found["threads"]) == ("1.0 GiB", "1")
    assert found["enable_progress_bar"] == "false"
    assert found["disable_parquet_prefetching"] == "true"
    assert {"filter_pushdown", "statistics_propagation"} <= set(found["disabled_optimizers"].split(","))
    for sql in ("SET memory_limit = '2GB'", "SET threads = 2", "SET temp_directory = '/tmp'", "RESET memory_limit"):
        with pytest.raises(EngineFailed):
            engine.run(sql)
    engine.close()


def test_a_question_that_takes_too_long_or_too_much_fails_in_the_same_words() -> None:
    engine = DuckDBEngine(TABLE, SCHEMA, limits=Limits("64 MB", 1))
    texts = set()
    for sql in (ENDLESS, GREEDY, "SELECT error('a mistake')"):
        start = time.monotonic()
        with pytest.raises(EngineFailed) as failed:
            engine.run(sql)
        assert time.monotonic() - start < 20
        assert failed.value.__suppress_context__
        texts.add(str(failed.value))
        assert engine.run("SELECT COUNT(*) FROM data") == [(3,)]
    assert len(texts) == 1
    engine.close()


def test_a_failure_at_a_limit_keeps_its_charge(open_crowd: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    session = open_crowd(limits=sf.Limits("64 MB", 1))
    for number, (sql, age) in enumerate(((ENDLESS, 30), (GREEDY, 31)), start=1):
        with monkeypatch.context() as changed:
            changed.setattr(sfumato.door, "emit", lambda *_, sql=sql: sql)
            with pytest.raises(EngineFailed, match="The charge stands"):
                session.ask(f"{COUNT} WHERE age > {age}", spend=0.5)
        assert len(session.history()) == number
        assert session.budget.spent.epsilon == 0.5 * number
    assert session.ask(COUNT, spend=0.5).rows


def test_a_table_may_be_larger_than_the_memory(tmp_path: Path) -> None:
    table = pa.table({"x": range(1_000_000), "s": [f"{i:0100d}" for i in range(1000)] * 1000})
    assert table.nbytes > 100 * 10**6
    pyarrow.parquet.write_table(table, tmp_path / "data.parquet")
    for source in (table, tmp_path / "data.parquet"):
        engine = DuckDBEngine(source, SCHEMA, limits=Limits("64 MB"))
        assert engine.run("SELECT COUNT(*), SUM(x), COUNT(DISTINCT s) FROM data") == [(10**6, 499_999_500_000, 1000)]
        engine.close()


def test_a_table_that_does_not_fit_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a place for the rest."""
    real = DuckDBEngine._set_limits

    def without_disk(self: DuckDBEngine, private: Path) -> None:
        real(self, private)
        self._connection.execute("SET temp_directory = ''")

    monkeypatch.setattr(DuckDBEngine, "_set_limits", without_disk)
    path = tmp_path / "data.jsonl"
    path.write_text("".join(f'{{"x": {i}, "s": "{hash(str(i)):0100d}"}}\n' for i in range(700_000)))
    with pytest.raises(DataUnreadable, match="does not fit into the memory"):
        DuckDBEngine(path, SCHEMA, limits=Limits("64 MB", threads=1))


def test_what_does_not_fit_into_memory_lies_where_nobody_else_can_look(tmp_path: Path) -> None:
    engine = DuckDBEngine(TABLE, SCHEMA, limits=Limits("100 MB", 60))
    spill = Path(settings_of(engine)["temp_directory"])
    assert stat.S_IMODE(spill.parent.stat().st_mode) == 0o700
    assert spill.parent.stat().st_uid == os.getuid()
    many = "SELECT COUNT(*) FROM (SELECT hash(i) AS h, COUNT(*) FROM range(6000000) AS r(i) GROUP BY h)"
    assert engine.run(many) == [(6_000_000,)]
    engine.close()
    assert not spill.parent.exists()


def test_the_directory_goes_with_the_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    engine = DuckDBEngine(TABLE, SCHEMA)
    assert len(list(tmp_path.iterdir())) == 1
    with monkeypatch.context() as forked:
        forked.setattr(os, "getpid", lambda: -1)
        engine._clean_up()
    assert len(list(tmp_path.iterdir())) == 1, "a child process leaves it alone"
    another = DuckDBEngine(TABLE, SCHEMA)
    del another
    gc.collect()
    with pytest.raises(DataUnreadable):
        DuckDBEngine(TABLE, Schema("data", Row(), {"missing": Int()}))
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.slow
def test_no_progress_is_shown(capfd: pytest.CaptureFixture[str]) -> None:
    """How far a query has come follows the data."""
    engine = DuckDBEngine(TABLE, SCHEMA, limits=Limits(seconds=4))
    with pytest.raises(EngineFailed):
        engine.run(ENDLESS)
    engine.close()
    assert capfd.readouterr() == ("", "")


class Interrupted:
    def __init__(self) -> None:
        self.at = Event()

    def interrupt(self) -> None:
        self.at.set()


def test_the_watchdog_interrupts_in_time_and_never_afterwards() -> None:
    slow, quick = Interrupted(), Interrupted()
    with Watchdog(slow).at_most(0.01):
        assert slow.at.wait(10)
    with Watchdog(quick).at_most(0.05):
        pass
    time.sleep(0.2)
    assert not quick.at.is_set()


def test_one_watchdog_watches_many_queries_and_the_shortest_ends_first() -> None:
    connection = Interrupted()
    dog = Watchdog(connection)
    threads = threading.active_count()
    for _ in range(100):
        with dog.at_most(60):
            pass
    assert threading.active_count() <= threads + 1
    with dog.at_most(0.01):  # while its thread sleeps for a minute
        assert connection.at.wait(10)
        connection.at.clear()
        assert connection.at.wait(10)  # the next query of the same look has no more time, either


def test_a_watchdog_ends_with_its_engine_and_when_nothing_runs() -> None:
    connection = Interrupted()
    dog, forgotten = Watchdog(connection), ref(connection)
    with dog.at_most(60):
        pass
    del dog, connection
    gc.collect()
    assert forgotten() is None
    dog = Watchdog(Interrupted())
    with dog.at_most(0.01):
        pass
    _wait_until(lambda: dog._wakes is None)


def test_no_thread_outlives_a_closed_engine() -> None:
    threads = threading.active_count()
    for _ in range(20):
        engine = DuckDBEngine(TABLE, SCHEMA)
        engine.run("SELECT 1")
        engine.close()
    for _ in range(20):
        DuckDBEngine(TABLE, SCHEMA).run("SELECT 1")  # forgotten
    gc.collect()
    _wait_until(lambda: threading.active_count() <= threads)


def test_what_a_ctrl_c_left_watched_stops_nothing_else() -> None:
    engine = DuckDBEngine(TABLE, SCHEMA, limits=Limits(seconds=1))
    for ask in (engine._execute, engine.run, engine._drop):
        left = engine._watchdog.at_most(60)
        left.__enter__()  # and nobody leaves it
        ask("sfumato_kept_0" if ask == engine._drop else "SELECT 1")
        assert engine._watchdog._watched is None
    engine.close()


def _wait_until(so: Callable[[], bool]) -> None:
    until = time.monotonic() + 10
    while not so():
        assert time.monotonic() < until
        time.sleep(0.01)


# ---- ticks


def test_ticks_lie_at_the_same_places_for_everybody() -> None:
    assert TICKS_NS[0] == SHORTEST_NS
    assert TICKS_NS[STEPS_A_DOUBLING] == 2 * SHORTEST_NS
    ratios = [later / earlier for earlier, later in pairwise(TICKS_NS)]
    assert max(ratios) < 1.0906
    assert TICKS_NS[-1] > 24 * 3600 * 10**9 / 2


def test_the_next_tick_is_the_first_that_is_not_before() -> None:
    for tick, later in pairwise(TICKS_NS):
        assert next_tick(tick) == tick
        assert next_tick(tick + 1) == later
    assert next_tick(0) == next_tick(1) == SHORTEST_NS
    assert next_tick(TICKS_NS[-1] + 1) == 2 * TICKS_NS[-1]


def test_an_engine_may_have_a_longer_shortest_tick() -> None:
    slow = 50 * SHORTEST_NS
    assert next_tick(1, slow) == next_tick(slow, slow) == slow
    assert next_tick(slow + 1, slow) == round(slow * 2 ** (1 / STEPS_A_DOUBLING))


class Clock:
    """Goes on only when somebody works or sleeps; sleeping stops short, as systems may."""

    def __init__(self) -> None:
        self.now = 17

    def __call__(self) -> int:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += max(1, int(seconds * 1e9 * 0.7))


@pytest.mark.parametrize("fails", [False, True])
def test_all_times_within_one_tick_leave_together(fails: bool) -> None:
    left: dict[int, set[int]] = {}
    for elapsed in [1, 10, 4_999_999, 5_000_000, 5_000_001, 5_400_000, 5_452_539, 5_452_540, 10**7, 3 * 10**9]:
        clock = Clock()
        try:
            with leaving_at_a_tick(clock, clock.sleep):
                clock.now += elapsed
                if fails:
                    raise EngineFailed("of whatever cause")
        except EngineFailed:
            assert fails
        left.setdefault(next_tick(elapsed), set()).add(clock.now - 17)
    assert all(times == {tick} for tick, times in left.items())
    assert len(left) == 6


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock by which sessions leave."""
    made = Clock()
    monkeypatch.setattr(leaving_at_a_tick.__wrapped__, "__defaults__", (made, made.sleep))  # type: ignore[attr-defined]
    return made


@pytest.mark.parametrize("ending", [None, EngineFailed("of whatever cause"), KeyboardInterrupt()], ids=str)
@pytest.mark.parametrize("asked", ["COUNT(*)", "MEDIAN(age)"])  # numbers, and cells
def test_a_session_answers_and_fails_at_ticks(
    open_crowd: Open, monkeypatch: pytest.MonkeyPatch, clock: Clock, ending: BaseException | None, asked: str
) -> None:
    """However long the engine takes, only the tick it fell into can be seen from outside."""
    session, left = open_crowd(budget=sf.Budget(10**6)), []
    real = DuckDBEngine._run

    def working(self: DuckDBEngine, sql: str) -> Any:
        clock.now = start + elapsed
        if ending is not None:
            raise ending
        return real(self, sql)

    monkeypatch.setattr(DuckDBEngine, "_run", working)
    for elapsed in (1, 4_999_999, 5_000_001, 5_050_000, 3 * 10**9, 3 * 10**9 + 1):
        start = clock.now
        with suppress(EngineFailed, KeyboardInterrupt):
            session.ask(f"SELECT {asked} AS n FROM people", spend=0.5, fresh=True)
        left.append(clock.now - start)
        assert left[-1] in TICKS_NS
        assert left[-1] >= elapsed
    assert left[0] == left[1] == SHORTEST_NS
    assert left[2] == left[3]
    assert left[4] == left[5]


def test_a_stored_answer_asks_no_engine_and_waits_for_no_tick(open_crowd: Open, clock: Clock) -> None:
    session = open_crowd()
    session.ask(COUNT, spend=0.5)
    before = clock.now
    assert session.ask(COUNT, spend=0.5).cached
    assert clock.now == before
