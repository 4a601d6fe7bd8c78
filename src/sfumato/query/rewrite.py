"""Questions in terms of what the kernel measures, and how to put the answers together again.

AVG becomes a centred sum and a count, VARIANCE these and a sum of squares; equal aggregates are measured once, and
quantiles of one expression together.
"""

from dataclasses import dataclass
from fractions import Fraction

from sfumato.plan.expressions import Arithmetic, Expression, Number
from sfumato.plan.lattice import Lattice
from sfumato.plan.nodes import (
    Aggregate,
    BetweenEnds,
    Cells,
    CentredSum,
    CountDistinct,
    CountPeople,
    CountRows,
    CountValues,
    Cumulative,
    Grid,
    Histogram,
    MostFrequent,
    Quantiles,
    Sum,
    UnboundedSum,
)
from sfumato.query.bind import BoundAggregate, BoundKey, BoundQuestion
from sfumato.query.bound import Bins, FoundMean, FoundSpread, Mean, Quantile, Spread


@dataclass(frozen=True, slots=True)
class KeyColumn:
    name: str
    key: int


@dataclass(frozen=True, slots=True)
class CountColumn:
    name: str
    measure: int


@dataclass(frozen=True, slots=True)
class SumColumn:
    name: str
    measure: int
    lattice: Lattice


@dataclass(frozen=True, slots=True)
class MeanColumn:
    name: str
    total: int
    count: int
    lattice: Lattice


@dataclass(frozen=True, slots=True)
class FoundSumColumn:
    name: str
    measure: int
    total: UnboundedSum


@dataclass(frozen=True, slots=True)
class FoundMeanColumn:
    name: str
    measure: int
    count: int
    total: UnboundedSum


@dataclass(frozen=True, slots=True)
class SpreadColumn:
    name: str
    total: int
    squares: int
    count: int
    spread: Spread


@dataclass(frozen=True, slots=True)
class QuantileColumn:
    """`place`: of its level among the levels that are measured together."""

    name: str
    measure: int
    place: int
    quantile: Quantile


@dataclass(frozen=True, slots=True)
class ModeColumn:
    name: str
    measure: int
    cells: Cells


@dataclass(frozen=True, slots=True)
class HistogramColumn:
    name: str
    measure: int
    cells: Grid
    whole: bool
    upper: Fraction


@dataclass(frozen=True, slots=True)
class CdfColumn:
    name: str
    measure: int
    cells: Grid
    whole: bool
    upper: Fraction


@dataclass(frozen=True, slots=True)
class FoundSpreadColumn:
    name: str
    measure: int
    spread: FoundSpread

    @property
    def ends(self) -> BetweenEnds:
        return self.spread.ends


@dataclass(frozen=True, slots=True)
class FoundBinsColumn:
    """A histogram, or running shares, between ends that are found."""

    name: str
    measure: int
    ends: BetweenEnds


ListColumn = HistogramColumn | CdfColumn
FoundColumn = FoundSumColumn | FoundMeanColumn
EndsColumn = FoundSpreadColumn | FoundBinsColumn
OutputColumn = (
    KeyColumn
    | CountColumn
    | SumColumn
    | MeanColumn
    | SpreadColumn
    | QuantileColumn
    | ModeColumn
    | ListColumn
    | FoundColumn
    | EndsColumn
)


@dataclass(frozen=True, slots=True)
class Clamped:
    """How many rows count with another value than theirs: the place of that measure, and whose columns it is about."""

    value: Expression
    lower: Fraction
    upper: Fraction
    measure: int
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Clipping:
    """What is counted of clipping, on request; `cut` is the place of the number of people who exceed a cap."""

    clamped: tuple[Clamped, ...]
    cut: int | None


@dataclass(frozen=True, slots=True)
class Draft:
    """What to measure and in which proportion to spend on it, and the columns to make of it."""

    aggregates: tuple[Aggregate, ...]
    weights: tuple[Fraction, ...]
    columns: tuple[OutputColumn, ...]
    clipping: Clipping | None = None


