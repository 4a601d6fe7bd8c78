"""Envelopes of a session: one charge for a purpose, draws through the door, and whatever may go wrong between them."""

import json
import os
import signal
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest

import sfumato as sf
from sfumato.engines.copies import Copies
from sfumato.errors import BudgetExceeded, EngineFailed, Refused, RequestConflict, SfumatoError, UsageError
from sfumato.kernel.gate import Release
from sfumato.plan.expressions import Column
from sfumato.plan.nodes import CountRows, ListedKey, Measure, Plan
from sfumato.plan.sources import Kept
from tests.ledger.payments import in_child
from tests.ledger.workers import at_once
from tests.session.drawing import ROUNDS, draw_all, dying, tables, walk

Open = Callable[..., sf.Session]
COPIES = "SELECT table_name FROM duckdb_tables() WHERE temporary"


def plan(session: sf.Session, share: Any = Fraction(1, 4), table: str = "people") -> Plan:
    keys = (ListedKey(Column("sex"), ("m", "f")),)
    return Plan(table, session.schema.unit, None, keys, (Measure(CountRows(), "laplace", share),))


def kinds(session: sf.Session) -> list[str]:
    return [str(entry.kind) for entry in session._ledger.records.chain.entries()]


def test_an_envelope_is_paid_once_and_drawn_from(open_crowd: Open) -> None:
    session = open_crowd()
    envelope = session.envelope("p", spend=1)
    assert (envelope.price.currency, envelope.price.amount, envelope.spend) == ("epsilon", 1, 1)
    assert (envelope.receipt, envelope.cost.epsilon, len(envelope.seed)) == (2, 1.0, 32)
    first = envelope.ask(plan(session), round_=0)
    assert isinstance(first, Release)
    assert [len(row) for row in first.values] == [1, 1]
    both = envelope.ask_all([plan(session), plan(session, Fraction(1, 2))], round_=1)
    assert len(both) == 2
    assert both[0] != first, "another round has noise of its own"
    assert kinds(session) == ["open", "charge", "draw", "release", "draw", "release"]
    assert session.budget.spent.epsilon == 1
    assert [charge.purpose for charge in session.history()] == ["p"]
    assert session._ledger.verify() == 6


def test_the_same_purpose_again_is_free_and_identical(open_crowd: Open) -> None:
    before = draw_all(open_crowd(), 0.5)
    again = open_crowd()
    assert draw_all(again, 0.5) == before
    assert again.budget.spent.epsilon == 0.5
    assert draw_all(again, 0.5, fresh=True) != before
    assert draw_all(again, 0.25) != before, "another spend is another envelope"
    assert again.budget.spent.epsilon == 1.25
    newest = draw_all(again, 0.5)
    assert newest != before, "and afterwards it is the newest that counts"
    assert again.budget.spent.epsilon == 1.25


def test_a_request_id_makes_an_envelope_safe_to_try_again(open_crowd: Open) -> None:
    session = open_crowd()
    seed = session.envelope("p", spend=0.5, fresh=True, request="id").seed
    assert session.envelope("p", spend=0.5, fresh=True, request="id").seed == seed
    with pytest.raises(RequestConflict):
        session.envelope("q", spend=0.5, request="id")
    assert session.budget.spent.epsilon == 0.5


@pytest.mark.parametrize("share", [Fraction(3, 4), Fraction(1, 4) + Fraction(1, 10**30)])
def test_no_more_is_drawn_than_was_paid_whatever_a_learner_reckons(open_crowd: Open, share: Fraction) -> None:
    session = open_crowd()
    envelope = session.envelope("p", spend=0.5)
    envelope.ask(plan(session), round_=0)
    with pytest.raises(BudgetExceeded, match="this draw costs more than is left in envelope 2"):
        envelope.ask(plan(session, share), round_=1)
    with pytest.raises(BudgetExceeded):
        envelope.ask_all([plan(session, Fraction(1, 5)), plan(session, Fraction(1, 10))], round_=1)
    envelope.ask(plan(session), round_=1)
    assert session._ledger.verify() == 6


