"""The exact (ε, δ) of continuous Gaussian noise, and the deviation that a price needs.

δ(ε) = P(N > t) - e^ε P(N > t + μ) with μ = 1 / σ and t = ε/μ - μ/2 (Balle, Wang 2018). σ counts in units of the L2
sensitivity. Whole-number Gaussian noise has a slightly different δ: see `sfumato.noise`.
"""

from math import erfc, exp, inf, log, nextafter, pi, sqrt

from sfumato.accounting.wordings import delta_needed
from sfumato.errors import not_positive, out_of_range
from sfumato.schema.numbers import GivenNumber, exact, exact_positive, shown

MARGIN = 2.0**-38  # relative to each of the two tails; their float error is below 2^-40
SMALL_SHIFT = 2.0**-14
ROUNDING = 2.0**-50  # of ε/μ and of μ/2, which may nearly cancel
FAR = 25.0
TAIL = 1e-300
CLOSE = 1e-13


def gaussian_delta(sigma: GivenNumber, epsilon: GivenNumber) -> float:
    """At least the δ for which Gaussian noise of this deviation is (ε, δ)-DP."""
    price = exact(epsilon, "epsilon")
    if price < 0:
        raise not_positive("epsilon", shown(price))
    return delta_at(1 / float(exact_positive(sigma, "sigma")), float(price))


def gaussian_epsilon(sigma: GivenNumber, delta: GivenNumber) -> float:
    """The smallest ε found for which Gaussian noise of this deviation is (ε, δ)-DP."""
    return epsilon_at(1 / float(exact_positive(sigma, "sigma")), _probability(delta))


def gaussian_sigma(epsilon: GivenNumber, delta: GivenNumber) -> float:
    """The smallest deviation found, in units of the L2 sensitivity, that is (ε, δ)-DP."""
    price, chance = float(exact_positive(epsilon, "epsilon")), _probability(delta)
    low, high = 0.0, 1.0
    while delta_at(1 / high, price) > chance:
        low, high = high, 2 * high
    while high - low > CLOSE * high:
        middle = (low + high) / 2
        if not low < middle < high:
            break
        low, high = (middle, high) if delta_at(1 / middle, price) > chance else (low, middle)
    return high


def classical_sigma(epsilon: GivenNumber, delta: GivenNumber) -> float:
    """√(2 ln(1.25 / δ)) / ε, the textbook's deviation. Proved for ε < 1 only, and refused beyond."""
    price = exact_positive(epsilon, "epsilon")
    if price >= 1:
        raise out_of_range("epsilon", "0", "1 (both excluded: the classical formula is proved there)", shown(price))
    return sqrt(2 * log(1.25 / _probability(delta))) / float(price)


def delta_at(shift: float, epsilon: float) -> float:
    """P(N > t) - e^ε P(N > t + μ), from above; the cases and their errors: docs/proofs/gaussian-delta.md."""
    quotient, half = epsilon / shift, shift / 2
    room = ROUNDING * (quotient + half)
    near, far = quotient - half - room, quotient + half + room
    tail, density = erfc(near / sqrt(2)) / 2, exp(-near * near / 2) / sqrt(2 * pi)
    if near > FAR:
        value = tail
    elif shift < SMALL_SHIFT:
        value = shift * (density * (1 + MARGIN) - near * tail)
    elif far > FAR:
        value = tail * (1 + MARGIN) - density * 2 / (far + sqrt(far * far + 4))
    else:
        value = tail * (1 + MARGIN) - exp(epsilon) * erfc(far / sqrt(2)) / 2
    return min(1.0, value * (1 + MARGIN) + TAIL)


def epsilon_at(shift: float, delta: float) -> float:
    """The smallest ε >= 0 found with δ(ε) <= delta."""
    if delta_at(shift, 0.0) <= delta:
        return 0.0
    low, high = 0.0, shift * shift / 2 + shift * sqrt(2 * log(1 / delta))
    while high - low > CLOSE * high:
        middle = (low + high) / 2
        if not low < middle < high:
            break
        low, high = (middle, high) if delta_at(shift, middle) > delta else (low, middle)
    return nextafter(high, inf)


def _probability(delta: GivenNumber) -> float:
    chance = exact(delta, "delta")
    if not 0 < chance < 1:
        raise delta_needed()
    return float(chance)
