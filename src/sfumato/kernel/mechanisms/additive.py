"""Noise for integers: the two laws `ask` uses, each with its cost, its event record and its error quantile."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, erfc, exp, expm1, inf, log, log1p, sqrt

from sfumato.kernel.entropy import Entropy
from sfumato.kernel.samplers import Integers, discrete_gaussian, discrete_laplace, gaussian_pieces, laplace_pieces

Event = dict[str, str]

# Up to here quantiles of the discrete Gaussian are summed term by term; above, a continuous bound is as good.
SMALL_DEVIATION = 1000.0


@dataclass(frozen=True, slots=True)
class DiscreteLaplace:
    """Adds k with probability proportional to exp(-|k| / scale) to every integer of a vector.

    Claim: epsilon(Δ₁)-DP for a vector of integers whose L1 sensitivity is Δ₁.
    Proof: docs/proofs/laplace-mechanism.md
    """

    scale: Fraction

    def __post_init__(self) -> None:
        if self.scale <= 0:
            raise ValueError("the scale of a discrete Laplace law is positive")

    @classmethod
    def for_epsilon(cls, epsilon: Fraction, sensitivity: int) -> "DiscreteLaplace":
        return cls(sensitivity / epsilon)

    def epsilon(self, sensitivity: int) -> Fraction:
        return sensitivity / self.scale

    def rho(self, sensitivity: int) -> Fraction:
        """Pure ε is ε²/2-zCDP."""
        return self.epsilon(sensitivity) ** 2 / 2

    def event(self, sensitivity: int) -> Event:
        return {"mechanism": "discrete_laplace", "scale": str(self.scale), "sensitivity": str(sensitivity)}

    def draw(self, count: int, entropy: Entropy) -> Integers:
        return discrete_laplace(self.scale, count, entropy)

    def pieces(self, count: int, entropy: Entropy) -> Iterator[Integers]:
        """The same draws in pieces, for whoever works on each at once."""
        return laplace_pieces(self.scale, count, entropy)

    def deviation(self) -> float:
        """The standard deviation."""
        t = float(self.scale)
        return sqrt(2 * exp(-1 / t)) / -expm1(-1 / t)

    def error(self, confidence: float) -> int:
        """The smallest k with P(|noise| <= k) >= confidence, up to a billionth of k."""
        t = float(self.scale)
        # P(|noise| > k) = 2 q^(k+1) / (1 + q)
        bound = -t * (log((1 - confidence) / 2) + log1p(exp(-1 / t)))
        return max(0, ceil(bound - 1e-9 * abs(bound)) - 1)


@dataclass(frozen=True, slots=True)
class DiscreteGaussian:
    """Adds k with probability proportional to exp(-k² / (2 variance)) to every integer of a vector.

    Claim: rho(Δ₂)-zCDP for a vector of integers whose L2 sensitivity is Δ₂.
    Proof: docs/proofs/gaussian-mechanism.md
    """

    variance: Fraction

    def __post_init__(self) -> None:
        if self.variance <= 0:
            raise ValueError("the variance of a discrete Gaussian law is positive")

    @classmethod
    def for_rho(cls, rho: Fraction, sensitivity: int) -> "DiscreteGaussian":
        return cls(sensitivity**2 / (2 * rho))

    def rho(self, sensitivity: int) -> Fraction:
        return sensitivity**2 / (2 * self.variance)

    def event(self, sensitivity: int) -> Event:
        return {"mechanism": "discrete_gaussian", "variance": str(self.variance), "sensitivity": str(sensitivity)}

    def draw(self, count: int, entropy: Entropy) -> Integers:
        return discrete_gaussian(self.variance, count, entropy)

    def pieces(self, count: int, entropy: Entropy) -> Iterator[Integers]:
        """The same draws in pieces, for whoever works on each at once."""
        return gaussian_pieces(self.variance, count, entropy)

    def deviation(self) -> float:
        """The standard deviation of the continuous law, which bounds that of the discrete one."""
        return sqrt(float(self.variance))

    def error(self, confidence: float) -> int:
        """The smallest k with P(|noise| <= k) >= confidence (from deviation 1000 on, at most one too large)."""
        sigma = self.deviation()
        if sigma > SMALL_DEVIATION:
            return ceil(_two_sided_normal(confidence) * sigma)
        weights = [exp(-k * k / (2 * sigma * sigma)) for k in range(ceil(10 * sigma) + 10)]
        total = 2 * sum(weights) - 1
        covered = 1.0
        k = 0
        while covered < confidence * total and k + 1 < len(weights):
            k += 1
            covered += 2 * weights[k]
        return k


Mechanism = DiscreteLaplace | DiscreteGaussian


def _two_sided_normal(confidence: float) -> float:
    """z with P(|N(0, 1)| <= z) = confidence, by bisection."""
    low, high = 0.0, 40.0
    for _ in range(80):
        middle = (low + high) / 2
        if erfc(middle / sqrt(2)) > 1 - confidence:
            low = middle
        else:
            high = middle
    return high if confidence < 1 else inf
