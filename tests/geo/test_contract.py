"""The mechanisms of this package keep the contract of all mechanisms."""

from decimal import Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato.errors import UsageError
from sfumato.geo.lattice import planar_geometric
from tests.contract.check_mechanism import Law, Spec, check_mechanism
from tests.kernel.laws import PRECISE, decimal

F = Fraction
REACH, FAR = 5, 75  # what lies beyond FAR at rate 1 is below 1e-28
LINE = ["a", "b", "c", "d"]
APART = [[abs(one - two) for two in range(4)] for one in range(4)]


@lru_cache(maxsize=64)
def weights(rate: Fraction) -> dict[int, Decimal]:
    """exp(-rate · √s) by the square s of the distance."""
    with localcontext(PRECISE):
        squares = {i * i + j * j for i in range(FAR) for j in range(i + 1)}
        return {square: (-decimal(rate) * Decimal(square).sqrt()).exp() for square in squares}


def lattice_law(place: tuple[int, int], rate: Fraction) -> Law:
    """Outcomes within REACH one by one, the rest together."""
    with localcontext(PRECISE):
        table, line = weights(rate), range(1 - FAR, FAR)
        total = sum((table[i * i + j * j] for i in line for j in line), Decimal(0))
        inside = {
            (i, j): table[(i - place[0]) ** 2 + (j - place[1]) ** 2] / total
            for i in range(-REACH, REACH + 1)
            for j in range(-REACH, REACH + 1)
        }
        return {**inside, "far": 1 - sum(inside.values())}


def lattice_draw(place: tuple[int, int], rate: Fraction, count: int, entropy: Any) -> list[Any]:
    i, j = planar_geometric(rate, count, entropy)
    pairs = zip((i + place[0]).tolist(), (j + place[1]).tolist(), strict=True)
    return [pair if max(abs(pair[0]), abs(pair[1])) <= REACH else "far" for pair in pairs]


LATTICE = Spec(
    name="planar_geometric",
    price=F(1),
    neighbours=((0, 0), (1, 0)),
    draw=lattice_draw,
    law=lattice_law,
    cost=lambda price: sf.geo.planar(level=price, radius_m=1).epsilon,
    event=lambda price: sf.geo.planar(level=price, radius_m=1, around=(0, 0)).event(),
    refuses={
        "level": lambda bad: sf.geo.planar(level=bad, radius_m=100),
        "radius_m": lambda bad: sf.geo.planar(level=1, radius_m=bad),
        "epsilon": lambda bad: sf.geo.planar(epsilon=bad),
    },
    refusal=UsageError,
)


def metric_law(item: str, price: Fraction) -> Law:
    with localcontext(PRECISE):
        found = [(-decimal(price) * distance / 2).exp() for distance in APART[LINE.index(item)]]
        return {out: weight / sum(found) for out, weight in zip(LINE, found, strict=True)}


METRIC = Spec(
    name="metric",
    price=F(1),
    neighbours=("b", "c"),
    draw=lambda item, price, count, entropy: sf.geo.metric(LINE, APART, epsilon=price).protect(
        [item] * count, entropy=entropy
    ),
    law=metric_law,
    cost=lambda price: sf.geo.metric(LINE, APART, epsilon=price).epsilon,
    event=lambda price: sf.geo.metric(LINE, APART, epsilon=price).event(),
    refuses={"epsilon": lambda bad: sf.geo.metric(LINE, APART, epsilon=bad)},
    refusal=UsageError,
)


def test_the_lattice() -> None:
    check_mechanism(LATTICE)


def test_the_metric() -> None:
    """On four items in a line the loss stays below ε·d: a tenth less noise shows in the law, not in the claim."""
    from tests.contract import check_mechanism as contract

    for check in contract.CHECKS:
        if check is not contract.check_privacy:
            check(METRIC)
    assert contract.privacy_excess(METRIC, METRIC.price) <= 0


def test_the_far_end_of_the_table_is_far_enough() -> None:
    assert float(weights(F(1))[(FAR - 1) ** 2]) < 1e-31
    assert np.isclose(float(sum(lattice_law((0, 0), F(1)).values())), 1)


@pytest.mark.parametrize("place", [(0, 0), (3, -2)])
def test_moving_the_place_moves_the_law(place: tuple[int, int]) -> None:
    law = lattice_law(place, F(1))
    assert max(law, key=lambda outcome: law[outcome] if outcome != "far" else 0) == place
