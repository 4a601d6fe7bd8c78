"""Bounds are on the safe side to the last bit, on every processor: the doubles are judged by exact arithmetic."""

from decimal import Context, Decimal, localcontext
from fractions import Fraction
from math import erfc, exp, nextafter, pi, sqrt

import numpy as np
import pytest

import sfumato as sf
from sfumato.accounting import gaussian_delta
from sfumato.accounting.bands import Bands, laplace, randomised_response
from sfumato.accounting.events import plan
from sfumato.accounting.lattices import Atoms, concentrated
from sfumato.accounting.losses import losses
from sfumato.accounting.optimal import optimal_delta, optimal_epsilon
from sfumato.accounting.pld import delta_of, epsilon_of
from sfumato.accounting.renyi import order_for_delta

PRECISE = Context(prec=40)


def exact_profile(law: Atoms, epsilon: Decimal) -> Decimal:
    """δ(ε) of the very doubles that a law holds."""
    kept = [(Decimal(loss), Decimal(log).exp()) for loss, log in zip(law.losses, law.logarithms, strict=True)]
    over = (mass * (1 - (epsilon - loss).exp()) for loss, mass in kept if loss > epsilon)
    return sum(over, Decimal(law.infinite))


@pytest.mark.parametrize("rho", [0.001, 0.02, 0.1, 0.7, 3, 11, 40, 200, 1e4])
def test_the_law_of_what_is_only_zcdp_holds_every_probability(rho: float) -> None:
    """All masses together are 1 or more, and below every loss δ(ε) is 1 - e^ε or more."""
    law = concentrated(rho, smallest=1e-20)
    lowest = float(law.losses.min())
    with localcontext(PRECISE):
        assert 1 <= exact_profile(law, Decimal(-(10**6))) < 1 + Decimal("2e-11")
        for at in (lowest, lowest / 2, lowest / 16):
            assert exact_profile(law, Decimal(at)) >= 1 - Decimal(at).exp()


@pytest.mark.parametrize("rho", [0.001, 0.1, 3, 40, 1e4])
def test_the_law_of_what_is_only_zcdp_is_nowhere_below_gaussian_noise(rho: float) -> None:
    """Which is ρ-zCDP, and comes near the conversion: a hull that lost digits would pass below it somewhere."""
    law = concentrated(rho, smallest=1e-20)
    for at in np.linspace(0, rho + 6 * sqrt(rho), 5).tolist():
        with localcontext(PRECISE):
            bound = exact_profile(law, Decimal(at))
        assert float(bound) >= gaussian_delta(1 / sqrt(2 * rho), Fraction(at))


