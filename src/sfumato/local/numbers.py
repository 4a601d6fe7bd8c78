"""Laws for a number between 0 and 1: Duchi's coin, the piecewise mechanism, their mixture, and local Laplace noise.

A value is a whole number of UNITS steps. Every law draws in whole numbers; a decoded report is an unbiased double.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import exp
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from sfumato.kernel.entropy import Entropy
from sfumato.kernel.samplers import discrete_laplace
from sfumato.local.chance import odds, value_of
from sfumato.local.oracle import Codes, Columns, checked, whole_numbers
from sfumato.noise.coins import Ratio, below, coins

Floats = npt.NDArray[np.float64]

UNITS = 1 << 40
CELLS = 1 << 20
HYBRID_FROM = Fraction(61, 100)  # below, the mixture is no better than Duchi's coin alone
MIXTURE = 1 << 16
LARGEST_NOISE = 1 << 62


class NumberLaw(Protocol):
    """Draws reports about whole numbers from 0 to UNITS and turns them into unbiased doubles from 0 to 1."""

    @property
    def arrays(self) -> int: ...

    def draw(self, units: Codes, entropy: Entropy) -> Columns: ...

    def decode(self, reports: Columns) -> Floats: ...

    def variance(self, share: float) -> float:
        """Of one decoded report about this share of the range."""
        ...

    def payloads(self, reports: Columns) -> list[Any]: ...

    def columns(self, payloads: Sequence[Any], row: int) -> Columns: ...


def worst(law: NumberLaw) -> float:
    """The largest variance over the range; all laws here reach it at the ends or in the middle."""
    return max(law.variance(share) for share in (0.0, 0.25, 0.5, 0.75, 1.0))


@dataclass(frozen=True, slots=True)
class Duchi:
    """A bit that is 1 with a chance equal to the value, then randomised response on the bit (Duchi et al. 2018).

    Claim: ε-LDP, whatever the value; unbiased.
    Proof: docs/proofs/local-means.md
    """

    epsilon: Fraction

    @property
    def arrays(self) -> int:
        return 1

    def draw(self, units: Codes, entropy: Entropy) -> Columns:
        high = entropy.words(len(units)) >> np.uint64(24) < units.view(np.uint64)
        kept = coins(odds(1, self.epsilon), len(units), entropy)
        return ((high == kept).astype(np.int64),)

    def decode(self, reports: Columns) -> Floats:
        keep = value_of(odds(1, self.epsilon))
        return np.asarray((reports[0] - (1 - keep)) / (2 * keep - 1))

    def variance(self, share: float) -> float:
        keep = value_of(odds(1, self.epsilon))
        chance = share * keep + (1 - share) * (1 - keep)
        return chance * (1 - chance) / (2 * keep - 1) ** 2

    def payloads(self, reports: Columns) -> list[Any]:
        return list(reports[0].tolist())

    def columns(self, payloads: Sequence[Any], row: int) -> Columns:
        return (whole_numbers(payloads, 2, row, "the report is not 0 or 1"),)


@dataclass(frozen=True, slots=True)
class Piecewise:
    """A cell of 2^20: e^ε times as likely inside a window that moves with the value (Wang et al. 2019, on whole cells).

    Claim: ε-LDP for every width of the window, exactly; unbiased.
    Proof: docs/proofs/local-means.md
    """

    epsilon: Fraction

    @property
    def arrays(self) -> int:
        return 1

    @property
    def window(self) -> int:
        """The width with about the least variance: a share 1 / (e^(ε/2) + 1) of all cells."""
        return max(1, round(CELLS / (exp(float(self.epsilon) / 2) + 1)))

    @property
    def _line(self) -> tuple[float, float]:
        """(offset, slope): the mean cell is offset + slope · start of the window."""
        inside, w = self._inside, self.window
        outside = (1 - inside) / (CELLS - w)
        slope = inside - outside * w
        return outside * CELLS * (CELLS - 1) / 2 + slope * (w - 1) / 2, slope

    @property
    def _inside(self) -> float:
        return value_of(odds(Fraction(CELLS - self.window, self.window), self.epsilon))

    def draw(self, units: Codes, entropy: Entropy) -> Columns:
        count, w = len(units), self.window
        start, rest = np.divmod(units * (CELLS - w), UNITS)
        start += entropy.words(count) >> np.uint64(24) < rest.view(np.uint64)  # so that its mean is exact
        inside = coins(odds(Fraction(CELLS - w, w), self.epsilon), count, entropy)
        near, far = below(w, count, entropy), below(CELLS - w, count, entropy)
        return (np.where(inside, start + near, far + w * (far >= start)),)

    def decode(self, reports: Columns) -> Floats:
        offset, slope = self._line
        return np.asarray((reports[0] - offset) / (slope * (CELLS - self.window)))

    def variance(self, share: float) -> float:
        offset, slope = self._line
        w, start, inside = self.window, share * (CELLS - self.window), self._inside
        ends = np.array([0.0, start, start + w, CELLS])
        squares = (ends - 1) * ends * (2 * ends - 1) / 6
        within = squares[2] - squares[1]
        moment = inside * within / w + (1 - inside) * (squares[3] - within) / (CELLS - w)
        return float(moment - (offset + slope * start) ** 2) / (slope * (CELLS - w)) ** 2

    def payloads(self, reports: Columns) -> list[Any]:
        return list(reports[0].tolist())

    def columns(self, payloads: Sequence[Any], row: int) -> Columns:
        return (whole_numbers(payloads, CELLS, row, f"the report is not a whole number below {CELLS}"),)


@dataclass(frozen=True, slots=True)
class Hybrid:
    """A public coin chooses the piecewise mechanism or Duchi's; the report says which (Wang et al. 2019).

    Claim: ε-LDP, because both are and the coin does not see the value.
    Proof: docs/proofs/local-means.md
    """

    epsilon: Fraction

    @property
    def arrays(self) -> int:
        return 2

    @property
    def share(self) -> Fraction:
        """How often the piecewise mechanism is used: 1 - exp(-ε/2), in steps of 2^-16; never for small ε."""
        if self.epsilon <= HYBRID_FROM:
            return Fraction(0)
        return Fraction(round((1 - exp(-float(self.epsilon) / 2)) * MIXTURE), MIXTURE)

    def draw(self, units: Codes, entropy: Entropy) -> Columns:
        piecewise = coins(Ratio(self.share), len(units), entropy)
        (cells,), (bits,) = Piecewise(self.epsilon).draw(units, entropy), Duchi(self.epsilon).draw(units, entropy)
        return piecewise.astype(np.int64), np.where(piecewise, cells, bits)

    def decode(self, reports: Columns) -> Floats:
        cells, bits = Piecewise(self.epsilon).decode((reports[1],)), Duchi(self.epsilon).decode((reports[1],))
        return np.where(reports[0] == 1, cells, bits)

    def variance(self, share: float) -> float:
        piecewise = float(self.share)
        return piecewise * Piecewise(self.epsilon).variance(share) + (1 - piecewise) * Duchi(self.epsilon).variance(
            share
        )

    def payloads(self, reports: Columns) -> list[Any]:
        return [list(pair) for pair in zip(reports[0].tolist(), reports[1].tolist(), strict=True)]

    def columns(self, payloads: Sequence[Any], row: int) -> Columns:
        checked(payloads, _is_hybrid, row, f"the report is neither [0, bit] nor [1, whole number below {CELLS}]")
        pairs = np.array(payloads, dtype=np.int64).reshape(-1, 2)
        return pairs[:, 0], pairs[:, 1]


@dataclass(frozen=True, slots=True)
class LocalLaplace:
    """Whole-number Laplace noise on 2^20 steps, wide enough to hide the whole range.

    Claim: ε-LDP, exactly. Simple, and never the best: the piecewise mechanism has less variance at every ε.
    Proof: docs/proofs/local-means.md
    """

    epsilon: Fraction

    @property
    def arrays(self) -> int:
        return 1

    def draw(self, units: Codes, entropy: Entropy) -> Columns:
        steps = (units + (UNITS // CELLS >> 1)) // (UNITS // CELLS)
        noise = discrete_laplace(CELLS / self.epsilon, len(units), entropy)
        return (np.asarray(np.clip(steps + noise, -LARGEST_NOISE, LARGEST_NOISE), dtype=np.int64),)

    def decode(self, reports: Columns) -> Floats:
        return np.asarray(reports[0] / CELLS)

    def variance(self, share: float) -> float:  # noqa: ARG002 - the same for every value
        ratio = exp(-float(self.epsilon) / CELLS)
        return 2 * ratio / (1 - ratio) ** 2 / CELLS**2

    def payloads(self, reports: Columns) -> list[Any]:
        return list(reports[0].tolist())

    def columns(self, payloads: Sequence[Any], row: int) -> Columns:
        right = lambda one: type(one) is int and abs(one) <= LARGEST_NOISE  # noqa: E731
        checked(payloads, right, row, "the report is not a whole number of ordinary size")
        return (np.array(payloads, dtype=np.int64),)


def _is_hybrid(pair: Any) -> bool:
    return (
        isinstance(pair, list)
        and len(pair) == 2
        and type(pair[0]) is type(pair[1]) is int
        and pair[0] in (0, 1)
        and 0 <= pair[1] < (CELLS if pair[0] else 2)
    )


LAWS: dict[str, type[Duchi] | type[Piecewise] | type[Hybrid] | type[LocalLaplace]] = {
    "duchi": Duchi,
    "piecewise": Piecewise,
    "hybrid": Hybrid,
    "laplace": LocalLaplace,
}
