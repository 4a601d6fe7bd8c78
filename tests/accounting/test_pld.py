"""The privacy loss distribution against closed forms, exact sums and brute force; both discretisations bracket."""

import random
import time
from fractions import Fraction
from math import exp, expm1, log

import numpy as np
import pytest
from scipy.optimize import brentq

from sfumato.accounting import gaussian_delta, gaussian_epsilon, spectrum
from sfumato.accounting.events import plan
from sfumato.accounting.lattices import Atoms, concentrated, discrete_gaussian, discrete_laplace
from sfumato.accounting.losses import losses, worst
from sfumato.accounting.optimal import optimal_delta, optimal_epsilon
from sfumato.accounting.pld import delta_of, epsilon_of
from sfumato.kernel.cost import epsilon_for
from sfumato.noise.gaussian_delta import summed_delta
from tests.accounting.profiles import band_profile, gaussian_logarithm, profile


def upper(events: object, delta: float = 1e-5) -> float:
    return epsilon_of(losses(plan(events), delta=delta), delta)


def lower(events: object, delta: float = 1e-5) -> float:
    return epsilon_of(losses(plan(events), delta=delta), delta, optimistic=True)


# ---- one mechanism ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["laplace", "pure", "exponential"])
@pytest.mark.parametrize("epsilon", [0.01, 0.3, 1, 7])
@pytest.mark.parametrize("share", [0, 0.2, 0.7, 0.99, 0.9999])
def test_one_mechanism_has_its_closed_form(kind: str, epsilon: float, share: float) -> None:
    laws = losses(plan([(kind, epsilon)]), delta=1e-5)
    exact = band_profile(kind, epsilon, share * epsilon)
    assert exact * (1 - 1e-9) <= delta_of(laws, share * epsilon) <= exact * (1 + 2e-4)
    assert exact * (1 - 2e-3) <= delta_of(laws, share * epsilon, optimistic=True) <= exact * (1 + 1e-9)


@pytest.mark.parametrize("kind", ["laplace", "pure", "exponential"])
def test_at_the_largest_loss_nothing_is_left(kind: str) -> None:
    assert delta_of(losses(plan([(kind, 0.5)]), delta=1e-5), 0.5) < 1e-12
    assert delta_of(losses(plan([(kind, 0.5)] * 4), delta=1e-5), 2.0) < 1e-12
    assert delta_of(losses(plan([(kind, 0.5)]), delta=1e-5), 0.5 + 1e-9) == 0


@pytest.mark.parametrize("sigma", [0.05, 0.5, 1, 5, 300])
@pytest.mark.parametrize("delta", [0.1, 1e-3, 1e-5, 1e-9, 1e-30])
def test_gaussian_noise_has_its_closed_form(sigma: float, delta: float) -> None:
    if gaussian_logarithm(sigma, 0) <= log(delta):
        assert upper([("gaussian", sigma)], delta) == gaussian_epsilon(sigma, delta) == 0
        return
    exact = brentq(lambda at: gaussian_logarithm(sigma, at) - log(delta), 0, 1 / sigma**2 + 40 / sigma, rtol=1e-13)
    assert gaussian_epsilon(sigma, delta) == pytest.approx(exact, rel=1e-6)
    assert exact * (1 - 1e-9) <= upper([("gaussian", sigma)], delta) <= exact * (1 + 1e-6) + 1e-9
    assert lower([("gaussian", sigma)], delta) <= exact


def test_a_delta_far_below_every_double_of_a_plain_sum() -> None:
    found = delta_of(losses(plan([("gaussian", 1)]), delta=1e-5), 30.0)
    assert log(found) == pytest.approx(gaussian_logarithm(1, 30), abs=1e-4)
    assert 1e-193 < found < 1e-192


def test_gaussian_noise_composes_to_gaussian_noise() -> None:
    one = upper([("gaussian", 2)])
    assert upper([("gaussian", 4)] * 4) == pytest.approx(one, rel=1e-6)
    assert upper([("gaussian", 2 * 2**0.5), ("gaussian", 4), ("gaussian", 4)]) == pytest.approx(one, rel=1e-6)
    assert delta_of(losses(plan([("gaussian", 1)]), delta=1e-5), 6.0) == pytest.approx(gaussian_delta(1, 6), rel=2e-6)


@pytest.mark.parametrize(("sigma", "sensitivity"), [(1, 1), (3, 1), (10, 4), (50, 7)])
@pytest.mark.parametrize("epsilon", [0.3, 1, 4])
def test_discrete_gaussian_noise_has_its_exact_sum(sigma: int, sensitivity: int, epsilon: float) -> None:
    exact = summed_delta(Fraction(sigma**2), sensitivity, Fraction(epsilon))
    assert profile(discrete_gaussian(Fraction(sigma), sensitivity), epsilon) == pytest.approx(
        exact, rel=1e-8, abs=1e-290
    )
    found = delta_of(losses(plan([("discrete_gaussian", sigma, sensitivity)]), delta=1e-5), epsilon)
    assert exact * (1 - 1e-8) <= found <= exact * (1 + 1e-3) + 1e-290


