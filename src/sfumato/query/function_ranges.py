"""The range of what a function of a row gives, from the ranges of its arguments that are numbers.

A function that is not listed here gives no number, or one of which nothing is known.
"""

from collections.abc import Callable, Mapping
from fractions import Fraction
from math import ceil, floor
from types import MappingProxyType

from sfumato.plan.functions import FunctionName
from sfumato.query.ranges import (
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

RangeRule = Callable[[tuple[Range, ...]], Range]


def range_of(name: FunctionName, given: tuple[Range, ...]) -> Range:
    return RANGES[name](given) if name in RANGES else Range(None)


def _between(low: int, high: int) -> RangeRule:
    return lambda _: Range((Fraction(low), Fraction(high)), WHOLE)


def _value(found: Range) -> Fraction:
    """Of an argument that is a constant."""
    return found.bounds[0] if found.bounds is not None else Fraction(0)


RANGES: Mapping[FunctionName, RangeRule] = MappingProxyType(
    {
        "ABS": lambda given: absolute(given[0]),
        "ROUND": lambda given: rounded(given[0], Fraction(10) ** -int(_value(given[1])), half_away),
        "FLOOR": lambda given: rounded(given[0], Fraction(1), floor),
        "CEIL": lambda given: rounded(given[0], Fraction(1), ceil),
        "SIGN": lambda given: sign(given[0]),
        "LEAST": least,
        "GREATEST": greatest,
        "SQRT": lambda given: root(given[0]),
        "LN": lambda given: natural_logarithm(given[0]),
        "LOG10": lambda given: decimal_logarithm(given[0]),
        "EXP": lambda given: exponential(given[0]),
        "POWER": lambda given: power(given[0], _value(given[1])),
        "MOD": lambda given: remainder(given[0], _value(given[1])),
        "LENGTH": lambda _: Range(None, WHOLE, Fraction(0)),
        "YEAR": _between(1, 9999),
        "QUARTER": _between(1, 4),
        "MONTH": _between(1, 12),
        "WEEK": _between(1, 53),
        "DAY": _between(1, 31),
        "DAYOFWEEK": _between(0, 6),
        "ISODOW": _between(1, 7),
        "DAYOFYEAR": _between(1, 366),
        "DATE_DIFF": lambda _: Range(None, WHOLE),
        "COALESCE": hull,
        "NULLIF": lambda given: given[0],
    }
)
