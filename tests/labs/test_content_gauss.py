"""Every formula and number of lab 3, found again in another way."""

import math
from fractions import Fraction

import numpy as np
import pytest

from sfumato import accounting
from sfumato.accounting.events import plan
from sfumato.accounting.optimal import optimal_delta
from sfumato.labs.source import load
from tests.labs.content import numbers_of

NUMBERS = numbers_of(3)
CHECKS = load(3).module("checks")
PRINTED = NUMBERS.numbers(load(3).variant(1))


@pytest.mark.parametrize(("eps", "k", "total"), [(1.0, 3, 1.5), (0.5, 40, 9.0), (1.0, 176, 127.3), (0.1, 200, 6.0)])
def test_the_exact_composition_is_that_of_the_library(eps: float, k: int, total: float) -> None:
    library = optimal_delta(plan({("randomised_response", eps): k}), total)
    assert NUMBERS.optimal_delta(eps, k, total) == pytest.approx(library, rel=1e-8)


def test_the_exact_composition_by_whole_fractions() -> None:
    # e^eps = 3: every probability is a fraction, and the definition can be summed over all outcomes of three coins.
    k, total = 3, 1.5 * math.log(3)
    by_definition = Fraction(0)
    for lies in range(k + 1):
        ways = math.comb(k, lies)
        one, other = Fraction(3 ** (k - lies), 4**k), Fraction(3**lies, 4**k)
        by_definition += ways * max(one - Fraction(math.exp(total)) * other, Fraction(0))
    assert NUMBERS.optimal_delta(math.log(3), k, total) == pytest.approx(float(by_definition), rel=1e-9)


def test_where_the_formula_of_the_books_is_false() -> None:
    assert NUMBERS.first_failure(1.0, 1e-5, 400) == 176 == PRINTED["failure_5"]
    assert NUMBERS.first_failure(1.0, 1e-4, 400) == 144 == PRINTED["failure_4"]
    assert NUMBERS.first_failure(0.5, 1e-5, 600) == 525
    assert PRINTED["claim_1000"][0] == pytest.approx(303.5, abs=0.05)
    assert PRINTED["delta_1000"][0] == pytest.approx(0.99999998, abs=1e-8)


def test_the_formula_of_the_books_follows_up_to_a_limit() -> None:
    for eps in (0.3, 1.0):
        for k in (10, 92, 93, 500, 1100):
            follows = NUMBERS.simplified(eps, k, 1e-5) >= NUMBERS.concentrated(eps, k, 1e-5)
            assert follows == (k * eps**2 <= 8 * math.log(1e5))
    assert PRINTED["simple_valid"] == 92


def test_bounds_are_above_the_exact_one() -> None:
    for eps, k in ((0.1, 50), (0.5, 40), (1.0, 100)):
        for bound in (NUMBERS.advanced, NUMBERS.concentrated):
            assert NUMBERS.optimal_delta(eps, k, bound(eps, k, 1e-5)) <= 1e-5


def test_crossings() -> None:
    assert NUMBERS.crossing("simple", 0.1, 1e-5, 1000) == NUMBERS.crossing("simple", 0.7, 1e-5, 1000) == 93
    assert PRINTED["cross_book_real"][0] == pytest.approx(92.1, abs=0.05)
    assert NUMBERS.crossing("adv", 0.1, 1e-5, 1000) == 29
    assert NUMBERS.crossing("adv", 0.5, 1e-5, 1000) == 187
    assert NUMBERS.crossing("adv", math.log(2), 1e-5, 10_000) == 0
    assert NUMBERS.crossing("adv", 0.69, 1e-5, 10_000_000) > 0  # below ln 2 it wins in the end


def test_two_hundred_releases() -> None:
    # The guide values of the design: sequential, advanced, zero-concentrated.
    assert NUMBERS.advanced(1, 200, 1e-5) == pytest.approx(411.5, abs=0.05)
    assert NUMBERS.concentrated(1, 200, 1e-5) == pytest.approx(167.9, abs=0.05)
    assert NUMBERS.advanced(0.1, 200, 1e-5) == pytest.approx(8.89, abs=0.005)
    assert NUMBERS.concentrated(0.1, 200, 1e-5) == pytest.approx(7.79, abs=0.005)


