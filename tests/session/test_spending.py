"""Before spending: a spend for an error, and how many more questions fit."""

from collections.abc import Callable
from decimal import Decimal

import pytest

import sfumato as sf
from sfumato.errors import BudgetExceeded, Refused, UsageError

Open = Callable[..., sf.Session]
COUNT = "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"
THREE = "SELECT COUNT(*) AS n, SUM(income) AS s, AVG(age) AS a FROM people"
BUDGETS = pytest.mark.parametrize("delta", [0, Decimal("1e-6")], ids=["epsilon", "rho"])


@BUDGETS
@pytest.mark.parametrize("error", [1, 10, 77.5, 1000])
@pytest.mark.parametrize("confidence", [0.5, 0.95])
def test_the_spend_buys_the_error_and_no_smaller_one_does(
    open_crowd: Open, delta: Decimal, error: float, confidence: float
) -> None:
    session = open_crowd(budget=sf.Budget(10**9, delta))
    spend = session.spend_for(COUNT, error=error, confidence=confidence)
    assert len(f"{Decimal(repr(spend)).normalize():e}".split("e")[0].replace(".", "")) <= 3

    def width(amount: float | Decimal) -> float:
        answer = session.ask(COUNT, spend=amount)
        low, high = answer.interval(confidence)[0]["n"]
        return (high - low) / 2

    assert width(spend) <= error
    assert width(Decimal(repr(spend)) * Decimal("0.985")) > error


@BUDGETS
def test_explaining_the_spend_promises_the_error(open_crowd: Open, delta: Decimal) -> None:
    session = open_crowd(budget=sf.Budget(3, delta))
    for column, error in (("n", 25), ("s", 4_000_000)):
        spend = session.spend_for(THREE, error=error, column=column)
        assert 0.9 * error < session.explain(THREE, spend=spend).expected_error[column] <= error
    assert session.history() == []


def test_an_average_is_refused_with_what_to_do(open_crowd: Open) -> None:
    with pytest.raises(Refused, match='no spend can be named for "a"') as refused:
        open_crowd().spend_for(THREE, error=1, column="a")
    assert "COUNT or a SUM" in str(refused.value)


def test_what_cannot_be_meant_is_said(open_crowd: Open) -> None:
    session = open_crowd()
    with pytest.raises(UsageError, match="several numbers"):
        session.spend_for(THREE, error=1)
    with pytest.raises(UsageError, match='"m" is not an aggregate'):
        session.spend_for(THREE, error=1, column="m")
    with pytest.raises(UsageError, match='"sex" is not an aggregate'):
        session.spend_for(COUNT, error=1, column="sex")
    for error in (0, -1, float("nan"), "10", None):
        with pytest.raises(UsageError):
            session.spend_for(COUNT, error=error)
    with pytest.raises(UsageError, match="confidence"):
        session.spend_for(COUNT, error=1, confidence=1)
    with pytest.raises(Refused, match='Did you mean "income"'):
        session.spend_for("SELECT SUM(incom) AS s FROM people", error=1)


@BUDGETS
def test_an_error_nothing_buys_and_one_that_anything_buys(open_crowd: Open, delta: Decimal) -> None:
    session = open_crowd(budget=sf.Budget(3, delta))
    with pytest.raises(Refused, match="no spend up to 999000"):
        session.spend_for("SELECT SUM(income) AS s FROM people", error=Decimal("1e-9"))
    spend = session.spend_for(COUNT, error=10**12)
    assert session.explain(COUNT, spend=spend).expected_error["n"] <= 10**12


@BUDGETS
@pytest.mark.parametrize("spend", [0.5, 0.7, 0.3])
def test_so_many_more_questions_are_granted_and_not_one_more(open_crowd: Open, delta: Decimal, spend: float) -> None:
    session = open_crowd(budget=sf.Budget(3, delta))
    session.ask(COUNT, spend=0.41)
    promised = session.questions_left(spend)
    for left in range(promised - 1, -1, -1):
        assert session.ask(COUNT, spend=spend, fresh=True).more == left == session.questions_left(spend)
    with pytest.raises(BudgetExceeded):
        session.ask(COUNT, spend=spend, fresh=True)
    assert session.ask(COUNT, spend=spend).cached
    assert promised == (int((3 - 0.41) / spend) if not delta else promised)
    assert promised > 3 / spend or not delta


def test_a_session_and_its_budget_show_themselves(open_crowd: Open) -> None:
    session = open_crowd(budget=sf.Budget(3, 1e-6), analyst="ada")
    told = "protects='person (user_id: at most 2 rows in 2 groups)'"
    assert repr(session) == f"Session(table='people', analyst='ada', {told})"
    session.ask("SELECT COUNT(*) AS n FROM people", spend=0.5)
    shown = session.budget._repr_html_()
    for cell in ("limit", "spent", "left", "left for keys", ">3<", ">0.5<", ">1e-06<"):
        assert cell in shown


def test_an_analysts_own_limit_counts(open_crowd: Open) -> None:
    session = open_crowd(analyst="press")
    session._ledger.limit_analyst("press", sf.Budget(1).epsilon)
    assert session.questions_left(0.25) == 4
    assert open_crowd(analyst="other").questions_left(0.25) == 12
    assert session.ask(COUNT, spend=0.25).more == 3
    session._ledger.limit_analyst("press", sf.Budget(Decimal("0.1")).epsilon)
    assert session.questions_left(0.25) == 0


def test_a_spend_that_is_none_is_refused(open_crowd: Open) -> None:
    for spend in (0, -1, "x", None):
        with pytest.raises(UsageError):
            open_crowd().questions_left(spend)
