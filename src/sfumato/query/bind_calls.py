"""Aggregates and a schema: bounds made explicit."""

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, log
from typing import Literal, assert_never

from sfumato.errors import Refused, not_supported
from sfumato.kernel.certify import MOST_CELLS, MOST_COUNTED, MOST_GROUPS
from sfumato.kernel.mechanisms.running import MOST_RUNNING
from sfumato.plan.expressions import LARGEST_GRID, Arithmetic, Call, Column, Expression, Number, fits_double
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
    Key,
    Magnitudes,
    MostFrequent,
    OpenKey,
    Sum,
    UnboundedSum,
)
from sfumato.plan.walk import columns_in, inside
from sfumato.query.about import binding
from sfumato.query.bind_expressions import bind_number, bind_value, first_column, value_range
from sfumato.query.bind_keys import bind_key
from sfumato.query.bound import Bins, BoundCall, FoundMean, FoundSpread, Mean, Quantile, Spread
from sfumato.query.question import BinsOf, DistinctOf, MeanOf, ModeOf, QuantileOf, SelectedCall, SpreadOf, SumOf
from sfumato.query.wordings import (
    bounds_lost,
    bounds_too_wide,
    category_unbounded,
    date_unbounded,
    mode_unlisted,
    no_bounds,
    people_unknown,
    too_many_keys,
)
from sfumato.schema.columns import Category, Date, Float, Identifier, Int
from sfumato.schema.table import Schema
from sfumato.schema.unit import Person, UpTo

WIDEST = Fraction(10) ** 250  # products of two such numbers still fit a double
FEWEST_CELLS = 1 << 10  # of a quantile's line, however many groups there are
# Steps and largest values where bounds are found: whole numbers as they are, others from 1e-9 to 1e18.
WHOLE_MAGNITUDES, REAL_MAGNITUDES = (0, 62), (-30, 90)
# Functions that lose the bounds of their argument, and what keeps some.
LOST = {
    "LN": "LN(GREATEST({0}, 1))",
    "LOG10": "LOG10(GREATEST({0}, 1))",
    "POWER": "POWER(GREATEST({0}, 1), 2)",
    "EXP": "EXP(LEAST({0}, 100))",
    "LENGTH": "LEAST(LENGTH({0}), 100)",
}
WIDEST_SPREAD = Fraction(10) ** 120  # and so do squares


