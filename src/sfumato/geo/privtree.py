"""PrivTree: a private quadtree over points, deep where they are many (Zhang, Xiao, Xie 2016).

Whether a cell is split is a coin whose probability is that of Laplace noise crossing a threshold; the coin is exact, so
no noise in doubles is drawn. The leaves are disjoint; each gets a count with whole-number noise.
"""

from collections.abc import Sequence
from fractions import Fraction
from math import ceil, log
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.errors import out_of_range
from sfumato.geo.earth import Floats, problems_of
from sfumato.geo.tree import Box, Leaves, Tree, as_box
from sfumato.geo.wordings import bad_positions, lengths_differ, source_unknown
from sfumato.kernel.entropy import Entropy, SystemEntropy
from sfumato.kernel.samplers import coins, discrete_laplace
from sfumato.schema.numbers import GivenNumber, exact_positive, whole

FANOUT = 4
DEEPEST = 26
WORLD: Box = Box(-90.0, -180.0, 90.0, 180.0)
STRUCTURE = Fraction(2, 5)  # the share of epsilon that pays for the shape of the tree
FINE = 1 << 20
MOST = 100  # the margins of the coins are proved up to here; beyond, nobody is protected anyway
LEAST = Fraction(1, 10**9)  # below, the threshold of a deep cell would not be a whole number of 64 bits

Codes = npt.NDArray[np.uint64]
QUARTERS: Codes = np.arange(4, dtype=np.uint64)


def privtree(
    points: Any,
    *,
    epsilon: GivenNumber,
    box: Sequence[float] | Box | None = None,
    points_per_person: int = 1,
    deepest: int = DEEPEST,
    structure: GivenNumber = STRUCTURE,
    entropy: Entropy | None = None,
) -> Tree:
    """A private quadtree of points, rows of (latitude, longitude), in a public box (the world if not given).

    Claim: epsilon-DP when one person's points, at most `points_per_person`, are added or removed. A share `structure`
    of epsilon pays for the shape, the rest for the counts of the leaves. Points outside the box move to its rim.
    Needs: a box that does not come from the points; persons with more points thinned out beforehand.
    Proof: docs/proofs/privtree.md
    """
    price = exact_positive(epsilon, "epsilon") / whole(points_per_person, "points_per_person", least=1)
    share = exact_positive(structure, "structure")
    if price > MOST:
        raise out_of_range("epsilon", "0", str(MOST), f"{float(price):g}")
    depth = whole(deepest, "deepest", least=1, most=DEEPEST)
    if share >= 1:
        raise out_of_range("structure", "0", "1", f"{float(share):g}")
    if (least := price * min(share, 1 - share)) < LEAST:
        raise out_of_range("the smaller share of epsilon", f"{float(LEAST):g}", str(MOST), f"{float(least):g}")
    lat, lon = columns(points)
    area = WORLD if box is None else as_box(box)
    source = SystemEntropy() if entropy is None else entropy
    codes = np.sort(morton(lat, area.west + (lon - area.west) % 360, area))
    leaves, depths, counts = grow(codes, price * share, depth, source)
    noise_scale = 1 / (price * (1 - share))
    noisy = counts + discrete_laplace(noise_scale, len(counts), source)
    return Tree(area, Leaves(leaves, depths, noisy), noise_scale, exact_positive(epsilon, "epsilon"))


def columns(points: Any) -> tuple[Floats, Floats]:
    """Latitudes and longitudes of rows of pairs, or of a pair of columns."""
    if isinstance(points, tuple) and len(points) == 2 and np.ndim(points[0]) == 1:
        lat, lon = (np.asarray(column, dtype=np.float64) for column in points)
        if len(lat) != len(lon):
            raise lengths_differ(len(lat), len(lon))
    else:
        table = np.asarray(points, dtype=np.float64)
        if table.size == 0:
            table = table.reshape(0, 2)
        if table.ndim != 2 or table.shape[1] != 2:
            raise source_unknown(f"table of shape {table.shape}")
        lat, lon = table[:, 0], table[:, 1]
    if problems := problems_of(lat, lon):
        raise bad_positions(problems)
    return lat, lon


