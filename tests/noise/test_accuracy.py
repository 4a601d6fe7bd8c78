"""interval, epsilon_for, describe: known values, one the inverse of the other, and coverage by real draws."""

from decimal import Decimal
from fractions import Fraction
from math import log, sqrt

import numpy as np
import pytest

import sfumato.noise as noise
from sfumato.errors import UsageError
from tests.noise.seeded import SeededEntropy

PRICES = {"laplace": {}, "geometric": {}, "gaussian": {"delta": 1e-6}}
CALLS = {"laplace": noise.laplace, "geometric": noise.geometric, "gaussian": noise.gaussian}


def test_known_values() -> None:
    assert noise.interval("laplace", sensitivity=1, epsilon=1, confidence=0.95) == pytest.approx(2.995732, rel=1e-6)
    assert noise.interval("geometric", sensitivity=1, epsilon=1) == 3
    assert noise.interval("gaussian", sensitivity=1, epsilon=1, delta=1e-5) == pytest.approx(1.95996 * 3.7306, rel=1e-4)
    assert noise.interval("gaussian", sensitivity=1, rho=0.5) == pytest.approx(1.959964, rel=1e-6)
    assert noise.epsilon_for("laplace", sensitivity=1, error=10, confidence=0.95) == pytest.approx(0.2995732, rel=1e-6)


@pytest.mark.parametrize("sensitivity", [1, 0.3, 17])
@pytest.mark.parametrize("confidence", [0.5, 0.95, Decimal("0.999")])
def test_laplace_has_the_textbook_interval(sensitivity: float, confidence: float) -> None:
    expected = -sensitivity / 0.25 * log(1 - float(confidence))
    assert noise.interval("laplace", sensitivity=sensitivity, epsilon=0.25, confidence=confidence) == pytest.approx(
        expected
    )


@pytest.mark.parametrize("mechanism", PRICES)
@pytest.mark.parametrize("error", [1, 5, 10, 1000])
@pytest.mark.parametrize("confidence", [0.6, 0.95, 0.999])
def test_the_price_of_an_error_buys_that_error(mechanism: str, error: int, confidence: float) -> None:
    price = PRICES[mechanism]
    epsilon = noise.epsilon_for(mechanism, sensitivity=1, error=error, confidence=confidence, **price)
    reached = noise.interval(mechanism, sensitivity=1, epsilon=epsilon, confidence=confidence, **price)
    assert reached == pytest.approx(error, rel=1e-5)
    less = noise.interval(mechanism, sensitivity=1, epsilon=epsilon * 0.999, confidence=confidence, **price)
    assert less > error


@pytest.mark.parametrize("entries", [2, 100])
@pytest.mark.parametrize("mechanism", ["laplace", "gaussian"])
def test_vectors_are_priced_too(mechanism: str, entries: int) -> None:
    price = PRICES[mechanism]
    epsilon = noise.epsilon_for(mechanism, sensitivity=2, error=40, entries=entries, **price)
    assert noise.interval(mechanism, sensitivity=2, epsilon=epsilon, entries=entries, **price) == pytest.approx(
        40, rel=1e-4
    )


@pytest.mark.parametrize("mechanism", PRICES)
@pytest.mark.parametrize(("sensitivity", "epsilon"), [(1, 1), (3, 0.1), (1, 10**6), (1, 10**8)])
def test_draws_stay_within_the_interval_as_often_as_promised(mechanism: str, sensitivity: int, epsilon: float) -> None:
    """Also where the noise is narrower than the grid; |z| < 6 against too few, and no gross excess."""
    draws, value = 3000, 7
    price = {"epsilon": epsilon} | PRICES[mechanism]
    bound = noise.interval(mechanism, sensitivity=sensitivity, confidence=0.9, **price)
    entropy = SeededEntropy(11)
    errors = [
        abs(CALLS[mechanism](value, sensitivity=sensitivity, **price, entropy=entropy) - value) for _ in range(draws)
    ]
    covered, spread = np.mean(np.array(errors) <= bound), sqrt(0.9 * 0.1 / draws)
    assert covered > 0.9 - 6 * spread
    if epsilon < 1:
        assert covered < 0.9 + 6 * spread + (0.02 if mechanism == "geometric" else 0)
        assert np.mean(np.array(errors) <= 0.8 * bound) < 0.9 - 6 * spread


def test_rounding_counts_where_the_noise_is_narrower_than_the_grid() -> None:
    step = float(noise.describe("laplace", sensitivity=1, epsilon=1).step)
    for mechanism in ("laplace", "gaussian"):
        price = {"epsilon": 1e12} | PRICES[mechanism]
        error = noise.interval(mechanism, sensitivity=1, **price)
        value = 0.3 * step
        assert abs(CALLS[mechanism](value, sensitivity=1, **price) - value) <= error


