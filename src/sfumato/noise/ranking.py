"""The best candidate, or the k best in order, by noisy score; the caller vouches for the sensitivity of the scores."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import log

import numpy as np

from sfumato.kernel.entropy import Entropy, SystemEntropy
from sfumato.kernel.mechanisms.choice import PermuteAndFlip, Scores
from sfumato.kernel.mechanisms.protocol import Event
from sfumato.noise.selection import Candidate, ScoreList, _chosen, _flag, _scores
from sfumato.schema.numbers import GivenNumber, exact_positive, whole


@dataclass(frozen=True, slots=True)
class NoisyMax(PermuteAndFlip):
    """Picks the candidate whose score plus exponential noise of scale 1 / rate is the largest.

    Claim: ε-DP, and ε²/2-zCDP but not ε²/8. The law is that of permute-and-flip, by which it is drawn: the noise is
    never computed, so there are no ties and nothing to round.
    Proof: docs/proofs/noisy-max.md
    """

    def event(self) -> Event:
        return PermuteAndFlip.event(self) | {"mechanism": "noisy_max", "noise": "exponential"}

    def error(self, confidence: float, candidates: int) -> float:
        """How far below the best score the chosen one stays, with at least this probability.

        Proof: docs/proofs/noisy-max.md, "The error".
        """
        if candidates == 1:
            return 0.0
        return max(0.0, log((candidates - 1) / (2 * (1 - confidence))) / float(self.rate))


@dataclass(frozen=True, slots=True)
class TopK:
    """Picks `picks` candidates, one after the other, each by permute-and-flip among those left.

    Claim: ε-DP: every round costs ε / picks, and rounds that see the earlier choices add up.
    Proof: docs/proofs/top-k.md
    """

    epsilon: Fraction
    sensitivity: Fraction
    picks: int
    monotone: bool = False

    def __post_init__(self) -> None:
        if not (self.epsilon > 0 and self.sensitivity > 0 and self.picks >= 1):
            raise ValueError("epsilon, sensitivity and number of picks are positive")

    @property
    def round(self) -> NoisyMax:
        return NoisyMax(self.epsilon / self.picks, self.sensitivity, self.monotone)

    def rho(self) -> Fraction:
        return self.picks * self.round.rho()

    def event(self) -> Event:
        return {
            "mechanism": "top_k",
            "epsilon": str(self.epsilon),
            "sensitivity": str(self.sensitivity),
            "picks": str(self.picks),
            "monotone": str(self.monotone).lower(),
        }

    def error(self, confidence: float, candidates: int) -> float:
        """How far below the best score left every choice stays, with at least this probability."""
        return self.round.error(1 - (1 - confidence) / self.picks, candidates)

    def draw(self, scores: Scores, entropy: Entropy) -> list[int]:
        """Needs: at least `picks` scores."""
        left, chosen = np.arange(len(scores)), []
        for _ in range(self.picks):
            place = self.round.draw(scores[left], entropy)
            chosen.append(int(left[place]))
            left = np.delete(left, place)
        return chosen


def noisy_max(
    candidates: Sequence[Candidate],
    scores: ScoreList,
    *,
    sensitivity: GivenNumber,
    epsilon: GivenNumber,
    monotone: bool = False,
    entropy: Entropy | None = None,
) -> Candidate:
    """Choose the candidate whose score plus exponential noise is largest: `permute_and_flip` under its other name.

    Claim: epsilon-DP, exactly this law; the noisy score itself is never told.
    Needs: `sensitivity` bounds the change of any single score when one person's data change; `monotone` only if one
    person moves all scores in one direction.
    Proof: docs/proofs/noisy-max.md
    """
    exact, change = _scores(candidates, scores, sensitivity)
    choice = NoisyMax(exact_positive(epsilon, "epsilon"), change, _flag(monotone))
    return _chosen(candidates, exact, choice, entropy)


def top_k(
    candidates: Sequence[Candidate],
    scores: ScoreList,
    k: int,
    *,
    sensitivity: GivenNumber,
    epsilon: GivenNumber,
    monotone: bool = False,
    entropy: Entropy | None = None,
) -> list[Candidate]:
    """Choose k different candidates, the first meant to be the best, the second the next, and so on.

    Claim: epsilon-DP for the whole list and its order; each of the k rounds spends epsilon / k.
    Needs: as for `noisy_max`; 1 <= k <= number of candidates.
    Proof: docs/proofs/top-k.md
    """
    exact, change = _scores(candidates, scores, sensitivity)
    picks = whole(k, "k", least=1, most=len(candidates))
    choice = TopK(exact_positive(epsilon, "epsilon"), change, picks, _flag(monotone))
    with np.errstate(over="ignore"):  # as in `_chosen`
        return [candidates[place] for place in choice.draw(exact, SystemEntropy() if entropy is None else entropy)]
