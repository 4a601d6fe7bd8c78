"""A Ctrl-C, a handler of signals or a full disk at the worst moment leaves nothing open, told or half done."""

import gc
import os
import stat
import sys
import time
import traceback
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from threading import Thread
from typing import Any

import duckdb
import pytest

import sfumato as sf
from sfumato.engines.duckdb import engine as engines
from sfumato.engines.duckdb import watchdog
from sfumato.engines.ticks import leaving_at_a_tick
from sfumato.errors import EngineFailed, LedgerDamaged, SfumatoError
from sfumato.ledger import chain as chains
from sfumato.ledger.chain import Chain
from sfumato.ledger.ledger import Ledger
from tests.ledger.payments import open_ledger
from tests.ledger.test_envelopes import sealing

Open = Callable[..., sf.Session]
COUNT, SUM = "SELECT COUNT(*) AS n FROM people", "SELECT SUM(age) AS s FROM people"
BOTH = "SELECT SUM(age) AS s, MEDIAN(age) AS m FROM people"  # two queries, and so a transaction


class Interrupting:
    """A connection on which a Ctrl-C comes once, right before or after a statement that begins so."""

    def __init__(self, real: Any, beginning: str, how: Any, *, before: bool = False) -> None:
        self._real, self._beginning, self._how, self._before = real, beginning, how, before

    def execute(self, sql: str) -> Any:
        here = self._beginning and sql.startswith(self._beginning)
        if here:
            self._beginning = ""
        if here and self._before:
            self._how()
        found = self._real.execute(sql)
        if here:
            self._how()
        return found

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)


def ctrl_c() -> None:
    """As Python's handler does; a signal itself may meet another handler, of a test before."""
    raise KeyboardInterrupt


def as_duckdb_tells_it() -> None:
    raise RuntimeError("Query interrupted")


@pytest.mark.parametrize("how", [ctrl_c, as_duckdb_tells_it])
@pytest.mark.parametrize("beginning", ["BEGIN", "ROLLBACK", "SELECT"])
@pytest.mark.parametrize("before", [True, False])
def test_a_ctrl_c_in_the_engine_stops_one_question_and_no_other(
    open_crowd: Open, beginning: str, how: Any, before: bool
) -> None:
    session = open_crowd(budget=sf.Budget(100))
    session.ask(COUNT, spend=1)
    engine: Any = session._engine
    engine._connection = Interrupting(engine._connection, beginning, how, before=before)
    try:
        session.ask(BOTH, spend=1)
    except KeyboardInterrupt:
        assert "failure" not in [line.kind for line in session._ledger.lines()]
    assert session.ask(BOTH, spend=1).rows  # resumed, or stored
    assert session.ask(f"{COUNT} WHERE age > 10", spend=1).rows
    assert [line.kind for line in session._ledger.lines()].count("charge") == 3


def test_a_watchdog_that_was_just_started_does_not_outlive_a_ctrl_c(monkeypatch: pytest.MonkeyPatch) -> None:
    stopped: list[int] = []

    class Connection:
        def interrupt(self) -> None:
            stopped.append(1)

    class Started(Thread):
        def start(self) -> None:
            super().start()
            raise KeyboardInterrupt

    monkeypatch.setattr(watchdog, "Thread", Started)
    with pytest.raises(KeyboardInterrupt), watchdog.Watchdog(Connection()).at_most(0.05):
        pass
    time.sleep(0.2)
    assert stopped == []


