"""What files of models are made of: each takes what JSON holds, and gives a value or raises TypeError or ValueError."""

from collections.abc import Callable
from datetime import date
from math import isfinite
from typing import Any, TypeVar, get_args

from sfumato.learn.bins import EPOCH, Cells, Kind, Line, Listed, Span, told_apart

Kept = TypeVar("Kept")

MOST_NUMBER = 1 << 62
MOST_WEIGHT = 1 << 40  # of a weight, of a noisy number of rows and of its noise


def parts(said: Any, *names: str) -> dict[str, Any]:
    """An object with these names, and no others."""
    if not isinstance(said, dict) or set(said) != set(names):
        raise ValueError
    return said


def items(said: Any, each: Callable[[Any], Kept]) -> tuple[Kept, ...]:
    if not isinstance(said, list):
        raise TypeError
    return tuple(each(one) for one in said)


def text(said: Any) -> str:
    if not isinstance(said, str):
        raise TypeError
    return said


def whole(said: Any) -> int:
    if type(said) is not int or abs(said) > MOST_NUMBER:
        raise ValueError
    return said


def number(said: Any) -> float:
    if type(said) not in (int, float) or not isfinite(said):
        raise ValueError
    return float(said)


def row(said: Any) -> tuple[int, ...]:
    return items(said, whole)


def table(said: Any) -> tuple[tuple[int, ...], ...]:
    return items(said, row)


def value(said: Any) -> str | int | bool:
    """A class, or a listed value, as categories have them."""
    if not isinstance(said, str | int | bool):
        raise TypeError
    if isinstance(said, int) and abs(said) >= 1 << 64:
        raise ValueError
    return said


def cells(said: Any) -> Cells:
    if set(said) == {"values"}:
        values = items(said["values"], value)
        if not values or len(set(values)) < len(values) or len(set(map(type, values))) > 1:
            raise ValueError
        return Listed(values)
    if set(said) == {"lower", "upper", "kind"}:
        span = Span(number(said["lower"]), number(said["upper"]), _kind(said["kind"]))
        return _line(span, (span.lower, span.upper))
    given = parts(said, "cuts", "kind")
    line = Line(items(given["cuts"], number), _kind(given["kind"]))
    return _line(line, line.cuts)


def _kind(said: Any) -> Kind:
    if said not in get_args(Kind):
        raise ValueError
    found: Kind = said
    return found


def _line(cells: Line | Span, edges: tuple[float, ...]) -> Cells:
    if not told_apart(cells):
        raise ValueError
    if cells.kind == "day" and any(not 1 <= one + EPOCH.toordinal() <= date.max.toordinal() for one in edges):
        raise ValueError
    return cells
