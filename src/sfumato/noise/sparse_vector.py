"""Which values of a long stream lie above a threshold, paid by the number of times the answer is yes."""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import count as counting
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.kernel.entropy import Entropy, SystemEntropy
from sfumato.kernel.mechanisms.additive import DiscreteLaplace
from sfumato.kernel.mechanisms.protocol import Event
from sfumato.kernel.samplers import discrete_laplace
from sfumato.kernel.widths import error
from sfumato.noise.grid import Grid
from sfumato.noise.selection import _flag
from sfumato.noise.values import real_entries
from sfumato.noise.wordings import stream_forked, stream_unusable
from sfumato.schema.numbers import GivenNumber, exact, exact_positive, whole

Values = Iterable[GivenNumber] | npt.NDArray[Any]

SPLIT_GRID = 1 << 20
FIRST_BLOCK, LAST_BLOCK = 16, 1 << 14


@dataclass(frozen=True, slots=True)
class SparseVector:
    """Says of whole numbers, one after the other, whether each lies above a threshold, until `count` of them did.

    Claim: ε-DP for the whole sequence of answers, however long, also when each value is chosen after seeing the
    answers before it.
    Needs: whole numbers that each change by at most `sensitivity`; all in one direction if `monotone`.
    Proof: docs/proofs/sparse-vector.md (Lyu, Su, Li 2017, Algorithm 7 without its numeric answers).
    """

    epsilon: Fraction
    sensitivity: int
    count: int = 1
    monotone: bool = False

    def __post_init__(self) -> None:
        if not (self.epsilon > 0 and self.sensitivity >= 1 and self.count >= 1):
            raise ValueError("epsilon, sensitivity and count are positive")

    @property
    def shares(self) -> tuple[Fraction, Fraction]:
        """What the threshold and the values get of ε, near 1 : (2 · count)^(2/3); together exactly ε."""
        weight = (self.count if self.monotone else 2 * self.count) ** (2 / 3)
        first = self.epsilon / (1 + Fraction(round(weight * SPLIT_GRID), SPLIT_GRID))
        return first, self.epsilon - first

    @property
    def threshold_noise(self) -> DiscreteLaplace:
        """Drawn once."""
        return DiscreteLaplace(self.sensitivity / self.shares[0])

    @property
    def value_noise(self) -> DiscreteLaplace:
        """Drawn afresh for every value."""
        changes = self.count if self.monotone else 2 * self.count
        return DiscreteLaplace(changes * self.sensitivity / self.shares[1])

    def rho(self) -> Fraction:
        """Pure ε is ε²/2-zCDP."""
        return self.epsilon**2 / 2

    def event(self) -> Event:
        return {
            "mechanism": "sparse_vector",
            "epsilon": str(self.epsilon),
            "sensitivity": str(self.sensitivity),
            "count": str(self.count),
            "monotone": str(self.monotone).lower(),
        }

    def error(self, confidence: float, values: int) -> int:
        """How far on the wrong side of the threshold any of so many values may lie, with at least this probability."""
        missed = (1 - confidence) / 2
        return error(self.threshold_noise, 1 - missed) + error(self.value_noise, 1 - missed / values)

    def answers(self, values: Iterable[int], threshold: int, entropy: Entropy) -> Iterator[bool]:
        """One answer a value. The next value is not asked for before the answer to the last one was taken.

        A forked child would go on with the same count and the same noise: it is refused.
        """
        return self._answers(values, threshold, entropy, os.getpid())

    def _answers(self, values: Iterable[int], threshold: int, entropy: Entropy, process: int) -> Iterator[bool]:
        noisy_threshold = threshold + int(discrete_laplace(self.threshold_noise.scale, 1, entropy)[0])
        fresh = _stream(self.value_noise.scale, entropy)
        left = self.count
        for value in values:
            if os.getpid() != process:
                raise stream_forked()
            above = value + next(fresh) >= noisy_threshold
            left -= above
            yield above
            if left == 0:
                return


def above_threshold(
    values: Values,
    threshold: GivenNumber,
    *,
    sensitivity: GivenNumber,
    epsilon: GivenNumber,
    count: int = 1,
    monotone: bool = False,
    entropy: Entropy | None = None,
) -> list[bool]:
    """Say of each value whether it lies above the threshold, up to the `count`-th that does.

    Claim: epsilon-DP for the whole list of answers, however many there are. The noisy values are never told.
    Needs: `sensitivity` bounds the change of any single value when one person's data change; the threshold is public;
    `monotone` only if one person moves all values in one direction.
    Proof: docs/proofs/sparse-vector.md, docs/proofs/real-lattice.md
    """
    return list(
        above_threshold_stream(
            values,
            threshold,
            sensitivity=sensitivity,
            epsilon=epsilon,
            count=count,
            monotone=monotone,
            entropy=entropy,
        )
    )


def above_threshold_stream(
    values: Values,
    threshold: GivenNumber,
    *,
    sensitivity: GivenNumber,
    epsilon: GivenNumber,
    count: int = 1,
    monotone: bool = False,
    entropy: Entropy | None = None,
) -> Iterator[bool]:
    """`above_threshold`, one answer at a time: a generator of values may look at the answers so far.

    Claim: epsilon-DP for all answers together; the price is due when the first is taken.
    Needs: as for `above_threshold`.
    Proof: docs/proofs/sparse-vector.md
    """
    change, limit = exact_positive(sensitivity, "sensitivity"), exact(threshold, "threshold")
    most = whole(count, "count", least=1)
    grid = Grid.holding(change, 1)
    law = SparseVector(exact_positive(epsilon, "epsilon"), grid.absolute(change), most, _flag(monotone))
    steps = round(limit / grid.step)  # public, so any rounding will do
    return law.answers(_steps(values, grid), steps, SystemEntropy() if entropy is None else entropy)


def _steps(values: object, grid: Grid) -> Iterator[int]:
    """Each value in whole steps of the grid, all at once if they are all there."""
    if isinstance(values, str | bytes | dict) or not isinstance(values, Iterable | np.ndarray):
        raise stream_unusable()
    if isinstance(values, np.ndarray) and values.ndim != 1:
        raise stream_unusable()
    if isinstance(values, list | np.ndarray):
        return iter(grid.integers(real_entries(values).numbers).tolist() if len(values) else ())
    return (int(grid.integers(real_entries(value).numbers)[0]) for value in values)


def _stream(scale: Fraction, entropy: Entropy) -> Iterator[int]:
    """Fresh noise without end, drawn in blocks: how much is drawn ahead depends on nothing but its number."""
    for size in counting():
        yield from discrete_laplace(scale, min(FIRST_BLOCK << min(size, 20), LAST_BLOCK), entropy).tolist()
