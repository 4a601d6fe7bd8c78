"""Aggregates whose bounds are explicit: what a question asks for, once a schema is known."""

from dataclasses import dataclass
from fractions import Fraction

from sfumato.plan.expressions import Expression
from sfumato.plan.lattice import Lattice
from sfumato.plan.nodes import (
    BetweenEnds,
    CountDistinct,
    CountPeople,
    CountRows,
    CountValues,
    Cumulative,
    Grid,
    Histogram,
    MostFrequent,
    Sum,
    UnboundedSum,
)


@dataclass(frozen=True, slots=True)
class Mean:
    """An average whose bounds are known; rewritten into a centred sum and a count."""

    value: Expression
    lattice: Lattice


@dataclass(frozen=True, slots=True)
class FoundMean:
    """An average whose bounds are found: a sum and a count."""

    total: UnboundedSum
    count: CountValues | Histogram


@dataclass(frozen=True, slots=True)
class Spread:
    """A variance whose bounds are known; rewritten into sums of deviations and of their squares, and a count."""

    value: Expression
    lattice: Lattice
    squares: Lattice
    middle: Fraction
    sample: bool
    root: bool


@dataclass(frozen=True, slots=True)
class Quantile:
    """A quantile on a line of cells; `whole` when values are whole numbers.

    Without bounds the line is one of logarithms: y = ±ln(1 + |x|/step), so that it reaches every magnitude.
    """

    cells: Grid
    level: Fraction
    whole: bool
    step: Fraction | None = None


@dataclass(frozen=True, slots=True)
class Bins:
    """A histogram or running totals; `whole` when values are whole numbers.

    `upper`: where values end. Of whole numbers the last cell may reach further, because all are equally wide.
    """

    measured: Histogram | Cumulative
    whole: bool
    upper: Fraction


@dataclass(frozen=True, slots=True)
class FoundSpread:
    """A variance whose bounds are found."""

    ends: BetweenEnds
    sample: bool
    root: bool


Found = UnboundedSum | FoundMean | FoundSpread | BetweenEnds
BoundCall = (
    CountRows | CountValues | CountDistinct | CountPeople | Sum | Mean | Spread | Quantile | Bins | MostFrequent | Found
)
