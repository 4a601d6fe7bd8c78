"""Private choice among candidates by score: the exponential mechanism and permute-and-flip.

`rate` is ε/(2Δ), or ε/Δ when all scores move the same way between neighbours (`monotone`). Both are laws of one choice;
`InGroups` is a choice in every group by one of them, `FrequencyChoice` that of the most frequent cell.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Context, Decimal, localcontext
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from sfumato.errors import plan_refused
from sfumato.kernel.cost import Currency, rho_of_pure, root_below
from sfumato.kernel.entropy import Entropy
from sfumato.kernel.mechanisms.protocol import Added, CellCounts, Event, Released
from sfumato.kernel.samplers import coins
from sfumato.schema.allow import Family

Alike = npt.NDArray[np.int64]
Scores = npt.NDArray[np.float64] | npt.NDArray[np.int64]

MOST_ALIKE = 1 << 32


@dataclass(frozen=True, slots=True)
class Choice:
    """What both mechanisms share: parameters, price and record."""

    epsilon: Fraction
    sensitivity: Fraction
    monotone: bool = False

    def __post_init__(self) -> None:
        if self.epsilon <= 0 or self.sensitivity <= 0:
            raise ValueError("epsilon and sensitivity of a choice are positive")

    @property
    def rate(self) -> Fraction:
        return self.epsilon / self.sensitivity / (1 if self.monotone else 2)

    def _gamma(self, scores: Scores, best: int, index: int) -> Fraction:
        return self.rate * (Fraction(scores[best].item()) - Fraction(scores[index].item()))

    def _best(self, scores: Scores) -> int:
        if scores.dtype not in (np.float64, np.int64) or not np.isfinite(scores).all():
            raise ValueError("scores are finite, float64 or int64")
        return int(np.argmax(scores))

    def _weights(self, scores: Scores, best: int) -> npt.NDArray[np.float64]:
        """exp(-rate · (best score - score)), each within 2^-46 of the exact value."""
        gaps = np.subtract(float(scores[best]), scores.astype(np.float64))
        if scores.dtype == np.int64 and np.abs(scores).max() >= 1 << 52:
            exact = [float(int(scores[best]) - int(score)) for score in scores]
            gaps = np.array(exact, dtype=np.float64)
        return np.asarray(np.exp(-float(self.rate) * gaps))


@dataclass(frozen=True, slots=True)
class PermuteAndFlip(Choice):
    """Picks i with the law of the first success when candidates are visited in random order.

    Claim: ε-DP; never a larger expected error than the exponential mechanism; ε²/2-zCDP.
    Proof: docs/proofs/permute-and-flip.md (McKenna, Sheldon 2020).
    """

    def rho(self) -> Fraction:
        return rho_of_pure(self.epsilon)

    def event(self) -> Event:
        return _event("permute_and_flip", self)

    def draw(self, scores: Scores, entropy: Entropy) -> int:
        best = self._best(scores)
        accepted = coins(self._weights(scores, best), lambda index: self._gamma(scores, best, index), entropy)
        # The first success in a uniformly random order is a uniformly chosen success: no permutation is needed.
        winners = np.flatnonzero(accepted)
        return int(winners[entropy.below(len(winners))])


@dataclass(frozen=True, slots=True)
class Exponential(Choice):
    """Picks i with probability proportional to exp(rate · score_i).

    Claim: ε-DP, and ε²/8-zCDP because its privacy loss has range ε.
    Proof: docs/proofs/exponential-mechanism.md
    """

    def rho(self) -> Fraction:
        return self.epsilon**2 / 8

    def event(self) -> Event:
        return _event("exponential", self)

    def draw(self, scores: Scores, entropy: Entropy, alike: Alike | None = None) -> int:
        return int(self.draws(scores, 1, entropy, alike)[0])

    def draws(self, scores: Scores, count: int, entropy: Entropy, alike: Alike | None = None) -> npt.NDArray[np.int64]:
        """Independent choices for the same scores; the weights are added up once.

        `alike` says how many candidates a score stands for (one each by default); which of them is left to the caller.
        """
        best = self._best(scores)
        weights = self._weights(scores, best)
        if alike is not None:
            if alike.min() < 1 or alike.max() > MOST_ALIKE:
                raise ValueError("a score stands for one candidate or more")
            weights *= alike
        sums = np.cumsum(weights, dtype=np.longdouble)
        prefixes, total = entropy.words(count), sums[-1]
        positions = prefixes.astype(np.float64) * 2.0**-64 * total
        # A weight that is not 0 in double precision has gamma < 746 and so errs by less than 2^-40 of itself.
        margin = total * (2 * len(sums) * np.finfo(np.longdouble).eps + 2.0**-38)
        chosen = np.searchsorted(sums, positions - margin, side="right")
        for index in np.flatnonzero(chosen != np.searchsorted(sums, positions + margin, side="right")):
            chosen[index] = self._settle(scores, best, int(prefixes[index]), entropy, alike)
        return np.asarray(chosen, dtype=np.int64)

    def _settle(self, scores: Scores, best: int, prefix: int, entropy: Entropy, alike: Alike | None) -> int:
        """The cell of the cumulative weights that holds U, with as many digits and bits as it takes."""
        bits = 64
        while True:
            with localcontext(Context(prec=40 + bits, Emax=10**17, Emin=-(10**17), traps=[])) as context:
                unit = Decimal(2) ** -bits
                sums = [Decimal(0)]
                for index in range(len(scores)):
                    gamma = self._gamma(scores, best, index)
                    weight = (-Decimal(gamma.numerator) / Decimal(gamma.denominator)).exp()
                    sums.append(sums[-1] + (1 if alike is None else int(alike[index])) * weight)
                margin = len(sums) ** 2 * Decimal(10) ** (20 - context.prec)
                low, high = prefix * unit * sums[-1] - margin, (prefix + 1) * unit * sums[-1] + margin
                inside = [i for i in range(len(scores)) if sums[i] <= low and high < sums[i + 1]]
                if inside:
                    return inside[0]
                if low < 0 and high < sums[1]:
                    return 0
                if high >= sums[-1] and low >= sums[-2]:
                    return len(scores) - 1
            prefix, bits = (prefix << 64) | entropy.below(1 << 64), bits + 64


ChoiceLaw = PermuteAndFlip | Exponential


@dataclass(frozen=True, slots=True)
class InGroups:
    """A choice in every group by `law`, whose ε is what one row costs.

    Claim: l1·ε-DP when a unit has at most l1 rows in all groups. By the exponential law it is l2_squared·ε²/8-zCDP when
    the squares of the rows that a unit has in each group add up to at most l2_squared; by permute-and-flip
    (l1·ε)²/2-zCDP.
    Needs: one row moves each score of its group by at most the law's sensitivity, all one way where it is monotone.
    Proof: docs/proofs/exponential-mechanism.md, "Several groups".
    """

    law: ChoiceLaw
    l1: int
    l2_squared: int

    def cost(self, currency: Currency) -> Fraction:
        epsilon = self.l1 * self.law.epsilon
        if currency == "epsilon":
            return epsilon
        return rho_of_pure(epsilon) if isinstance(self.law, PermuteAndFlip) else self.l2_squared * self.law.rho()

    def event(self) -> Event:
        """As one choice whose scores move by all l1 rows; where groups share these, with the square that tells so."""
        row = self.law.sensitivity
        whole = {"epsilon": str(self.l1 * self.law.epsilon), "sensitivity": str(self.l1 * row)}
        shared = {} if self.l2_squared == self.l1**2 else {"sensitivity_squared": str(self.l2_squared * row**2)}
        return self.law.event() | whole | shared


def law_for(
    share: Fraction, currency: Currency, l1: int, l2_squared: int, sensitivity: int, *, monotone: bool = True
) -> ChoiceLaw:
    """Permute-and-flip that costs so much ε, or the exponential mechanism that costs at most so much ρ."""
    if currency == "epsilon":
        return PermuteAndFlip(share / l1, Fraction(sensitivity), monotone)
    return Exponential(root_below(8 * share / l2_squared), Fraction(sensitivity), monotone)


@dataclass(frozen=True, slots=True)
class FrequencyChoice(InGroups):
    """Chooses a cell with many rows in every group: scores are rows.

    Proof: docs/proofs/exponential-mechanism.md, "Several groups".
    """

    cells: int

    def __post_init__(self) -> None:
        if self.law.sensitivity != 1 or not self.law.monotone:
            # With a unit more no count falls, and one row is one step of its score.
            raise ValueError("counts of rows move one way, by one a row")

    @classmethod
    def for_share(cls, share: Fraction, currency: Currency, l1: int, l2_squared: int, cells: int) -> "FrequencyChoice":
        return cls(law_for(share, currency, l1, l2_squared, 1), l1, l2_squared, cells)

    @property
    def family(self) -> Family:
        return "choice"

    def check(self, entry: Added) -> None:
        if not isinstance(entry, CellCounts) or not entry.fit(self.cells):
            raise plan_refused("the engine answered with something else than cells")

    def draw(self, entries: Sequence[Added], entropy: Entropy) -> list[Released]:
        return [self.law.draw(entry.dense(self.cells), entropy) for entry in entries if isinstance(entry, CellCounts)]


def _event(mechanism: str, choice: Choice) -> Event:
    return {
        "mechanism": mechanism,
        "epsilon": str(choice.epsilon),
        "sensitivity": str(choice.sensitivity),
        "monotone": str(choice.monotone).lower(),
    }
