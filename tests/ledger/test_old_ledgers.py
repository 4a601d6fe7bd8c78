"""Ledgers that 0.1.0 made: they open, pay, answer, list and verify as they did, and keep their layout."""

import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from sfumato.errors import BudgetExceeded, EngineFailed
from sfumato.kernel.gate import Receipt, Release
from sfumato.ledger.payment import Payment, Stored
from sfumato.ledger.places import default_anchor
from sfumato.ledger.terms import Terms
from sfumato.schema.budget import Budget
from tests.ledger.payments import MIXED, PURE, answer, open_ledger, payment

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
    """A payment whose plan has this digest: digests of real plans may change with the package."""
    paid = payment(spend, budget=budget, **named)
    one = paid.certified
    return replace(paid, certified=replace(one, digest=name, cost=replace(one.cost, delta=delta)))


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


def test_what_was_bought_is_still_there(old: tuple[Path, Budget]) -> None:
    path, budget = old
    with closing(open_ledger(path, budget=budget)) as ledger:
        for named in ({}, {"request": "id-17"}):
            bought = ledger.charge(asked("answered", 0.25, budget, **named))
            assert isinstance(bought, Stored)
            assert bought.release == Release(3, ((42, (1, -(10**40))),))
        with pytest.raises(EngineFailed, match=r"^it failed\.\n  The charge stands\.$"):
            ledger.charge(asked("failed", 0.1, budget))
        keys = ledger.charge(asked("keys", 0.1, budget, delta=Terms(budget).pot / 5))
        assert isinstance(keys, Stored)
        other = Release(8, ((7,),))
        assert keys.release == Release(8, ((5,), (6,)), (("Malmö", 0), ("Ulm", 1)), (other,))
        both = ledger.charge(asked("both", 0.1, budget))
        assert isinstance(both, Stored)
        assert both.release == Release(10, ((8,),))
        died = ledger.charge(asked("died", 0.1, budget, analyst="press"))
        assert isinstance(died, Receipt)
        assert ledger.store(answer(died.entry)) == answer(5)
        assert ledger.verify() == 13


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
