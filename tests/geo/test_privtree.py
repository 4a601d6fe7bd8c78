"""PrivTree: the loss of every small point set brute-forced, the coins, range counts and their coverage."""

from decimal import Decimal, localcontext
from fractions import Fraction
from importlib import import_module
from itertools import combinations_with_replacement
from math import log
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato.errors import UsageError
from sfumato.geo.privtree import DEEPEST, grow, morton, scales, split_coins
from sfumato.geo.tree import Box, noise_quantile
from tests.entropy import SeededEntropy
from tests.kernel.laws import PRECISE, chi_square, decimal, mutant
from tests.statistics.evidence import ERROR, between, source

module = import_module("sfumato.geo.privtree")  # the package shows the function under this name
WORLD = Box(-90.0, -180.0, 90.0, 180.0)
PRICES = [Fraction(1, 10), Fraction(1), Fraction(3), Fraction(8), Fraction(30)]


def chance(count: int, depth: int, scale: Fraction, decay: Fraction) -> Decimal:
    """P(b + Laplace(scale) > 0), from its definition."""
    bias = max(-decay, count - depth * decay)
    tail = (-decimal(abs(bias) / scale)).exp() / 2
    return tail if bias <= 0 else 1 - tail


def path_loss(counts: list[int], scale: Fraction, decay: Fraction, *, leaf: bool) -> Decimal:
    """ln P(tree with the point) - ln P(without), for a path of cells with these counts, the point included."""
    loss = Decimal(0)
    for depth, count in enumerate(counts):
        with_point, without = chance(count, depth, scale, decay), chance(count - 1, depth, scale, decay)
        last = leaf and depth == len(counts) - 1
        loss += ((1 - with_point) / (1 - without)).ln() if last else (with_point / without).ln()
    return loss


def worst_loss(epsilon: Fraction, scale: Fraction, decay: Fraction) -> Decimal:
    """Over every path: counts fall or stay along it. The worst ladders are found by trying every start and spacing."""
    worst = Decimal(0)
    with localcontext(PRECISE):
        reach = int(6 * float(scale) + 4 * float(decay)) + 6
        for length in (1, 2, 3):
            tops = range(1, min(reach, 14) + 1)
            for counts in combinations_with_replacement(tops, length):
                for leaf in (False, True):
                    worst = max(worst, abs(path_loss(sorted(counts, reverse=True), scale, decay, leaf=leaf)))
        for bottom in range(1, reach):
            for length in (4, 8, 14):
                steps = [bottom + int(decay * height) + (decay * height % 1 > 0) for height in range(length)]
                for offset in (0, 1):
                    counts = [count + int(decay * (length - 1)) + offset for count in reversed(steps)]
                    worst = max(worst, abs(path_loss(counts, scale, decay, leaf=False)))
    return worst / decimal(epsilon)


@pytest.mark.parametrize("epsilon", PRICES)
def test_no_path_of_counts_loses_more_than_epsilon(epsilon: Fraction) -> None:
    assert worst_loss(epsilon, *scales(epsilon)) <= 1


@pytest.mark.parametrize(("epsilon", "share"), [(Fraction(1), 2), (Fraction(8), 3)])
def test_too_little_noise_is_caught(epsilon: Fraction, share: int) -> None:
    scale, decay = scales(epsilon)
    assert worst_loss(epsilon, scale / share, decay) > 1


def test_no_decay_is_caught() -> None:
    """The twin without the bias of the depth: a long path of split cells loses without end."""
    scale, _ = scales(Fraction(1))
    with localcontext(PRECISE):
        assert path_loss([1] * 12, scale, Fraction(0), leaf=False) > 1


def test_scales_are_those_of_the_paper_and_never_below_one_point() -> None:
    scale, decay = scales(Fraction(1))
    assert scale == Fraction(7, 3)
    assert 0 < decay - Fraction(7, 3) * Fraction(log(4)) < Fraction(1, 10**5)
    assert scales(Fraction(50))[1] == 1


@pytest.mark.parametrize("depth", [0, 3, 20])
def test_split_coins_have_the_chance_of_laplace_noise(depth: int) -> None:
    scale, decay = scales(Fraction(1))
    for count in (0, int(depth * decay), int(depth * decay) + 1, int(depth * decay) + 5):
        draws = 100_000
        split = split_coins(np.full(draws, count), depth, scale, decay, source(f"coins {depth} {count}"))
        with localcontext(PRECISE):
            p = float(chance(count, depth, scale, decay))
        assert chi_square([split.sum(), draws - split.sum()], [p, 1 - p]) > ERROR


