"""Why draws do not follow their law: the mistake that explains them, with the factor or the shift that shows it."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from sfumato.labs.laws import Array, Every, Scaled, Test
from sfumato.labs.verdict import StudentError, Value

_PLAIN = 0.01  # a scale that nobody named must fit better than one that is near by chance
_TWINS = ("swapped_eps_delta", "variance_for_scale")  # codes that have other words when the noise is too large


def cause_of(draws: Array, test: Test, causes: Mapping[str, Any], false_alarm: float) -> tuple[str, dict[str, Value]]:
    """The code and values of the mistake; `law_differs` when none explains the draws."""
    fallback = "law_differs"
    if isinstance(test, Every):
        fallback, test = test.worst(draws)
    if not _varies(draws):
        return "not_random", {}
    fitting = [(p, code, law) for code, law, p in _tested(draws, test, causes) if p > false_alarm]
    if fitting:
        _, code, law = max(fitting, key=lambda one: one[0])
        return _with_factor(code, test, law)
    if isinstance(test, Scaled):
        return _of_scale(draws, test, false_alarm)
    return fallback, {}


def _varies(draws: Array) -> bool:
    rows = draws.reshape(len(draws), -1)
    return bool(np.any(rows != rows[0]))


def _tested(draws: Array, test: Test, causes: Mapping[str, Any]) -> list[tuple[str, Test, float]]:
    """Every named law, or named scale of the same law, with the p-value of the draws."""
    tested = []
    for code, given in causes.items():
        law = given if callable(given) else test.with_scale(given) if isinstance(test, Scaled) else None
        if law is None:
            raise TypeError(f"the cause {code} needs a law")
        try:
            tested.append((code, law, law(draws)))
        except StudentError:
            continue
    return tested


def _with_factor(code: str, test: Test, law: Test) -> tuple[str, dict[str, Value]]:
    if not isinstance(test, Scaled) or not isinstance(law, Scaled):
        return code, {}
    factor = float(np.mean(law.scale / test.scale))
    return (f"{code}_large" if code in _TWINS and factor > 1 else code), {"factor": factor_shown(factor)}


def factor_shown(factor: float) -> float | int:
    """How many times too small or too large, three digits: 131, 2.05."""
    size = max(factor, 1 / factor) if factor > 0 else 1.0
    return round(size) if size >= 100 else float(f"{size:.3g}")


def _of_scale(draws: Array, test: Scaled, false_alarm: float) -> tuple[str, dict[str, Value]]:
    """One noise for all coordinates, one side only, a wrong scale, a shift: tried in this order."""
    made, loc, scale = test.columns(draws)
    noise = test.noise(draws)
    if noise.shape[1] > 1 and np.allclose((made - loc).std(axis=1), 0, atol=1e-9 * float(scale.max())):
        return "correlated", {}
    if test.family.symmetric and (noise.min() >= 0 or noise.max() <= 0):
        return "one_sided", {}
    for other in (scale**2, np.sqrt(scale)):
        if test.with_scale(other)(draws) > _PLAIN:
            return _with_factor("variance_for_scale", test, test.with_scale(other))
    low, high = np.quantile(noise, (0.25, 0.75))  # quartiles, which no long tail moves
    factor = float(high - low) / 2 / test.family.half_quartile
    if factor > 0 and test.with_scale(factor * scale)(draws) > false_alarm / 1000:
        return "scale_too_small" if factor < 1 else "scale_too_large", {"factor": factor_shown(factor)}
    shift = np.median(noise, axis=0) * scale
    if test.family.symmetric and test(made - shift) > false_alarm / 1000:
        return "biased", {"shift": float(f"{shift[np.argmax(np.abs(shift / scale))]:.3g}")}
    return "law_differs", {}
