"""Secrets of a few possible values: estimates become guesses, guesses are counted."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.attacks.finite import finite
from sfumato.attacks.promise import most_hits
from sfumato.attacks.result import AttackResult
from sfumato.attacks.wordings import lengths_differ, too_few_candidates

Floats = NDArray[np.float64]


def possible_values(candidates: Sequence[float]) -> Floats:
    """The candidates in rising order; an estimate becomes the nearest of them."""
    values = np.unique(np.array([finite("candidates", value) for value in candidates], dtype=np.float64))
    if len(values) < 2:
        raise too_few_candidates()
    return values


def nearest(estimates: Floats, values: Floats) -> Floats:
    return np.asarray(values[np.abs(estimates[:, None] - values[None, :]).argmin(axis=1)], dtype=np.float64)


def true_values(truth: Iterable[Any] | None, wanted: int) -> Floats | None:
    if truth is None:
        return None
    values = np.array([finite("truth", _plain(value)) for value in truth], dtype=np.float64)
    if len(values) != wanted:
        raise lengths_differ("truth", len(values), wanted)
    return values


def most_common_share(values: Floats) -> float:
    """What the best constant guess hits."""
    return float(np.unique(values, return_counts=True)[1].max() / len(values)) if len(values) else 0.0


def judged(
    name: str,
    guesses: Floats,
    *,
    truth: Floats | None,
    values: Floats,
    epsilon: float | None,
    delta: float,
    measures: Mapping[str, float] | None = None,
) -> AttackResult[float]:
    """The guesses beside the truth of the same persons, chance being the most common value among them."""
    known = truth is not None and len(guesses) > 0
    success = float(np.mean(guesses == truth[: len(guesses)])) if truth is not None and known else 0.0
    chance = most_common_share(truth) if truth is not None and len(truth) else 1 / len(values)
    return AttackResult(
        name=name,
        recovered=guesses.tolist(),
        success=math.nan if truth is None else success,
        chance=chance,
        bound=most_hits(chance, epsilon, delta),
        attempts=len(guesses),
        measures=measures or {},
    )


def _plain(value: Any) -> Any:
    """True and False are 1 and 0; NumPy's and Arrow's numbers are numbers."""
    value = value.as_py() if hasattr(value, "as_py") else value
    return int(value) if isinstance(value, bool | np.bool_) else value
