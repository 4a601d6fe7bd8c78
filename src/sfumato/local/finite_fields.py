"""Arithmetic in a field of g elements, for g prime or a power of two, and linear functions of a value's digits."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

LARGEST = 4093  # a prime; a larger field gains nothing worth its table
# x^r + … without a divisor, for r = 1 … 8
_POLYNOMIALS = {
    2: 0b11,
    4: 0b111,
    8: 0b1011,
    16: 0b10011,
    32: 0b100101,
    64: 0b1000011,
    128: 0b10000011,
    256: 0b100011011,
}


@dataclass(frozen=True, slots=True)
class Field:
    """The elements 0 … g-1. In a field of 2^r elements + is the exclusive or, in a prime one the sum modulo g."""

    g: int

    def __post_init__(self) -> None:
        if not (self.binary or is_prime(self.g)) or self.g > LARGEST:
            raise ValueError("a field here has a prime number of elements, or 2, 4, … 256")

    @property
    def binary(self) -> bool:
        return self.g in _POLYNOMIALS

    def digits(self, numbers: Numbers, length: int) -> Numbers:
        """Base-g digits of each number, the lowest first, one digit a row."""
        rows, rest = np.empty((length, len(numbers)), dtype=np.int64), numbers
        for place in range(length):
            rest, rows[place] = np.divmod(rest, self.g)
        return rows

    def number(self, digits: Numbers) -> Numbers:
        """The number of each column of digits."""
        result = np.zeros(digits.shape[1], dtype=np.int64)
        for row in digits[::-1]:
            result = result * self.g + row
        return result

    def products(self, a: Any, b: Any) -> Numbers:
        if self.binary:
            return np.asarray(_table(self.g)[a, b])
        return np.asarray(a * b % self.g)

    def dots(self, first: Numbers, second: Numbers) -> Numbers:
        """Σ first[j] · second[j], column by column."""
        result = np.zeros(first.shape[1], dtype=np.int64)
        for a, b in zip(first, second, strict=True):
            result = result ^ self.products(a, b) if self.binary else result + a * b
        return result if self.binary else result % self.g

    def matrix(self, first: Numbers, second: Numbers) -> Numbers:
        """Σ first[j, a] · second[j, b] for every a and b."""
        if not self.binary:
            # Whole numbers below 2^53: the product of matrices is exact.
            return np.remainder(first.T.astype(np.float64) @ second.astype(np.float64), self.g).astype(np.int64)
        result = np.zeros((first.shape[1], second.shape[1]), dtype=np.int64)
        for a, b in zip(first, second, strict=True):
            result ^= _table(self.g)[a[:, None], b[None, :]]
        return result

    def zeros(self, first: Numbers, second: Numbers) -> Numbers:
        """For each b the number of a with Σ first[j, a] · second[j, b] = 0, in a prime field."""
        # Whole numbers below 2^20 are exact in single precision, and a quotient by g is right to an eighth of 1/g.
        kind = np.float32 if len(first) * (self.g - 1) ** 2 < 1 << 20 else np.float64
        quotients = first.T.astype(kind) @ second.astype(kind)
        quotients *= kind(1 / self.g)
        quotients -= np.rint(quotients)
        np.abs(quotients, out=quotients)
        return np.asarray(np.count_nonzero(quotients < 0.3 / self.g, axis=0))

    def matches(self, counts: Numbers, length: int, codes: Numbers) -> Numbers:
        """Σ over a of counts[a, <a, v>] for each code v, by Fourier transforms instead of a loop over a and v.

        Proof: docs/proofs/local-hashing.md, "Counting".
        """
        total, values = counts.sum(), self.digits(codes, length)
        transform = self._signs if self.binary else self._waves
        found = (total + transform(counts.astype(np.float64), values)) / self.g
        return np.asarray(np.rint(found), dtype=np.int64)

    def _signs(self, counts: Floats, values: Numbers) -> Floats:
        """The characters of a field of 2^r elements are (-1)^Tr(t c)."""
        every, trace = np.arange(self.g), _traces(self.g)
        # Bit s of dual[w] is Tr(x^s w), so that Tr(a w) is the parity of a & dual[w].
        dual = sum(trace[_table(self.g)[1 << s, every]] << s for s in range(self.g.bit_length() - 1))
        result = np.zeros(values.shape[1])
        for t in range(1, self.g):
            signed = counts @ (1.0 - 2.0 * trace[_table(self.g)[t, every]])
            result += _hadamard(signed)[self.number(np.asarray(dual)[_table(self.g)[t, values]])]
        return result

    def _waves(self, counts: Floats, values: Numbers) -> Floats:
        """The characters of a prime field are exp(2πi t c / g); t and g - t are conjugate."""
        waves = np.fft.ifft(counts, axis=1) * self.g
        result = np.zeros(values.shape[1])
        for t in range(1, (self.g + 1) // 2):
            spectrum = np.fft.fftn(waves[:, t].reshape((self.g,) * len(values))).ravel()
            result += 2 * spectrum.real[self.number(values * t % self.g)]
        return result


def is_prime(number: int) -> bool:
    return number >= 2 and all(number % divisor for divisor in range(2, int(number**0.5) + 1))


@lru_cache(maxsize=16)
def sizes(primes_only: bool = False) -> tuple[int, ...]:
    """The numbers of elements a field here may have."""
    found = {number for number in range(2, LARGEST + 1) if is_prime(number)}
    return tuple(sorted(found if primes_only else found | _POLYNOMIALS.keys()))


@lru_cache(maxsize=16)
def _table(g: int) -> npt.NDArray[np.int64]:
    """Products of a field of 2^r elements: polynomials over {0, 1}, modulo one without a divisor."""
    a, b = np.meshgrid(np.arange(g), np.arange(g), indexing="ij")
    result, polynomial, bits = np.zeros((g, g), dtype=np.int64), _POLYNOMIALS[g], g.bit_length() - 1
    for place in range(bits):
        result ^= np.where(b >> place & 1, a << place, 0)
    for place in range(2 * bits - 2, bits - 1, -1):
        result ^= np.where(result >> place & 1, polynomial << (place - bits), 0)
    return result


@lru_cache(maxsize=16)
def _traces(g: int) -> npt.NDArray[np.int64]:
    """Tr(c) = c + c² + c⁴ + …, which is 0 or 1."""
    power = total = np.arange(g)
    for _ in range(g.bit_length() - 2):
        power = _table(g)[power, power]
        total = total ^ power
    return total


def _hadamard(values: Floats) -> Floats:
    """Σ over a of values[a] · (-1)^(parity of a & v), for every v."""
    result, step = values.copy(), 1
    while step < len(result):
        pairs = result.reshape(-1, 2, step)
        result = np.stack([pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]], axis=1).ravel()
        step *= 2
    return result
