"""Several slots: a quick question passes a slow one, and whoever waits for a slot has not paid."""

import os
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest

import sfumato as sf
from sfumato import door
from sfumato.engines.duckdb import engine as engine_module
from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.engines.lanes import Lanes
from sfumato.errors import DataUnreadable, EngineFailed, SfumatoError, UsageError
from sfumato.ledger.bought import Bought
from sfumato.ledger.in_force import InForce
from sfumato.ledger.ledger import Ledger
from sfumato.plan.nodes import CountRows, Measure, Plan

Open = Callable[..., sf.Session]
SLOW, QUICK = "SELECT SUM(age) AS s FROM people", "SELECT COUNT(*) AS n FROM people"
PATIENCE = 60  # seconds until a thread is given up; nothing is judged by them
# Settings in which lanes may differ from an engine that is alone: shares of the memory, and a directory of their own.
OWN = {"memory_limit", "max_memory", "write_buffer_row_group_memory_limit", "temp_directory", "allowed_directories"}
TWO = sf.Limits(memory="512 MB", slots=2)


class Held:
    """The first question with SUM in it stays in its engine until it is let go."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.began, self.let_go, self.at = Event(), Event(), set()
        rows = DuckDBEngine.rows

        def held(engine: DuckDBEngine, queries: Any, version: str) -> Any:
            self.at.add(id(engine))
            if any("sum(" in query.sql.lower() for query in queries) and not self.began.is_set():
                self.began.set()
                assert self.let_go.wait(PATIENCE)
            return rows(engine, queries, version)

        monkeypatch.setattr(DuckDBEngine, "rows", held)


class Asking(Thread):
    """A question in a thread of its own."""

    def __init__(self, session: sf.Session, question: str, **how: Any) -> None:
        super().__init__(daemon=True)
        self.ask = lambda: session.ask(question, spend=0.1, **how)
        self.answer: Any = None
        self.start()

    def run(self) -> None:
        try:
            self.answer = self.ask()
        except BaseException as error:  # noqa: BLE001 - looked at by the test
            self.answer = error

    def done(self) -> Any:
        self.join(PATIENCE)
        assert not self.is_alive()
        return self.answer


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Iterator[Held]:
    made = Held(monkeypatch)
    yield made
    made.let_go.set()


def kinds(session: sf.Session) -> list[str]:
    return [line.kind for line in session._ledger.lines()]


def test_a_quick_question_passes_a_slow_one(open_crowd: Open, held: Held) -> None:
    session = open_crowd(limits=TWO)
    slow = Asking(session, SLOW)
    assert held.began.wait(PATIENCE)
    assert Asking(session, QUICK).done().rows, "while the slow one runs"
    assert slow.is_alive()
    assert kinds(session) == ["open", "charge", "charge", "release"]
    held.let_go.set()
    assert slow.done().rows
    assert len(held.at) == 2, "each on an engine of its own"


def test_with_one_slot_it_waits_and_has_not_paid(open_crowd: Open, held: Held) -> None:
    session = open_crowd()
    slow = Asking(session, SLOW)
    assert held.began.wait(PATIENCE)
    quick = Asking(session, QUICK)
    quick.join(0.5)
    assert quick.is_alive()
    assert kinds(session) == ["open", "charge"]
    held.let_go.set()
    assert slow.done().rows
    assert quick.done().rows
    assert kinds(session) == ["open", "charge", "release", "charge", "release"]


def test_a_third_waits_for_the_first_that_is_free(open_crowd: Open, held: Held) -> None:
    session = open_crowd(limits=TWO)
    lanes: Any = session._engine
    slow = Asking(session, SLOW)
    assert held.began.wait(PATIENCE)
    with lanes.lane("something else") as other:
        third = Asking(session, QUICK)
        third.join(0.5)
        assert third.is_alive()
        assert kinds(session) == ["open", "charge"]
        assert other is lanes._engines[1]
    assert third.done().rows
    held.let_go.set()
    assert slow.done().rows


def test_many_threads_share_few_slots_and_pay_once_each(open_crowd: Open) -> None:
    session = open_crowd(limits=TWO, budget=sf.Budget(100))
    asked = [Asking(session, f"{QUICK} WHERE age > {17 + number}") for number in range(24)]
    receipts = {one.done().receipt for one in asked}
    assert len(receipts) == 24
    assert kinds(session).count("charge") == kinds(session).count("release") == 24
    assert session._engine._turns == {}  # type: ignore[attr-defined]


def test_who_asks_what_is_being_asked_waits_and_finds_what_was_kept(open_crowd: Open, held: Held) -> None:
    session = open_crowd(limits=TWO)
    first = Asking(session, SLOW)
    assert held.began.wait(PATIENCE)
    views = [session, session, session.as_analyst(session.analyst)]
    others = [*(Asking(view, SLOW) for view in views), Asking(session, SLOW, request="r")]
    others[0].join(0.5)
    assert all(other.is_alive() for other in others)
    assert Asking(session, QUICK).done().rows, "on the other engine"
    assert not Asking(session.as_analyst("ada"), SLOW).done().cached, "another analyst's question"
    held.let_go.set()
    assert all(other.done().rows == first.done().rows and other.done().cached for other in others)
    assert sorted(kinds(session)) == sorted(["open", *["charge", "release"] * 3])


@pytest.mark.parametrize("error", [KeyboardInterrupt(), MemoryError()])
def test_who_waited_for_one_that_was_broken_off_resumes_it(
    open_crowd: Open, monkeypatch: pytest.MonkeyPatch, held: Held, error: BaseException
) -> None:
    session, look = open_crowd(limits=TWO), door.look_at_all
    broken: list[BaseException] = [error]

    def breaking(*given: Any) -> Any:
        found = look(*given)
        if broken:
            raise broken.pop()
        return found

    monkeypatch.setattr(door, "look_at_all", breaking)
    first = Asking(session, SLOW)
    assert held.began.wait(PATIENCE)
    second = Asking(session, SLOW)
    second.join(0.2)
    assert second.is_alive()
    held.let_go.set()
    assert isinstance(first.done(), KeyboardInterrupt | EngineFailed)
    assert not second.done().cached
    assert kinds(session) == ["open", "charge", "interrupted", "release"]


@pytest.mark.parametrize("limits", [None, TWO], ids=["one slot", "two"])
def test_a_thread_that_is_interrupted_and_asks_again_is_refused(
    open_crowd: Open, monkeypatch: pytest.MonkeyPatch, limits: sf.Limits | None
) -> None:
    """As by a handler of signals: it would wait for its own slot for ever."""
    session, rows = open_crowd(limits=limits), DuckDBEngine.rows
    told: list[UsageError] = []

    def interrupted(engine: DuckDBEngine, queries: Any, version: str) -> Any:
        monkeypatch.setattr(DuckDBEngine, "rows", rows)
        with pytest.raises(UsageError, match="this very thread") as refused:
            session.ask(QUICK, spend=0.1)
        told.append(refused.value)
        return rows(engine, queries, version)

    monkeypatch.setattr(DuckDBEngine, "rows", interrupted)
    assert Asking(session, SLOW).done().rows
    assert len(told) == 1
    assert Asking(session, QUICK).done().rows
    assert kinds(session) == ["open", "charge", "release", "charge", "release"]


@pytest.mark.parametrize("limits", [None, TWO], ids=["one slot", "two"])
def test_a_draw_that_is_interrupted_is_no_place_to_ask_from(
    open_crowd: Open, monkeypatch: pytest.MonkeyPatch, limits: sf.Limits | None
) -> None:
    """Also where another engine is free; nor is a question one to draw or to seal from."""
    session, rows = open_crowd(limits=limits, budget=sf.Budget(10)), DuckDBEngine.rows
    one = Plan("people", session.schema.unit, None, (), (Measure(CountRows(), "laplace", Fraction(1, 4)),))
    envelope, told = session.envelope("p", spend=1), []

    def interrupted(engine: DuckDBEngine, queries: Any, version: str) -> Any:
        monkeypatch.setattr(DuckDBEngine, "rows", rows)
        for ask in (
            lambda: session.ask(QUICK, spend=0.1),
            lambda: envelope.ask(one, round_=7),
            lambda: session.envelope("q", spend=1),
        ):
            with pytest.raises(UsageError, match="this very thread is in the middle of a question"):
                ask()
            told.append("refused")
        return rows(engine, queries, version)

    for ask in (lambda: envelope.ask(one, round_=0), lambda: session.ask(QUICK, spend=0.1)):
        monkeypatch.setattr(DuckDBEngine, "rows", interrupted)
        ask()
    assert told == ["refused"] * 6
    assert kinds(session) == ["open", "charge", "draw", "release", "charge", "release"]


@pytest.mark.parametrize("reading", ["an answer that was kept", "the terms"])
def test_a_handler_that_asks_while_its_thread_reads_the_ledger_lets_others_go_on(
    open_crowd: Open, monkeypatch: pytest.MonkeyPatch, reading: str
) -> None:
    """It waited for the slot of another thread, which waited for the ledger that its own thread was reading."""
    session, charge, lane = open_crowd(budget=sf.Budget(10)), Ledger.charge, DuckDBEngine.lane
    told, has_slot, may_pay = list[str](), Event(), Event()

    def paying(ledger: Ledger, paid: Any) -> Any:
        has_slot.set()
        assert may_pay.wait(PATIENCE)
        return charge(ledger, paid)

    def during(read: Callable[..., Any]) -> Callable[..., Any]:
        def asked(*given: Any) -> Any:
            found = read(*given)
            if has_slot.is_set() and not told:
                told.append("asked")
                may_pay.set()
                with pytest.raises(SfumatoError, match="this very thread"):
                    session.ask(SLOW, spend=0.1)
                told.append("refused")
            return found

        return asked

    def waiting(engine: DuckDBEngine, asked: Any) -> Any:
        assert told != ["asked"], "it waits for the other's slot, and the ledger with it"
        return lane(engine, asked)

    monkeypatch.setattr(Ledger, "charge", paying)
    monkeypatch.setattr(DuckDBEngine, "lane", waiting)
    where, name = (Bought, "known") if reading == "an answer that was kept" else (InForce, "to_plan_with")
    monkeypatch.setattr(where, name, during(getattr(where, name)))
    other = Asking(session, QUICK)
    assert has_slot.wait(PATIENCE)
    assert Asking(session, f"{QUICK} WHERE age > 30").done().rows
    assert other.done().rows
    assert told == ["asked", "refused"]


def test_a_thread_inside_the_engine_gets_nothing_else_of_it(open_crowd: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    engine: Any = open_crowd()._engine
    run, told = engine._run, list[bool]()

    def interrupted(sql: str) -> Any:
        with pytest.raises(UsageError, match="this very thread"):
            engine._execute("SELECT 1")
        told.append(True)
        return run(sql)

    monkeypatch.setattr(engine, "_run", interrupted)
    assert engine.run("SELECT 17") == [(17,)]
    assert told


def test_a_lane_that_was_left_behind_is_taken_again_by_its_thread(open_crowd: Open) -> None:
    """As by a Ctrl-C at the end of the block, whose error somebody keeps."""
    lanes: Any = open_crowd(limits=TWO)._engine
    left = [lanes.lane("something") for _ in range(3)]
    for one in left:
        assert one.__enter__() is lanes._engines[0]
    left.clear()
    with lanes.lane("something") as engine:
        assert engine is lanes._engines[0]
    assert lanes._turns == {}


@pytest.mark.parametrize("kind", ["csv", "parquet", "duckdb"])
def test_every_lane_is_locked_limited_and_of_the_same_state(
    crowd: pa.Table, open_crowd: Open, tmp_path: Path, kind: str
) -> None:
    path = tmp_path / f"people.{kind}"
    if kind == "csv":
        pyarrow.csv.write_csv(crowd, path)
    elif kind == "parquet":
        pyarrow.parquet.write_table(crowd, path)
    else:
        import duckdb

        with duckdb.connect(str(path)) as connection:
            connection.register("crowd", crowd)
            connection.execute("CREATE TABLE people AS SELECT * FROM crowd")
    lanes: Any = open_crowd(path, limits=sf.Limits(memory="512 MB", seconds=7, threads=1, slots=3))._engine
    assert len({id(engine._connection) for engine in lanes._engines}) == len(lanes._engines) == 3
    assert {engine.version() for engine in lanes._engines} == {lanes.version()}
    alone: Any = open_crowd(path, limits=sf.Limits(memory="512 MB", seconds=7, threads=1))._engine
    of_one = dict(alone.run("SELECT name, value FROM duckdb_settings()"))
    for engine in lanes._engines:
        found = dict(engine.run("SELECT name, value FROM duckdb_settings()"))
        differing = {name for name, value in found.items() if of_one[name] != value}
        assert differing <= OWN, differing
        assert found["allowed_directories"] == f"[{found['temp_directory']}{os.sep}]"
        assert found["lock_configuration"] == "true"
        assert engine._limits.seconds == 7
        assert engine._limits.memory == 512 * 10**6 // 3
        with pytest.raises(EngineFailed):
            engine.run("SET threads = 2")


def test_a_file_that_changed_is_noticed_in_every_lane(crowd: pa.Table, open_crowd: Open, tmp_path: Path) -> None:
    path = tmp_path / "people.parquet"
    pyarrow.parquet.write_table(crowd, path)
    session = open_crowd(path, limits=TWO, budget=sf.Budget(100))
    lanes: Any = session._engine
    before = session.ask(QUICK, spend=10)
    with lanes.lane("something else"):  # so that the other one is asked
        pyarrow.parquet.write_table(crowd.slice(0, 400), path)
        after = Asking(session, QUICK, fresh=True).done()
        assert abs(after.rows[0]["n"] - 400) < 300
    assert before.rows[0]["n"] > 500
    assert not session.ask(QUICK, spend=10).cached, "another state, another charge"


def test_a_table_that_changes_while_it_is_opened_is_refused(crowd: pa.Table) -> None:
    class Stated:
        def __init__(self, state: str) -> None:
            self._state = state

        def state(self) -> str:
            return self._state

        def version(self) -> str:
            return "named by its owner"

    with pytest.raises(DataUnreadable, match="changed while it was opened"):
        Lanes([Stated("one"), Stated("two")])  # type: ignore[list-item]


@pytest.mark.parametrize("version", [None, "2026-11"])
@pytest.mark.parametrize("rows", [0, 1, 1000])
def test_what_can_be_read_only_once_takes_one_slot(
    crowd: pa.Table, open_crowd: Open, rows: int, version: str | None
) -> None:
    """The second engine would find nothing, under the name that the owner gave."""
    with pytest.raises(DataUnreadable, match="changed while it was opened"):
        open_crowd(crowd.slice(0, rows).to_reader(), limits=TWO, version=version)
    open_crowd(crowd.slice(0, rows).to_reader(), version=version)


@pytest.mark.parametrize("version", [None, "2026-11"])
def test_each_lane_has_the_same_rows_whatever_they_are_called(
    crowd: pa.Table, open_crowd: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str | None
) -> None:
    """A file that is written anew between the openings of two slots."""
    path, load = tmp_path / "people.csv", engine_module.load
    pyarrow.csv.write_csv(crowd, path)

    def changed(*given: Any) -> Any:
        loaded = load(*given)
        pyarrow.csv.write_csv(crowd.slice(0, 400), path)
        return loaded

    monkeypatch.setattr(engine_module, "load", changed)
    with pytest.raises(DataUnreadable, match="changed while it was opened"):
        open_crowd(path, limits=TWO, version=version)


def test_a_learner_keeps_its_copies_in_one_lane(open_crowd: Open) -> None:
    session = open_crowd(limits=TWO, budget=sf.Budget(100))
    with session.envelope('{"learn": "test"}', spend=1) as envelope:
        assert envelope._engine is session._engine._engines[-1]  # type: ignore[attr-defined]
        assert envelope._copies.are_of(envelope._engine)


def test_closing_closes_every_lane(open_crowd: Open) -> None:
    session = open_crowd(limits=TWO)
    engines = session._engine._engines  # type: ignore[attr-defined]
    session.close()
    for engine in engines:
        with pytest.raises(UsageError, match="closed"):
            engine.version()


@pytest.mark.parametrize(
    "given",
    [{"slots": 0}, {"slots": 2}, {"slots": 65, "memory": "64 GB"}, {"slots": 1.5}, {"slots": 3, "memory": "128 MB"}],
)
def test_slots_that_cannot_be(given: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        sf.Limits(**given)


def test_a_policy_says_how_many_slots(policy: Path) -> None:
    policy.write_text(policy.read_text() + '\n[limits]\nmemory = "1 GB"\nslots = 2\n')
    with sf.open(policy) as session:
        assert len(session._engine._engines) == 2  # type: ignore[attr-defined]
        assert session.ask(QUICK, spend=0.5).rows


@pytest.mark.parametrize("limits", [None, TWO], ids=["one slot", "two"])
def test_a_state_that_others_name_meanwhile_is_not_taken_for_the_one_that_was_paid(
    crowd: pa.Table, open_crowd: Open, tmp_path: Path, held: Held, limits: sf.Limits | None
) -> None:
    """Whoever asks names the state that the files are in, also while a question of before still runs."""
    path = tmp_path / "people.parquet"
    pyarrow.parquet.write_table(crowd, path)
    session = open_crowd(path, limits=limits)
    slow = Asking(session, SLOW)
    assert held.began.wait(PATIENCE)
    pyarrow.parquet.write_table(crowd.slice(0, 400), path)
    session._engine.version()
    held.let_go.set()
    assert isinstance(slow.done(), EngineFailed)
    assert kinds(session) == ["open", "charge", "failure"]
