"""The samplers for arrays: the laws of `audit.exact`, at NumPy's speed, in time that does not depend on the draw.

A double may only propose. Each draw compares a uniform real, known by 63 bits, with a boundary computed in double
precision; where the two are closer than a proved margin, `kernel.borders` decides with more bits and more digits.
Proofs of the margins: docs/proofs/certified-inversion.md and docs/proofs/discrete-gaussian.md.
"""

from collections.abc import Callable, Iterator
from fractions import Fraction
from math import exp, expm1, isqrt, log
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.kernel.borders import below_exp, geometric_cell
from sfumato.kernel.entropy import Entropy

# int64, or Python integers (dtype object) where the scale is too large for it.
Integers = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]
GammaOf = Callable[[int], Fraction]
Decide = Callable[[int], int]

CHUNK = 1 << 15  # three arrays of this length fit into the second-level cache
MARGIN = 2.0**-42  # in units of the scale; the float error is below 2^-45, the width of U's interval below 2^-45
TAIL = 2.0**-18  # below this U's 63 bits are too few
LARGEST_DIRECT = Fraction(1 << 28)  # above, MARGIN · scale would send too many draws to the slow path
DIGIT = 1 << 24
LARGEST_INT64 = Fraction(1 << 50)  # above, sums of digits may leave 64 bits
COIN_MARGIN = 2.0**-44
HIGH_BITS = 20  # a wide draw is a high part of a scale of 2^20 to 2^21 and a digit that holds the other bits
SURE = np.uint64((1 << 64) - (1 << 64 - HIGH_BITS))  # words below it keep their digit, whichever it is


def discrete_laplace(scale: Fraction, count: int, entropy: Entropy) -> Integers:
    """Draw `count` independent k with probability proportional to exp(-|k| / scale).

    Claim: exact, for every rational scale > 0 up to 2^900; no loop depends on the values drawn.
    Proof: docs/proofs/discrete-laplace.md
    """
    pieces = laplace_pieces(scale, count, entropy)
    if scale > LARGEST_INT64:
        return next(pieces)
    result = np.empty(count, dtype=np.int64)
    for place, piece in enumerate(pieces):
        result[place * CHUNK : place * CHUNK + len(piece)] = piece
    return result


def laplace_pieces(scale: Fraction, count: int, entropy: Entropy) -> Iterator[Integers]:
    """The draws of `discrete_laplace` one chunk at a time: who works on them at once finds them in the cache."""
    if scale > LARGEST_INT64:
        yield geometric(scale, count, entropy) - geometric(scale, count, entropy)
        return
    draw = _wide if scale > LARGEST_DIRECT else _narrow
    for start in range(0, count, CHUNK):
        yield draw(scale, min(CHUNK, count - start), entropy)


def geometric(scale: Fraction, count: int, entropy: Entropy) -> Integers:
    """Draw `count` independent k >= 0 with probability proportional to exp(-k / scale).

    Claim: exact, for every rational scale > 0 up to 2^900. The digits of k in base 2^24 are independent, so a large
    scale is drawn digit by digit.
    Proof: docs/proofs/geometric.md
    """
    if scale <= LARGEST_DIRECT:
        return np.concatenate(
            [
                _cells(scale, entropy.words(min(CHUNK, count - start)), entropy)
                for start in range(0, max(count, 1), CHUNK)
            ]
        )
    high = geometric(scale / DIGIT, count, entropy)
    if scale > LARGEST_INT64:
        high = high.astype(object)
    return high * DIGIT + _digits(scale, count, entropy)


def discrete_gaussian(variance: Fraction, count: int, entropy: Entropy) -> Integers:
    """Draw `count` independent k with probability proportional to exp(-k² / (2 variance)).

    Claim: exact, for every rational variance > 0 up to 2^1000. Candidates are discrete Laplace, so how many are needed
    is independent of the values accepted.
    Proof: docs/proofs/discrete-gaussian.md
    """
    return np.concatenate([np.empty(0, dtype=np.int64), *gaussian_pieces(variance, count, entropy)])


