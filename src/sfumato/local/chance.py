"""Sixty-four exact coins in a word, and a chance as a double for estimates. Single coins are in `noise.coins`."""

from fractions import Fraction
from typing import Any

import numpy as np

from sfumato.kernel.entropy import Entropy, Words
from sfumato.noise.coins import WORD, Chance, Odds, decided

CHUNK = 1 << 14  # four arrays of so many words fit into the second-level cache
DENSE_ROUNDS = 8  # bits looked at for all coins; then only words with an open coin are read on
ROUNDS = 24
ALL = np.uint64((1 << WORD) - 1)


def value_of(chance: Chance) -> float:
    """The probability as a double, for estimates: right to 2^-53."""
    low, high = chance.bounds(2 * WORD)
    return float(Fraction(low + high, 1 << (2 * WORD + 1)))


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


def odds(weight: Fraction | int, epsilon: Fraction) -> Odds:
    """The coin that is True with probability 1 / (1 + weight · exp(-epsilon))."""
    return Odds(Fraction(weight), epsilon)


def stacked(parts: list[Any]) -> Any:
    """Arrays one below the other; the first of one is returned as it is."""
    return parts[0] if len(parts) == 1 else np.concatenate(parts)
