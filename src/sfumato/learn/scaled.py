"""What is to be learnt from numbers: columns as whole steps between their declared bounds, and listed values by place.

A number beyond a bound counts as at it. A row that lacks a number, or has a value that is not listed, in any of the
columns that are used, is left out: what is learnt is of complete rows.
"""

from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from typing import Any

from sfumato.errors import identifier_used, unknown_column
from sfumato.kernel.cost import Currency
from sfumato.learn.asking import Asking, chosen, expected, rows_of
from sfumato.learn.bins import EPOCH, Feature, Kind, Listed, Span, along, since_epoch, values_or_bounds
from sfumato.learn.wordings import (
    column_of_no_number,
    column_of_one_value,
    column_of_texts,
    column_unbounded,
    column_without_use,
    target_missing,
    target_no_number,
    too_many_values,
)
from sfumato.plan.expressions import (
    MOST_PICKED,
    AllOf,
    Arithmetic,
    Case,
    Column,
    Comparison,
    Expression,
    IsNull,
    ListedKey,
    Not,
    Number,
    Pick,
    RangeKey,
)
from sfumato.plan.sources import Computed, Kept, Rows
from sfumato.schema.columns import Category, Date, Declared, Float, Identifier, Int, Text
from sfumato.schema.numbers import GivenNumber
from sfumato.schema.table import Schema


@dataclass(frozen=True, slots=True)
class Scaled:
    """A feature, and the whole number of a row: of a span in steps from its middle, of listed values the place.

    NULL where it is missing or not listed.
    """

    feature: Feature
    code: Expression
    declared: Int

    @property
    def computed(self) -> Computed:
        return Computed(self.feature.name, self.code, self.declared)

    @property
    def column(self) -> Column:
        """Where it stands in the source of a task."""
        return Column(self.feature.name)


@dataclass(frozen=True, slots=True, eq=False)
class ScaledTask(Asking):
    """Columns in whole `steps` to both sides of their middle, or listed; and the number to predict, or none."""

    columns: tuple[Scaled, ...]
    response: Scaled | None
    steps: int

    @property
    def source(self) -> Kept:
        """Every complete row as small whole numbers. All plans are about these."""
        used = [*self.columns, *([] if self.response is None else [self.response])]
        rows = Rows(self.schema.table, self.where, tuple(one.computed for one in used))
        complete = AllOf(tuple(Not(IsNull(one.column)) for one in used))
        return Kept(Rows(rows, complete, tuple(Computed(one.feature.name, one.column, one.declared) for one in used)))

    @property
    def features(self) -> tuple[Feature, ...]:
        return tuple(one.feature for one in self.columns)

    @property
    def extents(self) -> dict[str, int | str]:
        return {one.name: values_or_bounds(one.cells) for one in self.features}

    def places(self, place: int) -> RangeKey:
        """The cells of a column of listed values."""
        return RangeKey(self.columns[place].column, 0, len(listed(self.columns[place].feature).values) - 1)

    def says(self) -> dict[str, Any]:
        bounds = [] if self.response is None else [span(self.response.feature)]
        return {**Asking.says(self), "steps": self.steps, "bounds": [[one.lower, one.upper] for one in bounds]}


def span(feature: Feature) -> Span:
    if not isinstance(feature.cells, Span):
        raise TypeError("a column of listed values is no number")
    return feature.cells


def listed(feature: Feature) -> Listed:
    if not isinstance(feature.cells, Listed):
        raise TypeError("a number is not listed")
    return feature.cells


def scaled_task(
    schema: Schema,
    currency: Currency,
    *,
    steps: int,
    target: object = "",
    columns: object = None,
    categories: bool = False,
    max_rows: int | None = None,
    expected_rows: int | None = None,
    holdout: GivenNumber | None = None,
) -> ScaledTask:
    """The task, or a refusal before anything is paid. With the target "" there is none; `categories` may be used."""
    if target is None:
        raise target_missing()
    name = str(target)
    response = _response(name, schema, steps) if name else None
    named = chosen(columns, name, schema, _usual if categories else _is_number)
    for one in named:
        if isinstance(schema.columns[one], Category) and not categories:
            raise column_of_no_number(one)
    made = tuple(scaled(one, schema.columns[one], steps) for one in named)
    unit, caps, where = rows_of(schema, max_rows, holdout)
    return ScaledTask(schema, currency, name, (), unit, caps, expected(expected_rows), where, made, response, steps)


def scaled(name: str, declared: Declared, steps: int) -> Scaled:
    """A column in steps, or a refusal: of one whose declaration does not bound it."""
    match declared:
        case Category(values=values) if len(values) < 2:
            raise column_of_one_value(name)
        case Category(values=values) if len(values) > MOST_PICKED:
            raise too_many_values(name, len(values), MOST_PICKED)
        case Category(values=values):
            place = Pick(ListedKey(Column(name), values), tuple(range(len(values))))
            return Scaled(Feature(name, Listed(values)), place, Int(0, len(values) - 1))
        case Int(lower=Fraction() as lower, upper=Fraction() as upper):
            return _between(name, Column(name), lower, upper, "whole", steps)
        case Float(lower=Fraction() as lower, upper=Fraction() as upper):
            return _between(name, Column(name), lower, upper, "real", steps)
        case Date(lower=date() as first, upper=date() as last):
            lower, upper = (Fraction((day - EPOCH).days) for day in (first, last))
            return _between(name, since_epoch(name), lower, upper, "day", steps)
        case Text():
            raise column_of_texts(name)
        case Identifier():
            raise column_without_use(name)
        case _:
            raise column_unbounded(name)


def _between(name: str, value: Expression, lower: Fraction, upper: Fraction, kind: Kind, steps: int) -> Scaled:
    """(2x - l - u)/(u - l) in steps, clamped; an engine rounds halves to even where it makes a whole number of it."""
    middle, factor = (lower + upper) / 2, 2 * steps / (upper - lower)
    inside = Arithmetic("*", Arithmetic("-", value, Number(middle)), Number(factor))
    below = Comparison("<", value, Number(lower)), Number(Fraction(-steps))
    above = Comparison(">", value, Number(upper)), Number(Fraction(steps))
    feature = along(name, Span(float(lower), float(upper), kind))
    return Scaled(feature, Case((below, above), inside), Int(-steps, steps))


def _response(name: str, schema: Schema, steps: int) -> Scaled:
    if name not in schema.columns:
        raise unknown_column(name, schema.visible)
    match schema.columns[name]:
        case Int(lower=Fraction()) | Float(lower=Fraction()) as declared:
            return scaled(name, declared, steps)
        case Int() | Float():
            raise column_unbounded(name)
        case Identifier():
            raise identifier_used(name)
        case _:
            raise target_no_number(name)


def _is_number(declared: Declared) -> bool:
    return isinstance(declared, Int | Float | Date)


def _usual(declared: Declared) -> bool:
    return _is_number(declared) or (isinstance(declared, Category) and len(declared.values) > 1)
