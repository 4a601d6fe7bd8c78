"""Questions in terms of what the kernel measures, and how to put the answers together again.

AVG becomes a centred sum and a count; equal aggregates are measured once.
"""

from dataclasses import dataclass
from fractions import Fraction

from sfumato.plan.lattice import Lattice
from sfumato.plan.nodes import Aggregate, CentredSum, CountRows, CountValues, Sum
from sfumato.query.bind import BoundAggregate, BoundKey, BoundQuestion
from sfumato.query.question import Mean


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


OutputColumn = KeyColumn | CountColumn | SumColumn | MeanColumn


@dataclass(frozen=True, slots=True)
class Draft:
    """What to measure and in which proportion to spend on it, and the columns to make of it."""

    aggregates: tuple[Aggregate, ...]
    weights: tuple[Fraction, ...]
    columns: tuple[OutputColumn, ...]


# The centred sum carries most of the error of an average: the mean lies near the centre more often than not.
SHARE_OF_SUM = Fraction(2, 3)


def rewrite(question: BoundQuestion) -> Draft:
    weights: dict[Aggregate, Fraction] = {}
    columns: list[OutputColumn] = []

    def measure(aggregate: Aggregate, weight: Fraction) -> int:
        weights[aggregate] = weights.get(aggregate, Fraction(0)) + weight
        return list(weights).index(aggregate)

    for item in question.selected:
        match item:
            case BoundKey(name=name, key=key):
                columns.append(KeyColumn(name, key))
            case BoundAggregate(name=name, call=CountRows() | CountValues() as count):
                columns.append(CountColumn(name, measure(count, Fraction(1))))
            case BoundAggregate(name=name, call=Sum(lattice=lattice) as total):
                columns.append(SumColumn(name, measure(total, Fraction(1)), lattice))
            case BoundAggregate(name=name, call=Mean(value=value, lattice=lattice)):
                sum_measure = measure(CentredSum(value, lattice), SHARE_OF_SUM)
                count_measure = measure(CountValues(value), 1 - SHARE_OF_SUM)
                columns.append(MeanColumn(name, sum_measure, count_measure, lattice))
    return Draft(tuple(weights), tuple(weights.values()), tuple(columns))
