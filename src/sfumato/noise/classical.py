"""Two textbook deviations of Gaussian noise, side by side: the classical bound and the exact one.

For study. `gaussian` uses neither: it draws discrete noise and is calibrated for the law it draws.
"""

from math import log, sqrt

from sfumato.noise.calibration import probability
from sfumato.noise.gaussian_delta import _continuous
from sfumato.noise.wordings import classical_outside_proof
from sfumato.schema.numbers import GivenNumber, exact_positive, shown

ROUNDING = 1 + 1e-12  # upward; far above the error of a handful of operations on doubles


def classical_gaussian_deviation(sensitivity: GivenNumber, epsilon: GivenNumber, delta: GivenNumber) -> float:
    """sensitivity · √(2 ln(1.25 / delta)) / epsilon.

    Claim: noise N(0, σ²) of this deviation is (epsilon, delta)-DP.
    Needs: 0 < epsilon < 1, for which alone it is proved; `sensitivity` in the Euclidean norm (L2).
    Proof: docs/proofs/classical-gaussian.md (Dwork, Roth 2014, Theorem A.1).
    """
    change, price = exact_positive(sensitivity, "sensitivity"), exact_positive(epsilon, "epsilon")
    miss = probability(delta, "delta")
    if price >= 1:
        raise classical_outside_proof(shown(price))
    return float(change / price) * sqrt(2 * (log(1.25) - log(miss))) * ROUNDING


def analytic_gaussian_deviation(sensitivity: GivenNumber, epsilon: GivenNumber, delta: GivenNumber) -> float:
    """The least σ for which noise N(0, σ²) is (epsilon, delta)-DP, from above, for every epsilon.

    Claim: (epsilon, delta)-DP, because the δ of the deviation returned was itself computed, from above.
    Needs: `sensitivity` in the Euclidean norm (L2).
    Proof: docs/proofs/classical-gaussian.md (Balle, Wang 2018, Theorem 8).
    """
    change, price = exact_positive(sensitivity, "sensitivity"), exact_positive(epsilon, "epsilon")
    target = float(probability(delta, "delta"))

    def enough(sigma: float) -> bool:
        """Whether P(N > ε σ - 1/(2σ)) - e^ε P(N > ε σ + 1/(2σ)) <= δ, for σ in units of the sensitivity."""
        near, far = float(price) * sigma - 1 / (2 * sigma), float(price) * sigma + 1 / (2 * sigma)
        return _continuous(near, far, 1 / sigma, price) <= target

    high = 1.0
    while not enough(high):
        high *= 2
    low = high / 2
    while enough(low):
        high, low = low, low / 2
    while high > low * ROUNDING:
        middle = (low + high) / 2
        if enough(middle):
            high = middle
        else:
            low = middle
    return high * float(change) * ROUNDING
