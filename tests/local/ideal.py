"""Ideal callees for the exact law of a local client: coins and uniform numbers that a tape decides."""

from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from sfumato.local import attributes, hashing, numbers, rappor, response, subset, unary
from sfumato.noise.coins import Odds, Ratio
from tests.entropy import ChoiceTape, every_choice
from tests.kernel.laws import PRECISE, decimal, exp_minus

QUARTERS = 4


def probability(one: Any) -> Any:
    if isinstance(one, Ratio):
        return one.probability
    assert isinstance(one, Odds)
    with localcontext(PRECISE):
        return 1 / (1 + decimal(one.weight) * exp_minus(one.gamma))


class Tape:
    """A tape that also serves words: the upper bits of each are one of four equally likely quarters."""

    def __init__(self, tape: ChoiceTape, bits: int) -> None:
        self._tape, self.bits = tape, bits
        self.below, self.coin = tape.below, tape.coin

    def words(self, count: int) -> np.ndarray[Any, np.dtype[np.uint64]]:
        return np.array([self._tape.below(QUARTERS) << 62 for _ in range(count)], dtype=np.uint64)


def ideal_coins(one: Any, count: int, tape: Tape) -> np.ndarray[Any, Any]:
    return np.array([tape.coin(probability(one)) for _ in range(count)], dtype=np.bool_)


def ideal_packed(one: Any, count: int, tape: Tape) -> np.ndarray[Any, Any]:
    """One word; only as many of its coins as the test looks at."""
    assert count == 1
    chance_of_one, word = probability(one), 0
    for bit in range(tape.bits):
        word |= int(tape.coin(chance_of_one)) << bit
    return np.array([word], dtype=np.uint64)


def ideal_below(bound: int, count: int, tape: Tape) -> np.ndarray[Any, Any]:
    return np.array([tape.below(bound) for _ in range(count)], dtype=np.int64)


MODULES = (attributes, hashing, numbers, rappor, response, subset, unary)


def use_ideal_callees(monkeypatch: pytest.MonkeyPatch, *more: Any) -> None:
    for module in (*MODULES, *more):
        for name, ideal in (("coins", ideal_coins), ("packed_coins", ideal_packed), ("below", ideal_below)):
            if hasattr(module, name):
                monkeypatch.setattr(module, name, ideal)


def exact_law(draw: Callable[[Tape], Any], bits: int = 0) -> dict[Any, Decimal]:
    """The probability of every report, all choices followed to their end."""
    with localcontext(PRECISE):
        masses, left = every_choice(lambda tape: draw(Tape(tape, bits)), undecided=1e-45)
        assert abs(left) < Decimal(10) ** -40
        return {key: decimal(mass) if isinstance(mass, Fraction | int) else mass for key, mass in masses.items()}


def loss(laws: list[dict[Any, Decimal]]) -> Decimal:
    """The largest log-ratio of two laws anywhere; infinite where one of them is impossible."""
    worst = Decimal(0)
    with localcontext(PRECISE):
        for first in laws:
            for second in laws:
                if first.keys() != second.keys():
                    return Decimal("inf")
                worst = max(worst, *((first[key] / second[key]).ln() for key in first))
    return worst
