"""Exact rationals shown as doubles, rounded in a named direction."""

from fractions import Fraction
from math import inf, nextafter


def up(value: Fraction) -> float:
    """A double that prints as a decimal not below the value."""
    result = float(value)
    return result if Fraction(repr(result)) >= value else nextafter(result, inf)


def down(value: Fraction) -> float:
    """A double that prints as a decimal not above the value."""
    result = float(value)
    return result if Fraction(repr(result)) <= value else nextafter(result, -inf)
