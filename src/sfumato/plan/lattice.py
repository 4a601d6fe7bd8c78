"""The grid of whole numbers on which values are clamped and added up.

Proof: docs/proofs/lattice.md
"""

from dataclasses import dataclass
from fractions import Fraction

LARGEST = 1 << 31
MOST_EXPONENT = 900  # of sizes whose squares no longer matter: all that is written of a lattice fits a double


@dataclass(frozen=True, slots=True)
class Lattice:
    """Whole numbers k from lower to upper; k stands for k · 2^exponent."""

    lower: int
    upper: int
    exponent: int

    def __post_init__(self) -> None:
        if not all(type(number) is int for number in (self.lower, self.upper, self.exponent)):
            # An engine rounds to whole numbers: beyond an end that is none, and so beyond what is certified.
            raise ValueError("the bounds and the exponent of a lattice are whole numbers")
        if not self.lower <= self.upper:
            raise ValueError("a lattice runs from its lower to its upper bound")
        if max(abs(self.lower), abs(self.upper)) >= LARGEST:
            raise ValueError("lattice bounds stay below 2^31")
        if abs(self.exponent) > MOST_EXPONENT:
            raise ValueError("the steps of a lattice are of a size that doubles have")

    @property
    def centre(self) -> int:
        return (self.lower + self.upper) // 2

    @property
    def step(self) -> Fraction:
        return Fraction(2) ** self.exponent

    @classmethod
    def covering(cls, lower: Fraction, upper: Fraction, *, whole: bool) -> "Lattice":
        """The finest lattice that holds [lower, upper], its bounds rounded outward; step 1 or more if `whole`."""
        largest = max(abs(lower), abs(upper), Fraction(1, 10**30))
        exponent = (largest.numerator.bit_length() - largest.denominator.bit_length()) - 32
        if whole:
            exponent = max(exponent, 0)
        while True:
            step = Fraction(2) ** exponent
            low, high = lower // step, -(-upper // step)
            if max(abs(low), abs(high)) < LARGEST:
                return cls(int(low), int(high), exponent)
            exponent += 1
