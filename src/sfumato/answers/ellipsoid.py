"""Between which values a formula lies while the noise of all its numbers stays within the confidence."""

from collections.abc import Sequence
from itertools import combinations
from math import hypot, sqrt
from typing import Any

import numpy as np

from sfumato.answers.at_points import Floats, Rows, evaluated
from sfumato.answers.columns import Noises
from sfumato.kernel.mechanisms.protocol import Released
from sfumato.query.computing import Computed, Operand, linear
from sfumato.query.rewrite import CountColumn, MeanColumn, OutputColumn, SpreadColumn, SumColumn

Row = Sequence[Any]
CIRCLE, STEPS, SLIGHTLY = 64, 12, 1e-4
INWARDS = (1.0, 2 / 3, 1 / 3)
ALONG_A_LINE = 32
MOST_PAIRED = 24  # axes; of more there would be more directions between two than points are worth
MOST_AT_A_TIME = 1 << 20  # doubles of points in so many rows; the memory is a few times that


class Axes:
    """The numbers a formula depends on, one axis each, and for each measure with a total one for all other groups."""

    def __init__(
        self,
        noises: Noises,
        parts: Sequence[OutputColumn],
        operands: Sequence[Operand],
        totals: Sequence[tuple[Released, ...]],
    ) -> None:
        self.parts, self.operands = parts, operands
        self.measures = list(dict.fromkeys(place for part in parts for place in measures_of(part)))
        added = [measures_of(part)[0] for part, operand in zip(parts, operands, strict=True) if operand.total]
        self.others = list(dict.fromkeys(added))
        self._sums = {place: sum(_number(row, place) for row in totals) for place in self.others}
        own = [noises[place].deviation for place in self.measures]
        rest = [noises[place].deviation * sqrt(max(0, len(totals) - 1)) for place in self.others]
        self.deviations = [*own, *rest]
        factors = [noises[place].error / noises[place].deviation for place in self.measures if noises[place].deviation]
        self.width = max(factors, default=0.0)

    def sure(self, rows: Sequence[tuple[Released, ...]]) -> list[bool]:
        """Whether no mean is lost in the noise of how many values there are."""
        counts = [measures_of(part)[-1] for part in self.parts if isinstance(part, MeanColumn | SpreadColumn)]
        least = {place: 1 + self.width * self.deviations[self.measures.index(place)] for place in counts}
        return [all(_number(row, place) > most for place, most in least.items()) for row in rows]

    def half(self, column: Computed) -> float | None:
        """Half the width of the bar of a weighted sum of counts and sums, of whatever row; None of anything else."""
        weights = linear(column.formula)
        if weights is None or not all(isinstance(part, CountColumn | SumColumn) for part in self.parts):
            return None
        moved = [0.0] * len(self.deviations)
        for place, (part, operand) in enumerate(zip(self.parts, self.operands, strict=True)):
            (measure,), weight = measures_of(part), weights.get(str(place), 0.0) * _step(part)
            moved[self.measures.index(measure)] += weight
            if operand.total:
                moved[len(self.measures) + self.others.index(measure)] += weight
        return self.width * hypot(*(by * far for by, far in zip(moved, self.deviations, strict=True)))

    def range(self, column: Computed, rows: Sequence[tuple[Released, ...]]) -> tuple[Floats, Floats]:
        """The least and the largest value of the formula in the ellipsoid around each row's numbers.

        So many rows at a time that memory does not grow with them.
        """
        half = self.half(column)
        points = self._points() if half is None else np.zeros((1, len(self.deviations)))
        many = max(1, MOST_AT_A_TIME // points.size)
        centres = (self._centre(rows[first : first + many]) for first in range(0, len(rows), many))
        with np.errstate(all="ignore"):
            found = [
                self._searched(column, centre, points) if half is None else self._weighted(column, centre, half)
                for centre in centres
            ]
        lows, highs = zip(*found, strict=True)
        return np.concatenate(lows), np.concatenate(highs)

    def _centre(self, rows: Sequence[tuple[Released, ...]]) -> Floats:
        return np.array(
            [
                [
                    *(_number(row, place) for place in self.measures),
                    *(self._sums[place] - _number(row, place) for place in self.others),
                ]
                for row in rows
            ],
            dtype=np.float64,
        )

    def _points(self) -> Floats:
        """Where the formula is looked at first: the centre, and directions all around at several distances."""
        many = len(self.deviations)
        if many == 1:
            return np.linspace(-1.0, 1.0, 2 * ALONG_A_LINE + 1).reshape(-1, 1)
        directions = _directions(many)
        return np.concatenate([np.zeros((1, many)), *(part * directions for part in INWARDS)])

    def _weighted(self, column: Computed, centre: Floats, half: float) -> tuple[Floats, Floats]:
        values, lost = self._values(column, centre[:, np.newaxis, :])
        return np.where(lost, -np.inf, values[:, 0] - half), np.where(lost, np.inf, values[:, 0] + half)

    def _searched(self, column: Computed, centre: Floats, points: Floats) -> tuple[Floats, Floats]:
        reach = self.width * np.array(self.deviations)
        values, lost = self._values(column, centre[:, np.newaxis, :] + points * reach)
        low, below = self._climbed(column, centre, reach, points[np.argmin(values, axis=1)], -1.0)
        high, above = self._climbed(column, centre, reach, points[np.argmax(values, axis=1)], 1.0)
        lost |= below | above
        lows, highs = np.minimum(values.min(axis=1), low), np.maximum(values.max(axis=1), high)
        return np.where(lost, -np.inf, lows), np.where(lost, np.inf, highs)

    def _climbed(
        self, column: Computed, centre: Floats, reach: Floats, start: Floats, sign: float
    ) -> tuple[Floats, Rows]:
        """The best value found on the sphere, going where the formula grows most.

        The centre is looked at with every step: what changes its sign on the way there has crossed 0.
        """
        many = centre.shape[1]
        at, best, lost = start, np.full(len(centre), -np.inf), np.zeros(len(centre), dtype=bool)
        zero, one = np.zeros((1, many)), SLIGHTLY * np.eye(many)
        offsets, there = np.concatenate([zero, one, -one, zero]), np.ones((2 * many + 2, 1))
        there[-1] = 0.0
        for _ in range(STEPS if many > 1 else 1):
            around = there * at[:, np.newaxis, :] + offsets
            values, beyond = self._values(column, centre[:, np.newaxis, :] + around * reach)
            values, lost = sign * values, lost | beyond
            best = np.maximum(best, values[:, 0])
            at = _direction(values[:, 1 : many + 1] - values[:, many + 1 : -1], at)
        return sign * best, lost

    def _values(self, column: Computed, numbers: Floats) -> tuple[Floats, Rows]:
        """Of numbers (row, point, axis) the formula at each point, and in which rows it has no bounds."""
        given = []
        for part, operand in zip(self.parts, self.operands, strict=True):
            own = [numbers[..., self.measures.index(place)] for place in measures_of(part)]
            if operand.total:
                own[0] = own[0] + numbers[..., len(self.measures) + self.others.index(measures_of(part)[0])]
            given.append(_in_units(part, own))
        return evaluated(column, given)


def _number(row: Row, place: int) -> float:
    return float(row[place])


def measures_of(part: OutputColumn) -> list[int]:
    """The number of values last."""
    match part:
        case CountColumn(measure=measure) | SumColumn(measure=measure):
            return [measure]
        case MeanColumn(total=total, count=count):
            return [total, count]
        case SpreadColumn(total=total, squares=squares, count=count):
            return [total, squares, count]
        case _:
            raise TypeError("it has a bar of its own")


def _step(part: OutputColumn) -> float:
    return float(part.lattice.step) if isinstance(part, SumColumn) else 1.0


def _in_units(part: OutputColumn, numbers: Sequence[Floats]) -> Floats:
    """What a column says of its noisy numbers."""
    match part:
        case MeanColumn(lattice=lattice):
            mean = float(lattice.centre) + numbers[0] / np.maximum(numbers[1], 1.0)
            return np.clip(mean, lattice.lower, lattice.upper) * float(lattice.step)
        case SpreadColumn(spread=spread):
            count = np.maximum(numbers[2], 2.0)
            square = (float(spread.squares.centre) + numbers[1] / count) * float(spread.squares.step)
            mean = (float(spread.lattice.centre) + numbers[0] / count) * float(spread.lattice.step)
            most = float(spread.squares.upper * spread.squares.step)
            inside = np.clip(square - (mean - float(spread.middle)) ** 2, 0.0, most)
            scaled = inside * count / (count - 1) if spread.sample else inside
            return np.sqrt(scaled) if spread.root else scaled
        case _:
            return numbers[0] * _step(part)


def _direction(slope: Floats, otherwise: Floats) -> Floats:
    """Of each row the unit vector; where there is none, another. Slopes may be so large that squares are beyond."""
    largest = np.abs(slope).max(axis=1, keepdims=True)
    scaled = slope / largest
    return np.where(largest > 0, scaled / np.sqrt((scaled * scaled).sum(axis=1, keepdims=True)), otherwise)


def _directions(many: int) -> Floats:
    """Unit vectors all around: a circle; in space axes and what lies between two of them."""
    if many == 2:
        angles = np.arange(CIRCLE) * (2 * np.pi / CIRCLE)
        return np.stack([np.cos(angles), np.sin(angles)], axis=1)
    axes = np.eye(many)
    if many > MOST_PAIRED:
        return np.concatenate([axes, -axes])
    between = [axes[one] + sign * axes[two] for one, two in combinations(range(many), 2) for sign in (-1, 1)]
    found = np.concatenate([axes, np.array(between) / sqrt(2)])
    return np.concatenate([found, -found])
