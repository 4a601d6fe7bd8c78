"""Bounds on paper: sums of ε, advanced composition, zCDP and Rényi orders. Proofs: docs/proofs/composition.md"""

from collections import Counter
from fractions import Fraction
from math import e, expm1, fsum, log, sqrt, tanh

import numpy as np

from sfumato.accounting.bands import Band, Bands, Floats, laplace, randomised_response
from sfumato.accounting.events import Event, Plan
from sfumato.accounting.gaussian import epsilon_at
from sfumato.accounting.renyi import order_for_delta
from sfumato.accounting.rounding import up
from sfumato.kernel.cost import epsilon_for

UPWARD = 1 + 1e-12  # more than the float error of every formula here
LARGEST_EPSILON = 300  # where e^ε · ε · count still is a double


def own_delta(plan: Plan) -> Fraction:
    """What the events' own δ add up to."""
    return sum((count * event.delta for event, count in plan), Fraction(0))


def sequential(plan: Plan, delta: Fraction) -> float:
    """The sum of the ε. Events without one are read at an equal share of what is left of δ.

    Claim: (result, delta)-DP; with pure events alone (result, 0)-DP, and the sum is exact.
    Proof: docs/proofs/composition.md, "Sequential".
    """
    shared = sum(count for event, count in plan if event.epsilon is None)
    share = (delta - own_delta(plan)) / max(shared, 1)
    exact = sum((count * event.epsilon for event, count in plan if event.epsilon is not None), Fraction(0))
    if not shared:
        return up(exact)
    return (
        fsum([up(exact), *(count * _epsilon(event, share) for event, count in plan if event.epsilon is None)]) * UPWARD
    )


def advanced(plan: Plan, delta: Fraction) -> float | None:
    """√(2 ln(1/δ') Σ ε²) + Σ ε (e^ε - 1) (Dwork, Rothblum, Vadhan 2010); None where e^ε leaves the doubles.

    Claim: (result, delta)-DP, of which δ' is what the events leave; events without an ε share half of it.
    Proof: docs/proofs/composition.md, "Advanced".
    """
    left, shared = delta - own_delta(plan), sum(count for event, count in plan if event.epsilon is None)
    slack = left / 2 if shared else left
    share = left / 2 / max(shared, 1)
    prices = [(float(event.epsilon) if event.epsilon else _epsilon(event, share), count) for event, count in plan]
    if max(epsilon for epsilon, _ in prices) > LARGEST_EPSILON:
        return None
    squares = fsum(count * epsilon**2 for epsilon, count in prices)
    drift = fsum(count * epsilon * expm1(epsilon) for epsilon, count in prices)
    return (sqrt(2 * log(1 / slack) * squares) + drift) * UPWARD


def thesis(plan: Plan, delta: Fraction) -> tuple[float | None, str]:
    """2 ε √(2 k ln(1/δ)) for k equal ε, and why not where it is not proved.

    Claim: (result, delta)-DP for k mechanisms of ε each while k ε² <= 8 ln(1/δ); beyond that no theorem covers it, and
    for large k it is false.
    Proof: docs/proofs/composition.md, "The simplified formula".
    """
    prices = {event.epsilon for event, _ in plan}
    epsilon = next(iter(prices))
    if own_delta(plan) or epsilon is None or len(prices) > 1:
        return None, "the formula 2 ε √(2 k ln(1/δ)) is about k mechanisms with one and the same pure epsilon."
    count = sum(times for _, times in plan)
    load, limit = float(count * epsilon**2), 8 * log(1 / delta)
    if load * UPWARD > limit:
        reason = (
            f"the formula 2 ε √(2 k ln(1/δ)) is proved only while k ε² <= 8 ln(1/δ); "
            f"here {load:.6g} is above {limit:.6g}, and it may understate the loss."
        )
        return None, reason
    return 2 * float(epsilon) * sqrt(2 * count * log(1 / delta)) * UPWARD, ""


def closed_form(epsilon: Fraction, count: int, delta: Fraction) -> float:
    """The closed bound of Kairouz, Oh, Viswanath 2015 for `count` mechanisms of ε each: above the exact optimum."""
    size, k = float(epsilon), count
    drift, spread = k * size * tanh(size / 2), size * sqrt(2 * k)
    logarithms = log(1 / delta), log(e + sqrt(k) * size / float(delta))
    return min([up(k * epsilon), *((drift + spread * sqrt(each)) * UPWARD for each in logarithms)])


def zcdp(plan: Plan, delta: Fraction) -> float:
    """The ρ added up, then converted with the δ that the events leave.

    Proof: docs/proofs/composition.md, "Currencies", and docs/proofs/zcdp-conversion.md.
    """
    return up(epsilon_for(sum((count * event.rho for event, count in plan), Fraction(0)), delta - own_delta(plan)))


def rdp(plan: Plan, delta: Fraction) -> float:
    """The Rényi divergences of every order added up, then converted at the best order.

    Proof: docs/proofs/composition.md, "Rényi orders".
    """
    bands: Counter[Band] = Counter()
    for event, count in plan:
        if event.epsilon is not None and event.mechanism != "exponential":
            bands[laplace(event.amount) if event.mechanism == "laplace" else randomised_response(event.amount)] += count
    choices = [
        (Bands.of({randomised_response(event.amount): 1}), float(event.amount), count)
        for event, count in plan
        if event.mechanism == "exponential"
    ]
    rho = float(sum((count * event.rho for event, count in plan if event.epsilon is None), Fraction(0)))

    def moments(orders: Floats) -> Floats:
        total = orders * (orders + 1) * rho
        if bands:
            total = total + Bands.of(bands).moments(orders)
        for worst, epsilon, count in choices:
            total = total + count * np.minimum(worst.moments(orders), orders * (orders + 1) * epsilon**2 / 8)
        return np.asarray(total)

    return order_for_delta(moments, float(delta - own_delta(plan)))[1] * UPWARD


def _epsilon(event: Event, delta: Fraction) -> float:
    """The ε of one event without an ε of its own, at this δ."""
    if event.mechanism == "gaussian":
        return epsilon_at(1 / float(event.amount), float(delta))
    return up(epsilon_for(event.rho, delta))