def gaussian_pieces(variance: Fraction, count: int, entropy: Entropy) -> Iterator[Integers]:
    """The draws of `discrete_gaussian` as they come, in pieces of at most a chunk."""
    scale = isqrt(variance.numerator // variance.denominator) + 1
    missing = count
    while missing > 0:
        (candidates,) = laplace_pieces(Fraction(scale), min(CHUNK, missing + missing // 2 + 8), entropy)
        accepted = _acceptable(candidates, variance / scale, 2 * variance, entropy)
        piece = candidates[accepted][:missing]
        missing -= len(piece)
        yield piece


def _acceptable(candidates: Integers, shift: Fraction, spread: Fraction, entropy: Entropy) -> npt.NDArray[np.bool_]:
    """Keep each candidate k with probability exp(-(|k| - shift)² / spread)."""
    distance: Floats = np.abs(candidates).astype(np.float64)
    distance -= float(shift)
    distance *= distance
    distance /= -float(spread)
    probabilities = np.exp(distance, out=distance)
    return coins(probabilities, lambda index: (abs(int(candidates[index])) - shift) ** 2 / spread, entropy)


def coins(probabilities: Floats, gamma_of: GammaOf, entropy: Entropy) -> npt.NDArray[np.bool_]:
    """One coin an element, True with probability exp(-gamma).

    Claim: exact.
    Needs: |probabilities[i] - exp(-gamma_of(i))| < 2^-46, where gamma_of gives the exact rational.
    Proof: docs/proofs/bernoulli-exp.md
    """
    words = entropy.words(len(probabilities))
    difference: Floats = (words >> np.uint64(11)).view(np.int64).astype(np.float64)
    difference *= 2.0**-53
    difference -= probabilities
    result: npt.NDArray[np.bool_] = difference < 0
    for index in np.flatnonzero(np.abs(difference, out=difference) < COIN_MARGIN):
        result[index] = below_exp(gamma_of(int(index)), int(words[index]), 64, entropy)
    return result


def _cells(
    scale: Fraction, words: npt.NDArray[np.uint64], entropy: Entropy, *, two_sided: bool = False
) -> npt.NDArray[np.int64]:
    """floor(-scale · ln(β U)), U from the upper 63 bits of each word; β = (1+q)/2 when two_sided, else 1."""
    t = float(scale)
    offset = -t * log((1 + exp(-1 / t)) / 2) if two_sided and t else 0.0
    uniform: Floats = (words >> np.uint64(1)).view(np.int64).astype(np.float64)
    uniform *= 2.0**-63
    doubtful = uniform < TAIL
    with np.errstate(divide="ignore", invalid="ignore"):
        position: Floats = np.log(uniform, out=uniform)
        position *= -t
        position += offset
        position[doubtful] = 0.5
    return _settle(
        position,
        doubtful,
        t * MARGIN,
        lambda index: geometric_cell(scale, int(words[index]) >> 1, 63, entropy, two_sided=two_sided),
    )


def _narrow(scale: Fraction, count: int, entropy: Entropy) -> npt.NDArray[np.int64]:
    """Discrete Laplace variables, each from one word: the lowest bit is the sign, the others give the magnitude."""
    words = entropy.words(count)
    magnitude = _cells(scale, words, entropy, two_sided=True)
    sign = -(words & np.uint64(1)).view(np.int64)  # 0 or -1: two's complement negation below
    magnitude ^= sign
    magnitude -= sign
    return magnitude


def _wide(scale: Fraction, count: int, entropy: Entropy) -> npt.NDArray[np.int64]:
    """Discrete Laplace variables of a large scale: a high part, and below it a digit and a sign from one more word.

    The number is n = high · 2^bits + digit, or -1 - n where the sign bit is set: its weight exp(-(n + sign) / scale) is
    a product of a part of `high` and a part of digit + sign. The latter is nearly 1 for all, so digit and sign are
    drawn evenly and kept with that probability; the upper bits of the same word say so at a glance but once in 2^20.
    """
    bits = (scale.numerator // scale.denominator).bit_length() - 1 - HIGH_BITS
    result = _cells(scale / (1 << bits), entropy.words(count), entropy)
    words = entropy.words(count)
    low = (words & np.uint64((2 << bits) - 1)).view(np.int64)
    for index in np.flatnonzero(words >= SURE):
        low[index] = _kept_low(scale, bits, int(words[index]), entropy)
    result <<= bits + 1
    result |= low
    sign = result & 1
    np.negative(sign, out=sign)
    result >>= 1
    result ^= sign  # with the sign bit n becomes its complement, -1 - n
    return result


def _kept_low(scale: Fraction, bits: int, word: int, entropy: Entropy) -> int:
    """Digit and sign (the lowest bit) of the first word, beginning with this one, whose coin keeps them."""
    while True:
        low = word & ((2 << bits) - 1)
        if below_exp(((low >> 1) + (low & 1)) / scale, word >> (bits + 1), 63 - bits, entropy):
            return low
        word = entropy.below(1 << 64)


def _digits(scale: Fraction, count: int, entropy: Entropy) -> npt.NDArray[np.int64]:
    """The lowest digit, in base 2^24, of geometric variables of a scale far above 2^24."""
    words = entropy.words(count)
    uniform: Floats = (words >> np.uint64(1)).view(np.int64).astype(np.float64)
    uniform *= -(2.0**-63)
    uniform += 1.0
    ratio = float(DIGIT / scale)
    uniform *= expm1(-ratio)
    position: Floats = np.log1p(uniform, out=uniform)
    position *= -(DIGIT / ratio)
    return _settle(
        position,
        np.zeros(count, dtype=np.bool_),
        DIGIT * MARGIN,
        lambda index: geometric_cell(scale, int(words[index]) >> 1, 63, entropy, base=DIGIT),
    )


def _settle(position: Floats, doubtful: npt.NDArray[np.bool_], margin: float, decide: Decide) -> npt.NDArray[np.int64]:
    """floor(position), where a position within `margin` of a whole number from 1 on is decided exactly."""
    result = position.astype(np.int64)
    position -= result
    position -= 0.5
    np.abs(position, out=position)
    doubtful |= position > 0.5 - margin
    for index in np.flatnonzero(doubtful):
        result[index] = decide(int(index))
    return result
