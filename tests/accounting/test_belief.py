"""What an ε means: beliefs, advantage, alarms; reached by randomised response and never exceeded."""

from fractions import Fraction
from math import exp, tanh

import pytest
from hypothesis import given
from hypothesis import strategies as some

from sfumato.accounting import highest_rate, membership_advantage, posterior
from sfumato.errors import UsageError


def test_the_numbers_people_quote() -> None:
    assert posterior(prior=0.5, epsilon=1) == pytest.approx((0.2689, 0.7311), abs=5e-5)
    assert posterior(0.01, 1) == pytest.approx((0.0037022, 0.0267236), abs=1e-6)
    assert membership_advantage(1) == pytest.approx(tanh(0.5))
    assert membership_advantage(1, 1e-5) == pytest.approx((exp(1) - 1 + 2e-5) / (exp(1) + 1))
    assert membership_advantage(0) == 0
    assert membership_advantage(0, 1) == 1


@given(some.integers(0, 10**6).map(lambda whole: whole / 10**6), some.integers(0, 5000).map(lambda whole: whole / 100))
def test_beliefs_stay_ordered_and_move_by_the_odds(prior: float, epsilon: float) -> None:
    low, high = posterior(prior, epsilon)
    assert 0 <= low <= prior * (1 + 1e-9)
    assert prior * (1 - 1e-9) <= high <= 1
    if 1e-6 < prior < 1 - 1e-6 and epsilon < 20:
        odds = prior / (1 - prior)
        assert low / (1 - low) == pytest.approx(odds * exp(-epsilon), rel=1e-6)
        assert high / (1 - high) == pytest.approx(odds * exp(epsilon), rel=1e-4)
    # what can be believed of "in" can be disbelieved of "out"
    mirrored = posterior(1 - prior, epsilon)
    assert (1 - high, 1 - low) == pytest.approx(mirrored, abs=1e-9)


@pytest.mark.parametrize("epsilon", [0.1, 1, 3])
@pytest.mark.parametrize("prior", [0.01, 0.5, 0.9])
def test_randomised_response_reaches_the_bounds(epsilon: float, prior: float) -> None:
    truth = exp(epsilon) / (1 + exp(epsilon))
    said_in = prior * truth / (prior * truth + (1 - prior) * (1 - truth))
    said_out = prior * (1 - truth) / (prior * (1 - truth) + (1 - prior) * truth)
    assert posterior(prior, epsilon) == pytest.approx((said_out, said_in))
    assert membership_advantage(epsilon) == pytest.approx(2 * truth - 1)


@pytest.mark.parametrize(("epsilon", "delta"), [(0, 0), (0.5, 0), (1, 1e-3), (0, 0.3), (3, 0.1), (800, 0)])
def test_the_advantage_is_the_largest_gap_between_alarms(epsilon: float, delta: float) -> None:
    places = [Fraction(place, 2000) for place in range(2001)]
    gap = max(highest_rate(place, epsilon, delta) - float(place) for place in places)
    assert gap == pytest.approx(membership_advantage(epsilon, delta), abs=1e-3)
    assert gap <= membership_advantage(epsilon, delta) + 1e-12


def test_certainty_stays_certainty() -> None:
    assert posterior(0, 5) == (0, 0)
    assert posterior(1, 5) == (1, 1)
    assert posterior(0.5, 10_000)[1] == 1
    assert highest_rate(0, 1) == 0
    assert highest_rate(1, 1) == 1


def test_delta_has_no_posterior() -> None:
    with pytest.raises(UsageError, match="no bound on the posterior"):
        posterior(0.5, 1, 1e-6)


@pytest.mark.parametrize("prior", [-0.1, 1.1, float("nan"), "x", True])
def test_a_prior_is_a_probability(prior: object) -> None:
    with pytest.raises(UsageError):
        posterior(prior, 1)  # type: ignore[arg-type]


@pytest.mark.parametrize("epsilon", [-1, float("inf"), "x", None])
def test_epsilon_is_a_number(epsilon: object) -> None:
    for call in (
        lambda: posterior(0.5, epsilon),
        lambda: membership_advantage(epsilon),
        lambda: highest_rate(0.5, epsilon),
    ):  # type: ignore[arg-type]
        with pytest.raises(UsageError):
            call()


@pytest.mark.parametrize("delta", [-1e-9, 1.01])
def test_delta_is_a_probability(delta: float) -> None:
    with pytest.raises(UsageError):
        membership_advantage(1, delta)
