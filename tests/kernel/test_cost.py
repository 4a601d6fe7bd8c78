"""What a release costs: the conversion against tables, against a direct minimisation, and rounded the safe way."""

from decimal import Context, Decimal, localcontext
from fractions import Fraction
from math import exp, log, log1p, sqrt
from random import Random
from typing import Any

import numpy as np
import pytest
from scipy import optimize

from sfumato.kernel import cost
from sfumato.kernel.cost import EPSILON_GRID, RHO_GRID, Cost, epsilon_for, rho_for
from tests.kernel.laws import decimal, mutant

DELTA = Fraction(1, 10**5)
FINE = Context(prec=250)


def converted(rho: float, delta: float) -> float:
    """min over α of αρ + (ln(1/δ) - ln(α-1) + α ln(1-1/α)) / (α-1), by another search."""

    def epsilon(x: float) -> float:
        alpha = 1 + exp(x)
        return alpha * rho + max(0.0, (-log(delta) - x + alpha * log1p(-1 / alpha)) / (alpha - 1))

    grid = np.linspace(-20, 30, 2001)
    near = grid[int(np.argmin([epsilon(x) for x in grid]))]
    found = optimize.minimize_scalar(
        epsilon, bounds=(near - 0.1, near + 0.1), method="bounded", options={"xatol": 1e-12}
    )
    return float(min(found.fun, epsilon(near)))


def penalty(alpha: Decimal, delta: Fraction) -> Decimal:
    with localcontext(FINE):
        above = alpha - 1
        return max((-decimal(delta).ln() - above.ln() + alpha * (1 - 1 / alpha).ln()) / above, Decimal(0))


# ---- values ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("count", "epsilon"), [(10, 1.31), (50, 3.19), (100, 4.73), (200, 7.08), (500, 12.3), (1000, 19.0)]
)
def test_many_small_releases(count: int, epsilon: float) -> None:
    """k mechanisms of ε₀ = 0.1 are k ε₀²/2-zCDP in all; the table is rounded to three digits."""
    assert float(f"{float(epsilon_for(Fraction(count, 200), DELTA)):.3g}") == epsilon


def test_a_hundred_large_releases() -> None:
    assert float(f"{float(epsilon_for(Fraction(50), DELTA)):.3g}") == 96.0


def test_it_beats_the_textbook() -> None:
    for rho in (Fraction(1, 1000), Fraction(1, 10), Fraction(1), Fraction(20)):
        textbook = float(rho) + 2 * sqrt(float(rho) * log(1e5))
        assert float(epsilon_for(rho, DELTA)) < textbook


@pytest.mark.parametrize("delta", [Fraction(1, 10), Fraction(1, 10**5), Fraction(1, 10**12), Fraction(1, 10**60)])
@pytest.mark.parametrize("rho", [Fraction(1, 10**9), Fraction(1, 500), Fraction(1, 3), Fraction(7), Fraction(10**4)])
def test_against_a_direct_minimisation(rho: Fraction, delta: Fraction) -> None:
    epsilon = epsilon_for(rho, delta)
    direct = converted(float(rho), float(delta))
    assert float(epsilon) <= direct * (1 + 1e-9) + 1e-14
    assert float(epsilon) == pytest.approx(direct, rel=1e-6, abs=1e-14)
    back = rho_for(epsilon, delta)
    if epsilon > Fraction(1, 10**6):
        assert float(back) == pytest.approx(float(rho), rel=1e-5)


def test_it_never_falls_below_the_exact_gaussian() -> None:
    """A Gaussian of ρ-zCDP has δ(ε) = Φ(μ/2 - ε/μ) - e^ε Φ(-μ/2 - ε/μ), μ = √(2ρ): no conversion may undercut it."""
    from scipy.stats import norm

    for rho in (0.01, 0.3, 2.0, 10.0):
        mu = sqrt(2 * rho)
        epsilon = float(epsilon_for(Fraction(rho), DELTA))
        exactly = norm.cdf(mu / 2 - epsilon / mu) - exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu)
        assert exactly < 1e-5


# ---- safety ------------------------------------------------------------------------------------------------


def cases(count: int) -> list[tuple[Fraction, Fraction]]:
    """Amounts and deltas over many magnitudes, with the corners."""
    random = Random("cases")
    found = [
        (
            Fraction(10) ** random.randint(-12, 6) * random.randint(1, 999),
            Fraction(random.randint(1, 9), 10 ** random.randint(1, 40)),
        )
        for _ in range(count)
    ]
    corners = [Fraction(1, 10**60), Fraction(1), Fraction(10) ** 30]
    return found + [(amount, delta) for amount in corners for delta in (Fraction(1, 10**100), Fraction(999, 1000))]


