"""The currency of a limit: prices, and the directions in which amounts are rounded for people."""

import signal
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import BudgetExceeded, UsageError
from sfumato.ledger.terms import Amount, Terms
from sfumato.schema.budget import Budget
from sfumato.schema.numbers import exact
from tests.ledger.payments import MIXED, open_ledger, payment

DELTAS = st.sampled_from([0, Decimal("1e-9"), Decimal("1e-6"), Decimal("1e-3"), Decimal("0.5")])
LIMITS = st.decimals(min_value="0.001", max_value="50", places=3)
SPENDS = st.one_of(
    st.decimals(min_value="0.000001", max_value="20", places=6),
    st.fractions(min_value=Fraction(1, 997), max_value=10, max_denominator=997),
)


def granted(terms: Terms, spend: float, amount: Fraction) -> bool:
    """Whether a spend, read as it is printed, fits into an amount."""
    return terms.price(exact(spend, "spend")).amount <= amount


def test_without_delta_the_price_is_the_spend() -> None:
    terms = Terms(Budget(3))
    assert terms.currency == "epsilon"
    assert terms.limit == 3
    assert terms.price(Fraction(1, 3)).amount == Fraction(1, 3)
    assert terms.price(Fraction(1, 3)).currency == "epsilon"


def test_with_delta_the_price_is_the_rho_that_half_of_delta_converts() -> None:
    terms = Terms(MIXED)
    assert terms.currency == "rho"
    assert terms.conversion_delta == Fraction(1, 2_000_000)
    price = terms.price(Fraction(1, 2))
    assert price.currency == "rho"
    assert terms.spent(price.amount).epsilon == pytest.approx(0.5, rel=1e-12)
    assert terms.spent(price.amount * Fraction(1001, 1000)).epsilon > 0.5


def test_a_spend_too_small_to_buy_noise_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="too small to buy any answer"):
        Terms(Budget(3, Decimal("1e-90"))).price(Fraction(1, 10**90))
    assert Terms(Budget(3)).price(Fraction(1, 10**90)).amount == Fraction(1, 10**90)


def test_a_question_costs_what_was_typed() -> None:
    assert Terms(MIXED).cost(Fraction(1, 2)) == Amount(0.5, 5e-7)
    assert Terms(Budget(3)).cost(Fraction(1, 10)) == Amount(0.1, 0.0)
    assert Fraction(repr(Terms(Budget(3)).cost(Fraction(1, 3)).epsilon)) >= Fraction(1, 3)


def test_nothing_spent_costs_no_delta() -> None:
    assert Terms(MIXED).spent(Fraction(0)) == Amount(0.0, 0.0)
    assert Terms(MIXED).spent(Fraction(1, 100)).delta == 5e-7
    assert Terms(Budget(3)).spent(Fraction(1, 3)).delta == 0.0


def test_amounts_read_like_words() -> None:
    assert str(Amount(0.5, 0.0)) == "epsilon 0.5"
    assert str(Amount(0.5, 1e-6)) == "epsilon 0.5, delta 1e-06"


@pytest.mark.parametrize("amount", [Fraction(1, 3), Fraction(2, 3), Fraction(1, 10), Fraction(10**30 + 1, 10**30)])
def test_pure_amounts_are_printed_in_the_safe_direction(amount: Fraction) -> None:
    terms = Terms(Budget(3))
    assert Fraction(repr(terms.spent(amount).epsilon)) >= amount
    assert Fraction(repr(terms.left(amount).epsilon)) <= amount
    assert terms.spent(amount).epsilon == pytest.approx(terms.left(amount).epsilon, rel=1e-15)


@pytest.mark.parametrize("budget", [Budget(3), MIXED])
@pytest.mark.parametrize("amount", [Fraction(0), Fraction(-1, 7)])
def test_nothing_is_left_of_nothing(budget: Budget, amount: Fraction) -> None:
    assert Terms(budget).left(amount) == Amount(0.0, 0.0)


