"""The grid of step 2^exponent on which real values get their noise, and what rounding to it does to sensitivity.

The step comes from public numbers only: the sensitivity and how many entries there are, never the entries.
Proof: docs/proofs/real-lattice.md
"""

from dataclasses import dataclass
from fractions import Fraction
from math import floor, isqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.kernel.samplers import Integers
from sfumato.noise.values import boxed

# The sensitivity holds at least 2^FINENESS steps an entry, so rounding costs less than a millionth of it.
FINENESS = 20
LARGEST_INT64 = 2.0**62


@dataclass(frozen=True, slots=True)
class Grid:
    """Whole numbers k; k stands for k · 2^exponent."""

    exponent: int
    entries: int

    @classmethod
    def holding(cls, sensitivity: Fraction, entries: int) -> "Grid":
        """The largest power of two not above sensitivity · 2^-20 / entries.

        Needs: sensitivity > 0, entries >= 1.
        """
        share = sensitivity / entries
        exponent = share.numerator.bit_length() - share.denominator.bit_length()
        if Fraction(2) ** exponent > share:
            exponent -= 1
        return cls(exponent - FINENESS, entries)

    @property
    def step(self) -> Fraction:
        return Fraction(2) ** self.exponent

    def absolute(self, sensitivity: Fraction) -> int:
        """The L1 sensitivity in steps, of entries rounded half up, whose own L1 sensitivity is this.

        Claim: the smallest whole number that holds for all entries.
        Proof: docs/proofs/real-lattice.md
        """
        return _ceiling(sensitivity / self.step) + self.entries - 1

    def euclidean(self, sensitivity: Fraction) -> int:
        """The L2 sensitivity in steps, of entries rounded half up, whose own L2 sensitivity is this.

        Claim: ceiling(sensitivity / step + √entries); for a single entry no rounding is added.
        Proof: docs/proofs/real-lattice.md
        """
        length = sensitivity / self.step
        if self.entries == 1:
            return _ceiling(length)
        steps = floor(length) + isqrt(self.entries)
        while (steps - length) ** 2 < self.entries:
            steps += 1
        return steps

    def integers(self, numbers: npt.NDArray[Any]) -> Integers:
        """floor(number / step + 1/2) of each: int64, or Python integers where 64 bits are too few.

        Claim: exact, for finite doubles and for an object array of exact rationals.
        """
        if numbers.dtype == object:
            half = Fraction(1, 2)
            return boxed(floor(number / self.step + half) for number in numbers)
        with np.errstate(over="ignore"):
            scaled = np.ldexp(numbers, -self.exponent)
        if np.abs(scaled).max(initial=0.0) >= LARGEST_INT64:
            return self._long_integers(numbers)
        low = np.floor(scaled)
        # scaled - low is exact wherever it is near 1/2; scaled + 0.5 would be rounded and count some doubles twice.
        low += scaled - low >= 0.5
        return np.asarray(low, dtype=np.int64)

    def _long_integers(self, numbers: npt.NDArray[np.float64]) -> Integers:
        mantissa, exponent = np.frexp(numbers)
        wholes = np.ldexp(mantissa, 53).astype(np.int64).tolist()
        shifts = (exponent.astype(np.int64) - 53 - self.exponent).tolist()
        return boxed(_shifted(whole, shift) for whole, shift in zip(wholes, shifts, strict=True))

    def reals(self, integers: Integers) -> npt.NDArray[np.float64]:
        """k · step of each, rounded once, to the nearest double."""
        if integers.dtype != object:
            return np.asarray(np.ldexp(integers.astype(np.float64), self.exponent))
        if self.exponent < 0:
            divisor = 1 << -self.exponent
            return np.array([whole / divisor for whole in integers], dtype=np.float64)
        return np.array([float(whole << self.exponent) for whole in integers], dtype=np.float64)


def _shifted(whole: int, shift: int) -> int:
    """whole · 2^shift, rounded half up."""
    return whole << shift if shift >= 0 else (whole + (1 << (-shift - 1))) >> -shift


def _ceiling(value: Fraction) -> int:
    return -(-value.numerator // value.denominator)
