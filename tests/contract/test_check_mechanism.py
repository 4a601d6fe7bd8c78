"""The machine itself: every way to break the contract is noticed by the check that is there for it."""

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from sfumato.errors import UsageError
from sfumato.kernel.mechanisms.additive import DiscreteGaussian, DiscreteLaplace
from tests.contract.answers import RESPONSE
from tests.contract.check_mechanism import (
    Spec,
    audited,
    check_audit,
    check_cost,
    check_error,
    check_event,
    check_law,
    check_mechanism,
    check_privacy,
    check_refusals,
    check_reproducible,
    parameters,
    privacy_excess,
)
from tests.contract.numbers import DISCRETE_GAUSSIAN, DISCRETE_LAPLACE, clipped, gaussian_at, laplace_at
from tests.entropy import SeededEntropy

F = Fraction
GOOD = DISCRETE_LAPLACE


def draw_with(scale: Callable[[Fraction], Fraction]) -> Callable[..., list[int]]:
    return lambda value, price, count, entropy: clipped(value + DiscreteLaplace(scale(price)).draw(count, entropy), 40)


def law_with(scale: Callable[[Fraction], Fraction]) -> Callable[..., Any]:
    return lambda value, price: laplace_at(scale(price), value, 40)


def halved(law: Any) -> Any:
    return {outcome: chance / 2 for outcome, chance in law.items()}


BROKEN = [
    ("ignores the entropy", check_reproducible, {"draw": lambda v, p, n, e: GOOD.draw(v, p, n, SeededEntropy("mine"))}),
    ("hidden randomness", check_reproducible, {"draw": lambda v, p, n, e: np.random.default_rng().integers(9, size=n)}),
    ("draws too few", check_reproducible, {"draw": lambda v, p, n, e: GOOD.draw(v, p, n - 1, e)}),
    ("free", check_cost, {"cost": lambda price: F(0)}),
    ("a float cost", check_cost, {"cost": float}),
    ("a fixed cost", check_cost, {"cost": lambda price: F(1)}),
    ("half the cost", check_cost, {"cost": lambda price: price / 2}),
    ("no record", check_event, {"event": lambda price: {}}),
    ("a record of numbers", check_event, {"event": lambda price: {"mechanism": "x", "epsilon": price}}),
    ("a record of floats", check_event, {"event": lambda price: {"mechanism": "x", "epsilon": str(float(price) / 3)}}),
    ("a record of nothing", check_event, {"event": lambda price: {"mechanism": "x"}}),
    ("error too small", check_error, {"error": lambda confidence, price: 1}),
    ("error without draws", check_error, {"errors": None}),
    ("half the noise", check_law, {"draw": draw_with(lambda price: 3 / price / 2)}),
    ("nine tenths of the noise", check_law, {"draw": draw_with(lambda price: 3 / price * 9 / 10)}),
    ("a law that leaks mass", check_law, {"law": lambda value, price: halved(GOOD.law(value, price))}),
    ("noise that ignores the price", check_law, {"draw": draw_with(lambda price: F(3))}),
    ("another outcome", check_law, {"draw": lambda v, p, n, e: ["surprise"] * n}),
    ("half the sensitivity", check_privacy, {"law": law_with(lambda price: F(3, 2) / price)}),
    ("a wide claim", check_privacy, {"law": law_with(lambda price: 30 / price)}),
    ("far neighbours", check_privacy, {"neighbours": (0, 4)}),
    ("a sure sign", check_privacy, {"law": lambda value, price: {value: Decimal(1)}}),
    ("half the noise, counted", check_audit, {"draw": draw_with(lambda price: 3 / price / 2)}),
    ("a constant", check_audit, {"draw": lambda v, p, n, e: [v] * n}),
    ("a blind audit", check_audit, {"draw": lambda v, p, n, e: [0] * n}),
    ("refuses nothing", check_refusals, {"refuses": {"scale": lambda bad: None}}),
]


@pytest.mark.parametrize(("check", "changes"), [broken[1:] for broken in BROKEN], ids=[broken[0] for broken in BROKEN])
def test_a_broken_mechanism_is_noticed(check: Callable[[Spec], None], changes: dict[str, Any]) -> None:
    quick = replace(GOOD, draws=60_000)
    check(quick)
    with pytest.raises(AssertionError):
        check(replace(quick, **changes))


def test_the_whole_contract_notices_too() -> None:
    for changes in ({"cost": lambda price: F(0)}, {"neighbours": (0, 4)}):
        with pytest.raises(AssertionError, match="DiscreteLaplace"):
            check_mechanism(replace(GOOD, **changes))


def test_zcdp_noise_of_half_the_width_is_noticed() -> None:
    wide = replace(DISCRETE_GAUSSIAN, law=lambda value, price: gaussian_at(1 / (2 * price), value, 30))
    with pytest.raises(AssertionError, match="loses more"):
        check_privacy(wide)
    narrow = replace(
        DISCRETE_GAUSSIAN,
        draws=60_000,
        draw=lambda value, price, count, entropy: clipped(
            value + DiscreteGaussian(2 / price / 4).draw(count, entropy), 30
        ),
    )
    with pytest.raises(AssertionError, match="follow the law"):
        check_law(narrow)


def test_impossible_outcomes_are_an_infinite_divergence() -> None:
    sure = replace(DISCRETE_GAUSSIAN, law=lambda value, price: {value: Decimal(1)})
    assert privacy_excess(sure, sure.price) == Decimal("inf")


def test_delta_is_counted_both_ways() -> None:
    """Of what tells everything once in a hundred times."""

    def law(data: int, price: Fraction) -> dict[int | None, Decimal]:
        told = Decimal(price.numerator) / price.denominator / 100
        return {data: told, None: 1 - told}

    telling = replace(GOOD, price=F(1), neighbours=(0, 1), law=law, delta=F(1, 100))
    check_privacy(telling)
    check_privacy(replace(telling, neighbours=(1, 0)))
    with pytest.raises(AssertionError, match="loses more"):
        check_privacy(replace(telling, delta=telling.delta / 2))


def test_an_audit_comes_close_to_the_truth() -> None:
    """Randomised response at ε = 1: 200,000 draws a side certify more than 0.95."""
    assert 0.95 < audited(RESPONSE, F(1), 0.0) <= 1
    assert audited(replace(RESPONSE, draw=lambda v, p, n, e: [False] * n), F(1), 0.0) < 0


def test_refusals_must_be_of_the_right_kind() -> None:
    def call(*, epsilon: Any) -> None:
        raise KeyError(epsilon)

    with pytest.raises(KeyError):
        check_refusals(replace(GOOD, refuses=parameters(call, epsilon=1), refusal=UsageError))