@binding()
def bind_call(item: SelectedCall, schema: Schema, groups: int = 1) -> BoundCall:
    match item.call:
        case CountRows():
            return CountRows()
        case CountValues(value=value):
            return CountValues(bind_value(value, schema))
        case SumOf(value=value):
            bound = bind_number(value, schema)
            if (total := _unbounded(bound, item.text, schema, groups)) is not None:
                return total
            lattice = lattice_of(bound, item.text, schema)
            if lattice.lower == lattice.upper == 0:
                raise not_supported(item.text, "It is 0 whatever the data is; ask about a column.")
            return Sum(bound, lattice)
        case MeanOf(value=value):
            bound = bind_number(value, schema)
            if (total := _unbounded(bound, item.text, schema, groups)) is not None:
                return FoundMean(total, _values_of(bound, schema))
            lattice = lattice_of(bound, item.text, schema)
            if lattice.lower == lattice.upper:
                raise not_supported(item.text, "It is the same whatever the data is; ask about a column.")
            return Mean(bound, lattice)
        case SpreadOf(value=value, sample=sample, root=root):
            bound = bind_number(value, schema)
            if (allowed := _allowed(bound, item.text, schema)) is not None:
                return FoundSpread(_between_ends(bound, allowed, "moments", groups), sample, root)
            lattice = lattice_of(bound, item.text, schema)
            if lattice.lower == lattice.upper:
                raise not_supported(item.text, "It is the same whatever the data is; ask about a column.")
            lower, upper = lattice.lower * lattice.step, lattice.upper * lattice.step
            if upper - lower > WIDEST_SPREAD:
                raise bounds_too_wide(item.text)
            middle = (lower + upper) / 2
            squares = Lattice.covering(Fraction(0), (upper - middle) ** 2, whole=False)
            return Spread(bound, lattice, squares, middle, sample, root)
        case DistinctOf(value=value):
            if isinstance(schema.unit, Person) and _is_unit(value, schema.unit, schema):
                return CountPeople()
            if isinstance(schema.unit, UpTo) and _is_identifier(value, schema):
                raise people_unknown(item.text)
            return CountDistinct(bind_value(value, schema))
        case QuantileOf(value=value, level=level):
            bound = bind_number(value, schema)
            finest = max(FEWEST_CELLS, LARGEST_GRID // groups)
            if (allowed := _allowed(bound, item.text, schema)) is not None:
                return _on_logarithms(bound, level, allowed.whole, finest)
            whole, lower, upper = _ends(bound, item.text, schema)
            size = min(int(upper - lower), finest) if whole else finest
            return Quantile(Grid(bound, lower, upper, size), level, whole)
        case BinsOf(value=value, bins=bins, running=running):
            bound = bind_number(value, schema)
            if groups * bins > MOST_GROUPS:
                raise too_many_keys(groups * bins, MOST_GROUPS)
            if (allowed := _allowed(bound, item.text, schema)) is not None:
                return _between_ends(bound, allowed, "totals" if running else "bins", groups, bins)
            whole, lower, upper = _ends(bound, item.text, schema)
            if whole:  # every bin the same number of whole numbers
                width = ceil((upper - lower) / bins)
                bins = ceil((upper - lower) / width)
                cells = Grid(bound, lower, lower + bins * width, bins)
            else:
                cells = Grid(bound, lower, upper, bins)
            return Bins(Cumulative(cells) if running else Histogram(cells), whole, upper)
        case ModeOf(value=value):
            key = _listed_key(bind_value(value, schema), item.text, schema)
            if groups * key.size > MOST_GROUPS:
                raise too_many_keys(groups * key.size, MOST_GROUPS)
            return MostFrequent(key)
        case _:
            assert_never(item.call)


def _listed_key(value: Expression, text: str, schema: Schema) -> Key:
    try:
        key = bind_key(value, schema)
    except Refused:  # in terms of GROUP BY, which was not asked for
        raise mode_unlisted(text, first_column(value)) from None
    if isinstance(key, OpenKey):
        raise mode_unlisted(text, first_column(value))
    return key


def _unbounded_reason(value: Expression, text: str, schema: Schema) -> Refused:
    """Which column lacks bounds; or, where none does, which function loses them."""
    declared = {name: schema.columns[name] for name in columns_in(value)}
    for name, column in declared.items():
        if isinstance(column, Int | Float | Date) and column.lower is None:
            return date_unbounded(text, name) if isinstance(column, Date) else no_bounds(text, name, _kind(column))
        if isinstance(column, Category) and (numbers := [each for each in column.values if type(each) is int]):
            return category_unbounded(text, name, numbers)
    lost = next((node.name for node in inside(value) if isinstance(node, Call) and node.name in LOST), None)
    first = first_column(value)
    return no_bounds(text, first) if lost is None else bounds_lost(text, lost, LOST[lost].format(first))


def _kind(column: Int | Float) -> str:
    return "int" if isinstance(column, Int) else "float"


def _is_unit(value: Expression, unit: Person, schema: Schema) -> bool:
    return isinstance(value, Column) and schema.meant(value.name).casefold() == unit.id.casefold()


def _is_identifier(value: Expression, schema: Schema) -> bool:
    return isinstance(value, Column) and any(
        isinstance(declared, Identifier) and name.casefold() == schema.meant(value.name).casefold()
        for name, declared in schema.columns.items()
    )


@dataclass(frozen=True, slots=True)
class _Allowed:
    part: Fraction
    whole: bool


def _allowed(value: Expression, text: str, schema: Schema) -> _Allowed | None:
    """Whether a value has no bounds and the owner allows that for every column without them."""
    found = value_range(value, text, schema)
    declared = [schema.columns[name] for name in columns_in(value)]
    given = [column.private_bounds for column in declared if isinstance(column, Int | Float) and column.lower is None]
    allowed = [part for part in given if part is not None]
    if found.bounds is not None or not allowed or len(allowed) < len(given):
        return None
    return _Allowed(max(allowed), found.whole)


def _unbounded(value: Expression, text: str, schema: Schema, groups: int) -> UnboundedSum | None:
    """A sum whose bounds are found, where the owner allows that."""
    if (allowed := _allowed(value, text, schema)) is None:
        return None
    cells = Magnitudes(value, *(WHOLE_MAGNITUDES if allowed.whole else REAL_MAGNITUDES))
    if groups * cells.size > MOST_COUNTED:
        raise too_many_keys(groups, MOST_COUNTED // cells.size)
    return UnboundedSum(cells, allowed.part)


def _on_logarithms(value: Expression, level: Fraction, whole: bool, cells: int) -> Quantile:
    """Ranks stay what they are on a line of logarithms."""
    line, step = logarithms(value, whole, cells)
    return Quantile(line, level, whole, step)


def _between_ends(
    value: Expression,
    allowed: _Allowed,
    wanted: Literal["bins", "totals", "moments"],
    groups: int,
    bins: int = 1,
) -> BetweenEnds:
    """Ends are found on the same line; most of its cells are empty, so there may be many in every group."""
    size = min(LARGEST_GRID, max(FEWEST_CELLS, MOST_CELLS // groups)) // 2 * 2
    line, step = logarithms(value, allowed.whole, size)
    if wanted == "totals":  # of which two are of what lies beyond
        bins = min(bins, MOST_RUNNING - 2)
    return BetweenEnds(line, step, allowed.part, wanted, bins)


def logarithms(value: Expression, whole: bool, cells: int) -> tuple[Grid, Fraction]:
    """A line that has room for every magnitude, and its steps."""
    exponent, octaves = WHOLE_MAGNITUDES if whole else REAL_MAGNITUDES
    steps = Arithmetic("*", Call("ABS", (value,)), Number(Fraction(2) ** -exponent))
    size = Call("LN", (Arithmetic("+", steps, Number(Fraction(1))),))
    end = Fraction(ceil(octaves * log(2)))
    return Grid(Arithmetic("*", Call("SIGN", (value,)), size), -end, end, cells), Fraction(2) ** exponent


def _values_of(value: Expression, schema: Schema) -> CountValues | Histogram:
    """The number of values, of the same people in the same groups as the sum whose bounds are found: as many rows."""
    if isinstance(schema.unit, Person):
        return Histogram(Grid(value, Fraction(0), Fraction(1), 1))
    return CountValues(value)


def _ends(value: Expression, text: str, schema: Schema) -> tuple[bool, Fraction, Fraction]:
    """Where a line of cells begins and ends, so that a whole number lies in the middle of its cell."""
    whole, lower, upper = _bounded(value, text, schema)
    if lower == upper:
        raise not_supported(text, "It is the same whatever the data is; ask about a column.")
    half = Fraction(1, 2) if whole else Fraction(0)
    if not all(fits_double(size) for size in (lower - half, upper + half, (upper - lower) / LARGEST_GRID)):
        raise not_supported(text, "Its values are too small for cells; use larger factors.")
    return whole, lower - half, upper + half


def lattice_of(value: Expression, text: str, schema: Schema) -> Lattice:
    whole, lower, upper = _bounded(value, text, schema)
    return Lattice.covering(lower, upper, whole=whole)


def _bounded(value: Expression, text: str, schema: Schema) -> tuple[bool, Fraction, Fraction]:
    """Whether the values are whole, and between which bounds they lie; refused where these are unknown or too wide."""
    found = value_range(value, text, schema)
    if found.bounds is None:
        raise _unbounded_reason(value, text, schema)
    lower, upper = found.bounds
    if max(abs(lower), abs(upper)) > WIDEST:
        raise bounds_too_wide(text)
    return found.whole, lower, upper
