"""Exact sums whose size stays bounded."""

from fractions import Fraction

# Sums of unrelated denominators may not grow without end; above this size a total is rounded up.
LARGEST_DENOMINATOR = 1 << 512
ROUNDED_TO = 1 << 256


def bounded(total: Fraction) -> Fraction:
    if total.denominator <= LARGEST_DENOMINATOR:
        return total
    return Fraction(-((-total * ROUNDED_TO) // 1), ROUNDED_TO)
