"""OpenDP #2911: a noisy max drew by permute-and-flip and was charged as the exponential mechanism: a quarter of it.

Rule: audit every mechanism, not only its proof. Here the exact law of each choice is held against what it charges for.
"""

from fractions import Fraction
from functools import cache
from itertools import product
from math import exp
from typing import Any

import numpy as np
import pytest

from sfumato.kernel.mechanisms.choice import Choice, Exponential, PermuteAndFlip
from tests.entropy import SeededEntropy
from tests.kernel.laws import chi_square

ORDERS = (1.05, 1.5, 2, 3, 8, 40)
ROUNDING = 1e-9
Law = list[float]


@cache
def exponential_law(rate: float, scores: tuple[int, ...]) -> Law:
    weights = [exp(rate * (score - max(scores))) for score in scores]
    return [weight / sum(weights) for weight in weights]


@cache
def permute_and_flip_law(rate: float, scores: tuple[int, ...]) -> Law:
    """∫ w_i Π_{j≠i} (1 - t w_j) dt over [0, 1]: candidate i succeeds, and nobody who comes before it does."""
    weights = [exp(rate * (score - max(scores))) for score in scores]
    law = []
    for i, weight in enumerate(weights):
        product_of_others = np.poly1d([1.0])
        for other in weights[:i] + weights[i + 1 :]:
            product_of_others *= np.poly1d([-other, 1.0])
        law.append(weight * float(product_of_others.integ()(1.0)))
    return law


LAWS = {Exponential: exponential_law, PermuteAndFlip: permute_and_flip_law}


def neighbours(monotone: bool) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """All pairs of small score vectors that one person's data may turn into each other, at sensitivity 1."""
    pairs = []
    for size in (2, 3):
        for scores in product(range(3), repeat=size):
            for change in product((-1, 0, 1), repeat=size):
                if not monotone or min(change) >= 0 or max(change) <= 0:
                    pairs.append((scores, tuple(a + b for a, b in zip(scores, change, strict=True))))  # noqa: PERF401
    return pairs


def worst_loss(law: Any, rate: float, monotone: bool) -> tuple[float, float]:
    """The largest log-ratio, and the largest Rényi divergence per order, over all neighbours."""
    epsilon = rho = 0.0
    for left, right in neighbours(monotone):
        p, q = np.array(law(rate, left)), np.array(law(rate, right))
        losses = np.log(p / q)
        epsilon = max(epsilon, float(losses.max()))
        divergences = np.log((q * np.exp(np.outer(ORDERS, losses))).sum(axis=1)) / (np.array(ORDERS) - 1)
        rho = max(rho, float((divergences / ORDERS).max()))
    return epsilon, rho


@pytest.mark.parametrize("monotone", [False, True], ids=["any", "monotone"])
@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(4)], ids=str)
@pytest.mark.parametrize("mechanism", LAWS, ids=lambda mechanism: mechanism.__name__)
def test_no_choice_spends_more_than_it_is_charged_for(mechanism: Any, epsilon: Fraction, monotone: bool) -> None:
    choice: Choice = mechanism(epsilon, Fraction(1), monotone)
    spent, rho = worst_loss(LAWS[mechanism], float(choice.rate), monotone)
    assert spent <= float(choice.epsilon) + ROUNDING
    assert rho <= float(choice.rho()) + ROUNDING


def test_permute_and_flip_at_the_price_of_the_exponential_mechanism_is_flagged() -> None:
    choice = PermuteAndFlip(Fraction(1), Fraction(1))
    _, rho = worst_loss(permute_and_flip_law, float(choice.rate), monotone=False)
    assert rho > float(Exponential(Fraction(1), Fraction(1)).rho())


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", LAWS, ids=lambda mechanism: mechanism.__name__)
def test_a_choice_draws_by_the_law_it_is_charged_for(mechanism: Any) -> None:
    """20,000 draws, false alarms below 1e-6; the other mechanism's law must not fit."""
    choice = mechanism(Fraction(2), Fraction(1))
    scores, entropy = np.array([0, 1, 2]), SeededEntropy("museum")
    draws = np.bincount([choice.draw(scores, entropy) for _ in range(20_000)], minlength=3)
    fit = {law: chi_square(draws, of(float(choice.rate), (0, 1, 2))) for law, of in LAWS.items()}
    assert fit.pop(mechanism) > 1e-6
    assert max(fit.values()) < 1e-6
