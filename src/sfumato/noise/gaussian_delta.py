"""δ(ε) of discrete Gaussian noise on one whole number, from above.

Two evaluations, both safe for every σ: a sum, tight everywhere but long for a large σ, and a closed bound, tight for
a large σ. Both take the exact rationals the sampler will see. Proofs: docs/proofs/gaussian-delta.md
"""

from fractions import Fraction
from math import ceil, e, erfc, exp, pi, sqrt

import numpy as np

# Above this variance the closed bound is within 1e-4 of the sum in σ; the sum has 40 σ terms.
LARGEST_SUMMED = Fraction(1 << 26)
CUT = 40  # in σ: beyond lies less than 2 exp(-800)
TAIL = 1e-300
SUM_MARGIN = 1e-9  # relative; the float error of the sum is below 1e-10
CLOSED_MARGIN = 2.0**-38  # relative to each of the two tails; their float error is below 2^-40
SMALL_SHIFT = 2.0**-14  # in σ: below, the difference of the tails is bounded by a derivative
LONG_SHIFT = 25.0  # in σ: above, the second tail is bounded from below by an algebraic function


def delta_above(variance: Fraction, sensitivity: int, epsilon: Fraction) -> float:
    """A δ for which discrete Gaussian noise of this variance is (ε, δ)-DP.

    Needs: variance > 0, sensitivity >= 1, epsilon > 0; one whole number, not a vector of them.
    """
    if variance <= LARGEST_SUMMED:
        return summed_delta(variance, sensitivity, epsilon)
    return closed_delta(variance, sensitivity, epsilon)


def summed_delta(variance: Fraction, sensitivity: int, epsilon: Fraction) -> float:
    """Σ p(y) (1 - e^(ε - loss(y))) over the y whose loss exceeds ε.

    Claim: at least δ(ε), and at most (1 + 2e-9) δ(ε) + 1e-300.
    Proof: docs/proofs/gaussian-delta.md, "The sum".
    """
    sigma = sqrt(variance)
    cut = ceil(CUT * sigma)
    threshold = _threshold(variance, sensitivity, epsilon)
    first = max(threshold.numerator // threshold.denominator + 1, -cut)
    if first > cut:
        return TAIL
    above = np.arange(cut - first + 1, dtype=np.float64)
    values = above + first
    values *= values
    values *= -float(1 / (2 * variance))
    # (loss - ε) is written as a multiple of y - threshold, whose first value is exact: nothing cancels.
    above += float(first - threshold)
    above *= -float(sensitivity / variance)
    total = -float(np.sum(np.exp(values) * np.expm1(above)))
    return total / _normaliser(sigma) * (1 + SUM_MARGIN) + TAIL


def closed_delta(variance: Fraction, sensitivity: int, epsilon: Fraction) -> float:
    """The δ of continuous noise plus the largest term of the sum.

    Claim: at least δ(ε).
    Proof: docs/proofs/gaussian-delta.md, "The closed bound".
    """
    sigma = sqrt(variance)
    threshold = _threshold(variance, sensitivity, epsilon)
    near, far, shift = float(threshold) / sigma, float(threshold + sensitivity) / sigma, sensitivity / sigma
    return (_continuous(near, far, shift, epsilon) + _largest_term(near, shift) / sigma) * (1 + SUM_MARGIN) + TAIL


def _continuous(near: float, far: float, shift: float, epsilon: Fraction) -> float:
    """P(N > near) - e^ε P(N > far), from above."""
    tail, density = erfc(near / sqrt(2)) / 2, _density(near)
    if near > LONG_SHIFT:
        return tail
    if shift < SMALL_SHIFT:
        return shift * (density * (1 + CLOSED_MARGIN) - near * tail)
    if far > LONG_SHIFT:
        return tail * (1 + CLOSED_MARGIN) - density * 2 / (far + sqrt(far * far + 4))
    return tail * (1 + CLOSED_MARGIN) - exp(epsilon) * erfc(far / sqrt(2)) / 2


def _largest_term(near: float, shift: float) -> float:
    """An upper bound of φ(z) (1 - e^(-(z - near) shift)) over z >= near."""
    slope = min(1 / sqrt(e), 1 / (e * near)) if near > 0 else 1 / sqrt(e) - near
    return _density(max(near, 0.0)) * min(1.0, shift * slope)


def _threshold(variance: Fraction, sensitivity: int, epsilon: Fraction) -> Fraction:
    """The y at which the privacy loss (2 y Δ + Δ²) / (2 σ²) is ε."""
    return epsilon * variance / sensitivity - Fraction(sensitivity, 2)


def _normaliser(sigma: float) -> float:
    """Σ exp(-k² / (2 σ²)) over all whole k, from below (relatively within 1e-15 of it)."""
    if sigma >= 2:
        return sigma * sqrt(2 * pi)
    return 1 + 2 * sum(exp(-k * k / (2 * sigma * sigma)) for k in range(1, 2 * CUT + 1))


def _density(z: float) -> float:
    return exp(-z * z / 2) / sqrt(2 * pi)
