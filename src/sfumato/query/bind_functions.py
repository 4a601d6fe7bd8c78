"""Calls of functions as people ask them: how many arguments they have, and which of these must be constants."""

from typing import assert_never

from sfumato.plan.expressions import Call, Expression, String, constant_fits, replaces_shorter
from sfumato.plan.functions import (
    FUNCTIONS,
    LARGEST_POWER,
    MOST_DIGITS,
    MOST_SIGNS,
    TRUNCATIONS,
    UNITS,
    FunctionName,
    Takes,
)
from sfumato.plan.sources import texts_in
from sfumato.plan.totality import LONGEST_MADE, longest
from sfumato.query.wordings import argument_wrong
from sfumato.schema.table import Schema

MOST_PARTS = 16  # of texts put together: one row must not need a thousand times the memory of another


def make_call(name: FunctionName, arguments: tuple[Expression, ...]) -> Call:
    """A call, or Refused with what the function takes. Kinds of arguments are for later: columns have no types yet."""
    function = FUNCTIONS[name]
    takes = function.taken(len(arguments))
    if takes is None:
        raise argument_wrong(name, f"{len(function.takes)} arguments{' or more' if function.more else ''}")
    given = tuple(_in_small_letters(one, how) for one, how in zip(arguments, takes, strict=True))
    for argument, how in zip(given, takes, strict=True):
        if not constant_fits(argument, how):
            raise argument_wrong(name, _needed(how))
    if name == "REPLACE" and not replaces_shorter(*given[1:]):
        raise argument_wrong(name, "a text to replace, and one to put there that is no longer")
    return Call(name, given)


def _in_small_letters(argument: Expression, takes: Takes) -> Expression:
    if takes in ("truncation", "unit") and isinstance(argument, String):
        return String(argument.value.lower())
    return argument


def _needed(takes: Takes) -> str:
    match takes:
        case "digits":
            return _whole(-MOST_DIGITS, MOST_DIGITS)
        case "place":
            return _whole(1, MOST_SIGNS)
        case "length":
            return _whole(0, MOST_SIGNS)
        case "divisor":
            return "a number other than 0 to divide by"
        case "exponent":
            return f"a number from -{LARGEST_POWER} to {LARGEST_POWER} as exponent"
        case "constant":
            return "texts in quotes as its second and third argument"
        case "truncation":
            return _one_of(TRUNCATIONS)
        case "unit":
            return _one_of(UNITS)
        case "number" | "text" | "date" | "same":
            raise TypeError(f"{takes} is no constant")
        case _:
            assert_never(takes)


def _whole(low: int, high: int) -> str:
    return f"whole numbers from {low} to {high} after its first argument"


def _one_of(known: tuple[str, ...]) -> str:
    return f"one of {', '.join(repr(each) for each in known)} as its first argument"


def check_growth(call: Call, schema: Schema) -> None:
    """A text may not become much longer than what it was made of: memory and time would tell of single rows."""
    if call.name not in ("CONCAT", "REPLACE"):
        return
    if call.name == "CONCAT" and texts_in(call, schema) > MOST_PARTS:
        raise argument_wrong(call.name, f"at most {MOST_PARTS} texts in all, those of sub-queries included")
    if longest(call, schema) > LONGEST_MADE:
        raise argument_wrong(call.name, f"texts whose declared lengths make at most {LONGEST_MADE} characters together")
