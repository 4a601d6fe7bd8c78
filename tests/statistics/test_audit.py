"""N3, the scale audit: what 200,000 draws a side prove about ε and δ, for every mechanism and for its twin."""

from collections.abc import Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from sfumato.kernel.certify import certify
from sfumato.kernel.cost import epsilon_for
from sfumato.kernel.gate import Receipt, release
from sfumato.kernel.mechanisms.additive import DiscreteGaussian, DiscreteLaplace
from sfumato.kernel.mechanisms.choice import Choice, Exponential, PermuteAndFlip
from sfumato.plan.expressions import Column
from sfumato.plan.lattice import Lattice
from sfumato.plan.nodes import CentredSum, CountRows, CountValues, RangeKey, Sum
from tests.kernel.laws import PRECISE, gaussian_total, gaussian_weight
from tests.kernel.plans import measure, plan, schema
from tests.statistics.evidence import ERROR, delta_shown, epsilon_shown, source

DRAWS = 200_000
LESS = Fraction(9, 10)


def thresholds(draws: np.ndarray[Any, Any]) -> list[int]:
    """A few events "at most k" of different probability, chosen without looking at the neighbour."""
    return sorted({int(np.quantile(draws, share)) for share in (0.02, *np.arange(0.1, 0.95, 0.1), 0.98)})


def epsilon_found(first: np.ndarray[Any, Any], second: np.ndarray[Any, Any]) -> float:
    """The largest ε proved by any of the events or their complements, with the error of the whole check."""
    events = thresholds(np.concatenate([first[:1000], second[:1000]]))
    error = ERROR / (8 * len(events))
    found = []
    for k in events:
        a, b = int((first <= k).sum()), int((second <= k).sum())
        for p, q in ((a, b), (b, a), (DRAWS - a, DRAWS - b), (DRAWS - b, DRAWS - a)):
            found.append(epsilon_shown(p, q, DRAWS, error))
    return max(found)


@pytest.mark.parametrize("sensitivity", [1, 5])
@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(1), Fraction(3)])
def test_discrete_laplace(epsilon: Fraction, sensitivity: int) -> None:
    for share, flagged in ((Fraction(1), False), (LESS, True)):
        law = DiscreteLaplace(DiscreteLaplace.for_epsilon(epsilon, sensitivity).scale * share)
        first = law.draw(DRAWS, source(f"N3 {epsilon} {sensitivity} {share} 0"))
        second = law.draw(DRAWS, source(f"N3 {epsilon} {sensitivity} {share} 1")) + sensitivity
        assert (epsilon_found(first, second) > epsilon) is flagged
        if not flagged:
            assert epsilon_found(first, second) > 0.9 * float(epsilon), "the audit must come near"


def gaussian_delta(variance: Fraction, shift: int, epsilon: float) -> float:
    """Σ max(0, p(k) - e^ε p(k - shift)), the exact δ of one integer."""
    with localcontext(PRECISE):
        total, factor = gaussian_total(variance), Decimal(epsilon).exp()
        reach = int(12 * float(variance) ** 0.5) + 2 * shift + 5
        gains = [
            gaussian_weight(variance, k) - factor * gaussian_weight(variance, k - shift) for k in range(-reach, reach)
        ]
        return float(sum(gain for gain in gains if gain > 0) / total)


@pytest.mark.parametrize(("rho", "sensitivity"), [(Fraction(1, 2), 1), (Fraction(1, 8), 3), (Fraction(2), 10)])
def test_discrete_gaussian(rho: Fraction, sensitivity: int) -> None:
    law = DiscreteGaussian.for_rho(rho, l2_squared=sensitivity**2)
    for share, flagged in ((Fraction(1), False), (LESS**2, True)):
        drawn = DiscreteGaussian(law.variance * share)
        first = drawn.draw(DRAWS, source(f"N3 {rho} {sensitivity} {share} 0"))
        second = drawn.draw(DRAWS, source(f"N3 {rho} {sensitivity} {share} 1")) + sensitivity
        beyond = []
        for epsilon in (0.0, 0.25, 1.0, 2.0):
            claimed = gaussian_delta(law.variance, sensitivity, epsilon)
            for k in thresholds(first[:2000]):
                p, q = int((first <= k).sum()), int((second <= k).sum())
                beyond.append(delta_shown(p, q, DRAWS, ERROR / 50, epsilon) > claimed)
        assert any(beyond) is flagged


