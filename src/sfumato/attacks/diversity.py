"""Homogeneity, background knowledge and skewness: what a class says about everybody in it, though nobody is named."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.attacks.cover import Hierarchies, covering
from sfumato.attacks.groups import Floats, Integers, classes, combined, sensitive_codes
from sfumato.attacks.promise import most_hits
from sfumato.attacks.result import AttackResult
from sfumato.attacks.tabular import as_arrow, need_column
from sfumato.attacks.wordings import nobody_located
from sfumato.schema.numbers import whole

# A count at least this large says that somebody is there.
PRESENT = 0.5


@dataclass(frozen=True, slots=True)
class Located:
    """For each kind of person: what the release says about the sensitive values of whoever fits.

    heads: one row per kind. counts: kinds x values. kind: of each person. secret: each person's value, a column of
    counts.
    """

    heads: pa.Table
    counts: Floats
    values: list[Any]
    kind: Integers
    secret: Integers

    @property
    def usual(self) -> int:
        """The most common value among the persons: the best guess without the release."""
        return int(np.bincount(self.secret).argmax())

    def from_others(self, rule_out: int = 0) -> float:
        """What the most common values of each kind hit: at least what anybody can learn from other people's records."""
        pairs = np.zeros((self.counts.shape[0], len(self.values)))
        np.add.at(pairs, (self.kind, self.secret), 1)
        return float(np.sort(pairs, axis=1)[:, -1 - rule_out :].sum() / len(self.secret))


def homogeneity(
    released: object,
    quasi: Sequence[str],
    sensitive: str,
    *,
    persons: object | None = None,
    weight: str | None = None,
    hierarchies: Hierarchies | None = None,
    epsilon: float | None = None,
    delta: float = 0.0,
) -> AttackResult[dict[str, Any]]:
    """Find the classes in which everybody has the same sensitive value: whoever is in one has no secret.

    released: a table of records, or of counts (noisy ones too) in the column `weight`.
    persons: who is attacked, with their own values in `quasi` and their true value in `sensitive`; the released records
    themselves when left out. hierarchies: as in k-anonymity, to see which class a person is in; intervals, `*`,
    `699**` and `{a, b}` are understood without.

    recovered: the class, the value and how many persons it gives away. success: the share of the persons given away,
    and rightly. chance: the share that the most common value of all hits for the same persons.
    bound: from what the other people of a class say about a person; docs/proofs/attack-bounds.md.
    """
    return _disclosed("homogeneity", released, quasi, sensitive, persons, weight, hierarchies, epsilon, delta, 0)


def background_knowledge(
    released: object,
    quasi: Sequence[str],
    sensitive: str,
    *,
    rule_out: int = 1,
    persons: object | None = None,
    weight: str | None = None,
    hierarchies: Hierarchies | None = None,
    epsilon: float | None = None,
    delta: float = 0.0,
) -> AttackResult[dict[str, Any]]:
    """Homogeneity for an attacker who can rule out so many wrong values of each person: "she is no drinker".

    recovered, success, chance, bound: as in `homogeneity`, except that chance is told the same: the attacker without
    the release, having ruled out as many of the most common wrong values, names the most common of the rest.
    """
    less = whole(rule_out, "rule_out", least=0)
    return _disclosed(
        "background_knowledge", released, quasi, sensitive, persons, weight, hierarchies, epsilon, delta, less
    )


def skewness(
    released: object,
    quasi: Sequence[str],
    sensitive: str,
    *,
    persons: object | None = None,
    weight: str | None = None,
    hierarchies: Hierarchies | None = None,
    epsilon: float | None = None,
    delta: float = 0.0,
) -> AttackResult[dict[str, Any]]:
    """Guess for everybody the most common value of the class: l values do not help where one outweighs the rest.

    recovered: for each class its most common value, its share in the release (`prior`) and in the class (`posterior`).
    success: the share of the persons guessed rightly. chance: the share of the most common value of all.
    measures: "largest_gain", the largest factor by which a class raises the belief in one of its values.
    """
    found = located(released, quasi, sensitive, persons=persons, weight=weight, hierarchies=hierarchies)
    positive = np.maximum(found.counts, 0)
    totals = positive.sum(axis=1, keepdims=True)
    share = positive / np.where(totals > 0, totals, 1)
    overall = positive.sum(axis=0) / max(positive.sum(), 1e-300)
    guess = np.where(totals[:, 0] > 0, share.argmax(axis=1), found.usual)
    gain = np.where(share > 0, share / np.where(overall > 0, overall, 1), 0.0)
    chance = float(np.mean(found.secret == found.usual))
    return AttackResult(
        name="skewness",
        recovered=[
            head
            | {sensitive: found.values[value], "prior": float(overall[value]), "posterior": float(share[kind, value])}
            for kind, (head, value) in enumerate(zip(found.heads.to_pylist(), guess.tolist(), strict=True))
        ],
        success=float(np.mean(guess[found.kind] == found.secret)),
        chance=chance,
        bound=most_hits(max(chance, found.from_others()), epsilon, delta),
        attempts=len(found.secret),
        measures={"largest_gain": float(gain.max())},
    )


