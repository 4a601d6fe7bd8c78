"""Error bars of quantiles: noisy counts of the rows between cuts, which lie ever nearer to the released positions.

Once the positions are released, where the cuts lie is public. How many there are is chosen for accuracy alone.
Proof: docs/proofs/quantiles.md, "Privacy"
"""

from fractions import Fraction
from functools import lru_cache
from math import isqrt, sqrt

import numpy as np

from sfumato.kernel.mechanisms.protocol import CellCounts, Numbers

STEPS_OF_ONE = 1 << 16  # coefficients are rounded to multiples of 1/STEPS_OF_ONE, before anything is measured
MOST_BETWEEN = 1 << 10
# Half of the distance between two cuts of a side, in quarters of an octave, and how far the nearest is from the line's
# length: 2^-18 of it.
STEPS = (2, 3, 4, 6, 9, 12, 18, 36)
NEAREST = 72


def step_of(levels: int, *, gaussian: bool) -> int:
    """How densely cuts lie for so many levels: with more of them the noise of sums grows."""
    wanted = (2 if levels <= 10 else 4) if gaussian else (2 if levels == 1 else 3 if levels <= 4 else 4)
    return next(
        (step for step in STEPS if step >= wanted and 2 * levels * (NEAREST // (2 * step)) < MOST_BETWEEN), STEPS[-1]
    )


def cuts_of(chosen: tuple[int, ...], cells: int, step: int) -> tuple[int, ...]:
    """Edges between cells, upwards, at growing distances on both sides of each chosen cell.

    Claim: a function of what was released and of the line. The distances are the whole parts of cells · 2^(-e), with e
    a multiple of a quarter: fourth roots of whole numbers, the same on every machine.
    """
    near = distances(cells, step)
    found = {edge for cell in chosen for distance in near for edge in (cell + 1 - distance, cell + distance)}
    return tuple(sorted(edge for edge in found if 0 < edge < cells))


def distances(cells: int, step: int) -> set[int]:
    """From a chosen cell to its cuts, on either side."""
    return {isqrt(isqrt(cells**4 >> quarters)) for quarters in range(step, NEAREST, 2 * step)} - {0}


def counts_between(counts: CellCounts, cuts: tuple[int, ...]) -> Numbers:
    """The rows below the first cut, between neighbouring ones, and above the last."""
    below = np.concatenate([[0], np.cumsum(counts.counts)])
    edges = np.concatenate([[0], below[np.searchsorted(counts.places, np.array(cuts, dtype=np.int64))], below[-1:]])
    return np.asarray(np.diff(edges), dtype=np.int64)


def balanced(size: int, tilt: Fraction) -> Numbers:
    """The matrix of `measuring`."""
    return measuring(size, tilt)[0]


@lru_cache(maxsize=256)
def measuring(size: int, tilt: Fraction) -> tuple[Numbers, int]:
    """A matrix of whole numbers to measure counts with, for Gaussian noise, and the square of its longest column.

    It resembles the root of the matrix that gives rows below minus rows above a cut: with one power of noise for all of
    its columns, all such differences have the same small error. For levels that lie up to `tilt` from the middle the
    sum of all rows is measured besides.
    Claim: the second is the largest sum of squares in a column of the first, exactly, whatever its integers are.
    Proof: entries are below 2^17 and columns have at most 1,025 of them: squares add up to less than 2^45.
    """
    odd = np.arange(1, 2 * size, 2)
    waves = np.cos(np.pi / size * np.outer(np.arange(2 * size), odd))
    column = waves @ (1 / np.sqrt(np.sin(np.pi * odd / (2 * size)))) / (sqrt(2) * size)
    rounded = np.rint(STEPS_OF_ONE * column).astype(np.int64)
    matrix: Numbers = rounded[(np.arange(size)[:, None] - np.arange(size)) % (2 * size)]
    if tilt:
        whole = round(STEPS_OF_ONE * sqrt(tilt))
        matrix = np.vstack([matrix, np.full((1, size), whole, dtype=np.int64)])
    matrix.setflags(write=False)
    return matrix, int((matrix**2).sum(axis=0).max())