def morton(lat: Floats, lon: Floats, box: Box) -> Codes:
    """Where each point lies at the deepest level: bits of latitude and longitude in turns, the coarsest first."""
    code = np.zeros(len(lat), dtype=np.uint64)
    for shift, values, low, high in ((1, lat, box.south, box.north), (0, lon, box.west, box.east)):
        scaled = np.clip((values - low) / (high - low) * 2.0**DEEPEST, 0, 2**DEEPEST - 1)
        code |= _spread(scaled.astype(np.uint64)) << np.uint64(shift)
    return code


def _spread(values: Codes) -> Codes:
    """A zero between any two bits."""
    for shift, mask in (
        (16, 0x0000FFFF0000FFFF),
        (8, 0x00FF00FF00FF00FF),
        (4, 0x0F0F0F0F0F0F0F0F),
        (2, 0x3333333333333333),
        (1, 0x5555555555555555),
    ):
        values = (values | (values << np.uint64(shift))) & np.uint64(mask)
    return values


def scales(epsilon: Fraction) -> tuple[Fraction, Fraction]:
    """λ of the noise and the decay δ a level: λ = (2β - 1)/(β - 1)/ε, δ = the larger of λ ln β, rounded up, and 1."""
    scale = Fraction(2 * FANOUT - 1, FANOUT - 1) / epsilon
    grown = scale * Fraction(ceil(log(FANOUT) * FINE) + 1, FINE)
    return scale, max(Fraction(1), grown)


def grow(codes: Codes, epsilon: Fraction, deepest: int, entropy: Entropy) -> tuple[Codes, Any, Any]:
    """The leaves in order: first code at the deepest level, depth, and the true count (never to be released)."""
    scale, decay = scales(epsilon)
    found: list[tuple[Codes, npt.NDArray[np.int64], npt.NDArray[np.int64]]] = []
    nodes = np.zeros(1, dtype=np.uint64)
    for depth in range(deepest + 1):
        counts = _counts(codes, nodes, depth)
        split = (
            split_coins(counts, depth, scale, decay, entropy)
            if depth < deepest
            else np.zeros(len(nodes), dtype=np.bool_)
        )
        kept = ~split
        shift = np.uint64(2 * (DEEPEST - depth))
        found.append((nodes[kept] << shift, np.full(int(kept.sum()), depth), counts[kept]))
        if not split.any():
            break
        children = (nodes[split] << np.uint64(2))[:, None] + QUARTERS
        nodes = children.ravel()
    starts: Codes = np.concatenate([leaves for leaves, _, _ in found])
    depths = np.concatenate([deep for _, deep, _ in found])
    counts = np.concatenate([count for _, _, count in found])
    order = np.argsort(starts, kind="stable")
    return starts[order], depths[order], counts[order]


def split_coins(
    counts: npt.NDArray[np.int64], depth: int, scale: Fraction, decay: Fraction, entropy: Entropy
) -> npt.NDArray[np.bool_]:
    """Whether b + Laplace(scale) > 0, b = max(-decay, count - depth · decay), for each node; exact.

    Laplace noise exceeds |b| with probability exp(-|b| / scale) / 2: a fair coin and an exact one.
    """
    lag = depth * decay

    def gamma(index: int) -> Fraction:
        return abs(max(-decay, int(counts[index]) - lag)) / scale

    steps = lag.numerator // lag.denominator
    ahead = counts - steps  # exact, so that nothing cancels where a count nearly meets its threshold
    bias = np.maximum(ahead - float(lag - steps), -float(decay))
    crossed = coins(np.exp(-np.abs(bias) / float(scale)), gamma, entropy)
    crossed &= (entropy.words(len(counts)) & np.uint64(1)).astype(np.bool_)
    return np.where(ahead > 0, ~crossed, crossed)


def _counts(codes: Codes, nodes: Codes, depth: int) -> npt.NDArray[np.int64]:
    shift = np.uint64(2 * (DEEPEST - depth))
    low = np.searchsorted(codes, nodes << shift)
    high = np.searchsorted(codes, ((nodes + np.uint64(1)) << shift) - np.uint64(1), side="right")
    return np.asarray(high - low, dtype=np.int64)
