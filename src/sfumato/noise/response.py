"""Randomised response: each answer is the truth with a known probability, and otherwise any other answer."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import exp
from typing import Any, TypeVar, overload

import numpy as np
import numpy.typing as npt

from sfumato.kernel.entropy import Entropy, SystemEntropy
from sfumato.kernel.mechanisms.protocol import Event
from sfumato.noise.coins import Odds, uniform_below
from sfumato.noise.wordings import (
    answer_not_boolean,
    answer_unknown,
    answers_empty,
    categories_repeated,
    categories_unusable,
)
from sfumato.schema.numbers import GivenNumber, exact_positive

Truths = TypeVar("Truths", bool, list[bool], npt.NDArray[np.bool_])
Codes = npt.NDArray[np.int64]

MOST_CATEGORIES = 1 << 62  # sums of two codes stay within 64 bits


@dataclass(frozen=True, slots=True)
class RandomisedResponse:
    """Keeps an answer with probability 1 / (1 + (categories - 1) exp(-ε)), else gives one of the others.

    Claim: ε-DP for each answer, also against whoever collects it (the local model). No ε-DP way to answer is right
    more often when all answers are equally likely.
    Proof: docs/proofs/randomised-response.md
    """

    epsilon: Fraction
    categories: int = 2

    def __post_init__(self) -> None:
        if not (self.epsilon > 0 and 2 <= self.categories <= MOST_CATEGORIES):
            raise ValueError("randomised response has a positive epsilon and at least two categories")

    def rho(self) -> Fraction:
        """Pure ε is ε²/2-zCDP."""
        return self.epsilon**2 / 2

    def event(self) -> Event:
        return {
            "mechanism": "randomised_response",
            "epsilon": str(self.epsilon),
            "categories": str(self.categories),
        }

    def truth(self) -> float:
        """The probability that an answer is the truth."""
        return 1 / (1 + (self.categories - 1) * exp(-float(self.epsilon)))

    def draw(self, codes: Codes, entropy: Entropy) -> Codes:
        """A noisy code for each code from 0 to categories - 1.

        Claim: exact; what is drawn, and how long it takes, does not depend on the codes.
        """
        return (codes + self._shifts(len(codes), entropy)) % self.categories

    def _shifts(self, count: int, entropy: Entropy) -> Codes:
        """0 for the truth, else how many categories to move on: uniform from 1 to categories - 1."""
        others = self.categories - 1
        lies = ~Odds(Fraction(others), self.epsilon).draw(count, entropy)
        # With two categories there is only one other answer, and nothing to draw.
        return lies * (1 + uniform_below(others, count, entropy)) if others > 1 else lies.astype(np.int64)


@overload
def randomised_response(
    value: Truths, *, epsilon: GivenNumber, categories: None = None, entropy: Entropy | None = None
) -> Truths: ...
@overload
def randomised_response(
    value: Any, *, epsilon: GivenNumber, categories: Sequence[Any] | npt.NDArray[Any], entropy: Entropy | None = None
) -> Any: ...
def randomised_response(
    value: Any,
    *,
    epsilon: GivenNumber,
    categories: Sequence[Any] | npt.NDArray[Any] | None = None,
    entropy: Entropy | None = None,
) -> Any:
    """Answer yes or no, or one of the categories: the truth with probability e^ε / (e^ε + categories - 1).

    Claim: epsilon-DP for each answer, exactly this law. A list or an array holds answers of different people; several
    answers of one person cost epsilon each.
    Needs: booleans by type, or members of `categories`, which are public and do not come from the data.
    Proof: docs/proofs/randomised-response.md
    """
    price, source = exact_positive(epsilon, "epsilon"), SystemEntropy() if entropy is None else entropy
    if categories is None:
        return _flipped(value, RandomisedResponse(price), source)
    names = _names(categories)
    return _exchanged(value, names, RandomisedResponse(price, len(names)), source)


def _flipped(value: Any, law: RandomisedResponse, entropy: Entropy) -> Any:
    if isinstance(value, np.ndarray):
        if value.dtype != np.bool_:
            raise answer_not_boolean()
        return law.draw(_filled(value.ravel().astype(np.int64)), entropy).astype(np.bool_).reshape(value.shape)
    listed = value if isinstance(value, list) else [value]
    if not all(isinstance(answer, bool | np.bool_) for answer in listed):
        raise answer_not_boolean()
    noisy = law.draw(_filled(np.array(listed, dtype=np.int64)), entropy).astype(np.bool_).tolist()
    return noisy if isinstance(value, list) else noisy[0]


def _exchanged(value: Any, names: list[Any], law: RandomisedResponse, entropy: Entropy) -> Any:
    places = {name: place for place, name in enumerate(names)}
    several = value.ravel().tolist() if isinstance(value, np.ndarray) else value
    try:
        codes = np.array([places[one] for one in (several if isinstance(several, list) else [several])], dtype=np.int64)
    except (KeyError, TypeError):
        raise answer_unknown() from None
    noisy = law.draw(_filled(codes), entropy)
    if isinstance(value, np.ndarray):
        return _name_array(names)[noisy].reshape(value.shape)
    answers = [names[code] for code in noisy.tolist()]
    return answers if isinstance(value, list) else answers[0]


def _names(categories: object) -> list[Any]:
    if isinstance(categories, str | bytes) or not isinstance(categories, Sequence | np.ndarray):
        raise categories_unusable()
    names = categories.tolist() if isinstance(categories, np.ndarray) else list(categories)
    try:
        different = len(set(names))
    except TypeError:
        raise categories_unusable() from None
    if different < len(names):
        raise categories_repeated()
    if different < 2:
        raise categories_unusable()
    return names


def _name_array(names: list[Any]) -> npt.NDArray[Any]:
    """The names as an array of their own type, or of Python objects where an array would change them."""
    kinds = set(map(type, names))
    if len(kinds) == 1 and kinds <= {str, int, float, bool}:
        array = np.array(names)
        if array.tolist() == names:
            return array
    return np.fromiter(names, dtype=object, count=len(names))


def _filled(codes: Codes) -> Codes:
    if not len(codes):
        raise answers_empty()
    return codes
