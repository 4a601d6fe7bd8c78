"""Ranges of dates, and of what is counted between them."""

from collections.abc import Iterator
from datetime import date, timedelta
from fractions import Fraction

from sfumato.plan.expressions import Call, Case, Column, Day, Expression, String
from sfumato.query.ranges import WHOLE, Range
from sfumato.schema.columns import Date
from sfumato.schema.table import Schema

Days = tuple[date, date]
LONGEST = {"year": 366, "quarter": 92, "month": 31, "week": 7, "day": 1}


def date_range(value: Expression, schema: Schema) -> Days | None:
    """The first and the last day an expression may be, from declarations alone."""
    match value:
        case Day(value=text):
            return date.fromisoformat(text), date.fromisoformat(text)
        case Column(name=name):
            declared = schema.columns[name]
            if isinstance(declared, Date) and declared.lower is not None and declared.upper is not None:
                return declared.lower, declared.upper
            return None
        case Call(name="DATE_TRUNC", arguments=(String(value=unit), inner)):
            found = date_range(inner, schema)
            return None if found is None else (truncated(found[0], unit), truncated(found[1], unit))
        case Call(name="NULLIF", arguments=(inner, _)):
            return date_range(inner, schema)
        case Call(name="COALESCE", arguments=inners):
            return _hull([date_range(inner, schema) for inner in inners])
        case Case(branches=branches, otherwise=otherwise):
            last = [] if otherwise is None else [otherwise]
            return _hull([date_range(inner, schema) for inner in [*(then for _, then in branches), *last]])
        case _:
            return None


def _hull(found: list[Days | None]) -> Days | None:
    known = [days for days in found if days is not None]
    if len(known) < len(found):
        return None
    return min(first for first, _ in known), max(last for _, last in known)


def date_part_range(call: Call, schema: Schema) -> Range:
    """Of YEAR and DATE_DIFF, whose ranges follow from those of dates."""
    if call.name == "YEAR":
        days = date_range(call.arguments[0], schema)
        return Range(None if days is None else (Fraction(days[0].year), Fraction(days[1].year)), WHOLE)
    unit, start, end = call.arguments
    first, second = date_range(start, schema), date_range(end, schema)
    if first is None or second is None or not isinstance(unit, String):
        return Range(None, WHOLE)
    low = _count(second[0], unit.value) - _count(first[1], unit.value)
    high = _count(second[1], unit.value) - _count(first[0], unit.value)
    return Range((Fraction(low), Fraction(high)), WHOLE)


def _count(day: date, unit: str) -> int:
    match unit:
        case "year":
            return day.year
        case "month":
            return 12 * day.year + day.month
        case _:
            return day.toordinal()


def truncated(day: date, unit: str) -> date:
    match unit:
        case "year":
            return day.replace(month=1, day=1)
        case "quarter":
            return day.replace(month=3 * ((day.month - 1) // 3) + 1, day=1)
        case "month":
            return day.replace(day=1)
        case "week":
            return day - timedelta(days=day.weekday())
        case _:
            return day


def starts(days: Days, unit: str) -> Iterator[date]:
    """The first day of every year, quarter, month, week or day between two days."""
    day, last = truncated(days[0], unit), truncated(days[1], unit)
    while day < last:
        yield day
        day = truncated(day + timedelta(days=LONGEST[unit]), unit)
    yield last