def located(
    released: object,
    quasi: Sequence[str],
    sensitive: str,
    *,
    persons: object | None,
    weight: str | None,
    hierarchies: Hierarchies | None,
) -> Located:
    """What the release says about each person attacked."""
    known = classes(released, quasi, sensitive, weight)
    if persons is None:
        return Located(known.heads, known.weights, known.values, known.of_row, known.value_of_row)
    people = as_arrow(persons, "persons")
    need_column(people, "persons", sensitive)
    for name in quasi:
        need_column(people, "persons", name)
    kind = combined(people, quasi)
    kinds = people.take(np.unique(kind, return_index=True)[1].astype(np.int64))
    fits = covering(known.heads, kinds, quasi, hierarchies)
    if not fits.any():
        raise nobody_located()
    secret, values = sensitive_codes(people[sensitive], known.values)
    counts = fits.astype(np.float64) @ known.weights
    return Located(kinds.select(list(quasi)), _widened(counts, len(values)), values, kind, secret)


def _widened(counts: Floats, width: int) -> Floats:
    return np.pad(counts, ((0, 0), (0, width - counts.shape[1])))


def _disclosed(
    name: str,
    released: object,
    quasi: Sequence[str],
    sensitive: str,
    persons: object | None,
    weight: str | None,
    hierarchies: Hierarchies | None,
    epsilon: float | None,
    delta: float,
    rule_out: int,
) -> AttackResult[dict[str, Any]]:
    found = located(released, quasi, sensitive, persons=persons, weight=weight, hierarchies=hierarchies)
    guess = narrowed(found.counts >= PRESENT, found, rule_out)
    return told(name, found, guess, sensitive, epsilon=epsilon, delta=delta, rule_out=rule_out)


def narrowed(present: NDArray[np.bool_], found: Located, rule_out: int) -> Integers:
    """For each person the one value left of those present in the class, `rule_out` wrong ones crossed out; else -1."""
    mine = present[found.kind]
    own = mine[np.arange(len(found.secret)), found.secret]
    others = mine.sum(axis=1) - own
    if rule_out == 0:
        return np.where(mine.sum(axis=1) == 1, mine.argmax(axis=1), -1).astype(np.int64)
    # Wrong values are crossed out, never the right one: what is left is one value exactly where few enough were there.
    alone = np.where(own & (others <= rule_out), found.secret, -1)
    wrong = np.where(~own & (others == rule_out + 1), -2, -1)
    return np.where(alone >= 0, alone, wrong).astype(np.int64)


def told(
    name: str,
    found: Located,
    guess: Integers,
    sensitive: str,
    *,
    epsilon: float | None,
    delta: float,
    rule_out: int = 0,
    measures: dict[str, float] | None = None,
) -> AttackResult[dict[str, Any]]:
    """Persons given away, grouped by what gave them away."""
    right = guess == found.secret
    claimed = guess != -1
    ranks = np.argsort(np.argsort(-np.bincount(found.secret, minlength=len(found.values)), kind="stable"))
    lucky = claimed & (ranks[found.secret] <= rule_out)
    pairs, numbers = np.unique(
        np.stack([found.kind[guess >= 0], guess[guess >= 0]], axis=1), axis=0, return_counts=True
    )
    heads = found.heads.take(pa.array(pairs[:, 0], type=pa.int64())).to_pylist()
    chance = float(lucky.mean())
    return AttackResult(
        name=name,
        recovered=[
            head | {sensitive: found.values[value], "persons": number}
            for head, value, number in zip(heads, pairs[:, 1].tolist(), numbers.tolist(), strict=True)
        ],
        success=float(right.mean()),
        chance=chance,
        bound=most_hits(max(chance, found.from_others(rule_out)), epsilon, delta),
        attempts=len(found.secret),
        measures={"claimed": float(claimed.mean())} | (measures or {}),
    )
