"""Shuffling: the bound holds for randomised response, computed exactly, and has the size that is known."""

from fractions import Fraction
from itertools import product
from math import comb, exp

import numpy as np
import pytest

import sfumato as sf
from sfumato.errors import UsageError
from sfumato.local.shuffle import _Clones, _log_binomial  # the parts that are compared


def exact_delta(users: int, local: float, epsilon: float) -> float:
    """δ of the number of ones among shuffled answers of randomised response, all others holding 0: every case added."""
    keep = exp(local) / (1 + exp(local))
    others = users - 1
    rest = [comb(others, k) * (1 - keep) ** k * keep ** (others - k) for k in range(others + 1)]

    def law(own: float) -> list[float]:
        result = [0.0] * (users + 1)
        for k, mass in enumerate(rest):
            result[k] += mass * (1 - own)
            result[k + 1] += mass * own
        return result

    first, second = law(keep), law(1 - keep)
    return max(
        sum(max(0.0, p - exp(epsilon) * q) for p, q in zip(a, b, strict=True))
        for a, b in ((first, second), (second, first))
    )


@pytest.mark.parametrize(("users", "local"), list(product([20, 200, 1000], [0.5, 1.0, 2.0])))
def test_the_bound_dominates_randomised_response(users: int, local: float) -> None:
    clones = _Clones(local, users)
    for epsilon in (0.0, 0.05, 0.2, 0.4):
        assert exact_delta(users, local, epsilon) <= clones.delta(epsilon)


def test_a_bound_that_forgets_the_clones_would_be_seen() -> None:
    """Ten times as many users hide more: their bound does not hold for these."""
    assert exact_delta(20, 1.0, 0.2) > _Clones(1.0, 2000).delta(0.2)


@pytest.mark.parametrize(("local", "expected"), [(1, 0.023), (2, 0.067), (4, 0.25)])
def test_known_sizes(local: float, expected: float) -> None:
    assert sf.local.shuffled(local, users=48_842, delta=1e-6) == pytest.approx(expected, rel=0.03)


def test_where_shuffling_adds_nothing_the_price_of_one_report_is_not_rounded_down() -> None:
    for price in (Fraction(2, 3), Fraction(1, 10), Fraction(20, 7), Fraction(31, 11)):
        assert Fraction(repr(sf.local.shuffled(price, users=2, delta=1e-30))) >= price


def test_more_users_hide_more() -> None:
    found = [sf.local.shuffled(1, users=users, delta=1e-6) for users in (1000, 10_000, 100_000)]
    assert found == sorted(found, reverse=True)
    assert sf.local.shuffled(1, users=1000, delta=1e-3) < found[0] < 1


def test_the_blocks_cost_little() -> None:
    """Every number of clones on its own, at a size where that is possible."""
    users, local = 2000, 1.0
    one = _Clones(local, users)
    share = exp(-local)
    every = np.arange(users, dtype=np.float64)
    masses = np.exp(_log_binomial(users - 1, every) + every * np.log(share) + (users - 1 - every) * np.log1p(-share))
    assert masses.sum() == pytest.approx(1)
    assert one.delta(0.1) > 0
    assert one.delta(0.1) < _Clones(local, int(users * 0.97)).delta(0.1)


def test_what_is_refused() -> None:
    assert sf.local.shuffled(4, users=2, delta=1e-9) == pytest.approx(4), "a report alone promises that much"
    for bad in (
        {"users": 1, "delta": 0.1},
        {"users": 10, "delta": 1},
        {"users": 10, "delta": 0},
        {"users": 2.5, "delta": 0.1},
    ):
        with pytest.raises(UsageError):
            sf.local.shuffled(1, **bad)
    with pytest.raises(UsageError):
        sf.local.shuffled(0, users=10, delta=0.1)
