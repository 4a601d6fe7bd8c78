"""Every formula and number of lab 0, found again in another way."""

import math

import numpy as np
import pytest

from sfumato.accounting import membership_advantage, posterior
from sfumato.labs.source import load
from tests.labs.content import numbers_of

NUMBERS = numbers_of(0)
CHECKS = load(0).module("checks")


@pytest.mark.parametrize("prior", [0.001, 0.3, 0.5, 0.99])
@pytest.mark.parametrize("eps", [0.1, 1.0, 7.0])
def test_bounds_of_belief_are_those_of_the_library(prior: float, eps: float) -> None:
    assert CHECKS.bounds(prior, eps) == pytest.approx(posterior(prior, eps), rel=1e-12)
    odds = prior / (1 - prior)
    low, high = CHECKS.bounds(prior, eps)
    assert high / (1 - high) == pytest.approx(odds * math.exp(eps), rel=1e-9)
    assert low / (1 - low) == pytest.approx(odds * math.exp(-eps), rel=1e-9)


def test_the_advantage_is_attained_by_randomised_response() -> None:
    for eps in (0.1, 1.0, 3.0):
        truthful = math.exp(eps) / (1 + math.exp(eps))
        assert truthful - (1 - truthful) == pytest.approx(membership_advantage(eps), rel=1e-12)
        assert math.tanh(eps / 2) == pytest.approx(membership_advantage(eps), rel=1e-12)


def test_the_advantage_with_delta_solves_both_inequalities() -> None:
    eps, delta = 1.0, 0.01
    grid = np.linspace(0, 1, 2001)
    most = np.minimum(math.exp(eps) * grid + delta, 1 - (1 - grid - delta) / math.exp(eps))
    assert np.max(np.minimum(most, 1) - grid) == pytest.approx(membership_advantage(eps, delta), abs=1e-3)
    assert NUMBERS.numbers(load(0).variant(1))["advantage_delta"][0] == membership_advantage(eps, delta)


@pytest.mark.parametrize("row", range(1, 8))
def test_the_black_box_shows_its_epsilon(row: int) -> None:
    variant = load(0).variant(row)
    first, second = NUMBERS.boxes(variant)
    assert (sum(first), sum(second)) == NUMBERS.RUNS
    assert NUMBERS.estimate(first, second, NUMBERS.LEAST) == pytest.approx(variant.hidden, abs=0.06)


def test_the_black_box_is_private_by_its_law() -> None:
    hidden = 0.7
    decay = math.exp(-hidden)
    masses = {z: (1 - decay) / (1 + decay) * decay ** abs(z) for z in range(-60, 61)}
    shown = [math.log(masses[y - 10] / masses[y - 11]) for y in range(-40, 60)]
    assert max(map(abs, shown)) == pytest.approx(hidden)


@pytest.mark.parametrize(("eps", "sd"), [(1.0, 0.02), (0.1, 0.05), (4.0, 0.01)])
def test_so_many_people_are_enough_and_one_fewer_is_not(eps: float, sd: float) -> None:
    def worst(people: int) -> float:
        truthful = math.exp(eps) / (1 + math.exp(eps))
        shares = np.linspace(0, 1, 2001)
        yes = shares * truthful + (1 - shares) * (1 - truthful)
        return float(np.max(np.sqrt(yes * (1 - yes) / people)) / (2 * truthful - 1))

    people = NUMBERS.people(eps, sd)
    assert worst(people) <= sd * (1 + 1e-12)
    assert worst(people - 1) > sd


def test_the_chance_of_being_ill_after_a_yes() -> None:
    printed = NUMBERS.numbers(load(0).variant(1))
    for key, share, expected in (("ill_1", 0.01, 0.029), ("ill_10", 0.1, 0.25), ("ill_50", 0.5, 0.75)):
        bayes = 0.75 * share / (0.75 * share + 0.25 * (1 - share))
        assert printed[key][0] == pytest.approx(bayes, rel=1e-12)
        assert bayes == pytest.approx(expected, abs=0.001)
    assert printed["ln3"][0] == pytest.approx(math.log(0.75 / 0.25))
