"""Tracker: a desk refuses small groups, so the attacker pads hers with a crowd and takes the crowd away again."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, SupportsFloat

import numpy as np

from sfumato.attacks.finite import number_of
from sfumato.attacks.result import AttackResult
from sfumato.attacks.secrets import judged, nearest, possible_values, true_values
from sfumato.attacks.wordings import nothing_to_attack, one_text
from sfumato.errors import BudgetExceeded


def tracker(
    ask: Callable[[str], SupportsFloat],
    targets: Sequence[str],
    *,
    padding: str,
    truth: Iterable[Any] | None = None,
    candidates: Sequence[float] = (0, 1),
    epsilon: float | None = None,
    delta: float = 0.0,
) -> AttackResult[float]:
    """Answer refused questions from questions that are not refused (Denning, Denning, Schwartz 1979).

    ask: turns a condition into the count or sum of the rows that meet it, e.g. `table_desk(table, minimum=5)`.
    targets: conditions that pick one person each, with the secret, e.g. "zip = '69901' AND age = 41 AND sick = 1".
    padding: a condition that holds for at least twice the minimum and at most all but twice the minimum of the rows; no
    row may leave it undecided (NULL).
    epsilon, delta: what the four answers behind one guess cost together.

    Claim: with exact answers count(T) = count(T or P) + count(T or not P) - count(P) - count(not P), for any T; so no
    minimum size protects anybody.
    recovered: a guess for each target, the nearest of `candidates`. chance: the share of the most common answer.
    """
    if isinstance(targets, str):
        raise one_text("targets", targets)
    if not targets:
        raise nothing_to_attack("target")
    values, answers = possible_values(candidates), true_values(truth, len(targets))
    found: list[float] = []
    try:
        everybody = number_of(ask(f"({padding})")) + number_of(ask(f"NOT ({padding})"))
        for target in targets:
            padded = number_of(ask(f"({target}) OR ({padding})")) + number_of(ask(f"({target}) OR NOT ({padding})"))
            found.append(padded - everybody)
    except BudgetExceeded:
        pass
    return judged(
        "tracker",
        nearest(np.array(found, dtype=np.float64), values),
        truth=answers,
        values=values,
        epsilon=epsilon,
        delta=delta,
    )
