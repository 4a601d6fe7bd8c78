"""The exact optimum over everything that is only known to be ε-DP (Kairouz, Oh, Viswanath 2015).

For k equal ε the loss is (k - 2i) ε with a binomial law, a finite sum; for different ε the same law is added up on a
grid, to any accuracy. Proof: docs/proofs/optimal-composition.md
"""

from fractions import Fraction
from math import exp, inf, log1p, nextafter

import numpy as np

from sfumato.accounting.bands import Floats
from sfumato.accounting.events import Plan
from sfumato.accounting.losses import worst
from sfumato.accounting.pld import delta_of, epsilon_of
from sfumato.accounting.rounding import up

LONGEST_SUM = 1_000_000
TAIL = 1e-300
CLOSE = 1e-13
UNIT = 2.0**-50  # four units in the last place


def optimal_epsilon(plan: Plan, delta: Fraction) -> float:
    """The smallest ε found for which every composition of such mechanisms is (ε, δ)-DP; no smaller one holds for all.

    Needs: every event has an ε; delta above what the events lose themselves.
    """
    most = up(sum((count * event.amount for event, count in plan), Fraction(0)))
    if _summable(plan):
        return min(most, _exact_epsilon(plan, float(delta)))
    return min(most, epsilon_of(worst(plan), float(delta)))


def optimal_delta(plan: Plan, epsilon: float) -> float:
    """The smallest δ found at this ε. Needs: every event has an ε."""
    if _summable(plan):
        losses, masses, lost = _binomial(plan)
        return _delta(losses, masses, lost, epsilon)
    return delta_of(worst(plan), epsilon)


def _summable(plan: Plan) -> bool:
    return len({event.amount for event, _ in plan}) == 1 and sum(count for _, count in plan) <= LONGEST_SUM


def _exact_epsilon(plan: Plan, delta: float) -> float:
    losses, masses, lost = _binomial(plan)
    low, high = 0.0, float(losses[0])
    if _delta(losses, masses, lost, low) <= delta:
        return low
    while high - low > CLOSE * high:
        middle = (low + high) / 2
        if not low < middle < high:
            break
        low, high = (middle, high) if _delta(losses, masses, lost, middle) > delta else (low, middle)
    return nextafter(high, inf)


def _delta(losses: Floats, masses: Floats, lost: float, epsilon: float) -> float:
    over = losses > epsilon
    finite = float(masses[over] @ -np.expm1(epsilon - losses[over]))
    return (lost + (1 - lost) * finite) * (1 + 1e-12 + UNIT * len(losses)) + TAIL


def _binomial(plan: Plan) -> tuple[Floats, Floats, float]:
    """The losses (k - 2i) ε, largest first, with their probabilities, and the probability of losing everything.

    The probabilities are products of ratios from the mode outwards, so that each has k rounding errors at most; the
    losses are raised by more than theirs.
    """
    epsilon, count = float(plan[0][0].amount), sum(times for _, times in plan)
    places = np.arange(count + 1, dtype=np.float64)
    mode = int((count + 1) / (1 + exp(min(epsilon, 700.0))))
    ratios = (count - places[:-1]) / (places[:-1] + 1) * exp(-epsilon)
    masses = np.ones(count + 1)
    masses[mode + 1 :] = np.cumprod(ratios[mode:])
    masses[:mode] = np.cumprod(1 / ratios[:mode][::-1])[::-1]
    intact = sum(times * log1p(-float(event.delta)) for event, times in plan)
    losses = (count - 2 * places) * epsilon + UNIT * (count * epsilon)
    return losses, masses / masses.sum(), -float(np.expm1(intact))
