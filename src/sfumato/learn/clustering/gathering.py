"""Rows gathered around public centres: what is asked of them, and where the centres go by what was released.

Asked are the rows around each centre, and in each column the sum of how far they are from it. Whoever is farther than a
public reach counts as so far: the nearer rows are to their centres, the less noise the sums need.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

import numpy as np

from sfumato.kernel.gate import Release
from sfumato.learn.asking import cells_of, sums_of
from sfumato.learn.clustering.centres import Whole, divided, nearest, weighed
from sfumato.learn.clustering.nearest import Keys, placed
from sfumato.learn.model import SIDE
from sfumato.learn.scaled import ScaledTask
from sfumato.plan.expressions import Arithmetic, Cells, Column, Pick, RangeKey
from sfumato.plan.lattice import Lattice
from sfumato.plan.nodes import CellSum, Histogram, Plan
from sfumato.plan.sources import Computed, Kept, Rows
from sfumato.schema.columns import Int

COUNTED = Fraction(3, 10)  # of a share goes into counts, the rest into sums
LEAST_REACH, WITHIN = 8, Fraction(19, 20)  # so large a part of the rows is expected within the reach
SURE = 2  # so many standard deviations of noise a centre has rows
FINE = 16  # of a step: where means lie
PARTS = 256  # of standard deviations, as whole numbers
MOST_ROWS = 1 << 36
MOST_NOISE, MOST_NOISE_OF_SUMS = 1 << 53, 1 << 46  # in 256ths; products with the latter fit 64 bits


@dataclass(frozen=True, slots=True)
class Gathering:
    """Centres, by which columns the nearest is found, and how far from it a row counts in each column; in steps."""

    centres: tuple[tuple[int, ...], ...]
    by: tuple[int, ...]
    reach: tuple[int, ...]

    @classmethod
    def around(cls, centres: Whole, by: Sequence[int], points: Whole, weights: Whole) -> "Gathering":
        """With the reach that points have which are like the rows, as far as is known."""
        own = _own(points, centres, by)
        return cls(
            tuple(tuple(int(one) for one in centre) for centre in centres),
            tuple(by),
            tuple(_within(np.abs(points[:, j] - centres[own, j]), weights) for j in range(points.shape[1])),
        )

    @classmethod
    def largest(cls, many: int, columns: int, by: int) -> "Gathering":
        """As large as any: for the schedule, and its noise is the most that there can be."""
        return cls(((SIDE,) * columns,) * many, tuple(range(min(by, columns))), (SIDE,) * columns)

    @property
    def array(self) -> Whole:
        return np.array(self.centres, dtype=np.int64)

    def own(self, points: Whole) -> Whole:
        return _own(points, self.array, self.by)

    def plans(self, task: ScaledTask, share: Fraction) -> list[Plan]:
        """Rows around each centre, then sums of how far they are from it, one plan a column.

        Claim: a row adds at most the column's reach to a sum: the lattice clamps last.
        """
        source, cells = self._placed(task)
        made = [task.plan((), Histogram(cells), share * COUNTED, source)]
        for place, (reach, part) in enumerate(zip(self.reach, self.shares(task, share), strict=True)):
            name, rows = self._away(task, source, cells, place)
            made.append(task.plan((), CellSum(cells, Column(name), Lattice(-reach, reach, 0)), part, rows))
        return made

    def shares(self, task: ScaledTask, share: Fraction) -> list[Fraction]:
        """Of the sums: where one row can add more, more. In ρ the squares of all noise together are least like that."""
        weights = self.reach if task.currency == "rho" else [isqrt(PARTS * reach) for reach in self.reach]
        return [share * (1 - COUNTED) * weight / sum(weights) for weight in weights]

    def gathered(self, task: ScaledTask, releases: Sequence[Release], share: Fraction) -> "Gathered":
        """Of the releases of these plans."""
        counts, sums = cells_of(releases[0]), [sums_of(release) for release in releases[1:]]
        noises = [
            noise_of_sums(task, reach, part) for reach, part in zip(self.reach, self.shares(task, share), strict=True)
        ]
        return Gathered(self, counts, np.column_stack(sums), noise_of_sums(task, 1, share * COUNTED), tuple(noises))

    def _placed(self, task: ScaledTask) -> tuple[Kept, RangeKey]:
        names = [one.feature.name for one in task.columns]
        keys = Keys(tuple(tuple(centre[place] for place in self.by) for centre in self.centres), SIDE)
        rows, cells = placed(task.source, names, self.by, keys, task.unused)
        return Kept(rows), cells

    def _away(self, task: ScaledTask, source: Kept, cells: Cells, place: int) -> tuple[str, Rows]:
        """How far rows are from their centre in a column."""
        name, beside = task.unused("away"), task.unused("centre")
        at = Pick(cells, tuple(centre[place] for centre in self.centres))
        away = Computed(name, Arithmetic("-", task.columns[place].column, at), Int(-2 * SIDE, 2 * SIDE))
        return name, Rows(source, None, (away, Computed(beside, Column(beside), Int(0, max(1, len(self.centres) - 1)))))


def noise_of_sums(task: ScaledTask, reach: int, share: Fraction) -> int:
    """The standard deviation, in 256ths, of a sum to which a row adds at most so much; of a count that is 1."""
    column = task.columns[0].column
    plan = task.plan((), CellSum(RangeKey(column, 0, 0), column, Lattice(-reach, reach, 0)), share)
    return max(1, round(min(PARTS * task.deviation(plan), MOST_NOISE)))


@dataclass(frozen=True, slots=True)
class Gathered:
    """Noisy rows around each centre, and sums of how far they are from it; standard deviations in 256ths."""

    gathering: Gathering
    counts: Whole
    sums: Whole
    noise: int
    noises: tuple[int, ...]

    @property
    def sure(self) -> np.ndarray:
        """Which centres have more rows than noise makes."""
        return np.asarray(PARTS * self.counts > SURE * self.noise)

    @property
    def _noises(self) -> Whole:
        return np.minimum(np.array(self.noises, dtype=np.int64), MOST_NOISE_OF_SUMS)

    @property
    def _scale(self) -> tuple[Whole, Whole, Whole]:
        """Rows, reach, and what both are divided by: a centre moves by n/(n + 2sd) of the mean that was seen."""
        rows = np.clip(self.counts, 1, MOST_ROWS)[:, None]
        reach = np.array(self.gathering.reach, dtype=np.int64)
        return rows, reach, PARTS * rows * reach + 2 * self._noises

    def moved(self) -> Whole:
        """Where the centres go, in fine steps."""
        rows, reach, whole = self._scale
        sums = np.clip(self.sums, -reach * rows, reach * rows)
        steps = divided(FINE * PARTS * reach * sums, whole)
        return np.asarray(np.clip(FINE * self.gathering.array + steps, -FINE * SIDE, FINE * SIDE))

    def errors(self) -> Whole:
        """What noise does to them, as standard deviations in 256ths of a step; at most their reach."""
        _, reach, whole = self._scale
        return np.minimum(divided(PARTS * reach * self._noises, whole), PARTS * reach)

    def like_rows(self, points: Whole) -> tuple[Whole, Whole]:
        """Points moved with their centres, and how many rows each stands for."""
        own = self.gathering.own(points)
        shift = divided(self.moved() - FINE * self.gathering.array, np.array(FINE))
        rows = np.where(self.sure, weighed(self.counts), 0)
        many = np.bincount(own, minlength=len(rows))
        weights = rows[own] * len(points) // many[own]
        return np.clip(points + shift[own], -SIDE, SIDE), weights


def _own(points: Whole, centres: Whole, by: Sequence[int]) -> Whole:
    return nearest(points[:, list(by)], centres[:, list(by)])


def _within(away: Whole, weights: Whole) -> int:
    """The distance within which enough of the weight is."""
    order = np.argsort(away, kind="stable")
    reached = np.cumsum(weights[order])
    if not reached[-1]:
        return SIDE
    enough = -(-WITHIN.numerator * int(reached[-1]) // WITHIN.denominator)
    return int(np.clip(away[order][int(np.searchsorted(reached, enough))], LEAST_REACH, SIDE))
