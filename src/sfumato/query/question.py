"""A question as it was asked: names as typed, nothing yet checked against the schema."""

from dataclasses import dataclass, field
from fractions import Fraction

from sfumato.plan.expressions import Condition, Expression
from sfumato.plan.lattice import Lattice
from sfumato.plan.nodes import (
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
from sfumato.query.after import After
from sfumato.query.asked import From


@dataclass(frozen=True, slots=True)
class SumOf:
    value: Expression


@dataclass(frozen=True, slots=True)
class MeanOf:
    value: Expression


@dataclass(frozen=True, slots=True)
class SpreadOf:
    """A variance, or its root; of a sample (divided by n - 1) or of everybody."""

    value: Expression
    sample: bool
    root: bool


@dataclass(frozen=True, slots=True)
class DistinctOf:
    value: Expression


@dataclass(frozen=True, slots=True)
class QuantileOf:
    """The value below which a part of all values lies; 0 is the smallest, 1 the largest."""

    value: Expression
    level: Fraction


@dataclass(frozen=True, slots=True)
class ModeOf:
    value: Expression


@dataclass(frozen=True, slots=True)
class BinsOf:
    """A histogram with so many bins, or running totals up to so many points."""

    value: Expression
    bins: int
    running: bool


Call = CountRows | CountValues | SumOf | MeanOf | SpreadOf | DistinctOf | QuantileOf | ModeOf | BinsOf


@dataclass(frozen=True, slots=True)
class SelectedKey:
    name: str
    expression: Expression


@dataclass(frozen=True, slots=True)
class SelectedCall:
    """An aggregate in the SELECT list, the name of its column, and its text for messages."""

    name: str
    call: Call
    text: str


@dataclass(frozen=True, slots=True)
class Question:
    table: str | From
    selected: tuple[SelectedKey | SelectedCall, ...]
    where: Condition | None
    keys: tuple[Expression, ...]
    after: After = field(default_factory=After)


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


Found = UnboundedSum | FoundMean
BoundCall = (
    CountRows | CountValues | CountDistinct | CountPeople | Sum | Mean | Spread | Quantile | Bins | MostFrequent | Found
)
