"""Randomised response: the value itself, or another one. Two coins for two answers, k-ary for more."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from sfumato.kernel.entropy import Entropy
from sfumato.local.chance import odds, value_of
from sfumato.local.oracle import Codes, Columns, Tally, whole_numbers
from sfumato.noise.coins import Chance, Ratio, below, coins


@dataclass(frozen=True, slots=True)
class Response:
    """The truth with probability 1 / (1 + (size - 1) exp(-ε)), else one of the other values (GRR).

    Without ε two fair coins decide: heads, the truth; tails, a second coin answers. The truth in 3 of 4, ε = ln 3.

    Claim: ε-LDP, exactly this law.
    Proof: docs/proofs/randomised-response.md, docs/proofs/local-coins.md
    """

    size: int
    epsilon: Fraction | None

    def __post_init__(self) -> None:
        if self.size < 2 or (self.epsilon is None and self.size != 2):
            raise ValueError("randomised response has at least two answers; two coins have exactly two")

    def _truth(self) -> Chance:
        return Ratio(Fraction(3, 4)) if self.epsilon is None else odds(self.size - 1, self.epsilon)

    @property
    def keep(self) -> float:
        return value_of(self._truth())

    @property
    def stray(self) -> float:
        return (1 - self.keep) / (self.size - 1)

    @property
    def bits(self) -> int:
        return (self.size - 1).bit_length()

    @property
    def arrays(self) -> int:
        return 1

    def options(self) -> dict[str, Any]:
        return {}

    def draw(self, codes: Codes, entropy: Entropy) -> Columns:
        lies, others = ~coins(self._truth(), len(codes), entropy), self.size - 1
        # With two answers there is only one other, and nothing to draw.
        shift = 1 + below(others, len(codes), entropy) if others > 1 else 1
        moved = codes + lies * shift
        moved -= self.size * (moved >= self.size)
        return (moved,)

    def payloads(self, reports: Columns) -> list[Any]:
        return list(reports[0].tolist())

    def columns(self, payloads: Sequence[Any], row: int) -> Columns:
        return (whole_numbers(payloads, self.size, row, f"the report is not a whole number below {self.size}"),)

    def tally(self) -> Tally:
        return np.zeros(self.size, dtype=np.int64)

    def count(self, reports: Columns) -> Tally:
        return np.bincount(reports[0], minlength=self.size).astype(np.int64)

    def supports(self, tally: Tally) -> Codes:
        return tally
