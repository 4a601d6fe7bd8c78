"""What synthetic rows are drawn from: shares of cells, of pairs of cells along a tree, and the weights of drawn rows.

All are whole numbers that follow from releases, so that a model gives the same rows on every machine.
"""

import hashlib
from dataclasses import dataclass

import numpy as np

from sfumato.learn.bins import Codes
from sfumato.learn.synthesis.cleaning import Floats
from sfumato.learn.synthesis.pairs import Pair
from sfumato.learn.synthesis.raking import drawn_rows, resampled
from sfumato.simulate import Simulator, Stream

POINTS = 50_000  # rows that are drawn and weighted
MOST_COLUMNS = 600  # of more, no plan to fit them is small enough; of these, points take a quarter of a gigabyte

Ends = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Likeness:
    """A table that is like another, column by column and pair by pair.

    `rows` is the noisy number of rows, `noise` its standard deviation. `ends` are the first and the last value of each
    column along a line. `ones` are the shares of the cells of each column, `tables` those of the pairs of a tree, in
    parts of 2^24; `pairs` are all that were measured, those of the tree first. `weights` are of the rows that are drawn
    down the tree; who counts once has 65536.
    """

    rows: int
    noise: int
    ends: tuple[Ends | None, ...]
    ones: tuple[tuple[int, ...], ...]
    pairs: tuple[Pair, ...]
    tables: tuple[tuple[int, ...], ...]
    weights: tuple[int, ...]

    @property
    def alone(self) -> list[int]:
        """The columns that were measured with no other."""
        joined = {place for pair in self.pairs for place in pair}
        return [place for place in range(len(self.ones)) if place not in joined]

    def points(self, seed: str) -> Codes:
        """The rows that are weighted, by the seed that they were drawn with."""
        ones = [np.array(one, dtype=np.int64) for one in self.ones]
        tree = {
            pair: np.array(table, dtype=np.int64).reshape(len(ones[pair[0]]), len(ones[pair[1]]))
            for pair, table in zip(self.pairs, self.tables, strict=False)
        }
        return drawn_rows(ones, tree, len(self.weights), coins_of_rows(seed))

    def drawn(self, seed: str, count: int, simulator: Simulator) -> Codes:
        """So many rows, each as the numbers of its cells, in random order."""
        begin, order = simulator.stream("begin").uniform(1)[0], simulator.stream("order").permutation(count)
        codes = self.points(seed)
        alike = np.lexsort(codes.T)  # side by side, so that of rows like each other as many are taken as they weigh
        taken = resampled(np.array(self.weights, dtype=np.int64)[alike], count, float(begin))
        return np.asarray(codes[alike[taken[order]]])

    def shares(self, seed: str) -> list[Floats]:
        """The shares of the cells of every column, by what the rows weigh."""
        codes, weights = self.points(seed), np.array(self.weights, dtype=np.float64)
        return [
            np.bincount(codes[:, place], weights, minlength=len(one)) / weights.sum()
            for place, one in enumerate(self.ones)
        ]


def coins(seed: str) -> Simulator:
    """Public coins, of whatever text a file has for a seed."""
    return Simulator(int.from_bytes(hashlib.sha256(seed.encode()).digest()[:16], "big"))


def coins_of_rows(seed: str) -> Stream:
    return coins(seed).stream("rows down a tree")
