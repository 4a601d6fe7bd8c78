"""Unary encoding: one bit per value, each flipped by a coin of its own (SUE, known as basic RAPPOR, and OUE)."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from sfumato.kernel.entropy import Entropy
from sfumato.local import packed
from sfumato.local.chance import odds, packed_coins, value_of
from sfumato.local.oracle import Codes, Columns, Tally, checked
from sfumato.local.packed import Bytes
from sfumato.local.wordings import report_wrong
from sfumato.noise.coins import Chance, Ratio, coins

HEX = frozenset("0123456789abcdef")


@dataclass(frozen=True, slots=True)
class Unary:
    """The own bit is 1 with probability `keep`, every other bit with probability `stray`.

    Symmetric: keep = 1 / (1 + exp(-ε/2)), stray = 1 - keep. Optimised: keep = ½, stray = 1 / (1 + exp(ε)).

    Claim: ε-LDP; all bits independent with exactly these chances.
    Proof: docs/proofs/local-unary.md
    """

    size: int
    epsilon: Fraction
    optimised: bool

    def _zero(self) -> Chance:
        """The chance that the bit of a value one does not hold stays 0."""
        return odds(1, self.epsilon if self.optimised else self.epsilon / 2)

    def _own(self) -> Chance:
        return Ratio(Fraction(1, 2)) if self.optimised else odds(1, self.epsilon / 2)

    @property
    def keep(self) -> float:
        return value_of(self._own())

    @property
    def stray(self) -> float:
        return 1 - value_of(self._zero())

    @property
    def bits(self) -> int:
        return self.size

    @property
    def arrays(self) -> int:
        return 1

    def options(self) -> dict[str, Any]:
        return {}

    def draw(self, codes: Codes, entropy: Entropy) -> Columns:
        rows = random_rows(self._zero(), len(codes), self.size, entropy)
        packed.put(rows, codes, coins(self._own(), len(codes), entropy))
        return (rows,)

    def payloads(self, reports: Columns) -> list[Any]:
        return list(packed.texts(reports[0]))

    def columns(self, payloads: Sequence[Any], row: int) -> Columns:
        return (bit_rows(payloads, self.size, row),)

    def tally(self) -> Tally:
        return np.zeros(self.size, dtype=np.int64)

    def count(self, reports: Columns) -> Tally:
        return packed.count_columns(reports[0], self.size)

    def supports(self, tally: Tally) -> Codes:
        return tally


def random_rows(zero: Chance, count: int, bits: int, entropy: Entropy) -> Bytes:
    """Rows of independent bits, each 0 with the chance `zero`; what lies beyond `bits` is 0."""
    width = packed.width(bits)
    words = packed_coins(zero, -(-count * width // 8), entropy)
    np.invert(words, out=words)
    rows = words.view(np.uint8)[: count * width].reshape(count, width)
    packed.clear_padding(rows, bits)
    return rows


def bit_rows(payloads: Sequence[Any], bits: int, row: int) -> Bytes:
    """Rows of bits from their hexadecimal texts."""
    width = packed.width(bits)
    digits = 2 * width
    checked(
        payloads,
        lambda text: isinstance(text, str) and len(text) == digits and HEX.issuperset(text),
        row,
        f"the report is not {digits} hexadecimal digits",
    )
    rows = np.frombuffer(bytes.fromhex("".join(payloads)), dtype=np.uint8).reshape(len(payloads), width)
    clear = packed.padding_is_clear(rows, bits)
    if not clear.all():
        raise report_wrong(row + int(np.argmin(clear)), f"a bit beyond the {bits} of the domain is set")
    return rows
