"""What a release costs: pure ε, or zCDP ρ and its conversion to (ε, δ).

Costs are exact rationals. The conversion is a formula with logarithms: it is evaluated with 70 digits and rounded in
the safe direction by far more than its error.
"""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from math import exp, isqrt, log, log1p
from typing import Literal

Currency = Literal["epsilon", "rho"]
Objective = Callable[[float], float]

DIGITS = Context(prec=70)
SLACK = Decimal(10) ** -40  # the evaluation errs by less than 1e-50
RHO_GRID = 1 << 128
EPSILON_GRID = 10**15
ROOTS = 1 << 64


@dataclass(frozen=True, slots=True)
class Cost:
    """An amount in one currency, and a δ beside it. Amounts of different currencies never add."""

    currency: Currency
    amount: Fraction
    delta: Fraction = Fraction(0)


def rho_of_pure(epsilon: Fraction) -> Fraction:
    """Every ε-DP mechanism is ε²/2-zCDP. Proof: docs/proofs/composition.md, "Currencies"."""
    return epsilon**2 / 2


def root_below(value: Fraction) -> Fraction:
    """The square root, rounded down to a multiple of 2^-64."""
    return Fraction(isqrt(value.numerator * ROOTS**2 // value.denominator), ROOTS)


@lru_cache(maxsize=4096)
def rho_for(epsilon: Fraction, delta: Fraction) -> Fraction:
    """The largest ρ found such that every ρ-zCDP mechanism is (ε, δ)-DP; rounded down to a multiple of 2^-128.

    Claim: safe for every α that the search may pick, because each α > 1 gives a valid conversion.
    Needs: epsilon > 0, 0 < delta < 1.
    Proof: docs/proofs/zcdp-conversion.md (Canonne, Kamath, Steinke 2020, Proposition 12).
    """
    target, penalty_of = float(epsilon), float(delta)
    alpha = _best_alpha(lambda a: -(target - _penalty(a, penalty_of)) / a)
    with localcontext(DIGITS):
        rho = (_decimal(epsilon) - _exact_penalty(alpha, delta) - SLACK) / alpha * (1 - SLACK)
        return Fraction(max(0, int((rho * RHO_GRID).to_integral_value(rounding=ROUND_FLOOR))), RHO_GRID)


@lru_cache(maxsize=4096)
def epsilon_for(rho: Fraction, delta: Fraction) -> Fraction:
    """An ε such that every ρ-zCDP mechanism is (ε, δ)-DP; rounded up to a multiple of 1e-15.

    Needs: rho >= 0, 0 < delta < 1.
    Proof: docs/proofs/zcdp-conversion.md
    """
    if rho == 0:
        return Fraction(0)
    slope, penalty_of = float(rho), float(delta)
    alpha = _best_alpha(lambda a: a * slope + _penalty(a, penalty_of))
    with localcontext(DIGITS):
        epsilon = (alpha * _decimal(rho) + _exact_penalty(alpha, delta) + SLACK) * (1 + SLACK)
        return Fraction(int((epsilon * EPSILON_GRID).to_integral_value(rounding=ROUND_CEILING)), EPSILON_GRID)


def _penalty(alpha: float, delta: float) -> float:
    """What the conversion adds to α·ρ: (ln(1/δ) - ln(α-1) + α·ln(1-1/α)) / (α-1), never below 0."""
    return max(0.0, (-log(delta) - log(alpha - 1) + alpha * log1p(-1 / alpha)) / (alpha - 1))


def _exact_penalty(alpha: Decimal, delta: Fraction) -> Decimal:
    above = alpha - 1
    penalty = (-_decimal(delta).ln() - above.ln() + alpha * (1 - 1 / alpha).ln()) / above
    return max(penalty, Decimal(0))


def _best_alpha(objective: Objective) -> Decimal:
    """An α > 1 near the minimum; a poor α costs accuracy, never privacy."""
    grid = range(-20, 31)
    best = min(range(len(grid)), key=lambda i: objective(1 + exp(grid[i])))
    low, high = float(grid[best] - 1), float(grid[best] + 1)
    for _ in range(40):
        left, right = low + 0.382 * (high - low), high - 0.382 * (high - low)
        if objective(1 + exp(left)) < objective(1 + exp(right)):
            high = right
        else:
            low = left
    return Decimal(1 + exp((low + high) / 2))


def _decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)
