"""Loss laws on a grid: totals kept, δ(ε) bracketed, transforms equal to those of the points."""

from fractions import Fraction
from math import exp, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from sfumato.accounting import spectrum
from sfumato.accounting.bands import Bands, bounded_range, laplace, randomised_response
from sfumato.accounting.events import plan
from sfumato.accounting.lattices import discrete_laplace
from sfumato.accounting.losses import losses
from sfumato.accounting.pld import epsilon_of
from tests.accounting.profiles import band_profile


def upper(events: object, delta: float = 1e-5) -> float:
    return epsilon_of(losses(plan(events), delta=delta), delta)


def listed(bands: Bands, step: Fraction, *, optimistic: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Every grid point of the first band with its mass."""
    grid = bands.on_grid(step, optimistic=optimistic)
    width, height = int(grid.widths[0]), float(grid.heights[0])
    inside = np.arange(-width, width + 1) if width >= 0 else np.zeros(0)
    masses = height * np.exp((inside - width) * grid.step / 2)
    places = np.concatenate([inside, grid.indices[:, 0]])
    return places * grid.step, np.concatenate([masses, grid.masses[:, 0]])


@pytest.mark.parametrize("make", [laplace, randomised_response, bounded_range])
@pytest.mark.parametrize(("epsilon", "step"), [("1", "0.1"), ("1", "0.3"), ("0.5", "0.7"), ("0.03", "0.1"), ("2", "2")])
def test_moving_to_the_grid_keeps_both_totals_and_brackets(make: object, epsilon: str, step: str) -> None:
    bands = Bands.of({make(Fraction(epsilon)): 1})  # type: ignore[operator]
    kind = {laplace: "laplace", randomised_response: "pure", bounded_range: "exponential"}[make]  # type: ignore[index]
    above, below = listed(bands, Fraction(step)), listed(bands, Fraction(step), optimistic=True)
    assert above[1].sum() == pytest.approx(1, abs=1e-12)
    assert above[1] @ np.exp(-above[0]) == pytest.approx(1, abs=1e-12)
    assert below[1].sum() == pytest.approx(1, abs=1e-12)
    for at in np.linspace(-2.5, 2.5, 101):
        exact = band_profile(kind, float(epsilon), float(at))
        assert above[1] @ np.maximum(0, -np.expm1(at - above[0])) >= exact - 1e-12
        assert below[1] @ np.maximum(0, -np.expm1(at - below[0])) <= exact + 1e-12
    for place in np.arange(-3, 4) * float(Fraction(step)):
        exact = band_profile(kind, float(epsilon), float(place))
        assert above[1] @ np.maximum(0, -np.expm1(place - above[0])) == pytest.approx(exact, abs=1e-12)


@pytest.mark.parametrize("sensitivity", [2, 5, 8])
def test_laplace_noise_on_the_grid_is_discrete_laplace_noise(sensitivity: int) -> None:
    """The pessimistic law of Laplace noise with step 2ε/Δ is the exact law of whole-number noise of sensitivity Δ."""
    epsilon = Fraction(3, 5)
    if sensitivity % 2 == 0:
        places, masses = listed(Bands.of({laplace(epsilon): 1}), 2 * epsilon / sensitivity)
        exact = discrete_laplace(epsilon, sensitivity)
        for loss, logarithm in zip(exact.losses, exact.logarithms, strict=True):
            assert masses[np.abs(places - loss) < 1e-9].sum() == pytest.approx(exp(logarithm), abs=1e-14)
    else:
        assert upper([("geometric", 0.6, sensitivity)] * 4) > upper([("laplace", 0.6)] * 4)


@given(
    epsilon=some.floats(0.01, 3),
    step=some.floats(0.001, 0.9),
    tilt=some.floats(0, 40),
    frequency=some.integers(0, 63),
    optimistic=some.booleans(),
    kind=some.sampled_from([laplace, randomised_response, bounded_range]),
)
def test_the_transform_is_that_of_the_points(
    epsilon: float, step: float, tilt: float, frequency: int, optimistic: bool, kind: object
) -> None:
    bands, grid_step = Bands.of({kind(Fraction(epsilon)): 1}), Fraction(step)  # type: ignore[operator]
    places, masses = listed(bands, grid_step, optimistic=optimistic)
    weights = masses * np.exp(tilt * (places - places.max()))
    turns = np.exp(-2j * np.pi * frequency / 64 * np.round(places / step))
    direct = (weights @ turns) / weights.sum()
    grid = bands.on_grid(grid_step, optimistic=optimistic)
    found = grid.transform(slice(None), np.array([frequency]), 64, tilt)[0, 0]
    assert abs(found - direct) < 1e-12
    assert grid.logarithms(tilt)[0] == pytest.approx(log(weights.sum()) + tilt * places.max(), abs=1e-9)


def test_a_frequency_stretch_is_dropped_only_if_all_of_it_is_dead() -> None:
    bands = Bands.of({laplace(Fraction(1, 50 + place)): 1 for place in range(200)})
    grid = bands.on_grid(Fraction(1, 5_000))
    length = 1 << 16
    window = spectrum.Window(-6_000, length, 8.0, 2e-4)
    kept = spectrum._promising(grid, window)
    some_frequencies = np.arange(0, len(kept), 11)
    product = spectrum.Product.empty(len(some_frequencies)).times(
        grid.transform(slice(None), some_frequencies, length, 8.0), grid.counts
    )
    assert kept[some_frequencies[product.alive]].all()
    assert kept.sum() < len(kept) / 2