@pytest.mark.parametrize(("amount", "delta"), cases(40))
def test_there_and_back_is_safe(amount: Fraction, delta: Fraction) -> None:
    """The ρ bought with ε converts to no more than ε; the ε charged for ρ buys no less than ρ."""
    rho = rho_for(amount, delta)
    assert epsilon_for(rho, delta) <= amount * (1 + Fraction(1, 10**12)) + Fraction(1, EPSILON_GRID)
    epsilon = epsilon_for(amount, delta)
    if epsilon > Fraction(1, 10**3):
        assert rho_for(epsilon, delta) >= amount * (1 - Fraction(1, 10**5)) - Fraction(1, RHO_GRID)


@pytest.mark.parametrize(("amount", "delta"), cases(40))
def test_rounded_the_safe_way_by_250_digits(monkeypatch: pytest.MonkeyPatch, amount: Fraction, delta: Fraction) -> None:
    """With the α that was picked, ε is at least αρ + penalty(α) and ρ at most (ε - penalty(α)) / α."""
    picked: list[Decimal] = []
    best = cost._best_alpha
    monkeypatch.setattr(cost, "_best_alpha", lambda objective: picked.append(best(objective)) or picked[-1])
    epsilon, rho = epsilon_for.__wrapped__(amount, delta), rho_for.__wrapped__(amount, delta)
    with localcontext(FINE):
        least = picked[0] * decimal(amount) + penalty(picked[0], delta)
        assert decimal(epsilon) >= least
        assert decimal(epsilon) <= least * (1 + Decimal("1e-30")) + Decimal(2) / EPSILON_GRID
        most = (decimal(amount) - penalty(picked[1], delta)) / picked[1]
        assert decimal(rho) <= max(most, Decimal(0))
        assert decimal(rho) >= most * (1 - Decimal("1e-30")) - Decimal(2) / RHO_GRID
    assert (epsilon * EPSILON_GRID).denominator == 1
    assert (rho * RHO_GRID).denominator == 1


@pytest.mark.parametrize(
    ("old", "new", "safe"),
    [
        ("rounding=ROUND_CEILING", "rounding=ROUND_FLOOR", "epsilon"),
        ("rounding=ROUND_FLOOR", "rounding=ROUND_CEILING", "rho"),
        ("above.ln() + alpha", "above.ln() + 2 * alpha", "epsilon"),
        ("(1 - 1 / alpha).ln()) / above", "(1 - 1 / alpha).ln()) / above / 2", "rho"),
    ],
)
def test_twins_that_round_or_convert_the_wrong_way_are_caught(old: str, new: str, safe: str) -> None:
    twin: Any = mutant(cost, old, new)
    picked: list[Decimal] = []
    best = twin._best_alpha
    twin._best_alpha = lambda objective: picked.append(best(objective)) or picked[-1]
    unsafe = 0
    for amount, delta in cases(10):
        with localcontext(FINE):
            if safe == "epsilon":
                found = decimal(twin.epsilon_for(amount, delta))
                unsafe += found < picked[-1] * decimal(amount) + penalty(picked[-1], delta)
            else:
                found = decimal(twin.rho_for(amount, delta))
                unsafe += found > max((decimal(amount) - penalty(picked[-1], delta)) / picked[-1], Decimal(0))
    assert unsafe > 0


def test_any_alpha_is_safe(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search gone wrong costs accuracy: the answers only become worse for the analyst."""
    epsilon, rho = epsilon_for(Fraction(1, 10), DELTA), rho_for(Fraction(1), DELTA)
    for alpha in ("1.0000001", "1.5", "100", "1e9"):
        monkeypatch.setattr(cost, "_best_alpha", lambda objective, alpha=alpha: Decimal(alpha))
        assert epsilon_for.__wrapped__(Fraction(1, 10), DELTA) > epsilon
        assert rho_for.__wrapped__(Fraction(1), DELTA) < rho


def test_monotone() -> None:
    amounts = [Fraction(10) ** i * j for i in range(-6, 4) for j in (1, 2, 5)]
    for convert in (epsilon_for, rho_for):
        for delta in (Fraction(1, 10**3), Fraction(1, 10**9)):
            values = [convert(amount, delta) for amount in amounts]
            assert values == sorted(values)
        assert len({convert(Fraction(1), Fraction(1, 10**i)) for i in range(1, 12)}) == 11
    deltas = [Fraction(1, 10**i) for i in range(1, 40)]
    assert [epsilon_for(Fraction(1), d) for d in deltas] == sorted(epsilon_for(Fraction(1), d) for d in deltas)
    assert [rho_for(Fraction(1), d) for d in deltas] == sorted((rho_for(Fraction(1), d) for d in deltas), reverse=True)


def test_nothing_costs_nothing_and_too_little_buys_nothing() -> None:
    assert epsilon_for(Fraction(0), DELTA) == 0
    assert rho_for(Fraction(1, 10**90), Fraction(1, 10**50)) == 0
    assert rho_for(Fraction(1, 10**6), DELTA) > 0


def test_a_cost_is_an_amount_of_one_currency() -> None:
    assert Cost("epsilon", Fraction(1)) != Cost("rho", Fraction(1))
    with pytest.raises(TypeError):
        Cost("epsilon", Fraction(1)) + Cost("epsilon", Fraction(1))  # type: ignore[operator]
