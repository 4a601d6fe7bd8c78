"""The two laws of `ask`: price, record, spread and error, each against the exact probabilities."""

from decimal import Decimal, localcontext
from fractions import Fraction
from math import inf, sqrt

import numpy as np
import pytest
from scipy import stats

from sfumato.kernel.mechanisms import additive
from sfumato.kernel.mechanisms.additive import SMALL_DEVIATION, DiscreteGaussian, DiscreteLaplace
from tests.entropy import SeededEntropy
from tests.kernel.laws import (
    PRECISE,
    chi_square,
    decimal,
    exp_minus,
    gaussian_cells,
    gaussian_total,
    gaussian_weight,
    laplace_cells,
    laplace_tail,
    mutant,
)

CONFIDENCES = [0.01, 0.3, 0.5, 0.8, 0.9, 0.95, 0.99, 0.999, 0.999999, 1 - 1e-12]


# ---- price and record --------------------------------------------------------------------------------------


def test_prices_are_exact() -> None:
    laplace = DiscreteLaplace.for_epsilon(Fraction(1, 10), 7)
    assert laplace.scale == 70
    assert laplace.epsilon(7) == Fraction(1, 10)
    assert laplace.epsilon(14) == Fraction(1, 5)
    assert laplace.rho(7) == Fraction(1, 200)
    gaussian = DiscreteGaussian.for_rho(Fraction(1, 8), 3)
    assert gaussian.variance == 36
    assert gaussian.rho(3) == Fraction(1, 8)
    assert gaussian.rho(6) == Fraction(1, 2)


@pytest.mark.parametrize("share", [Fraction(1, 3), Fraction(10**30 + 1, 7), Fraction(1, 10**40)])
@pytest.mark.parametrize("sensitivity", [1, 2, 10**12 + 39])
def test_a_share_buys_what_it_pays(share: Fraction, sensitivity: int) -> None:
    assert DiscreteLaplace.for_epsilon(share, sensitivity).epsilon(sensitivity) == share
    assert DiscreteGaussian.for_rho(share, sensitivity).rho(sensitivity) == share


def test_events_say_what_was_done() -> None:
    assert DiscreteLaplace(Fraction(70, 3)).event(7) == {
        "mechanism": "discrete_laplace",
        "scale": "70/3",
        "sensitivity": "7",
    }
    assert DiscreteGaussian(Fraction(36)).event(3) == {
        "mechanism": "discrete_gaussian",
        "variance": "36",
        "sensitivity": "3",
    }


@pytest.mark.parametrize("spread", [Fraction(0), Fraction(-1)])
def test_noise_of_no_width_is_refused(spread: Fraction) -> None:
    with pytest.raises(ValueError, match="positive"):
        DiscreteLaplace(spread)
    with pytest.raises(ValueError, match="positive"):
        DiscreteGaussian(spread)


def test_draws_follow_the_law() -> None:
    laplace, gaussian = DiscreteLaplace(Fraction(5)), DiscreteGaussian(Fraction(20))
    assert chi_square(*laplace_cells(laplace.draw(200_000, SeededEntropy("draw")), laplace.scale)) > 1e-6
    assert chi_square(*gaussian_cells(gaussian.draw(200_000, SeededEntropy("draw")), gaussian.variance)) > 1e-6


# ---- privacy of one integer, by the exact probabilities ----------------------------------------------------


@pytest.mark.parametrize("sensitivity", [1, 2, 5])
@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(3)])
def test_laplace_loss_is_at_most_epsilon_and_reaches_it(epsilon: Fraction, sensitivity: int) -> None:
    scale = DiscreteLaplace.for_epsilon(epsilon, sensitivity).scale
    losses = [
        abs(abs(k + shift) - abs(k)) / scale for k in range(-40, 41) for shift in range(-sensitivity, sensitivity + 1)
    ]
    assert max(losses) == epsilon


@pytest.mark.parametrize("sensitivity", [1, 3])
@pytest.mark.parametrize("variance", [Fraction(1, 2), Fraction(2), Fraction(9)])
def test_gaussian_divergence_is_at_most_alpha_rho(variance: Fraction, sensitivity: int) -> None:
    """D_α(N(Δ) ‖ N(0)) = ln Σ p^α q^(1-α) / (α - 1) <= α ρ, with equality at whole α Δ."""
    rho = DiscreteGaussian(variance).rho(sensitivity)
    with localcontext(PRECISE):
        total = gaussian_total(variance)
        for alpha in (Fraction(11, 10), Fraction(3, 2), Fraction(2), Fraction(5), Fraction(20)):
            reach = 60 * sensitivity
            weights = [
                (-(decimal(alpha) * (k - sensitivity) ** 2 + decimal(1 - alpha) * k**2) / decimal(2 * variance)).exp()
                for k in range(-reach, reach + 1)
            ]
            divergence = (sum(weights) / total).ln() / decimal(alpha - 1)
            assert divergence <= decimal(alpha * rho) + Decimal(10) ** -40
            if alpha.denominator == 1:
                assert divergence >= decimal(alpha * rho) - Decimal(10) ** -40


# ---- spread ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [Fraction(1, 10), Fraction(1), Fraction(100, 3), Fraction(10**6)])
def test_laplace_deviation(scale: Fraction) -> None:
    with localcontext(PRECISE):
        q = exp_minus(1 / scale)
        exactly = float((2 * q).sqrt() / (1 - q))
    assert DiscreteLaplace(scale).deviation() == pytest.approx(exactly, rel=1e-12)
    if scale == 1:
        total = 2 * sum(k * k * float(exp_minus(k)) for k in range(1, 100))
        assert exactly == pytest.approx(sqrt(total * float((1 - q) / (1 + q))), rel=1e-12)


