"""The mean of a number with public bounds."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from typing import Any

import numpy as np

from sfumato.accounting.rounding import up
from sfumato.kernel.entropy import Entropy
from sfumato.local.domain import column
from sfumato.local.estimate import CONFIDENCE, quantile
from sfumato.local.numbers import LAWS, UNITS, NumberLaw, worst
from sfumato.local.oracle import Codes
from sfumato.local.scheme import VERSION, Columns, Tally, added
from sfumato.local.wordings import value_outside


@dataclass(frozen=True, slots=True)
class MeanEstimate:
    """A mean without bias, and how far off it may be; `mean` is the same, kept within the bounds."""

    users: int
    unbiased: float
    deviation: float
    lower: float
    upper: float
    epsilon: float
    confidence: float = CONFIDENCE

    @property
    def mean(self) -> float:
        return min(max(self.unbiased, self.lower), self.upper)

    def interval(self, confidence: float | None = None) -> tuple[float, float]:
        """The ends between which the mean lies with this probability (normal approximation)."""
        reach = quantile(self.confidence if confidence is None else confidence) * self.deviation
        low, high = self.unbiased - reach, self.unbiased + reach
        return min(max(low, self.lower), self.upper), min(max(high, self.lower), self.upper)

    @property
    def rows(self) -> list[dict[str, Any]]:
        low, high = self.interval()
        return [{"value": "mean", "mean": self.mean, "unbiased": self.unbiased, "low": low, "high": high}]

    def to_dict(self) -> dict[str, Any]:
        return {"users": self.users, "epsilon": self.epsilon, "confidence": self.confidence, "rows": self.rows}


@dataclass(frozen=True, slots=True)
class Mean:
    """Reports about numbers from `lower` to `upper`."""

    name: str
    price: Fraction
    lower: Fraction
    upper: Fraction

    @property
    def law(self) -> NumberLaw:
        return LAWS[self.name](self.price)

    @property
    def epsilon(self) -> float:
        return up(self.price)

    @property
    def names(self) -> tuple[str, ...]:
        return ()

    @property
    def arrays(self) -> int:
        return self.law.arrays

    def spec(self) -> dict[str, Any]:
        return {
            "sfumato": VERSION,
            "protocol": self.name,
            "epsilon": str(self.price),
            "lower": str(self.lower),
            "upper": str(self.upper),
        }

    def encode(self, values: Any, row: int = 1) -> Codes:
        """Steps of 2^-40 of the range. Privacy does not rest on the rounding: every law hides the whole range."""
        found = column(values)
        try:
            numbers = np.asarray(found, dtype=np.float64)
        except (TypeError, ValueError):
            raise value_outside(row + _first_text(found), "not a number") from None
        low, high = float(self.lower), float(self.upper)
        outside = ~((numbers >= low) & (numbers <= high))
        if outside.any():
            raise value_outside(row + int(np.argmax(outside)), "the number is missing or outside the bounds")
        return np.rint((numbers - low) / (high - low) * UNITS).astype(np.int64).clip(0, UNITS)

    def read(self, cells: dict[str, list[str]]) -> Any:
        return next(iter(cells.values()))

    def draw(self, encoded: Codes, entropy: Entropy) -> Columns:
        return self.law.draw(encoded, entropy)

    def payloads(self, reports: Columns) -> list[Any]:
        return self.law.payloads(reports)

    def columns(self, payloads: Sequence[Any], row: int) -> Columns:
        return self.law.columns(payloads, row)

    def tally(self) -> Tally:
        return [np.zeros(3)]

    def add(self, tally: Tally, reports: Columns) -> Tally:
        decoded = self.law.decode(reports)
        return added(tally, [np.array([len(decoded), decoded.sum(), (decoded**2).sum()])])

    def merge(self, first: Tally, second: Tally) -> Tally:
        return added(first, second)

    def finish(self, tally: Tally, users: int, confidence: float) -> MeanEstimate:
        """The deviation is measured on the reports, so it holds the spread of the people too."""
        count, total, squares = tally[0].tolist()
        width, share = float(self.upper - self.lower), total / count
        # One report shows no spread: then the law's worst.
        spread = (squares - total * share) / (count - 1) if count > 1 else worst(self.law)
        return MeanEstimate(
            users,
            float(self.lower) + width * share,
            width * sqrt(max(spread, 0.0) / count),
            float(self.lower),
            float(self.upper),
            self.epsilon,
            confidence,
        )


def least_variance(epsilon: Fraction) -> str:
    """The law whose largest variance is least."""
    return min(LAWS, key=lambda name: worst(LAWS[name](epsilon)))


def _first_text(found: Any) -> int:
    for place, value in enumerate(found):
        try:
            float(value)
        except (TypeError, ValueError):
            return place
    return 0
