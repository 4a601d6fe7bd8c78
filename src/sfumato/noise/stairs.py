"""Staircase noise on one number: less error than Laplace noise where epsilon is large.

The density falls in steps: within one sensitivity it has two heights, a factor exp(-epsilon) apart, and the pattern
repeats. Laplace noise spends the same epsilon on every small move; a staircase spends it at the edges only.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import exp, expm1
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from sfumato.kernel.entropy import Entropy, SystemEntropy
from sfumato.kernel.mechanisms.protocol import Event
from sfumato.kernel.samplers import CHUNK, LARGEST_INT64, Integers, geometric
from sfumato.noise.calibration import Price, _pure
from sfumato.noise.coins import LARGEST_BOUND, Odds, uniform_below
from sfumato.noise.grid import Grid
from sfumato.noise.values import boxed, real_entries
from sfumato.noise.wordings import staircase_single
from sfumato.schema.numbers import GivenNumber, exact_positive

Reals = TypeVar("Reals", float, list[float], npt.NDArray[np.float64])

FLATTEST = 1400.0  # an epsilon from which exp(epsilon / 2) would leave the doubles


@dataclass(frozen=True, slots=True)
class DiscreteStaircase:
    """Adds x with probability proportional to exp(-epsilon · ⌊(|x| + sensitivity - width) / sensitivity⌋).

    Claim: epsilon-DP for one whole number of this sensitivity, whatever the width; not for several numbers, each of
    which may cross an edge at once.
    Needs: 1 <= width <= sensitivity, epsilon > 0.
    Proof: docs/proofs/staircase.md
    """

    epsilon: Fraction
    sensitivity: int
    width: int

    def __post_init__(self) -> None:
        if not (self.epsilon > 0 and 1 <= self.width <= self.sensitivity <= LARGEST_BOUND):
            raise ValueError("a staircase has a positive epsilon and steps between 1 and its sensitivity")

    @classmethod
    def for_epsilon(cls, epsilon: Fraction, sensitivity: int) -> "DiscreteStaircase":
        """The width next to sensitivity / (1 + exp(epsilon / 2)), which makes the mean error least."""
        share = 1 / (1 + exp(min(float(epsilon), FLATTEST) / 2))
        return cls(epsilon, sensitivity, max(1, round(sensitivity * share)))

    def rho(self) -> Fraction:
        """Pure ε is ε²/2-zCDP."""
        return self.epsilon**2 / 2

    def event(self) -> Event:
        return {
            "mechanism": "discrete_staircase",
            "epsilon": str(self.epsilon),
            "sensitivity": str(self.sensitivity),
            "width": str(self.width),
        }

    def draw(self, count: int, entropy: Entropy) -> Integers:
        """Independent draws, exact. How many are rejected (minus zero) tells nothing of those accepted."""
        parts: list[Integers] = [np.empty(0, dtype=np.int64)]
        missing = count
        while missing > 0:
            some = min(CHUNK, missing + missing // 8)
            size, negative = self._sizes(some, entropy), uniform_below(2, some, entropy) == 1
            kept = ~(negative & (size == 0))  # else zero would be drawn twice as often
            parts.append(np.where(negative, -size, size)[kept][:missing])
            missing -= len(parts[-1])
        return np.concatenate(parts)

    def _sizes(self, count: int, entropy: Entropy) -> Integers:
        """n >= 0 with the probabilities of the sizes, but zero as likely as if it had two signs."""
        period, upper = self.sensitivity, self.sensitivity - self.width
        levels = geometric(1 / self.epsilon, count, entropy)
        inner = Odds(Fraction(upper, self.width), self.epsilon).draw(count, entropy)
        near = uniform_below(self.width, count, entropy)
        far = self.width + uniform_below(max(upper, 1), count, entropy)
        if period / self.epsilon > LARGEST_INT64:
            levels = levels.astype(object)
        return levels * period + np.where(inner, near, far)

    def mean_error(self) -> float:
        """The mean of |x|."""
        q, fall = exp(-float(self.epsilon)), -expm1(-float(self.epsilon))
        near = self.width * (self.width - 1) / 2
        inside = near + q * (self.sensitivity * (self.sensitivity - 1) / 2 - near)
        return 2 * (self.sensitivity * self._period(q) * q / fall + inside) / (2 * self._period(q) - fall)

    def error(self, confidence: float) -> int:
        """The smallest n with P(|x| <= n) >= confidence."""
        allowed = 1 - confidence
        high = 1
        while self.beyond(high) > allowed:
            high *= 2
        low = -1
        while high - low > 1:
            middle = (low + high) // 2
            if self.beyond(middle) > allowed:
                low = middle
            else:
                high = middle
        return high

    def beyond(self, size: int) -> float:
        """P(|x| > size), for size >= 0."""
        q, fall = exp(-float(self.epsilon)), -expm1(-float(self.epsilon))
        level, inside = divmod(size + 1, self.sensitivity)
        left = max(self.width - inside, 0) + q * (self.sensitivity - max(inside, self.width))
        power = exp(-float(self.epsilon * level))
        return 2 * power * (left * fall + q * self._period(q)) / (2 * self._period(q) - fall)

    def _period(self, q: float) -> float:
        """The weights of one period of sizes, the first of height 1."""
        return self.width + q * (self.sensitivity - self.width)


@dataclass(frozen=True, slots=True)
class StaircaseNoise:
    """Staircase noise for the whole numbers of a grid."""

    law: DiscreteStaircase
    grid: Grid

    @property
    def step(self) -> float:
        return float(self.grid.step)

    def error(self, confidence: float) -> float:
        """What a draw stays within with this probability, rounding to the grid included."""
        return (self.law.error(confidence) + 0.5) * self.step


def staircase_noise(sensitivity: object, *, price: Price, entries: int) -> StaircaseNoise:
    """Claim: ε-DP for one real number of this sensitivity, rounded to the grid."""
    change, epsilon = exact_positive(sensitivity, "sensitivity"), _pure(price, "staircase")
    if entries > 1:
        raise staircase_single()
    grid = Grid.holding(change, 1)
    return StaircaseNoise(DiscreteStaircase.for_epsilon(epsilon, grid.absolute(change)), grid)


def staircase(value: Reals, *, sensitivity: GivenNumber, epsilon: GivenNumber, entropy: Entropy | None = None) -> Reals:
    """Add staircase noise to one number: of all pure-epsilon noise the one with the least mean error.

    Claim: epsilon-DP, finite arithmetic included: the number is rounded to a public grid and gets whole-number noise
    there. The mean error is below that of `laplace` by 4 % at epsilon 1, 15 % at 2 and 59 % at 5.
    Needs: `sensitivity` bounds the absolute change of the number when one person's data change.
    Proof: docs/proofs/staircase.md, docs/proofs/real-lattice.md
    """
    entries = real_entries(value)
    noise = staircase_noise(sensitivity, price=Price(epsilon), entries=len(entries.numbers))
    drawn = noise.law.draw(1, SystemEntropy() if entropy is None else entropy)
    noisy = int(noise.grid.integers(entries.numbers)[0]) + int(drawn[0])
    result: Reals = entries.like(noise.grid.reals(boxed([noisy])))
    return result
