"""δ(ε) by brute force with 40 digits: the definition, not the formula under test."""

from collections.abc import Callable
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from itertools import pairwise
from math import exp, expm1, pi, sqrt

from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.special import log_ndtr

PRECISE = Context(prec=40, Emax=10**9, Emin=-(10**9), traps=[])


def decimal(value: Fraction | int) -> Decimal:
    return Decimal(Fraction(value).numerator) / Decimal(Fraction(value).denominator)


def brute_delta(variance: Fraction, change: int, epsilon: Fraction) -> Decimal:
    """Σ max(0, p(y) - e^ε p(y - change)) over all outputs y."""
    with localcontext(PRECISE):
        reach = int(30 * float(variance) ** 0.5) + 10
        weights = [(-decimal(k * k / (2 * variance))).exp() for k in range(reach + change + 1)]
        total, factor = 2 * sum(weights, Decimal(0)) - 1, decimal(epsilon).exp()
        gains = (weights[abs(y)] - factor * weights[abs(y - change)] for y in range(-reach, reach + 1))
        return sum((gain for gain in gains if gain > 0), Decimal(0)) / total


def continuous_delta(sigma: float, change: float, epsilon: float) -> float:
    """Balle and Wang 2018, with SciPy's logarithms of the normal distribution."""
    mean = change / sigma
    first, second = log_ndtr(mean / 2 - epsilon / mean), epsilon + log_ndtr(-mean / 2 - epsilon / mean)
    return float(Decimal(first).exp() - Decimal(second).exp())


def integrated_delta(distance: float, shift: float) -> float:
    """∫ φ(distance + w) (1 - e^(-shift w)) dw over w > 0: the same δ, written so that nothing cancels."""

    def excess(w: float) -> float:
        return exp(-w * (distance + w / 2)) * -expm1(-shift * w)

    reach = min(40.0, 800 / max(distance, 1e-9))
    parts = [reach * 4.0**-k for k in range(60, -1, -1)]
    area = sum(quad(excess, low, high, epsabs=0, epsrel=1e-12)[0] for low, high in pairwise([0.0, *parts]))
    return float(area) * exp(-distance * distance / 2) / sqrt(2 * pi)


def continuous_sigma(change: float, epsilon: float, delta: float) -> float:
    return smallest(lambda sigma: continuous_delta(sigma, change, epsilon) - delta, change)


def smallest(excess: Callable[[float], float], change: float) -> float:
    low, high = 1e-3 * change, 1e9 * change
    return float(brentq(excess, low, high, xtol=1e-300, rtol=1e-13, maxiter=500))
