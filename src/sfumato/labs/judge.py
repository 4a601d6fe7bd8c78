"""Judges: exact numbers, laws of draws, privacy by attack. What they say of right answers is wrong once in a million.

A law fails an answer only if two draws with different seeds both do, each at one in a million. The seeds come from the
student's seed and the task, so that what passes at home passes at the teacher's.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from sfumato.labs.causes import cause_of, factor_shown
from sfumato.labs.laws import Array, Scaled, Test, numbers
from sfumato.labs.privacy import epsilon_of
from sfumato.labs.verdict import PASSED, Value, Verdict

FALSE_ALARM = 1e-6
_WATCHED: ContextVar[list["Seen"] | None] = ContextVar("what judges saw", default=None)
_SEED: ContextVar[int] = ContextVar("seed of the judges", default=20260)


@dataclass(frozen=True)
class Seen:
    """What a judge looked at, for a picture: draws with their law, a value, or draws on two neighbours."""

    kind: Literal["law", "value", "pair", "draws"]
    draws: Any
    law: Any = None


@contextmanager
def watched() -> Iterator[list[Seen]]:
    """Collects what the judges inside see."""
    seen: list[Seen] = []
    token = _WATCHED.set(seen)
    try:
        yield seen
    finally:
        _WATCHED.reset(token)


def _saw(kind: Literal["law", "value", "pair", "draws"], draws: Any, law: Any = None) -> None:
    seen = _WATCHED.get()
    if seen is not None:
        seen.append(Seen(kind, draws, law))


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Judges inside draw with seeds made from this one; the runner of checks sets it for student and task."""
    token = _SEED.set(seed)
    try:
        yield
    finally:
        _SEED.reset(token)


def seeds() -> tuple[int, int]:
    """The seeds of the first draw and of the second, which only a failure needs."""
    return 2 * _SEED.get(), 2 * _SEED.get() + 1


def all_of(*verdicts: Verdict | Callable[[], Verdict]) -> Verdict:
    """The first that fails; else the one with the smallest p-value. A function is asked only if all before passed."""
    tested = list[Verdict]()
    for each in verdicts:
        verdict = each() if callable(each) else each
        if not verdict.passed:
            return verdict
        if verdict.p is not None:
            tested.append(verdict)
    return min(tested, key=lambda verdict: verdict.p or 0.0) if tested else PASSED


def exact(
    got: Any, expected: Any, rel: float = 1e-9, *, absolute: float = 1e-12, causes: Mapping[str, Any] | None = None
) -> Verdict:
    """Numbers, texts, lists, arrays, dictionaries that must agree; `causes` names what a known mistake gives."""
    if got is None and expected is not None:
        return Verdict(False, "returned_nothing")
    _saw("value", got)
    misfit = _misfit(got, expected)
    if misfit is not None and not _any_cause(got, causes, rel, absolute):
        return misfit
    if misfit is None and _equal(got, expected, rel, absolute):
        return PASSED
    named = _any_cause(got, causes, rel, absolute)
    return Verdict(False, named or "wrong_number", {"got": shown(got)})


def _any_cause(got: Any, causes: Mapping[str, Any] | None, rel: float, absolute: float) -> str:
    for code, value in (causes or {}).items():
        if _misfit(got, value) is None and _equal(got, value, rel, absolute):
            return code
    return ""


def shown(value: Any) -> Value:
    """A value for the words of a verdict: a number as it is, all else as short text."""
    if isinstance(value, bool):
        return str(value)
    return value if isinstance(value, int | float) else repr(value)[:80]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | bool | np.number | np.bool_) or (
        isinstance(value, np.ndarray) and value.ndim == 0
    )


def _misfit(got: Any, expected: Any) -> Verdict | None:
    """A verdict when the shapes differ so much that no comparison makes sense."""
    wrong = Verdict(False, "wrong_type", {"got": type(got).__name__, "expected": type(expected).__name__})
    match expected:
        case bool() | str() | None:
            fits = type(got) is type(expected) or (isinstance(expected, bool) and _is_number(got))
            return None if fits else wrong
        case Mapping():
            if not isinstance(got, Mapping):
                return wrong
            same = set(got) == set(expected)
            return None if same else Verdict(False, "wrong_shape", {"got": len(got), "expected": len(expected)})
        case list() | tuple() | np.ndarray() if not _is_number(expected):
            if not isinstance(got, list | tuple | np.ndarray) or _is_number(got):
                return wrong
            same = len(got) == len(expected)
            return None if same else Verdict(False, "wrong_shape", {"got": len(got), "expected": len(expected)})
    return None if _is_number(got) else wrong


