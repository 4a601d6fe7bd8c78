"""Error bars of what is computed from several answers: jointly, since numbers may share noise. Post-processing only.

The numbers that a formula needs lie, as far as their noise goes, in an ellipsoid around those that were released; its
bar goes from the least to the largest value of the formula there. Of a weighted sum that is its standard deviation
times the usual factor, of a ratio Fieller's interval. Where a part has a bar of another kind (quantiles, sums whose
bounds were found, counts that show keys), or a mean is lost in its noise, the formula takes all values in the box of
the bars of its parts, each at so much more confidence that all hold together.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite

import numpy as np
import numpy.typing as npt

from sfumato.answers.at_points import evaluated
from sfumato.answers.clipped import Clipped
from sfumato.answers.columns import Interval, Intervals, Noises, expected_error, interval_of, value_of
from sfumato.answers.ellipsoid import Axes, measures_of
from sfumato.kernel.mechanisms.additive import Additive
from sfumato.kernel.mechanisms.protocol import Mechanism, Released
from sfumato.query.computing import Computed
from sfumato.query.ordering import After
from sfumato.query.rewrite import CountColumn, KeyColumn, MeanColumn, OutputColumn, SpreadColumn, SumColumn

Plain = CountColumn | SumColumn | MeanColumn | SpreadColumn
Bar = Callable[[OutputColumn, tuple[Released, ...], float], Intervals]
Floats = npt.NDArray[np.float64]
# Of a box with so many parts, how many points there are along each; more parts have no bar.
ALONG = (0, 65, 33, 13, 7, 5, 3)


@dataclass(frozen=True, slots=True)
class Formulas:
    """The computed columns of an answer; `totals` has the rows that totals are of."""

    computed: tuple[Computed, ...]
    columns: Mapping[str, OutputColumn]
    mechanisms: tuple[Mechanism, ...]
    totals: tuple[tuple[Released, ...], ...]

    def intervals(
        self, rows: Sequence[tuple[Released, ...]], confidence: float, bar: Bar | None, groups: int = 1
    ) -> list[dict[str, Intervals]]:
        """For every row the bar of every formula. `bar`: where bars of the parts hold more than noise.

        groups: how many are added up in each row.
        """
        found: list[dict[str, Intervals]] = [{} for _ in rows]
        for column in self.computed:
            for place, pair in enumerate(self._bars(column, rows, bar, Noises(self.mechanisms, confidence, groups))):
                found[place][column.name] = pair
        return found

    def expected(self, column: Computed, confidence: float) -> float | None:
        """Half the width of a bar, where it is known beforehand: of a weighted sum of counts and sums."""
        parts = [self.columns[operand.column] for operand in column.operands]
        if any(operand.total for operand in column.operands) or not all(self._plain(part) for part in parts):
            return None
        half = Axes(Noises(self.mechanisms, confidence), parts, column.operands, ()).half(column)
        return half if half is not None and isfinite(half) else None

    def _bars(
        self, column: Computed, rows: Sequence[tuple[Released, ...]], bar: Bar | None, noises: Noises
    ) -> list[Intervals]:
        parts = [self.columns[operand.column] for operand in column.operands]
        if any(operand.total and not self._plain(part) for operand, part in zip(column.operands, parts, strict=True)):
            return [None] * len(rows)  # of keys that were found: the total is of those that noise showed
        if bar is not None or not all(self._plain(part) for part in parts):
            return [self._boxed(column, parts, row, bar, noises) for row in rows]
        if not rows:
            return []
        axes = Axes(noises, parts, column.operands, self.totals)
        lows, highs = axes.range(column, rows)
        sure = axes.sure(rows)
        return [
            _pair(low, high) if known else self._boxed(column, parts, row, bar, noises)
            for row, low, high, known in zip(rows, lows, highs, sure, strict=True)
        ]

    def _plain(self, part: OutputColumn) -> bool:
        """Whether it follows from numbers with additive noise alone."""
        return isinstance(part, Plain) and all(
            isinstance(self.mechanisms[place], Additive) for place in measures_of(part)
        )

    def _boxed(
        self,
        column: Computed,
        parts: Sequence[OutputColumn],
        row: tuple[Released, ...],
        bar: Bar | None,
        given: Noises,
    ) -> Intervals:
        """All values in the box of the parts' own bars."""
        if len(parts) >= len(ALONG) or any(operand.total for operand in column.operands):
            return None
        each = 1 - (1 - given.confidence) / len(parts)
        noises = Noises(self.mechanisms, each, given.groups)
        ends = [interval_of(part, row, noises) if bar is None else bar(part, row, each) for part in parts]
        known = [pair for pair in ends if isinstance(pair, tuple)]
        if len(known) < len(ends):
            return None
        shown = [value_of(part, (), row, self.mechanisms) for part in parts]
        lines = [_along(*pair, value, ALONG[len(parts)]) for pair, value in zip(known, shown, strict=True)]
        values, lost = evaluated(column, [one.reshape(1, -1) for one in np.meshgrid(*lines, copy=False)])
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


def _along(low: float, high: float, shown: float, many: int) -> Floats:
    """Points of a bar, with the number that is shown and 0, where sizes and squares turn."""
    inside = low + (high - low) * (np.arange(many - 1) / (many - 1))
    return np.concatenate([inside, (high, shown, min(max(low, 0.0), high))])


def _pair(low: float, high: float) -> Interval | None:
    """None also where the width is no double."""
    ends = float(low), float(high)
    return ends if isfinite(ends[1] - ends[0]) else None
