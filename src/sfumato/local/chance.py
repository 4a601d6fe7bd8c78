"""Coins of an exactly known probability, for arrays and for packed bits, and uniform numbers below small bounds.

A `Chance` says between which whole numbers its probability times 2^bits lies. A uniform real, known by its first bits,
is compared with them; where these do not decide, more bits are drawn and more digits computed.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from sfumato.kernel.entropy import Entropy
from sfumato.noise.coins import Odds

Words = npt.NDArray[np.uint64]
Bytes = npt.NDArray[np.uint8]
Codes = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

WORD = 64
CHUNK = 1 << 14  # four arrays of so many words fit into the second-level cache
DENSE_ROUNDS = 8  # bits looked at for all coins; then only words with an open coin are read on
ROUNDS = 24
ALL = np.uint64((1 << WORD) - 1)


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


def value_of(chance: Chance) -> float:
    """The probability as a double, for estimates: right to 2^-53."""
    low, high = chance.bounds(2 * WORD)
    return float(Fraction(low + high, 1 << (2 * WORD + 1)))


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


def packed_coins(chance: Chance, count: int, entropy: Entropy) -> Words:
    """`count` words of 64 independent coins each, a bit 1 with exactly this probability.

    Claim: exact. All coins of a word are compared with the probability bit by bit, 64 at a time.
    Proof: docs/proofs/local-coins.md, "Sixty-four at a time".
    """
    first = leading(chance)
    result = np.empty(count, dtype=np.uint64)
    for start in range(0, count, CHUNK):
        result[start : start + CHUNK] = _packed(chance, first, min(CHUNK, count - start), entropy)
    return result


def leading(chance: Chance) -> int:
    """The whole part of probability · 2^24, at most 2^24 - 1; certain because the brackets shrink until it is."""
    bits = WORD
    while True:
        low, high = chance.bounds(bits)
        first = min(low >> (bits - ROUNDS), (1 << ROUNDS) - 1)
        if high <= (first + 1) << (bits - ROUNDS):
            return first
        bits += WORD


def _packed(chance: Chance, first: int, count: int, entropy: Entropy) -> Words:
    result, undecided = np.zeros(count, dtype=np.uint64), np.full(count, ALL)
    for place in range(DENSE_ROUNDS):
        _compare(result, undecided, entropy.words(count), bool(first >> (ROUNDS - 1 - place) & 1))
    where = np.flatnonzero(undecided)
    for place in range(DENSE_ROUNDS, ROUNDS):
        part, open_part = result[where], undecided[where]
        _compare(part, open_part, entropy.words(len(where)), bool(first >> (ROUNDS - 1 - place) & 1))
        result[where], undecided[where] = part, open_part
        where = where[open_part != 0]
    for index in where:
        for bit in range(WORD):
            if int(undecided[index]) >> bit & 1 and decided(chance, first, ROUNDS, entropy):
                result[index] |= np.uint64(1 << bit)
    return result


def _compare(result: Words, undecided: Words, drawn: Words, one: bool) -> None:
    """One more bit of U against the bit of the probability: U is below where it shows 0 against 1."""
    if one:
        result |= undecided & ~drawn
        undecided &= drawn
    else:
        undecided &= ~drawn


def decided(chance: Chance, prefix: int, bits: int, entropy: Entropy) -> bool:
    """Whether U is below the probability, where U starts with the `bits` bits of `prefix`."""
    while True:
        low, high = chance.bounds(bits)
        if prefix + 1 <= low:
            return True
        if prefix >= high:
            return False
        prefix, bits = (prefix << WORD) | entropy.below(1 << WORD), bits + WORD


def below(bound: int, count: int, entropy: Entropy) -> Codes:
    """`count` independent whole numbers, uniform in [0, bound).

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


def odds(weight: Fraction | int, epsilon: Fraction) -> Odds:
    """The coin that is True with probability 1 / (1 + weight · exp(-epsilon))."""
    return Odds(Fraction(weight), epsilon)


def stacked(parts: list[Any]) -> Any:
    """Arrays one below the other; the first of one is returned as it is."""
    return parts[0] if len(parts) == 1 else np.concatenate(parts)
