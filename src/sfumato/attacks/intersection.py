"""Intersection: two releases about the same people, each k-anonymous, together are not."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from sfumato.attacks.cover import Hierarchies
from sfumato.attacks.diversity import PRESENT, Located, located, narrowed, told
from sfumato.attacks.groups import Floats
from sfumato.attacks.result import AttackResult


def intersection(
    first: object,
    second: object,
    quasi: Sequence[str],
    sensitive: str,
    *,
    persons: object,
    second_quasi: Sequence[str] | None = None,
    weight: str | None = None,
    hierarchies: Hierarchies | None = None,
    epsilon: float | None = None,
    delta: float = 0.0,
) -> AttackResult[dict[str, Any]]:
    """Keep for each person the sensitive values that both releases allow (Ganta, Kasiviswanathan, Smith 2008).

    first, second: releases about the same persons with the same sensitive column, e.g. by two hospitals, or two
    generalisations of one table. persons: who is attacked, as in `homogeneity`. second_quasi: the quasi-identifiers of
    the second release, if they are others. epsilon, delta: what both releases cost together.

    success: the share of the persons for whom exactly one value is left, and the right one.
    measures: "first_alone" and "second_alone", the same share for one release by itself.
    """
    one = located(first, quasi, sensitive, persons=persons, weight=weight, hierarchies=hierarchies)
    other = located(second, second_quasi or quasi, sensitive, persons=persons, weight=weight, hierarchies=hierarchies)
    # Kinds of the two releases differ where their quasi-identifiers do; together they are one kind a pair.
    pairs, kind = np.unique(np.stack([one.kind, other.kind], axis=1), axis=0, return_inverse=True)
    values = one.values + [value for value in other.values if value not in one.values]
    both = Located(
        one.heads.take(pairs[:, 0].astype(np.int64)),
        np.minimum(_aligned(one, values)[pairs[:, 0]], _aligned(other, values)[pairs[:, 1]]),
        values,
        kind.reshape(-1).astype(np.int64),
        one.secret,
    )
    alone = {
        name: float(np.mean(narrowed(side.counts >= PRESENT, side, 0) == side.secret))
        for name, side in (("first_alone", one), ("second_alone", other))
    }
    guess = narrowed(both.counts >= PRESENT, both, 0)
    return told("intersection", both, guess, sensitive, epsilon=epsilon, delta=delta, measures=alone)


def _aligned(side: Located, values: list[Any]) -> Floats:
    """The counts with one column for each of the values, in their order."""
    counts = np.zeros((side.counts.shape[0], len(values)))
    for column, value in enumerate(side.values):
        counts[:, values.index(value)] = side.counts[:, column]
    return counts
