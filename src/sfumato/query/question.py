"""A question as it was asked: names as typed, nothing yet checked against the schema."""

from dataclasses import dataclass, field
from fractions import Fraction

from sfumato.plan.expressions import Column, Condition, Expression
from sfumato.plan.lattice import Lattice
from sfumato.plan.nodes import CountRows, CountValues, Sum
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


Call = CountRows | CountValues | SumOf | MeanOf | SpreadOf


@dataclass(frozen=True, slots=True)
class SelectedKey:
    name: str
    column: Column


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
    keys: tuple[Column, ...]
    after: After = field(default_factory=After)


@dataclass(frozen=True, slots=True)
class Mean:
    """An average whose bounds are known; rewritten into a centred sum and a count."""

    value: Expression
    lattice: Lattice


@dataclass(frozen=True, slots=True)
class Spread:
    """A variance whose bounds are known; rewritten into sums of deviations and of their squares, and a count."""

    value: Expression
    lattice: Lattice
    squares: Lattice
    middle: Fraction
    sample: bool
    root: bool


BoundCall = CountRows | CountValues | Sum | Mean | Spread
