"""Numbers beside their error bars: nothing that is shown is narrower than what is known."""

import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.answers.rounding import LOPSIDED, Written, bar, beside_bars, is_lopsided, margin, number, six_digits

WIDTHS = st.floats(1e-6, 1e7)


def shown(cell: Any) -> float:
    return float(number(cell).replace(",", ""))


@given(st.floats(-1e8, 1e8), WIDTHS)
def test_a_number_and_its_margin_as_shown_hold_the_bar(middle: float, wide: float) -> None:
    low, high = middle - wide, middle + wide
    (value,), (bar,), ends = beside_bars([middle], [(low, high)])
    if ends:  # a width that a double near the number cannot hold
        return
    slack = 1e-6 * 10.0 ** -len(number(value).partition(".")[2]) + 1e-7 * abs(middle)
    assert shown(value) - shown(bar) <= low + slack
    assert shown(value) + shown(bar) >= high - slack
    assert shown(bar) <= 2 * wide + 1  # and is little wider


@given(st.floats(-1e6, 1e6), WIDTHS, st.floats(LOPSIDED + 0.1, 100))
def test_ends_as_shown_hold_the_bar(value: float, wide: float, times: float) -> None:
    low, high = value - wide, value + times * wide
    _, (bar,), ends = beside_bars([value], [(low, high)])
    assert ends
    least, most = (float(end.replace(",", "")) for end in bar.split(" to "))
    slack = 1e-7 * (1 + abs(value) + high - low)
    assert least <= low + slack
    assert most >= high - slack


@pytest.mark.parametrize(
    ("value", "interval", "number_shown", "bar_shown"),
    [
        (-0.0006, (-1.2706, 1.2694), "0.0", "1.3"),
        (0.00372, (0.00322, 0.00422), "0.00372", "0.00050"),
        (1234.5678, (1222.2, 1246.9), "1,235", "13"),
        (28.17, (27.9, 28.5), "28.17", "0.33"),
        (1234, (1222, 1246), "1,234", "12"),
        (7, (6.4, 7.6), "7", "0.60"),
        (5.0, (5.0, 5.0), "5.00", "0.00"),
        (28.2, (1.9, 73.0), "28", "1 to 73"),
        (3, (0, 10), "3", "0 to 10"),
    ],
)
def test_as_many_digits_as_the_bar_leaves(value: Any, interval: Any, number_shown: str, bar_shown: str) -> None:
    (told,), (bar,), _ = beside_bars([value], [interval])
    assert (number(told), bar if isinstance(bar, str) else number(bar)) == (number_shown, bar_shown)


@pytest.mark.parametrize(
    ("width", "as_read"),
    [
        (9559.08, "9,560"),
        (0.883846, "0.89"),
        (2.74415e6, "2,744,150"),
        (12, "12"),
        (1054, "1,054"),
        (10.0, "10"),
        (0.00123, "0.0013"),
        (0.0, "0.00"),
    ],
)
def test_a_bar_alone_has_the_digits_it_has_beside_its_number(width: float, as_read: str) -> None:
    assert bar(width) == as_read
    if width:
        assert as_read == number(beside_bars([0.0], [(-float(width), float(width))])[1][0])


def test_other_numbers_show_no_powers_of_ten() -> None:
    assert [six_digits(value) for value in (1, 2744153.7, 1e9, 282842.7, 1.414213, 60)] == [
        "1",
        "2,744,154",
        "1,000,000,000",
        "282,843",
        "1.41421",
        "60",
    ]


def test_a_column_is_read_in_one_way() -> None:
    values, bars, ends = beside_bars([30, 31, None], [(28, 40), (29, 33), None])
    assert ends
    assert (values, bars) == ([30, 31, None], ["28 to 40", "29 to 33", "–"])


def test_a_bar_that_says_nothing_is_a_dash_and_makes_no_column_lopsided() -> None:
    values, bars, ends = beside_bars([43.726, 28.2], [(0.0, 120.0), (27.0, 29.4)], [True, False])
    assert not ends
    assert [number(value) for value in values] == ["44", "28.2"]
    assert bars[0] == "–"
    assert number(bars[1]) == "1.2"


@pytest.mark.parametrize("interval", [None, (None, 4), (1, float("inf")), [(1, 2)]])
def test_what_has_no_two_ends_is_not_lopsided(interval: Any) -> None:
    assert not is_lopsided(interval, 3)
    assert margin(None, 3) == "–"


def test_a_written_number_is_a_number() -> None:
    one = Written(1234.5678, "1,235")
    assert (f"{one:,.2f}", float(one), one + 1) == ("1,235", 1234.5678, 1235.5678)
    again = pickle.loads(pickle.dumps(one))  # noqa: S301
    assert (again, number(again)) == (one, "1,235")
