"""Functions as SQL, put together from arguments already written and the leaves of a dialect.

A number comes and goes as a DOUBLE, NaN as NULL. None may fail on any row: where a function has no value its argument
is NULL. What all engines write alike stands here by its name.
"""

from collections.abc import Callable
from fractions import Fraction

from sfumato.engines.sql.dialect import DatePart, Dialect
from sfumato.plan.expressions import MatchKind
from sfumato.plan.functions import FunctionName

Phrase = Callable[..., str]
LOWER = 1 << 16  # so many values have the lower bits of a number that is multiplied in two parts


def quoted(name: str) -> str:
    """An identifier as the standard writes it; it may hold any printable character."""
    return '"' + name.replace('"', '""') + '"'


def text(string: str) -> str:
    """A text as the standard writes it."""
    return "'" + string.replace("'", "''") + "'"


def part_of_rows(rows: str, dialect: Dialect) -> str:
    """The whole part of (most * rows + start) / total, where rows <= total and start < total.

    As two quotients, of the upper bits of rows and of the rest: fits 64 bits with most < 2^30 and fewer than 2^46 rows.
    """
    upper = f"(most * {dialect.quotient(rows, str(LOWER))})"
    rest = f"({upper} % total * {LOWER} + most * ({rows} % {LOWER}) + start)"
    return f"({dialect.quotient(upper, 'total')} * {LOWER} + {dialect.quotient(rest, 'total')})"


def _round(dialect: Dialect, value: str, digits: str) -> str:
    unit = dialect.double(float(10 ** abs(int(digits))))
    if int(digits) > 0:
        return dialect.arithmetic("/", dialect.half_away(dialect.arithmetic("*", value, unit)), unit)
    if int(digits) < 0:
        return dialect.arithmetic("*", dialect.half_away(dialect.arithmetic("/", value, unit)), unit)
    return dialect.half_away(value)


def _all_present(name: str) -> Phrase:
    """Engines differ in what they do with NULL here, so none gets to see one."""

    def write(_: Dialect, *values: str) -> str:
        present = " AND ".join(f"{value} IS NOT NULL" for value in values)
        return f"CASE WHEN {present} THEN {name}({', '.join(values)}) END"

    return write


def _plain(name: str) -> Phrase:
    return lambda _, *values: f"{name}({', '.join(values)})"


def _part(name: DatePart) -> Phrase:
    return lambda dialect, day: dialect.part(name, day)


def _between(dialect: Dialect, unit: str, first: str, second: str) -> str:
    """How many ends of a year, month or day lie between two days: of months and years, what their numbers differ by."""
    if unit == "day":
        return dialect.days_between(first, second)
    years = f"({dialect.part('YEAR', second)} - {dialect.part('YEAR', first)})"
    if unit == "year":
        return years
    return f"({years} * 12 + {dialect.part('MONTH', second)} - {dialect.part('MONTH', first)})"


SQL: dict[FunctionName, Phrase] = {
    "ABS": _plain("abs"),
    "ROUND": _round,
    "FLOOR": lambda dialect, value: dialect.floor(value),
    "CEIL": lambda dialect, value: dialect.ceil(value),
    "SIGN": lambda dialect, value: dialect.sign(value),
    "LEAST": _all_present("least"),
    "GREATEST": _all_present("greatest"),
    "SQRT": lambda dialect, value: dialect.sqrt(value),
    "LN": lambda dialect, value: dialect.ln(value),
    "LOG10": lambda dialect, value: dialect.log10(value),
    "EXP": lambda dialect, value: dialect.exp(value),
    "POWER": lambda dialect, value, exponent: dialect.power(value, Fraction(exponent)),
    "MOD": lambda dialect, value, divisor: dialect.modulo(value, float(Fraction(divisor))),
    "UPPER": _plain("upper"),
    "LOWER": _plain("lower"),
    "TRIM": _plain("trim"),
    "LENGTH": lambda dialect, value: dialect.length(value),
    "SUBSTRING": _plain("substring"),
    "LEFT": _plain("left"),
    "RIGHT": _plain("right"),
    "CONCAT": lambda _, *values: f"({' || '.join(values)})",
    "REPLACE": _plain("replace"),
    "YEAR": _part("YEAR"),
    "QUARTER": _part("QUARTER"),
    "MONTH": _part("MONTH"),
    "WEEK": _part("WEEK"),
    "DAY": _part("DAY"),
    "DAYOFWEEK": _part("DAYOFWEEK"),
    "ISODOW": _part("ISODOW"),
    "DAYOFYEAR": _part("DAYOFYEAR"),
    "DATE_TRUNC": lambda dialect, unit, day: dialect.trunc(unit, day),
    "DATE_DIFF": _between,
    "COALESCE": _plain("coalesce"),
    "NULLIF": _plain("nullif"),
}


MATCHES: dict[MatchKind, Callable[[Dialect, str, str], str]] = {
    "like": lambda dialect, value, pattern: dialect.like(value, pattern),
    "starts": lambda dialect, value, pattern: dialect.starts(value, pattern),
    "ends": lambda dialect, value, pattern: dialect.ends(value, pattern),
    "contains": lambda dialect, value, pattern: dialect.contains(value, pattern),
}