@pytest.fixture
def asked_in_a_transaction(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What a handler of signals does, in the middle of a transaction of the same thread."""
    todo: list[Any] = []
    append = Chain.append

    def appending(self: Chain, entry: Any) -> None:
        append(self, entry)
        if todo:
            todo.pop()()

    monkeypatch.setattr(Chain, "append", appending)
    return todo


@pytest.mark.parametrize("read", [lambda s: s.recall(2), lambda s: s.budget, lambda s: s.history()])
def test_nobody_reads_or_anchors_what_is_not_committed(
    open_crowd: Open, asked_in_a_transaction: list[Any], read: Any
) -> None:
    session = open_crowd(budget=sf.Budget(100))
    told: list[str] = []

    def handler() -> None:
        with pytest.raises(LedgerDamaged, match="this very thread"):
            read(session)
        told.append("refused")
        raise KeyboardInterrupt

    asked_in_a_transaction.append(handler)
    with pytest.raises(KeyboardInterrupt):
        session.ask(COUNT, spend=1)
    assert told == ["refused"]
    assert session.ask(COUNT, spend=1).rows
    assert session._ledger.verify() == 3


def test_a_transaction_that_a_ctrl_c_has_left_open_is_undone_by_whoever_is_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    armed: list[int] = []

    class Suppress(chains.suppress):  # type: ignore[misc, name-defined]
        def __enter__(self) -> None:
            if armed:
                armed.clear()
                ctrl_c()
            super().__enter__()

    monkeypatch.setattr(chains, "suppress", Suppress)
    ledger = open_ledger(tmp_path / "a.ledger")
    armed.append(1)
    with pytest.raises(KeyboardInterrupt), ledger.records.writing():
        raise ValueError("refused")
    ledger.limit_analyst("research", Fraction(1, 2))
    assert ledger.verify() == 2


def test_a_failure_that_cannot_be_kept_is_not_told(open_crowd: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    session = open_crowd(budget=sf.Budget(100))

    def failing(*_: object) -> Any:
        raise duckdb.Error("no")

    def not_kept(*_: object) -> None:
        raise LedgerDamaged("the disk is full.", "Make room.")

    monkeypatch.setattr(type(session._engine), "_run", failing)
    monkeypatch.setattr(Ledger, "fail", not_kept)
    with pytest.raises(LedgerDamaged) as caught:
        session.ask(COUNT, spend=1)
    assert "could not finish" not in "".join(traceback.format_exception(caught.value))
    monkeypatch.undo()
    monkeypatch.setattr(type(session._engine), "_run", failing)
    with pytest.raises(EngineFailed) as told:
        session.ask(SUM, spend=1)
    assert told.value.__context__ is None


def test_a_device_repeats_only_what_is_sure_to_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = sf.local.protocol("grr", domain=range(100), epsilon=1)
    device = sf.local.Device(made, budget=1, path=tmp_path / "device.json")
    real, forced, failing = os.fsync, [], [1]

    def fsync(handle: int) -> None:
        if stat.S_ISDIR(os.fstat(handle).st_mode):
            if failing:
                failing.clear()
                raise OSError(5, "Input/output error")
            forced.append(handle)
        real(handle)

    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(SfumatoError, match="Nothing was reported"):
        device.report(7)
    assert not forced
    device.report(7)
    assert forced


def test_an_analyst_with_a_limit_and_no_charge_yet_may_seal(tmp_path: Path) -> None:
    ledger = open_ledger(tmp_path / "a.ledger")
    ledger.limit_analyst("research", Fraction(1, 2))
    assert ledger.seal(sealing(Fraction(1, 10))).entry == 3


# ---- a Ctrl-C at the first step of the end of a block: the block ends when its error is forgotten, who knows where


def left_open(session: sf.Session, block: str) -> list[BaseException]:
    """The error of a Ctrl-C that came as a block of this name was to end; whoever keeps it keeps the block open."""

    def look(frame: Any, event: str, _: object) -> None:
        inside = frame.f_locals.get("self") if frame.f_code.co_name == "__exit__" else None
        if event == "call" and getattr(getattr(inside, "gen", None), "__name__", "") == block:
            sys.setprofile(None)
            raise KeyboardInterrupt

    kept: list[BaseException] = []
    sys.setprofile(look)
    try:
        session.ask(BOTH, spend=1)
    except KeyboardInterrupt as error:
        kept.append(error)
    finally:
        sys.setprofile(None)
    assert kept
    return kept


def test_a_transaction_that_is_forgotten_in_the_middle_of_another_question_undoes_nothing(
    open_crowd: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = open_crowd(budget=sf.Budget(10**6))
    kept, fetch_all = left_open(session, "_one_state"), engines._fetch_all

    def forgetting(result: Any) -> Any:
        kept.clear()
        gc.collect()
        return fetch_all(result)

    monkeypatch.setattr(engines, "_fetch_all", forgetting)
    assert session.ask(COUNT, spend=10**5).rows[0]["n"] > 0


def test_a_watchdog_that_was_left_waiting_stops_nobody_else() -> None:
    stopped: list[int] = []

    class Connection:
        def interrupt(self) -> None:
            stopped.append(1)

    dog = watchdog.Watchdog(Connection())
    left = dog.at_most(0.05)
    left.__enter__()
    with dog.at_most(60):
        time.sleep(0.2)
        del left
        gc.collect()
        assert dog._watched is not None
    assert stopped == []


def test_a_tick_that_is_forgotten_is_not_waited_for() -> None:
    slept: list[float] = []
    left = leaving_at_a_tick(time.monotonic_ns, slept.append)
    left.__enter__()
    del left
    gc.collect()
    assert slept == []


# Where it comes as a file is forgotten, Python can only say so.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning", "ignore::ResourceWarning")
@pytest.mark.parametrize("at", range(1, 160, 3))
def test_a_device_is_not_blocked_by_a_ctrl_c(tmp_path: Path, at: int) -> None:
    """Wherever it comes, as long as nobody keeps its error."""
    made = sf.local.protocol("grr", domain=range(100), epsilon=1)
    device = sf.local.Device(made, budget=10**6, path=tmp_path / "device.json")
    device.report(1)
    seen = 0

    def look(frame: Any, event: str, _: object) -> None:
        nonlocal seen
        if event in ("call", "c_return") and "/sfumato/" in frame.f_code.co_filename:
            seen += 1
            if seen == at:
                sys.setprofile(None)
                raise KeyboardInterrupt

    sys.setprofile(look)
    try:
        device.report(2)
    except KeyboardInterrupt:
        pass
    finally:
        sys.setprofile(None)
    reported: list[Any] = []
    later = Thread(target=lambda: reported.append(device.report(3)), daemon=True)
    later.start()
    later.join(20)
    assert reported
