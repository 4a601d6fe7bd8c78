"""How wide noise is: error quantiles, how far a rank may miss, how far to look for bounds, what numbers are round. No
claim depends on it.

The ring asks this file for what makes answers accurate and does not believe it: whatever it says, `ranks` and
`found_bounds` make it safe before they use it. It is told parameters, never the data.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil, erfc, exp, expm1, floor, inf, lcm, log, log1p, log10, sqrt

import numpy as np

from sfumato.kernel.mechanisms.additive import DiscreteGaussian, DiscreteLaplace, Law
from sfumato.kernel.mechanisms.protocol import Numbers
from sfumato.kernel.mechanisms.rank_lines import Node

# Up to here quantiles of the discrete Gaussian are summed term by term; above, a continuous bound is as good.
SMALL_DEVIATION = 1000.0
FAR_OUT = 0.01
LARGEST_SHIFT = 1 << 48
TOO_FAR = 0.001  # how often an edge beyond all rows may be the anchor
ROWS_BEYOND, COST_OF_A_CELL = Fraction(5, 2), Fraction(1, 4)  # in units of 2/epsilon rows
# Round numbers of a line, at least, and their part of all weight: docs/decisions/0019-measured-on-real-tables.md
FEWEST_ROUND, WEIGHT_OF_ROUND = 512, Fraction(1, 10)


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


def error_of_sum(law: Law, many: int, confidence: float) -> int:
    """A k with P(|sum of so many noises| <= k) >= confidence, the smallest for Gaussian noise.

    Sums of Laplace noise lie between it and Gaussian noise of the same deviation: the wider bar of both holds.
    """
    if many == 1:
        return error(law, confidence)
    gaussian = _gaussian_error(sqrt(many) * deviation(law), confidence)
    return gaussian if isinstance(law, DiscreteGaussian) else max(gaussian, ceil(sqrt(many) * error(law, confidence)))


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


# ---- round numbers, which many values share


def round_step(width: Fraction, cells: int) -> Fraction:
    """The largest power of ten of which a line of so many cells holds enough."""
    most = width * cells / FEWEST_ROUND
    step = Fraction(10) ** floor(log10(most))
    return step / 10 if step > most else step * 10 if step * 10 <= most else step  # a logarithm may be off by a bit


def round_number(lower: Fraction, width: Fraction, cells: int, cell: int) -> Fraction | None:
    """The round number of a cell of the line, if it holds one and others do not."""
    step = round_step(width, cells)
    number = ceil((lower + cell * width) / step) * step
    return number if step > width and number < lower + min(cell + 1, cells) * width else None


@lru_cache(maxsize=64)
def round_cells(lower: Fraction, width: Fraction, cells: int) -> Numbers:
    """The cells of a line that hold a round number; none where all of them do."""
    step = round_step(width, cells)
    if step <= width:
        return np.zeros(0, dtype=np.int64)
    scale = lcm(lower.denominator, width.denominator, step.denominator)
    start, each, apart = (int(number * scale) for number in (lower, width, step))
    numbers = range(-(-start // apart), -(-(start + cells * each) // apart))
    kept = np.array([(number * apart - start) // each for number in numbers], dtype=np.int64)
    kept.setflags(write=False)
    return kept


def cost_of_odd(inside: Fraction, epsilon: Fraction, round_ones: int, cells: int) -> int:
    """What a cell without a round number costs in its score, where one row is the denominator of the level.

    Without noise round cells would together have their part of all weight, as if that many were as likely beforehand.
    """
    part = WEIGHT_OF_ROUND / (1 - WEIGHT_OF_ROUND) * (cells - round_ones) / round_ones
    slope = max(inside.numerator, inside.denominator - inside.numerator)
    return floor(2 * slope / epsilon * Fraction(log(part))) if part > 1 else 0


# ---- bounds that are found


def rows_at_anchor(epsilon: Fraction, cells: int) -> int:
    """So many rows larger than the anchor: all edges beyond the last row together are then hardly ever chosen.

    `epsilon` is what one row costs in the choice, and `cells` how many edges there are.
    """
    return ceil(2 / epsilon * Fraction(log(cells / TOO_FAR)))


def rows_at_clamp(epsilon: Fraction) -> int:
    """So many rows are to be larger than the clamp: few, and still more than noise makes of none."""
    return ceil(2 / epsilon * ROWS_BEYOND)


def rows_of_a_cell(epsilon: Fraction, fine: int) -> int:
    """What one edge farther costs, in parts of a row: without, empty edges beyond the last row would add up."""
    return ceil(2 / epsilon * COST_OF_A_CELL * fine)
