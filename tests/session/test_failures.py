"""When something outside the question goes wrong: pay, then look; never refund, never pay twice."""

import gc
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Thread

import duckdb
import pyarrow as pa
import pyarrow.parquet
import pytest

import sfumato as sf
from sfumato.answers.answer import Answer
from sfumato.errors import BudgetExceeded, DataUnreadable, EngineFailed, LedgerDamaged, UsageError
from sfumato.kernel.gate import Release
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.payment import Payment
from tests.ledger.payments import in_child

Open = Callable[..., sf.Session]
COUNT = "SELECT COUNT(*) AS n FROM people"
BY_AGE = "SELECT COUNT(*) AS n FROM people WHERE age > 30"
GENEROUS = {"budget": sf.Budget(epsilon=10**9)}


class BrokenConnection:
    def cursor(self) -> None:
        raise duckdb.Error("Could not convert string 'alice' to INT32")

    def close(self) -> None:
        pass

    def execute(self, sql: str) -> None:
        raise duckdb.ConversionException("Could not convert string 'alice'")


def test_a_failing_engine_keeps_the_charge_and_fails_again_unlooked_until_paid_anew(
    open_crowd: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, told = open_crowd(**GENEROUS), set()
    for question in (session.ask, lambda question, **given: session.ask_all([question, BY_AGE], **given)):
        with monkeypatch.context() as broken:
            broken.setattr(session._engine, "_connection", BrokenConnection())
            with pytest.raises(EngineFailed) as failed:
                question(COUNT, spend=10**6)
            assert "alice" not in str(failed.value)
            assert failed.value.__cause__ is None
            assert failed.value.__suppress_context__
            told.add(str(failed.value))
        with monkeypatch.context() as unlooked:
            unlooked.setattr(session._engine, "rows", lambda *_: pytest.fail("the engine ran again"))
            for again in (session, open_crowd(**GENEROUS)):
                with pytest.raises(EngineFailed) as failed:
                    again.ask(COUNT, spend=10**6)
                told.add(str(failed.value))
    assert len(told) == 1
    assert len(session.history()) == 2
    assert session.budget.spent.epsilon == 2 * 10**6
    answer = session.ask(COUNT, spend=10**6, fresh=True)
    assert (answer.rows, answer.cached) == ([{"n": 800}], False)
    assert len(session.history()) == 3
    assert session.ask(COUNT, spend=10**6).cached


def test_another_analyst_does_not_meet_the_failure(open_crowd: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    session = open_crowd()
    with monkeypatch.context() as broken:
        broken.setattr(session._engine, "_connection", BrokenConnection())
        with pytest.raises(EngineFailed):
            session.ask(COUNT, spend=0.5)
    assert open_crowd(analyst="press").ask(COUNT, spend=0.5).rows


def test_a_gate_that_fails_shows_nothing_and_a_retry_is_free(open_crowd: Open, monkeypatch) -> None:
    session = open_crowd()

    class NoEntropy:
        def words(self, count: int) -> None:
            raise OSError("no randomness")

        below = words

    with monkeypatch.context() as broken:
        broken.setattr(session, "_entropy", NoEntropy())
        with pytest.raises(EngineFailed, match="something else than the engine"):
            session.ask(COUNT, spend=0.5)
    session.ask(COUNT, spend=0.5)
    assert len(session.history()) == 1


def test_an_answer_that_cannot_be_stored_is_not_shown(open_crowd: Open, monkeypatch) -> None:
    session = open_crowd()

    def full(*_: object) -> None:
        raise LedgerDamaged("the disk is full")

    with monkeypatch.context() as broken:
        broken.setattr(session._ledger, "store", full)
        with pytest.raises(LedgerDamaged):
            session.ask(COUNT, spend=0.5)
    first = session.ask(COUNT, spend=0.5)
    assert session.ask(COUNT, spend=0.5).rows == first.rows
    assert len(session.history()) == 1


def test_two_who_resume_one_charge_show_one_answer(open_crowd: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever stores first decides: the noise of the other is never shown."""
    slow, quick, store = open_crowd(), open_crowd(), Ledger.store
    overtaken: list[Answer] = []

    def late(ledger: Ledger, paid: Payment, releases: list[Release]) -> tuple[Release, ...]:
        if ledger is slow._ledger:
            other = Thread(target=lambda: overtaken.append(quick.ask("SELECT SUM(income) AS s FROM people", spend=0.5)))
            other.start()
            other.join(60)
        return store(ledger, paid, releases)

    monkeypatch.setattr(Ledger, "store", late)
    shown = slow.ask("SELECT SUM(income) AS s FROM people", spend=0.5)
    assert [answer.rows for answer in overtaken] == [shown.rows]
    assert len(slow.history()) == 1


def test_a_ledger_that_cannot_be_written_stops_before_the_data(open_crowd: Open, monkeypatch) -> None:
    session = open_crowd()
    monkeypatch.setattr(session._engine, "rows", lambda *_: pytest.fail("the engine ran without a charge"))
    ledger = session._ledger
    ledger.path.unlink()
    ledger.records.chain.close()
    with pytest.raises(LedgerDamaged):
        session.ask(COUNT, spend=0.5)


def test_a_vanished_file_costs_nothing(open_crowd: Open, crowd: pa.Table, tmp_path: Path) -> None:
    path = tmp_path / "people.parquet"
    pyarrow.parquet.write_table(crowd, path)
    session = open_crowd(path)
    path.unlink()
    with pytest.raises(DataUnreadable, match="there is no file"):
        session.ask(COUNT, spend=0.5)
    assert session.history() == []
    session.explain(COUNT, spend=0.5)


def test_a_damaged_file_fails_without_a_word_about_the_data(open_crowd: Open, crowd: pa.Table, tmp_path: Path) -> None:
    path = tmp_path / "people.parquet"
    pyarrow.parquet.write_table(crowd, path)
    session = open_crowd(path)
    path.write_bytes(path.read_bytes()[:100] + b"rubbish")
    with pytest.raises(DataUnreadable, match="it is damaged"):
        session.ask(COUNT, spend=0.5)
    assert session.history() == []


def test_a_damaged_file_without_texts_fails_in_the_engine(open_crowd: Open, crowd: pa.Table, tmp_path: Path) -> None:
    path = tmp_path / "people.parquet"
    pyarrow.parquet.write_table(crowd, path)
    session = open_crowd(path, columns={"age": sf.Int(17, 90)})
    path.write_bytes(path.read_bytes()[:100] + b"rubbish")
    with pytest.raises(EngineFailed, match="could not finish this question"):
        session.ask(COUNT, spend=0.5)
    assert len(session.history()) == 1


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_session_does_not_cross_a_fork(open_crowd: Open) -> None:
    session = open_crowd()
    session.ask(COUNT, spend=0.5)

    def child() -> None:
        with pytest.raises(UsageError, match="opened in another process"):
            session.ask(COUNT, spend=0.25)

    assert in_child(child) == 0
    assert len(session.history()) == 1
    session.ask(COUNT, spend=0.25)


def test_a_closed_session_is_a_usage_error_before_any_charge(open_crowd: Open) -> None:
    with open_crowd() as session:
        session.ask(COUNT, spend=0.5)
    with pytest.raises(UsageError, match="closed"):
        session.ask("SELECT COUNT(*) AS n FROM people WHERE age > 30", spend=0.5)
    assert len(open_crowd().history()) == 1


def test_a_session_closes_at_the_end_of_its_block_whatever_happens(open_crowd: Open) -> None:
    session = open_crowd()

    def interrupted() -> None:
        with session as entered:
            assert entered is session
            raise KeyError

    with pytest.raises(KeyError):
        interrupted()
    assert session._ledger.records.chain._connection is None
    session.close()


def test_an_open_session_may_simply_be_dropped(open_crowd: Open, crowd: pa.Table, tmp_path: Path) -> None:
    session = sf.protect(
        crowd,
        unit=sf.Row(),
        columns={"age": sf.Int(17, 90)},
        budget=sf.Budget(1),
        ledger=tmp_path / "dropped.ledger",
    )
    session.ask("SELECT COUNT(*) AS n FROM data", spend=0.5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        del session
        gc.collect()
    assert (
        open_crowd(
            table="data", unit=sf.Row(), budget=sf.Budget(1), ledger=tmp_path / "dropped.ledger"
        ).budget.left.epsilon
        == 0.5
    )


def test_threads_share_a_session(open_crowd: Open) -> None:
    session = open_crowd(**GENEROUS)

    def ask(age: int) -> int:
        return session.ask(f"SELECT COUNT(*) AS n FROM people WHERE age >= {20 + age % 10}", spend=10**6).rows[0]["n"]

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(ask, range(40)))
    assert found == [ask(age) for age in range(40)]
    assert len(session.history()) == 10
    assert session._ledger.verify() == 21


def test_threads_never_overspend_a_session(open_crowd: Open) -> None:
    session = open_crowd()

    def ask(age: int) -> bool:
        try:
            session.ask(f"SELECT COUNT(*) AS n FROM people WHERE age >= {age}", spend=0.25)
        except BudgetExceeded:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(ask, range(30, 60))) == 12
