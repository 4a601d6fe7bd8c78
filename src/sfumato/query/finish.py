"""From a release to an answer people can read: columns, error bars, what it cost. Post-processing only."""

from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from math import sqrt
from typing import Any

from sfumato.errors import missing_extra, not_measured, out_of_range
from sfumato.kernel.certify import Certified
from sfumato.kernel.gate import Release
from sfumato.kernel.mechanisms import Mechanism
from sfumato.ledger.ledger import Balance
from sfumato.ledger.terms import Amount
from sfumato.plan.lattice import Lattice
from sfumato.plots.bars import bars
from sfumato.query.after import After
from sfumato.query.rewrite import CountColumn, KeyColumn, MeanColumn, OutputColumn, SpreadColumn, SumColumn

Interval = tuple[float, float]
CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Noise:
    """What an error bar needs to know of a measure: its quantile and its standard deviation, in steps."""

    error: int
    deviation: float


@dataclass(frozen=True, slots=True)
class Answer:
    """Noisy rows, sorted by key, with what they cost and what is left."""

    question: str
    columns: tuple[str, ...]
    rows: list[dict[str, Any]]
    cost: Amount
    spent: Amount
    left: Amount
    unit: str
    cached: bool
    when: str
    receipt: int
    _numbers: "tuple[tuple[tuple[int, ...], ...], tuple[OutputColumn, ...], tuple[Mechanism, ...]]" = field(repr=False)

    def interval(self, confidence: float = CONFIDENCE) -> list[dict[str, Interval]]:
        """For every row and every aggregate (low, high): the noise stays inside with this probability.

        It speaks of the noise; what clipping to declared bounds may hide is not in it.
        """
        check_confidence(confidence)
        values, columns, mechanisms = self._numbers
        noises = [Noise(mechanism.error(confidence), mechanism.deviation()) for mechanism in mechanisms]
        measured = [column for column in columns if not isinstance(column, KeyColumn)]
        return [{column.name: _interval(column, row, noises) for column in measured} for row in values]

    def to_dict(self, confidence: float = CONFIDENCE) -> dict[str, Any]:
        """What `--format json` prints."""
        return {
            "columns": list(self.columns),
            "rows": self.rows,
            "intervals": [{name: list(pair) for name, pair in row.items()} for row in self.interval(confidence)],
            "confidence": confidence,
            "cost": {"epsilon": self.cost.epsilon, "delta": self.cost.delta},
            "spent": {"epsilon": self.spent.epsilon, "delta": self.spent.delta},
            "left": {"epsilon": self.left.epsilon, "delta": self.left.delta},
            "unit": self.unit,
            "cached": self.cached,
            "when": self.when,
            "receipt": self.receipt,
        }

    def to_arrow(self) -> Any:
        """A pyarrow.Table."""
        return _module("pyarrow", "Arrow", "all").Table.from_pylist(self.rows)

    def to_pandas(self) -> Any:
        """A pandas.DataFrame."""
        return _module("pandas", "to_pandas", "pandas").DataFrame(self.rows, columns=list(self.columns))

    def to_polars(self) -> Any:
        """A polars.DataFrame."""
        return _module("polars", "to_polars", "polars").DataFrame(self.rows, schema=list(self.columns))

    def plot(self, column: str | None = None) -> Any:
        """A Plotly figure of one aggregate (the first by default): a bar a group, with 95 % error bars."""
        keys = [c.name for c in self._numbers[1] if isinstance(c, KeyColumn)]
        measured = [name for name in self.columns if name not in keys]
        chosen = measured[0] if column is None else column
        if chosen not in measured:
            raise not_measured(chosen, measured)
        intervals = [row[chosen] for row in self.interval()]
        labels = [", ".join(str(row[key]) for key in keys) or chosen for row in self.rows]
        return bars(labels, [row[chosen] for row in self.rows], intervals, title=chosen)


def check_confidence(confidence: float) -> None:
    if isinstance(confidence, bool) or not isinstance(confidence, int | float) or not 0 < confidence < 1:
        raise out_of_range("confidence", "0", "1", repr(confidence))


