"""The limit in force: an open session takes a later one from the ledger, if somebody with the key put it there."""

from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import sfumato as sf
from sfumato.errors import BudgetExceeded, UsageError
from sfumato.ledger.in_force import InForce
from sfumato.schema.budget import Budget
from tests.ledger.payments import MIXED, newest, open_ledger, payment
from tests.ledger.tampering import forge


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.ledger"


def raise_to(path: Path, budget: Budget) -> None:
    owner = open_ledger(path, budget=budget)
    owner.record_limit()
    owner.close()


def test_an_open_ledger_takes_a_limit_that_the_owner_raised(path: Path) -> None:
    ledger = open_ledger(path)
    ledger.charge(payment(1))
    with pytest.raises(BudgetExceeded):
        ledger.charge(payment(0.5, question=1))
    raise_to(path, Budget(2))
    ledger.charge(payment(0.5, question=1))
    balance = ledger.balance("research")
    assert (balance.limit.epsilon, balance.left.epsilon) == (2, 0.5)
    raise_to(path, Budget(3))
    assert ledger.balance("research").left.epsilon == 1.5
    raise_to(path, Budget(1))
    with pytest.raises(BudgetExceeded, match="has 0 left of 1"):
        ledger.charge(payment(0.5, question=2))
    ledger.close()


def test_another_delta_counts_as_well(path: Path) -> None:
    ledger = open_ledger(path, budget=MIXED)
    before = ledger.terms()
    raise_to(path, Budget(3, Decimal("1e-5")))
    assert ledger.terms().budget.delta == Fraction(1, 10**5)
    assert ledger.terms().price(Fraction(1)).amount > before.price(Fraction(1)).amount
    ledger.close()


@pytest.mark.parametrize("mark", [None, "", "0" * 64, "another"])
def test_a_limit_that_somebody_without_the_key_wrote_grants_nothing(path: Path, mark: str | None) -> None:
    """Nor does one whose mark was copied from an earlier entry."""
    ledger = open_ledger(path)
    raise_to(path, Budget(2))
    copied = newest(ledger, "limit").content["mark"]
    assert ledger.balance("research").limit.epsilon == 2
    said: dict[str, Any] = {"when": "", "epsilon": "2000", "delta": "0"}
    forge(path, "limit", said | ({} if mark is None else {"mark": copied if mark == "another" else mark}))
    for act in (lambda: ledger.charge(payment(0.5)), lambda: ledger.balance("research")):
        with pytest.raises(UsageError, match="the limit in force is epsilon 2000, the policy now says epsilon 1"):
            act()
    ledger.close()


def test_the_twin_believes_every_limit(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(InForce, "_is_marked", lambda limit, book: True)
    ledger = open_ledger(path)
    forge(path, "limit", {"when": "", "epsilon": "2000", "delta": "0"})
    ledger.charge(payment(1000, budget=Budget(2000)))
    ledger.close()


def test_a_policy_that_never_agreed_is_not_in_force(path: Path) -> None:
    """The owner has edited the policy and has not yet put it into force, or has put another one into force."""
    open_ledger(path).close()
    edited = open_ledger(path, budget=Budget(5))
    raise_to(path, Budget(2))
    with pytest.raises(UsageError, match="the limit in force is epsilon 2, the policy now says epsilon 5"):
        edited.charge(payment(0.5))
    edited.record_limit()
    edited.charge(payment(4, budget=Budget(5)))
    edited.close()


def test_a_running_session_notices_ledger_raise(policy: Path) -> None:
    """Without being opened anew: what `sfumato ledger raise` does in another process."""
    session = sf.open(policy)
    session.ask("SELECT COUNT(*) AS n FROM people", spend=session.budget.left.epsilon)
    with pytest.raises(BudgetExceeded):
        session.ask("SELECT AVG(age) AS a FROM people", spend=0.5)
    text = policy.read_text()
    line = next(line for line in text.splitlines() if line.startswith("epsilon"))
    policy.write_text(text.replace(line, "epsilon = 40"))
    with sf.Protected.open(policy) as owned:
        owned.raise_limit()
    assert session.ask("SELECT AVG(age) AS a FROM people", spend=0.5).rows
    assert session.budget.limit.epsilon == 40
    session.close()


def test_a_lowered_limit_is_not_undone_without_a_mark(path: Path) -> None:
    """Also not back to what the policy of the open session says."""
    ledger = open_ledger(path)
    raise_to(path, Budget(Fraction(1, 5)))
    assert ledger.balance("research").limit.epsilon == 0.2
    forge(path, "limit", {"when": "", "epsilon": "1", "delta": "0"})
    with pytest.raises(UsageError, match="the limit in force"):
        ledger.charge(payment(0.5))
    ledger.close()