@given(LIMITS, DELTAS, st.fractions(min_value=Fraction(1, 10**6), max_value=1, max_denominator=10**6))
def test_left_is_granted_and_hardly_more_would_be(epsilon: Decimal, delta: Decimal, part: Fraction) -> None:
    terms = Terms(Budget(epsilon, delta))
    amount = terms.limit * part
    left = terms.left(amount).epsilon
    assert left == 0 or granted(terms, left, amount)
    assert not granted(terms, left * 1.0001 + 3e-9, amount)


@given(st.decimals(min_value="0.001", max_value="20", places=9), st.sampled_from([1e-9, 1e-6, 1e-3]))
def test_left_is_granted_a_hair_below_a_round_number(spend: Decimal, delta: float) -> None:
    """The amount converts to that number rounded up, which it does not pay for."""
    terms = Terms(Budget(20, delta))
    amount = terms.price(exact(spend, "spend")).amount - Fraction(1, 1 << 128)
    assert granted(terms, terms.left(amount).epsilon, amount)


@given(LIMITS, DELTAS, st.lists(SPENDS, max_size=12))
def test_left_is_granted_after_any_history(epsilon: Decimal, delta: Decimal, spends: list[Decimal | Fraction]) -> None:
    terms = Terms(Budget(epsilon, delta))
    total = Fraction(0)
    for spend in spends:
        price = terms.price(exact(spend, "spend")).amount
        if total + price <= terms.limit:
            total += price
        left = terms.left(terms.limit - total).epsilon
        assert left == 0 or granted(terms, left, terms.limit - total)
    assert terms.spent(total).epsilon <= float(epsilon) * (1 + 1e-12) + 1e-14


@given(LIMITS, DELTAS, st.lists(SPENDS, min_size=1, max_size=8))
def test_spending_more_never_leaves_more(epsilon: Decimal, delta: Decimal, spends: list[Decimal | Fraction]) -> None:
    terms = Terms(Budget(epsilon, delta))
    totals = list(accumulate(terms.price(exact(spend, "spend")).amount for spend in spends))
    spent = [terms.spent(total).epsilon for total in totals]
    left = [terms.left(terms.limit - total).epsilon for total in totals]
    assert spent == sorted(spent)
    assert left == sorted(left, reverse=True)


@pytest.fixture
def within_seconds() -> Iterator[None]:
    """A loop that would run for ever fails instead."""
    previous = signal.signal(signal.SIGALRM, lambda *_: pytest.fail("still running after 5 seconds"))
    signal.alarm(5)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, previous)


@pytest.mark.usefixtures("within_seconds")
@pytest.mark.parametrize("exponent", [6, 30, 60, 99])
def test_a_huge_limit_is_answered_at_once(exponent: int) -> None:
    terms = Terms(Budget(10**exponent, 1e-6))
    amount = terms.limit * Fraction(1, 3)
    left = terms.left(amount).epsilon
    assert granted(terms, left, amount)
    assert left > 10.0**exponent / 4


def test_twenty_eight_questions_at_one_half_fit_into_three_and_not_six(tmp_path) -> None:
    """Half of delta converts; with all of it there would be 27."""
    ledger = open_ledger(tmp_path / "a.ledger", budget=MIXED)
    for question in range(28):
        ledger.charge(payment(0.5, budget=MIXED, question=question))
    with pytest.raises(BudgetExceeded):
        ledger.charge(payment(0.5, budget=MIXED, question=28))
    balance = ledger.balance("research")
    assert 2.9 < balance.spent.epsilon <= 3
    assert 0 < balance.left.epsilon < 0.5
    assert balance.spent.epsilon + balance.left.epsilon > 3
    ledger.charge(payment(balance.left.epsilon, budget=MIXED, question=28))
    assert ledger.balance("research").left.epsilon < 1e-3
    ledger.close()


def test_many_tiny_spends_add_up_exactly(tmp_path) -> None:
    ledger = open_ledger(tmp_path / "a.ledger", budget=Budget(Decimal("3e-90")))
    for question in range(3):
        ledger.charge(payment(Decimal("1e-90"), question=question))
    with pytest.raises(BudgetExceeded):
        ledger.charge(payment(Decimal("1e-100"), question=4))
    assert ledger.balance("research").left == Amount(0.0, 0.0)
    ledger.close()