def finish(
    question: str,
    certified: Certified,
    columns: tuple[OutputColumn, ...],
    release: Release,
    *,
    cost: Amount,
    balance: Balance,
    when: str,
    cached: bool,
    after: After | None = None,
) -> Answer:
    keys = list(product(*(key.values for key in certified.plan.keys)))
    order = sorted(range(len(keys)), key=lambda group: keys[group])
    rows = [{column.name: _value(column, keys[group], release.values[group]) for column in columns} for group in order]
    if after is not None:
        shown = after.chosen(rows)
        order, rows = [order[place] for place in shown], [rows[place] for place in shown]
    mechanisms = tuple(item.mechanism for item in certified.releases)
    return Answer(
        question=question,
        columns=tuple(column.name for column in columns),
        rows=rows,
        cost=cost,
        spent=balance.spent,
        left=balance.left,
        unit=str(certified.plan.unit),
        cached=cached,
        when=when,
        receipt=release.entry,
        _numbers=(tuple(release.values[group] for group in order), columns, mechanisms),
    )


def expected_error(column: OutputColumn, mechanisms: tuple[Mechanism, ...], confidence: float) -> float | None:
    """Half the width of the error bar, known before asking; None for an average, whose error depends on the count."""
    match column:
        case CountColumn(measure=measure):
            return mechanisms[measure].error(confidence)
        case SumColumn(measure=measure, lattice=lattice):
            return float(mechanisms[measure].error(confidence) * lattice.step)
        case _:
            return None


def _value(column: OutputColumn, key: tuple[Any, ...], row: tuple[int, ...]) -> Any:
    match column:
        case KeyColumn(key=position):
            return key[position]
        case CountColumn(measure=measure):
            return row[measure]
        case SumColumn(measure=measure, lattice=lattice):
            return _in_units(row[measure] * lattice.step, lattice)
        case MeanColumn(total=total, count=count, lattice=lattice):
            return _mean(Fraction(row[total], max(row[count], 1)), lattice)
        case SpreadColumn():
            return _spread(column, *_variance(column, row))


def _interval(column: OutputColumn, row: tuple[int, ...], noises: list[Noise]) -> Interval:
    match column:
        case CountColumn(measure=measure):
            return row[measure] - noises[measure].error, row[measure] + noises[measure].error
        case SumColumn(measure=measure, lattice=lattice):
            low, high = ((row[measure] + side * noises[measure].error) * lattice.step for side in (-1, 1))
            return _in_units(low, lattice), _in_units(high, lattice)
        case MeanColumn(total=total, count=count, lattice=lattice):
            return _mean_interval(row[total], row[count], noises[total], noises[count], lattice)
        case SpreadColumn():
            return _spread_interval(column, row, noises)
        case _:
            raise TypeError("a key has no error bar")


def _variance(column: SpreadColumn, row: tuple[int, ...]) -> tuple[float, int]:
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


def _spread_interval(column: SpreadColumn, row: tuple[int, ...], noises: list[Noise]) -> Interval:
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
    return _spread(column, variance - half / least, count), _spread(column, variance + half / least, count)


def _mean_interval(total: int, count: int, of_total: Noise, of_count: Noise, lattice: Lattice) -> Interval:
    """All a with |total - a·count| within its noise (Fieller): both noises count, and neither twice."""
    width = max((noise.error / noise.deviation for noise in (of_total, of_count) if noise.deviation), default=0.0)
    noise_total, noise_count = width * of_total.deviation, width * of_count.deviation
    leading = float(count) ** 2 - noise_count**2
    if count <= 0 or leading <= 0:
        return float(lattice.lower * lattice.step), float(lattice.upper * lattice.step)
    middle = float(total) * float(count) / leading
    half = sqrt(max(0.0, middle**2 - (float(total) ** 2 - noise_total**2) / leading))
    return _mean(Fraction(middle - half), lattice), _mean(Fraction(middle + half), lattice)


def _mean(from_centre: Fraction, lattice: Lattice) -> float:
    inside = min(max(lattice.centre + from_centre, Fraction(lattice.lower)), Fraction(lattice.upper))
    return float(inside * lattice.step)


def _in_units(value: Fraction, lattice: Lattice) -> float:
    return int(value) if lattice.exponent >= 0 else float(value)


def _module(name: str, part: str, extra: str) -> Any:
    try:
        return __import__(name)
    except ImportError:
        raise missing_extra(part, name, extra) from None
