"""Numbers as people read them: with as many digits as their error bar leaves, beside ± or the ends of the bar."""

from collections.abc import Sequence
from math import ceil, floor, isfinite, log10
from typing import Any

NONE = "–"
PLAIN = 1e8  # from here on numbers are shown without a fraction
MANY_DIGITS = 1e5
SMALL = 0.1  # below it two digits are shown, wherever they begin
LOPSIDED = 1.5  # times as far to one side as to the other: ± would tell of a bar that is not there
MOST_DECIMALS = 12


class Written(float):
    """A number that is shown as it is written here, whatever a table does to other numbers."""

    written: str

    def __new__(cls, value: float, written: str) -> "Written":
        made = super().__new__(cls, value)
        made.written = written
        return made

    def __format__(self, how: str) -> str:
        return self.written

    def __reduce__(self) -> tuple[type["Written"], tuple[float, str]]:
        return Written, (float(self), self.written)


class Ends(str):
    """Both ends of an error bar: it stands right, as numbers do."""


def is_number(cell: Any) -> bool:
    return isinstance(cell, int | float) and not isinstance(cell, bool)


def margin(interval: Any, value: Any) -> Any:
    """How far the farther end of an interval lies from its number: number ± margin holds all of it.

    Of a list the widest; one end where the other is unknown.
    """
    if interval is None:
        return NONE
    if isinstance(interval, list):
        margins = [margin(pair, part) for pair, part in zip(interval, heights(value), strict=True)]
        return max((found for found in margins if not isinstance(found, str)), default=NONE)
    low, high = interval
    known = [end is not None and isfinite(end) for end in interval]
    if not all(known):
        return f"≥ {number(low)}" if known[0] else f"≤ {number(high)}" if known[1] else NONE
    return max(value - low, high - value)


def heights(cell: list[dict[str, Any]]) -> list[float]:
    """The counts of bins, or the shares at points."""
    return [part["count"] if "count" in part else part["share"] for part in cell]


def is_lopsided(interval: Any, value: Any) -> bool:
    """Whether a bar reaches much farther to one side of its number than to the other."""
    if not _has_ends(interval) or not is_number(value):
        return False
    sides = value - interval[0], interval[1] - value
    return bool(max(sides) > LOPSIDED * min(sides))


def beside_bars(
    values: Sequence[Any], intervals: Sequence[Any], hidden: Sequence[bool] | None = None
) -> tuple[list[Any], list[Any], bool]:
    """The cells of a column and of its error bars as people read them; and whether bars are given by their ends.

    Where one is lopsided, all are: a column is read in one way. A hidden bar is a dash.
    """
    dashes = [False] * len(values) if hidden is None else hidden
    cells = list(zip(values, intervals, dashes, strict=True))
    ends = any(is_lopsided(interval, value) for value, interval, dash in cells if not dash)
    told = [_told(value, interval, ends) for value, interval, _ in cells]
    bars = [NONE if dash else bar for (_, bar), dash in zip(told, dashes, strict=True)]
    return [value for value, _ in told], bars, ends


def _told(value: Any, interval: Any, ends: bool) -> tuple[Any, Any]:
    if not (is_number(value) and _has_ends(interval)):
        return value, margin(interval, value)
    low, high = interval
    places = _decimals(max(value - low, high - value))
    if places is None:  # a bar without a width
        return value, number(value) if ends else margin(interval, value)
    shown = value if isinstance(value, int) else _rounded(value, places, round)
    if ends:
        return shown, Ends(f"{number(_rounded(low, places, floor))} to {number(_rounded(high, places, ceil))}")
    # Of the number as it is shown: number ± margin still holds the whole bar.
    wide = max(shown - low, high - shown)
    return shown, wide if isinstance(wide, int) else _rounded(wide, places, ceil)


def _has_ends(interval: Any) -> bool:
    return isinstance(interval, tuple) and len(interval) == 2 and all(e is not None and isfinite(e) for e in interval)


def _decimals(width: float) -> int | None:
    """So many that two digits of a width are seen; from ten on none."""
    return max(0, min(1 - floor(log10(width)), MOST_DECIMALS)) if width > 0 else None


def _rounded(value: float, places: int, how: Any) -> Any:
    """To so many decimals, up, down or to the nearest; what is rounded away in doubles is not rounded up."""
    if isinstance(value, int):
        return value
    scaled = value * 10**places
    nearest = round(scaled)
    whole = nearest if abs(scaled - nearest) < 1e-6 else how(scaled)
    return Written(whole / 10**places, f"{whole / 10**places:,.{places}f}")


def bar(width: float) -> str:
    """An error bar by itself, as beside its number: two digits of it or all before the point, rounded up."""
    places = _decimals(width)
    return number(width if places is None else _rounded(width, places, ceil))


def six_digits(value: float) -> str:
    """A number that is nobody's answer; from a hundred thousand on all digits before the point."""
    return f"{value:,.0f}" if abs(value) >= MANY_DIGITS else f"{value:,.6g}"


def number(value: float) -> str:
    """A number that has no error bar to go by."""
    if isinstance(value, Written):
        return value.written
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.2g}" if 0 < abs(value) < SMALL else f"{value:,.2f}"