def _equal(got: Any, expected: Any, rel: float, absolute: float) -> bool:
    match expected:
        case str() | None:
            return bool(got == expected)
        case Mapping():
            return all(_fits(got[key], one, rel, absolute) for key, one in expected.items())
        case list() | tuple() | np.ndarray() if not _is_number(expected):
            return all(_fits(one, other, rel, absolute) for one, other in zip(got, expected, strict=True))
    one, other = float(got), float(expected)
    if np.isnan(other) or np.isinf(other):
        return one == other or (np.isnan(one) and np.isnan(other))
    return abs(one - other) <= max(absolute, rel * abs(other))


def _fits(got: Any, expected: Any, rel: float, absolute: float) -> bool:
    return _misfit(got, expected) is None and _equal(got, expected, rel, absolute)


def between(got: Any, low: float, high: float, code: str = "outside_range") -> Verdict:
    """One number, or numbers, all of which lie between low and high."""
    if got is None:
        return Verdict(False, "returned_nothing")
    made = numbers(np.asarray(got))
    if np.all((made >= low) & (made <= high)):
        return PASSED
    stray = made.ravel()[np.argmax(np.maximum(low - made, made - high).ravel())]
    return Verdict(False, code, {"got": float(stray), "low": low, "high": high, "expected": f"{low:g} … {high:g}"})


def law(
    draw: Callable[[int], Array],
    test: Test,
    causes: Mapping[str, Any] | None = None,
    recorded: Callable[[int], Sequence[tuple[str, float, float]]] | None = None,
) -> Verdict:
    """Draws against a law; `causes` names other laws, or other scales of the same law, that a known mistake gives.

    `recorded` (a seed -> what the generator was asked) adds the scale that was asked for to what a failure says.

    Claim: an answer that follows the law fails with probability at most 1e-6 (in truth at most its square, where the
    two draws are independent).
    """
    first, second = seeds()
    sample = draw(first)
    _saw("law", sample, test)
    p = test(sample)
    if p > FALSE_ALARM:
        return Verdict(True, "passed", p=p)
    again = draw(second)
    repeated = test(again)
    if repeated > FALSE_ALARM:
        return Verdict(True, "passed", p=repeated)
    code, values = cause_of(again, test, causes or {}, FALSE_ALARM)
    if recorded is not None:
        values |= _asked(recorded(second), test)
    return Verdict(False, code, values, max(p, repeated))


def _asked(calls: Sequence[tuple[str, float, float]], test: Test) -> dict[str, Value]:
    """Tier 1, a hint: the first scale that was asked of the generator, beside the one that the law has."""
    if not calls or not isinstance(test, Scaled) or np.ptp(test.scale) > 0:
        return {}
    method, _, scale = calls[0]
    if abs(scale - float(test.scale.flat[0])) <= 1e-6 * abs(scale):
        return {}
    return {"method": method, "asked": float(f"{scale:.4g}"), "wanted": float(f"{float(test.scale.flat[0]):.4g}")}


def repeatable(draw: Callable[[int], Array]) -> Verdict:
    """The same seed must give the same draws: who uses another generator than `rng` fails."""
    first, _ = seeds()
    return PASSED if np.array_equal(draw(first), draw(first)) else Verdict(False, "not_repeatable")


def audit(
    first: Callable[[int], Array],
    second: Callable[[int], Array],
    epsilon: float,
    *,
    delta: float = 0.0,
) -> Verdict:
    """Draws (20 000 or so) on two neighbouring tables: fails if an attack proves more than epsilon, twice.

    Claim: an answer that is (epsilon, delta)-private fails with probability at most 1e-6.
    Proof: the event is chosen on half of the draws and its probabilities bounded (Clopper, Pearson) on the other half.
    """
    shown_twice = []
    for seed in seeds():
        one, other = first(4 * seed), second(4 * seed + 2)
        _saw("pair", (one, other))
        found = epsilon_of(one, other, FALSE_ALARM, delta)
        if found <= epsilon:
            return PASSED
        shown_twice.append(found)
    return Verdict(False, "not_private", {"epsilon": round(min(shown_twice), 2), "claimed": epsilon})


def error(draw: Callable[[int], Array], truth: Any, at_most: float) -> Verdict:
    """The mean absolute error must be at most this; else "return 0" would be perfectly private.

    Claim: an answer whose mean error is at most `at_most` fails with probability at most 1e-6 (six standard errors).
    """
    measured = []
    for seed in seeds():
        drawn = numbers(draw(seed))
        _saw("draws", drawn)
        gaps = np.abs(drawn - np.asarray(truth))
        gaps = gaps.reshape(len(gaps), -1).mean(axis=1)
        if gaps.mean() - 6 * gaps.std(ddof=1) / np.sqrt(len(gaps)) <= at_most:
            return PASSED
        measured.append(float(gaps.mean()))
    found = min(measured)
    return Verdict(False, "too_noisy", {"factor": factor_shown(found / at_most), "got": found, "expected": at_most})
