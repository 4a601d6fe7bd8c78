"""The contracts of mechanisms of a whole measure: one unit moves several groups, by a length that is no integer."""

from collections.abc import Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from sfumato.kernel.mechanisms.additive import Additive, DiscreteGaussian
from sfumato.kernel.mechanisms.choice import Exponential, FrequencyChoice
from sfumato.kernel.mechanisms.protocol import CellCounts
from tests.contract.check_mechanism import Law, Spec
from tests.contract.numbers import gaussian_at
from tests.kernel.laws import PRECISE
from tests.kernel.test_choice import law as choice_law

F = Fraction
ONE = F(1)
REACH = 16
Pair = tuple[Any, Any]


def both(laws: Sequence[Any]) -> Law:
    """Groups are drawn independently."""
    with localcontext(PRECISE):
        one, two = laws
        return {(a, b): p * q for (a, p), (b, q) in product(one.items(), two.items())}


def numbers(price: Fraction) -> Additive:
    """One unit has two rows in one group and one in another: 3 in L1 norm, √5 in L2."""
    return Additive.for_share(price, "rho", 3, 5)


def draw_numbers(values: Pair, price: Fraction, count: int, entropy: Any) -> list[Any]:
    drawn = np.clip(numbers(price).draw(list(values) * count, entropy), -REACH, REACH)
    return [tuple(pair) for pair in drawn.reshape(count, 2).tolist()]


ADDITIVE = Spec(
    name="Additive",
    price=F(1, 4),
    neighbours=((0, 0), (2, 1)),
    draw=draw_numbers,
    law=lambda values, price: both([gaussian_at(5 / (2 * price), value, REACH) for value in values]),
    cost=lambda price: numbers(price).cost("rho"),
    event=lambda price: numbers(price).event(),
    refuses={"variance": lambda bad: Additive(DiscreteGaussian(bad), 1, 1)},
    bad=(F(0), F(-1)),
    currency="rho",
)


def choice(price: Fraction) -> FrequencyChoice:
    """One unit has a row in each of two groups."""
    return FrequencyChoice.for_share(price, "rho", 2, 2, 2)


def counted(counts: Sequence[int]) -> CellCounts:
    dense = np.array(counts, dtype=np.int64)
    return CellCounts(np.flatnonzero(dense), dense[np.flatnonzero(dense)])


def draw_choices(groups: Pair, price: Fraction, count: int, entropy: Any) -> list[Any]:
    drawn = np.array(choice(price).draw([counted(group) for group in groups] * count, entropy))
    return [tuple(pair) for pair in drawn.reshape(count, 2).tolist()]


def choices_law(groups: Pair, price: Fraction) -> Law:
    laws: list[list[Decimal]] = [choice_law(choice(price).law, group) for group in groups]
    return both([dict(enumerate(chances)) for chances in laws])


FREQUENCY = Spec(
    name="FrequencyChoice",
    price=F(1, 16),  # half an ε a row, exactly
    neighbours=(((3, 3), (3, 3)), ((4, 3), (3, 4))),
    data=((6, 1), (0, 4)),
    draw=draw_choices,
    law=choices_law,
    cost=lambda price: choice(price).cost("rho"),
    event=lambda price: choice(price).event(),
    refuses={"epsilon": lambda bad: FrequencyChoice(Exponential(bad, ONE, True), 1, 1, 2)},
    bad=(F(0), F(-1)),
    currency="rho",
    draws=24_000,
)

GROUPS = (ADDITIVE, FREQUENCY)
