"""What is known of the values of an expression from declarations alone: interval arithmetic, on a grid.

A range only proposes a clamp or a list of keys; the clamp is what protects. Roots and powers that are no fractions are
rounded outward.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from math import ceil, exp, floor, gcd, log, log10, sqrt

Bounds = tuple[Fraction, Fraction]
LARGEST_EXPONENT = 500  # e^500 still fits a double
LARGEST = 10**30


@dataclass(frozen=True, slots=True)
class Grid:
    """All numbers offset + k · step for whole k; with step 0 the offset alone."""

    offset: Fraction
    step: Fraction

    @property
    def whole(self) -> bool:
        return self.offset.denominator == 1 and self.step.denominator == 1


WHOLE = Grid(Fraction(0), Fraction(1))


@dataclass(frozen=True, slots=True)
class Range:
    """What is known of a numeric expression: bounds, the grid of its values if any, or one end where bounds lack."""

    bounds: Bounds | None
    grid: Grid | None = None
    end_below: Fraction | None = None
    end_above: Fraction | None = None

    @property
    def low(self) -> Fraction | None:
        return self.end_below if self.bounds is None else self.bounds[0]

    @property
    def high(self) -> Fraction | None:
        return self.end_above if self.bounds is None else self.bounds[1]

    @property
    def whole(self) -> bool:
        return self.grid is not None and self.grid.whole


def constant(number: Fraction) -> Range:
    return Range((number, number), Grid(number, Fraction(0)))


def hull(ranges: tuple[Range, ...]) -> Range:
    """A range for a value that is one of several."""
    lows, highs = _known(ranges)
    low = min(lows) if len(lows) == len(ranges) else None
    high = max(highs) if len(highs) == len(ranges) else None
    return _between(low, high, reduce(_merged, (found.grid for found in ranges)))


def _known(ranges: tuple[Range, ...]) -> tuple[list[Fraction], list[Fraction]]:
    lows = [found.low for found in ranges if found.low is not None]
    return lows, [found.high for found in ranges if found.high is not None]


def _between(low: Fraction | None, high: Fraction | None, grid: Grid | None) -> Range:
    if low is not None and high is not None:
        return Range((low, high), grid)
    return Range(None, grid, low, high)


def add(left: Range, right: Range) -> Range:
    bounds = None
    if left.bounds is not None and right.bounds is not None:
        bounds = (left.bounds[0] + right.bounds[0], left.bounds[1] + right.bounds[1])
    grid = None
    if left.grid is not None and right.grid is not None:
        grid = Grid(left.grid.offset + right.grid.offset, _common(left.grid.step, right.grid.step))
    return Range(bounds, grid)


def negate(found: Range) -> Range:
    return times(found, constant(Fraction(-1)))


def times(left: Range, right: Range) -> Range:
    bounds = None
    if left.bounds is not None and right.bounds is not None:
        corners = [one * other for one in left.bounds for other in right.bounds]
        bounds = (min(corners), max(corners))
    grid = None
    if left.grid is not None and right.grid is not None:
        constants = [(a, b) for a, b in ((left.grid, right.grid), (right.grid, left.grid)) if a.step == 0]
        if constants:
            factor, other = constants[0][0].offset, constants[0][1]
            grid = Grid(factor * other.offset, abs(factor) * other.step)
        elif left.whole and right.whole:
            grid = WHOLE
    return Range(bounds, grid)


def inverse(found: Range) -> Range | None:
    """Of a divisor; None when its bounds hold 0."""
    if found.bounds is None:
        return Range(None)
    low, high = found.bounds
    if low <= 0 <= high:
        return None
    return constant(1 / low) if low == high else Range((1 / high, 1 / low))


def absolute(found: Range) -> Range:
    grid = None if found.grid is None else _merged(found.grid, Grid(-found.grid.offset, found.grid.step))
    if found.bounds is None:
        return Range(None, grid, Fraction(0))
    low, high = found.bounds
    return Range((max(low, -high, Fraction(0)), max(-low, high)), grid)


def rounded(found: Range, unit: Fraction, to_whole: Callable[[Fraction], int]) -> Range:
    """To multiples of a unit, by a function that never falls."""
    grid = Grid(Fraction(0), unit)
    if found.grid is not None and _merged(found.grid, grid) == grid:
        grid = found.grid  # it lies on these already
    if found.bounds is None:
        return Range(None, grid)
    low, high = found.bounds
    return Range((to_whole(low / unit) * unit, to_whole(high / unit) * unit), grid)


def half_away(number: Fraction) -> int:
    """Rounded to the nearest whole number, halves away from 0."""
    return floor(number + Fraction(1, 2)) if number >= 0 else ceil(number - Fraction(1, 2))


def sign(found: Range) -> Range:
    low, high = found.bounds or (Fraction(-1), Fraction(1))
    return Range((Fraction((low > 0) - (low < 0)), Fraction((high > 0) - (high < 0))), WHOLE)


def least(ranges: tuple[Range, ...]) -> Range:
    """One end above is enough; below all are needed."""
    lows, highs = _known(ranges)
    low = min(lows) if len(lows) == len(ranges) else None
    return _between(low, min(highs, default=None), hull(ranges).grid)


def greatest(ranges: tuple[Range, ...]) -> Range:
    lows, highs = _known(ranges)
    high = max(highs) if len(highs) == len(ranges) else None
    return _between(max(lows, default=None), high, hull(ranges).grid)


def root(found: Range) -> Range:
    return _rising(found, sqrt, at_zero=True)


def natural_logarithm(found: Range) -> Range:
    return _rising(found, log, at_zero=False)


def decimal_logarithm(found: Range) -> Range:
    return _rising(found, log10, at_zero=False)


def exponential(found: Range) -> Range:
    if found.bounds is None or found.bounds[1] > LARGEST_EXPONENT:
        return Range(None)
    low, high = (exp(max(float(end), -LARGEST_EXPONENT)) for end in found.bounds)
    return Range((_below(low) if found.bounds[0] > -LARGEST_EXPONENT else Fraction(0), _above(high)))


def _rising(found: Range, function: Callable[[float], float], *, at_zero: bool) -> Range:
    """Of a function that rises on the positive numbers; below them it has no value, at 0 perhaps."""
    if found.bounds is None or found.bounds[1] <= 0 or not _ordinary(found.bounds):
        return Range(None)
    low, high = found.bounds
    if low <= 0:
        if not at_zero:
            return Range(None)
        low = Fraction(0)
    return Range((_below(function(float(low))), _above(function(float(high)))))


def power(found: Range, exponent: Fraction) -> Range:
    """Of a number that is not 0 if the exponent is negative, and not negative if it is no whole number."""
    if found.bounds is None or not _ordinary(found.bounds):
        return Range(None)
    low, high = found.bounds
    if exponent.denominator != 1:
        low = max(low, Fraction(0))
        if high < low or (exponent < 0 and low == 0):
            return Range(None)
        ends = sorted(float(end) ** float(exponent) for end in (low, high))
        return Range((_below(ends[0]), _above(ends[1])))
    if exponent < 0:
        turned = inverse(found)
        return Range(None) if turned is None else power(Range(turned.bounds), -exponent)
    powers = sorted(end ** int(exponent) for end in (low, high))
    if exponent % 2 == 0 and low < 0 < high:
        powers[0] = Fraction(0)
    return Range((powers[0], powers[1]), WHOLE if found.whole else None)


def remainder(found: Range, divisor: Fraction) -> Range:
    """With the sign of the number divided, as engines have it."""
    size = abs(divisor)
    grid = None if found.grid is None else Grid(found.grid.offset, _common(found.grid.step, size))
    most = size - 1 if found.whole and size.denominator == 1 else size
    low, high = found.bounds or (-most, most)
    return Range((max(min(low, Fraction(0)), -most), min(max(high, Fraction(0)), most)), grid)


def _merged(one: Grid | None, other: Grid | None) -> Grid | None:
    """The finest grid that holds both."""
    if one is None or other is None:
        return None
    step = _common(_common(one.step, other.step), abs(one.offset - other.offset))
    offset = one.offset % step if step else one.offset
    return Grid(offset, step)


def _common(one: Fraction, other: Fraction) -> Fraction:
    """The greatest common divisor of two fractions."""
    if not one or not other:
        return one or other
    shared = gcd(one.numerator * other.denominator, other.numerator * one.denominator)
    return Fraction(shared, one.denominator * other.denominator)


def _ordinary(bounds: Bounds) -> bool:
    """Of a size whose tenth power still is a double, and written with few enough digits for exact arithmetic."""
    return all(abs(end) <= LARGEST and end.denominator <= LARGEST**3 for end in bounds)


def _below(number: float) -> Fraction:
    exact = Fraction(number)
    return exact - abs(exact) / 10**12


def _above(number: float) -> Fraction:
    exact = Fraction(number)
    return exact + abs(exact) / 10**12
