"""How much noise a price buys: whole-number laws, the grid they live on, and what they cost."""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil, frexp, log, sqrt

import numpy as np

from sfumato.errors import missing_argument, out_of_range
from sfumato.kernel.cost import rho_for
from sfumato.kernel.entropy import Entropy
from sfumato.kernel.mechanisms.additive import DiscreteGaussian, DiscreteLaplace, Law
from sfumato.kernel.mechanisms.protocol import Event
from sfumato.kernel.samplers import Integers
from sfumato.noise.gaussian_delta import delta_above
from sfumato.noise.grid import Grid
from sfumato.noise.wordings import (
    delta_without_use,
    epsilon_too_small,
    gaussian_needs_delta,
    gaussian_needs_price,
    gaussian_two_prices,
    mechanism_unknown,
    sensitivity_not_whole,
)
from sfumato.schema.numbers import exact, exact_positive, shown

NUMERIC = ("laplace", "geometric", "gaussian")
ACCURACY = 1e-6  # relative, of σ
MANTISSA_BITS = 28
STRIDE = 16
HALF_RANGE = 1 << 62


@dataclass(frozen=True, slots=True)
class Price:
    """What the caller is ready to pay, as typed; None where nothing was said."""

    epsilon: object = None
    delta: object = None
    rho: object = None


@dataclass(frozen=True, slots=True)
class Calibrated:
    """Noise for the whole numbers of a grid, with the sensitivity in steps that it covers."""

    law: Law
    sensitivity: int
    grid: Grid
    cost: tuple[tuple[str, Fraction], ...]

    def event(self) -> Event:
        """What a ledger would keep: Laplace noise covers a change in L1 norm, Gaussian noise one in L2 norm."""
        gaussian = isinstance(self.law, DiscreteGaussian)
        return self.law.event(self.sensitivity**2 if gaussian else self.sensitivity)

    def add(self, integers: Integers, entropy: Entropy) -> Integers:
        """integers + noise, exactly."""
        return added(integers, self.law.draw(len(integers), entropy))


def added(integers: Integers, noise: Integers) -> Integers:
    """integers + noise, exactly."""
    if integers.dtype != object and not -HALF_RANGE < integers.min() <= integers.max() < HALF_RANGE:
        integers = integers.astype(object)
    return np.asarray(integers + noise)


def calibrated(mechanism: str, sensitivity: object, *, price: Price, entries: int) -> Calibrated:
    match mechanism:
        case "laplace":
            return laplace_noise(sensitivity, price=price, entries=entries)
        case "geometric":
            return geometric_noise(sensitivity, price=price, entries=entries)
        case "gaussian":
            return gaussian_noise(sensitivity, price=price, entries=entries)
        case _:
            raise mechanism_unknown(str(mechanism), NUMERIC)


def laplace_noise(sensitivity: object, *, price: Price, entries: int) -> Calibrated:
    """Claim: ε-DP for real entries with this L1 sensitivity, rounded to the grid."""
    change, epsilon = exact_positive(sensitivity, "sensitivity"), _pure(price, "laplace")
    grid = Grid.holding(change, entries)
    steps = grid.absolute(change)
    return Calibrated(DiscreteLaplace.for_epsilon(epsilon, steps), steps, grid, (("epsilon", epsilon),))


def geometric_noise(sensitivity: object, *, price: Price, entries: int) -> Calibrated:
    """Claim: ε-DP for whole numbers with this L1 sensitivity."""
    steps, epsilon = whole_sensitivity(exact_positive(sensitivity, "sensitivity")), _pure(price, "geometric")
    return Calibrated(DiscreteLaplace.for_epsilon(epsilon, steps), steps, Grid(0, entries), (("epsilon", epsilon),))


def gaussian_noise(sensitivity: object, *, price: Price, entries: int) -> Calibrated:
    """Claim: (ε, δ)-DP, or ρ-zCDP, for real entries with this L2 sensitivity, rounded to the grid."""
    change = exact_positive(sensitivity, "sensitivity")
    grid = Grid.holding(change, entries)
    steps = grid.euclidean(change)
    if price.rho is not None:
        if price.epsilon is not None or price.delta is not None:
            raise gaussian_two_prices()
        rho = exact_positive(price.rho, "rho")
        return Calibrated(DiscreteGaussian.for_rho(rho, l2_squared=steps**2), steps, grid, (("rho", rho),))
    epsilon, delta = _approximate(price)
    cost = (("epsilon", epsilon), ("delta", delta))
    if entries == 1:
        return Calibrated(DiscreteGaussian(smallest_variance(steps, epsilon, delta)), steps, grid, cost)
    rho = rho_for(epsilon, delta)
    if rho == 0:
        raise epsilon_too_small(shown(epsilon))
    return Calibrated(DiscreteGaussian.for_rho(rho, l2_squared=steps**2), steps, grid, cost)


def whole_sensitivity(sensitivity: Fraction) -> int:
    if sensitivity.denominator != 1:
        raise sensitivity_not_whole(shown(sensitivity))
    return sensitivity.numerator


def probability(value: object, what: str) -> Fraction:
    """Needs: a number above 0 and below 1."""
    result = exact(value, what)
    if not 0 < result < 1:
        raise out_of_range(what, "0", "1 (both excluded)", shown(result))
    return result


@lru_cache(maxsize=1024)
def smallest_variance(sensitivity: int, epsilon: Fraction, delta: Fraction) -> Fraction:
    """The smallest variance found for which discrete Gaussian noise on one whole number is (ε, δ)-DP.

    Claim: safe whatever the search does, because the variance returned was itself tested; at most 1e-6 of σ above a
    variance whose test failed.
    Needs: sensitivity >= 1, epsilon > 0, 0 < delta < 1.
    Proof: docs/proofs/gaussian-delta.md
    """
    target = float(delta)
    # The textbook zCDP conversion, as a starting point.
    spread = sqrt(-log(delta)) + sqrt(epsilon - log(delta))
    high = _short(sqrt(spread**2 / 2) * sensitivity / float(epsilon))
    while delta_above(high, sensitivity, epsilon) > target:
        high *= STRIDE
    low = high / STRIDE
    while delta_above(low, sensitivity, epsilon) <= target:
        high, low = low, low / STRIDE
    while high > low * Fraction(1 + 2 * ACCURACY):
        middle = _short(sqrt(sqrt(low) * sqrt(high)))
        if delta_above(middle, sensitivity, epsilon) <= target:
            high = middle
        else:
            low = middle
    return high


def _short(sigma: float) -> Fraction:
    """σ², rounded up to few digits, which keeps the sampler's fractions small."""
    mantissa, exponent = frexp(sigma * sigma)
    return Fraction(ceil(mantissa * 2**MANTISSA_BITS)) * Fraction(2) ** (exponent - MANTISSA_BITS)


def _pure(price: Price, mechanism: str) -> Fraction:
    if price.delta is not None or price.rho is not None:
        raise delta_without_use(mechanism)
    if price.epsilon is None:
        raise missing_argument("epsilon", "epsilon=1")
    return exact_positive(price.epsilon, "epsilon")


def _approximate(price: Price) -> tuple[Fraction, Fraction]:
    if price.epsilon is None:
        raise gaussian_needs_price()
    epsilon = exact_positive(price.epsilon, "epsilon")
    if price.delta is None:
        raise gaussian_needs_delta()
    return epsilon, probability(price.delta, "delta")
