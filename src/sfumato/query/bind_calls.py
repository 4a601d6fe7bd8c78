"""Aggregates and a schema: bounds made explicit."""

from fractions import Fraction
from typing import assert_never

from sfumato.errors import bounds_too_wide, no_bounds, not_supported
from sfumato.plan.expressions import Expression
from sfumato.plan.lattice import Lattice
from sfumato.plan.nodes import CountRows, CountValues, Sum
from sfumato.query.bind_expressions import bind_number, bind_value, first_column, value_range
from sfumato.query.question import BoundCall, Mean, MeanOf, SelectedCall, Spread, SpreadOf, SumOf
from sfumato.schema.table import Schema

WIDEST = Fraction(10) ** 250  # products of two such numbers still fit a double
WIDEST_SPREAD = Fraction(10) ** 120  # and so do squares


def bind_call(item: SelectedCall, schema: Schema) -> BoundCall:
    match item.call:
        case CountRows():
            return CountRows()
        case CountValues(value=value):
            return CountValues(bind_value(value, schema))
        case SumOf(value=value):
            bound = bind_number(value, schema)
            lattice = lattice_of(bound, item.text, schema)
            if lattice.lower == lattice.upper == 0:
                raise not_supported(item.text, "It is 0 whatever the data is; ask about a column.")
            return Sum(bound, lattice)
        case MeanOf(value=value):
            bound = bind_number(value, schema)
            lattice = lattice_of(bound, item.text, schema)
            if lattice.lower == lattice.upper:
                raise not_supported(item.text, "It is the same whatever the data is; ask about a column.")
            return Mean(bound, lattice)
        case SpreadOf(value=value, sample=sample, root=root):
            bound = bind_number(value, schema)
            lattice = lattice_of(bound, item.text, schema)
            if lattice.lower == lattice.upper:
                raise not_supported(item.text, "It is the same whatever the data is; ask about a column.")
            lower, upper = lattice.lower * lattice.step, lattice.upper * lattice.step
            if upper - lower > WIDEST_SPREAD:
                raise bounds_too_wide(item.text)
            middle = (lower + upper) / 2
            squares = Lattice.covering(Fraction(0), (upper - middle) ** 2, whole=False)
            return Spread(bound, lattice, squares, middle, sample, root)
        case _:
            assert_never(item.call)


def lattice_of(value: Expression, text: str, schema: Schema) -> Lattice:
    found = value_range(value, text, schema)
    if found.bounds is None:
        raise no_bounds(text, first_column(value))
    lower, upper = found.bounds
    if max(abs(lower), abs(upper)) > WIDEST:
        raise bounds_too_wide(text)
    return Lattice.covering(lower, upper, whole=found.whole)
