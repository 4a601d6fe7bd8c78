"""Local hashing: a random public function into g cells, then randomised response on the cell (OLH, Hadamard)."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import exp
from typing import Any

import numpy as np

from sfumato.kernel.entropy import Entropy
from sfumato.local.chance import odds, value_of
from sfumato.local.finite_fields import Field, Numbers, sizes
from sfumato.local.oracle import Codes, Columns, Tally, checked
from sfumato.noise.coins import Chance, below, coins

LARGEST_HISTOGRAM = 1 << 24
PAIRS_AT_ONCE = 1 << 22
PAIRS_IN_CACHE = 1 << 16  # so few that the product of matrices does not wake other threads
LARGEST_SEED = 1 << 32


@dataclass(frozen=True, slots=True)
class Hashing:
    """The seed is a vector a over a field of g elements; the cell of a value v is <a, digits of v>.

    Two different values share a cell for exactly one seed in g, so a report supports a value one does not hold with
    probability exactly 1/g. The cell is kept with probability 1 / (1 + (g - 1) exp(-ε)).

    Claim: ε-LDP, exactly this law; any family of functions would keep ε, this one also keeps the variance.
    Proof: docs/proofs/local-hashing.md
    """

    size: int
    epsilon: Fraction
    cells: int

    def __post_init__(self) -> None:
        if Field(self.cells).g ** self.length > LARGEST_SEED:
            raise ValueError("the seed of a hash has at most 32 bits")

    @classmethod
    def best(cls, size: int, epsilon: Fraction, *, primes_only: bool = False) -> "Hashing":
        """The number of cells with the least variance; near e^ε + 1."""
        gain = exp(min(float(epsilon), 30.0)) - 1
        usable = [g for g in sizes(primes_only) if g ** _length(size, g) <= LARGEST_SEED]
        return cls(size, epsilon, min(usable, key=lambda g: (gain + g) ** 2 / (g - 1)))

    @property
    def length(self) -> int:
        """Digits of a value."""
        return _length(self.size, self.cells)

    @property
    def seeds(self) -> int:
        return int(self.cells**self.length)

    def _kept(self) -> Chance:
        return odds(self.cells - 1, self.epsilon)

    @property
    def keep(self) -> float:
        return value_of(self._kept())

    @property
    def stray(self) -> float:
        return 1 / self.cells

    @property
    def bits(self) -> int:
        return (self.seeds - 1).bit_length() + (self.cells - 1).bit_length()

    @property
    def arrays(self) -> int:
        return 2

    def options(self) -> dict[str, Any]:
        return {"cells": self.cells}

    def draw(self, codes: Codes, entropy: Entropy) -> Columns:
        seeds = below(self.seeds, len(codes), entropy)
        cells = self.cells_of(seeds, codes)
        lies, others = ~coins(self._kept(), len(codes), entropy), self.cells - 1
        shift = 1 + below(others, len(codes), entropy) if others > 1 else 1
        cells += lies * shift
        cells -= self.cells * (cells >= self.cells)
        return seeds, cells

    def cells_of(self, seeds: Codes, codes: Codes) -> Codes:
        """The cell of each code under its seed."""
        field = Field(self.cells)
        if self.seeds * self.size <= min(PAIRS_AT_ONCE, 4 * max(len(codes), 1)):
            table = field.matrix(*(field.digits(np.arange(n), self.length) for n in (self.seeds, self.size)))
            return np.asarray(table.ravel()[seeds * self.size + codes])
        return field.dots(field.digits(seeds, self.length), field.digits(codes, self.length))

    def payloads(self, reports: Columns) -> list[Any]:
        return [list(pair) for pair in zip(reports[0].tolist(), reports[1].tolist(), strict=True)]

    def columns(self, payloads: Sequence[Any], row: int) -> Columns:
        seeds, cells = self.seeds, self.cells
        checked(
            payloads,
            lambda pair: (
                isinstance(pair, list)
                and len(pair) == 2
                and type(pair[0]) is type(pair[1]) is int
                and 0 <= pair[0] < seeds
                and 0 <= pair[1] < cells
            ),
            row,
            f"the report is not [seed below {seeds}, cell below {cells}]",
        )
        pairs = np.array(payloads, dtype=np.int64).reshape(-1, 2)
        return pairs[:, 0], pairs[:, 1]

    @property
    def _histogram(self) -> bool:
        """Whether reports are counted by seed and cell; else each is compared with every value when it arrives."""
        return self.seeds * self.cells <= LARGEST_HISTOGRAM

    def tally(self) -> Tally:
        return np.zeros(self.seeds * self.cells if self._histogram else self.size, dtype=np.int64)

    def count(self, reports: Columns) -> Tally:
        seeds, cells = reports
        if self._histogram:
            return np.bincount(seeds * self.cells + cells, minlength=self.seeds * self.cells).astype(np.int64)
        return self.compare(reports, np.arange(self.size))

    def compare(self, reports: Columns, codes: Numbers) -> Codes:
        """How many reports support each of these values, one by one."""
        field, (seeds, cells) = Field(self.cells), reports
        values, result = field.digits(codes, self.length), np.zeros(len(codes), dtype=np.int64)
        step = max(8, PAIRS_IN_CACHE // len(codes))
        for start in range(0, len(seeds), step):
            digits, reported = field.digits(seeds[start : start + step], self.length), cells[start : start + step]
            if field.binary:
                result += np.count_nonzero(field.matrix(digits, values) == reported[:, None], axis=0)
            else:  # <a, v> - cell = 0, the cell being one more digit against g - 1
                minus = np.full((1, len(codes)), self.cells - 1)
                result += field.zeros(np.concatenate([digits, reported[None]]), np.concatenate([values, minus]))
        return result

    def supports(self, tally: Tally) -> Codes:
        if not self._histogram:
            return tally
        return Field(self.cells).matches(tally.reshape(self.seeds, self.cells), self.length, np.arange(self.size))


def _length(size: int, cells: int) -> int:
    length = 1
    while cells**length < size:
        length += 1
    return length
