"""The door: pay, look, add noise, keep, in this order; and what happens when a look is broken off."""

import traceback
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from fractions import Fraction
from typing import Any

import pytest

import sfumato as sf
from sfumato import door
from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.errors import BudgetExceeded, EngineFailed, LedgerDamaged, UsageError
from sfumato.kernel.cost import Cost
from sfumato.kernel.entropy import SystemEntropy
from sfumato.ledger.book import MOST_RESUMED
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.payment import Draw, Sealing
from sfumato.query.planned import planned

Open = Callable[..., sf.Session]
COUNT, BY_SEX = "SELECT COUNT(*) AS n FROM people", "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"


def kinds(session: sf.Session) -> list[str]:
    return [str(entry.kind) for entry in session._ledger.records.chain.entries()]


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the door does, in order."""
    done: list[str] = []

    def noted(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any, **named: Any) -> Any:
            done.append(name)
            return real(*given, **named)

        return call

    @contextmanager
    def inside(name: str, real: AbstractContextManager[None]) -> Iterator[None]:
        done.append(name)
        with real:
            yield
        done.append(f"end of {name}")

    for name in ("found", "charge", "draw", "store", "fail"):
        monkeypatch.setattr(Ledger, name, noted(name, getattr(Ledger, name)))
    for name in ("look_at_all", "release"):
        monkeypatch.setattr(door, name, noted(name, getattr(door, name)))
    slot, tick = DuckDBEngine.slot, door.leaving_at_a_tick
    monkeypatch.setattr(DuckDBEngine, "slot", lambda engine: inside("slot", slot(engine)))
    monkeypatch.setattr(door, "leaving_at_a_tick", lambda **given: inside("tick", tick(**given)))
    return done


def test_a_question_takes_a_slot_pays_looks_and_is_kept(open_crowd: Open, steps: list[str]) -> None:
    session = open_crowd()
    session.ask(COUNT, spend=0.5)
    assert steps == ["found", "slot", "charge", "tick", "look_at_all", "release", "store", "end of tick", "end of slot"]


def test_questions_that_are_paid_together_are_all_looked_at_before_one_is_released(
    open_crowd: Open, steps: list[str]
) -> None:
    session = open_crowd()
    session.ask_all([COUNT, BY_SEX], spend=0.5)
    assert steps[:-2] == ["found", "slot", "charge", "tick", "look_at_all", "release", "release", "store"]
    assert kinds(session) == ["open", "charge", "release"]


def test_a_stored_answer_needs_no_slot(open_crowd: Open, steps: list[str]) -> None:
    session = open_crowd()
    session.ask(COUNT, spend=0.5)
    steps.clear()
    assert session.ask(COUNT, spend=0.5).cached
    assert steps == ["found"]


def test_a_failure_is_kept_inside_its_tick(open_crowd: Open, steps: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    session = open_crowd()
    monkeypatch.setattr(session._engine, "rows", broken_by(EngineFailed("it failed.")))
    with pytest.raises(EngineFailed):
        session.ask(COUNT, spend=0.5)
    assert steps[:6] == ["found", "slot", "charge", "tick", "look_at_all", "fail"]
    assert kinds(session) == ["open", "charge", "failure"]


def broken_by(error: BaseException) -> Callable[..., Any]:
    def broken(*_: Any) -> Any:
        raise error

    return broken


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(1), LedgerDamaged("of something else")])
def test_a_look_that_was_interrupted_is_resumed_three_times(
    open_crowd: Open, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    """Nothing was shown; but each try tells how long it took. Then it has failed, also for whoever comes later."""
    session = open_crowd()
    with monkeypatch.context() as broken:
        broken.setattr(session._engine, "rows", broken_by(error))
        for resumed in range(MOST_RESUMED + 1):
            with pytest.raises(type(error)):
                session.ask(COUNT, spend=0.5)
            assert kinds(session) == ["open", "charge", *["interrupted"] * resumed]
    for again in (session, open_crowd()):
        with pytest.raises(EngineFailed, match="this question has been looked at 4 times, and no answer was kept"):
            again.ask(COUNT, spend=0.5)
    assert not session.ask(COUNT, spend=0.5, fresh=True).cached
    assert session.budget.spent.epsilon == 1
    assert session._ledger.verify() == 8


@pytest.mark.parametrize("place", ["look_at_all", "release"])
@pytest.mark.parametrize("error", [MemoryError("shape (276601,)"), ValueError("276601"), RecursionError("276601")])
def test_whatever_goes_wrong_on_rows_says_one_thing_and_is_resumed(
    open_crowd: Open, monkeypatch: pytest.MonkeyPatch, place: str, error: Exception
) -> None:
    """How much memory there was not, or which size did not fit, is a number of the table's."""
    session = open_crowd()
    with monkeypatch.context() as broken:
        broken.setattr(door, place, broken_by(error))
        with pytest.raises(EngineFailed) as told:
            session.ask(COUNT, spend=0.5)
    assert "276601" not in "".join(traceback.format_exception(told.value))
    assert told.value.message == "something else than the engine broke this question off."
    assert (told.value.__context__, told.value.__cause__) == (None, None)
    assert kinds(session) == ["open", "charge"]
    assert not session.ask(COUNT, spend=0.5).cached
    assert kinds(session) == ["open", "charge", "interrupted", "release"]