def test_moments_of_laplace_noise_and_of_the_worst_case_are_from_above() -> None:
    orders = 10.0 ** np.linspace(-6, 3, 13)
    for place in range(40):
        epsilon = Fraction(10) ** (place // 8 - 3) * Fraction(place % 8 + 1, 7)
        found = [Bands.of({kind(epsilon): 1}).moments(orders) for kind in (laplace, randomised_response)]
        with localcontext(PRECISE):
            size = Decimal(epsilon.numerator) / Decimal(epsilon.denominator)
            for order, *computed in zip(orders.tolist(), *found, strict=True):
                rest = (-(2 * Decimal(order) + 1) * size).exp()
                inside = (1 + rest) / 2 + (1 - rest) / 4 / (Decimal(order) + Decimal("0.5"))
                worst = (1 + rest) / (1 + (-size).exp())
                for value, mean in zip(computed, (inside, worst), strict=True):
                    assert Decimal(value) >= Decimal(order) * size + mean.ln()


def normal_delta_below(shift: Fraction, epsilon: Fraction) -> float:
    """At most P(N > t) - e^ε P(N > t + μ), t = ε/μ - μ/2 from exact fractions; for t + μ far out."""
    near, far = float(epsilon / shift - shift / 2), float(epsilon / shift + shift / 2)
    density = exp(-near * near / 2) / sqrt(2 * pi)
    # Sampford 1953: P(N > x) <= φ(x) · 4 / (3 x + √(x² + 8)), and e^ε φ(t + μ) = φ(t)
    return (erfc(near / sqrt(2)) / 2 - density * 4 / (3 * far + sqrt(far * far + 8))) * (1 - 2.0**-44)


@pytest.mark.parametrize("shift", [97, 1009, 100_003, 10_000_019])
def test_gaussian_noise_far_narrower_than_the_sensitivity(shift: int) -> None:
    """ε/μ and μ/2 nearly cancel there, and what is left has lost most of its digits."""
    for place in range(40):
        epsilon = Fraction(shift) ** 2 / 2 + shift * Fraction(place, 7)
        assert gaussian_delta(Fraction(1, shift), epsilon) >= normal_delta_below(Fraction(shift), epsilon)


@pytest.mark.parametrize("count", [1, 3, 7, 49, 500])
def test_the_optimum_at_a_tiny_delta_is_the_sum(count: int) -> None:
    """With δ far below a unit in the last place of ε, the ε of the optimum is the sum of the ε, and never below it."""
    for place in range(1, 60):
        epsilon = Fraction(place, 37)
        found = optimal_epsilon(plan({("pure", epsilon): count}), Fraction(1, 10**280))
        assert Fraction(repr(found)) >= count * epsilon


def test_the_optimum_just_below_the_sum_is_not_lost() -> None:
    """δ = P(all losses are ε) (1 - e^-gap): exact for one mechanism, with a gap of a few units in the last place."""
    for place in range(1, 60):
        epsilon = Fraction(place, 37)
        below = nextafter(nextafter(float(epsilon), 0.0), 0.0)
        with localcontext(PRECISE):
            size = Decimal(epsilon.numerator) / Decimal(epsilon.denominator)
            true = (1 - (Decimal(below) - size).exp()) / (1 + (-size).exp())
            assert Decimal(optimal_delta(plan([("pure", epsilon)]), below)) >= true


@pytest.mark.parametrize("chance", [Fraction(1, 3), Fraction(1, 10**5), Fraction(7, 10**9), Fraction(123, 10**14)])
@pytest.mark.parametrize("count", [1, 2, 17, 400])
def test_the_chance_of_losing_everything_is_not_rounded_down(chance: Fraction, count: int) -> None:
    lost = 1 - (1 - chance) ** count
    listed = plan({("approximate", Fraction(1, 10), chance): count, ("discrete_gaussian", 5): 1})
    assert Fraction(losses(listed, delta=1e-5).infinite) >= lost
    far = 10**4
    assert Fraction(delta_of(losses(listed, delta=1e-5), far)) >= lost
    assert Fraction(optimal_delta(plan({("approximate", Fraction(1, 10), chance): count}), far)) >= lost


def test_a_delta_that_the_mechanisms_use_up_to_the_last_digit_has_no_loss_distribution() -> None:
    laws = losses(plan([("approximate", 1, 1e-5)]), delta=1e-5)
    assert epsilon_of(laws, 1e-5) == np.inf
    bounds = sf.accounting.compose([("approximate", 1, Fraction(1, 10**5))], Fraction(10**20 + 1, 10**25))
    assert bounds.pld == bounds.sequential == 1


@pytest.mark.parametrize("delta", [0.3, 0.5, 0.9])
def test_orders_whose_terms_cancel_are_rounded_up(delta: float) -> None:
    """Around the ρ at which ε reaches 0 all terms cancel; what is claimed holds at the order that is named."""
    low, high = 0.0, 1.0
    while high - low > 2.0**-52 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if _zcdp(middle, delta)[1] == 0 else (low, middle)
    for place in range(-60, 60):
        rho = high * (1 + place * 2.0**-52)
        order, claimed = _zcdp(rho, delta)
        with localcontext(PRECISE):
            v, moment = Decimal(order), Decimal(order) * (Decimal(order) + 1) * Decimal(rho)
            true = (moment - Decimal(delta).ln() - v.ln() - (v + 1) * (1 + 1 / v).ln()) / v
            assert claimed >= true


def _zcdp(rho: float, delta: float) -> tuple[float, float]:
    return order_for_delta(lambda orders: orders * (orders + 1) * rho, delta)
