"""Noise on places, words and point sets, as an auditor sees it; every draw goes through the door a user takes."""

from collections.abc import Hashable
from fractions import Fraction
from math import pi
from typing import Any

import numpy as np

import sfumato.geo as geo
from sfumato.audit import laws
from sfumato.audit.subject import ONE, Subject
from sfumato.geo.earth import RADIUS_M, vectors
from sfumato.geo.lattice import planar_geometric
from sfumato.geo.privtree import DEEPEST, STRUCTURE, scales
from sfumato.kernel.entropy import Entropy

DRAWS = 100_000
REACH, FAR = 5, 75  # what lies beyond FAR at rate 1 is below 1e-28
TWIGS = 60  # all half a step beyond "b": seen from "b" the set is fuller, which costs the second half of ε
BUSH = ["a", "b", *(f"twig {number}" for number in range(TWIGS))]
VECTORS = {word: [float(place), 0.0] for place, word in enumerate("abcd")}

HERE = (71.0, 179.9)  # by the date line, and north enough that degrees of longitude are short
RATE = 50  # per radian
THERE = (HERE[0] - 180 / pi / RATE, HERE[1])  # where the loss is 1
RINGS = np.array([0, 0.25, 0.5, 0.75, 1, 1.5, 2, 2.5, 3, 4, 5, 7, 10]) / RATE
SECTORS = 24

BASE = 6  # PrivTree: 4^BASE cells of one tree, each with the same points in one place, are as many independent runs
CROWD = 65  # so many points in one place: the path has its last likely splits with and without one more
BOTTOM = 20
SQUARE = (0.0, 0.0, 1.0, 1.0)
TAILS = 2  # counts are told apart so near to the truth; a sign holds all their loss


def _places(place: tuple[int, int], count: int, price: Fraction, entropy: Entropy) -> list[Any]:
    i, j = planar_geometric(price, count, entropy)
    pairs = zip((i + place[0]).tolist(), (j + place[1]).tolist(), strict=True)
    return [pair if max(abs(pair[0]), abs(pair[1])) <= REACH else (FAR, FAR) for pair in pairs]


def _place_law(place: tuple[int, int], price: Fraction) -> laws.Law:
    line = np.arange(-FAR, FAR + 1)
    away = np.hypot(line[:, None] - place[0], line[None, :] - place[1])
    weights = np.exp(-float(price) * away)
    weights /= weights.sum()
    inside: dict[Hashable, float] = {
        (i, j): float(weights[i + FAR, j + FAR]) for i in range(-REACH, REACH + 1) for j in range(-REACH, REACH + 1)
    }
    return {**inside, (FAR, FAR): 1 - sum(inside.values())}


def _globe(place: tuple[float, float], count: int, price: Fraction, entropy: Entropy) -> list[Any]:
    """Ring and sector around HERE of reports from anywhere on Earth."""
    mechanism = geo.planar(epsilon=price * RATE / RADIUS_M)
    told = mechanism.report(np.full(count, place[0]), np.full(count, place[1]), entropy=entropy)
    there = vectors(told.lat, told.lon)
    phi, lam = np.radians(HERE)
    up = vectors(np.array([HERE[0]]), np.array([HERE[1]]))[0]
    north = np.array([-np.sin(phi) * np.cos(lam), -np.sin(phi) * np.sin(lam), np.cos(phi)])
    x, y = there @ np.cross(north, up), there @ north
    ring = np.searchsorted(RINGS, np.arctan2(np.hypot(x, y), there @ up), side="right")
    sector = np.floor((np.arctan2(x, y) / (2 * pi) % 1) * SECTORS).astype(np.int64) % SECTORS
    return list(zip(ring.tolist(), sector.tolist(), strict=True))


def _globe_law(place: tuple[float, float], price: Fraction) -> laws.Law:
    """Around the position itself: sin θ · e^(-κθ), integrated in closed form, the same in every direction."""
    if place != HERE:
        raise ValueError("the law is known around the position itself")
    rate, edges = float(price * RATE), np.append(RINGS, pi)
    within = (1 - np.exp(-rate * edges) * (np.cos(edges) + rate * np.sin(edges))) / (1 + np.exp(-rate * pi))
    chances = np.diff(within) / SECTORS
    return {(ring + 1, sector): float(chances[ring]) for ring in range(len(RINGS)) for sector in range(SECTORS)}


