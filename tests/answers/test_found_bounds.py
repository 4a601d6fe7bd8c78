"""What is read from the numbers of a sum whose bounds were found: value, error bar, and when there is neither."""

from fractions import Fraction as F
from typing import Any

import pytest

from sfumato.answers.columns import Noises, interval_of, value_of
from sfumato.answers.found_bounds import LEAST_EXCESS, MOST_EXCESS, _excess, read
from sfumato.kernel.mechanisms.additive import Additive
from sfumato.kernel.mechanisms.found_bounds import BoundedSum
from sfumato.kernel.widths import error, rows_at_anchor, rows_at_clamp
from sfumato.plan.expressions import Column
from sfumato.plan.nodes import Magnitudes, UnboundedSum
from sfumato.query.rewrite import FoundMeanColumn, FoundSumColumn

CELLS = Magnitudes(Column("x"), 0, 12)
TOTAL = UnboundedSum(CELLS, F(33, 100))
SUM, MEAN = FoundSumColumn("s", 0, TOTAL), FoundMeanColumn("m", 0, 1, TOTAL)
AT_64, AT_90 = CELLS.edges.index(64), CELLS.edges.index(90)


def made(currency: Any = "rho") -> tuple[BoundedSum, Additive]:
    return (
        BoundedSum.for_share(F(1), currency, 1, 1, CELLS.edges, TOTAL.finding),
        Additive.for_share(F(1), currency, 1, 1),
    )


def numbers(*, beyond: int = 0, below: int = 0, far_below: int = 0, within: int = 1_000, total: int = 50_000) -> Any:
    return AT_64, AT_90, far_below, below, within, beyond, total


@pytest.mark.parametrize("currency", ["rho", "epsilon"])
def test_bounds_need_rows_at_the_anchor(currency: Any) -> None:
    mechanism, _ = made(currency)
    half = rows_at_anchor(mechanism.anchor, len(CELLS.edges)) / 2
    for many, found in ((half + 1, True), (half - 1, False), (-half, False)):
        for side in ("within", "below"):
            given = numbers(**{"within": 0, side: int(many)})
            assert (read(mechanism, given) is not None) == found
    mechanisms = made(currency)
    assert value_of(SUM, (), (numbers(within=0),), mechanisms) is None
    assert value_of(MEAN, (), (numbers(within=0), 900), mechanisms) is None
    assert interval_of(SUM, (numbers(within=0),), Noises(mechanisms, 0.95)) is None


@pytest.mark.parametrize("side", ["beyond", "far_below"])
def test_too_many_rows_beyond_say_that_the_anchor_was_wrong(side: str) -> None:
    mechanism, _ = made()
    sought = rows_at_clamp(mechanism.clamp)
    assert read(mechanism, numbers(**{side: sought})) is not None
    assert read(mechanism, numbers(**{side: 8 * sought})) is None


def test_a_sum_gets_back_what_is_seen_beyond_and_a_bar_for_what_is_not() -> None:
    mechanism, _ = made()
    mechanisms, noise = made(), error(mechanism.noise(90), 0.95)
    nothing = interval_of(SUM, (numbers(),), Noises(mechanisms, 0.95))
    assert isinstance(nothing, tuple)
    assert nothing[0] == 50_000 - noise
    unseen = error(mechanism.counting.law, 0.9)
    assert nothing[1] == pytest.approx(50_000 + noise + LEAST_EXCESS * 90 * unseen, abs=1)
    assert value_of(SUM, (), (numbers(),), mechanisms) == 50_000
    assert value_of(SUM, (), (numbers(beyond=10),), mechanisms) == 50_000 + 315  # 10 · 0.35 · 90
    some = interval_of(SUM, (numbers(beyond=10),), Noises(mechanisms, 0.95))
    assert isinstance(some, tuple)
    assert some[1] > nothing[1] + 10 * 0.75 * 90 - 1
    assert some[0] == nothing[0], "no row is far below 0"
    both = interval_of(SUM, (numbers(beyond=10, below=1_000),), Noises(mechanisms, 0.95))
    assert isinstance(both, tuple)
    assert both[0] < some[0]


def test_negative_values_are_the_mirror() -> None:
    noises = Noises(made(), 0.95)
    up = interval_of(SUM, (numbers(beyond=5),), noises)
    down = interval_of(SUM, (numbers(within=0, below=1_000, far_below=5, total=-50_000),), noises)
    assert isinstance(up, tuple)
    assert isinstance(down, tuple)
    assert down == (-up[1], -up[0])
    mirrored = value_of(SUM, (), (numbers(within=0, below=1_000, far_below=9, total=-50_000),), made())
    assert mirrored == -value_of(SUM, (), (numbers(beyond=9),), made())


def test_a_steeper_tail_exceeds_less() -> None:
    assert _excess(100, 200, 2.0) == _excess(100, 90, 2.0) == MOST_EXCESS
    assert _excess(100, 0, 1.19) == LEAST_EXCESS
    assert LEAST_EXCESS < _excess(100, 35, 2.0) < MOST_EXCESS
    falls = [_excess(100, beyond, 2.0) for beyond in range(1, 100)]
    assert falls == sorted(falls)


@pytest.mark.parametrize("currency", ["rho", "epsilon"])
def test_bars_widen_with_confidence(currency: Any) -> None:
    mechanisms = made(currency)
    for column, row in ((SUM, (numbers(beyond=3),)), (MEAN, (numbers(beyond=3), 1_500))):
        bars = [interval_of(column, row, Noises(mechanisms, level)) for level in (0.3, 0.6, 0.9, 0.99, 0.999999)]
        widths = [high - low for low, high in bars]  # type: ignore[misc, union-attr]
        assert widths == sorted(widths)
        value = value_of(column, (), row, mechanisms)
        assert bars[2][0] <= value <= bars[2][1]  # type: ignore[index, operator]


def test_more_rows_beyond_than_within_are_no_answer() -> None:
    """With few rows a clamp far below all of them would look sure of itself."""
    mechanism, _ = made()
    half = rows_at_anchor(mechanism.anchor, len(CELLS.edges)) // 2 + 1
    few = rows_at_clamp(mechanism.clamp)
    assert read(mechanism, numbers(within=half, beyond=few)) is not None
    assert read(mechanism, numbers(within=half - few, beyond=few, far_below=few, below=0)) is not None
    assert read(mechanism, numbers(within=few - 1, beyond=few, far_below=half)) is None


def test_a_clamp_at_the_last_edge_hides_what_lies_beyond() -> None:
    mechanism, _ = made()
    last = len(CELLS.edges) - 1
    assert read(mechanism, (last, last, 0, 0, 1_000, 0, 10**7)) is None
    assert read(mechanism, (last - 1, last - 1, 0, 0, 1_000, 0, 10**7)) is not None


def test_a_mean_of_next_to_nobody_may_be_anything_the_clamp_allows() -> None:
    mechanisms = made()
    for count in (0, 1, -5):
        low, high = interval_of(MEAN, (numbers(), count), Noises(mechanisms, 0.95))  # type: ignore[misc]
        assert (low, high) == (-90 * 1.75, 90 * 1.75)
        assert low <= value_of(MEAN, (), (numbers(), count), mechanisms) <= high  # type: ignore[operator]
    low, high = interval_of(MEAN, (numbers(), 1_000), Noises(mechanisms, 0.95))  # type: ignore[misc]
    assert 49 < low < 50 < high < 53
