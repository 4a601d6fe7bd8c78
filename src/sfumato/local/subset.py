"""Subset selection: a set of `chosen` values that holds the own one more often than any other."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import exp
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.kernel.entropy import Entropy
from sfumato.local import packed
from sfumato.local.chance import odds, stacked, value_of
from sfumato.local.oracle import Codes, Columns, Tally
from sfumato.local.packed import Bools, Bytes
from sfumato.local.unary import bit_rows
from sfumato.local.wordings import report_wrong
from sfumato.noise.coins import Chance, below, coins

CHUNK = 1 << 12  # the marks of taken values stay in the second-level cache


@dataclass(frozen=True, slots=True)
class Subset:
    """All sets of `chosen` values with the own one in it are e^ε times as likely as those without.

    Claim: ε-LDP, exactly this law; of all protocols here the least variance (Ye, Barg 2018).
    Proof: docs/proofs/local-subset.md
    """

    size: int
    epsilon: Fraction
    chosen: int

    def __post_init__(self) -> None:
        if not 1 <= self.chosen < self.size:
            raise ValueError("a subset holds at least one value and not all")

    @classmethod
    def best(cls, size: int, epsilon: Fraction) -> "Subset":
        """The number of values with the least variance."""
        middle = size / (exp(float(epsilon)) + 1)
        near = {min(max(round(middle) + step, 1), size - 1) for step in (-1, 0, 1)}
        return min((cls(size, epsilon, chosen) for chosen in sorted(near)), key=_variance)

    def _inside(self) -> Chance:
        return odds(Fraction(self.size - self.chosen, self.chosen), self.epsilon)

    @property
    def keep(self) -> float:
        return value_of(self._inside())

    @property
    def stray(self) -> float:
        """Of the other values chosen - 1 are in a set with the own value, `chosen` in one without."""
        return (self.chosen - self.keep) / (self.size - 1)

    @property
    def bits(self) -> int:
        return self.size

    @property
    def arrays(self) -> int:
        return 1

    def options(self) -> dict[str, Any]:
        return {"chosen": self.chosen}

    def draw(self, codes: Codes, entropy: Entropy) -> Columns:
        starts = range(0, max(len(codes), 1), CHUNK)
        parts = []
        for start in starts:
            part = codes[start : start + CHUNK]
            parts.append(self.rows_with(part, coins(self._inside(), len(part), entropy), entropy))
        return (stacked(parts),)

    def rows_with(self, codes: Codes, inside: Bools, entropy: Entropy) -> Bytes:
        """A uniform set of the others; where `inside` says so, one of its members gives way to the own value."""
        count = len(codes)
        others = self._others(codes, entropy)
        leaving = others[below(self.chosen, count, entropy), np.arange(count)]
        rows = _as_bits(others, self.size)
        packed.put(rows, np.where(inside, leaving, codes), np.zeros(count, dtype=np.bool_))
        packed.put(rows, np.where(inside, codes, leaving), np.ones(count, dtype=np.bool_))
        return rows

    def _others(self, codes: Codes, entropy: Entropy) -> npt.NDArray[np.int64]:
        """For each code (a column) `chosen` different other codes; all sets are equally likely (Floyd's algorithm)."""
        count, rest = len(codes), self.size - 1
        members = np.empty((self.chosen, count), dtype=np.int64)
        taken = np.zeros(count * rest, dtype=np.bool_)
        offset = np.arange(count) * rest
        for place, last in enumerate(range(rest - self.chosen, rest)):
            drawn = below(last + 1, count, entropy)
            np.copyto(drawn, last, where=taken[offset + drawn])
            taken[offset + drawn] = True
            members[place] = drawn
        members += codes + 1
        members -= self.size * (members >= self.size)
        return members

    def payloads(self, reports: Columns) -> list[Any]:
        return list(packed.texts(reports[0]))

    def columns(self, payloads: Sequence[Any], row: int) -> Columns:
        rows = bit_rows(payloads, self.size, row)
        right = packed.ones(rows) == self.chosen
        if not right.all():
            raise report_wrong(row + int(np.argmin(right)), f"the report does not name {self.chosen} values")
        return (rows,)

    def tally(self) -> Tally:
        return np.zeros(self.size, dtype=np.int64)

    def count(self, reports: Columns) -> Tally:
        return packed.count_columns(reports[0], self.size)

    def supports(self, tally: Tally) -> Codes:
        return tally


def _variance(subset: Subset) -> float:
    return subset.stray * (1 - subset.stray) / (subset.keep - subset.stray) ** 2


def _as_bits(members: npt.NDArray[np.int64], size: int) -> Bytes:
    count = members.shape[1]
    flags = np.zeros(count * size, dtype=np.bool_)
    flags[members + np.arange(count) * size] = True
    return np.packbits(flags.reshape(count, size), axis=1, bitorder="little")
