"""What a server learns: counts without bias, counts that make sense, and how far off they may be."""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.errors import missing_extra
from sfumato.local.wordings import confidence_wrong
from sfumato.plots.bars import bars

Floats = npt.NDArray[np.float64]

CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Estimate:
    """How many of `users` hold each value.

    `unbiased` may be negative and need not add up; its error has the deviation beside it. `counts` is the nearest
    vector that is nowhere negative and adds up to the users.
    """

    values: Sequence[Any]
    users: int
    unbiased: Floats
    deviations: Floats
    epsilon: float
    confidence: float = CONFIDENCE
    complete: bool = True  # whether every user holds one of the values

    @property
    def counts(self) -> Floats:
        positive = np.maximum(self.unbiased, 0.0)
        if not self.complete and positive.sum() <= self.users:
            return positive
        return consistent(self.unbiased, self.users)

    @property
    def rows(self) -> list[dict[str, Any]]:
        """In the order of the domain: value, count (consistent), unbiased, low, high."""
        low, high = self.intervals()
        columns = (column.tolist() for column in (self.counts, self.unbiased, low, high))
        return [
            {"value": value, "count": count, "unbiased": raw, "low": least, "high": most}
            for value, count, raw, least, most in zip(self.values, *columns, strict=True)
        ]

    def intervals(self, confidence: float | None = None) -> tuple[Floats, Floats]:
        """For each value the ends between which the true count lies with this probability (normal approximation)."""
        reach = quantile(self.confidence if confidence is None else confidence) * self.deviations
        return np.clip(self.unbiased - reach, 0, self.users), np.clip(self.unbiased + reach, 0, self.users)

    def to_dict(self) -> dict[str, Any]:
        return {
            "users": self.users,
            "epsilon": self.epsilon,
            "confidence": self.confidence,
            "rows": self.rows,
        }

    def to_arrow(self) -> Any:
        """A pyarrow.Table."""
        return import_module("pyarrow").Table.from_pylist(self.rows)

    def to_pandas(self) -> Any:
        """A pandas.DataFrame."""
        return _module("pandas", "to_pandas").DataFrame(self.rows)

    def to_polars(self) -> Any:
        """A polars.DataFrame."""
        return _module("polars", "to_polars").DataFrame(self.rows)

    def plot(self, title: str = "Estimated from randomised reports") -> Any:
        """A Plotly figure: a bar a value with its error bar."""
        low, high = (column.tolist() for column in self.intervals())
        labels = [str(value) for value in self.values]
        return bars(labels, self.counts.tolist(), list(zip(low, high, strict=True)), title=title)


def consistent(unbiased: Floats, total: float) -> Floats:
    """The nearest numbers, none negative, that add up to `total`: the same amount is taken from all that stay above 0.

    Proof: docs/proofs/local-estimates.md, "Counts that make sense".
    """
    ordered = np.sort(unbiased)[::-1]
    excess = (np.cumsum(ordered) - total) / np.arange(1, len(ordered) + 1)
    last = np.flatnonzero(ordered > excess)
    return np.asarray(np.maximum(unbiased - excess[last[-1] if len(last) else 0], 0.0))


def quantile(confidence: float) -> float:
    """How many deviations hold this share of a normal law."""
    if isinstance(confidence, bool) or not isinstance(confidence, int | float) or not 0 < confidence < 1:
        raise confidence_wrong(repr(confidence))
    return NormalDist().inv_cdf((1 + confidence) / 2)


def _module(name: str, call: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise missing_extra(call, name, name) from None
