"""Bounds that nobody declared: found from noisy counts of magnitudes, then used to clamp a sum.

Two rounds in one release. The first adds noise to the number of rows in every cell of a public grid of magnitudes. All
that follows from these noisy counts is post-processing: how far values reach, and the clamp that loses least to
clipping and noise together. The second adds up what lies within that clamp and adds noise for it.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import sqrt

import numpy as np
import numpy.typing as npt

from sfumato.kernel.cost import Currency
from sfumato.kernel.entropy import Entropy
from sfumato.kernel.mechanisms.additive import DiscreteGaussian, DiscreteLaplace, Event
from sfumato.kernel.mechanisms.ranks import Cells
from sfumato.plan.nodes import Magnitudes

Floats = npt.NDArray[np.float64]

FAILURE = 1e-6  # the probability that a cell far beyond all rows is taken for one with rows
NEAR = [2.0**-distance / 100 for distance in range(1, 21)]  # the same, for cells this far beyond one with rows
WINDOWS = (1, 4, 16)  # how many cells are looked at together


@dataclass(frozen=True, slots=True)
class Weighed:
    """How many rows lie in each cell of magnitudes and the sum of their values, in steps."""

    cells: Cells
    sums: tuple[int, ...]

    def fit(self, magnitudes: Magnitudes) -> bool:
        """Whether every sum is one of so many values of its cell's sign, none larger than the cell's edge."""
        if not self.cells.fit(magnitudes.size) or len(self.sums) != len(self.cells.places):
            return False
        middle, edges = len(magnitudes.edges), (0, *magnitudes.edges)
        return all(
            type(total) is int
            and abs(total) <= count * edges[abs(place - middle)]
            and (total == 0 or (total > 0) == (place > middle))
            for place, count, total in zip(
                self.cells.places.tolist(), self.cells.counts.tolist(), self.sums, strict=True
            )
        )

    def clamped(self, low: int, high: int, edges: tuple[int, ...]) -> int:
        """The sum of all values clamped to [low, high]; both are edges or 0.

        Claim: a row in a cell adds at most max(-low, high).
        """
        total, middle = 0, len(edges)
        for place, count, found in zip(self.cells.places.tolist(), self.cells.counts.tolist(), self.sums, strict=True):
            if place != middle:
                most = high if place > middle else low
                total += found if edges[abs(place - middle) - 1] <= abs(most) else count * most
        return total


@dataclass(frozen=True, slots=True)
class BoundedSum:
    """Releases (low, high, sum, beyond, counted): bounds and sum in steps, and of how many rows at most how many lie
    beyond, as far as noisy counts tell.

    `counting` is the noise of the counts, `adding` what the sum may cost in the same currency.
    Claim: epsilon()-DP, or rho()-zCDP, when a unit adds or removes at most `rows` rows in all cells of all groups, and
    no row of a cell is larger than its edge.
    Proof: docs/proofs/private-bounds.md
    """

    counting: DiscreteLaplace | DiscreteGaussian
    adding: Fraction
    rows: int
    edges: tuple[int, ...]

    @classmethod
    def for_share(
        cls, share: Fraction, currency: Currency, finding: Fraction, rows: int, edges: tuple[int, ...]
    ) -> "BoundedSum":
        counts = finding * share
        if currency == "epsilon":
            return cls(DiscreteLaplace.for_epsilon(counts, rows), share - counts, rows, edges)
        return cls(DiscreteGaussian.for_rho(counts, rows), share - counts, rows, edges)

    def cost(self) -> Fraction:
        """Of both rounds: ε for Laplace noise, ρ for Gaussian noise."""
        match self.counting:
            case DiscreteLaplace() as laplace:
                return laplace.epsilon(self.rows) + self.adding
            case gaussian:
                return gaussian.rho(self.rows) + self.adding

    def event(self) -> Event:
        price = "epsilon" if isinstance(self.counting, DiscreteLaplace) else "rho"
        return {
            "mechanism": "bounded_sum",
            "rows": str(self.rows),
            price: str(self.cost()),
            "counting": str(self.cost() - self.adding),
            "adding": str(self.adding),
        }

    def noise(self, most: int) -> DiscreteLaplace | DiscreteGaussian:
        """The noise of a sum of values of at most this size; of none, that of the smallest size."""
        sensitivity = self.rows * max(most, 1)
        if isinstance(self.counting, DiscreteLaplace):
            return DiscreteLaplace.for_epsilon(self.adding, sensitivity)
        return DiscreteGaussian.for_rho(self.adding, sensitivity)

    def draw(self, found: Weighed, entropy: Entropy) -> tuple[int, ...]:
        """Needs: cells that fit."""
        size = 2 * len(self.edges) + 1
        noisy = found.cells.dense(size) + self.counting.draw(size, entropy)
        low, high, beyond, counted = self.bounds(np.asarray(noisy, dtype=np.float64))
        # From here on the data is used again, and only the numbers just released decide how.
        total = found.clamped(low, high, self.edges) + int(self.noise(max(-low, high)).draw(1, entropy)[0])
        return low, high, total, beyond, counted

    def bounds(self, noisy: Floats) -> tuple[int, int, int, int]:
        """The bounds that lose least, as far as noisy counts tell, and of how many rows at most how many lie beyond."""
        middle, edges = len(self.edges), np.array(self.edges, dtype=np.float64)
        sides = noisy[middle - 1 :: -1], noisy[middle + 1 :]
        reach = [_reach(side, self.counting, len(noisy)) for side in sides]
        far = max(reach)
        if far == 0:
            return 0, 0, 0, max(0, round(float(noisy[middle])))
        middles = (edges + np.concatenate([[0.0], edges[:-1]])) / 2
        excess = np.maximum(middles[None, :far] - edges[:far, None], 0.0)
        lost = sum(np.maximum(excess[:, :cells] @ side[:cells], 0.0) for side, cells in zip(sides, reach, strict=True))
        best = int(np.argmin(lost**2 + (edges[:far] * self._deviation()) ** 2))
        ends = [min(best + 1, cells) for cells in reach]
        low, high = (self.edges[end - 1] if end else 0 for end in ends)
        seen = [side[end : cells + len(NEAR)] for side, end, cells in zip(sides, ends, reach, strict=True) if cells]
        doubt = 2 * self.counting.deviation() * sqrt(sum(map(len, seen)))
        beyond = sum(float(cells.sum()) for cells in seen) + doubt
        counted = float(noisy[middle - reach[0] : middle + reach[1] + 1].sum())
        return -low, high, max(0, round(beyond)), max(0, round(counted))

    def _deviation(self) -> float:
        """Of the sum's noise, for values of size 1."""
        if isinstance(self.counting, DiscreteLaplace):
            return sqrt(2) * self.rows / float(self.adding)
        return self.rows / sqrt(2 * float(self.adding))


def _reach(side: Floats, counting: DiscreteLaplace | DiscreteGaussian, cells: int) -> int:
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
def _thresholds(counting: DiscreteLaplace | DiscreteGaussian, failure: float) -> tuple[int, npt.NDArray[np.int64]]:
    """Noise reaches the first with at most the given probability, and the others with those of NEAR."""
    certain, *likely = (counting.error(1 - 2 * chance) + 1 for chance in (failure, *NEAR))
    return certain, np.array(likely)
