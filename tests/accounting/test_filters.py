"""Filters: exact to the last third, never over the limit, unmoved by a refusal; and why a PLD is none."""

from fractions import Fraction
from math import exp, log, sqrt, tanh

import pytest
from hypothesis import given
from hypothesis import strategies as some

import sfumato as sf
from sfumato.accounting import ApproximateFilter, PureFilter, ZcdpFilter, delta
from sfumato.errors import BudgetExceeded, UsageError
from sfumato.kernel.cost import epsilon_for, rho_for

LIMIT = sf.Budget(epsilon=3, delta=1e-6)
amounts = some.lists(some.fractions(Fraction(1, 1000), 2), max_size=60)


def test_three_thirds_and_ten_tenths_fit_exactly() -> None:
    for price, count in ((Fraction(1, 3), 3), (0.1, 10)):
        left = PureFilter(1)
        for _ in range(count):
            left = left.grant(price)
        assert left.left == 0
        assert not left.admits(1e-50)
        with pytest.raises(BudgetExceeded):
            left.grant(1e-50)


@given(amounts)
def test_a_pure_filter_never_passes_its_limit(prices: list[Fraction]) -> None:
    guard, granted = PureFilter(5), Fraction(0)
    for price in prices:
        if guard.admits(price):
            guard, granted = guard.grant(price), granted + price
        else:
            assert granted + price > 5
            before = guard
            with pytest.raises(BudgetExceeded):
                guard.grant(price)
            assert guard == before
    assert guard.spent == granted <= 5


@given(amounts)
def test_a_zcdp_filter_never_passes_its_limit(prices: list[Fraction]) -> None:
    guard = ZcdpFilter(LIMIT)
    for price in prices:
        if guard.admits(price / 10):
            guard = guard.grant(price / 10)
    assert guard.spent + guard.left == rho_for(LIMIT.epsilon, LIMIT.delta)
    assert epsilon_for(guard.spent, LIMIT.delta) <= LIMIT.epsilon * (1 + Fraction(1, 10**12))


@given(amounts)
def test_an_approximate_filter_never_passes_its_limit(prices: list[Fraction]) -> None:
    guard, sums = ApproximateFilter(LIMIT), [Fraction(0), Fraction(0)]
    for price in prices:
        chance = price / 10**8
        if guard.admits(price / 2, chance):
            guard = guard.grant(price / 2, chance)
            sums = [sums[0] + price**2 / 8, sums[1] + chance]
    assert [guard.squares, guard.deltas] == sums
    assert epsilon_for(guard.squares, LIMIT.delta / 2) <= LIMIT.epsilon * (1 + Fraction(1, 10**12))
    assert guard.deltas <= LIMIT.delta / 2


def test_the_approximate_filter_admits_at_least_what_the_paper_writes() -> None:
    """√(2 ln(1/δ') Σ ε²) + Σ ε²/2 <= ε: whatever meets this is granted, and a little more."""
    guard, count = ApproximateFilter(LIMIT), 0
    while guard.admits(0.1):
        guard, count = guard.grant(0.1), count + 1
    squares = (count + 1) * 0.01
    assert sqrt(2 * log(2e6) * squares) + squares / 2 > 3


def test_the_order_of_charges_does_not_matter() -> None:
    one, two = ZcdpFilter(LIMIT).grant(0.01).grant(0.02), ZcdpFilter(LIMIT).grant(0.02).grant(0.01)
    assert one == two


@pytest.mark.parametrize("wrong", [0, -1, float("nan"), float("inf"), True, "1", None])
def test_what_is_no_price_is_refused(wrong: object) -> None:
    for guard in (PureFilter(1), ZcdpFilter(LIMIT), ApproximateFilter(LIMIT)):
        with pytest.raises(UsageError):
            guard.grant(wrong)  # type: ignore[arg-type]
        with pytest.raises(UsageError):
            guard.admits(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", [-1e-9, 1, 2])
def test_what_is_no_delta_is_refused(wrong: float) -> None:
    with pytest.raises(UsageError):
        ApproximateFilter(LIMIT).grant(0.1, wrong)


def test_a_filter_needs_a_limit_with_room() -> None:
    for kind in (ZcdpFilter, ApproximateFilter):
        with pytest.raises(UsageError):
            kind(sf.Budget(1))
        with pytest.raises(UsageError):
            kind(1)  # type: ignore[arg-type]
    for wrong in (0, -1, float("inf")):
        with pytest.raises(UsageError):
            PureFilter(wrong)  # type: ignore[arg-type]


def test_a_filter_beyond_its_limit_does_not_exist() -> None:
    for broken in (
        lambda: PureFilter(1, Fraction(2)),
        lambda: PureFilter(1, Fraction(-1)),
        lambda: ZcdpFilter(LIMIT, Fraction(10)),
        lambda: ZcdpFilter(LIMIT, Fraction(-1)),
        lambda: ApproximateFilter(LIMIT, Fraction(10)),
        lambda: ApproximateFilter(LIMIT, Fraction(0), Fraction(1, 2)),
    ):
        with pytest.raises(UsageError):
            broken()


def test_refusals_say_what_is_left() -> None:
    with pytest.raises(BudgetExceeded, match=r"epsilon 0.5; epsilon 0.2 is left"):
        PureFilter(1).grant(0.8).grant(0.5)
    with pytest.raises(BudgetExceeded, match="rho 5"):
        ZcdpFilter(LIMIT).grant(5)
    with pytest.raises(BudgetExceeded, match=r"with delta 0.001"):
        ApproximateFilter(LIMIT).grant(0.1, 1e-3)


def test_a_privacy_loss_distribution_is_no_filter() -> None:
    """Two branches that a PLD would both admit at ε = 1, and together lose more than either.

    First randomised response with ε = 1. After "in" the analyst asks randomised response with 0.1, after "out"
    something that tells everything with probability δ₀. Either list has δ(1) <= δ₀; the adaptive whole does not.
    """
    heads = exp(1) / (1 + exp(1))
    allowed = heads * tanh(0.05)
    first, second = [("pure", 1), ("pure", 0.1)], [("pure", 1), ("approximate", 1e-9, allowed)]
    assert delta(first, 1) == pytest.approx(allowed, rel=1e-9)
    assert delta(second, 1) == pytest.approx(allowed, rel=1e-6)
    truth = heads * tanh(0.05) + (1 - heads) * allowed
    assert truth > 1.25 * allowed
