"""How wide noise is: error quantiles, how far a rank may miss, and which bounds lose least. No claim depends on it.

The ring asks this file for what makes answers accurate and does not believe it: whatever it says, `ranks` and
`found_bounds` make it safe before they use it. It is told noisy counts and parameters, never the data.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil, erfc, exp, expm1, inf, log, log1p, sqrt

import numpy as np
import numpy.typing as npt

from sfumato.kernel.mechanisms.additive import DiscreteGaussian, DiscreteLaplace, Law
from sfumato.kernel.mechanisms.rank_lines import Node
from sfumato.kernel.samplers import Floats

# Up to here quantiles of the discrete Gaussian are summed term by term; above, a continuous bound is as good.
SMALL_DEVIATION = 1000.0
FAR_OUT = 0.01
LARGEST_SHIFT = 1 << 48
FAILURE = 1e-6  # the probability that a cell far beyond all rows is taken for one with rows
NEAR = [2.0**-distance / 100 for distance in range(1, 21)]  # the same, for cells this far beyond one with rows
WINDOWS = (1, 4, 16)  # how many cells are looked at together


# ---- noise that is added


def deviation(law: Law) -> float:
    """The standard deviation; of a discrete Gaussian that of the continuous law, which bounds it."""
    match law:
        case DiscreteLaplace(scale=scale):
            t = float(scale)
            return sqrt(2 * exp(-1 / t)) / -expm1(-1 / t)
        case DiscreteGaussian(variance=variance):
            return sqrt(float(variance))


def error(law: Law, confidence: float) -> int:
    """The smallest k with P(|noise| <= k) >= confidence.

    Up to a billionth of k for Laplace noise; for Gaussian noise from deviation 1000 on at most one too large.
    """
    match law:
        case DiscreteLaplace(scale=scale):
            t = float(scale)
            # P(|noise| > k) = 2 q^(k+1) / (1 + q)
            bound = -t * (log((1 - confidence) / 2) + log1p(exp(-1 / t)))
            return max(0, ceil(bound - 1e-9 * abs(bound)) - 1)
        case DiscreteGaussian():
            return _gaussian_error(deviation(law), confidence)


def _gaussian_error(sigma: float, confidence: float) -> int:
    if sigma > SMALL_DEVIATION:
        return ceil(_two_sided_normal(confidence) * sigma)
    weights = [exp(-k * k / (2 * sigma * sigma)) for k in range(ceil(10 * sigma) + 10)]
    total = 2 * sum(weights) - 1
    covered = 1.0
    k = 0
    while covered < confidence * total and k + 1 < len(weights):
        k += 1
        covered += 2 * weights[k]
    return k


def _two_sided_normal(confidence: float) -> float:
    """z with P(|N(0, 1)| <= z) = confidence, by bisection."""
    low, high = 0.0, 40.0
    for _ in range(80):
        middle = (low + high) / 2
        if erfc(middle / sqrt(2)) > 1 - confidence:
            low = middle
        else:
            high = middle
    return high if confidence < 1 else inf


# ---- ranks that are chosen


@dataclass(frozen=True, slots=True)
class RankWidths:
    """How ranks are best sought; `estimates` are the ε of a row at each depth."""

    nodes: tuple[Node, ...]
    estimates: tuple[Fraction, ...]
    candidates: int  # positions that are looked at for an estimate

    def rows_of(self, place: int) -> tuple[int, int]:
        """How far inward a level is sought, and how many equal rows are not told apart."""
        return self.inward(place), self.slack(self.nodes[place])

    def inward(self, place: int) -> int:
        """At level 0 and 1 every place beyond the last row is as good: so many rows further in, few are left out.

        All empty places together are then chosen at most FAR_OUT as often as the one that holds the wanted row.
        """
        node = self.nodes[place]
        if node.level not in (0, 1):
            return 0
        rows = ceil(2 * node.slope / self.estimates[node.depth] * Fraction(log(self.candidates / FAR_OUT)))
        return min(rows, LARGEST_SHIFT) * (1 if node.level == 0 else -1)

    def slack(self, node: Node) -> int:
        """Rows of equal values that are lost in the noise of an estimate: fewer are not told apart."""
        return min(ceil(8 * node.slope / self.estimates[node.depth]), LARGEST_SHIFT)


# ---- bounds that are found


def best_bounds(
    noisy: Floats, counting: Law, edges: tuple[int, ...], deviation_of_one: float
) -> tuple[int, int, int, int]:
    """The bounds that lose least, as far as noisy counts tell, and of how many rows at most how many lie beyond.

    `deviation_of_one` is that of the sum's noise, for values of size 1.
    """
    middle, sizes = len(edges), np.array(edges, dtype=np.float64)
    sides = noisy[middle - 1 :: -1], noisy[middle + 1 :]
    reach = [_reach(side, counting, len(noisy)) for side in sides]
    far = max(reach)
    if far == 0:
        return 0, 0, 0, max(0, round(float(noisy[middle])))
    middles = (sizes + np.concatenate([[0.0], sizes[:-1]])) / 2
    excess = np.maximum(middles[None, :far] - sizes[:far, None], 0.0)
    lost = sum(np.maximum(excess[:, :cells] @ side[:cells], 0.0) for side, cells in zip(sides, reach, strict=True))
    best = int(np.argmin(lost**2 + (sizes[:far] * deviation_of_one) ** 2))
    ends = [min(best + 1, cells) for cells in reach]
    low, high = (edges[end - 1] if end else 0 for end in ends)
    seen = [side[end : cells + len(NEAR)] for side, end, cells in zip(sides, ends, reach, strict=True) if cells]
    doubt = 2 * deviation(counting) * sqrt(sum(map(len, seen)))
    beyond = sum(float(cells.sum()) for cells in seen) + doubt
    counted = float(noisy[middle - reach[0] : middle + reach[1] + 1].sum())
    return -low, high, max(0, round(beyond)), max(0, round(counted))


def _reach(side: Floats, counting: Law, cells: int) -> int:
    """How many cells of a side, from the smallest values on, may hold rows.

    A cell is certain when noise does not explain its count, or that of it and those above it together: w noises stay
    below √w times the bound for one. Beyond a certain cell less evidence is enough, the nearer the less.
    """
    certain, likely = _thresholds(counting, FAILURE / len(WINDOWS) / cells)
    together = [np.convolve(side, np.ones(window))[window - 1 :] >= certain * sqrt(window) for window in WINDOWS]
    reach = max(_last(found) for found in together)
    while reach and (further := _last(side[reach : reach + len(likely)] >= likely[: len(side) - reach])):
        reach += further
    return reach


def _last(found: npt.NDArray[np.bool_]) -> int:
    """The number of places up to the last True, 0 if there is none."""
    return int(np.flatnonzero(found)[-1]) + 1 if found.any() else 0


@lru_cache(maxsize=64)
def _thresholds(counting: Law, failure: float) -> tuple[int, npt.NDArray[np.int64]]:
    """Noise reaches the first with at most the given probability, and the others with those of NEAR."""
    certain, *likely = (error(counting, 1 - 2 * chance) + 1 for chance in (failure, *NEAR))
    return certain, np.array(likely)
