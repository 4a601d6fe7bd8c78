"""Ledgers that 0.1.0 made: they open, pay, list and verify as they did, keep their layout, and recall their answers."""

import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from sfumato.errors import BudgetExceeded, EngineFailed, RequestConflict, UsageError
from sfumato.kernel.gate import Receipt, Release
from sfumato.ledger.data_key import key_place
from sfumato.ledger.payment import Payment
from sfumato.ledger.places import default_anchor
from sfumato.ledger.terms import Terms
from sfumato.schema.budget import Budget
from sfumato.schema.table import Schema
from sfumato.schema.unit import Person, Row
from tests.ledger.payments import MIXED, PURE, SCHEMA, open_ledger, payment

KEPT = Path(__file__).parents[1] / "fixtures" / "ledgers"
BUDGETS = {"0.1.0.ledger": PURE, "0.1.0-rho.ledger": MIXED}


@pytest.fixture(params=BUDGETS)
def old(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, Budget]:
    """Entries: open, analyst, then charges: answered, died, failed, with discovered keys, failed and answered."""
    path = tmp_path / request.param
    for each in (path, default_anchor(path)):
        shutil.copy(KEPT / each.name, each)
    return path, BUDGETS[request.param]


def asked(name: str, spend: float, budget: Budget, *, delta: Fraction = Fraction(0), **named: object) -> Payment:
    """A payment whose plan has this digest: that of the plans that 0.1.0 was paid for."""
    paid = payment(spend, budget=budget, **named)
    (one,) = paid.plans
    return replace(paid, plans=(replace(one, digest=name, cost=replace(one.cost, delta=delta)),))


def test_it_verifies_and_lists_its_charges(old: tuple[Path, Budget]) -> None:
    path, budget = old
    with closing(open_ledger(path, budget=budget)) as ledger:
        assert ledger.verify() == 12
        assert [(line.entry, line.analyst, line.digest, line.request) for line in ledger.history()] == [
            (3, "research", "answered", "id-17"),
            (5, "press", "died", None),
            (6, "research", "failed", None),
            (8, "research", "keys", None),
            (10, "research", "both", None),
        ]
        assert [line.entry for line in ledger.history("press")] == [5]


def test_what_it_answered_is_recalled_and_never_taken_for_an_answer_of_now(old: tuple[Path, Budget]) -> None:
    """Not even under the very name that 0.1.0 gave the question, which had no key."""
    path, budget = old
    with closing(open_ledger(path, budget=budget)) as ledger:
        charge, stored = ledger.recall(3, "research")
        assert (charge.seq, stored.releases) == (3, (Release(3, ((42, (1, -(10**40))),)),))
        _, keys = ledger.recall(8, "research")
        assert keys.releases == (Release(8, ((5,), (6,)), (("Malmö", 0), ("Ulm", 1))), Release(8, ((7,),)))
        assert ledger.recall(10, "research")[1].releases == (Release(10, ((8,),)),)
        with pytest.raises(EngineFailed, match=r"^it failed\.\n  The charge stands\.$"):
            ledger.recall(6, "research")
        for number, analyst in ((5, "press"), (3, "press"), (1, "research"), (4, "research"), (99, "research")):
            with pytest.raises(UsageError, match="there is no answer of yours"):
                ledger.recall(number, analyst)
        for name, spend in (("answered", 0.25), ("failed", 0.1), ("died", 0.1)):
            analyst = "press" if name == "died" else "research"
            assert ledger.found(asked(name, spend, budget, analyst=analyst)) is None
        paid = ledger.charge(asked("answered", 0.25, budget))
        assert isinstance(paid, Receipt)
        assert paid.entry == 13
        assert ledger.verify() == 13


def test_a_request_id_that_it_used_is_refused_before_paying(old: tuple[Path, Budget]) -> None:
    path, budget = old
    with closing(open_ledger(path, budget=budget)) as ledger:
        again = asked("answered", 0.25, budget, request="id-17")
        for act in (ledger.found, ledger.charge):
            with pytest.raises(RequestConflict, match="'id-17' was used for entry 3") as refused:
                act(again)
        assert "Recall it" in refused.value.hint
        assert ledger.verify() == 12


def test_of_its_unit_the_id_alone_is_compared(old: tuple[Path, Budget]) -> None:
    path, budget = old
    wider = Schema(SCHEMA.table, Person("user_id", max_rows=50, max_groups=7), SCHEMA.columns)
    with closing(open_ledger(path, budget=budget, schema=wider)) as ledger:
        assert ledger.verify() == 12
    for unit in (Row(), Person("other", max_rows=2, max_groups=2)):
        with pytest.raises(UsageError, match="the ledger was opened for the unit"):
            open_ledger(path, budget=budget, schema=Schema(SCHEMA.table, unit, SCHEMA.columns))


def test_it_gets_a_key_when_it_is_opened(old: tuple[Path, Budget]) -> None:
    path, budget = old
    open_ledger(path, budget=budget).close()
    assert key_place(default_anchor(path)).is_file()


def test_it_pays_on_from_its_totals_and_limits(old: tuple[Path, Budget]) -> None:
    path, budget = old
    terms = Terms(budget)
    spent = terms.price(Fraction(1, 4)).amount + 4 * terms.price(Fraction(1, 10)).amount
    with closing(open_ledger(path, budget=budget)) as ledger:
        balance = ledger.balance("press")
        assert balance.spent == terms.spent(spent, terms.pot / 5)
        assert balance.left_for_keys == float(terms.pot - terms.pot / 5)
        with pytest.raises(BudgetExceeded, match='analyst "press"'):
            ledger.charge(asked("new", 0.25, budget, analyst="press"))
        ledger.charge(asked("new", 0.3, budget))
        assert ledger.balance("press").spent.epsilon > balance.spent.epsilon
        assert ledger.verify() == 13


def test_it_keeps_its_layout(old: tuple[Path, Budget]) -> None:
    path, budget = old
    before = schema(path)
    with closing(open_ledger(path, budget=budget)) as ledger:
        ledger.charge(asked("new", 0.1, budget))
    assert schema(path) == before


def schema(path: Path) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("SELECT * FROM sqlite_master ORDER BY rowid").fetchall()