def _apart(one: str, two: str) -> float:
    """Along the bush, where every way leads over "b"."""
    steps = {"a": 1.0, "b": 0.0}
    return 0.0 if one == two else steps.get(one, 0.5) + steps.get(two, 0.5)


def _items(item: str, count: int, price: Fraction, entropy: Entropy) -> Any:
    return geo.metric(BUSH, _apart, epsilon=price).protect([item] * count, entropy=entropy)


def _item_law(item: str, price: Fraction) -> laws.Law:
    return _nearness(BUSH, [_apart(item, other) for other in BUSH], price)


def _word_law(word: str, price: Fraction) -> laws.Law:
    return _nearness(list(VECTORS), [abs(VECTORS[word][0] - vector[0]) for vector in VECTORS.values()], price)


def _nearness(names: list[str], distances: list[float], price: Fraction) -> laws.Law:
    chances = laws.exponential(float(price) / 2, [-distance for distance in distances])
    return dict(zip(names, chances.values(), strict=True))


def _words(word: str, count: int, price: Fraction, entropy: Entropy) -> Any:
    return geo.words(VECTORS, epsilon=price).protect(" ".join([word] * count), entropy=entropy).split()


def _tree(crowd: int, count: int, price: Fraction, entropy: Entropy) -> list[Any]:
    return tree_paths(crowd, count, price, STRUCTURE, entropy)


def tree_paths(crowd: int, count: int, price: Fraction, structure: Fraction, entropy: Entropy) -> list[Any]:
    """Depth and noisy count of the leaf that holds the crowd, in each of 4^BASE cells of trees."""
    line = np.arange(1 << BASE) / (1 << BASE)
    lat, lon = (np.repeat(axis.ravel(), crowd) for axis in np.meshgrid(line, line))
    corners = np.arange(4**BASE, dtype=np.uint64) << np.uint64(2 * (DEEPEST - BASE))
    found: list[Any] = []
    while len(found) < count:
        tree = geo.privtree((lat, lon), epsilon=price, box=SQUARE, deepest=BOTTOM, structure=structure, entropy=entropy)
        leaf = np.searchsorted(tree.leaves.codes, corners, side="right") - 1
        counts = np.clip(tree.leaves.counts[leaf] - CROWD, -TAILS, TAILS)
        found += zip(tree.leaves.depths[leaf].tolist(), counts.tolist(), strict=True)
    return found[:count]


def _tree_law(crowd: int, price: Fraction) -> laws.Law:
    """Split or not down one path, times the noise of the leaf; that a cell above is not split has chance 1e-13."""
    scale, decay = (float(one) for one in scales(price * STRUCTURE))
    noise = laws.laplace(float(1 / (price * (1 - STRUCTURE))), crowd - CROWD, TAILS)
    law: dict[Hashable, float] = {}
    alive = 1.0
    for depth in range(BASE, BOTTOM + 1):
        bias = max(-decay, crowd - depth * decay)
        split = np.exp(bias / scale) / 2 if bias <= 0 else 1 - np.exp(-bias / scale) / 2
        stays = alive * (1 - split if depth < BOTTOM else 1)
        law |= {(depth, off): float(stays * chance) for off, chance in noise.items()}
        alive *= split
    return law


def subjects() -> list[Subject]:
    return [
        Subject("geo planar geometric, one step apart", ((0, 0), (1, 0)), _places, _place_law, draws=DRAWS),
        Subject("geo planar on the globe, 1/ε apart", (HERE, THERE), _globe, _globe_law, draws=2 * DRAWS),
        Subject("geo metric, one step apart", ("a", "b"), _items, _item_law, price=Fraction(3), draws=DRAWS),
        Subject("geo words, one step apart", ("b", "c"), _words, _word_law, draws=DRAWS),
        Subject("geo privtree, a point more", (CROWD, CROWD + 1), _tree, _tree_law, price=ONE, draws=2 * DRAWS),
    ]
