"""Real numbers through the grid and back, piece by piece as the noise is drawn: each piece stays in the cache."""

import numpy as np
import numpy.typing as npt

from sfumato.kernel.entropy import Entropy
from sfumato.kernel.samplers import CHUNK, Integers
from sfumato.noise.calibration import Calibrated, added
from sfumato.noise.grid import Grid
from sfumato.noise.values import Entries

# Whole numbers below it, and the sums of two of them, are doubles.
QUICK = 2.0**52
# 2^exponent and its inverse are doubles with all their digits.
LARGEST_EXPONENT = 1000


def noisy_reals(entries: Entries, noise: Calibrated, entropy: Entropy) -> npt.NDArray[np.float64]:
    """Every number rounded to the grid, plus noise, rounded once to a double.

    Claim: bit for bit grid.reals(added(grid.integers(numbers), drawn)), whichever way a piece takes.
    Proof: docs/proofs/real-lattice.md
    """
    numbers, grid = entries.numbers, noise.grid
    quick = abs(grid.exponent) <= LARGEST_EXPONENT and entries.largest * 2.0 ** (1 - grid.exponent) < QUICK
    result = np.empty(len(numbers), dtype=np.float64)
    room = np.empty(min(CHUNK, len(numbers)), dtype=np.float64)  # for every piece: new ones would leave the cache
    start = 0
    for drawn in noise.law.pieces(len(numbers), entropy):
        if not len(drawn):  # no candidate of a round was kept
            continue
        part = slice(start, start + len(drawn))
        if quick and (doubles := _small(drawn, room)) is not None:
            _fill(result[part], numbers[part], doubles, grid)
        else:
            result[part] = grid.reals(added(grid.integers(numbers[part]), drawn))
        start += len(drawn)
    return result


def _fill(
    result: npt.NDArray[np.float64], numbers: npt.NDArray[np.float64], drawn: npt.NDArray[np.float64], grid: Grid
) -> None:
    """In doubles alone. Needs: |2 numbers / step| and |drawn| below 2^52, so that every line is exact."""
    np.multiply(numbers, 2.0 ** (1 - grid.exponent), out=result)
    # floor(x + 1/2) is ceiling(floor(2x) / 2); x + 0.5 itself would be rounded and count some doubles twice.
    np.floor(result, out=result)
    result *= 0.5
    np.ceil(result, out=result)
    result += drawn
    result *= 2.0**grid.exponent


def _small(drawn: Integers, room: npt.NDArray[np.float64]) -> npt.NDArray[np.float64] | None:
    """The same as doubles, where all are exact: a larger one does not become smaller than 2^52 by rounding."""
    if drawn.dtype == object:
        return None
    doubles = room[: len(drawn)]
    doubles[:] = drawn
    return doubles if np.minimum.reduce(doubles) > -QUICK and np.maximum.reduce(doubles) < QUICK else None
