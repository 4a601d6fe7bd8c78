"""The contracts of private choice."""

from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

import sfumato.noise as noise
from sfumato.errors import UsageError
from sfumato.kernel.choice import Choice, Exponential, PermuteAndFlip
from sfumato.noise.ranking import NoisyMax, TopK
from tests.contract.check_mechanism import Law, Spec, parameters
from tests.kernel.test_choice import law as choice_law
from tests.noise.test_ranking import list_law

F = Fraction
ONE = F(1)
KERNEL_BAD = (F(0), F(-1))
FEW = 12_000  # one outcome a call; the laws are enumerated elsewhere too
NAMES = ["a", "b", "c", "d"]
SCORES = [0, 2, 1]
FAR = ([0, 4, 2], [1, 3, 1])  # a change that loses (nearly) all of ε


def law_of(kind: type[Choice], scores: Sequence[int], price: Fraction) -> Law:
    chances: list[Decimal] = choice_law(kind(price, ONE), scores)
    return dict(zip(NAMES, chances, strict=False))


def gap(name: str) -> int:
    """How far below the best of SCORES a choice lies."""
    return max(SCORES) - SCORES[NAMES.index(name)]


def public_choice(name: str, call: Callable[..., str], kind: type[Choice], *, erring: bool = False) -> Spec:
    def draw(scores: list[int], price: Fraction, count: int, entropy: Any) -> list[str]:
        names = NAMES[: len(scores)]
        return [call(names, scores, sensitivity=1, epsilon=price, entropy=entropy) for _ in range(count)]

    return Spec(
        name=name,
        price=F(2),
        neighbours=FAR,
        data=SCORES,
        draw=draw,
        law=lambda scores, price: law_of(kind, scores, price),
        cost=lambda price: kind(price, ONE).epsilon,
        event=lambda price: kind(price, ONE).event(),
        refuses=parameters(call, NAMES[:3], SCORES, sensitivity=1, epsilon=1),
        refusal=UsageError,
        errors=(lambda price, count, entropy: [gap(one) for one in draw(SCORES, price, count // 4, entropy)])
        if erring
        else None,
        error=(lambda confidence, price: NoisyMax(price, ONE).error(confidence, 3)) if erring else None,
        draws=FEW,
    )


def kernel_choice(kind: type[Exponential] | type[PermuteAndFlip]) -> Spec:
    def draw(scores: list[int], price: Fraction, count: int, entropy: Any) -> list[str]:
        array, choice = np.array(scores), kind(price, ONE)
        return [NAMES[choice.draw(array, entropy)] for _ in range(count)]

    return Spec(
        name=kind.__name__,
        price=F(2),
        neighbours=FAR,
        data=SCORES,
        draw=draw,
        law=lambda scores, price: law_of(kind, scores, price),
        cost=lambda price: kind(price, ONE).epsilon,
        event=lambda price: kind(price, ONE).event(),
        refuses={"epsilon": lambda bad: kind(bad, ONE), "sensitivity": lambda bad: kind(ONE, bad)},
        bad=KERNEL_BAD,
        draws=30_000,
    )


def draw_lists(scores: list[int], price: Fraction, count: int, entropy: Any) -> list[tuple[int, ...]]:
    return [
        tuple(noise.top_k(range(len(scores)), scores, 2, sensitivity=1, epsilon=price, entropy=entropy))
        for _ in range(count)
    ]


def worst_gap(order: tuple[int, ...]) -> int:
    left, gaps = set(range(4)), []
    for pick in order:
        gaps.append(max(LIST_SCORES[i] for i in left) - LIST_SCORES[pick])
        left.remove(pick)
    return max(gaps)


LIST_SCORES = [0, 3, 5, 6]
TOP_K = Spec(
    name="top_k",
    price=F(2),
    neighbours=([0, 0, 8, 8], [1, 1, 7, 7]),
    data=LIST_SCORES,
    draw=draw_lists,
    law=lambda scores, price: list_law(TopK(price, ONE, 2), scores),
    cost=lambda price: TopK(price, ONE, 2).epsilon,
    event=lambda price: TopK(price, ONE, 2).event(),
    refuses=parameters(noise.top_k, NAMES, [1, 2, 3, 4], k=2, sensitivity=1, epsilon=1),
    refusal=UsageError,
    errors=lambda price, count, entropy: [
        worst_gap(order) for order in draw_lists(LIST_SCORES, price, count // 4, entropy)
    ],
    error=lambda confidence, price: TopK(price, ONE, 2).error(confidence, 4),
    draws=FEW,
)

CHOICES = (
    public_choice("exponential", noise.exponential, Exponential),
    public_choice("permute_and_flip", noise.permute_and_flip, PermuteAndFlip, erring=True),
    public_choice("noisy_max", noise.noisy_max, NoisyMax, erring=True),
    TOP_K,
    kernel_choice(Exponential),
    kernel_choice(PermuteAndFlip),
)
