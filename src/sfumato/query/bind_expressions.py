"""Row expressions and a schema: names resolved, types checked, ranges worked out."""

from dataclasses import replace
from fractions import Fraction
from typing import assert_never

from sfumato.errors import UsageError, identifier_used, unknown_column
from sfumato.plan.expressions import (
    AllOf,
    AnyOf,
    Arithmetic,
    Call,
    Case,
    Column,
    Comparison,
    Condition,
    Day,
    Expression,
    IsNull,
    Matches,
    Negative,
    Not,
    Number,
    OneOf,
    Pick,
    String,
    UnitPart,
)
from sfumato.plan.functions import FUNCTIONS, Kind
from sfumato.plan.kinds import kind_of
from sfumato.plan.walk import parts
from sfumato.query.about import binding
from sfumato.query.bind_dates import date_part_range
from sfumato.query.bind_functions import check_growth
from sfumato.query.function_ranges import range_of
from sfumato.query.ranges import WHOLE, Range, add, constant, hull, inverse, negate, times
from sfumato.query.wordings import division_unbounded, not_listed, number_and_truth, wrong_type
from sfumato.schema.columns import Category, Float, Identifier, Int, as_date, plain_text
from sfumato.schema.table import Schema
from sfumato.schema.unit import Person

# Of what is needed and what stands there.
NEAREST: dict[tuple[Kind, Kind], str] = {
    (
        "number",
        "date",
    ): "Count days: DATE_DIFF('day', DATE '2020-01-01', {0}); YEAR({0}) and MONTH({0}) are numbers.",
    ("number", "text"): "Text columns support COUNT({0}), COUNT(DISTINCT {0}) and GROUP BY; LENGTH({0}) is a number.",
    ("text", "number"): "Write texts in quotes; numbers are compared with =, <, > and BETWEEN, and "
    "grouped by BIN({0}, 10).",
    ("text", "date"): "Compare dates with dates: {0} >= DATE '2024-01-31'.",
    ("date", "number"): "A date is written DATE '2024-01-31'.",
    ("date", "text"): "A date is written DATE '2024-01-31'; the owner can declare a column of dates.",
}

TRUTH = {"true": 1, "false": 0}  # a text, where columns hold true and false


@binding()
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
            raise unknown_column(column.name, _nearby(column.name, schema))
        name = alike[0]
    if isinstance(schema.columns[name], Identifier):
        raise identifier_used(name)
    return Column(name)


def _nearby(name: str, schema: Schema) -> list[str]:
    """The columns to choose from: beside a qualified name, those that are written with a table."""
    visible = schema.visible
    qualified = [spelling for spelling, meant in schema.spelt.items() if "." in spelling and meant in visible]
    return qualified if "." in name and qualified else visible


def first_column(value: Expression | Condition) -> str:
    """The name of the first column in it, for messages."""
    if isinstance(value, Column):
        return value.name
    inner = parts(value)
    if isinstance(value, Case):  # what it gives says more than what it depends on
        inner = (*inner[1::2], *inner[0::2])
    return next((name for part in inner if (name := first_column(part)) != "x"), "x")


def value_range(value: Expression, text: str, schema: Schema) -> Range:
    """Interval arithmetic from the declared bounds. It only proposes a clamp; the clamp is what protects."""
    if kind_of(value, schema) != "number":
        raise wrong_type(f"{text} adds up {kind_of(value, schema)}s", "only numbers can be added")
    match value:
        case Number(value=number):
            return constant(number)
        case Column(name=name):
            declared = schema.columns[name]
            grid = WHOLE if isinstance(declared, Int) else None
            if isinstance(declared, Int | Float) and declared.lower is not None and declared.upper is not None:
                return Range((declared.lower, declared.upper), grid)
            return Range(None, grid)
        case Negative(operand=operand):
            return negate(value_range(operand, text, schema))
        case Arithmetic(operator=operator, left=left, right=right):
            return _combine(operator, value_range(left, text, schema), value_range(right, text, schema), text)
        case Pick(numbers=numbers, missing=missing):
            known = numbers if missing is None else (*numbers, missing)
            return Range((Fraction(min(known)), Fraction(max(known))), WHOLE)
        case UnitPart(parts=count):
            return Range((Fraction(0), Fraction(count - 1)), WHOLE)
        case Call(name="YEAR" | "DATE_DIFF"):
            return date_part_range(value, schema)
        case Call(name=name, arguments=arguments):
            return range_of(name, tuple(value_range(one, text, schema) for one in arguments if _is_number(one, schema)))
        case Case(branches=branches, otherwise=otherwise):
            values = [then for _, then in branches] + ([] if otherwise is None else [otherwise])
            return hull(tuple(value_range(one, text, schema) for one in values))
        case _:
            raise wrong_type(f"{text} adds up texts", "only numbers can be added")


def _is_number(value: Expression, schema: Schema) -> bool:
    return kind_of(value, schema) == "number"


def _combine(operator: str, left: Range, right: Range, text: str) -> Range:
    match operator:
        case "+":
            return add(left, right)
        case "-":
            return add(left, negate(right))
        case "*":
            return times(left, right)
        case _:
            divisor = inverse(right)
            if divisor is None:
                if left.bounds is None:
                    return Range(None)
                raise division_unbounded(text)
            return times(left, divisor)


