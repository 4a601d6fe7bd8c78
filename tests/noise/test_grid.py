"""The grid under real values: a public step, exact rounding, and a sensitivity that counts the rounding."""

from fractions import Fraction
from itertools import product
from math import floor, inf, nextafter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.noise.grid import Grid
from sfumato.noise.values import boxed, real_entries

F = Fraction
SENSITIVITIES = [F(1), F(3, 10), F(2), F(10**100), F(1, 10**100), F(7, 3), F(2**30 - 1), F(1, 3)]


@pytest.mark.parametrize("sensitivity", SENSITIVITIES)
@pytest.mark.parametrize("entries", [1, 2, 3, 1000, 10**6])
def test_the_step_is_the_largest_power_of_two_that_is_fine_enough(sensitivity: Fraction, entries: int) -> None:
    grid = Grid.holding(sensitivity, entries)
    largest = sensitivity / entries / 2**20
    assert grid.step == F(2) ** grid.exponent
    assert grid.step <= largest < 2 * grid.step


@given(
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=5), st.sampled_from(SENSITIVITIES)
)
def test_every_double_is_rounded_half_up_exactly(values: list[float], sensitivity: Fraction) -> None:
    grid = Grid.holding(sensitivity, len(values))
    exact = [floor(F(value) / grid.step + F(1, 2)) for value in values]
    assert grid.integers(np.array(values)).tolist() == exact
    assert grid.integers(boxed(map(F, values))).tolist() == exact


@pytest.mark.parametrize(
    "value", [0.5, -0.5, 1.5, 2.5, 0.49999999999999994, -0.50000000000000011, 2.0**52 + 0.5, 1e-320]
)
@pytest.mark.parametrize("exponent", [0, -20, 7])
def test_ties_and_their_neighbours(value: float, exponent: int) -> None:
    grid = Grid(exponent, 1)
    for near in (nextafter(value, -inf), value, nextafter(value, inf)):
        scaled = np.ldexp(near, exponent)
        assert grid.integers(np.array([scaled])).tolist() == [floor(F(float(scaled)) / grid.step + F(1, 2))]


@given(st.lists(st.integers(-(2**70), 2**70), min_size=1), st.sampled_from([-372, -20, 0, 3, 300]))
def test_going_back_rounds_once_to_the_nearest_double(wholes: list[int], exponent: int) -> None:
    grid = Grid(exponent, len(wholes))
    nearest = [float(F(whole) * grid.step) for whole in wholes]
    assert grid.reals(boxed(wholes)).tolist() == nearest
    if max(map(abs, wholes)) < 2**63:
        assert grid.reals(np.array(wholes, dtype=np.int64)).tolist() == nearest


def test_an_array_of_mixed_sizes_takes_python_integers_and_loses_nothing() -> None:
    values = np.array([1e300, -1e-300, 0.0, 3.25, -1.7e308, 5e-324])
    grid = Grid.holding(F(1, 10**100), len(values))
    integers = grid.integers(values)
    assert integers.dtype == object
    assert grid.reals(integers).tolist() == [1e300, 0.0, 0.0, 3.25, -1.7e308, 0.0]


QUARTERS = [F(k, 4) for k in range(-20, 21)]
STARTS = [F(0), F(1, 4), F(1, 2), F(3, 4)]


def worst_distance(sensitivity: Fraction, entries: int, *, euclidean: bool) -> Fraction:
    """The largest change in steps, squared when euclidean, over all quarters of a step within the sensitivity."""
    grid, worst = Grid(0, entries), F(0)
    changes = [
        change
        for change in product([k for k in QUARTERS if abs(k) <= sensitivity], repeat=entries)
        if (sum(k * k for k in change) <= sensitivity**2 if euclidean else sum(map(abs, change)) <= sensitivity)
    ]
    for start in product(STARTS, repeat=entries):
        before = grid.integers(boxed(start))
        for change in changes:
            after = grid.integers(boxed(a + b for a, b in zip(start, change, strict=True)))
            steps = [abs(a - b) for a, b in zip(before, after, strict=True)]
            worst = max(worst, F(sum(k * k for k in steps) if euclidean else sum(steps)))
    return worst


@pytest.mark.parametrize(
    ("sensitivity", "entries"), [(F(1), 1), (F(5, 4), 1), (F(5), 1), (F(3), 2), (F(11, 4), 2), (F(7, 4), 3)]
)
def test_the_absolute_sensitivity_holds_and_is_reached(sensitivity: Fraction, entries: int) -> None:
    assert worst_distance(sensitivity, entries, euclidean=False) == Grid(0, entries).absolute(sensitivity)


@pytest.mark.parametrize(("sensitivity", "entries"), [(F(1), 1), (F(9, 4), 1), (F(11, 4), 2), (F(5, 4), 3)])
def test_the_euclidean_sensitivity_holds_and_is_nearly_reached(sensitivity: Fraction, entries: int) -> None:
    worst, claim = worst_distance(sensitivity, entries, euclidean=True), Grid(0, entries).euclidean(sensitivity)
    assert worst <= claim**2
    assert worst == claim**2 if entries == 1 else worst > (claim - 2) ** 2


def test_broken_twins_that_forget_the_rounding_are_exceeded() -> None:
    assert worst_distance(F(5, 4), 1, euclidean=False) > floor(F(5, 4))
    assert worst_distance(F(3), 2, euclidean=False) > 3
    assert worst_distance(F(11, 4), 2, euclidean=True) > F(11, 4) ** 2


@pytest.mark.parametrize("sensitivity", [F(1), F(3, 10), F(7, 3), F(1, 10**30)])
def test_doubles_at_the_full_distance_reach_the_claim(sensitivity: Fraction) -> None:
    """Pairs of real doubles x, y with y - x just within the sensitivity, x next to a rounding boundary."""
    grid = Grid.holding(sensitivity, 1)
    claim, worst = grid.absolute(sensitivity), 0
    step = float(grid.step)
    for k, nudge in product((0, 1, 2, 5), (-1, 0, 1)):
        x = (k - 0.5) * step + nudge * step / 8
        y = x + float(sensitivity)
        while F(y) - F(x) > sensitivity:
            y = nextafter(y, -inf)
        low, high = grid.integers(np.array([x, y])).tolist()
        worst = max(worst, high - low)
    assert worst == claim


def test_numbers_typed_as_decimals_are_not_rounded_to_doubles_first() -> None:
    big = 2**80 + 1
    assert real_entries(big).numbers.tolist() == [F(big)]
    assert Grid(0, 1).integers(real_entries(big).numbers).tolist() == [big]
    assert real_entries(np.array([2**62 + 1])).numbers.tolist() == [F(2**62 + 1)]
