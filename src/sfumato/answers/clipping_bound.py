"""Which bound a clipping scan recommends: one beyond which few rows lie, as far as its noise tells."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.answers.cells import running_totals
from sfumato.answers.clipping_line import ClippingLine
from sfumato.kernel.mechanisms.additive import Additive, DiscreteLaplace
from sfumato.kernel.widths import deviation

Numbers = NDArray[np.float64]
# Beyond a bound lie no more rows than one of so many, or than noise hides; if it hides more than one of so many, none
# is recommended.
FEW, MOST_HIDDEN = 50, 20
HIDES = 2.0  # standard deviations: so many rows may lie where none are seen
RARE = 8.0  # noise alone looks like rows with probability e^-RARE, in each stretch of cells
DOUBT = 1.6  # how much more than its noise an estimate must be, far out; measured on ages, incomes, fares and spikes
WIDTH = 1.959964  # standard deviations of a 95 % error bar


@dataclass(frozen=True, slots=True)
class RowsFrom:
    """How many rows lie in each cell or farther out, and what independent noises of one deviation add to that.

    `tails`: what a single noise adds to a sum of them, beyond a normal law's width; 0 of Gaussian noise.
    """

    values: Numbers
    ends: Numbers
    counts: Numbers
    noise: Numbers
    deviation: float
    tails: float

    @property
    def deviations(self) -> Numbers:
        return np.asarray(self.deviation * np.sqrt((self.noise**2).sum(axis=1)))


@dataclass(frozen=True, slots=True)
class Recommended:
    """The place of a bound and the part of the rows beyond it, at most; or about how many times more would show one."""

    place: int | None
    beyond: float | None = None
    times: float | None = None


def rows_from(line: ClippingLine, answers: Sequence[int], measured: Additive) -> RowsFrom:
    """The line begins with the largest values: its running totals are what is wanted."""
    matrix = np.tri(line.size) if measured.strategy is None else running_totals(measured.strategy)
    one = deviation(measured.law)
    lows, ends = np.array(line.lows), np.array(line.ends)
    return RowsFrom(
        (lows + ends) / 2,
        ends,
        (matrix @ np.array(answers, dtype=np.float64))[::-1],
        matrix[::-1],
        one,
        one / np.sqrt(2) if isinstance(measured.law, DiscreteLaplace) else 0.0,
    )


def recommended(rows: RowsFrom, unit_noise: float) -> Recommended:
    """The bound that loses least to clipping and to later noise, of those beyond which few rows seem to lie.

    None where noise hides more than few, or where nobody is seen at all.
    """
    reached = _reached(rows)
    beyond, noises = np.append(rows.counts[1:], 0.0), np.append(rows.deviations[1:], 0.0)
    everybody = float(rows.counts[0])
    first = int(np.argmax((beyond <= np.maximum(everybody / FEW, HIDES * noises)) & (rows.ends > 0)))
    # At the last bound nothing is left to lie beyond it: noise is that of the one before.
    hidden = HIDES * float(noises[min(first, len(beyond) - 2, len(beyond) if reached is None else reached)])
    if reached is None or hidden > everybody / MOST_HIDDEN:
        seen = everybody > WIDTH * float(rows.deviations[0])
        times = MOST_HIDDEN * hidden / everybody if seen else 0.0
        return Recommended(None, times=times if times > 1 else None)
    reached = max(reached, int(np.argmax(rows.ends > 0)))
    place = first + int(np.argmin(_lost(rows, first, reached) ** 2 + (unit_noise * rows.ends[first:]) ** 2))
    most = (max(float(beyond[place]), 0.0) + WIDTH * float(noises[place])) / everybody
    return Recommended(place, beyond=min(most, 1.0))


def _lost(rows: RowsFrom, first: int, reached: int) -> Numbers:
    """What each bound from the first one on loses to clipping, as far as the noisy counts tell.

    It is at least what the cells up to any other lose, since no count is negative: the largest of these estimates
    counts. Up to the last cell that surely holds somebody, or has one above it, an estimate counts as it is; further
    out it must exceed its own noise, the more the further, or empty cells would decide. It never grows with the bound.
    """
    counts, noise = (-np.diff(each, axis=0, append=each[-1:] * 0) for each in (rows.counts, rows.noise))
    doubts = DOUBT * np.sqrt(2 * np.log(np.maximum(rows.ends / rows.ends[reached], 1.0)))
    found = []
    for end in rows.ends[first:]:
        over = np.maximum(rows.values - end, 0.0)
        noises = rows.deviation * np.sqrt((np.cumsum(over[:, None] * noise, axis=0) ** 2).sum(axis=1))
        found.append(max(0.0, float((np.cumsum(over * counts) - doubts * noises)[reached:].max())))
    return np.asarray(np.maximum.accumulate(np.array(found)[::-1])[::-1])


def _reached(rows: RowsFrom) -> int | None:
    """The last cell from which on so many are counted together that noise alone hardly ever does it; None for none.

    All stretches of cells are looked at, by Bernstein's inequality for sums of independent noises.
    """
    counts = np.append(rows.counts, 0.0)
    noise = np.vstack([rows.noise, np.zeros(rows.noise.shape[1])])
    products = noise @ noise.T
    squares = np.diag(products)
    first, last = np.triu_indices(len(counts), 1)
    spread = np.sqrt(np.maximum(squares[first] + squares[last] - 2 * products[first, last], 0.0))
    seen = counts[first] - counts[last] > rows.deviation * np.sqrt(2 * RARE) * spread + RARE * rows.tails
    return int(first[seen].max()) if seen.any() else None