def test_discrete_gaussian_keeps_what_the_conversion_promises() -> None:
    """ρ-zCDP, converted to (ε, δ): no event may show more."""
    rho, delta = Fraction(1, 2), Fraction(1, 1000)
    epsilon = float(epsilon_for(rho, delta))
    law = DiscreteGaussian.for_rho(rho, l2_squared=4)
    first = law.draw(DRAWS, source("N3 converted 0"))
    second = law.draw(DRAWS, source("N3 converted 1")) + 2
    for k in range(-20, 20):
        p, q = int((first <= k).sum()), int((second <= k).sum())
        assert delta_shown(p, q, DRAWS, ERROR / 50, epsilon) <= delta


# ---- choice ------------------------------------------------------------------------------------------------


def times_second(mechanism: Choice, scores: Sequence[float], draws: int, name: str) -> int:
    """How often the second of two candidates was chosen."""
    entropy, array = source(name), np.array(scores)
    draw = mechanism.draw  # type: ignore[attr-defined]
    return sum(draw(array, entropy) for _ in range(draws))


@pytest.mark.exhaustive  # the contract of both counts events, too: with fewer draws
@pytest.mark.parametrize(
    ("kind", "epsilon", "scores", "other", "twin_draws"),
    [
        # For both the second candidate gains most: its own score rises by 1 while the winner's falls by 1. The
        # exponential mechanism reaches ε in a limit only, so there a tenth more is harder to see.
        (PermuteAndFlip, Fraction(2), [2.0, 0.0], [1.0, 1.0], 50_000),
        (Exponential, Fraction(11, 4), [3.5, 0.0], [2.5, 1.0], 400_000),
    ],
)
def test_choice(
    kind: type[Choice], epsilon: Fraction, scores: list[float], other: list[float], twin_draws: int
) -> None:
    for share, flagged in ((Fraction(1), False), (LESS, True)):
        mechanism, draws = kind(epsilon / share, Fraction(1)), twin_draws if flagged else DRAWS // 2
        first = times_second(mechanism, scores, draws, f"N3 {kind.__name__} {share} 0")
        second = times_second(mechanism, other, draws, f"N3 {kind.__name__} {share} 1")
        shown = epsilon_shown(second, first, draws, ERROR / 4)
        assert (shown > epsilon) is flagged
        assert shown > 0.85 * float(epsilon), "the audit must come near"


# ---- certify and gate, for every aggregate -----------------------------------------------------------------

LATTICE = Lattice(-20, 90, 0)
AGGREGATES = [
    CountRows(),
    CountValues(Column("income")),
    Sum(Column("income"), LATTICE),
    CentredSum(Column("income"), LATTICE),
]
WIDE = (RangeKey(Column("age"), 1, 100_000),)


def released(aggregate: Any, mechanism: Any, currency: Any, integer: int, name: str) -> np.ndarray[Any, Any]:
    """A hundred thousand groups at a time, each with the same integer: each group is one run of the mechanism."""
    paid = certify(plan(measure(aggregate, 1, mechanism), keys=WIDE), schema(), currency)
    parts = [
        release(paid, Receipt(1, paid.digest), [(integer,)] * 100_000, source(f"{name} {part}"))
        for part in range(DRAWS // 100_000)
    ]
    return np.array([row[0] for part in parts for row in part.values])


@pytest.mark.parametrize("aggregate", AGGREGATES, ids=lambda aggregate: type(aggregate).__name__)
def test_certified_releases(aggregate: Any) -> None:
    """One unit moves the integer by the largest contribution of a row; another by a tenth more is a twin."""
    largest = {CountRows: 1, CountValues: 1, Sum: 90, CentredSum: 55}[type(aggregate)]
    first = released(aggregate, "laplace", "epsilon", 0, f"N3 {aggregate} 0")
    second = released(aggregate, "laplace", "epsilon", largest, f"N3 {aggregate} 1")
    assert 0.9 < epsilon_found(first, second) <= 1
    farther = released(aggregate, "laplace", "epsilon", 2 * largest, f"N3 {aggregate} 2")
    assert epsilon_found(first, farther) > 1
    # ρ = 1 with Gaussian noise: μ = √2, and the loss beyond ε = 2 has the exact δ.
    variance = Fraction(largest**2, 2)
    third = released(aggregate, "gaussian", "rho", 0, f"N3 {aggregate} 3")
    fourth = released(aggregate, "gaussian", "rho", largest, f"N3 {aggregate} 4")
    claimed = gaussian_delta(variance, largest, 1.0)
    shown = [
        delta_shown(int((third <= k).sum()), int((fourth <= k).sum()), DRAWS, ERROR / 20, 1.0)
        for k in thresholds(third[:2000])
    ]
    assert 0 < max(shown) <= claimed
