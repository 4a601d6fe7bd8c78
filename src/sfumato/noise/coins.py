"""Coins of an exactly known probability, and uniform whole numbers, for arrays.

A `Chance` says between which whole numbers its probability times 2^bits lies. A uniform real, known by its first bits,
is compared with them; where these do not decide, more bits are drawn and more digits computed. All read a fixed number
of words whatever they decide, but for a few that need more.
"""

from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from typing import Protocol

import numpy as np
import numpy.typing as npt

from sfumato.kernel.entropy import Entropy, Words

Codes = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

WORD = 64
LAST_WORD = (1 << WORD) - 1
LARGEST_BOUND = 1 << 63


class Chance(Protocol):
    """A probability that can be bracketed as closely as one likes."""

    def bounds(self, bits: int) -> tuple[int, int]:
        """low <= probability · 2^bits <= high."""
        ...


@dataclass(frozen=True, slots=True)
class Ratio:
    """A rational probability."""

    probability: Fraction

    def __post_init__(self) -> None:
        if not 0 <= self.probability <= 1:
            raise ValueError("a probability lies between 0 and 1")

    def bounds(self, bits: int) -> tuple[int, int]:
        scaled = self.probability * (1 << bits)
        return scaled.numerator // scaled.denominator, -(-scaled.numerator // scaled.denominator)


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

    def draw(self, count: int, entropy: Entropy) -> Bools:
        return coins(self, count, entropy)

    def bounds(self, bits: int) -> tuple[int, int]:
        """low <= probability · 2^bits <= high, at most two apart."""
        return _bounds(self.weight, self.gamma, bits)


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


def coins(chance: Chance, count: int, entropy: Entropy) -> Bools:
    """`count` independent coins, True with exactly this probability.

    Proof: docs/proofs/local-coins.md
    """
    words = entropy.words(count)
    low, high = chance.bounds(WORD)
    result: Bools = words < np.uint64(low) if low < 1 << WORD else np.ones(count, dtype=np.bool_)
    if high > low:
        for index in np.flatnonzero(~result & (words <= np.uint64(high - 1))):
            result[index] = decided(chance, int(words[index]), WORD, entropy)
    return result


def decided(chance: Chance, prefix: int, bits: int, entropy: Entropy) -> bool:
    """Whether U is below the probability, where U starts with the `bits` bits of `prefix`."""
    while True:
        low, high = chance.bounds(bits)
        if prefix + 1 <= low:
            return True
        if prefix >= high:
            return False
        prefix, bits = (prefix << WORD) | entropy.below(1 << WORD), bits + WORD


def uniform_below(bound: int, count: int, entropy: Entropy) -> Codes:
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


def below(bound: int, count: int, entropy: Entropy) -> Codes:
    """The same for small bounds, from half a word each.

    Claim: exact (Lemire 2019): of the 2^32 values of a half word those that would favour some results are drawn again.
    Needs: 1 <= bound <= 2^32.
    Proof: docs/proofs/local-coins.md, "Small uniform numbers".
    """
    if not 1 <= bound <= 1 << 32:
        raise ValueError("a small uniform number lies below a bound from 1 to 2^32")
    threshold, times = np.uint64((1 << 32) % bound), np.uint64(bound)
    product = _halves(count, entropy) * times
    while len(beyond := np.flatnonzero((product & np.uint64(0xFFFFFFFF)) < threshold)):
        product[beyond] = _halves(len(beyond), entropy) * times
    return (product >> np.uint64(32)).view(np.int64)


def _halves(count: int, entropy: Entropy) -> Words:
    return entropy.words((count + 1) // 2).view(np.uint32)[:count].astype(np.uint64)


def _decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)


def _whole(value: Decimal, rounding: str) -> int:
    return int(value.to_integral_value(rounding=rounding))
