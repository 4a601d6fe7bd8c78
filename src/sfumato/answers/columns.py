"""The columns of an answer from noisy integers: values and error bars. Post-processing only."""

from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from typing import Any

from sfumato.answers.cells import cdf, cdf_interval, histogram, quantile, quantile_interval
from sfumato.answers.found_bounds import Found, counted, in_units, mean_of, read, sum_of, within
from sfumato.answers.found_ends import bins_interval, bins_of, spread_interval, spread_of
from sfumato.answers.selecting import given_shown
from sfumato.kernel.mechanisms.additive import Additive
from sfumato.kernel.mechanisms.keys import KeySelection
from sfumato.kernel.mechanisms.protocol import Mechanism, Released
from sfumato.kernel.widths import deviation, error, error_of_sum
from sfumato.plan.lattice import Lattice
from sfumato.plan.nodes import Cross, Grid
from sfumato.query.rewrite import (
    CdfColumn,
    CountColumn,
    FoundBinsColumn,
    FoundColumn,
    FoundMeanColumn,
    FoundSpreadColumn,
    FoundSumColumn,
    HistogramColumn,
    KeyColumn,
    MeanColumn,
    ModeColumn,
    OutputColumn,
    QuantileColumn,
    SpreadColumn,
    SumColumn,
)

CONFIDENCE = 0.95
Interval = tuple[float, float]
Intervals = Interval | list[Interval] | None
Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Noise:
    """What an error bar needs to know of a measure: its quantile and its standard deviation, in steps."""

    error: int
    deviation: float


class Noises:
    """The noise of every measure at one confidence, worked out once; of so many groups that are added up."""

    def __init__(self, mechanisms: tuple[Mechanism, ...], confidence: float, groups: int = 1) -> None:
        self.mechanisms = mechanisms
        self.confidence = confidence
        self.groups = groups
        self._known: dict[int, Noise] = {}

    def __getitem__(self, measure: int) -> Noise:
        mechanism = self.mechanisms[measure]
        if not isinstance(mechanism, Additive | KeySelection):
            raise TypeError("a choice has no noise of its own")
        if measure not in self._known:
            self._known[measure] = Noise(
                error_of_sum(mechanism.law, self.groups, self.confidence),
                sqrt(self.groups) * deviation(mechanism.law),
            )
        return self._known[measure]


def expected_error(column: OutputColumn, mechanisms: tuple[Mechanism, ...], confidence: float) -> float | None:
    """Half the width of the error bar, known before asking; None where it depends on the answer."""
    noises = Noises(mechanisms, confidence)
    match column:
        case CountColumn(measure=measure) if isinstance(mechanisms[measure], KeySelection):
            return None  # given that a key is shown, which is likelier where the noise is large
        case CountColumn(measure=measure) | HistogramColumn(measure=measure):
            return noises[measure].error
        case SumColumn(measure=measure, lattice=lattice):
            return float(noises[measure].error * lattice.step)
        case _:
            return None


def value_of(
    column: OutputColumn, key: tuple[Any, ...], row: tuple[Released, ...], mechanisms: tuple[Mechanism, ...]
) -> Any:
    numbers: Row = row
    match column:
        case KeyColumn(key=position):
            return key[position]
        case CountColumn(measure=measure):
            return numbers[measure]
        case SumColumn(measure=measure, lattice=lattice):
            return _in_units(numbers[measure] * lattice.step, lattice)
        case MeanColumn(total=total, count=count, lattice=lattice):
            return _mean(Fraction(numbers[total], max(numbers[count], 1)), lattice)
        case SpreadColumn():
            return _spread(column, *_variance(column, numbers))
        case QuantileColumn(measure=measure):
            return quantile(column, numbers[measure], mechanisms[measure])
        case ModeColumn(measure=measure, cells=cells):
            return None if isinstance(cells, Grid | Cross) else cells.values[numbers[measure]]
        case HistogramColumn(measure=measure):
            return histogram(column, numbers[measure])
        case CdfColumn(measure=measure):
            return cdf(column, numbers[measure], mechanisms[measure])
        case FoundSumColumn(measure=measure):
            return sum_of(column, numbers[measure], mechanisms[measure])
        case FoundMeanColumn(measure=measure, count=count):
            return mean_of(column, numbers[measure], counted(numbers[count]), mechanisms[measure])
        case FoundSpreadColumn(measure=measure):
            return spread_of(column, numbers[measure], mechanisms[measure])
        case FoundBinsColumn(measure=measure):
            return bins_of(column, numbers[measure], mechanisms[measure])


