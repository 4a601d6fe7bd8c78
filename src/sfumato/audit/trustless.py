"""The mechanisms that need no server, as an auditor sees them: every local protocol, and noise on places."""

from collections.abc import Hashable
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

import sfumato.geo as geo
import sfumato.local as local
from sfumato.audit.laws import Law
from sfumato.audit.shelf import Subject
from sfumato.geo.lattice import planar_geometric
from sfumato.kernel.entropy import Entropy

LEVEL = Fraction(2)
DRAWS = 100_000
REACH, FAR = 5, 75  # what lies beyond FAR at rate 1 is below 1e-28
LINE = ["a", "b", "c", "d"]
APART = [[abs(one - two) for two in range(4)] for one in range(4)]
FREQUENCIES = ("grr", "sue", "oue", "olh", "hadamard", "subset")
MEANS = ("duchi", "piecewise", "hybrid", "laplace")


def _protocol(name: str, price: Fraction) -> Any:
    if name in MEANS:
        return local.mean(name, lower=0, upper=1, epsilon=price)
    return local.protocol(name, domain=range(2 if name == "rr" else 3), epsilon=price)


def _reports(name: str, value: int, count: int, price: Fraction, entropy: Entropy) -> list[Any]:
    """Reports, coarse enough to be counted; the value of a number is an end of its range."""
    protocol = _protocol(name, price)
    drawn = protocol.randomise(np.full(count, value), entropy=entropy)
    match name:
        case "piecewise" | "hybrid":
            kind = drawn.columns[0] if name == "hybrid" else np.ones(count, dtype=np.int64)
            window = round((1 << 20) / (np.exp(float(LEVEL) / 2) + 1))
            cells = drawn.columns[-1]
            high = np.where(kind == 1, (cells >= (1 << 20) - window) * 2 + (cells < window), cells)
            return list(zip(kind.tolist(), high.tolist(), strict=True))
        case "olh" | "hadamard":
            seeds, cells = drawn.columns
            supported = [protocol.scheme.oracle.cells_of(seeds, np.full(count, code)) == cells for code in range(2)]
            return list(zip(*(one.tolist() for one in supported), strict=True))
        case "laplace":
            return np.clip(drawn.columns[0] >> 20, -1, 1).tolist()  # type: ignore[no-any-return]
        case _:
            return [str(payload) for payload in protocol.scheme.payloads(drawn.columns)]


def _places(place: tuple[int, int], count: int, price: Fraction, entropy: Entropy) -> list[Any]:
    i, j = planar_geometric(price, count, entropy)
    pairs = zip((i + place[0]).tolist(), (j + place[1]).tolist(), strict=True)
    return [pair if max(abs(pair[0]), abs(pair[1])) <= REACH else (FAR, FAR) for pair in pairs]


def _place_law(place: tuple[int, int], price: Fraction) -> Law:
    line = np.arange(-FAR, FAR + 1)
    away = np.hypot(line[:, None] - place[0], line[None, :] - place[1])
    weights = np.exp(-float(price) * away)
    weights /= weights.sum()
    inside: dict[Hashable, float] = {
        (i, j): float(weights[i + FAR, j + FAR]) for i in range(-REACH, REACH + 1) for j in range(-REACH, REACH + 1)
    }
    return {**inside, (FAR, FAR): 1 - sum(inside.values())}


def _item_law(item: str, price: Fraction) -> Law:
    weights = [float(np.exp(-float(price) * distance / 2)) for distance in APART[LINE.index(item)]]
    return {out: weight / sum(weights) for out, weight in zip(LINE, weights, strict=True)}


def _items(item: str, count: int, price: Fraction, entropy: Entropy) -> Any:
    return geo.metric(LINE, APART, epsilon=price).protect([item] * count, entropy=entropy)


def subjects() -> list[Subject]:
    protocols = [
        Subject(f"local {name}", (0, 1), partial(_reports, name), price=LEVEL, draws=DRAWS)
        for name in ("rr", *FREQUENCIES, *MEANS)
    ]
    return [
        *protocols,
        Subject("geo planar geometric, one step apart", ((0, 0), (1, 0)), _places, _place_law, draws=DRAWS),
        Subject("geo metric, one step apart", ("b", "c"), _items, _item_law, draws=DRAWS),
    ]
