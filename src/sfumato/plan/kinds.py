"""Whether an expression is a number, a text or a date."""

from typing import assert_never

from sfumato.plan.expressions import Arithmetic, Call, Case, Column, Day, Expression, Negative, Number, String
from sfumato.plan.functions import FUNCTIONS, Kind
from sfumato.schema.columns import Category, Date, Declared, Float, Int
from sfumato.schema.table import Schema


def kind_of(value: Expression, schema: Schema) -> Kind:
    match value:
        case Column(name=name):
            return declared_kind(schema.columns[name])
        case String():
            return "text"
        case Day():
            return "date"
        case Number() | Arithmetic() | Negative():
            return "number"
        case Call(name=name, arguments=arguments):
            gives = FUNCTIONS[name].gives
            return kind_of(arguments[0], schema) if gives == "same" else gives
        case Case(branches=branches):
            return kind_of(branches[0][1], schema)
        case _:
            assert_never(value)


def declared_kind(declared: Declared) -> Kind:
    match declared:
        case Int() | Float():
            return "number"
        case Date():
            return "date"
        case Category(values=values):
            return "text" if not isinstance(values[0], int) or isinstance(values[0], bool) else "number"
        case _:
            return "text"
