"""What the bits and the time of an output tell."""

import gc
from collections.abc import Callable
from fractions import Fraction
from time import perf_counter_ns
from typing import Any

import numpy as np

import sfumato.noise as noise
from sfumato.audit.evidence import FALSE_ALARM, epsilon_shown, rank_correlation
from sfumato.audit.findings import Finding
from sfumato.kernel import samplers
from sfumato.kernel.entropy import SystemEntropy

POWERS = range(-80, 1)
TIMED = 40_000
LIMIT = 0.03  # six deviations of the rank correlation of so many independent pairs
BIT_DRAWS = 50_000


def precision(name: str, draw: Callable[[float, int], Any], epsilon: float, delta: float = 0.0) -> Finding:
    """Whether an output is a multiple of 2^t, t from -80 to 0, must not tell x = 0 from x = 1."""
    sides = [np.asarray(draw(x, BIT_DRAWS), dtype=np.float64) for x in (0.0, 1.0)]
    counts = [[int((scaled != np.floor(scaled)).sum()) for scaled in _scaled(side)] for side in sides]
    found = [(-np.inf, -np.inf, 0)]
    for power, a, b in zip(POWERS, *counts, strict=True):
        for p, q in ((a, b), (b, a), (BIT_DRAWS - a, BIT_DRAWS - b), (BIT_DRAWS - b, BIT_DRAWS - a)):
            shown, proved = (
                epsilon_shown(p, q, BIT_DRAWS, error / (8 * len(POWERS)), delta) for error in (0.05, FALSE_ALARM)
            )
            found.append((proved, shown, power))
    proved, shown, power = max(found)
    return Finding(
        name, "precision", epsilon, max(0.0, shown), proved > epsilon, f"multiples of 2^{power}", BIT_DRAWS, delta
    )


def timing(name: str, draw: Callable[[], Any]) -> Finding:
    """The rank correlation of the time of a draw and the size of what was drawn."""
    times, sizes = np.zeros(TIMED), np.zeros(TIMED)
    gc.collect()
    gc.disable()
    try:
        for turn in range(-1000, TIMED):
            before = perf_counter_ns()
            value = draw()
            after = perf_counter_ns()
            if turn >= 0:
                # Unpacked after the clock has stopped: Python keeps small integers ready, and makes others.
                times[turn], sizes[turn] = after - before, abs(int(np.ravel(value)[0]))
    finally:
        gc.enable()
    correlation = abs(rank_correlation(times, sizes))
    detail = f"|Spearman(time, |noise|)| = {correlation:.4f}, allowed {LIMIT}"
    return Finding(name, "time", LIMIT, correlation, correlation > LIMIT, detail, TIMED)


def every_channel() -> list[Callable[[], Finding]]:
    entropy = SystemEntropy()
    scale, variance = Fraction(1000), Fraction(10**6)
    return [
        lambda: precision("laplace", lambda x, count: noise.laplace(np.full(count, x), sensitivity=1, epsilon=1), 1.0),
        lambda: precision(
            "gaussian",
            lambda x, count: noise.gaussian(np.full(count, x), sensitivity=1, epsilon=1, delta=1e-6),
            1.0,
            1e-6,
        ),
        lambda: timing("discrete Laplace", lambda: samplers.discrete_laplace(scale, 1, entropy)),
        lambda: timing("discrete Gaussian", lambda: samplers.discrete_gaussian(variance, 1, entropy)),
    ]


def _scaled(values: np.ndarray[Any, Any]) -> list[np.ndarray[Any, Any]]:
    return [np.ldexp(values, -power) for power in POWERS]
