"""A question as it was asked: names as typed, nothing yet checked against the schema."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction

from sfumato.plan.expressions import Column, Condition, Expression
from sfumato.plan.nodes import CountRows, CountValues
from sfumato.plan.sources import FoldName
from sfumato.query.ordering import After


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
class Part:
    """An aggregate in a formula; `total`: what it adds up to over all groups."""

    call: SelectedCall
    total: bool = False


@dataclass(frozen=True, slots=True)
class SelectedFormula:
    """A column computed from noisy answers: in the formula "0", "1" … stand for its parts, in this order."""

    name: str
    formula: Expression
    parts: tuple[Part, ...]
    text: str


Selected = SelectedKey | SelectedCall | SelectedFormula


# ---- what stands after FROM


@dataclass(frozen=True, slots=True)
class EveryColumn:
    """SELECT * in a sub-query."""


@dataclass(frozen=True, slots=True)
class SelectedValue:
    name: str
    value: Expression


@dataclass(frozen=True, slots=True)
class SelectedFold:
    """An aggregate over a person's rows."""

    name: str
    how: FoldName
    value: Expression
    text: str


@dataclass(frozen=True, slots=True)
class SubQuery:
    """A SELECT in brackets or under WITH; `size` counts its tables, `depth` the sub-queries one inside another."""

    table: "str | From"
    where: Condition | None
    keys: tuple[Column, ...]
    selected: tuple[EveryColumn | SelectedValue | SelectedFold, ...]
    size: int
    depth: int


@dataclass(frozen=True, slots=True)
class Item:
    """A table or a sub-query, and the name it goes by."""

    name: str
    table: str | SubQuery


@dataclass(frozen=True, slots=True)
class Join:
    """`left` is a column of what stands before, `right` one of the item; with USING both have the same name."""

    item: Item
    inner: bool
    left: Column
    right: str
    using: bool


@dataclass(frozen=True, slots=True)
class From:
    first: Item
    joins: tuple[Join, ...]


def expressions_in(table: str | From) -> Iterator[Expression | Condition | None]:
    """All that is written in sub-queries."""
    items = [] if isinstance(table, str) else [table.first, *(join.item for join in table.joins)]
    for query in (item.table for item in items if isinstance(item.table, SubQuery)):
        yield query.where
        yield from (item.value for item in query.selected if not isinstance(item, EveryColumn))
        yield from expressions_in(query.table)


class Scope(str):
    """What columns may be qualified with: one name or, after joins, several. As a text it is the list of them.

    Columns of several tables keep their qualifier, as in `p.age`.
    """

    __slots__ = ("names",)
    names: tuple[str, ...]

    def __new__(cls, *names: str) -> "Scope":
        scope = super().__new__(cls, ", ".join(names))
        scope.names = names
        return scope

    def knows(self, table: str) -> bool:
        return table.casefold() in {name.casefold() for name in self.names}


@dataclass(frozen=True, slots=True)
class Question:
    table: str | From
    selected: tuple[Selected, ...]
    where: Condition | None
    keys: tuple[Expression, ...]
    after: After = field(default_factory=After)