def test_a_description_tells_what_would_be_done() -> None:
    about = noise.describe("laplace", sensitivity=1, epsilon=0.5, entries=4)
    assert (about.mechanism, dict(about.cost)) == ("laplace", {"epsilon": Fraction(1, 2)})
    assert about.step == Fraction(1, 2**22)
    assert about.event == {
        "mechanism": "discrete_laplace",
        "scale": str(2 * (2**22 + 3)),
        "sensitivity": str(2**22 + 3),
    }
    assert about.scale == pytest.approx(2, rel=1e-6)
    assert about.error95 == pytest.approx(2 * 2.995732, rel=1e-6)
    about = noise.describe("gaussian", sensitivity=1, epsilon=1, delta=1e-6)
    assert dict(about.cost) == {"epsilon": 1, "delta": Fraction(1, 10**6)}
    assert (about.event["mechanism"], about.event["sensitivity"]) == ("discrete_gaussian", str(2**20))
    about = noise.describe("gaussian", sensitivity=1, epsilon=1, delta=1e-6, entries=16)
    assert about.event["sensitivity"] == str(2**24 + 4)
    about = noise.describe("geometric", sensitivity=2, epsilon=1)
    assert (about.step, about.scale, about.event["scale"]) == (1, 2, "2")
    with pytest.raises(TypeError):
        about.cost["epsilon"] = 0


BAD = [
    ("lapplace", {}, 'Did you mean "laplace"'),
    ("exponential", {}, "no mechanism"),
    (3, {}, "no mechanism"),
    ("laplace", {"delta": 1e-6}, "neither delta nor rho"),
    ("gaussian", {}, "delta"),
    ("gaussian", {"delta": 2}, "delta"),
    ("geometric", {"sensitivity": 1.5}, "whole number"),
    ("laplace", {"confidence": 0}, "confidence"),
    ("laplace", {"confidence": 1}, "confidence"),
    ("laplace", {"confidence": "high"}, "confidence"),
    ("laplace", {"confidence": 1 - Fraction(1, 10**13)}, "confidence"),
    ("laplace", {"entries": 0}, "entries"),
    ("laplace", {"entries": 1.0}, "entries"),
    ("laplace", {"sensitivity": 0}, "sensitivity"),
]


@pytest.mark.parametrize(("mechanism", "given", "says"), BAD)
def test_what_is_refused(mechanism: str, given: dict[str, object], says: str) -> None:
    with pytest.raises(UsageError, match=says) as caught:
        noise.interval(mechanism, **({"sensitivity": 1, "epsilon": 1} | given))
    assert caught.value.hint
    with pytest.raises(UsageError, match=says):
        noise.epsilon_for(mechanism, **({"sensitivity": 1, "error": 1} | given))


def test_prices_that_are_missing() -> None:
    with pytest.raises(UsageError, match="epsilon is missing"):
        noise.interval("laplace", sensitivity=1)
    with pytest.raises(UsageError, match="neither delta nor rho"):
        noise.describe("geometric", sensitivity=1, epsilon=1, rho=1)
    with pytest.raises(UsageError, match="together"):
        noise.describe("gaussian", sensitivity=1, epsilon=1, rho=1)


@pytest.mark.parametrize("bad", [0, -1, "abc", True, float("nan"), float("inf")])
def test_an_error_is_a_positive_number(bad: object) -> None:
    with pytest.raises(UsageError, match="error"):
        noise.epsilon_for("laplace", sensitivity=1, error=bad)


@pytest.mark.parametrize("mechanism", ["laplace", "gaussian"])
def test_an_error_below_the_grid_is_refused(mechanism: str) -> None:
    with pytest.raises(UsageError, match="below the grid"):
        noise.epsilon_for(mechanism, sensitivity=1, error=1e-6, **PRICES[mechanism])


@pytest.mark.parametrize("entries", [1, 2])
def test_where_delta_alone_pays_epsilon_is_not_made_up(entries: int) -> None:
    with pytest.raises(UsageError, match="delta alone"):
        noise.epsilon_for("gaussian", sensitivity=1, error=1e15, delta=0.1, entries=entries)


def test_geometric_may_be_almost_free_or_almost_exact() -> None:
    assert noise.epsilon_for("geometric", sensitivity=1, error=1e30) == pytest.approx(-log(0.05) / 1e30, rel=1e-3)
    epsilon = noise.epsilon_for("geometric", sensitivity=1, error=0.5)
    assert noise.interval("geometric", sensitivity=1, epsilon=epsilon) == 0