@binding()
def bind_condition(condition: Condition, schema: Schema) -> Condition:
    match condition:
        case Comparison(operator=operator, left=left, right=right):
            return _comparison(Comparison(operator, bind_value(left, schema), bind_value(right, schema)), schema)
        case OneOf(operand=operand, choices=choices):
            value = bind_value(operand, schema)
            alike = [_alike(value, choice, schema) for choice in choices]
            for choice in alike:
                _check_listed(value, choice, schema)
            return OneOf(value, tuple(choice for choice in alike if isinstance(choice, Number | String | Day)))
        case Matches(operand=operand):
            return replace(condition, operand=_bind_as(operand, "text", schema))
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
    right = _alike(comparison.left, comparison.right, schema)
    left = _alike(right, comparison.left, schema)
    if comparison.operator not in ("=", "<>") and kind_of(left, schema) == "text":
        raise wrong_type(f"{comparison.operator} orders numbers and dates", "a text can only be = or <> another")
    if comparison.operator == "=":
        _check_listed(left, right, schema)
        _check_listed(right, left, schema)
    return Comparison(comparison.operator, left, right)


def _check_listed(value: Expression, constant: Expression, schema: Schema) -> None:
    """The list of a category is public: a constant that is not in it is a slip, and its answer would be noise."""
    declared = schema.columns[value.name] if isinstance(value, Column) else None
    if isinstance(declared, Category) and isinstance(constant, String | Number):
        known = [plain_text(each) for each in declared.values]
        given = constant.value if isinstance(constant, String) else f"{float(constant.value):.12g}"
        if given not in known:
            raise not_listed(first_column(value), given, known)


def _alike(one: Expression, other: Expression, schema: Schema) -> Expression:
    """The other, of the same kind as the one: a text beside a date is meant as a date."""
    kind, given = kind_of(one, schema), kind_of(other, schema)
    if kind == given or (given == "date" and isinstance(one, String)):
        return other
    if kind == "date" and isinstance(other, String):
        return _day(other)
    if kind == "number" and isinstance(other, String) and other.value in TRUTH:
        raise number_and_truth(first_column(one), other.value, TRUTH[other.value])
    if given == "number" and isinstance(one, String) and one.value in TRUTH:
        raise number_and_truth(first_column(other), one.value, TRUTH[one.value])
    name = first_column(one)
    if name == "x":
        name, kind, given = first_column(other), given, kind
    what = f'"{name}" is a {kind}' if name != "x" else f"a {kind} stands here"
    raise wrong_type(what, f"it is compared with a {given}")


def _day(text: String) -> Day:
    try:
        return Day(as_date(text.value).isoformat())
    except UsageError:
        raise wrong_type("a date is compared with a text", "dates are written '2024-01-31'") from None


def bind_number(value: Expression, schema: Schema) -> Expression:
    return _bind_as(value, "number", schema)


@binding()
def _bind_as(value: Expression, kind: Kind, schema: Schema) -> Expression:
    return _as_kind(bind_value(value, schema), kind, schema)


def _as_kind(bound: Expression, kind: Kind, schema: Schema) -> Expression:
    found = kind_of(bound, schema)
    if kind == "date" and isinstance(bound, String):
        return _day(bound)
    if found != kind:
        name = first_column(bound)
        what = f'"{name}" is a {found}' if name != "x" else f"a {found} stands here"
        raise wrong_type(what, f"this needs a {kind}", NEAREST[kind, found].format(name))
    return bound


@binding()
def bind_value(value: Expression, schema: Schema) -> Expression:
    match value:
        case Column():
            return resolve(value, schema)
        case Negative(operand=operand):
            return Negative(bind_number(operand, schema))
        case Arithmetic(operator=operator, left=left, right=right):
            return Arithmetic(operator, bind_number(left, schema), bind_number(right, schema))
        case Call():
            return _bind_call(value, schema)
        case Case(branches=branches, otherwise=otherwise):
            conditions = [bind_condition(when, schema) for when, _ in branches]
            last = [] if otherwise is None else [otherwise]
            values = _bind_alike([*(then for _, then in branches), *last], schema)
            pairs = tuple(zip(conditions, values, strict=False))
            return Case(pairs, None if otherwise is None else values[-1])
        case Number() | String() | Day() | Pick() | UnitPart():  # no text of a question makes the last two
            return value
        case _:
            assert_never(value)


def _bind_call(call: Call, schema: Schema) -> Call:
    takes = FUNCTIONS[call.name].taken(len(call.arguments)) or ()
    if takes[0] == "same":
        return Call(call.name, tuple(_bind_alike(list(call.arguments), schema)))
    bound = Call(
        call.name,
        tuple(
            _bind_as(argument, how, schema) if how in ("number", "text", "date") else argument
            for argument, how in zip(call.arguments, takes, strict=True)
        ),
    )
    check_growth(bound, schema)
    return bound


def _bind_alike(values: list[Expression], schema: Schema) -> list[Expression]:
    """All of one kind, which is a date's if there is one."""
    bound = [bind_value(value, schema) for value in values]
    kinds = [kind_of(value, schema) for value in bound]
    kind = "date" if "date" in kinds else kinds[0]
    return [_as_kind(value, kind, schema) for value in bound]
