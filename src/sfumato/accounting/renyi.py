"""From moments of the privacy loss to (ε, δ): every order is valid, so a search can only cost accuracy.

Proof: docs/proofs/zcdp-conversion.md (Canonne, Kamath, Steinke 2020, Proposition 12), docs/proofs/composition.md
"""

from collections.abc import Callable

import numpy as np

from sfumato.accounting.bands import Floats

Moments = Callable[[Floats], Floats]

LOWEST, HIGHEST = 1e-9, 1e7
COARSE, FINE, ROUNDS = 120, 17, 5
UNIT = 2.0**-49  # of each of the terms added up


def order_for_delta(moments: Moments, delta: float, *, highest: float = HIGHEST) -> tuple[float, float]:
    """The order v = α - 1 that gives the smallest ε at this δ, and that ε from above (not below 0)."""
    order, epsilon = _smallest(lambda v: _logarithm(moments(v) - np.log(delta), v) / v, highest)
    return order, max(epsilon, 0.0)


def order_for_epsilon(moments: Moments, epsilon: float, *, highest: float = HIGHEST) -> tuple[float, float]:
    """The order v = α - 1 that gives the smallest δ at this ε, and the logarithm of that δ."""
    return _smallest(lambda v: _logarithm(moments(v) - v * epsilon, v), highest)


def _logarithm(exponent: Floats, order: Floats) -> Floats:
    """The exponent plus ln of 1/(α-1) · (1 - 1/α)^α, raised by what rounding may take from terms that cancel."""
    factor, power = np.log(order), (order + 1) * np.log1p(1 / order)
    return np.asarray(exponent - factor - power + UNIT * (1 + np.abs(exponent) + np.abs(factor) + power))


def _smallest(objective: Moments, highest: float) -> tuple[float, float]:
    """The best order found: a coarse look at all magnitudes, then finer ones around the best."""
    low, high = np.log(LOWEST), np.log(max(highest, 2 * LOWEST))
    count = COARSE
    for _ in range(ROUNDS):
        orders = np.linspace(low, high, count)
        values = objective(np.exp(orders))
        best = int(np.argmin(values))
        width = (high - low) / (count - 1)
        low, high, count = max(orders[best] - width, np.log(LOWEST)), min(orders[best] + width, high), FINE
    return float(np.exp(orders[best])), float(values[best])