def test_an_interruption_brings_nothing_along_that_somebody_else_said(
    open_crowd: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A Ctrl-C may come while an error of the engine, which quotes a row, is being told."""

    def both(*_: Any) -> Any:
        try:
            raise MemoryError("shape (276601,)")
        finally:
            raise KeyboardInterrupt

    session = open_crowd()
    monkeypatch.setattr(door, "look_at_all", both)
    with pytest.raises(KeyboardInterrupt) as told:
        session.ask(COUNT, spend=0.5)
    assert "276601" not in "".join(traceback.format_exception(told.value))


def test_a_ctrl_c_while_a_failure_is_kept_gives_no_further_look_for_nothing(
    open_crowd: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = open_crowd()
    with monkeypatch.context() as broken:
        broken.setattr(session._engine, "rows", broken_by(EngineFailed("it failed.")))
        broken.setattr(Ledger, "fail", broken_by(KeyboardInterrupt()))
        for resumed in range(MOST_RESUMED + 1):
            with pytest.raises(KeyboardInterrupt):
                session.ask(COUNT, spend=0.5)
            assert kinds(session) == ["open", "charge", *["interrupted"] * resumed]
    with pytest.raises(EngineFailed, match="interrupted"):
        session.ask(COUNT, spend=0.5)


def test_after_an_interruption_the_charge_is_resumed(open_crowd: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    session = open_crowd()
    with monkeypatch.context() as broken:
        broken.setattr(session._engine, "rows", broken_by(KeyboardInterrupt()))
        with pytest.raises(KeyboardInterrupt):
            session.ask(COUNT, spend=0.5)
    answer = session.ask(COUNT, spend=0.5)
    assert (answer.receipt, answer.cached) == (2, False)
    assert kinds(session) == ["open", "charge", "interrupted", "release"]
    assert session.budget.spent.epsilon == 0.5


def test_an_interruption_after_the_answer_was_kept_changes_nothing(
    open_crowd: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, store = open_crowd(), Ledger.store

    def late(*given: Any) -> Any:
        store(*given)
        raise KeyboardInterrupt

    with monkeypatch.context() as interrupted:
        interrupted.setattr(Ledger, "store", late)
        with pytest.raises(KeyboardInterrupt):
            session.ask(COUNT, spend=0.5)
    assert kinds(session) == ["open", "charge", "release"]
    assert session.ask(COUNT, spend=0.5).cached


def test_what_explain_shows_is_what_the_engine_is_told(open_crowd: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    session, told = open_crowd(), []
    rows = session._engine.rows
    asked = lambda queries, of: told.extend(query.sql for query in queries) or rows(queries, of)  # noqa: E731
    monkeypatch.setattr(session._engine, "rows", asked)
    shown = session.explain(BY_SEX, spend=0.5).sql
    session.ask(BY_SEX, spend=0.5)
    assert ";\n".join(told) == shown


# ---- draws go through the same door


def drawn(session: sf.Session, envelope: int, share: Fraction, round_: int = 1) -> Draw:
    one = planned(COUNT, session.schema, Cost("epsilon", share))
    return Draw((one.certified,), session.analyst, envelope, round_, session._engine.version())


def test_a_draw_is_looked_at_released_and_kept_as_a_question_is(open_crowd: Open, steps: list[str]) -> None:
    session = open_crowd()
    sealing = Sealing("{}", session.analyst, Fraction(1), Cost("epsilon", Fraction(1)), session._engine.version())
    sealed = session._ledger.seal(sealing)
    for _ in range(2):
        answered = door.answer(
            session._ledger, drawn(session, sealed.entry, Fraction(1, 2)), session._engine, SystemEntropy()
        )
    assert answered.cached
    assert kinds(session) == ["open", "charge", "draw", "release"]
    assert steps == [
        "found",
        "slot",
        "draw",
        "tick",
        "look_at_all",
        "release",
        "store",
        "end of tick",
        "end of slot",
        "found",
    ]
    with pytest.raises(BudgetExceeded, match="more than is left in envelope 2"):
        door.answer(session._ledger, drawn(session, sealed.entry, Fraction(2, 3)), session._engine, SystemEntropy())
    with pytest.raises(UsageError, match="no envelope of yours"):
        door.answer(session._ledger, drawn(session, 3, Fraction(1, 3)), session._engine, SystemEntropy())
    assert session.budget.spent.epsilon == 1


def test_data_that_changed_while_a_question_waited_is_not_paid_for(
    open_crowd: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = open_crowd()
    states = iter(["v1", "v2"])
    monkeypatch.setattr(session._engine, "version", lambda: next(states))
    with pytest.raises(UsageError, match="the data changed while the question waited"):
        session.ask(COUNT, spend=0.5)
    assert kinds(session) == ["open"]


def test_whose_session_it_is_cannot_be_changed(open_crowd: Open) -> None:
    session = open_crowd()
    for name in ("analyst", "schema"):
        with pytest.raises(AttributeError):
            setattr(session, name, "press")