def interval_of(column: OutputColumn, row: tuple[Released, ...], noises: Noises) -> Intervals:
    """(low, high); for a list one pair each; None where there is none.

    A most frequent value is right or wrong; of a sum whose bounds were not found nothing is known.
    """
    numbers: Row = row
    match column:
        case CountColumn(measure=measure):
            mechanism = noises.mechanisms[measure]
            if isinstance(mechanism, KeySelection):
                return given_shown(numbers[measure], mechanism, noises.confidence)
            return numbers[measure] - noises[measure].error, numbers[measure] + noises[measure].error
        case SumColumn(measure=measure, lattice=lattice):
            low, high = ((numbers[measure] + side * noises[measure].error) * lattice.step for side in (-1, 1))
            return _in_units(low, lattice), _in_units(high, lattice)
        case MeanColumn(total=total, count=count, lattice=lattice):
            return _mean_interval(numbers[total], numbers[count], noises[total], noises[count], lattice)
        case SpreadColumn():
            return _spread_interval(column, numbers, noises)
        case QuantileColumn(measure=measure):
            return quantile_interval(column, numbers[measure], noises.mechanisms[measure], noises.confidence)
        case HistogramColumn(measure=measure):
            half = noises[measure].error
            return [(count - half, count + half) for count in numbers[measure]]
        case CdfColumn(measure=measure):
            return cdf_interval(numbers[measure], noises.mechanisms[measure], noises.confidence)
        case FoundSumColumn(measure=measure) | FoundMeanColumn(measure=measure):
            found = read(noises.mechanisms[measure], numbers[measure], noises.confidence)
            return None if found is None else _found_interval(column, found, numbers, noises)
        case FoundSpreadColumn(measure=measure):
            return spread_interval(column, numbers[measure], noises.mechanisms[measure], noises.confidence)
        case FoundBinsColumn(measure=measure):
            return bins_interval(column, numbers[measure], noises.mechanisms[measure], noises.confidence)
        case ModeColumn():
            return None
        case _:
            raise TypeError("a key has no error bar")


def _found_interval(column: FoundColumn, found: Found, row: Row, noises: Noises) -> Interval:
    """The noise, and what may have been clipped."""
    noise, cells = Noise(error(found.law, noises.confidence), deviation(found.law)), column.total.cells
    below, above = found.clipped
    if isinstance(column, FoundSumColumn):
        return in_units(found.total - noise.error - below, cells), in_units(found.total + noise.error + above, cells)
    ends = [
        _ratios(found.total + side, counted(row[column.count]), noise, noises[column.count]) for side in (-below, above)
    ]
    if ends[0] is None or ends[1] is None:
        return float(-found.farthest * cells.step), float(found.farthest * cells.step)
    # Values are rounded to steps, which shifts a mean of tiny ones by half a step at most.
    half = Fraction(cells.exponent < 0, 2)
    low, high = (float(within(end, found.farthest) * cells.step) for end in (ends[0][0] - half, ends[1][1] + half))
    return low, high


def _variance(column: SpreadColumn, row: Row) -> tuple[float, int]:
    """The mean square from the middle minus the squared mean from the middle, and the number of values."""
    spread, count = column.spread, max(row[column.count], 1)
    square = (spread.squares.centre + Fraction(row[column.squares], count)) * spread.squares.step
    mean = (spread.lattice.centre + Fraction(row[column.total], count)) * spread.lattice.step - spread.middle
    return float(square - mean**2), count


def _spread(column: SpreadColumn, variance: float, count: int) -> float:
    """Within what the bounds allow; of a sample, times n / (n - 1)."""
    spread = column.spread
    inside = min(max(variance, 0.0), float(spread.squares.upper * spread.squares.step))
    if spread.sample:
        inside *= count / max(count - 1, 1)
    return sqrt(inside) if spread.root else inside


def _spread_interval(column: SpreadColumn, row: Row, noises: Noises) -> Interval:
    """The noises enter nearly as a weighted sum; where the count is lost in its noise, all that the bounds allow."""
    spread, (variance, count) = column.spread, _variance(column, row)
    parts = [noises[column.total], noises[column.squares], noises[column.count]]
    width = max((noise.error / noise.deviation for noise in parts if noise.deviation), default=0.0)
    least = row[column.count] - width * parts[2].deviation
    if least <= 1:
        return 0.0, _spread(column, float("inf"), 2)
    step, fine = float(spread.lattice.step), float(spread.squares.step)
    mean = row[column.total] / count * step
    from_middle = mean + float(spread.lattice.centre * spread.lattice.step - spread.middle)
    by_total = 2 * from_middle * step
    by_count = row[column.squares] / count * fine - 2 * from_middle * mean
    half = width * sqrt(
        (by_total * parts[0].deviation) ** 2 + (fine * parts[1].deviation) ** 2 + (by_count * parts[2].deviation) ** 2
    )
    return _spread(column, variance - half / count, count), _spread(column, variance + half / count, count)


def _mean_interval(total: int, count: int, of_total: Noise, of_count: Noise, lattice: Lattice) -> Interval:
    ends = _ratios(total, count, of_total, of_count)
    if ends is None:
        return float(lattice.lower * lattice.step), float(lattice.upper * lattice.step)
    return _mean(ends[0], lattice), _mean(ends[1], lattice)


def _ratios(total: int, count: int, of_total: Noise, of_count: Noise) -> tuple[Fraction, Fraction] | None:
    """All a with |total - a·count| within its noise (Fieller): both noises count, and neither twice."""
    width = max((noise.error / noise.deviation for noise in (of_total, of_count) if noise.deviation), default=0.0)
    noise_total, noise_count = width * of_total.deviation, width * of_count.deviation
    leading = float(count) ** 2 - noise_count**2
    if count <= 0 or leading <= 0:
        return None
    middle = float(total) * float(count) / leading
    half = sqrt(max(0.0, middle**2 - (float(total) ** 2 - noise_total**2) / leading))
    return Fraction(middle - half), Fraction(middle + half)


def _mean(from_centre: Fraction, lattice: Lattice) -> float:
    inside = min(max(lattice.centre + from_centre, Fraction(lattice.lower)), Fraction(lattice.upper))
    return float(inside * lattice.step)


def _in_units(value: Fraction, lattice: Lattice) -> float:
    return int(value) if lattice.exponent >= 0 else float(value)
