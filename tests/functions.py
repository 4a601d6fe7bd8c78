"""What every function of a row means, in plain Python; no argument is NULL or NaN, and NaN stands for NULL."""

import math
import re
import unicodedata
from collections.abc import Callable
from datetime import date, timedelta
from typing import Any

NAN, INF = math.nan, math.inf


def half_away(value: float) -> float:
    """To the nearest whole number, halves away from 0."""
    if math.isinf(value) or abs(value) >= 2**52:
        return value
    whole = math.floor(abs(value))
    return math.copysign(whole + (abs(value) - whole >= 0.5), value)


def _round(value: float, digits: float) -> float:
    unit = float(10 ** abs(int(digits)))
    return half_away(value * unit) / unit if digits > 0 else half_away(value / unit) * unit


def _power(value: float, exponent: float) -> float:
    if (value == 0 and exponent < 0) or (value < 0 and exponent != int(exponent) and math.isfinite(value)):
        return NAN
    try:
        return math.pow(value, exponent)
    except OverflowError:
        return math.copysign(INF, value) if exponent % 2 == 1 else INF


def _exp(value: float) -> float:
    try:
        return math.exp(value)
    except OverflowError:
        return INF


def _simple(change: Callable[[str], str]) -> Callable[[str], str]:
    """Sign by sign; a sign that would become several stays."""
    return lambda text: "".join(change(sign) if len(change(sign)) == 1 else sign for sign in text)


def _trim(text: str) -> str:
    blank = [unicodedata.category(sign) == "Zs" for sign in text]
    inside = [place for place, is_blank in enumerate(blank) if not is_blank]
    return text[inside[0] : inside[-1] + 1] if inside else ""


def _trunc(unit: str, day: date) -> date:
    match unit:
        case "year":
            return date(day.year, 1, 1)
        case "quarter":
            return date(day.year, (1, 1, 1, 4, 4, 4, 7, 7, 7, 10, 10, 10)[day.month - 1], 1)
        case "month":
            return date(day.year, day.month, 1)
        case "week":
            return day - timedelta(days=day.isoweekday() - 1)
        case _:
            return day


def _diff(unit: str, start: date, end: date) -> float:
    months = 12 * (end.year - start.year) + end.month - start.month
    return float({"year": end.year - start.year, "month": months, "day": (end - start).days}[unit])


MEANING: dict[str, Callable[..., Any]] = {
    "ABS": abs,
    "ROUND": _round,
    "FLOOR": lambda x: x if math.isinf(x) else float(math.floor(x)),
    "CEIL": lambda x: x if math.isinf(x) else float(math.ceil(x)),
    "SIGN": lambda x: float((x > 0) - (x < 0)),
    "LEAST": lambda *xs: min(xs),
    "GREATEST": lambda *xs: max(xs),
    "SQRT": lambda x: math.sqrt(x) if x >= 0 else NAN,
    "LN": lambda x: math.log(x) if x > 0 else NAN,
    "LOG10": lambda x: math.log10(x) if x > 0 else NAN,
    "EXP": _exp,
    "POWER": _power,
    "MOD": lambda x, divisor: math.fmod(x, divisor) if math.isfinite(x) else NAN,
    "UPPER": _simple(str.upper),
    "LOWER": _simple(str.lower),
    "TRIM": _trim,
    "LENGTH": lambda text: float(len(text)),
    "SUBSTRING": lambda text, start, length: text[int(start) - 1 : int(start) - 1 + int(length)],
    "LEFT": lambda text, length: text[: int(length)],
    "RIGHT": lambda text, length: text[max(0, len(text) - int(length)) :],
    "CONCAT": lambda *texts: "".join(texts),
    "REPLACE": lambda text, old, new: text.replace(old, new),
    "YEAR": lambda day: float(day.year),
    "QUARTER": lambda day: float((day.month + 2) // 3),
    "MONTH": lambda day: float(day.month),
    "WEEK": lambda day: float(day.isocalendar().week),
    "DAY": lambda day: float(day.day),
    "DAYOFWEEK": lambda day: float(day.isoweekday() % 7),
    "ISODOW": lambda day: float(day.isoweekday()),
    "DAYOFYEAR": lambda day: float(day.timetuple().tm_yday),
    "DATE_TRUNC": _trunc,
    "DATE_DIFF": _diff,
}
# COALESCE and NULLIF see NULL, so the interpreter knows them itself.


def matches(kind: str, text: str, pattern: str) -> bool:
    match kind:
        case "starts":
            return text.startswith(pattern)
        case "ends":
            return text.endswith(pattern)
        case "contains":
            return pattern in text
        case _:
            signs = {"%": ".*", "_": "."}
            return re.fullmatch("".join(signs.get(sign, re.escape(sign)) for sign in pattern), text, re.S) is not None
