"""Row expressions and a schema: names resolved, types checked, ranges worked out."""

from dataclasses import dataclass
from fractions import Fraction
from typing import assert_never

from sfumato.errors import division_unbounded, identifier_used, unknown_column, wrong_type
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
from sfumato.schema.columns import Category, Float, Identifier, Int, Text
from sfumato.schema.columns import Column as Declared
from sfumato.schema.table import Schema
from sfumato.schema.unit import Person


@dataclass(frozen=True, slots=True)
class Range:
    """What is known of a numeric expression: its bounds, None when unbounded, and whether it is always whole."""

    bounds: tuple[Fraction, Fraction] | None
    whole: bool


def resolve(column: Column, schema: Schema) -> Column:
    """The declared column a typed name means: exactly that name, or the only one that differs in case."""
    column = Column(schema.meant(column.name))
    if column.name in schema.columns:
        name = column.name
    else:
        alike = [known for known in schema.columns if known.casefold() == column.name.casefold()]
        if isinstance(schema.unit, Person) and column.name.casefold() == schema.unit.id.casefold():
            raise identifier_used(schema.unit.id)
        if len(alike) != 1:
            raise unknown_column(column.name, schema.visible)
        name = alike[0]
    if isinstance(schema.columns[name], Identifier):
        raise identifier_used(name)
    return Column(name)


def first_column(value: Expression) -> str:
    match value:
        case Column(name=name):
            return name
        case Negative(operand=operand):
            return first_column(operand)
        case Arithmetic(left=left, right=right):
            return first_column(left if not isinstance(left, Number) else right)
        case _:
            return "x"


def value_range(value: Expression, text: str, schema: Schema) -> Range:
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
            inner = value_range(operand, text, schema)
            return Range(None if inner.bounds is None else (-inner.bounds[1], -inner.bounds[0]), inner.whole)
        case Arithmetic(operator=operator, left=left, right=right):
            return _combine(operator, value_range(left, text, schema), value_range(right, text, schema), text)
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


def bind_condition(condition: Condition, schema: Schema) -> Condition:
    match condition:
        case Comparison(operator=operator, left=left, right=right):
            return _comparison(Comparison(operator, bind_value(left, schema), bind_value(right, schema)), schema)
        case OneOf(operand=operand, choices=choices):
            value = bind_value(operand, schema)
            for choice in choices:
                _same_type(value, choice, schema)
            return OneOf(value, choices)
        case IsNull(operand=operand):
            return IsNull(bind_value(operand, schema))
        case Not(operand=inner):
            return Not(bind_condition(inner, schema))
        case AllOf(operands=operands):
            return AllOf(tuple(bind_condition(operand, schema) for operand in operands))
        case AnyOf(operands=operands):
            return AnyOf(tuple(bind_condition(operand, schema) for operand in operands))
        case _:
            assert_never(condition)


def _comparison(comparison: Comparison, schema: Schema) -> Comparison:
    _same_type(comparison.left, comparison.right, schema)
    if comparison.operator not in ("=", "<>") and is_text(comparison.left, schema):
        raise wrong_type(f"{comparison.operator} orders numbers", "a text can only be = or <> another")
    return comparison


def _same_type(left: Expression, right: Expression, schema: Schema) -> None:
    if is_text(left, schema) != is_text(right, schema):
        name = first_column(left) if first_column(left) != "x" else first_column(right)
        kind = "a text" if is_text(left, schema) else "a number"
        raise wrong_type(f'"{name}" is compared with something else', f"one side is {kind}")


def is_text(value: Expression, schema: Schema) -> bool:
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


def bind_number(value: Expression, schema: Schema) -> Expression:
    bound = bind_value(value, schema)
    if is_text(bound, schema):
        raise wrong_type(f'"{first_column(bound)}" is a text', "this needs a number")
    return bound


def bind_value(value: Expression, schema: Schema) -> Expression:
    match value:
        case Column():
            return resolve(value, schema)
        case Negative(operand=operand):
            return Negative(bind_number(operand, schema))
        case Arithmetic(operator=operator, left=left, right=right):
            return Arithmetic(operator, bind_number(left, schema), bind_number(right, schema))
        case Number() | String():
            return value
        case _:
            assert_never(value)
