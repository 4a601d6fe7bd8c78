"""How many questions fit, what each may spend, and how wrong each will be."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

import sfumato as sf
from sfumato.accounting import (
    classical_sigma,
    deviations,
    error_of,
    gaussian_delta,
    gaussian_epsilon,
    gaussian_sigma,
    questions,
    questions_within,
    spend_for,
)
from sfumato.errors import UsageError
from sfumato.ledger.terms import Terms

limits = some.one_of(
    some.builds(sf.Budget, some.fractions(Fraction(1, 10), 10)),
    some.builds(sf.Budget, some.fractions(Fraction(1, 10), 10), some.sampled_from([1e-5, 1e-6, 1e-9])),
)


def test_many_small_questions_fit() -> None:
    assert questions(sf.Budget(3), 0.5) == 6
    assert questions(sf.Budget(1), 0.1) == 10
    assert questions(sf.Budget(3, 1e-6), 0.5) == 28
    assert questions(sf.Budget(1), 2) == 0


@settings(max_examples=50)
@given(limits, some.integers(1, 1000))
def test_the_plan_is_what_the_ledger_grants(limit: sf.Budget, count: int) -> None:
    terms, spend = Terms(limit), spend_for(limit, count)
    assert count * terms.price(Fraction(str(spend))).amount <= terms.limit
    assert questions(limit, spend) >= count
    if spend > 1e-3:
        assert questions(limit, Fraction(str(spend)) * Fraction(1001, 1000)) < count + max(1, count // 100)


@pytest.mark.parametrize("limit", [sf.Budget(1), sf.Budget(1, 1e-6)])
@pytest.mark.parametrize("count", [1, 7, 50])
def test_errors_and_questions_are_two_sides(limit: sf.Budget, count: int) -> None:
    error = error_of(limit, count)
    assert questions_within(limit, error) >= count
    assert questions_within(limit, error - 1) < count if error > 1 else True
    assert error_of(limit, count, confidence=0.5) < error
    assert error_of(limit, count, sensitivity=3) > error


def test_the_error_of_one_count() -> None:
    assert error_of(sf.Budget(1), 1) == 3
    assert questions_within(sf.Budget(1), 3) == 1
    assert questions_within(sf.Budget(1, 1e-6), 0.5) == 0
    assert questions_within(sf.Budget(3, 1e-6), 20) == 38


def test_gaussian_numbers() -> None:
    assert gaussian_sigma(1, 1e-5) == pytest.approx(3.7306, abs=5e-5)
    assert classical_sigma(0.1, 1e-5) / gaussian_sigma(0.1, 1e-5) == pytest.approx(1.58, abs=5e-3)
    for epsilon, delta in ((0.1, 1e-5), (1, 1e-6), (5, 1e-3), (20, 1e-9)):
        sigma = gaussian_sigma(epsilon, delta)
        assert gaussian_delta(sigma, epsilon) <= delta
        assert gaussian_delta(sigma * (1 - 1e-6), epsilon) > delta
        assert gaussian_epsilon(sigma, delta) == pytest.approx(epsilon, rel=1e-6)


def test_the_classical_formula_fails_where_it_is_refused() -> None:
    """At ε = 8.5, δ = 1e-5 its σ is too small; it is proved for ε < 1, and nothing else is given out."""
    from math import log, sqrt

    assert gaussian_delta(sqrt(2 * log(1.25e5)) / 8.5, 8.5) > 1e-5
    with pytest.raises(UsageError, match="classical formula"):
        classical_sigma(1, 1e-5)


@pytest.mark.parametrize(
    "call",
    [
        lambda: questions(3, 0.5),
        lambda: questions(sf.Budget(3), 0),
        lambda: spend_for(sf.Budget(3), 0),
        lambda: spend_for(sf.Budget(Fraction(1, 10**9), 1e-9), 10**6),
        lambda: error_of(sf.Budget(3), 1.5),
        lambda: error_of(sf.Budget(3), 1, confidence=1),
        lambda: questions_within(sf.Budget(3), -1),
        lambda: deviations(0, 1),
        lambda: gaussian_sigma(1, 0),
        lambda: gaussian_epsilon(1, 1),
        lambda: gaussian_delta(1, -1),
        lambda: gaussian_delta(0, 1),
    ],
)
def test_mistakes_are_usage_errors(call: object) -> None:
    with pytest.raises(UsageError):
        call()  # type: ignore[operator]
