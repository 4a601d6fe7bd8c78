"""N7, time and work: neither may tell how large the noise was.

Under the claim each draw's time is independent of its value, so the rank correlation of n draws has the deviation
1/√n whatever else the machine does: load widens the times and not the correlation. With 40,000 draws the limit of
0.03 lies at six deviations.
"""

import gc
from collections.abc import Callable
from fractions import Fraction
from time import perf_counter_ns
from typing import Any

import numpy as np
import pytest
from scipy import stats

from sfumato.audit import exact
from sfumato.kernel import samplers
from sfumato.kernel.entropy import SystemEntropy
from tests.entropy import SeededEntropy

DRAWS = 40_000
LIMIT = 0.03
Draw = Callable[[], Any]


def correlations(*samplers: Draw) -> list[float]:
    """Spearman's correlation of time and |value|, one draw of each sampler in turn."""
    times = np.zeros((len(samplers), DRAWS))
    sizes = np.zeros((len(samplers), DRAWS))
    gc.collect()
    gc.disable()
    try:
        for draw in range(-1000, DRAWS):
            for which, sampler in enumerate(samplers):
                before = perf_counter_ns()
                value = sampler()
                after = perf_counter_ns()
                if draw >= 0:
                    # Unpacked after the clock has stopped: Python keeps small integers ready, and makes others.
                    times[which, draw], sizes[which, draw] = after - before, abs(int(np.ravel(value)[0]))
    finally:
        gc.enable()
    return [float(stats.spearmanr(t, s).statistic) for t, s in zip(times, sizes, strict=True)]


@pytest.mark.exhaustive  # the auditor times a sampler, too: tests/audit/test_runs.py
def test_time_does_not_follow_the_noise() -> None:
    entropy = SystemEntropy()
    scale, variance, large = Fraction(1000), Fraction(10**6), Fraction(1 << 40)
    found = correlations(
        lambda: samplers.discrete_laplace(scale, 1, entropy),
        lambda: samplers.discrete_laplace(large, 1, entropy),
        lambda: samplers.discrete_gaussian(variance, 1, entropy),
    )
    assert max(map(abs, found)) <= LIMIT, found


@pytest.mark.slow
def test_the_looping_sampler_is_caught() -> None:
    """The twin: audit.exact draws the same law in a time that grows with the value."""
    entropy = SystemEntropy()
    scale = Fraction(20)
    assert correlations(lambda: exact.discrete_laplace(scale, entropy))[0] > 3 * LIMIT


def test_work_does_not_follow_the_noise() -> None:
    """Counted instead of timed: words read a draw, for many draws of every size."""
    entropy = SeededEntropy("work")
    for scale, words in ((Fraction(1, 2), 1), (Fraction(1000), 1), (Fraction(1 << 30), 2), (Fraction(1 << 60), 6)):
        for _ in range(2_000):
            before = entropy.words_read
            samplers.discrete_laplace(scale, 1, entropy)
            assert entropy.words_read - before == words


def test_rounds_of_rejection_do_not_follow_the_noise() -> None:
    """How many candidates the Gaussian needs is independent of the value it accepts."""
    entropy, rounds, sizes = SeededEntropy("rounds"), [], []
    with pytest.MonkeyPatch.context() as patch:
        # One candidate at a time, so that rejections are frequent.
        patch.setattr(samplers, "CHUNK", 1)
        for _ in range(DRAWS // 2):
            before = entropy.words_read
            sizes.append(abs(int(samplers.discrete_gaussian(Fraction(10**6), 1, entropy)[0])))
            rounds.append(entropy.words_read - before)
    assert len(set(rounds)) > 3
    assert abs(float(stats.spearmanr(rounds, sizes).statistic)) <= LIMIT


def test_the_looping_sampler_works_more_for_larger_noise() -> None:
    """The twin of the two tests above."""
    entropy, calls, sizes = SeededEntropy("loops"), [], []
    for _ in range(5_000):
        before = entropy.extensions
        sizes.append(abs(exact.discrete_laplace(Fraction(20), entropy)))
        calls.append(entropy.extensions - before)
    assert float(stats.spearmanr(calls, sizes).statistic) > 3 * LIMIT


def test_the_slow_path_is_rare() -> None:
    """The one part whose time does depend on the draw: U below 2^-18, or within the margin of a border."""
    slow = 0

    def decide(*arguments: object, **options: object) -> int:
        nonlocal slow
        slow += 1
        return 0

    draws = 4_000_000
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(samplers, "geometric_cell", decide)
        samplers.discrete_laplace(Fraction(1000), draws, SeededEntropy("rare"))
    # 2^-18 is 15.3 in four million.
    assert slow < 15.3 + 6 * 15.3**0.5
