"""Private choice of one candidate by score; the caller vouches for the sensitivity of the scores."""

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from math import lcm
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from sfumato.kernel.entropy import Entropy, SystemEntropy
from sfumato.kernel.mechanisms.choice import Exponential, PermuteAndFlip, Scores
from sfumato.noise.wordings import (
    candidates_empty,
    candidates_unusable,
    monotone_not_boolean,
    scores_do_not_match,
    scores_too_large,
    scores_unusable,
)
from sfumato.schema.numbers import GivenNumber, exact_positive

Candidate = TypeVar("Candidate")
ScoreList = Sequence[GivenNumber] | npt.NDArray[Any]

EXACT_IN_DOUBLE = 2.0**53
LONGEST_EXPONENT = 20


def exponential(
    candidates: Sequence[Candidate],
    scores: ScoreList,
    *,
    sensitivity: GivenNumber,
    epsilon: GivenNumber,
    monotone: bool = False,
    entropy: Entropy | None = None,
) -> Candidate:
    """Choose a candidate with probability proportional to exp(epsilon · score / (2 · sensitivity)).

    Claim: epsilon-DP, exactly this law. With `monotone` the 2 is left out.
    Needs: `sensitivity` bounds the change of any single score when one person's data change; `monotone` only if one
    person moves all scores in one direction (counts under adding or removing a person do).
    Proof: docs/proofs/exponential-mechanism.md
    """
    exact, change = _scores(candidates, scores, sensitivity)
    return _chosen(candidates, exact, Exponential(exact_positive(epsilon, "epsilon"), change, _flag(monotone)), entropy)


def permute_and_flip(
    candidates: Sequence[Candidate],
    scores: ScoreList,
    *,
    sensitivity: GivenNumber,
    epsilon: GivenNumber,
    monotone: bool = False,
    entropy: Entropy | None = None,
) -> Candidate:
    """Choose a candidate; never a larger expected error than `exponential` at the same epsilon.

    Claim: epsilon-DP, exactly the law of McKenna and Sheldon 2020.
    Needs: as for `exponential`.
    Proof: docs/proofs/permute-and-flip.md
    """
    exact, change = _scores(candidates, scores, sensitivity)
    choice = PermuteAndFlip(exact_positive(epsilon, "epsilon"), change, _flag(monotone))
    return _chosen(candidates, exact, choice, entropy)


def _chosen(
    candidates: Sequence[Candidate], scores: Scores, choice: Exponential | PermuteAndFlip, entropy: Entropy | None
) -> Candidate:
    with np.errstate(over="ignore"):  # a gap beyond the largest double has weight 0, which is what infinity gives
        return candidates[choice.draw(scores, SystemEntropy() if entropy is None else entropy)]


def _scores(candidates: Sequence[Any], scores: ScoreList, sensitivity: GivenNumber) -> tuple[Scores, Fraction]:
    """The scores as an array that holds them exactly, with the sensitivity in the same unit."""
    change = exact_positive(sensitivity, "sensitivity")
    if not isinstance(candidates, Sequence | np.ndarray):
        raise candidates_unusable(type(candidates).__name__)
    if isinstance(scores, str | bytes) or not isinstance(scores, Sequence | np.ndarray):
        raise scores_unusable()
    if isinstance(scores, np.ndarray) and scores.ndim != 1:
        raise scores_unusable()
    if len(candidates) != len(scores):
        raise scores_do_not_match(len(candidates), len(scores))
    if not len(candidates):
        raise candidates_empty()
    if isinstance(scores, np.ndarray) and scores.dtype != object:
        return _array_scores(scores), change
    return _listed_scores(list(scores), change)


def _array_scores(scores: npt.NDArray[Any]) -> Scores:
    kind, size = scores.dtype.kind, scores.dtype.itemsize
    if kind not in "fiu" or size > 8:
        raise scores_unusable()
    if kind == "f":
        if not np.isfinite(scores).all():
            raise scores_unusable()
        return scores.astype(np.float64)
    if scores.dtype == np.uint64 and scores.max() > np.iinfo(np.int64).max:
        raise scores_too_large()
    return scores.astype(np.int64)


def _listed_scores(scores: list[Any], change: Fraction) -> tuple[Scores, Fraction]:
    kinds = set(map(type, scores))
    if kinds <= {int, float}:
        try:
            array: npt.NDArray[Any] = np.array(scores, dtype=np.float64 if float in kinds else np.int64)
        except OverflowError:
            raise scores_too_large() from None
        if not np.isfinite(array).all():
            raise scores_unusable()
        if len(kinds) == 1 or np.abs(array).max() < EXACT_IN_DOUBLE:
            return array, change
    # Only score / sensitivity matters, so a common denominator may be multiplied into both.
    fractions = [_exact(score) for score in scores]
    unit = lcm(*(fraction.denominator for fraction in fractions))
    try:
        return np.array([int(fraction * unit) for fraction in fractions], dtype=np.int64), change * unit
    except OverflowError:
        raise scores_too_large() from None


def _exact(score: object) -> Fraction:
    if isinstance(score, bool | np.bool_ | np.longdouble):
        raise scores_unusable()
    if isinstance(score, Decimal) and score.is_finite():
        if score and abs(score.adjusted()) > LONGEST_EXPONENT:
            raise scores_too_large()
        return Fraction(score)
    if isinstance(score, float | np.floating) and np.isfinite(score):
        return Fraction(float(score))
    if isinstance(score, int | np.integer):
        return Fraction(int(score))
    if isinstance(score, Fraction):
        return score
    raise scores_unusable()


def _flag(monotone: object) -> bool:
    if not isinstance(monotone, bool):
        raise monotone_not_boolean()
    return monotone
