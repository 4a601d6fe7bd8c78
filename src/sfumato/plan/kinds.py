"""Whether an expression is a number, a text or a date, and whether it may be a number that is none (NaN)."""

from typing import assert_never

from sfumato.plan.expressions import (
    Arithmetic,
    Call,
    Case,
    Column,
    Day,
    Expression,
    Negative,
    Number,
    Pick,
    String,
    UnitPart,
)
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
        case Number() | Arithmetic() | Negative() | Pick() | UnitPart():
            return "number"
        case Call(name=name, arguments=arguments):
            gives = FUNCTIONS[name].gives
            return kind_of(arguments[0], schema) if gives == "same" else gives
        case Case(branches=branches):
            return kind_of(branches[0][1], schema)
        case _:
            assert_never(value)


def may_be_nan(value: Expression, schema: Schema) -> bool:
    """Whether a value may be NaN before it is made NULL.

    Claim: where this is False the value is NULL or a number. Needs: functions and branches get no NaN, as engines write
    them. Proof: a column may hold NaN if it is of doubles. Sums, products and quotients may be NaN (as inf - inf);
    a sign changes nothing. Roots, logarithms, powers of e, rounding, and the larger or smaller of numbers are numbers
    wherever they have a value, infinity included; MOD and POWER are not (inf % 3, (-1)^0.5). Branches are numbers
    already, and lengths, parts of dates and of units, and what is picked are whole.
    """
    match value:
        case Column(name=name):
            return isinstance(schema.columns[name], Float)
        case Arithmetic():
            return True
        case Negative(operand=operand):
            return may_be_nan(operand, schema)
        case Call(name=name):
            return FUNCTIONS[name].nan
        case _:
            return False


def uncut(value: Expression, schema: Schema) -> bool:
    """Whether an engine may keep longer texts beside those that rows show, and hand them on with a value.

    Claim: where this is False, each text that an engine keeps for the value is one that some row has, or was made of no
    more signs than `plan.totality` derives. Needs: tables cut their texts to what is declared, those of categories
    aside; a function is given a beginning of what is uncut (`sql.expressions`), and so is a side of a join
    (`sql.sources`), which an engine holds: the longer texts once more with every few rows. Proof: a function of texts
    makes new ones. Only columns, CASE, COALESCE and NULLIF hand a text on. A column of a table is one of a category or
    is cut; one that was computed may be either.
    """
    match value:
        case Column(name=name):
            declared = schema.columns[name]
            handed_on = isinstance(declared, Category) or name in schema.lengths
            return handed_on and declared_kind(declared) == "text"
        case Case(branches=branches, otherwise=otherwise):
            thens = [then for _, then in branches] + ([] if otherwise is None else [otherwise])
            return any(uncut(then, schema) for then in thens)
        case Call(name=name, arguments=arguments) if FUNCTIONS[name].gives == "same":
            return any(uncut(argument, schema) for argument in arguments)
        case _:
            return False


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