def trees(code: Any, codes: Any, draws: int, name: str) -> list[tuple[Any, ...]]:
    entropy = source(name)
    return [
        tuple(zip(*(part.tolist() for part in code.grow(codes, Fraction(1), 2, entropy)[:2]), strict=True))
        for _ in range(draws)
    ]


def test_the_law_of_whole_trees() -> None:
    """Three points, two levels: the chance of the undivided square and of all cells, against the product of coins."""
    codes = np.sort(morton(np.array([10.0, 10.0, -20.0]), np.array([20.0, 21.0, 30.0]), WORLD))
    scale, decay = scales(Fraction(1))
    drawn = trees(module, codes, 6000, "whole trees")
    undivided = sum(len(tree) == 1 for tree in drawn)
    complete = sum(len(tree) == 16 for tree in drawn)
    counts = [int(((codes >> np.uint64(2 * DEEPEST - 2)) == np.uint64(part)).sum()) for part in range(4)]
    with localcontext(PRECISE):
        root = float(chance(3, 0, scale, decay))
        quarters = float(np.prod([float(chance(count, 1, scale, decay)) for count in counts]))
    for seen, p in ((undivided, 1 - root), (complete, root * quarters)):
        low, high = between(seen, len(drawn), ERROR)
        assert low <= p <= high


def test_a_slip_in_the_bias_shows() -> None:
    twin = mutant(module, "    lag = depth * decay\n", "    lag = depth * decay * 2\n")
    codes = np.sort(morton(np.full(4, 10.0), np.linspace(20, 22, 4), WORLD))
    sizes = [np.mean([len(tree) for tree in trees(code, codes, 3000, "bias")]) for code in (module, twin)]
    assert sizes[0] > sizes[1] * 1.05


def test_codes_interleave_latitude_and_longitude() -> None:
    codes = morton(np.array([-90.0, 0.0, 0.0, -90.0, 90.0]), np.array([-180.0, 0.0, -180.0, 0.0, 180.0]), WORLD)
    assert [int(code) >> (2 * DEEPEST - 2) for code in codes] == [0, 3, 2, 1, 3]


def clusters(count: int, name: str) -> np.ndarray:
    words = SeededEntropy(name).words(5 * count).reshape(5, count)
    unit = (words >> np.uint64(11)).astype(float) * 2.0**-53
    centres = np.array([[39.9, 116.3], [39.95, 116.45], [40.02, 116.35]])[(unit[0] * 3).astype(int)]
    spread = 0.01 * np.sqrt(-2 * np.log(1 - unit[1]))
    return centres + np.stack([spread * np.cos(2 * np.pi * unit[2]), spread * np.sin(2 * np.pi * unit[2])], axis=1)


def true_count(points: np.ndarray, box: tuple[float, ...]) -> int:
    south, west, north, east = box
    inside = (points[:, 0] >= south) & (points[:, 0] < north) & (points[:, 1] >= west) & (points[:, 1] < east)
    return int(inside.sum())


AREA = (39.5, 116.0, 40.5, 117.0)


def test_range_counts_cover_the_truth() -> None:
    """At 90 %, over many boxes and trees: at least 90 % of intervals hold the truth, less a margin for chance."""
    points = clusters(4000, "coverage")
    held = asked = 0
    for turn in range(30):
        tree = sf.geo.privtree(points, epsilon=1, box=AREA, entropy=SeededEntropy(f"tree {turn}"))
        for size in (0.011, 0.05, 0.25):
            box = (39.9 - size, 116.3 - size, 39.9 + size, 116.3 + size)
            found = tree.count(box, confidence=0.9)
            held += found.low <= true_count(points, box) <= found.high
            asked += 1
    assert between(held, asked, ERROR)[1] >= 0.9


def test_the_interval_is_not_idle() -> None:
    """On leaves taken whole the interval is the quantile of the noise: nine in ten, not all."""
    points = clusters(500, "idle")
    inside = 0
    for turn in range(400):
        tree = sf.geo.privtree(points, epsilon=1, box=AREA, entropy=SeededEntropy(f"idle {turn}"), deepest=1)
        found = tree.count(AREA, confidence=0.8)
        inside += found.low <= 500 <= found.high
    low, high = between(inside, 400, ERROR)
    assert low < 0.95
    assert high > 0.8


