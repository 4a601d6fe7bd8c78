"""The δ of discrete Gaussian noise: never understated, hardly overstated, and the least variance that meets it."""

from fractions import Fraction
from itertools import product

import pytest

from sfumato.noise.calibration import smallest_variance
from sfumato.noise.gaussian_delta import TAIL, closed_delta, delta_above, summed_delta
from tests.noise.oracle import brute_delta, continuous_sigma, integrated_delta

F = Fraction
SIGMAS = (F(1, 10), F(1, 3), F(1), F(7, 4), F(5), F(40))
CHANGES = (1, 2, 7)
EPSILONS = (F(1, 100), F(1), F(4), F(30))
GRID = list(product(SIGMAS, CHANGES, EPSILONS))


@pytest.mark.parametrize(("sigma", "change", "epsilon"), GRID)
def test_both_are_the_definition_from_above(sigma: Fraction, change: int, epsilon: Fraction) -> None:
    exact = float(brute_delta(sigma**2, change, epsilon))
    assert exact <= summed_delta(sigma**2, change, epsilon) <= exact * (1 + 2e-9) + 2 * TAIL
    assert exact <= closed_delta(sigma**2, change, epsilon)


@pytest.mark.parametrize("sigma", [F(50), F(900), F(5000)])
@pytest.mark.parametrize("ratio", [F(1, 5000), F(1, 100), F(1, 4), F(3), F(30)])
@pytest.mark.parametrize("distance", [F(-1, 250), F(0), F(1, 100), F(1), F(5), F(12), F(30)])
def test_the_closed_bound_is_never_below_the_sum(sigma: Fraction, ratio: Fraction, distance: Fraction) -> None:
    """`distance` is where the loss reaches ε, in σ: from the middle of the noise far into its tail."""
    change = max(1, int(sigma * ratio))
    distance = max(distance, F(-change, 3) / sigma)
    epsilon = (distance * sigma + F(change, 2)) * change / sigma**2
    assert summed_delta(sigma**2, change, epsilon) <= closed_delta(sigma**2, change, epsilon) * (1 + 2e-9)


@pytest.mark.parametrize("sigma", [F(2**13), F(10**6), F(10**20), F(10**60)])
@pytest.mark.parametrize("shift", [F(1, 10**50), F(1, 10**6), F(1, 20_000), F(1, 10_000), F(1), F(10), F(40)])
@pytest.mark.parametrize("distance", [F(0), F(1, 10), F(1), F(4), F(11), F(20)])
def test_the_closed_bound_is_tight_where_it_is_used(sigma: Fraction, shift: Fraction, distance: Fraction) -> None:
    """At least the δ of continuous noise, and hardly above it; `shift` and `distance` are in σ."""
    change = max(1, round(sigma * shift))
    epsilon = (distance * sigma + F(change, 2)) * change / sigma**2
    continuous = integrated_delta(float(distance), change / float(sigma))
    claimed = closed_delta(sigma**2, change, epsilon)
    assert continuous * (1 - 1e-10) <= claimed
    assert claimed <= continuous * (1 + 1e-4 + 3 * (1 + distance + change / sigma) / sigma)


PRICES = [(1, F(1, 20)), (1, F(1)), (1, F(3)), (1, F(12)), (3, F(1, 2)), (3, F(3)), (40, F(3)), (40, F(12))]
CASES = [(change, epsilon, F(1, 10**k)) for (change, epsilon), k in product(PRICES, (3, 6, 10))]


@pytest.mark.parametrize(("change", "epsilon", "delta"), CASES)
def test_the_variance_meets_delta_and_a_smaller_one_does_not(change: int, epsilon: Fraction, delta: Fraction) -> None:
    variance = smallest_variance(change, epsilon, delta)
    assert brute_delta(variance, change, epsilon) <= float(delta)
    assert brute_delta(variance * F(999_995, 10**6), change, epsilon) > float(delta)


@pytest.mark.parametrize("smaller", [1, 2, 5, 6])
def test_a_smaller_change_loses_less(smaller: int) -> None:
    for sigma, epsilon in product((F(1, 2), F(2), F(11)), (F(1, 10), F(2))):
        assert brute_delta(sigma**2, smaller, epsilon) <= brute_delta(sigma**2, 7, epsilon)


@pytest.mark.parametrize(("epsilon", "delta"), [(F(1), F(1, 10**4)), (F(2), F(1, 10**6)), (F(6), F(1, 10**9))])
def test_broken_twin_the_continuous_formula_understates_delta(epsilon: Fraction, delta: Fraction) -> None:
    sigma = F(continuous_sigma(1, float(epsilon), float(delta)))
    assert brute_delta(sigma**2, 1, epsilon) > float(delta) * 1.04
    assert summed_delta(sigma**2, 1, epsilon) > float(delta)


@pytest.mark.parametrize(
    ("change", "epsilon", "delta"),
    [(1, F(1, 2000), F(1, 10**6)), (500, F(1, 2), F(1, 10**6)), (2000, F(2), F(1, 10**9)), (9000, F(40), F(1, 10**3))],
)
def test_both_bounds_give_the_same_deviation(change: int, epsilon: Fraction, delta: Fraction) -> None:
    """At the end of the sum's range the closed bound asks for less than 1 % more."""
    variance = smallest_variance(change, epsilon, delta)
    assert 2**18 < variance < 2**26
    assert closed_delta(variance, change, epsilon) > float(delta) * (1 - 1e-4)
    assert closed_delta(variance * F(101, 100) ** 2, change, epsilon) < float(delta)


@pytest.mark.parametrize("epsilon", [F(1, 100), F(1, 2), F(1), F(5), F(20)])
@pytest.mark.parametrize("delta", [F(1, 10**3), F(1, 10**6), F(1, 10**12)])
def test_on_the_grid_of_reals_the_deviation_is_the_continuous_one(epsilon: Fraction, delta: Fraction) -> None:
    """2^20 steps or more: the price of being discrete is below 1e-5."""
    change = 1 << 20
    sigma = float(smallest_variance(change, epsilon, delta)) ** 0.5
    least = continuous_sigma(change, float(epsilon), float(delta))
    assert least * (1 - 1e-6) <= sigma <= least * 1.00001


@pytest.mark.parametrize(
    ("epsilon", "delta"),
    [(F(1, 10**100), F(1, 10**100)), (F(10**100), F(1, 10**6)), (F(1, 10**50), F(1, 2)), (F(1), 1 - F(1, 10**9))],
)
def test_any_price_is_met(epsilon: Fraction, delta: Fraction) -> None:
    variance = smallest_variance(1 << 20, epsilon, delta)
    assert variance > 0
    assert delta_above(variance, 1 << 20, epsilon) <= float(delta)


def test_the_variance_grows_as_the_price_falls() -> None:
    variances = [smallest_variance(1 << 20, F(2) ** -k, F(1, 10**6)) for k in range(-4, 12)]
    assert variances == sorted(variances)
    variances = [smallest_variance(1 << 20, F(1), F(1, 10**k)) for k in range(1, 30)]
    assert variances == sorted(variances)
