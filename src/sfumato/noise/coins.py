"""Coins whose odds are 1 to weight · exp(-gamma), and uniform whole numbers, for arrays.

Both read a fixed number of words whatever they decide, but for a few in 2^64 that need more.
"""

from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from sfumato.kernel.entropy import Entropy

WORD = 64
LAST_WORD = (1 << WORD) - 1
LARGEST_BOUND = 1 << 63


@dataclass(frozen=True, slots=True)
class Odds:
    """A coin that is True with probability 1 / (1 + weight · exp(-gamma)).

    Claim: exact. A uniform real, known by 64 bits, is compared with whole numbers that hold the probability between
    them; where they do not decide, more bits are drawn and more digits computed.
    Needs: 0 <= weight < 2^64, gamma > 0.
    Proof: docs/proofs/randomised-response.md, "The coin".
    """

    weight: Fraction
    gamma: Fraction

    def __post_init__(self) -> None:
        if not (0 <= self.weight <= LAST_WORD and self.gamma > 0):
            raise ValueError("the weight of a coin is not negative, and gamma is positive")

    def draw(self, count: int, entropy: Entropy) -> npt.NDArray[np.bool_]:
        words = entropy.words(count)
        low, high = self.bounds(WORD)
        result = words < np.uint64(min(low, LAST_WORD))
        for index in np.flatnonzero(~result & (words <= np.uint64(high - 1))):
            result[index] = self._below(int(words[index]), entropy)
        return result

    def bounds(self, bits: int) -> tuple[int, int]:
        """low <= probability · 2^bits <= high, at most two apart."""
        return _bounds(self.weight, self.gamma, bits)

    def _below(self, prefix: int, entropy: Entropy) -> bool:
        """Whether U is below the probability, where U starts with the 64 bits of `prefix`."""
        bits = WORD
        while True:
            low, high = self.bounds(bits)
            if prefix + 1 <= low:
                return True
            if prefix >= high:
                return False
            prefix, bits = (prefix << WORD) | entropy.below(1 << WORD), bits + WORD


@lru_cache(maxsize=4096)
def _bounds(weight: Fraction, gamma: Fraction, bits: int) -> tuple[int, int]:
    if not weight:
        return 1 << bits, 1 << bits
    with localcontext(Context(prec=40 + bits * 302 // 1000, Emax=10**17, Emin=-(10**17), traps=[])) as context:
        rate = _decimal(gamma)
        against = _decimal(weight) * (-rate).exp()
        target = 2**bits / (1 + against)
        # Every operation rounds correctly; the rounding of gamma enters exp multiplied by gamma.
        margin = 2**bits * (3 + against * (4 + rate)) * Decimal(10) ** (2 - context.prec)
        return _whole(target - margin, ROUND_FLOOR), min(_whole(target + margin, ROUND_CEILING), 1 << bits)


def uniform_below(bound: int, count: int, entropy: Entropy) -> npt.NDArray[np.int64]:
    """`count` independent whole numbers, uniform in [0, bound).

    Claim: exact; a word beyond the last whole multiple of `bound` is drawn again.
    Needs: 1 <= bound <= 2^63.
    """
    if not 1 <= bound <= LARGEST_BOUND:
        raise ValueError("a uniform number lies below a bound from 1 to 2^63")
    words = entropy.words(count)
    last = (1 << WORD) // bound * bound - 1
    while len(beyond := np.flatnonzero(words > np.uint64(last))):
        words = words.copy()
        words[beyond] = entropy.words(len(beyond))
    return (words % np.uint64(bound)).view(np.int64)


def _decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)


def _whole(value: Decimal, rounding: str) -> int:
    return int(value.to_integral_value(rounding=rounding))
