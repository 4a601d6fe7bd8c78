"""Audits of other people's mechanisms: right ones pass, wrong ones are flagged, bad input is named."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato.audit.outcomes import Failure, best
from sfumato.errors import UsageError

RNG = np.random.default_rng(20)  # these are other people's mechanisms, not ours


def laplace(scale: float) -> Callable[[float, int], Any]:
    return lambda x, count: x + RNG.laplace(0, scale, count)


@pytest.mark.parametrize(
    "draw",
    [
        lambda x, count: np.round(laplace(1.0)(x, count) * 1024) / 1024,  # as doubles they would not be private
        lambda x, count: np.round(laplace(1.0)(x, count)),
        lambda x, count: np.clip(np.round(laplace(1.0)(x, count) * 8) / 8, 0, 1),
        lambda x, count: [f"{value:.0f}" for value in laplace(1.0)(x, count)],
    ],
    ids=["laplace", "rounded", "clamped", "as text"],
)
def test_a_right_mechanism_passes(draw: Callable[[float, int], Any]) -> None:
    finding = sf.audit.mechanism(draw, claimed_epsilon=1, many=True)
    assert not finding.violated
    assert 0.8 < finding.measured <= 1.02


@pytest.mark.parametrize(
    ("draw", "at_least"),
    [
        (laplace(0.5), 1.8),
        (laplace(0.9), 1.05),
        (lambda x, count: x + RNG.normal(0, 1, count), 1.5),
        (lambda x, count: x + RNG.uniform(-10, 10, count), 3.0),
        (lambda x, count: np.full(count, x), 6.0),
        (lambda x, count: x - RNG.choice([-1.0, 1.0], count) * np.log(RNG.random(count) + 2.0**-54), 4.0),
        (lambda x, count: [(RNG.laplace() + x, RNG.laplace() + x) for _ in range(count)], 1.3),
        (lambda x, count: ["yes" if x or RNG.random() < 0.1 else "no" for _ in range(count)], 1.5),
        (lambda x, count: np.where(RNG.random(count) < 0.01, np.nan if x else 0.0, RNG.laplace(size=count)), 2.0),
    ],
    ids=["half", "nine tenths", "gauss", "uniform", "none", "doubles", "spent twice", "one-sided", "nan"],
)
def test_a_wrong_mechanism_is_flagged(draw: Callable[[float, int], Any], at_least: float) -> None:
    finding = sf.audit.mechanism(draw, claimed_epsilon=1, many=True, draws=60_000)
    assert finding.violated
    assert finding.measured > at_least
    assert finding.verdict == "VIOLATED"
    assert "VIOLATED" in str(finding)


def test_outputs_of_numbers_and_texts_are_looked_at() -> None:
    def leaky(x: int, count: int) -> Any:
        return [(place % 3, "yes" if x or RNG.random() < 0.1 else "no") for place in range(count)]

    finding = sf.audit.mechanism(leaky, claimed_epsilon=1, many=True, draws=5_000)
    assert finding.violated
    assert "no" in finding.detail


def test_a_failure_on_one_side_is_an_event() -> None:
    def fails_on_one(x: int) -> float:
        if x and RNG.random() < 0.05:
            raise ZeroDivisionError
        return float(RNG.laplace())

    finding = sf.audit.mechanism(fails_on_one, claimed_epsilon=1, draws=5_000)
    assert finding.violated
    assert finding.name == "fails_on_one"


def test_delta_is_forgiven() -> None:
    def leaky(x: int, count: int) -> Any:
        return np.where(RNG.random(count) < 0.01, x, RNG.integers(0, 2, count))

    assert not sf.audit.mechanism(leaky, claimed_epsilon=0.1, claimed_delta=0.02, many=True).violated


def test_the_event_is_chosen_on_other_draws_than_it_is_counted_on() -> None:
    """Without any difference between the sides, a million-to-one bound is never reached: 40 audits, none flagged."""
    for turn in range(40):
        finding = sf.audit.mechanism(
            lambda x, count: RNG.integers(0, 200, count), claimed_epsilon=0.05, many=True, draws=2_000, name=str(turn)
        )
        assert not finding.violated


def test_best_needs_something_to_count() -> None:
    with pytest.raises(ValueError, match="nothing to count"):
        best([], [], 100, 0.0)
    event, _ = best([Failure("KeyError")] * 50, ["a"] * 50, 1000, 0.0)
    assert event.holds([Failure("KeyError"), "a"]).sum() == 1


@pytest.mark.parametrize(
    "given",
    [
        {"claimed_epsilon": 0},
        {"claimed_epsilon": float("nan")},
        {"claimed_epsilon": True},
        {"claimed_epsilon": 1, "claimed_delta": 1},
        {"claimed_epsilon": 1, "draws": 10},
        {"claimed_epsilon": 1, "neighbours": (1,)},
    ],
)
def test_bad_input_is_named(given: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        sf.audit.mechanism(lambda x: x, **given)


def test_a_mechanism_that_never_works_and_one_that_gives_too_few_are_named() -> None:
    with pytest.raises(UsageError, match="always raises"):
        sf.audit.mechanism(lambda x: 1 / 0, claimed_epsilon=1, draws=1_000)
    with pytest.raises(UsageError, match="gave 1 outputs"):
        sf.audit.mechanism(lambda x, count: [x], claimed_epsilon=1, many=True)