@pytest.mark.parametrize(("scale", "leaves"), [(Fraction(5, 3), 1), (Fraction(5, 3), 7), (Fraction(20), 40)])
def test_the_quantile_of_summed_noise(scale: Fraction, leaves: int) -> None:
    from sfumato.kernel.samplers import discrete_laplace

    sums = discrete_laplace(scale, 200_000 * leaves, source(f"sums {scale} {leaves}")).reshape(-1, leaves).sum(axis=1)
    for miss in (0.2, 0.025):
        edge = noise_quantile(scale, leaves, miss)
        assert between(int((sums > edge).sum()), len(sums), ERROR)[0] <= miss
        assert between(int((sums > edge - 1).sum()), len(sums), ERROR)[1] >= miss * 0.98
    assert noise_quantile(scale, 0, 0.1) == 0


def test_counts_audit_against_a_point_added() -> None:
    """ε-DP of the whole release, seen through the total of a tree that never splits twice."""
    from tests.statistics.evidence import epsilon_shown

    def hits(points: int, name: str) -> int:
        entropy = source(name)
        data = np.tile([[39.9, 116.3]], (points, 1))
        return sum(
            sf.geo.privtree(data, epsilon=2, box=AREA, deepest=1, entropy=entropy).total >= 1 for _ in range(3000)
        )

    assert epsilon_shown(hits(1, "one"), hits(0, "none"), 3000, ERROR / 2) <= 2


def test_the_date_line_is_no_edge() -> None:
    points = np.array([[0.0, 179.9], [0.0, -179.9], [0.0, -180.0]] * 400)
    tree = sf.geo.privtree(points, epsilon=5, box=(-10, 170, 10, 190), entropy=SeededEntropy("line"))
    assert tree.count((-1, 179, 1, 181)).count == pytest.approx(1200, abs=60)
    assert tree.count((-1, -181, 1, -179)).count == pytest.approx(1200, abs=60)
    assert tree.count((-1, 170, 1, 175)).count == pytest.approx(0, abs=60)


def test_what_is_published() -> None:
    points = clusters(3000, "published")
    tree = sf.geo.privtree(points, epsilon=1, box=AREA, entropy=SeededEntropy("published"))
    rows = tree.rows()
    assert len(rows) == len(tree)
    area = sum((row["north"] - row["south"]) * (row["east"] - row["west"]) for row in rows)
    assert area == pytest.approx(1.0)
    assert tree.geojson()["features"][0]["geometry"]["coordinates"][0][0] == [rows[0]["west"], rows[0]["south"]]
    raster = tree.raster(cells=50)
    assert raster.shape == (50, 50)
    assert raster.sum() == pytest.approx(np.maximum(tree.leaves.counts, 0).sum())
    row, column = np.unravel_index(raster.argmax(), raster.shape)
    assert 39.85 < 39.5 + row / 50 < 40.05
    assert 116.25 < 116 + column / 50 < 116.5


def test_many_points_of_one_person_cost_more_noise() -> None:
    one, ten = (sf.geo.privtree([(1.0, 2.0)], epsilon=1, points_per_person=most) for most in (1, 10))
    assert ten.scale == 10 * one.scale


def test_no_points_at_all() -> None:
    assert abs(sf.geo.privtree([], epsilon=1, entropy=SeededEntropy("empty")).total) < 60


@pytest.mark.parametrize(
    "given",
    [
        {"epsilon": 0},
        {"epsilon": 1000},
        {"epsilon": 1e-20},
        {"epsilon": 1, "structure": 1e-12},
        {"epsilon": 1, "structure": 1},
        {"epsilon": 1, "points_per_person": 0},
        {"epsilon": 1, "box": (0, 0, 0, 1)},
        {"epsilon": 1, "box": (0, 0, 1)},
        {"epsilon": 1, "box": (0, float("nan"), 1, 1)},
        {"epsilon": 1, "deepest": 27},
    ],
)
def test_mistakes(given: dict) -> None:
    with pytest.raises(UsageError):
        sf.geo.privtree([(1.0, 2.0)], **given)


def test_bad_points_are_named() -> None:
    with pytest.raises(UsageError, match="row 2: the latitude is beyond a pole"):
        sf.geo.privtree([(1.0, 2.0), (100.0, 2.0)], epsilon=1)
    with pytest.raises(UsageError, match="shape"):
        sf.geo.privtree([1.0, 2.0, 3.0], epsilon=1)
    with pytest.raises(UsageError):
        sf.geo.privtree([(1.0, 2.0)], epsilon=1).count((0, 0, 1, 1), confidence=1)


def test_grow_stops_at_the_deepest_level() -> None:
    codes = np.zeros(10_000, dtype=np.uint64)
    _, depths, _ = grow(codes, Fraction(1), 3, SeededEntropy("deep"))
    assert depths.max() == 3
