"""Hierarchies that follow a rule: intervals of numbers, calendars, prefixes of codes."""

import re
from collections.abc import Callable, Sequence
from datetime import date
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from math import ceil, floor, log2, log10

import numpy as np

from sfumato.anonymise.columns import NUMBER, Coded, Reals
from sfumato.anonymise.wordings import date_units_wrong, hierarchy_needs, widths_wrong
from sfumato.errors import not_a_number
from sfumato.schema.numbers import exact

Ladder = tuple[str, ...]
Climb = Callable[[Coded], Sequence[Ladder | None]]

DAY = re.compile(r"(\d{4})-(\d{2})-(\d{2})")
UNITS: dict[str, Callable[[date], str]] = {
    "month": lambda day: f"{day.year:04d}-{day.month:02d}",
    "quarter": lambda day: f"{day.year:04d} Q{(day.month + 2) // 3}",
    "year": lambda day: f"{day.year:04d}",
    "decade": lambda day: f"{day.year // 10 * 10:04d}s",
    "century": lambda day: f"{day.year // 100 * 100:04d}–{day.year // 100 * 100 + 99:04d}",
}
DEFAULT_UNITS = ("month", "year", "decade")
MASK = "*"
EDGE = 1e-9
# The finest automatic interval cuts the range into about so many.
AUTOMATIC_PARTS = 32
LONGEST_CODE = 20


def numbers(texts: Sequence[str]) -> list[Decimal]:
    for text in texts:
        if not NUMBER.fullmatch(text):
            raise not_a_number("a level of the hierarchy", repr(text))
    return [Decimal(text) for text in texts]


def intervals(widths: Sequence[float | Decimal], origin: float | Decimal = 0) -> Climb:
    """Numbers in intervals; refuses widths of which one is no multiple of the one before."""
    steps, start = [exact(width, "width") for width in widths], exact(origin, "origin")
    if not steps or min(steps) <= 0 or any(wide % narrow for narrow, wide in pairwise(steps)):
        raise widths_wrong()

    def climb(column: Coded) -> list[Ladder | None]:
        if column.numbers is None:
            raise hierarchy_needs(column.name, "intervals", "numbers")
        named = [_named(column.numbers, step, start) for step in steps]
        return [
            None if value != value else ladder
            for value, ladder in zip(column.numbers.tolist(), zip(*named, strict=True), strict=True)
        ]

    return climb


def _named(numbers: Reals, step: Fraction, start: Fraction) -> list[str]:
    """The interval of each number. Doubles decide, except near an edge, where fractions do."""
    finite = np.isfinite(numbers)
    scaled = (np.where(finite, numbers, 0.0) - float(start)) / float(step)
    places = np.floor(scaled)
    near = finite & (np.abs(scaled - np.round(scaled)) <= EDGE * np.maximum(1.0, np.abs(scaled)))
    for place in np.flatnonzero(near):
        places[place] = float((exact(float(numbers[place]), "value") - start) // step)
    found = {
        place: f"[{_shown(start + int(place) * step)}, {_shown(start + (int(place) + 1) * step)}["
        for place in np.unique(places).tolist()
    }
    return [found[place] if known else MASK for place, known in zip(places.tolist(), finite.tolist(), strict=True)]


def dates(units: Sequence[str]) -> Climb:
    """Dates, or texts that begin like 2024-05-17, by the calendar."""
    chosen = tuple(units) or DEFAULT_UNITS
    order = [list(UNITS).index(unit) if unit in UNITS else -1 for unit in chosen]
    if -1 in order or order != sorted(set(order)):
        raise date_units_wrong(UNITS)

    def climb(column: Coded) -> list[Ladder | None]:
        ladders: list[Ladder | None] = []
        for text, blank in zip(column.texts, column.blank, strict=True):
            day = None if text is None or blank else _day(text)
            if day is None and not blank:
                raise hierarchy_needs(column.name, "dates", "dates such as 2024-05-17")
            ladders.append(None if day is None else tuple(UNITS[unit](day) for unit in chosen))
        return ladders

    return climb


def prefixes(lengths: Sequence[int]) -> Climb:
    """The first signs of a code, the others masked one by one."""

    def climb(column: Coded) -> list[Ladder | None]:
        longest = max((len(text) for text in column.texts if text is not None), default=0)
        kept = sorted({int(length) for length in lengths}, reverse=True) or range(longest - 1, 0, -1)
        return [
            None
            if text is None or not text.strip()
            else tuple(text[:length] + MASK * (longest - length) for length in kept)
            for text in column.texts
        ]

    return climb


def automatic(column: Coded) -> Sequence[Ladder | None]:
    """What fits the values of the column; texts that are neither dates nor codes have no groups but *."""
    filled = [text for text, blank in zip(column.texts, column.blank, strict=True) if text is not None and not blank]
    if column.numbers is not None:
        finite = column.numbers[np.isfinite(column.numbers)]
        if len(finite) > 2:
            return intervals(_doubling(float(finite.min()), float(finite.max())))(column)
    elif filled and all(_day(text) is not None for text in filled):
        return dates(())(column)
    elif filled and _codes(filled):
        return prefixes(())(column)
    return [() for _ in column.texts]


def _codes(texts: Sequence[str]) -> bool:
    """Of one length, without blanks and with digits: a code, whose first signs say most."""
    length = len(texts[0])
    return 1 < length <= LONGEST_CODE and all(
        len(text) == length and text.isalnum() and any(sign.isdigit() for sign in text) for text in texts
    )


def _doubling(low: float, high: float) -> list[Decimal]:
    """Widths 1, 2 or 5 times a power of ten and its doubles, up to the whole range."""
    least = (high - low) / AUTOMATIC_PARTS
    power = Decimal(10) ** floor(log10(least))
    width = next(power * digit for digit in (1, 2, 5, 10) if power * digit >= Decimal(least) * Decimal("0.999999"))
    doubles = max(1, ceil(log2((high - low) / float(width))))
    return [width * 2**double for double in range(doubles)]


def _day(text: str) -> date | None:
    found = DAY.match(text)
    if found is None or (len(text) > 10 and text[10] not in "T "):
        return None
    try:
        return date(int(found[1]), int(found[2]), int(found[3]))
    except ValueError:
        return None


def _shown(value: object) -> str:
    number = float(value)  # type: ignore[arg-type]
    return str(int(number)) if number.is_integer() and abs(number) < 1e15 else f"{number:.12g}"
