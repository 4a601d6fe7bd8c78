"""The grid of whole numbers: it holds its bounds, is as fine as 31 bits allow, and clamps to them."""

from fractions import Fraction
from math import ceil, floor
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sfumato.plan.lattice import LARGEST, Lattice

NUMBERS = st.fractions(min_value=-(10**40), max_value=10**40, max_denominator=10**40)


def test_a_lattice_runs_upward_and_stays_small() -> None:
    assert Lattice(-3, -3, 0).centre == -3
    with pytest.raises(ValueError, match="lower"):
        Lattice(1, 0, 0)
    for lower, upper in ((0, LARGEST), (-LARGEST, 0)):
        with pytest.raises(ValueError, match="below"):
            Lattice(lower, upper, 0)
    assert Lattice(1 - LARGEST, LARGEST - 1, 0)


@pytest.mark.parametrize(
    "bounds", [(0, Fraction(3, 2), -1), (Fraction(-1, 2), 1, 0), (0, 1, Fraction(1, 2)), (0, 1.0, 0)]
)
def test_bounds_between_whole_numbers_are_none(bounds: tuple[Any, Any, Any]) -> None:
    """An engine would round 3/2 to 2: a row adds a third more than is certified."""
    with pytest.raises(ValueError, match="whole numbers"):
        Lattice(*bounds)


@pytest.mark.parametrize(("lower", "upper", "centre"), [(0, 10, 5), (0, 11, 5), (-11, 0, -6), (-3, 4, 0), (17, 90, 53)])
def test_centre(lower: int, upper: int, centre: int) -> None:
    assert Lattice(lower, upper, 5).centre == centre


@pytest.mark.parametrize(("exponent", "step"), [(0, Fraction(1)), (3, Fraction(8)), (-2, Fraction(1, 4))])
def test_step(exponent: int, step: Fraction) -> None:
    assert Lattice(0, 1, exponent).step == step


@pytest.mark.parametrize(
    ("lower", "upper", "whole", "expected"),
    [
        (Fraction(17), Fraction(90), True, Lattice(17, 90, 0)),
        (Fraction(0), Fraction(LARGEST - 1), True, Lattice(0, LARGEST - 1, 0)),
        (Fraction(0), Fraction(LARGEST), True, Lattice(0, LARGEST // 2, 1)),
        (Fraction(-1), Fraction(1 << 60), True, Lattice(-1, 1 << 30, 30)),
        (Fraction(0), Fraction(1), False, Lattice(0, 1 << 30, -30)),
        (Fraction(0), Fraction(0), False, Lattice(0, 0, -132)),
    ],
)
def test_covering(lower: Fraction, upper: Fraction, whole: bool, expected: Lattice) -> None:
    covering = Lattice.covering(lower, upper, whole=whole)
    assert (covering.lower, covering.upper) == (expected.lower, expected.upper)
    if lower != upper:
        assert covering == expected


@settings(deadline=None, derandomize=True, max_examples=100, suppress_health_check=[HealthCheck.too_slow])
@given(NUMBERS, NUMBERS, st.booleans())
def test_covering_holds_the_bounds_and_is_the_finest(one: Fraction, two: Fraction, whole: bool) -> None:
    lower, upper = sorted((one, two))
    lattice = Lattice.covering(lower, upper, whole=whole)
    step = lattice.step
    # It holds the bounds, and no step more.
    assert lattice.lower * step <= lower < (lattice.lower + 1) * step
    assert (lattice.upper - 1) * step < upper <= lattice.upper * step
    assert not whole or lattice.exponent >= 0
    # Half the step would need 32 bits, or is not allowed.
    largest = max(abs(lower), abs(upper))
    if largest >= Fraction(1, 10**30) and not (whole and lattice.exponent == 0):
        half = step / 2
        assert max(abs(floor(lower / half)), abs(ceil(upper / half))) >= LARGEST


@settings(deadline=None, derandomize=True, max_examples=100, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(-50, 50), st.integers(0, 60), st.integers(-3, 3), st.fractions(-200, 200, max_denominator=64))
def test_clamping_and_rounding_stay_inside(lower: int, width: int, exponent: int, value: Fraction) -> None:
    """What engines do: clamp, then round. Rounding keeps whole numbers and order, so it cannot leave the lattice."""
    lattice = Lattice(lower, lower + width, exponent)
    steps = value / lattice.step
    assert lattice.lower <= round(max(Fraction(lattice.lower), min(Fraction(lattice.upper), steps))) <= lattice.upper
