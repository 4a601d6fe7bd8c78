"""RAPPOR: a Bloom filter, a permanent response kept for ever, an instantaneous one for each report, and a regression.

Erlingsson, Pihur, Korolova 2014.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.accounting.rounding import up
from sfumato.kernel.entropy import Entropy
from sfumato.local import packed
from sfumato.local.chance import odds, packed_coins, value_of
from sfumato.local.domain import Domain
from sfumato.local.estimate import Estimate
from sfumato.local.frequency import read_column
from sfumato.local.oracle import Codes, checked
from sfumato.local.packed import Bytes
from sfumato.local.regression import regress
from sfumato.local.scheme import VERSION, Columns, Tally, added
from sfumato.local.unary import bit_rows
from sfumato.local.wordings import rappor_option_wrong
from sfumato.noise.coins import Ratio, below

MOST_HASHES = 16
DIGITS = Context(prec=60)
ROUNDING = Decimal(10) ** -40  # more than a few digits of a logarithm of chances above 10^-15 lose
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Rappor:
    """Each value sets `hashes` of `bits` bits, which ones depends on the cohort. Each bit is kept for ever with
    probability 1 / (1 + exp(-ε / (2 hashes))), else flipped; each report shows a kept 1 as 1 with probability `q`, a
    kept 0 as 1 with probability `p`.

    Claim: any number of reports about one value is ε-LDP; a single one costs less (`first_report`).
    Needs: the permanent response is stored and never drawn again for the same value (`Device` does that).
    Proof: docs/proofs/local-rappor.md
    """

    domain: Domain
    price: Fraction
    bits: int = 64
    hashes: int = 2
    cohorts: int = 16
    p: Fraction = Fraction(1, 2)
    q: Fraction = Fraction(3, 4)

    def __post_init__(self) -> None:
        if self.bits < 8 or self.bits & (self.bits - 1) or self.bits > 1 << 14:
            raise rappor_option_wrong("bits must be a power of two from 8 to 16,384")
        if not 1 <= self.hashes <= min(MOST_HASHES, self.bits // 2):
            raise rappor_option_wrong(f"hashes must lie between 1 and {min(MOST_HASHES, self.bits // 2)}")
        if not 1 <= self.cohorts <= 1 << 12:
            raise rappor_option_wrong("cohorts must lie between 1 and 4,096")
        if not 0 <= self.p < self.q <= 1:
            raise rappor_option_wrong("p must lie below q, both between 0 and 1")

    @property
    def epsilon(self) -> float:
        return up(self.price)

    @property
    def names(self) -> tuple[str, ...]:
        return ()

    @property
    def arrays(self) -> int:
        return 2

    @property
    def _flip(self) -> float:
        """The chance that a permanent bit is not the Bloom filter's: f/2 of the paper."""
        return 1 - value_of(self._kept)

    @property
    def _kept(self) -> Any:
        return odds(1, self.price / (2 * self.hashes))

    @property
    def f(self) -> float:
        """The paper's f: the share of permanent bits that are pure chance."""
        return 2 * self._flip

    def _shown(self) -> tuple[float, float]:
        """The chances that a report shows 1 for a bit that the filter has not, and has."""
        p, q, flip = float(self.p), float(self.q), self._flip
        return (1 - flip) * p + flip * q, flip * p + (1 - flip) * q

    @property
    def first_report(self) -> float:
        """What a single report costs: hashes · ln(q*(1 - p*) / (p*(1 - q*))), rounded up."""
        with localcontext(DIGITS):
            exact = (self.p, self.q, self.price / (2 * self.hashes))
            p, q, rate = (Decimal(number.numerator) / number.denominator for number in exact)
            moved = (q - p) / (1 + rate.exp())
            least, most = p + moved, q - moved
            cost = self.hashes * (most * (1 - least) / (least * (1 - most))).ln() + ROUNDING
        return up(Fraction(cost))

    def spec(self) -> dict[str, Any]:
        return {
            "sfumato": VERSION,
            "protocol": "rappor",
            "epsilon": str(self.price),
            "domain": self.domain.to_json(),
            "bits": self.bits,
            "hashes": self.hashes,
            "cohorts": self.cohorts,
            "p": str(self.p),
            "q": str(self.q),
        }

    def encode(self, values: Any, row: int = 1) -> Codes:
        return self.domain.codes(values, row)

    def read(self, cells: dict[str, list[str]]) -> Any:
        return read_column(self.domain, next(iter(cells.values())))

    def draw(self, encoded: Codes, entropy: Entropy) -> Columns:
        """A first report of people who have not reported before."""
        return self.instantaneous(self.permanent(encoded, entropy), entropy)

    def permanent(self, codes: Codes, entropy: Entropy) -> Columns:
        """A cohort and the permanent response for each value; a device keeps them secret and never draws them again."""
        cohorts = below(self.cohorts, len(codes), entropy)
        return cohorts, _flipped(self.filters()[cohorts, codes], self._kept, self.bits, entropy)

    def instantaneous(self, kept: Columns, entropy: Entropy) -> Columns:
        """One report from a permanent response."""
        cohorts, rows = kept
        ones = _coin_rows(Ratio(self.q), rows.shape, entropy)
        zeros = _coin_rows(Ratio(self.p), rows.shape, entropy)
        shown = (rows & ones) | (~rows & zeros)
        packed.clear_padding(shown, self.bits)
        return cohorts, shown

    def filters(self) -> npt.NDArray[np.uint8]:
        """The Bloom filter of every value in every cohort."""
        return _bloom(tuple(self.domain.values), self.bits, self.hashes, self.cohorts)

    def payloads(self, reports: Columns) -> list[Any]:
        return [list(pair) for pair in zip(reports[0].tolist(), packed.texts(reports[1]), strict=True)]

    def columns(self, payloads: Sequence[Any], row: int) -> Columns:
        cohorts = self.cohorts
        checked(
            payloads,
            lambda pair: isinstance(pair, list) and len(pair) == 2 and type(pair[0]) is int and 0 <= pair[0] < cohorts,
            row,
            f"the report is not [cohort below {cohorts}, bits]",
        )
        rows = bit_rows([pair[1] for pair in payloads], self.bits, row)
        return np.array([pair[0] for pair in payloads], dtype=np.int64), rows

    def tally(self) -> Tally:
        return [np.zeros((self.cohorts, self.bits), dtype=np.int64), np.zeros(self.cohorts, dtype=np.int64)]

    def add(self, tally: Tally, reports: Columns) -> Tally:
        cohorts, rows = reports
        ones = np.stack([packed.count_columns(rows[cohorts == one], self.bits) for one in range(self.cohorts)])
        return added(tally, [ones, np.bincount(cohorts, minlength=self.cohorts)])

    def merge(self, first: Tally, second: Tally) -> Tally:
        return added(first, second)

    def finish(self, tally: Tally, users: int, confidence: float) -> Estimate:
        """Counts by least squares over the bits of all cohorts; where these are too few, after a selection.

        Proof: docs/proofs/local-rappor.md, "Decoding".
        """
        ones, members = tally
        least, most = self._shown()
        debiased = (ones - least * members[:, None]) / (most - least) * self.cohorts
        filters = np.unpackbits(self.filters(), axis=2, count=self.bits, bitorder="little")
        design = filters.transpose(0, 2, 1).reshape(self.cohorts * self.bits, len(self.domain)).astype(np.float64)
        unbiased, deviations = regress(
            design, debiased.ravel(), users, cohorts=self.cohorts, shown=(least, most), gap=most - least
        )
        return Estimate(self.domain.values, users, unbiased, deviations, self.epsilon, confidence)


