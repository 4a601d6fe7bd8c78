"""Audit a learner with one run of it: planted records, each used or left out by a fair coin, and guesses which.

Steinke, Nasr, Jagielski: Privacy auditing with one (1) training run, 2023 [arXiv:2305.08846].
"""

from collections.abc import Sequence
from math import exp
from typing import Any

import numpy as np
from scipy import special

from sfumato.audit.findings import Finding
from sfumato.errors import UsageError, out_of_range
from sfumato.schema.numbers import exact_positive

HIGHEST = 100.0
SHOWN = 0.05


def one_run(
    scores: Sequence[float],
    included: Sequence[bool],
    *,
    claimed_epsilon: float,
    claimed_delta: float = 0.0,
    guesses: int | None = None,
    error: float = 1e-3,
    name: str = "learner",
) -> Finding:
    """Audit one run of a learner that was given some of the planted records.

    `included[i]` is the fair coin that decided whether record i was used, `scores[i]` how much the result looks as if
    it was (e.g. minus its loss). The `guesses` most extreme scores are guessed, half as used and half as left out; all
    by default. Decide on the number before you see the scores.

    Claim: for a learner that keeps (ε, δ) the verdict is wrong with probability at most `error`. With δ > 0 it cannot
    be much smaller than twice the number of planted records times δ.
    """
    epsilon = float(exact_positive(claimed_epsilon, "claimed_epsilon"))
    if not 0 <= claimed_delta < 1:
        raise out_of_range("claimed_delta", "0", "1", str(claimed_delta))
    if not 0 < error < 1:
        raise out_of_range("error", "0", "1", str(error))
    values, coins = np.asarray(scores, dtype=np.float64), np.asarray(included)
    planted = len(values)
    if coins.dtype != bool or coins.shape != values.shape or values.ndim != 1 or not np.isfinite(values).all():
        raise UsageError(
            "scores are finite numbers and included as many True or False.", "Give one of each a planted record."
        )
    made = planted if guesses is None else guesses
    if not isinstance(made, int) or not 1 <= made <= planted:
        raise out_of_range("guesses", "1", str(planted), str(guesses))
    order = np.argsort(values, kind="stable")
    as_left_out, as_used = order[: made // 2], order[planted - (made - made // 2) :]
    correct = int((~coins[as_left_out]).sum() + coins[as_used].sum())
    shown = epsilon_from_guesses(planted, made, correct, delta=claimed_delta, error=SHOWN)
    proved = epsilon_from_guesses(planted, made, correct, delta=claimed_delta, error=error)
    return Finding(
        name,
        "canaries",
        epsilon,
        shown,
        proved > epsilon,
        f"{correct:,} of {made:,} guesses right, {planted:,} planted",
        made,
        claimed_delta,
    )


def epsilon_from_guesses(
    planted: int, guesses: int, correct: int, *, delta: float = 0.0, error: float = SHOWN
) -> float:
    """The ε that so many correct guesses prove at least, except with probability `error`."""
    if chance_of(planted, guesses, correct, 0.0, delta) > error:
        return 0.0
    low, high = 0.0, HIGHEST
    if chance_of(planted, guesses, correct, high, delta) <= error:
        return HIGHEST
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if chance_of(planted, guesses, correct, middle, delta) <= error else (low, middle)
    return low


def chance_of(planted: int, guesses: int, correct: int, epsilon: float, delta: float) -> float:
    """At most so likely are that many correct guesses under (ε, δ): P[Bin ≥ v] + 2mδ max_i P[v > Bin ≥ v - i] / i."""
    right = 1 / (1 + exp(-epsilon))
    tail = float(_at_least(correct, guesses, right))
    if not delta or not correct:
        return tail
    steps = np.arange(1, correct + 1)
    below: Any = _at_least(correct - steps, guesses, right) - tail
    return min(1.0, tail + 2 * planted * delta * float(np.max(below / steps)))


def _at_least(count: Any, draws: int, chance: float) -> Any:
    """P[Bin(draws, chance) ≥ count]."""
    return np.where(np.asarray(count) <= 0, 1.0, special.bdtrc(np.maximum(np.asarray(count) - 1, 0), draws, chance))[()]
