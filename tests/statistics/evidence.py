"""What a number of draws proves: bounds that hold except with a probability chosen beforehand."""

import os
from collections.abc import Callable
from math import exp, inf, log
from typing import Any

import numpy as np
from scipy import stats

from sfumato.kernel.entropy import Entropy, SystemEntropy
from tests.entropy import SeededEntropy

ERROR = 1e-6  # of a whole check: it cries wolf once in a million runs
Sampler = Callable[[Entropy], np.ndarray[Any, Any]]


def source(name: str) -> Entropy:
    """Seeded, so that a run can be repeated; with SFUMATO_FRESH=1 the real source, for long runs."""
    return SystemEntropy() if os.environ.get("SFUMATO_FRESH") else SeededEntropy(name)


def between(count: int, draws: int, error: float) -> tuple[float, float]:
    """Clopper and Pearson: the probability lies in here, except with probability `error` on each side."""
    low = stats.beta.ppf(error, count, draws - count + 1) if count else 0.0
    high = stats.beta.isf(error, count + 1, draws - count) if count < draws else 1.0
    return float(low), float(high)


def epsilon_shown(first: int, second: int, draws: int, error: float, delta: float = 0.0) -> float:
    """The ε that an event, seen so often under each of two neighbours, proves at least."""
    low, high = between(first, draws, error)[0], between(second, draws, error)[1]
    return log((low - delta) / high) if low > delta else -inf


def delta_shown(first: int, second: int, draws: int, error: float, epsilon: float) -> float:
    """The δ that an event proves at least, at this ε: P(E) - e^ε P'(E)."""
    return between(first, draws, error)[0] - exp(epsilon) * between(second, draws, error)[1]