def _flipped(rows: Bytes, kept: Any, bits: int, entropy: Entropy) -> Bytes:
    """Each bit kept with this chance, else flipped."""
    result = np.asarray(~(rows ^ _coin_rows(kept, rows.shape, entropy)), dtype=np.uint8)
    packed.clear_padding(result, bits)
    return result


def _coin_rows(chance: Any, shape: tuple[int, ...], entropy: Entropy) -> Bytes:
    count, width = shape
    words = packed_coins(chance, -(-count * width // 8), entropy)
    return words.view(np.uint8)[: count * width].reshape(count, width)


@lru_cache(maxsize=8)
def _bloom(values: tuple[Any, ...], bits: int, hashes: int, cohorts: int) -> npt.NDArray[np.uint8]:
    """(cohort, value, byte): bits chosen by SHA-256, the same on every machine."""
    flags = np.zeros((cohorts, len(values), bits), dtype=np.bool_)
    for cohort in range(cohorts):
        for place, value in enumerate(values):
            text = f"{cohort}/{type(value).__name__}/{value}".encode()
            digest = np.frombuffer(hashlib.sha256(text).digest(), dtype="<u2")
            flags[cohort, place, digest[:hashes] & (bits - 1)] = True
    return np.packbits(flags, axis=2, bitorder="little")
