"""Error bars of what is computed from several answers: jointly, since numbers may share noise. Post-processing only.

The numbers that a formula needs lie, as far as their noise goes, in an ellipsoid around those that were released; its
bar goes from the least to the largest value of the formula there. Of a weighted sum that is its standard deviation
times the usual factor, of a ratio Fieller's interval. Where a part has a bar of another kind (quantiles, sums whose
bounds were found, counts that show keys), or a mean is lost in its noise, the formula takes all values in the box of
the bars of its parts, each at so much more confidence that all hold together.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from math import isfinite, sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.answers.clipped import Clipped
from sfumato.answers.columns import Interval, Intervals, Noises, expected_error, interval_of
from sfumato.kernel.mechanisms.additive import Additive
from sfumato.kernel.mechanisms.protocol import Mechanism, Released
from sfumato.query.computing import Computed, Operand, Operators, computed, linear
from sfumato.query.ordering import After
from sfumato.query.rewrite import CountColumn, KeyColumn, MeanColumn, OutputColumn, SpreadColumn, SumColumn

Floats = npt.NDArray[np.float64]
Row = Sequence[Any]
Plain = CountColumn | SumColumn | MeanColumn | SpreadColumn
Bar = Callable[[OutputColumn, tuple[Released, ...], float], Intervals]
CIRCLE, STEPS, SLIGHTLY = 64, 12, 1e-4
INWARDS = (1.0, 2 / 3, 1 / 3)
MOST_CORNERS = 6  # of a box: 3^6 points


@dataclass(frozen=True, slots=True)
class Formulas:
    """The computed columns of an answer; `totals` has the rows that totals are of."""

    computed: tuple[Computed, ...]
    columns: Mapping[str, OutputColumn]
    mechanisms: tuple[Mechanism, ...]
    totals: tuple[tuple[Released, ...], ...]

    def intervals(
        self, rows: Sequence[tuple[Released, ...]], confidence: float, bar: Bar | None
    ) -> list[dict[str, Intervals]]:
        """For every row the bar of every formula. `bar`: where bars of the parts hold more than noise."""
        found: list[dict[str, Intervals]] = [{} for _ in rows]
        for column in self.computed:
            for place, pair in enumerate(self._bars(column, rows, confidence, bar)):
                found[place][column.name] = pair
        return found

    def expected(self, column: Computed, confidence: float) -> float | None:
        """Half the width of a bar, where it is known beforehand: of a weighted sum of counts and sums."""
        weights = linear(column.formula)
        parts = [self.columns[operand.column] for operand in column.operands]
        known = [part for part in parts if isinstance(part, CountColumn | SumColumn) and self._plain(part)]
        if weights is None or len(known) < len(parts) or any(operand.total for operand in column.operands):
            return None
        axes = _Axes(Noises(self.mechanisms, confidence), parts, column.operands, ())
        moved = dict.fromkeys(axes.measures, 0.0)
        for place, part in enumerate(known):
            moved[part.measure] += weights.get(str(place), 0.0) * _step(part)
        squares = ((by * far) ** 2 for by, far in zip(moved.values(), axes.deviations, strict=True))
        return axes.width * sqrt(sum(squares))

    def _bars(
        self, column: Computed, rows: Sequence[tuple[Released, ...]], confidence: float, bar: Bar | None
    ) -> list[Intervals]:
        parts = [self.columns[operand.column] for operand in column.operands]
        if any(operand.total and not self._plain(part) for operand, part in zip(column.operands, parts, strict=True)):
            return [None] * len(rows)  # of keys that were found: the total is of those that noise showed
        if bar is not None or not all(self._plain(part) for part in parts):
            return [self._boxed(column, parts, row, confidence, bar) for row in rows]
        if not rows:
            return []
        axes = _Axes(Noises(self.mechanisms, confidence), parts, column.operands, self.totals)
        lows, highs = axes.range(column, rows)
        sure = axes.sure(rows)
        return [
            _pair(low, high) if known else self._boxed(column, parts, row, confidence, bar)
            for row, low, high, known in zip(rows, lows, highs, sure, strict=True)
        ]

    def _plain(self, part: OutputColumn) -> bool:
        """Whether it follows from numbers with additive noise alone."""
        return isinstance(part, Plain) and all(
            isinstance(self.mechanisms[place], Additive) for place in _measures(part)
        )

    def _boxed(
        self,
        column: Computed,
        parts: Sequence[OutputColumn],
        row: tuple[Released, ...],
        confidence: float,
        bar: Bar | None,
    ) -> Intervals:
        """All values in the box of the parts' own bars."""
        if len(parts) > MOST_CORNERS or any(operand.total for operand in column.operands):
            return None
        each = 1 - (1 - confidence) / len(parts)
        noises = Noises(self.mechanisms, each)
        ends = [interval_of(part, row, noises) if bar is None else bar(part, row, each) for part in parts]
        known = [pair for pair in ends if isinstance(pair, tuple)]
        if len(known) < len(ends):
            return None
        points = np.array(list(product(*((low, (low + high) / 2, high) for low, high in known))), dtype=np.float64).T
        values, lost = _evaluated(column, [one[np.newaxis] for one in points])
        return None if lost[0] else _pair(values.min(), values.max())


