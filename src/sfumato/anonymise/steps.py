"""Hierarchies that follow a rule: intervals of numbers, calendars, prefixes of codes."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from math import ceil, floor, log2, log10
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.anonymise.columns import NUMBER, Coded, Codes, Reals
from sfumato.anonymise.wordings import date_units_wrong, hierarchy_needs, widths_wrong
from sfumato.errors import not_a_number
from sfumato.schema.numbers import exact


@dataclass(frozen=True, slots=True)
class Step:
    """One level above the values of a column: its labels, and the label of each value, -1 where it has none."""

    labels: tuple[str, ...]
    of_value: Codes

    @classmethod
    def of(cls, names: "Sequence[str | None] | pa.Array[Any]") -> "Step":
        """From the name of the label of each value."""
        encoded: Any = (names if isinstance(names, pa.Array) else pa.array(names, type=pa.string())).dictionary_encode()
        places = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        return cls(tuple(encoded.dictionary.to_pylist()), places.astype(np.int64))

    def above(self, names: Sequence[str]) -> "Step":
        """The next level, from the name of each label's own label."""
        higher = Step.of(names)
        return Step(higher.labels, np.where(self.of_value >= 0, np.append(higher.of_value, -1)[self.of_value], -1))


Climb = Callable[[Coded], list[Step]]

DAY_LENGTH = 10
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
# Whole numbers below are exact as doubles.
EXACT = 2**53
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

    def climb(column: Coded) -> list[Step]:
        if column.numbers is None:
            raise hierarchy_needs(column.name, "intervals", "numbers")
        return [_named(column.numbers, step, start) for step in steps]

    return climb


def _named(numbers: Reals, step: Fraction, start: Fraction) -> Step:
    """The interval of each number. Doubles decide, except near an edge, where whole numbers and fractions do."""
    finite = np.isfinite(numbers)
    filled = np.where(finite, numbers, 0.0)
    scaled = (filled - float(start)) / float(step)
    places = np.floor(scaled)
    near = finite & (np.abs(scaled - np.round(scaled)) <= EDGE * np.maximum(1.0, np.abs(scaled)))
    if step.denominator == start.denominator == 1 and max(step, abs(start)) < EXACT:
        sure = near & (filled == np.rint(filled)) & (np.abs(filled) < EXACT)
        places[sure] = (filled[sure].astype(np.int64) - int(start)) // int(step)
        near &= ~sure
    for place in np.flatnonzero(near):
        places[place] = float((exact(float(numbers[place]), "value") - start) // step)
    # What is infinite has no interval.
    distinct, of_value = np.unique(np.where(finite, places, np.inf), return_inverse=True)
    labels = tuple(
        f"[{_shown(start + int(place) * step)}, {_shown(start + (int(place) + 1) * step)}[" if place < np.inf else MASK
        for place in distinct.tolist()
    )
    return Step(labels, np.where(np.isnan(numbers), -1, of_value.reshape(-1)))


def dates(units: Sequence[str]) -> Climb:
    """Dates, or texts that begin like 2024-05-17, by the calendar."""
    chosen = tuple(units) or DEFAULT_UNITS
    order = [list(UNITS).index(unit) if unit in UNITS else -1 for unit in chosen]
    if -1 in order or order != sorted(set(order)):
        raise date_units_wrong(UNITS)

    def climb(column: Coded) -> list[Step]:
        days, texts = _days(column)
        known = [_day(text) for text in texts]
        if None in known:
            raise hierarchy_needs(column.name, "dates", "dates such as 2024-05-17")
        return [days.above([UNITS[unit](day) for day in known if day is not None]) for unit in chosen]

    return climb


def _days(column: Coded) -> tuple[Step, list[str]]:
    """The distinct days of a column, and one text of each; what follows a day but does not belong stays with it."""
    texts = pa.array(column.texts, type=pa.string(), mask=column.blank)
    written = pc.utf8_slice_codeunits(texts, 0, DAY_LENGTH + 1)
    short = pc.replace_substring_regex(written, "[T ]$", "")
    days = Step.of(short)
    return days, list(days.labels)


def prefixes(lengths: Sequence[int]) -> Climb:
    """The first signs of a code, the others masked one by one."""

    def climb(column: Coded) -> list[Step]:
        longest = max((len(text) for text in column.texts if text is not None), default=0)
        kept = sorted({int(length) for length in lengths}, reverse=True) or range(longest - 1, 0, -1)
        step, steps = Step.of(pa.array(column.texts, type=pa.string(), mask=column.blank)), []
        for length in kept:
            step = step.above([text[:length] for text in step.labels])
            steps.append(Step(tuple(text + MASK * (longest - length) for text in step.labels), step.of_value))
        return steps

    return climb


def automatic(column: Coded) -> list[Step]:
    """What fits the values of the column; texts that are neither dates nor codes have no groups but *."""
    if column.numbers is not None:
        finite = column.numbers[np.isfinite(column.numbers)]
        if len(finite) > 2:
            return intervals(_doubling(float(finite.min()), float(finite.max())))(column)
        return []
    filled = [text for text, blank in zip(column.texts, column.blank.tolist(), strict=True) if text and not blank]
    if filled and _day(filled[0]) is not None and all(_day(text) is not None for text in _days(column)[1]):
        return dates(())(column)
    return prefixes(())(column) if filled and _codes(filled) else []


def _codes(texts: Sequence[str]) -> bool:
    """Of one length, without blanks and with digits: a code, whose first signs say most."""
    length = len(texts[0])
    return 1 < length <= LONGEST_CODE and all(
        len(text) == length and text.isalnum() and not text.isalpha() for text in texts
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
    if found is None or (len(text) > DAY_LENGTH and text[DAY_LENGTH] not in "T "):
        return None
    try:
        return date(int(found[1]), int(found[2]), int(found[3]))
    except ValueError:
        return None


def _shown(value: object) -> str:
    number = float(value)  # type: ignore[arg-type]
    return str(int(number)) if number.is_integer() and abs(number) < 1e15 else f"{number:.12g}"
