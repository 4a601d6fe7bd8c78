"""The exponential mechanism over a large set of vectors, without a pass over every distance in full precision.

A product of matrices in single precision bounds every weight from above by a whole number; a uniform whole number below
their sum proposes an item; the exact weight of this one item, and no other, decides whether it is taken.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from sfumato.kernel.borders import below_exp
from sfumato.kernel.entropy import Entropy

Steps = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Singles = npt.NDArray[np.float32]
Weights = npt.NDArray[np.int32]

BITS = 24  # a weight of 1 is 2^BITS
GROUP = 64  # weights that are added up first: in 32 bits
BLOCK = 1 << 20  # weights at a time
CALM = 1 << 12  # rows times entries of a product of matrices with one group: larger ones wake threads and wait for them
MOST_ITEMS = 1 << 22
LONGEST = 16_000  # entries of a vector: a distance in doubles is right to a step
SLOPE = 2.0**-8  # by which a bound may exceed what single precision says
BACK = np.float32(2.0**-20)  # by which a distance may be below what single precision says; 1 is the largest norm
STEEPEST = 1e30  # a rate beyond this is bounded by this


@dataclass(frozen=True, slots=True)
class Nearby:
    """Vectors, one row per item; their scaled copy in single precision, by group, entry and item; its squared norms."""

    table: Floats
    step: Fraction
    scale: float
    tiles: Singles
    squares: Singles

    @classmethod
    def of(cls, table: Floats, step: Fraction) -> "Nearby":
        away = table - table.mean(axis=0)
        largest = float(np.linalg.norm(away, axis=1).max())
        scale = 2.0 ** float(np.ceil(np.log2(largest)) + 1) if largest > 0 else 1.0
        small = np.zeros((-(-len(table) // GROUP) * GROUP, table.shape[1]), dtype=np.float32)
        small[: len(table)] = away / scale
        tiles = np.ascontiguousarray(small.reshape(-1, GROUP, table.shape[1]).transpose(0, 2, 1))
        return cls(table, step, scale, tiles, np.einsum("ij,ij->i", small, small))

    def rows(self, place: int) -> Steps:
        """The distances from one item to all, in whole steps, rounded up."""
        return self._steps(self.table - self.table[place])

    def _steps(self, apart: Floats) -> Steps:
        distances = np.sqrt(np.einsum("ij,ij->i", apart, apart))
        return np.asarray(np.ceil(distances / float(self.step)).astype(np.int64))

    def draw(self, rate: Fraction, places: Steps, entropy: Entropy) -> Steps:
        """For each item an item z with probability proportional to exp(-rate · steps(item, z)).

        Claim: exact, whatever the bounds, as long as none is too small.
        Proof: docs/proofs/metric-privacy.md, "Many vectors".
        """
        found = np.empty(len(places), dtype=np.int64)
        distinct, owner = np.unique(places, return_inverse=True)
        order = np.argsort(owner, kind="stable")
        high = max(2, CALM // self.table.shape[1])
        parts = max(1, min(-(-len(distinct) // high), BLOCK // (len(self.squares) * high)))
        shape = parts, len(self.tiles), high, GROUP
        room = np.empty(shape, dtype=np.float32), np.empty(shape, dtype=np.int32)
        for start in range(0, len(distinct), parts * high):
            block = distinct[start : start + parts * high]
            asked = order[slice(*np.searchsorted(owner[order], [start, start + len(block)]))]
            bounds = self.bounds(rate, np.resize(block, parts * high), *room)
            found[asked] = self._block(rate, block, owner[asked] - start, bounds, entropy)
        return found

    def bounds(self, rate: Fraction, places: Steps, away: Singles, whole: Weights) -> Weights:
        """In `whole`, by part, group, row and item: none below 2^24 exp(-rate · steps), none above 2^24; 0 for no item.

        `away` is room to work in: fresh memory would take longer than the arithmetic.
        """
        parts, groups, high, _ = away.shape
        rows = self.tiles[places // GROUP, :, places % GROUP].reshape(parts, 1, high, -1)
        np.matmul(rows, self.tiles, out=away)
        away *= np.float32(-2)
        away += self.squares.reshape(groups, 1, GROUP)
        away += (self.squares[places] - np.float32((5 * rows.shape[3] + 32) * 2.0**-24)).reshape(parts, 1, high, 1)
        np.sqrt(np.maximum(away, np.float32(0), out=away), out=away)
        away -= BACK
        np.maximum(away, np.float32(0), out=away)
        away *= np.float32(-min(float(rate / self.step) * self.scale, STEEPEST))
        np.exp(away, out=away)
        away *= np.float32((1 + SLOPE) * 2.0**BITS)
        whole[:] = away
        whole += 1
        np.minimum(whole, 1 << BITS, out=whole)
        whole[:, -1, :, GROUP - (len(self.squares) - len(self.table)) :] = 0
        return whole

    def _block(self, rate: Fraction, block: Steps, owner: Steps, bounds: Weights, entropy: Entropy) -> Steps:
        """Choices for the items of a block; a point below the bounds that is not below the weights is drawn again."""
        wide = bounds.shape[1]
        sums = bounds.sum(axis=3, dtype=np.int32).transpose(0, 2, 1)  # a row has its groups side by side
        ends = np.cumsum(sums.reshape(-1), dtype=np.int64)
        starts = np.concatenate([np.zeros(1, dtype=np.int64), ends[wide - 1 :: wide]])
        shift = np.uint64(64 - int(np.diff(starts).max()).bit_length())
        found, waiting = np.empty(len(owner), dtype=np.int64), np.arange(len(owner))
        while len(waiting):
            row = owner[waiting]
            points = (entropy.words(len(waiting)) >> shift).view(np.int64) + starts[row]
            inside = points < starts[row + 1]
            chosen, heights = _cells(bounds, ends, points[inside])
            taken = self._below(rate, block[row[inside]], chosen, heights, entropy)
            winners = np.flatnonzero(inside)[taken]
            found[waiting[winners]] = chosen[taken]
            waiting = np.delete(waiting, winners)
        return found

    def _below(
        self, rate: Fraction, places: Steps, chosen: Steps, heights: Steps, entropy: Entropy
    ) -> npt.NDArray[np.bool_]:
        """Whether height + U < 2^24 exp(-rate · steps); two units around the double decide nothing."""
        steps = self._steps(self.table[places] - self.table[chosen])
        difference = heights - 2.0**BITS * np.exp(-float(rate) * steps)
        result: npt.NDArray[np.bool_] = difference < 0
        for index in np.flatnonzero(np.abs(difference) < 2):
            result[index] = below_exp(rate * int(steps[index]), int(heights[index]), BITS, entropy)
        return result


def _cells(bounds: Weights, ends: Steps, points: Steps) -> tuple[Steps, Steps]:
    """The item whose cell of the added up weights holds each point, and how far into it: by group, then inside it."""
    _, wide, high, _ = bounds.shape
    place = np.searchsorted(ends, points, side="right")
    inner = points - np.where(place > 0, ends[place - 1], 0)
    row, group = place // wide, place % wide
    sums = np.cumsum(bounds[row // high, group, row % high], axis=1, dtype=np.int64)
    cell = (sums <= inner[:, None]).sum(axis=1)
    below = np.where(cell > 0, sums[np.arange(len(cell)), cell - 1], 0)
    return group * GROUP + cell, inner - below
