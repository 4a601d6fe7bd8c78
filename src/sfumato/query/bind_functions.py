"""Calls of functions: how many arguments they have, and which of these must be constants."""

from typing import assert_never

from sfumato.plan.expressions import Call, Expression, Number, String
from sfumato.plan.functions import (
    FUNCTIONS,
    LARGEST_POWER,
    MOST_DIGITS,
    MOST_SIGNS,
    TRUNCATIONS,
    UNITS,
    Takes,
)
from sfumato.plan.sources import texts_in
from sfumato.query.wordings import argument_wrong
from sfumato.schema.table import Schema

MOST_PARTS = 16  # of texts put together: one row must not need a thousand times the memory of another


def takes_of(call: Call) -> tuple[Takes, ...]:
    """What each argument has to be."""
    function = FUNCTIONS[call.name]
    missing = len(call.arguments) - len(function.takes)
    if missing < 0 or (missing > 0 and not function.more):
        raise argument_wrong(call.name, f"{len(function.takes)} arguments{' or more' if function.more else ''}")
    return function.takes + function.takes[-1:] * missing


def check_constant(name: str, argument: Expression, takes: Takes) -> Number | String:
    match takes:
        case "digits":
            return _whole(name, argument, -MOST_DIGITS, MOST_DIGITS)
        case "place":
            return _whole(name, argument, 1, MOST_SIGNS)
        case "length":
            return _whole(name, argument, 0, MOST_SIGNS)
        case "divisor":
            if isinstance(argument, Number) and argument.value != 0:
                return argument
            raise argument_wrong(name, "a number other than 0 to divide by")
        case "exponent":
            if isinstance(argument, Number) and abs(argument.value) <= LARGEST_POWER:
                return argument
            raise argument_wrong(name, f"a number from -{LARGEST_POWER} to {LARGEST_POWER} as exponent")
        case "constant":
            if isinstance(argument, String):
                return argument
            raise argument_wrong(name, "texts in quotes as its second and third argument")
        case "truncation":
            return _one_of(name, argument, TRUNCATIONS)
        case "unit":
            return _one_of(name, argument, UNITS)
        case "number" | "text" | "date" | "same":
            raise TypeError(f"{takes} is no constant")
        case _:
            assert_never(takes)


def _whole(name: str, argument: Expression, low: int, high: int) -> Number:
    if isinstance(argument, Number) and argument.value.denominator == 1 and low <= argument.value <= high:
        return argument
    raise argument_wrong(name, f"whole numbers from {low} to {high} after its first argument")


def _one_of(name: str, argument: Expression, known: tuple[str, ...]) -> String:
    if isinstance(argument, String) and argument.value.lower() in known:
        return String(argument.value.lower())
    raise argument_wrong(name, f"one of {', '.join(repr(each) for each in known)} as its first argument")


def check_growth(name: str, arguments: tuple[Expression, ...], schema: Schema) -> None:
    """A text may not become much longer than what it was made of: memory and time would tell of single rows."""
    if name == "REPLACE":
        old, new = (argument.value for argument in arguments[1:] if isinstance(argument, String))
        if not old or len(new.encode()) > len(old.encode()):
            raise argument_wrong(name, "a text to replace, and one to put there that is no longer")
    if name == "CONCAT" and sum(texts_in(argument, schema) for argument in arguments) > MOST_PARTS:
        raise argument_wrong(name, f"at most {MOST_PARTS} texts in all, those of sub-queries included")
