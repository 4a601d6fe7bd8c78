"""How much privacy an attack on two samples proves to be lost."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf, log
from typing import Protocol

import numpy as np
from scipy import special

from sfumato.labs.laws import Array, numbers

_CUTS = 100  # half lines tried for a coordinate
_FEW = 60  # values up to which sets of single values are tried


class Event(Protocol):
    def __call__(self, sample: Array) -> Array:
        """Which rows of a sample are in the event."""
        ...


@dataclass(frozen=True)
class Below:
    column: int
    cut: float
    above: bool

    def __call__(self, sample: Array) -> Array:
        return np.asarray((sample[:, self.column] > self.cut) == self.above)


@dataclass(frozen=True)
class Among:
    column: int
    values: Array

    def __call__(self, sample: Array) -> Array:
        return np.asarray(np.isin(sample[:, self.column], self.values))


def epsilon_shown(first: int, second: int, draws: int, error: float, delta: float = 0.0) -> float:
    """The epsilon that an event, seen so often under each of two neighbours, proves at least.

    The bounds of Clopper and Pearson, as `sfumato.audit.evidence` has them; that package opens ledgers, which a
    student's machine may not be able to.
    """
    low = float(special.betaincinv(first, draws - first + 1, error)) if first else 0.0
    high = float(special.betainccinv(second + 1, draws - second, error)) if second < draws else 1.0
    return log((low - delta) / high) if low > delta else -inf


def epsilon_of(first: Array, second: Array, error: float, delta: float = 0.0) -> float:
    """The epsilon that these draws of two neighbours prove at least, except with probability `error`.

    An event (a half line of one coordinate, or a set of values) is chosen on the first halves of the draws by its own
    bound and certified on the second halves, which it never saw.
    """
    samples = [_columns(sample) for sample in (first, second)]
    half = min(map(len, samples)) // 2
    best, side = 0.0, 0
    chosen: Event | None = None
    for event in _events(samples[0][:half], samples[1][:half]):
        counts = [int(event(sample[:half]).sum()) for sample in samples]
        for one in (0, 1):
            found = epsilon_shown(counts[one], counts[1 - one], half, error / 2, delta)
            if found > best:
                best, chosen, side = found, event, one
    if chosen is None:
        return 0.0
    counts = [int(chosen(sample[half : 2 * half]).sum()) for sample in samples]
    return max(0.0, epsilon_shown(counts[side], counts[1 - side], half, error / 2, delta))


def _columns(sample: Array) -> Array:
    if sample.dtype.kind == "U":
        return sample.reshape(len(sample), -1)
    made = numbers(sample)
    return made.reshape(len(made), -1)


def _events(first: Array, second: Array) -> Iterator[Event]:
    for column in range(first.shape[1]):
        both = np.concatenate([first[:, column], second[:, column]])
        values = np.unique(both)
        if len(values) <= _FEW:
            yield from _sets(first[:, column], second[:, column], values, column)
        if both.dtype.kind != "U":
            for cut in np.unique(np.quantile(both, np.linspace(0, 1, _CUTS + 1))):
                yield Below(column, float(cut), above=False)
                yield Below(column, float(cut), above=True)


def _sets(first: Array, second: Array, values: Array, column: int) -> Iterator[Event]:
    """The values most in favour of the first sample, one more at a time."""
    ratio = [np.log((np.sum(first == one) + 0.5) / (np.sum(second == one) + 0.5)) for one in values]
    order = values[np.argsort(ratio)[::-1]]
    for size in range(1, len(order)):
        yield Among(column, order[:size])
        yield Among(column, order[size:])
