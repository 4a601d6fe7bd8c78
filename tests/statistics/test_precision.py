"""N1, the precision attack: whether an output is a multiple of 2^t must not tell x = 0 from x = Δ."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from sfumato.noise import describe, gaussian, laplace
from tests.statistics.evidence import ERROR, delta_shown, epsilon_shown, source

DRAWS = 50_000
POWERS = range(-80, 1)
EVENTS = 4 * len(POWERS)  # two directions, an event and its complement


def not_multiples(values: np.ndarray[Any, Any]) -> list[int]:
    """For every t the number of values that are not whole multiples of 2^t."""
    found = []
    for power in POWERS:
        scaled = np.ldexp(values, -power)
        found.append(int((scaled != np.floor(scaled)).sum()))
    return found


def worst_epsilon(first: np.ndarray[Any, Any], second: np.ndarray[Any, Any]) -> float:
    draws, error, found = len(first), ERROR / EVENTS, []
    for a, b in zip(not_multiples(first), not_multiples(second), strict=True):
        for p, q in ((a, b), (b, a), (draws - a, draws - b), (draws - b, draws - a)):
            found.append(epsilon_shown(p, q, draws, error))
    return max(found)


def worst_delta(first: np.ndarray[Any, Any], second: np.ndarray[Any, Any], epsilon: float) -> float:
    draws, error, found = len(first), ERROR / EVENTS, []
    for a, b in zip(not_multiples(first), not_multiples(second), strict=True):
        for p, q in ((a, b), (b, a), (draws - a, draws - b), (draws - b, draws - a)):
            found.append(delta_shown(p, q, draws, error, epsilon))
    return max(found)


def on_grid(values: np.ndarray[Any, Any], step: Fraction) -> bool:
    return all((Fraction(float(value)) / step).denominator == 1 for value in values)


SENSITIVITIES = [1, 0.1, 3.7, 1e-9, 2.0**40]


@pytest.mark.parametrize("sensitivity", SENSITIVITIES)
def test_laplace(sensitivity: float) -> None:
    # As an array: each entry is one draw, and the grid depends on the number of entries alone.
    sides = [
        laplace(np.full(DRAWS, x), sensitivity=sensitivity, epsilon=1, entropy=source(f"N1 laplace {sensitivity} {x}"))
        for x in (0.0, sensitivity)
    ]
    assert worst_epsilon(*sides) <= 1
    step = describe("laplace", sensitivity=sensitivity, epsilon=1, entries=DRAWS).step
    for side in sides:
        assert on_grid(side[:5000], step)
        assert len(np.unique(side)) > 0.9 * DRAWS


@pytest.mark.parametrize("sensitivity", SENSITIVITIES)
def test_gaussian(sensitivity: float) -> None:
    sides = [
        gaussian(
            np.full(DRAWS, x),
            sensitivity=sensitivity,
            epsilon=1,
            delta=1e-6,
            entropy=source(f"N1 gaussian {sensitivity} {x}"),
        )
        for x in (0.0, sensitivity)
    ]
    assert worst_delta(*sides, epsilon=1.0) <= 1e-6
    step = describe("gaussian", sensitivity=sensitivity, epsilon=1, delta=1e-6, entries=DRAWS).step
    assert all(on_grid(side[:5000], step) for side in sides)


@pytest.mark.parametrize("mechanism", ["laplace", "gaussian"])
def test_one_number_at_a_time(mechanism: str) -> None:
    """The grid of a single number is another, and its values need not lie on the grid themselves."""
    price = {"epsilon": 1} if mechanism == "laplace" else {"epsilon": 1, "delta": 1e-6}
    call, draws = {"laplace": laplace, "gaussian": gaussian}[mechanism], 5_000
    for x in (0.1, 1.1):
        entropy = source(f"N1 single {mechanism} {x}")
        values = np.array([call(x, sensitivity=1, entropy=entropy, **price) for _ in range(draws)])
        assert on_grid(values, describe(mechanism, sensitivity=1, **price).step)


def test_noise_in_doubles_is_caught() -> None:
    """The twin: x + Laplace in floating point. Around 0 doubles are dense, around 1 they are not."""
    sides = []
    for x in (0.0, 1.0):
        words = source(f"N1 twin {x}").words(2 * DRAWS)
        uniform = (words[:DRAWS] >> np.uint64(11)).astype(np.float64) * 2.0**-53 + 2.0**-54
        sign = np.where(words[DRAWS:] & np.uint64(1), 1.0, -1.0)
        sides.append(x - sign * np.log(uniform))
    assert worst_epsilon(*sides) > 5