def expected_errors(
    columns: tuple[OutputColumn, ...],
    after: After,
    mechanisms: tuple[Mechanism, ...],
    confidence: float,
    clipped: Clipped | None,
) -> dict[str, float | None]:
    """Of every number in the answer half the width of its bar; None where it depends on the answer."""
    formulas = Formulas(after.computed, {column.name: column for column in columns}, mechanisms, ())
    found = {
        column.name: None if clipped and clipped.covers(column) else expected_error(column, mechanisms, confidence)
        for column in columns
        if not isinstance(column, KeyColumn)
    }
    found |= {column.name: None if clipped else formulas.expected(column, confidence) for column in after.computed}
    return found if after.shown is None else {name: found[name] for name in after.shown if name in found}


class _Axes:
    """The numbers a formula depends on, one axis each, and for each measure with a total one for all other groups."""

    def __init__(
        self,
        noises: Noises,
        parts: Sequence[OutputColumn],
        operands: Sequence[Operand],
        totals: Sequence[tuple[Released, ...]],
    ) -> None:
        self.parts, self.operands = parts, operands
        self.measures = list(dict.fromkeys(place for part in parts for place in _measures(part)))
        added = [_measures(part)[0] for part, operand in zip(parts, operands, strict=True) if operand.total]
        self.others = list(dict.fromkeys(added))
        self._sums = {place: sum(_number(row, place) for row in totals) for place in self.others}
        own = [noises[place].deviation for place in self.measures]
        rest = [noises[place].deviation * sqrt(max(0, len(totals) - 1)) for place in self.others]
        self.deviations = [*own, *rest]
        factors = [noises[place].error / noises[place].deviation for place in self.measures if noises[place].deviation]
        self.width = max(factors, default=0.0)

    def sure(self, rows: Sequence[tuple[Released, ...]]) -> list[bool]:
        """Whether no mean is lost in the noise of how many values there are."""
        counts = [_measures(part)[-1] for part in self.parts if isinstance(part, MeanColumn | SpreadColumn)]
        least = {place: 1 + self.width * self.deviations[self.measures.index(place)] for place in counts}
        return [all(_number(row, place) > most for place, most in least.items()) for row in rows]

    def range(self, column: Computed, rows: Sequence[tuple[Released, ...]]) -> tuple[Floats, Floats]:
        """The least and the largest value of the formula in the ellipsoid around each row's numbers."""
        centre = np.array(
            [
                [
                    *(_number(row, place) for place in self.measures),
                    *(self._sums[place] - _number(row, place) for place in self.others),
                ]
                for row in rows
            ],
            dtype=np.float64,
        )
        reach = self.width * np.array(self.deviations)
        directions = _directions(centre.shape[1])
        points = np.concatenate([np.zeros((1, centre.shape[1])), *(part * directions for part in INWARDS)])
        values, lost = self._values(column, centre[:, np.newaxis, :] + points * reach)
        low, below = self._climbed(column, centre, reach, points[np.argmin(values, axis=1)], -1.0)
        high, above = self._climbed(column, centre, reach, points[np.argmax(values, axis=1)], 1.0)
        lost |= below | above
        lows, highs = np.minimum(values.min(axis=1), low), np.maximum(values.max(axis=1), high)
        return np.where(lost, -np.inf, lows), np.where(lost, np.inf, highs)

    def _climbed(
        self, column: Computed, centre: Floats, reach: Floats, start: Floats, sign: float
    ) -> tuple[Floats, npt.NDArray[np.bool_]]:
        """The best value found on the sphere, going where the formula grows most."""
        many = centre.shape[1]
        at, best, lost = start, np.full(len(centre), -np.inf), np.zeros(len(centre), dtype=bool)
        offsets = SLIGHTLY * np.concatenate([np.zeros((1, many)), np.eye(many), -np.eye(many)])
        for _ in range(STEPS if many > 1 else 1):
            values, beyond = self._values(column, centre[:, np.newaxis, :] + (at[:, np.newaxis, :] + offsets) * reach)
            values, lost = sign * values, lost | beyond
            best = np.maximum(best, values[:, 0])
            slope = values[:, 1 : many + 1] - values[:, many + 1 :]
            length = np.linalg.norm(slope, axis=1, keepdims=True)
            at = np.where(length > 0, slope / np.where(length > 0, length, 1.0), at)
        return sign * best, lost

    def _values(self, column: Computed, numbers: Floats) -> tuple[Floats, npt.NDArray[np.bool_]]:
        """Of numbers (row, point, axis) the formula at each point, and in which rows it has no bounds."""
        given = []
        for part, operand in zip(self.parts, self.operands, strict=True):
            own = [numbers[..., self.measures.index(place)] for place in _measures(part)]
            if operand.total:
                own[0] = own[0] + numbers[..., len(self.measures) + self.others.index(_measures(part)[0])]
            given.append(_in_units(part, own))
        return _evaluated(column, given)


