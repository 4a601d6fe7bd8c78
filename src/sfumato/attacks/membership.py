"""Membership: published means of many columns tell whether a person was among those averaged."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sfumato.attacks.promise import most_hits
from sfumato.attacks.result import AttackResult
from sfumato.attacks.secrets import Floats, true_values
from sfumato.attacks.wordings import lengths_differ, one_kind_only

# Nobody having a fact, or everybody, tells as much as a mean this far away from it.
LEAST = 1e-9


def membership(
    published: Sequence[float] | ArrayLike,
    targets: ArrayLike,
    reference: Sequence[float] | ArrayLike,
    *,
    truth: Iterable[Any] | None = None,
    epsilon: float | None = None,
    delta: float = 0.0,
) -> AttackResult[float]:
    """Score each target by how far it leans to the published means (Homer et al. 2008; Dwork et al. 2015).

    published: the means. targets: one row per person, one column per mean. reference: the means of all people.
    truth: whether each target is among those averaged. epsilon, delta: what all the means cost together.

    recovered: the scores. Where all means and references are shares of yes-or-no facts: how much likelier the means are
    if the target is in them, in logarithms; no score tells better in or out of one person from exact means (Neyman,
    Pearson). Elsewhere, as under noise: the sum of (x - reference) (published - reference), each over the variance of
    such a fact where all references are shares. success: the share of the pairs of a member and an outsider in
    which the member has the higher score (the area under the ROC curve). chance: one half.
    bound: `most_hits(1/2, epsilon, delta)`; docs/proofs/attack-bounds.md. attempts: the pairs.
    measures: "tosses", how many fair coins spread as the area does by chance: far fewer than there are pairs.
    """
    means, usual = np.asarray(published, dtype=np.float64), np.asarray(reference, dtype=np.float64)
    rows = np.asarray(targets, dtype=np.float64)
    rows = rows[None, :] if rows.ndim == 1 else rows
    for what, found in (("published", means.size), ("reference", usual.size)):
        if found != rows.shape[1]:
            raise lengths_differ(what, found, rows.shape[1])
    scores = _scores(rows, means, usual)
    inside = true_values(truth, len(rows))
    bound = most_hits(0.5, epsilon, delta)
    if inside is None:
        return AttackResult("membership", scores.tolist(), math.nan, 0.5, bound, len(scores))
    members, outsiders = scores[inside > 0], scores[inside <= 0]
    if not len(members) or not len(outsiders):
        raise one_kind_only()
    ordered = np.sort(outsiders)
    below, upto = np.searchsorted(ordered, members), np.searchsorted(ordered, members, side="right")
    area = float((below + upto).mean() / (2 * len(outsiders)))
    pairs = len(members) * len(outsiders)
    return AttackResult(
        "membership",
        scores.tolist(),
        area,
        0.5,
        bound,
        pairs,
        # The area of scores that say nothing has the variance (1/members + 1/outsiders + 1/pairs) / 12.
        {"members": float(len(members)), "tosses": 3 * pairs / (len(members) + len(outsiders) + 1)},
    )


def _scores(rows: Floats, means: Floats, usual: Floats) -> Floats:
    shares = bool(((usual > 0) & (usual < 1)).all())
    if shares and ((means >= 0) & (means <= 1)).all() and ((rows == 0) | (rows == 1)).all():
        # Of n people c have the fact. Pr[c | she has it] / Pr[c] = c / (n p), and (n - c) / (n - n p) if she has not.
        inner = np.clip(means, LEAST, 1 - LEAST)
        have, lack = np.log(inner / usual), np.log((1 - inner) / (1 - usual))
        return np.asarray(rows @ (have - lack) + lack.sum(), dtype=np.float64)
    # Facts that nearly everybody or nearly nobody shares vary little, so a small step there says much.
    variance = usual * (1 - usual) if shares else np.ones_like(usual)
    return np.asarray((rows - usual) @ ((means - usual) / variance), dtype=np.float64)