# The centred sum carries most of the error of an average: the mean lies near the centre more often than not.
SHARE_OF_SUM = Fraction(2, 3)
# Whose noise is for the largest values there are.
SHARE_OF_FOUND_SUM = Fraction(4, 5)
# The squares carry nearly all of the error of a variance.
SHARE_OF_SQUARES, SHARE_OF_DEVIATIONS = Fraction(1, 2), Fraction(1, 4)


def rewrite(question: BoundQuestion) -> Draft:
    weights: dict[Aggregate, Fraction] = {}
    columns: list[OutputColumn] = []

    def measure(aggregate: Aggregate, weight: Fraction) -> int:
        weights[aggregate] = weights.get(aggregate, Fraction(0)) + weight
        return list(weights).index(aggregate)

    levels: dict[Grid, set[Fraction]] = {}
    for item in question.selected:
        if isinstance(item, BoundAggregate) and isinstance(item.call, Quantile):
            levels.setdefault(item.call.cells, set()).add(item.call.level)

    for item in question.selected:
        match item:
            case BoundKey(name=name, key=key):
                columns.append(KeyColumn(name, key))
            case BoundAggregate(name=name, call=CountRows() | CountValues() | CountDistinct() | CountPeople() as count):
                columns.append(CountColumn(name, measure(count, Fraction(1))))
            case BoundAggregate(name=name, call=Sum(lattice=lattice) as total):
                columns.append(SumColumn(name, measure(total, Fraction(1)), lattice))
            case BoundAggregate(name=name, call=Mean(value=value, lattice=lattice)):
                sum_measure = measure(CentredSum(value, lattice), SHARE_OF_SUM)
                count_measure = measure(CountValues(value), 1 - SHARE_OF_SUM)
                columns.append(MeanColumn(name, sum_measure, count_measure, lattice))
            case BoundAggregate(name=name, call=UnboundedSum() as unbounded):
                columns.append(FoundSumColumn(name, measure(unbounded, Fraction(1)), unbounded))
            case BoundAggregate(name=name, call=FoundMean(total=unbounded, count=values_found)):
                sum_measure = measure(unbounded, SHARE_OF_FOUND_SUM)
                count_measure = measure(values_found, 1 - SHARE_OF_FOUND_SUM)
                columns.append(FoundMeanColumn(name, sum_measure, count_measure, unbounded))
            case BoundAggregate(name=name, call=FoundSpread(ends=ends) as found_spread):
                columns.append(FoundSpreadColumn(name, measure(ends, Fraction(1)), found_spread))
            case BoundAggregate(name=name, call=BetweenEnds() as ends):
                columns.append(FoundBinsColumn(name, measure(ends, Fraction(1)), ends))
            case BoundAggregate(name=name, call=Spread(value=value) as spread):
                deviations = measure(CentredSum(value, spread.lattice), SHARE_OF_DEVIATIONS)
                deviation = Arithmetic("-", value, Number(spread.middle))
                squared = CentredSum(Arithmetic("*", deviation, deviation), spread.squares)
                squares = measure(squared, SHARE_OF_SQUARES)
                values = measure(CountValues(value), 1 - SHARE_OF_SQUARES - SHARE_OF_DEVIATIONS)
                columns.append(SpreadColumn(name, deviations, squares, values, spread))
            case BoundAggregate(name=name, call=Quantile(cells=cells, level=level) as quantile):
                wanted = tuple(sorted(levels[cells]))
                # All levels of a line cost as much as the number of times they can be halved.
                share = Fraction(len(wanted).bit_length(), len(wanted))
                place = measure(Quantiles(cells, wanted), share)
                columns.append(QuantileColumn(name, place, wanted.index(level), quantile))
            case BoundAggregate(
                name=name, call=Bins(measured=Histogram(cells=Grid() as cells) as counted, whole=whole, upper=upper)
            ):
                columns.append(HistogramColumn(name, measure(counted, Fraction(1)), cells, whole, upper))
            case BoundAggregate(
                name=name, call=Bins(measured=Cumulative(cells=cells) as running, whole=whole, upper=upper)
            ):
                columns.append(CdfColumn(name, measure(running, Fraction(1)), cells, whole, upper))
            case BoundAggregate(name=name, call=MostFrequent(cells=values_of) as mode):
                columns.append(ModeColumn(name, measure(mode, Fraction(1)), values_of))
    return Draft(tuple(weights), tuple(weights.values()), tuple(columns))
