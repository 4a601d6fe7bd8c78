"""A question as it was asked: names as typed, nothing yet checked against the schema."""

from dataclasses import dataclass

from sfumato.plan.expressions import Column, Condition, Expression
from sfumato.plan.lattice import Lattice
from sfumato.plan.nodes import CountRows, CountValues, Sum


@dataclass(frozen=True, slots=True)
class SumOf:
    value: Expression


@dataclass(frozen=True, slots=True)
class MeanOf:
    value: Expression


@dataclass(frozen=True, slots=True)
class SelectedKey:
    name: str
    column: Column


@dataclass(frozen=True, slots=True)
class SelectedCall:
    """An aggregate in the SELECT list, the name of its column, and its text for messages."""

    name: str
    call: CountRows | CountValues | SumOf | MeanOf
    text: str


@dataclass(frozen=True, slots=True)
class Question:
    table: str
    selected: tuple[SelectedKey | SelectedCall, ...]
    where: Condition | None
    keys: tuple[Column, ...]


@dataclass(frozen=True, slots=True)
class Mean:
    """An average whose bounds are known; rewritten into a centred sum and a count."""

    value: Expression
    lattice: Lattice


BoundCall = CountRows | CountValues | Sum | Mean