@pytest.mark.parametrize(
    ("delta", "exact"), [(1e-3, 2.3524563384302091), (1e-5, 3.3423705755170895), (1e-8, 4.4551744932544739)]
)
def test_ten_discrete_gaussian_mechanisms_against_forty_digits(delta: float, exact: float) -> None:
    """Their losses add up to (2Y + 10)/32 with whole Y, whose law was convolved in whole-number arithmetic."""
    assert exact <= upper([("discrete_gaussian", 4)] * 10, delta) <= exact + 1e-8


@pytest.mark.parametrize("sensitivity", [1, 2, 3, 10])
def test_discrete_laplace_noise_from_its_definition(sensitivity: int) -> None:
    """The law of the loss ε(|k - Δ| - |k|)/Δ over all noise k, added up one by one."""
    epsilon, places = 0.7, range(-400, 401)
    rate = epsilon / sensitivity
    weights = np.array([exp(-rate * abs(k)) for k in places])
    weights /= weights.sum()
    found = np.array([rate * (abs(k - sensitivity) - abs(k)) for k in places])
    law = discrete_laplace(Fraction(7, 10), sensitivity)
    assert np.exp(law.logarithms).sum() == pytest.approx(1, abs=1e-12)
    for at in (-0.6, -0.1, 0.0, 0.2, 0.65):
        over = found > at
        assert profile(law, at) == pytest.approx(float(weights[over] @ -np.expm1(at - found[over])), abs=1e-12)
    if sensitivity == 1:
        assert upper([("geometric", 0.7)] * 9) == pytest.approx(upper([("pure", 0.7)] * 9), rel=1e-9)
    else:
        assert upper([("laplace", 0.7)] * 9) < upper([("geometric", 0.7, sensitivity)] * 9) < upper([("pure", 0.7)] * 9)


# ---- both directions of the pair ---------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["laplace", "pure", "exponential"])
@pytest.mark.parametrize("at", [-0.9, -0.3, 0.0, 0.3, 0.9])
def test_a_person_added_costs_what_a_person_removed_costs(kind: str, at: float) -> None:
    """δ'(ε) of the pair read the other way is 1 - e^ε + e^ε δ(-ε); the laws here are their own mirror image."""
    mirrored = -expm1(at) + exp(at) * band_profile(kind, 1.0, -at)
    assert mirrored == pytest.approx(band_profile(kind, 1.0, at), abs=1e-12)


@pytest.mark.parametrize("law", [discrete_laplace(Fraction(1), 5), discrete_gaussian(Fraction(3), 2)])
def test_lattice_laws_are_their_own_mirror_image(law: Atoms) -> None:
    for at in (-1.1, -0.4, 0.0, 0.4, 1.1):
        mirrored = -expm1(at) + exp(at) * profile(law, -at)
        assert mirrored == pytest.approx(profile(law, at), abs=1e-9)


# ---- dominating laws ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [0.1, 1, 4])
def test_the_bounded_range_law_is_the_envelope_of_its_class(epsilon: float) -> None:
    """Losses {t, t - ε} for every t in [0, ε]: none exceeds the law anywhere, and everywhere one reaches it."""
    for at in np.linspace(-epsilon, epsilon, 41):
        best = 0.0
        for top in np.linspace(0, epsilon, 2001):
            share = (exp(epsilon) - exp(top)) / expm1(epsilon)
            chances = ((top, share), (top - epsilon, 1 - share))
            best = max(best, sum(chance * max(0.0, -expm1(at - loss)) for loss, chance in chances))
        assert best <= band_profile("exponential", epsilon, float(at)) + 1e-12
        assert best == pytest.approx(band_profile("exponential", epsilon, float(at)), abs=1e-4)


@pytest.mark.parametrize("rho", [0.001, 0.1, 3, 40])
def test_what_is_only_zcdp_covers_the_conversion_and_all_it_is_told_of(rho: float) -> None:
    law = concentrated(rho, smallest=1e-20)
    assert np.exp(law.logarithms).sum() + law.infinite == pytest.approx(1, abs=1e-9)
    for at in np.linspace(0, rho + 6 * rho**0.5, 30):
        assert profile(law, float(at)) >= gaussian_delta(
            (1 / (2 * rho)) ** 0.5, Fraction(float(at)).limit_denominator(10**9)
        ) * (1 - 1e-6)
        assert profile(law, float(-at)) >= -expm1(-at)
    converted = float(epsilon_for(Fraction(rho), Fraction(1, 10**5)))
    assert converted * (1 - 1e-6) <= upper([("zcdp", rho)]) <= converted * (1 + 1e-3)


