"""A question and a schema: names resolved, types checked, bounds and keys made explicit."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import assert_never

from sfumato.errors import (
    bounds_too_wide,
    division_unbounded,
    duplicate_output,
    identifier_used,
    keys_undeclared,
    no_bounds,
    not_supported,
    select_without_group,
    too_many_keys,
    unknown_column,
    unknown_table,
    wrong_type,
)
from sfumato.kernel.certify import MOST_GROUPS
from sfumato.plan.expressions import (
    AllOf,
    AnyOf,
    Arithmetic,
    Column,
    Comparison,
    Condition,
    Expression,
    IsNull,
    Negative,
    Not,
    Number,
    OneOf,
    String,
)
from sfumato.plan.lattice import Lattice
from sfumato.plan.nodes import CountRows, CountValues, Key, ListedKey, RangeKey, Sum
from sfumato.query.after import After
from sfumato.query.question import (
    BoundCall,
    Mean,
    MeanOf,
    Question,
    SelectedCall,
    SelectedKey,
    Spread,
    SpreadOf,
    SumOf,
)
from sfumato.schema.columns import Category, Float, Identifier, Int, Text
from sfumato.schema.columns import Column as Declared
from sfumato.schema.table import Schema

WIDEST = Fraction(10) ** 250  # products of two such numbers still fit a double
WIDEST_SPREAD = Fraction(10) ** 120  # and so do squares


@dataclass(frozen=True, slots=True)
class BoundKey:
    name: str
    key: int


@dataclass(frozen=True, slots=True)
class BoundAggregate:
    name: str
    call: BoundCall


@dataclass(frozen=True, slots=True)
class BoundQuestion:
    where: Condition | None
    keys: tuple[Key, ...]
    selected: tuple[BoundKey | BoundAggregate, ...]
    after: After = field(default_factory=After)


@dataclass(frozen=True, slots=True)
class Range:
    """What is known of a numeric expression: its bounds, None when unbounded, and whether it is always whole."""

    bounds: tuple[Fraction, Fraction] | None
    whole: bool


def bind(question: Question, schema: Schema) -> BoundQuestion:
    """Everything the plan needs made explicit, or Refused with the reason."""
    if question.table.casefold() != schema.table.casefold():
        raise unknown_table(question.table, schema.table)
    columns = [_resolve(column, schema) for column in question.keys]
    keys = tuple(_key(column, schema) for column in columns)
    groups = 1
    for key in keys:
        groups *= key.size
    if groups > MOST_GROUPS:
        raise too_many_keys(groups, MOST_GROUPS)
    _refuse_repeats(column.name for column in columns)
    selected: list[BoundKey | BoundAggregate] = []
    for item in question.selected:
        match item:
            case SelectedKey(name=name, column=column):
                resolved = _resolve(column, schema)
                if resolved not in columns:
                    raise select_without_group(column.name)
                selected.append(BoundKey(name, columns.index(resolved)))
            case SelectedCall(name=name):
                selected.append(BoundAggregate(name, _call(item, schema)))
    _refuse_repeats(item.name for item in selected)
    if not any(isinstance(item, BoundAggregate) for item in selected):
        raise not_supported(
            "a question without an aggregate", "Ask for COUNT(*), COUNT(x), SUM(x), AVG(x), VARIANCE(x) or STDDEV(x)."
        )
    where = None if question.where is None else _condition(question.where, schema)
    question.after.check({item.name: isinstance(item, BoundKey) and _shows_text(keys[item.key]) for item in selected})
    return BoundQuestion(where, keys, tuple(selected), question.after)


def _shows_text(key: Key) -> bool:
    """Numbers and nothing else compare with numbers; true and false are texts here."""
    return isinstance(key, ListedKey) and not all(type(value) is int for value in key.values)


def _refuse_repeats(names: Iterable[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise duplicate_output(name)
        seen.add(name)


def _resolve(column: Column, schema: Schema) -> Column:
    """The declared column a typed name means: exactly that name, or the only one that differs in case."""
    if column.name in schema.columns:
        name = column.name
    else:
        alike = [known for known in schema.columns if known.casefold() == column.name.casefold()]
        if len(alike) != 1:
            raise unknown_column(column.name, schema.visible)
        name = alike[0]
    if isinstance(schema.columns[name], Identifier):
        raise identifier_used(name)
    return Column(name)


def _key(column: Column, schema: Schema) -> Key:
    match schema.columns[column.name]:
        case Category(values=values):
            return ListedKey(column, values)
        case Int(lower=Fraction() as lower, upper=Fraction() as upper):
            return RangeKey(column, int(lower), int(upper))
        case _:
            raise keys_undeclared(column.name)


def _call(item: SelectedCall, schema: Schema) -> BoundCall:
    match item.call:
        case CountRows():
            return CountRows()
        case CountValues(value=value):
            return CountValues(_value(value, schema))
        case SumOf(value=value):
            bound = _number(value, schema)
            lattice = _lattice(bound, item.text, schema)
            if lattice.lower == lattice.upper == 0:
                raise not_supported(item.text, "It is 0 whatever the data is; ask about a column.")
            return Sum(bound, lattice)
        case MeanOf(value=value):
            bound = _number(value, schema)
            lattice = _lattice(bound, item.text, schema)
            if lattice.lower == lattice.upper:
                raise not_supported(item.text, "It is the same whatever the data is; ask about a column.")
            return Mean(bound, lattice)
        case SpreadOf(value=value, sample=sample, root=root):
            bound = _number(value, schema)
            lattice = _lattice(bound, item.text, schema)
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


def _lattice(value: Expression, text: str, schema: Schema) -> Lattice:
    found = _range(value, text, schema)
    if found.bounds is None:
        raise no_bounds(text, _first_column(value))
    lower, upper = found.bounds
    if max(abs(lower), abs(upper)) > WIDEST:
        raise bounds_too_wide(text)
    return Lattice.covering(lower, upper, whole=found.whole)


def _first_column(value: Expression) -> str:
    match value:
        case Column(name=name):
            return name
        case Negative(operand=operand):
            return _first_column(operand)
        case Arithmetic(left=left, right=right):
            return _first_column(left if not isinstance(left, Number) else right)
        case _:
            return "x"


def _range(value: Expression, text: str, schema: Schema) -> Range:
    """Interval arithmetic from the declared bounds. It only proposes a clamp; the clamp is what protects."""
    match value:
        case Number(value=number):
            return Range((number, number), number.denominator == 1)
        case Column(name=name):
            declared = schema.columns[name]
            if isinstance(declared, Int | Float) and declared.lower is not None and declared.upper is not None:
                return Range((declared.lower, declared.upper), isinstance(declared, Int))
            return Range(None, isinstance(declared, Int))
        case Negative(operand=operand):
            inner = _range(operand, text, schema)
            return Range(None if inner.bounds is None else (-inner.bounds[1], -inner.bounds[0]), inner.whole)
        case Arithmetic(operator=operator, left=left, right=right):
            return _combine(operator, _range(left, text, schema), _range(right, text, schema), text)
        case _:
            raise wrong_type(f"{text} adds up texts", "only numbers can be added")


def _combine(operator: str, left: Range, right: Range, text: str) -> Range:
    if left.bounds is None or right.bounds is None:
        return Range(None, left.whole and right.whole)
    (a, b), (c, d) = left.bounds, right.bounds
    match operator:
        case "+":
            corners = [a + c, b + d]
        case "-":
            corners = [a - d, b - c]
        case "*":
            corners = [a * c, a * d, b * c, b * d]
        case _:
            if c <= 0 <= d:
                raise division_unbounded(text)
            corners = [a / c, a / d, b / c, b / d]
    return Range((min(corners), max(corners)), left.whole and right.whole and operator != "/")


def _condition(condition: Condition, schema: Schema) -> Condition:
    match condition:
        case Comparison(operator=operator, left=left, right=right):
            return _comparison(Comparison(operator, _value(left, schema), _value(right, schema)), schema)
        case OneOf(operand=operand, choices=choices):
            value = _value(operand, schema)
            for choice in choices:
                _same_type(value, choice, schema)
            return OneOf(value, choices)
        case IsNull(operand=operand):
            return IsNull(_value(operand, schema))
        case Not(operand=inner):
            return Not(_condition(inner, schema))
        case AllOf(operands=operands):
            return AllOf(tuple(_condition(operand, schema) for operand in operands))
        case AnyOf(operands=operands):
            return AnyOf(tuple(_condition(operand, schema) for operand in operands))
        case _:
            assert_never(condition)


def _comparison(comparison: Comparison, schema: Schema) -> Comparison:
    _same_type(comparison.left, comparison.right, schema)
    if comparison.operator not in ("=", "<>") and _is_text(comparison.left, schema):
        raise wrong_type(f"{comparison.operator} orders numbers", "a text can only be = or <> another")
    return comparison


def _same_type(left: Expression, right: Expression, schema: Schema) -> None:
    if _is_text(left, schema) != _is_text(right, schema):
        name = _first_column(left) if _first_column(left) != "x" else _first_column(right)
        kind = "a text" if _is_text(left, schema) else "a number"
        raise wrong_type(f'"{name}" is compared with something else', f"one side is {kind}")


def _is_text(value: Expression, schema: Schema) -> bool:
    match value:
        case String():
            return True
        case Column(name=name):
            return _holds_text(schema.columns[name])
        case _:
            return False


def _holds_text(declared: Declared) -> bool:
    match declared:
        case Text():
            return True
        case Category(values=values):
            return not isinstance(values[0], int) or isinstance(values[0], bool)
        case _:
            return False


def _number(value: Expression, schema: Schema) -> Expression:
    bound = _value(value, schema)
    if _is_text(bound, schema):
        raise wrong_type(f'"{_first_column(bound)}" is a text', "this needs a number")
    return bound


def _value(value: Expression, schema: Schema) -> Expression:
    match value:
        case Column():
            return _resolve(value, schema)
        case Negative(operand=operand):
            return Negative(_number(operand, schema))
        case Arithmetic(operator=operator, left=left, right=right):
            return Arithmetic(operator, _number(left, schema), _number(right, schema))
        case Number() | String():
            return value
        case _:
            assert_never(value)