def test_a_full_ledger_seals_nothing(open_crowd: Open) -> None:
    session = open_crowd()
    session.envelope("p", spend=3)
    with pytest.raises(BudgetExceeded, match=r"the table has 0 left of 3"):
        session.envelope("q", spend=0.001)
    assert session.envelope("p", spend=3).receipt == 2, "what was paid is there"


def test_draws_are_of_the_data_that_the_envelope_was_sealed_for(open_crowd: Open, crowd: pa.Table) -> None:
    session = open_crowd()
    envelope = session.envelope("p", spend=0.5)
    kept = envelope.ask(plan(session), round_=0)
    other = open_crowd(crowd.slice(0, 700))
    changed = type(envelope)(
        envelope.schema, envelope.analyst, envelope.spend, envelope.cost, envelope._sealed,
        other._ledger, other._engine, other._entropy, Copies(other._engine),
    )  # fmt: skip
    with pytest.raises(UsageError, match="the data has changed since envelope 2 was sealed"):
        changed.ask(plan(session), round_=0)
    assert other.envelope("p", spend=0.5).receipt != envelope.receipt
    assert envelope.ask(plan(session), round_=0) == kept


def test_data_that_change_between_two_rounds_end_it(crowd: pa.Table, tmp_path: Path, open_crowd: Open) -> None:
    file = tmp_path / "people.parquet"
    pyarrow.parquet.write_table(crowd, file)
    session = open_crowd(file)
    envelope = session.envelope("p", spend=0.5)
    envelope.ask(plan(session), round_=0)
    pyarrow.parquet.write_table(crowd.slice(0, 100), file)
    os.utime(file, (1, 1))
    with pytest.raises(SfumatoError):
        envelope.ask(plan(session), round_=1)
    assert kinds(session) == ["open", "charge", "draw", "release"]


def test_what_cannot_be_certified_is_not_drawn(open_crowd: Open) -> None:
    session = open_crowd()
    envelope = session.envelope("p", spend=0.5)
    for wrong in (plan(session, table="elsewhere"), plan(session, Fraction(0)), plan(session, 0.25)):
        with pytest.raises(Refused, match="the plan was not certified"):
            envelope.ask(wrong, round_=0)
    gaussian = Plan("people", session.schema.unit, None, (), (Measure(CountRows(), "gaussian", Fraction(1, 4)),))
    with pytest.raises(Refused):
        envelope.ask(gaussian, round_=0)
    with pytest.raises(UsageError, match="1 to 1000 plans"):
        envelope.ask_all([], round_=0)
    with pytest.raises(UsageError):
        envelope.ask(plan(session), round_=-1)
    with pytest.raises(UsageError, match="number of its round"):
        envelope.ask(plan(session), round_=10**5000)
    assert kinds(session) == ["open", "charge"]


def test_a_mechanism_that_is_switched_off_draws_nothing(open_crowd: Open) -> None:
    session = open_crowd(allow=["choice"])
    envelope = session.envelope("p", spend=0.5)
    with pytest.raises(Refused, match="additive"):
        envelope.ask(plan(session), round_=0)
    assert kinds(session) == ["open", "charge"]


@pytest.mark.parametrize("wrong", ["", "p" * 20_001, "a\nb", 7, None])
def test_a_purpose_is_a_short_text(open_crowd: Open, wrong: Any) -> None:
    with pytest.raises(UsageError, match="a purpose is a text"):
        open_crowd().envelope(wrong, spend=0.5)


def test_an_envelope_costs_something_and_takes_no_delta(open_crowd: Open) -> None:
    session = open_crowd(budget=sf.Budget(3, 1e-6))
    with pytest.raises(UsageError, match="spend is missing"):
        session.envelope("p")
    with pytest.raises(UsageError, match="takes no delta"):
        session.envelope("p", spend=sf.Spend(1, delta=1e-9))
    assert session.price(1).currency == "rho"
    assert session.price(1) == session.envelope("p", spend=1).price
    assert session.budget.spent.epsilon == pytest.approx(1)


