"""Every function of a row: what it takes, what it gives, and the range of what it gives.

One table for the gate, the binder, the engines, the reference interpreter of the tests and the documentation. All are
total: an argument that is missing, or outside of what a function is made for, gives NULL.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor
from types import MappingProxyType
from typing import Literal

from sfumato.plan.expressions import FunctionName
from sfumato.plan.ranges import (
    WHOLE,
    Range,
    absolute,
    decimal_logarithm,
    exponential,
    greatest,
    half_away,
    hull,
    least,
    natural_logarithm,
    power,
    remainder,
    root,
    rounded,
    sign,
)

Kind = Literal["number", "text", "date"]
# "same" is any kind, the same for all. The others are constants: whole numbers, numbers, texts, parts of a date.
Takes = Literal[Kind, "same", "digits", "place", "length", "divisor", "exponent", "constant", "truncation", "unit"]

MOST_DIGITS = 15
MOST_SIGNS = 10_000
LARGEST_POWER = 10
TRUNCATIONS = ("year", "quarter", "month", "week", "day")
UNITS = ("year", "month", "day")

RangeRule = Callable[[tuple[Range, ...]], Range]


@dataclass(frozen=True, slots=True)
class Function:
    """`more` arguments of the last kind may follow; `twice` says that its SQL repeats its arguments."""

    takes: tuple[Takes, ...]
    gives: Kind | Literal["same"]
    meaning: str
    range: RangeRule = lambda _: Range(None)
    more: bool = False
    twice: bool = False


def _between(low: int, high: int) -> RangeRule:
    return lambda _: Range((Fraction(low), Fraction(high)), WHOLE)


def _value(found: Range) -> Fraction:
    """Of an argument that is a constant."""
    return found.bounds[0] if found.bounds is not None else Fraction(0)


FUNCTIONS: Mapping[FunctionName, Function] = MappingProxyType(
    {
        "ABS": Function(("number",), "number", "x without its sign", lambda given: absolute(given[0])),
        "ROUND": Function(
            ("number", "digits"),
            "number",
            "x rounded to so many digits after the point (0 if not given; negative ones before it), halves away from 0",
            lambda given: rounded(given[0], Fraction(10) ** -int(_value(given[1])), half_away),
        ),
        "FLOOR": Function(
            ("number",), "number", "the next whole number below", lambda given: rounded(given[0], Fraction(1), floor)
        ),
        "CEIL": Function(
            ("number",), "number", "the next whole number above", lambda given: rounded(given[0], Fraction(1), ceil)
        ),
        "SIGN": Function(("number",), "number", "−1, 0 or 1", lambda given: sign(given[0])),
        "LEAST": Function(
            ("number",), "number", "the smallest; NULL if any is", lambda given: least(given), more=True, twice=True
        ),
        "GREATEST": Function(
            ("number",), "number", "the largest; NULL if any is", lambda given: greatest(given), more=True, twice=True
        ),
        "SQRT": Function(
            ("number",), "number", "the square root; NULL below 0", lambda given: root(given[0]), twice=True
        ),
        "LN": Function(
            ("number",),
            "number",
            "the natural logarithm; NULL at 0 and below",
            lambda given: natural_logarithm(given[0]),
            twice=True,
        ),
        "LOG10": Function(
            ("number",),
            "number",
            "the logarithm to base 10; NULL at 0 and below",
            lambda given: decimal_logarithm(given[0]),
            twice=True,
        ),
        "EXP": Function(("number",), "number", "e to the power of x", lambda given: exponential(given[0])),
        "POWER": Function(
            ("number", "exponent"),
            "number",
            f"x to a constant power from −{LARGEST_POWER} to {LARGEST_POWER}; NULL where it has no value",
            lambda given: power(given[0], _value(given[1])),
        ),
        "MOD": Function(
            ("number", "divisor"),
            "number",
            "what is left when x is divided by a constant, with the sign of x",
            lambda given: remainder(given[0], _value(given[1])),
        ),
        "UPPER": Function(("text",), "text", "in capitals"),
        "LOWER": Function(("text",), "text", "in small letters"),
        "TRIM": Function(("text",), "text", "without blanks at both ends"),
        "LENGTH": Function(("text",), "number", "the number of characters", lambda _: Range(None, WHOLE, Fraction(0))),
        "SUBSTRING": Function(
            ("text", "place", "length"), "text", "so many characters from a place on, the first is 1"
        ),
        "LEFT": Function(("text", "length"), "text", "the first so many characters"),
        "RIGHT": Function(("text", "length"), "text", "the last so many characters"),
        "CONCAT": Function(("text",), "text", "texts one after the other; NULL if any is", more=True),
        "REPLACE": Function(
            ("text", "constant", "constant"), "text", "a constant text replaced by another that is no longer"
        ),
        "YEAR": Function(("date",), "number", "the year", _between(1, 9999)),
        "QUARTER": Function(("date",), "number", "1 to 4", _between(1, 4)),
        "MONTH": Function(("date",), "number", "1 to 12", _between(1, 12)),
        "WEEK": Function(("date",), "number", "the ISO week, 1 to 53", _between(1, 53)),
        "DAY": Function(("date",), "number", "the day of the month, 1 to 31", _between(1, 31)),
        "DAYOFWEEK": Function(("date",), "number", "0 for Sunday to 6 for Saturday", _between(0, 6)),
        "ISODOW": Function(("date",), "number", "1 for Monday to 7 for Sunday", _between(1, 7)),
        "DAYOFYEAR": Function(("date",), "number", "1 to 366", _between(1, 366)),
        "DATE_TRUNC": Function(
            ("truncation", "date"), "date", f"the first day of the {', '.join(TRUNCATIONS[:-1])} (from Monday) or day"
        ),
        "DATE_DIFF": Function(
            ("unit", "date", "date"),
            "number",
            f"how many ends of a {', '.join(UNITS[:-1])} or day lie between the first date and the second",
            lambda _: Range(None, WHOLE),
        ),
        "COALESCE": Function(("same",), "same", "the first that is not NULL", hull, more=True),
        "NULLIF": Function(("same", "same"), "same", "x, but NULL where it equals y", lambda given: given[0]),
    }
)
