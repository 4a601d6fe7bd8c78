"""What laplace, geometric and gaussian refuse, and that refusals never show a value."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import sfumato.noise as noise
from sfumato.errors import UsageError

CALLS = {
    "laplace": lambda value, **given: noise.laplace(value, **({"sensitivity": 1, "epsilon": 1} | given)),
    "geometric": lambda value, **given: noise.geometric(value, **({"sensitivity": 1, "epsilon": 1} | given)),
    "gaussian": lambda value, **given: noise.gaussian(
        value, **({"sensitivity": 1, "epsilon": 1, "delta": 1e-6} | given)
    ),
}
REAL = ["laplace", "gaussian"]

NO_VALUES = [
    "3141592",
    True,
    None,
    3141592j,
    {"a": 3141592},
    (3141592, 2),
    [[3141592]],
    ["3141592"],
    [True],
    [None],
    np.array([True]),
    np.array(["3141592"]),
    np.array([3141592j]),
    np.array([True], dtype=object),
    np.bool_(True),
    range(3),
    [],
    np.array([]),
    np.zeros((0, 3)),
]
NO_REALS = [
    float("nan"),
    float("inf"),
    -float("inf"),
    [3141592.0, float("nan")],
    [3141592, Decimal("inf")],
    [np.float32("nan")],
    np.array([3141592.0, np.nan]),
    np.array([np.inf], dtype=np.float32),
    10**309,
    [10**309, 1.5],
    np.array([10**309], dtype=object),
    Decimal("1e309"),
    Decimal("1e999999999"),
    Decimal("1e-999999999"),
    Fraction(10**309),
    np.longdouble(3141592),
    np.array([3141592], dtype=np.longdouble),
]
NO_WHOLES = [
    3141592.0,
    [3141592.5],
    np.array([3141592.0]),
    Decimal(3141592),
    [1, 3141592.0],
    np.float64(3),
    Fraction(1),
]


@pytest.mark.parametrize("mechanism", CALLS)
@pytest.mark.parametrize("value", NO_VALUES, ids=repr)
def test_values_that_are_no_numbers(mechanism: str, value: object) -> None:
    refused(mechanism, value)


@pytest.mark.parametrize("mechanism", REAL)
@pytest.mark.parametrize("value", NO_REALS, ids=lambda value: str(value)[:20])
def test_values_that_are_not_finite_doubles(mechanism: str, value: object) -> None:
    refused(mechanism, value)


@pytest.mark.parametrize("value", NO_WHOLES, ids=repr)
def test_geometric_sends_reals_to_laplace(value: object) -> None:
    with pytest.raises(UsageError, match="whole numbers") as caught:
        noise.geometric(value, sensitivity=1, epsilon=1)
    assert "laplace" in caught.value.hint
    assert "314" not in str(caught.value)


def refused(mechanism: str, value: object) -> None:
    with pytest.raises(UsageError) as caught:
        CALLS[mechanism](value)
    assert caught.value.hint
    assert "314" not in str(caught.value)


@pytest.mark.parametrize(
    "value",
    [Decimal("0.5"), Fraction(1, 3), np.float32(0.1), np.int8(3), [Decimal(1), 2, 3.5], np.array([1, 2], object)],
)
def test_exact_numbers_are_welcome(value: object) -> None:
    assert np.shape(noise.laplace(value, sensitivity=1, epsilon=1)) == np.shape(value)


@pytest.mark.parametrize("mechanism", CALLS)
@pytest.mark.parametrize("bad", ["abc", "1", True, float("nan"), float("inf"), 0, -1, 1e-101, 1e101, None, [1]])
@pytest.mark.parametrize("name", ["sensitivity", "epsilon"])
def test_parameters_that_are_refused(mechanism: str, bad: object, name: str) -> None:
    with pytest.raises(UsageError) as caught:
        CALLS[mechanism](1, **{name: bad})
    assert name in str(caught.value)
    assert caught.value.hint


@pytest.mark.parametrize("delta", ["abc", True, float("nan"), 0, -1, 1, 1.5, float("inf")])
def test_delta_is_a_probability(delta: object) -> None:
    with pytest.raises(UsageError, match="delta"):
        noise.gaussian(1, sensitivity=1, epsilon=1, delta=delta)


@pytest.mark.parametrize("rho", ["abc", True, float("nan"), 0, -1, float("inf")])
def test_rho_is_positive(rho: object) -> None:
    with pytest.raises(UsageError, match="rho"):
        noise.gaussian(1, sensitivity=1, rho=rho)


@pytest.mark.parametrize(
    ("price", "says"),
    [
        ({}, "needs a price"),
        ({"delta": 1e-6}, "needs a price"),
        ({"epsilon": 1}, "delta is missing"),
        ({"epsilon": 1, "rho": 1}, "together"),
        ({"delta": 1e-6, "rho": 1}, "together"),
        ({"epsilon": 1, "delta": 1e-6, "rho": 1}, "together"),
    ],
)
def test_gaussian_takes_one_price(price: dict[str, float], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        noise.gaussian(1, sensitivity=1, **price)


def test_a_vector_needs_a_price_that_buys_something() -> None:
    with pytest.raises(UsageError, match="buys no vector"):
        noise.gaussian([1, 2], sensitivity=1, epsilon=1e-60, delta=1e-6)
    assert noise.gaussian([1], sensitivity=1, epsilon=1e-60, delta=1e-6)


def test_the_sensitivity_of_whole_numbers_is_whole() -> None:
    with pytest.raises(UsageError, match="is a whole number, not"):
        noise.geometric(1, sensitivity=1.5, epsilon=1)
    assert isinstance(noise.geometric(1, sensitivity=2.0, epsilon=1), int)


def test_there_is_no_seed() -> None:
    for call in (noise.laplace, noise.geometric, noise.gaussian):
        with pytest.raises(TypeError):
            call(1, sensitivity=1, epsilon=1, seed=1)
