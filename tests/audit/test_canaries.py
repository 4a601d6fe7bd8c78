"""M3, one run, many planted records: the figures of the paper, exact coverage, and a learner that forgets the noise."""

from math import exp, floor

import numpy as np
import pytest
from scipy import stats

import sfumato as sf
from sfumato.audit.canaries import chance_of, epsilon_from_guesses
from sfumato.errors import UsageError


@pytest.mark.parametrize(
    ("epsilon", "guesses", "best"),
    [
        (1, 100, 0.61),
        (1, 1_000, 0.88),
        (1, 10_000, 0.96),
        (4, 100, 2.7),
        (4, 1_000, 3.6),
        (4, 10_000, 3.9),
        (8, 100, 3.0),
        (8, 1_000, 5.3),
        (8, 10_000, 6.9),
    ],
)
def test_the_best_attainable_bound(epsilon: float, guesses: int, best: float) -> None:
    right = floor(guesses / (1 + exp(-epsilon)))
    found = epsilon_from_guesses(guesses, guesses, right, delta=1e-5)
    assert found == pytest.approx(best, abs=0.051)
    assert found < epsilon


@pytest.mark.parametrize(("guesses", "best"), [(100, 3.5), (1_000, 5.8)])
def test_all_guesses_right(guesses: int, best: float) -> None:
    assert epsilon_from_guesses(guesses, guesses, guesses) == pytest.approx(best, abs=0.05)


def test_the_bound_fails_no_more_often_than_it_says() -> None:
    """Randomised response is the worst case: over every number of correct guesses, weighted, exact."""
    epsilon, guesses = 1.5, 80
    law = stats.binom(guesses, 1 / (1 + exp(-epsilon)))
    wrong = sum(
        law.pmf(right) for right in range(guesses + 1) if epsilon_from_guesses(guesses, guesses, right) > epsilon
    )
    assert wrong <= 0.05


def test_delta_costs_what_the_theorem_says() -> None:
    assert chance_of(100, 100, 0, 1.0, 0.1) == 1.0
    without, with_delta = chance_of(100, 100, 90, 1.0, 0.0), chance_of(100, 100, 90, 1.0, 1e-3)
    steps = np.arange(1, 91)
    law = stats.binom(100, 1 / (1 + exp(-1.0)))
    extra = max((law.cdf(89) - law.cdf(90 - i - 1)) / i for i in steps.tolist())
    assert with_delta == pytest.approx(without + 0.2 * extra)
    assert epsilon_from_guesses(100, 100, 90, delta=1e-3) < epsilon_from_guesses(100, 100, 90)


def learner(epsilon: float | None, planted: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Publishes a noisy sum along each planted direction; `None` forgets the noise."""
    generator = np.random.default_rng(seed)
    included = generator.random(planted) < 0.5
    noise = 0.0 if epsilon is None else generator.laplace(0, 1 / epsilon, planted)
    return included + noise, included


def test_a_learner_that_keeps_its_promise_passes_and_one_without_noise_does_not() -> None:
    scores, included = learner(1.0, 4_000, 1)
    kept = sf.audit.one_run(scores, included, claimed_epsilon=1)
    assert not kept.violated
    assert kept.measured > 0.2
    scores, included = learner(None, 4_000, 2)
    broken = sf.audit.one_run(scores, included, claimed_epsilon=1, claimed_delta=1e-5)
    assert broken.violated
    assert broken.measured > 3.5


def test_fewer_guesses_of_the_extremes_prove_more() -> None:
    scores, included = learner(3.0, 20_000, 3)
    everyone = sf.audit.one_run(scores, included, claimed_epsilon=3)
    surest = sf.audit.one_run(scores, included, claimed_epsilon=3, guesses=2_000)
    assert everyone.measured < surest.measured <= 3
    assert not surest.violated


@pytest.mark.parametrize(
    ("scores", "included", "given"),
    [
        ([1.0], [True, False], {}),
        ([1.0, 2.0], [1, 0], {}),
        ([1.0, float("nan")], [True, False], {}),
        ([1.0, 2.0], [True, False], {"guesses": 3}),
        ([1.0, 2.0], [True, False], {"guesses": 0}),
        ([1.0, 2.0], [True, False], {"claimed_delta": -0.1}),
        ([1.0, 2.0], [True, False], {"error": 0}),
        ([1.0, 2.0], [True, False], {"claimed_epsilon": "much"}),
    ],
)
def test_bad_input_is_named(scores: list[float], included: list[bool], given: dict) -> None:
    with pytest.raises(UsageError):
        sf.audit.one_run(scores, included, **({"claimed_epsilon": 1} | given))
