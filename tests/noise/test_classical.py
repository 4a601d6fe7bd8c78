"""The two textbook deviations: their numbers, where the classical one is proved, and where it fails."""

from fractions import Fraction
from math import sqrt

import pytest

import sfumato.noise as noise
from sfumato.errors import UsageError
from tests.noise.oracle import continuous_delta, continuous_sigma

BOTH = [noise.classical_gaussian_deviation, noise.analytic_gaussian_deviation]


def test_twenty_doctors() -> None:
    """A patient of 20 doctors, one count each, at ε = 0.1, δ = 1e-5: L1 is 20, L2 is √20."""
    laplace = noise.describe("laplace", sensitivity=20, epsilon=0.1).scale * sqrt(2)
    assert round(laplace, 1) == 282.8
    assert round(noise.classical_gaussian_deviation(sqrt(20), 0.1, 1e-5), 1) == 216.7
    assert round(noise.analytic_gaussian_deviation(sqrt(20), 0.1, 1e-5), 1) == 137.5


@pytest.mark.parametrize(("epsilon", "ratio"), [(0.1, 0.635), (0.999_999, 0.770)])
def test_the_exact_one_against_the_classical_one(epsilon: float, ratio: float) -> None:
    ours = noise.analytic_gaussian_deviation(1, epsilon, 1e-5) / noise.classical_gaussian_deviation(1, epsilon, 1e-5)
    assert ours == pytest.approx(ratio, abs=5e-4)


def test_the_deviation_at_one() -> None:
    assert noise.analytic_gaussian_deviation(1, 1, 1e-5) == pytest.approx(3.7306, abs=5e-5)


@pytest.mark.parametrize("delta", [1e-2, 1e-5, 1e-9])
@pytest.mark.parametrize("epsilon", [0.01, 0.3, 1, 4, 20])
def test_the_exact_one_is_the_least(epsilon: float, delta: float) -> None:
    sigma = noise.analytic_gaussian_deviation(3, epsilon, delta)
    least = continuous_sigma(3, epsilon, delta)
    assert least * (1 - 1e-12) <= sigma <= least * (1 + 1e-8)


@pytest.mark.parametrize("delta", [1e-2, 1e-5, 1e-9])
@pytest.mark.parametrize("epsilon", [0.01, 0.3, 0.999])
def test_the_classical_one_holds_where_it_is_proved(epsilon: float, delta: float) -> None:
    sigma = noise.classical_gaussian_deviation(1, epsilon, delta)
    assert continuous_delta(sigma, 1, epsilon) < delta
    assert sigma > noise.analytic_gaussian_deviation(1, epsilon, delta)


def test_beyond_its_proof_the_classical_formula_fails_in_the_end() -> None:
    """At δ = 1e-5 it still holds at ε = 8.3 and no longer at 8.6: this is what the refusal prevents."""
    for epsilon, holds in ((8.3, True), (8.6, False)):
        sigma = noise.classical_gaussian_deviation(1, 0.5, 1e-5) * 0.5 / epsilon
        assert (continuous_delta(sigma, 1, epsilon) <= 1e-5) is holds


@pytest.mark.parametrize("epsilon", [1, 1.0, Fraction(1), 2, 1e50])
def test_the_classical_one_is_refused_outside_its_proof(epsilon: float) -> None:
    with pytest.raises(UsageError, match="proved for epsilon below 1 only") as caught:
        noise.classical_gaussian_deviation(1, epsilon, 1e-5)
    assert "analytic_gaussian_deviation" in caught.value.hint
    assert noise.analytic_gaussian_deviation(1, epsilon, 1e-5) > 0


@pytest.mark.parametrize("call", BOTH)
@pytest.mark.parametrize("bad", ["abc", True, float("nan"), float("inf"), 0, -1, None])
def test_what_is_refused(call: object, bad: object) -> None:
    for place, name in enumerate(["sensitivity", "epsilon", "delta"]):
        given = [1, 0.5, 1e-5]
        given[place] = bad
        with pytest.raises(UsageError, match=name):
            call(*given)
    with pytest.raises(UsageError, match="delta"):
        call(1, 0.5, 1)


@pytest.mark.parametrize(
    ("epsilon", "delta"), [(1e-100, 1e-100), (1e100, 1e-6), (1e-50, 0.5), (1e-3, 1 - 1e-9), (700, 1e-30)]
)
def test_any_price_is_met(epsilon: float, delta: float) -> None:
    sigma = noise.analytic_gaussian_deviation(1, epsilon, delta)
    assert sigma > 0
    if 1e-4 < sigma < 1e4:
        assert continuous_delta(sigma, 1, epsilon) <= delta * (1 + 1e-9)


def test_both_scale_with_the_sensitivity() -> None:
    for call in BOTH:
        assert call(7, 0.5, 1e-6) == pytest.approx(7 * call(1, 0.5, 1e-6), rel=1e-9)