def _number(row: Row, place: int) -> float:
    return float(row[place])


def _measures(part: OutputColumn) -> list[int]:
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


def _directions(many: int) -> Floats:
    """Unit vectors all around: both ways on a line, a circle, and axes and what lies between two of them in space."""
    if many == 1:
        return np.array([[-1.0], [1.0]])
    if many == 2:
        angles = np.arange(CIRCLE) * (2 * np.pi / CIRCLE)
        return np.stack([np.cos(angles), np.sin(angles)], axis=1)
    axes = np.eye(many)
    between = [axes[one] + sign * axes[two] for one, two in combinations(range(many), 2) for sign in (-1, 1)]
    found = np.concatenate([axes, np.array(between) / sqrt(2)])
    return np.concatenate([found, -found])


def _pair(low: float, high: float) -> Interval | None:
    return (float(low), float(high)) if isfinite(low) and isfinite(high) else None


def _evaluated(column: Computed, given: Sequence[Floats]) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """At every point of every row; a row is lost where something is divided by what may be 0."""
    lost = np.zeros(given[0].shape[0], dtype=bool)

    def beyond(rows: Any) -> None:
        lost[...] |= rows

    with np.errstate(all="ignore"):
        values = computed(column.formula, lambda name: given[int(name)], _operators(beyond))
    values = np.broadcast_to(np.asarray(values, dtype=np.float64), given[0].shape)
    lost |= ~np.isfinite(values).all(axis=1)
    return np.where(lost[:, np.newaxis], 0.0, values), lost


def _operators(beyond: Callable[[Any], None]) -> Operators:
    """On many numbers at a time. Roots of what may be below 0 begin at 0: the truth is not below."""

    def crosses(values: Any) -> Any:
        found = np.asarray(values)
        return (found.min(axis=1) <= 0) & (found.max(axis=1) >= 0) if found.ndim > 1 else bool(found == 0)

    def divided(one: Any, two: Any) -> Any:
        beyond(crosses(two))
        return np.divide(one, two)

    def power(value: Any, exponent: float) -> Any:
        if exponent < 0:
            beyond(crosses(value))
        return np.power(np.maximum(value, 0.0) if exponent != int(exponent) else np.asarray(value, float), exponent)

    def rounded(value: Any, digits: int) -> Any:
        return np.sign(value) * np.floor(np.abs(value) * 10.0**digits + 0.5) / 10.0**digits

    return {
        "+": np.add,
        "-": np.subtract,
        "*": np.multiply,
        "/": divided,
        "ABS": np.abs,
        "ROUND": rounded,
        "FLOOR": np.floor,
        "CEIL": np.ceil,
        "SIGN": np.sign,
        "LEAST": lambda *parts: np.minimum.reduce(np.broadcast_arrays(*parts)),
        "GREATEST": lambda *parts: np.maximum.reduce(np.broadcast_arrays(*parts)),
        "SQRT": lambda value: np.sqrt(np.maximum(value, 0.0)),
        "LN": np.log,
        "LOG10": np.log10,
        "EXP": np.exp,
        "POWER": power,
        "COALESCE": lambda value, *_: value,
        "NULLIF": lambda value, _: value,
    }
