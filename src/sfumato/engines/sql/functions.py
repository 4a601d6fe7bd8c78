"""Functions as SQL, from arguments already written. A number comes and goes as a DOUBLE, NaN as NULL.

None may fail on any row, in any supported version of the engine: where a function has no value its argument is NULL.
"""

from collections.abc import Callable
from fractions import Fraction

from sfumato.plan.expressions import MatchKind
from sfumato.plan.functions import FunctionName


def double(value: float) -> str:
    return f"CAST('{value!r}' AS DOUBLE)"


def text(string: str) -> str:
    return "'" + string.replace("'", "''") + "'"


def _round(value: str, digits: str) -> str:
    unit = double(float(10 ** abs(int(digits))))
    if int(digits) > 0:
        return f"(round({value} * {unit}) / {unit})"
    return f"round({value})" if int(digits) == 0 else f"(round({value} / {unit}) * {unit})"


def _power(value: str, exponent: str) -> str:
    base = f"nullif({value}, {double(0.0)})" if Fraction(exponent) < 0 else value
    return f"pow({base}, {double(float(Fraction(exponent)))})"


def _all_present(name: str) -> Callable[..., str]:
    """Engines differ in what they do with NULL here, so none gets to see one."""

    def write(*values: str) -> str:
        present = " AND ".join(f"{value} IS NOT NULL" for value in values)
        return f"CASE WHEN {present} THEN {name}({', '.join(values)}) END"

    return write


def _number(name: str) -> Callable[..., str]:
    """A function whose whole numbers become doubles like all others."""
    return lambda *values: f"CAST({name}({', '.join(values)}) AS DOUBLE)"


def _plain(name: str) -> Callable[..., str]:
    return lambda *values: f"{name}({', '.join(values)})"


SQL: dict[FunctionName, Callable[..., str]] = {
    "ABS": _plain("abs"),
    "ROUND": _round,
    "FLOOR": _plain("floor"),
    "CEIL": _plain("ceil"),
    "SIGN": _number("sign"),
    "LEAST": _all_present("least"),
    "GREATEST": _all_present("greatest"),
    "SQRT": lambda value: f"sqrt(CASE WHEN {value} >= 0 THEN {value} END)",
    "LN": lambda value: f"ln(CASE WHEN {value} > 0 THEN {value} END)",
    "LOG10": lambda value: f"log10(CASE WHEN {value} > 0 THEN {value} END)",
    "EXP": _plain("exp"),
    "POWER": _power,
    "MOD": lambda value, divisor: f"({value} % {double(float(Fraction(divisor)))})",
    "UPPER": _plain("upper"),
    "LOWER": _plain("lower"),
    "TRIM": _plain("trim"),
    "LENGTH": _number("length"),
    "SUBSTRING": _plain("substring"),
    "LEFT": _plain("left"),
    "RIGHT": _plain("right"),
    "CONCAT": lambda *values: f"({' || '.join(values)})",
    "REPLACE": _plain("replace"),
    "YEAR": _number("year"),
    "QUARTER": _number("quarter"),
    "MONTH": _number("month"),
    "WEEK": _number("week"),
    "DAY": _number("day"),
    "DAYOFWEEK": _number("dayofweek"),
    "ISODOW": _number("isodow"),
    "DAYOFYEAR": _number("dayofyear"),
    "DATE_TRUNC": lambda unit, value: f"CAST(date_trunc({unit}, {value}) AS DATE)",
    "DATE_DIFF": _number("date_diff"),
    "COALESCE": _plain("coalesce"),
    "NULLIF": _plain("nullif"),
}


MATCHES: dict[MatchKind, Callable[[str, str], str]] = {
    "like": lambda value, pattern: f"({value} LIKE {text(pattern)})",
    "starts": lambda value, pattern: f"starts_with({value}, {text(pattern)})",
    "ends": lambda value, pattern: f"suffix({value}, {text(pattern)})",
    "contains": lambda value, pattern: f"contains({value}, {text(pattern)})",
}
