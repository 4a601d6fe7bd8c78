"""The contracts of private choice."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

import sfumato.noise as noise
from sfumato.errors import UsageError
from sfumato.kernel.mechanisms.choice import Choice, Exponential, PermuteAndFlip
from sfumato.kernel.mechanisms.protocol import CellCounts
from sfumato.kernel.mechanisms.ranks import RankChoice
from sfumato.noise.ranking import NoisyMax, TopK
from tests.contract.check_mechanism import Law, Spec, parameters
from tests.kernel.laws import PRECISE, exp_minus
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


# ---- quantiles: where the median's position falls, and whether many rows are counted above the last cut around it

LINE, PARTS, BIN = 64, 512, 32
CROWDED, CROWDED_MORE = ({0: 100, 63: 101}, {0: 100, 63: 102})  # few places rise where nearly all fall
MANY = 102
DISTANCES = (45, 22, 11, 5, 2, 1)


def median(price: Fraction) -> RankChoice:
    """By the exponential mechanism; what permute-and-flip does is enumerated in tests/kernel/test_ranks.py."""
    return replace(RankChoice.for_share(price, "epsilon", 1, 1, (F(1, 2),), LINE), flip=False)


def draw_medians(rows: dict[int, int], price: Fraction, count: int, entropy: Any) -> list[tuple[int, bool]]:
    mechanism = median(price)
    given = CellCounts(np.array(list(rows), dtype=np.int64), np.array(list(rows.values()), dtype=np.int64))
    drawn = (mechanism.choose(given, entropy) for _ in range(count))
    return [(position // BIN, counts[-1] >= MANY) for position, *counts in drawn]


def at_least(scale: Fraction, least: int) -> Decimal:
    """P(noise >= least) of discrete Laplace noise."""
    if least <= 0:
        return 1 - at_least(scale, 1 - least)
    return exp_minus(least / scale) / (1 + exp_minus(1 / scale))


def median_law(rows: dict[int, int], price: Fraction) -> Law:
    """Position by position, from ranks of rows put one by one: the first of a cell into its middle, and so on.

    Cuts lie at 64 / √2 / 2^k on both sides of the position's cell, in whole cells.
    """
    held = Counter(
        cell * PARTS + (int(f"{row % PARTS:09b}"[::-1], 2) + PARTS // 2) % PARTS
        for cell, count in rows.items()
        for row in range(count)
    )
    ranks = [0, *accumulate(held[part] for part in range(LINE * PARTS))]
    mechanism, wanted = median(price), F(sum(rows.values())) / 2
    slack = mechanism.widths.slack(mechanism.nodes()[0])
    seen = Counter(
        (place // BIN, max(low - wanted, wanted - max(low, high - slack), F(0)))
        for place, (low, high) in enumerate(pairwise([*ranks, ranks[-1]]))
    )
    with localcontext(PRECISE):
        weights: dict[int, Decimal] = {}
        for (where, gap), many in seen.items():
            weights[where] = weights.get(where, Decimal(0)) + many * exp_minus(mechanism.estimates[0] * gap)
        everything, found = sum(weights.values()), dict[tuple[int, bool], Decimal]()
        for where, weight in weights.items():
            cell = min(where * BIN // PARTS, LINE - 1)
            last = max(cut for distance in DISTANCES for cut in around(cell, distance))
            above = sum(count for place, count in rows.items() if place >= last)
            chance = at_least(1 / mechanism.bars, MANY - above)
            found[where, True] = weight / everything * chance
            found[where, False] = weight / everything * (1 - chance)
        return found


def around(cell: int, distance: int) -> list[int]:
    return [cut for cut in (cell + 1 - distance, cell + distance) if 0 < cut < LINE]


MEDIAN = Spec(
    name="RankChoice",
    price=F(2),
    neighbours=(CROWDED, CROWDED_MORE),
    data=dict.fromkeys(range(LINE), 3),
    draw=draw_medians,
    law=median_law,
    cost=lambda price: median(price).cost("epsilon"),
    event=lambda price: median(price).event(),
    refuses={
        "estimates": lambda bad: RankChoice((F(1, 2),), LINE, 1, 1, (bad,), ONE),
        "bars": lambda bad: RankChoice((F(1, 2),), LINE, 1, 1, (ONE,), bad),
        "levels": lambda bad: RankChoice((bad - 1,), LINE, 1, 1, (ONE,), ONE),
    },
    bad=KERNEL_BAD,
    draws=20_000,
)

CHOICES = (
    public_choice("exponential", noise.exponential, Exponential),
    public_choice("permute_and_flip", noise.permute_and_flip, PermuteAndFlip, erring=True),
    public_choice("noisy_max", noise.noisy_max, NoisyMax, erring=True),
    TOP_K,
    kernel_choice(Exponential),
    kernel_choice(PermuteAndFlip),
    MEDIAN,
)
