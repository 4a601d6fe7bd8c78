"""What to measure so that running totals come out well: sums of cells that are added to noise together.

Both strategies are matrices of whole numbers. A row counts in one cell, so one row moves the answers by a column.
Proof: docs/proofs/running-totals.md
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np

from sfumato.kernel.mechanisms.protocol import Numbers

FINENESS = 1 << 16  # coefficients are rounded to multiples of 1/FINENESS, before anything is measured
FANOUT = 16
FLAT = 32  # so few cells are best counted one by one
MOST_RUNNING = 1 << 10


@dataclass(frozen=True, slots=True)
class Strategy:
    """`roots`: the square root of the matrix of running totals. `tree`: cells, blocks of 16 of them, and so on."""

    kind: Literal["roots", "tree"]
    size: int

    def __post_init__(self) -> None:
        if not 1 <= self.size <= MOST_RUNNING:
            raise ValueError(f"running totals are of 1 to {MOST_RUNNING} cells")

    @property
    def most(self) -> int:
        """The largest sum of absolute values in a column."""
        return int(_roots(self.size).sum()) if self.kind == "roots" else len(self.blocks())

    @property
    def spread_squared(self) -> int:
        """The largest sum of squares in a column: the square of its Euclidean length, exactly."""
        return int((_roots(self.size) ** 2).sum()) if self.kind == "roots" else len(self.blocks())

    def blocks(self) -> tuple[int, ...]:
        """How many cells a block has at each level of the tree, the finest first; the whole line is no block."""
        sizes = [1]
        while self.size > FLAT and sizes[-1] * FANOUT < self.size:
            sizes.append(sizes[-1] * FANOUT)
        return tuple(sizes)

    def answers(self, counts: Numbers) -> Numbers:
        """The strategy's sums of the counts.

        Needs: fewer than 2^32 rows, so that nothing overflows.
        """
        if self.kind == "roots":
            return np.convolve(_roots(self.size), counts)[: self.size]
        return np.concatenate(
            [np.add.reduceat(counts, np.arange(0, self.size, block)) for block in self.blocks()], dtype=np.int64
        )


@lru_cache(maxsize=16)
def _roots(size: int) -> Numbers:
    """The first column: 1, 1/2, 3/8, … (each (2k - 1)/(2k) of the one before), on the grid."""
    column, numerator = [], 1 << 80  # 80 digits after the point are far more than the grid keeps
    for k in range(1, size + 1):
        column.append((numerator * FINENESS + (1 << 79)) >> 80)
        numerator = numerator * (2 * k - 1) // (2 * k)
    kept = np.array(column, dtype=np.int64)
    kept.setflags(write=False)
    return kept
