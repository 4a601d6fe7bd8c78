"""Named streams of uniform doubles, and the laws made from them by inversion. Never for noise."""

import hashlib
from dataclasses import dataclass
from typing import SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.errors import UsageError, not_whole
from sfumato.simulate.quantiles import normal_quantile


class Stream:
    """A sequence of uniform doubles; every law is an inversion of them written here.

    Claim: the same seed gives the same values under every version of NumPy. NumPy keeps the raw output of PCG64 and
    of SeedSequence fixed, but not its distributions, so only the raw words are used.
    """

    __slots__ = ("_source",)

    def __init__(self, source: np.random.PCG64) -> None:
        self._source = source

    def uniform(self, count: int) -> NDArray[np.float64]:
        """Doubles in [0, 1), each a multiple of 2^-53."""
        words = np.asarray(self._source.random_raw(count), dtype=np.uint64)
        return np.asarray((words >> np.uint64(11)) * 2.0**-53, dtype=np.float64)

    def integers(self, low: int, high: int, count: int) -> NDArray[np.int64]:
        """Whole numbers from low to high, both included."""
        if high < low:
            raise UsageError(f"there is no whole number from {low} to {high}.", "Swap the two ends.")
        return low + np.floor(self.uniform(count) * (high - low + 1)).astype(np.int64)

    def categories(self, weights: ArrayLike, count: int) -> NDArray[np.int64]:
        """Positions in `weights`, each with probability proportional to its weight."""
        return self.conditional(np.asarray(weights)[None, :], np.zeros(count, dtype=np.int64))

    def conditional(self, weights: ArrayLike, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """One position for each entry of `rows`, drawn with the weights in that row of the table `weights`.

        Claim: a weight of 0 is never chosen; other shares are right to within the grid of the doubles.
        Needs: whole weights, none negative, with a positive sum in every row that occurs.
        """
        table = np.asarray(weights)
        if not np.issubdtype(table.dtype, np.integer) or np.any(table < 0):
            raise UsageError("weights must be whole numbers of 0 or more.", "Scale and round them, e.g. [3, 1, 0].")
        totals = table.sum(axis=1)
        if np.any(totals[rows] == 0):
            raise UsageError("all weights are 0, so there is nothing to choose.", "Give one of them a positive weight.")
        # All rows laid end to end: one search serves them all, and whole targets cannot slip into the next row.
        starts = np.concatenate([[0], np.cumsum(totals)[:-1]])
        targets = starts[rows] + np.floor(self.uniform(len(rows)) * totals[rows]).astype(np.int64)
        found = np.searchsorted(np.cumsum(table), targets, side="right")
        return np.asarray(found - rows * table.shape[1], dtype=np.int64)

    def normal(self, count: int) -> NDArray[np.float64]:
        """Standard normal values."""
        # The quantile of 0 is minus infinity.
        return normal_quantile(np.maximum(self.uniform(count), 2.0**-54))

    def laplace(self, count: int) -> NDArray[np.float64]:
        """Laplace values of scale 1."""
        share = self.uniform(count) - 0.5 + 2.0**-54  # never at the ends, whose quantiles are infinite
        return np.asarray(-np.sign(share) * np.log1p(-2 * np.abs(share)), dtype=np.float64)

    def permutation(self, count: int) -> NDArray[np.int64]:
        """The numbers 0 to count - 1 in random order."""
        return np.argsort(self.uniform(count), kind="stable").astype(np.int64)


@dataclass(frozen=True, slots=True)
class Simulator:
    """A seed, from which any number of independent streams are drawn by name.

    Claim: a stream depends on the seed and its own name only, so asking for one more stream changes no other.
    """

    seed: int

    def __post_init__(self) -> None:
        if isinstance(self.seed, bool) or not isinstance(self.seed, SupportsIndex):
            raise not_whole("seed", repr(self.seed))
        if self.seed < 0:
            raise UsageError(f"seed must be 0 or greater, not {self.seed}.", "Choose another seed, e.g. seed=7.")

    def stream(self, name: str) -> Stream:
        # A digest and not Python's hash(), which differs from one process to the next.
        key = int.from_bytes(hashlib.sha256(name.encode()).digest()[:16], "big")
        return Stream(np.random.PCG64(np.random.SeedSequence(int(self.seed), spawn_key=(key,))))