def test_an_engine_that_fails_in_a_round_fails_again(open_crowd: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    session = open_crowd()
    envelope = session.envelope("p", spend=0.5)

    def broken(*_: Any) -> Any:
        raise EngineFailed("it failed.")

    with monkeypatch.context() as patched:
        patched.setattr(session._engine, "rows", broken)
        with pytest.raises(EngineFailed):
            envelope.ask(plan(session), round_=0)
    with pytest.raises(EngineFailed, match=r"it failed\."):
        envelope.ask(plan(session), round_=0)
    assert kinds(session) == ["open", "charge", "draw", "failure"]


# ---- crashes


@pytest.mark.slow
@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("death", range(1 + 2 * ROUNDS))
def test_killed_at_every_entry_it_resumes_and_pays_once(tmp_path: Path, death: int, moment: str) -> None:
    """kill -9 right before or right after each entry of a fit is written; then the next process goes on."""
    tables(tmp_path)

    def to_death() -> None:
        dying(death, moment)
        walk(tmp_path)

    assert in_child(to_death) == -signal.SIGKILL
    assert in_child(lambda: (tmp_path / "told.json").write_text(json.dumps(walk(tmp_path)))) == 0
    first = json.loads((tmp_path / "told.json").read_text())
    assert first["found"] == first["again"]
    assert first["spent"] == 1.0
    assert first["kinds"].count("charge") == 1
    assert first["kinds"].count("draw") == first["kinds"].count("release") == ROUNDS
    if moment == "after" and death:
        assert first["kinds"].count("interrupted") == death % 2, "a draw without its release is looked at again"


@pytest.mark.slow
@pytest.mark.parametrize("held", [False, True])
def test_a_forked_child_comes_out_of_an_envelope(open_crowd: Open, held: bool) -> None:
    """Also where another thread was in the engine at the fork; the copies of its parent stay."""
    session = open_crowd()
    engine: Any = session._engine
    inside, let_go = Event(), Event()

    def hold() -> None:
        with engine._connected:
            inside.set()
            let_go.wait(60)

    def close() -> None:
        signal.alarm(20)
        envelope.close()

    with session.envelope("p", spend=0.5) as envelope:
        envelope.ask(replace(plan(session), table=Kept("people")), round_=0)
        kept = engine.run(COPIES)
        assert kept
        holding = Thread(target=hold, daemon=True)
        if held:
            holding.start()
            assert inside.wait(60)
        try:
            assert in_child(close) == 0
        finally:
            let_go.set()
        if held:
            holding.join(60)
        assert engine.run(COPIES) == kept
    assert engine.run(COPIES) == []


def test_processes_that_fit_the_same_purpose_at_once_pay_once(tmp_path: Path) -> None:
    tables(tmp_path)
    told = at_once("draw-the-same", 3, tmp_path)
    assert len(told) == 3
    assert len(set(told)) == 1, "all show the same numbers"
    assert json.loads(told[0])["spent"] == 1.0
    assert json.loads(told[0])["charges"] == 1


# ---- for the owner


def test_the_owner_sees_what_was_drawn(open_crowd: Open) -> None:
    session = open_crowd()
    session.ask("SELECT COUNT(*) AS n FROM people", spend=0.5)
    draw_all(session, 1)
    drawn = session._ledger.draws()
    assert [draw.round for draw in drawn] == list(range(ROUNDS))
    assert {draw.envelope for draw in drawn} == {4}
    assert sum(draw.amount for draw in drawn) == pytest.approx(1)
    assert drawn[-1].used == 1
    assert {event["mechanism"] for draw in drawn for event in draw.releases} == {"discrete_laplace"}


def test_the_shell_lists_draws(policy: Path, shell: Callable[..., tuple[int, str, str]]) -> None:
    with sf.open(policy) as session:
        draw_all(session, 1)
    code, out, _ = shell("history", policy, "--draws")
    assert code == 0
    assert out.count("discrete_laplace") == ROUNDS
    code, out, _ = shell("history", policy, "--draws", "--format", "json")
    told = json.loads(out)
    assert [draw["round"] for draw in told] == list(range(ROUNDS))
    assert told[-1]["used"] == 1.0
    code, out, _ = shell("history", policy)
    assert code == 0
    assert "walk" in out
