"""What a number of draws proves: bounds that hold except with a probability chosen beforehand."""

from collections.abc import Sequence
from math import exp, inf, log
from typing import Any

import numpy as np
from scipy import special

FALSE_ALARM = 1e-6  # of a verdict: one in a million runs


def between(count: int, draws: int, error: float) -> tuple[float, float]:
    """Clopper and Pearson: the probability lies in here, except with probability `error` on each side."""
    low = special.betaincinv(count, draws - count + 1, error) if count else 0.0
    high = special.betainccinv(count + 1, draws - count, error) if count < draws else 1.0
    return float(low), float(high)


def epsilon_shown(first: int, second: int, draws: int, error: float, delta: float = 0.0) -> float:
    """The ε that an event, seen so often under each of two neighbours, proves at least."""
    low, high = between(first, draws, error)[0], between(second, draws, error)[1]
    return log((low - delta) / high) if low > delta else -inf


def delta_shown(first: int, second: int, draws: int, error: float, epsilon: float) -> float:
    """The δ that an event proves at least, at this ε: P(E) - e^ε P'(E)."""
    return between(first, draws, error)[0] - exp(epsilon) * between(second, draws, error)[1]


def rank_correlation(first: np.ndarray[Any, Any], second: np.ndarray[Any, Any]) -> float:
    """Spearman's; equal values share the mean of their ranks."""
    ranks = []
    for values in (first, second):
        _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
        ranks.append((np.cumsum(counts) - (counts - 1) / 2)[place])
    return float(np.asarray(np.corrcoef(np.array(ranks)))[0, 1])


def chi_square(observed: Sequence[int] | np.ndarray[Any, Any], probabilities: Sequence[float]) -> float:
    """The p-value of counts against a law; the law must cover everything, thin cells are joined."""
    counts, expected = np.asarray(observed, dtype=float), np.asarray(probabilities, dtype=float)
    if len(counts) != len(expected) or abs(expected.sum() - 1) > 1e-9:
        raise ValueError("a law covers every outcome and adds up to 1")
    expected = expected * counts.sum()
    joined_counts, joined = [], []
    count = mass = 0.0
    for one_count, one_mass in zip(counts, expected, strict=True):
        count, mass = count + one_count, mass + one_mass
        if mass >= 10:
            joined_counts.append(count)
            joined.append(mass)
            count = mass = 0.0
    if not joined:
        raise ValueError("too few draws for a test of the law")
    joined_counts[-1] += count
    joined[-1] += mass
    statistic = float(np.sum((np.array(joined_counts) - joined) ** 2 / joined))
    return float(special.chdtrc(max(1, len(joined) - 1), statistic))
