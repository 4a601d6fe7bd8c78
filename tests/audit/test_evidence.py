"""Bounds from counts: they cover, and the test of a law has the level it says."""

import numpy as np
import pytest
from scipy import stats

from sfumato.audit.evidence import between, chi_square, delta_shown, epsilon_shown, rank_correlation


@pytest.mark.parametrize("probability", [0.001, 0.2, 0.5, 0.99])
def test_the_interval_covers_as_often_as_it_says(probability: float) -> None:
    """Over every possible count, weighted: exact, no draws."""
    draws, error = 200, 0.01
    missed = [0.0, 0.0]
    for count in range(draws + 1):
        low, high = between(count, draws, error)
        chance = stats.binom.pmf(count, draws, probability)
        missed[0] += chance * (probability < low)
        missed[1] += chance * (probability > high)
    assert max(missed) <= error


def test_the_ends_of_the_interval_are_the_exact_ones() -> None:
    assert between(0, 10, 0.05) == (0.0, pytest.approx(1 - 0.05**0.1))
    assert between(10, 10, 0.05) == (pytest.approx(0.05**0.1), 1.0)


def test_what_counts_prove_about_epsilon_and_delta() -> None:
    assert epsilon_shown(5_000, 5_000, 10_000, 0.025) < 0
    assert epsilon_shown(8_000, 1_000, 10_000, 0.025) == pytest.approx(np.log(8), abs=0.08)
    assert epsilon_shown(8_000, 1_000, 10_000, 0.025) < np.log(8)
    assert epsilon_shown(10, 0, 10_000, 0.025, delta=0.5) == -np.inf
    assert 0 < delta_shown(8_000, 1_000, 10_000, 0.025, epsilon=1.0) < 0.8 - 0.1 * np.e


def test_a_law_is_told_from_its_neighbour() -> None:
    generator = np.random.default_rng(5)
    law = [0.1, 0.2, 0.3, 0.4]
    fair = generator.multinomial(100_000, law)
    assert chi_square(fair.tolist(), law) > 1e-3
    assert chi_square(generator.multinomial(100_000, [0.11, 0.2, 0.3, 0.39]).tolist(), law) < 1e-6


@pytest.mark.parametrize(("counts", "law"), [([1, 2], [0.5]), ([50, 50], [0.5, 0.4]), ([1, 1], [0.5, 0.5])])
def test_a_law_that_covers_not_everything_or_too_few_draws_are_refused(counts: list[int], law: list[float]) -> None:
    with pytest.raises(ValueError, match="law"):
        chi_square(counts, law)


def test_ranks_are_correlated_as_spearman_did() -> None:
    generator = np.random.default_rng(3)
    first, second = generator.integers(0, 20, 500), generator.normal(size=500)
    assert rank_correlation(first, second) == pytest.approx(stats.spearmanr(first, second).statistic)
    assert rank_correlation(first, first**3) == pytest.approx(1)
