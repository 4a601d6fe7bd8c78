"""From moments of the privacy loss to (ε, δ): every order is valid, so a search can only cost accuracy.

Proof: docs/proofs/zcdp-conversion.md (Canonne, Kamath, Steinke 2020, Proposition 12), docs/proofs/composition.md
"""

from collections.abc import Callable

import numpy as np

from sfumato.accounting.bands import Floats

Moments = Callable[[Floats], Floats]

LOWEST, HIGHEST = 1e-9, 1e7
COARSE, FINE, ROUNDS = 120, 17, 5


def order_for_delta(moments: Moments, delta: float, *, highest: float = HIGHEST) -> tuple[float, float]:
    """The order v = α - 1 that gives the smallest ε at this δ, and that ε (not below 0)."""
    order, epsilon = _smallest(lambda v: (moments(v) - np.log(delta) + _log_factor(v)) / v, highest)
    return order, max(epsilon, 0.0)


def order_for_epsilon(moments: Moments, epsilon: float, *, highest: float = HIGHEST) -> tuple[float, float]:
    """The order v = α - 1 that gives the smallest δ at this ε, and the logarithm of that δ."""
    return _smallest(lambda v: moments(v) - v * epsilon + _log_factor(v), highest)


def _log_factor(order: Floats) -> Floats:
    """ln of 1/(α-1) · (1 - 1/α)^α."""
    return np.asarray(-np.log(order) - (order + 1) * np.log1p(1 / order))


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
