"""Events on the outputs of any mechanism: thresholds, single values, sets of values, trailing bits, failures."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import log
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.audit.evidence import epsilon_shown

Outputs = Sequence[Any] | npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]

SHARES = (0.005, 0.02, 0.05, *np.arange(0.1, 0.95, 0.1), 0.95, 0.98, 0.995)
POWERS = range(-60, 1, 2)
MOST_NUMBERS = 40  # more different numbers than this are looked at by thresholds only
MOST_VALUES = 4096
COORDINATES = 4


@dataclass(frozen=True, slots=True)
class Event:
    words: str
    holds: Callable[[Outputs], Mask]


@dataclass(frozen=True, slots=True)
class Failure:
    """An output that was an exception; which one, is as telling as a number."""

    kind: str


def events(first: Outputs, second: Outputs) -> Iterator[Event]:
    """Events worth counting, from a sample of both sides that is not counted afterwards."""
    for words, feature in _features(first, second):
        one, two = feature(first), feature(second)
        pooled = np.concatenate([one, two])
        finite = pooled[np.isfinite(pooled)]
        for threshold in sorted({float(np.quantile(finite, share)) for share in SHARES}) if len(finite) else ():
            yield Event(f"{words} ≤ {threshold:.6g}", _at_most(feature, threshold))
            yield Event(f"{words} > {threshold:.6g}", _above(feature, threshold))
        yield Event(f"{words} is no finite number", _not_finite(feature))
        if (finite != np.floor(finite)).any():
            for power in POWERS:
                yield Event(f"{words} is a multiple of 2^{power}", _multiple(feature, power))
                yield Event(f"{words} is no multiple of 2^{power}", _not(_multiple(feature, power)))
    yield from _sets(first, second)


def best(first: Outputs, second: Outputs, draws: int, delta: float) -> tuple[Event, bool]:
    """The event, and whether the second side is where it is likelier, that should prove the most in `draws` draws."""
    found: tuple[float, Event, bool] | None = None
    for event in events(first, second):
        counts = [int(event.holds(side).sum()) for side in (first, second)]
        rates = [(count + 0.5) / (len(side) + 1) for count, side in zip(counts, (first, second), strict=True)]
        expected = [round(rate * draws) for rate in rates]
        for swapped in (False, True):
            here, there = expected[::-1] if swapped else expected
            # Many events were tried on a small sample: discount what luck may have added.
            luck = sum(3 / (1 + count) ** 0.5 for count in counts)
            score = epsilon_shown(here, there, draws, 1e-4, delta) - luck
            if found is None or score > found[0]:
                found = (score, event, swapped)
    if found is None:
        raise ValueError("there is nothing to count")
    return found[1], found[2]


def _features(first: Outputs, second: Outputs) -> list[tuple[str, Callable[[Outputs], npt.NDArray[np.float64]]]]:
    """Numbers to look at: the output itself, or the coordinates of a vector and their sum."""
    sample = next((output for output in (*first, *second) if not isinstance(output, Failure)), None)
    if isinstance(sample, bool | np.bool_ | str | None):
        return []
    if isinstance(sample, int | float | np.number):
        return [("the output", _numbers)]
    if not isinstance(sample, tuple | list | np.ndarray):
        return []
    found = [
        (f"coordinate {place}", _remembered(_coordinate(place)))
        for place, entry in enumerate(sample[:COORDINATES])
        if _is_number(entry)
    ]
    if all(_is_number(entry) for entry in sample):
        found.append(("the sum", _remembered(lambda outputs: _numbers([_sum(output) for output in outputs]))))
    return found


def _remembered(feature: Callable[[Outputs], npt.NDArray[np.float64]]) -> Callable[[Outputs], npt.NDArray[np.float64]]:
    """Computed once for each of the last few samples: many events look at the same feature."""
    known: list[tuple[Outputs, npt.NDArray[np.float64]]] = []

    def found(outputs: Outputs) -> npt.NDArray[np.float64]:
        for seen, values in known:
            if seen is outputs:
                return values
        values = feature(outputs)
        known.append((outputs, values))
        del known[:-2]
        return values

    return found


def _sets(first: Outputs, second: Outputs) -> Iterator[Event]:
    """The sets of outputs that are likelier on one side by more than some factor."""
    counts = [Counter(_key(output) for output in side) for side in (first, second)]
    seen = counts[0].keys() | counts[1].keys()
    numeric = all(_is_number(key) for key in seen)
    if len(seen) > (MOST_NUMBERS if numeric else MOST_VALUES):
        return
    loss = {
        key: log((counts[0][key] + 0.5) / (len(first) + 1)) - log((counts[1][key] + 0.5) / (len(second) + 1))
        for key in seen
    }
    ranked = sorted(seen, key=lambda key: loss[key])
    for size in sorted({*range(1, min(9, len(ranked))), *(int(len(ranked) * share) for share in (0.1, 0.25, 0.5))}):
        for chosen in (ranked[:size], ranked[-size:]):
            if chosen:
                members = frozenset(chosen)
                shown = ", ".join(sorted(map(str, chosen))[:3]) + (", …" if len(chosen) > 3 else "")
                yield Event(f"the output is in {{{shown}}}", _member(members))


def _member(members: frozenset[Any]) -> Callable[[Outputs], Mask]:
    def holds(outputs: Outputs) -> Mask:
        if isinstance(outputs, np.ndarray) and outputs.dtype != object:
            return np.isin(outputs, list(members))
        return np.array([_key(output) in members for output in outputs], dtype=bool)

    return holds


def _at_most(feature: Callable[[Outputs], npt.NDArray[np.float64]], threshold: float) -> Callable[[Outputs], Mask]:
    return lambda outputs: np.asarray(feature(outputs) <= threshold)


def _above(feature: Callable[[Outputs], npt.NDArray[np.float64]], threshold: float) -> Callable[[Outputs], Mask]:
    return lambda outputs: np.asarray(feature(outputs) > threshold)


def _multiple(feature: Callable[[Outputs], npt.NDArray[np.float64]], power: int) -> Callable[[Outputs], Mask]:
    def holds(outputs: Outputs) -> Mask:
        with np.errstate(over="ignore", invalid="ignore"):
            scaled = np.ldexp(feature(outputs), -power)
            return np.asarray(scaled == np.floor(scaled))

    return holds


def _not_finite(feature: Callable[[Outputs], npt.NDArray[np.float64]]) -> Callable[[Outputs], Mask]:
    return lambda outputs: np.asarray(~np.isfinite(feature(outputs)))


def _not(holds: Callable[[Outputs], Mask]) -> Callable[[Outputs], Mask]:
    return lambda outputs: ~holds(outputs)


def _coordinate(place: int) -> Callable[[Outputs], npt.NDArray[np.float64]]:
    def feature(outputs: Outputs) -> npt.NDArray[np.float64]:
        return _numbers(
            [output[place] if not isinstance(output, Failure) and len(output) > place else np.nan for output in outputs]
        )

    return feature


def _sum(output: Any) -> float:
    return np.nan if isinstance(output, Failure) else sum(float(one) if _is_number(one) else np.nan for one in output)


def _numbers(outputs: Outputs) -> npt.NDArray[np.float64]:
    if isinstance(outputs, np.ndarray) and outputs.dtype != object:
        return outputs.astype(np.float64)
    return np.array([float(output) if _is_number(output) else np.nan for output in outputs], dtype=np.float64)


def _is_number(output: Any) -> bool:
    return isinstance(output, int | float | np.number | np.bool_)


def _key(output: Any) -> Any:
    if isinstance(output, np.ndarray):
        return tuple(output.tolist())
    return tuple(output) if isinstance(output, list) else output