def test_zcdp_events_are_added_before_they_are_bounded() -> None:
    assert upper([("zcdp", 0.01)] * 50) == pytest.approx(upper([("zcdp", 0.5)]), rel=1e-9)


# ---- sums --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("count", "epsilon"), [(1, "0.5"), (7, "0.3"), (100, "0.1"), (100, "1"), (3000, "0.05")])
@pytest.mark.parametrize("delta", ["0.2", "1e-3", "1e-5", "1e-12"])
def test_the_worst_case_by_fourier_is_the_exact_sum(count: int, epsilon: str, delta: str) -> None:
    listed_plan = plan({("pure", Fraction(epsilon)): count})
    exact = optimal_epsilon(listed_plan, Fraction(delta))
    assert epsilon_of(worst(listed_plan), float(delta)) == pytest.approx(exact, rel=1e-8, abs=1e-9)
    if exact:
        assert delta_of(worst(listed_plan), exact) == pytest.approx(optimal_delta(listed_plan, exact), rel=1e-6)


def test_a_sum_of_few_by_brute_force() -> None:
    """Three different mechanisms, every combination of their losses."""
    events = [("pure", 0.5), ("geometric", 0.8, 4), ("discrete_gaussian", 2, 1)]
    parts = [
        discrete_laplace(Fraction(1, 2), 1),
        discrete_laplace(Fraction(4, 5), 4),
        discrete_gaussian(Fraction(2), 1),
    ]
    sums, chances = np.zeros(1), np.ones(1)
    for part in parts:
        sums = np.add.outer(sums, part.losses).ravel()
        chances = np.multiply.outer(chances, np.exp(part.logarithms)).ravel()
    laws = losses(plan(events), delta=1e-5)
    for at in (0.0, 0.5, 1.0, 2.0, 3.0):
        exact = float(chances[sums > at] @ -np.expm1(at - sums[sums > at]))
        assert delta_of(laws, at, optimistic=True) <= exact * (1 + 1e-9)
        assert exact * (1 - 1e-9) <= delta_of(laws, at) <= exact * (1 + 1e-3)


@pytest.mark.parametrize("delta", [0.3, 1e-2, 1e-5, 1e-10, 1e-40])
@pytest.mark.parametrize(
    "events",
    [
        [("laplace", 0.1)] * 100,
        [("laplace", 0.3)] * 7 + [("gaussian", 4)] * 5,
        [("laplace", Fraction(1, 7)), ("laplace", Fraction(2, 11)), ("pure", Fraction(1, 3))] * 3,
        [("geometric", 0.2, 3)] * 30 + [("laplace", 0.2)] * 30,
        [("exponential", 0.4)] * 20,
        [("approximate", 0.2, 1e-45)] * 20,
    ],
)
def test_both_discretisations_bracket(events: object, delta: float) -> None:
    low, high = lower(events, delta), upper(events, delta)
    assert low <= high
    assert high - low <= 2e-3 * high + 1e-6


def test_reading_back_gives_what_was_asked() -> None:
    laws = losses(plan([("laplace", 0.2)] * 30 + [("gaussian", 3)]), delta=1e-6)
    for delta in (0.1, 1e-4, 1e-6, 1e-12):
        epsilon = epsilon_of(laws, delta)
        assert delta * (1 - 1e-4) <= delta_of(laws, epsilon) <= delta * (1 + 1e-4)


def test_events_with_a_delta_of_their_own_lose_it_in_full() -> None:
    laws = losses(plan([("approximate", 0.1, 1e-7)] * 20), delta=1e-5)
    lost = -expm1(20 * np.log1p(-1e-7))
    assert delta_of(laws, 2.0) == pytest.approx(lost, rel=1e-9)
    intact = (1e-5 - lost) / (1 - lost)
    assert upper([("approximate", 0.1, 1e-7)] * 20) == pytest.approx(upper([("pure", 0.1)] * 20, intact), rel=1e-9)


def test_leaving_out_hopeless_frequencies_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    events = [("laplace", Fraction(1, 100 + place)) for place in range(24)]
    short = upper(events)
    monkeypatch.setattr(spectrum, "MANY", 0)
    assert upper(events) == pytest.approx(short, rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("kinds", [16, 10_000])
def test_ten_thousand_mechanisms_in_two_seconds(kinds: int) -> None:
    source = random.Random(7)
    scales = [source.uniform(100, 1000) for _ in range(kinds)]
    picked = [scales[place] if kinds == 10_000 else source.choice(scales) for place in range(10_000)]
    events = [("gaussian", scale) if place % 2 else ("laplace", 1 / scale) for place, scale in enumerate(picked)]
    start = time.process_time()
    found = upper(events, 1e-6)
    assert time.process_time() - start < 2
    assert 1 < found < 2