@pytest.mark.parametrize("variance", [Fraction(1, 10), Fraction(1), Fraction(100)])
def test_gaussian_deviation_bounds_the_discrete_one(variance: Fraction) -> None:
    total = gaussian_total(variance)
    exactly = sqrt(2 * sum(k * k * float(gaussian_weight(variance, k) / total) for k in range(1, 200)))
    claimed = DiscreteGaussian(variance).deviation()
    assert claimed == sqrt(float(variance))
    assert exactly <= claimed * (1 + 1e-12)


# ---- error -------------------------------------------------------------------------------------------------


def is_laplace_quantile(scale: Fraction, confidence: float, k: int) -> bool:
    """P(|X| <= k) >= c and P(|X| <= k - 1) < c."""
    with localcontext(PRECISE):
        allowed = 1 - Decimal(confidence)
        return 2 * laplace_tail(scale, k + 1) <= allowed and (k == 0 or 2 * laplace_tail(scale, k) > allowed)


def is_gaussian_quantile(variance: Fraction, confidence: float, k: int) -> bool:
    with localcontext(PRECISE):
        needed = Decimal(confidence) * gaussian_total(variance)
        covered = sum((2 * gaussian_weight(variance, j) for j in range(1, k)), Decimal(1))
        last = 2 * gaussian_weight(variance, k)
        return covered + last >= needed and covered < needed if k else needed <= 1


@pytest.mark.parametrize("confidence", CONFIDENCES)
@pytest.mark.parametrize(
    "scale", [Fraction(1, 10), Fraction(1, 2), Fraction(1), Fraction(10, 3), Fraction(40), Fraction(1000)]
)
def test_laplace_error_is_the_smallest(scale: Fraction, confidence: float) -> None:
    assert is_laplace_quantile(scale, confidence, DiscreteLaplace(scale).error(confidence))


@pytest.mark.parametrize("scale", [Fraction(10**9), Fraction(10) ** 30])
@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
def test_laplace_error_of_large_scales(scale: Fraction, confidence: float) -> None:
    k = DiscreteLaplace(scale).error(confidence)
    with localcontext(PRECISE):
        for near, covered in ((Decimal(1) - Decimal("1e-8"), False), (Decimal(1) + Decimal("1e-8"), True)):
            missed = 2 * laplace_tail(scale, int(k * near) + 1)
            assert (missed <= 1 - Decimal(confidence)) is covered


@pytest.mark.parametrize("confidence", CONFIDENCES)
@pytest.mark.parametrize(
    "variance", [Fraction(1, 10), Fraction(1, 2), Fraction(1), Fraction(10, 3), Fraction(40), Fraction(1000)]
)
def test_gaussian_error_is_the_smallest(variance: Fraction, confidence: float) -> None:
    assert is_gaussian_quantile(variance, confidence, DiscreteGaussian(variance).error(confidence))


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
def test_gaussian_error_of_large_deviations_is_at_most_one_too_large(confidence: float) -> None:
    for sigma in (SMALL_DEVIATION + 1, 12345.678, 10.0**9):
        k = DiscreteGaussian(Fraction(sigma) ** 2).error(confidence)
        # The discrete law and the rounded continuous one differ by less than 1e-100 here.
        assert 2 * stats.norm.cdf((k + 0.5) / sigma) - 1 >= confidence
        assert 2 * stats.norm.cdf((k - 1.5) / sigma) - 1 < confidence


def test_gaussian_error_has_no_step_where_the_method_changes() -> None:
    for confidence in (0.5, 0.95, 0.999):
        below = DiscreteGaussian(Fraction(SMALL_DEVIATION) ** 2).error(confidence)
        above = DiscreteGaussian(Fraction(SMALL_DEVIATION) ** 2 + 1).error(confidence)
        assert below <= above <= below + 1


def test_gaussian_error_ends_even_for_a_confidence_no_double_can_reach() -> None:
    assert DiscreteGaussian(Fraction(1)).error(1.0) < 30
    assert additive._two_sided_normal(1.0) == inf


def test_an_error_covers_the_share_of_draws_it_claims() -> None:
    for mechanism in (
        DiscreteLaplace(Fraction(20)),
        DiscreteGaussian(Fraction(300)),
        DiscreteGaussian(Fraction(10**7)),
    ):
        draws = np.abs(mechanism.draw(200_000, SeededEntropy("cover")))
        for confidence in (0.5, 0.9, 0.99):
            inside = int((draws <= mechanism.error(confidence)).sum())
            assert inside >= 200_000 * confidence - 6 * sqrt(200_000 * confidence * (1 - confidence))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("log1p(exp(-1 / t))", "0"),
        ("log((1 - confidence) / 2)", "log(1 - confidence)"),
        ("1e-9 * abs(bound)) - 1", "1e-9 * abs(bound))"),
    ],
)
def test_twins_of_the_laplace_error_are_caught(old: str, new: str) -> None:
    twin = mutant(additive, old, new).DiscreteLaplace
    cases = [(scale, confidence) for scale in (Fraction(1, 2), Fraction(40)) for confidence in CONFIDENCES]
    assert not all(is_laplace_quantile(scale, confidence, twin(scale).error(confidence)) for scale, confidence in cases)


def test_a_twin_of_the_gaussian_error_is_caught() -> None:
    twin = mutant(additive, "total = 2 * sum(weights) - 1", "total = 2 * sum(weights)").DiscreteGaussian
    assert not all(is_gaussian_quantile(Fraction(1), c, twin(Fraction(1)).error(c)) for c in CONFIDENCES)