def test_the_classical_deviation() -> None:
    assert PRINTED["sigma_exact_1"][0] == pytest.approx(3.7306, abs=5e-5)
    assert PRINTED["waste_01"][0] == pytest.approx(1.58, abs=0.005)
    assert PRINTED["waste_1"][0] == pytest.approx(1.30, abs=0.005)
    for key, expected in (("false_5", 8.42), ("false_2", 6.78), ("false_1", 5.74)):
        assert PRINTED[key][0] == pytest.approx(expected, abs=0.01)
    assert NUMBERS.classical(1, 0.5, 1e-5) == pytest.approx(accounting.classical_sigma(0.5, 1e-5), rel=1e-12)


@pytest.mark.parametrize("delta", [1e-3, 1e-4, 1e-5, 1e-6])
def test_from_how_many_counts_on_gauss_wins(delta: float) -> None:
    def first(wins) -> int:
        return next(k for k in range(1, 1000) if wins(k))

    by_deviation = first(lambda k: NUMBERS.classical(math.sqrt(k), 1, delta) < math.sqrt(2) * k)
    by_mean = first(lambda k: NUMBERS.classical(math.sqrt(k), 1, delta) * math.sqrt(2 / math.pi) < k)
    assert NUMBERS.count_crossings(delta) == (by_deviation, by_mean)
    if delta == 1e-5:
        assert (by_deviation, by_mean) == (12, 15)


def test_twenty_doctors() -> None:
    keys = ("twenty_gauss_sd", "twenty_laplace_sd", "twenty_gauss_mean", "twenty_laplace_mean")
    shown = [PRINTED[key][0] for key in keys]
    assert shown == pytest.approx([21.7, 28.3, 17.3, 20.0], abs=0.05)


def test_gauss_cannot_win_with_three_queries() -> None:
    assert PRINTED["three_quotient"][0] == pytest.approx(2.23, abs=0.005)
    gauss = NUMBERS.classical(math.hypot(10_000, 1, 3000), 1, 1e-5) * math.sqrt(2 / math.pi)
    assert gauss == pytest.approx(40_358, abs=5)
    for row in range(1, 8):
        assert NUMBERS.numbers(load(3).variant(row))["error_quotient"][0] > 2


def test_splitting_the_budget_costs_accuracy() -> None:
    rng = np.random.default_rng(1)
    one, two, three = (rng.laplace(0, 1 / eps, 400_000) for eps in (1, 2, 3))
    weights = np.array([1 / 2, 4 / 2])
    best = (weights[0] * one + weights[1] * two) / weights.sum()
    for noise, key in (((one + two) / 2, "split_mean"), (best, "split_best"), (three, "split_one")):
        assert noise.var() == pytest.approx(PRINTED[key][0], rel=0.02)


def test_the_promise_to_a_group() -> None:
    variant = load(3).variant(1)
    epsilon, delta = 0.0, 0.0
    for _ in range(3):  # P1 <= e^eps P2 + delta, used once more
        delta = delta + math.exp(epsilon) * variant.delta
        epsilon += variant.eps_query
    assert PRINTED["group_3"][0] == pytest.approx(epsilon)
    assert PRINTED["group_delta"] == pytest.approx(delta, rel=0.005)


def test_the_sensitivity_of_the_three_queries_by_search() -> None:
    gain_clip, age_clip = 5, 3
    worst_one = worst_two = 0.0
    for gain in range(8):
        for years in (0, 1):
            for age in range(6):
                change = np.array([min(gain, gain_clip), years, min(age, age_clip)], dtype=float)
                worst_one, worst_two = max(worst_one, change.sum()), max(worst_two, float(np.linalg.norm(change)))
    assert worst_one == gain_clip + 1 + age_clip
    assert worst_two == pytest.approx(math.hypot(gain_clip, 1, age_clip))


def test_projection_is_the_nearest_consistent_vector() -> None:
    rng = np.random.default_rng(2)
    for _ in range(50):
        noisy, total = rng.normal(0, 5, 4), 6.0
        made = CHECKS.projected(noisy, total)
        assert made.min() >= 0
        assert made.sum() == pytest.approx(total)
        others = rng.dirichlet(np.ones(4), 400) * total
        assert np.linalg.norm(made - noisy) <= np.linalg.norm(others - noisy, axis=1).min() + 1e-9
        truth = others[0]
        assert np.linalg.norm(made - truth) <= np.linalg.norm(noisy - truth) + 1e-9
