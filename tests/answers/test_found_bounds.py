"""What is read from the numbers of a sum whose bounds were found: value, error bar, and when there is neither."""

from fractions import Fraction as F
from typing import Any

import pytest

from sfumato.answers.columns import Noises, interval_of, value_of
from sfumato.answers.found_bounds import LEAST_EXCESS, MOST_EXCESS, _excess, read, rough
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


def bar(column: Any, row: Any, currency: Any = "rho", confidence: float = 0.95) -> tuple[float, float]:
    found = interval_of(column, row, Noises(made(currency), confidence))
    assert isinstance(found, tuple)
    return found


def value(column: Any, row: Any, currency: Any = "rho") -> float:
    found = value_of(column, (), row, made(currency))
    assert isinstance(found, int | float)
    return found


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
    noise, unseen = error(mechanism.noise(90), 0.95), error(mechanism.counting.law, 0.9)
    nothing, some = bar(SUM, (numbers(),)), bar(SUM, (numbers(beyond=10),))
    assert nothing[0] == 50_000 - noise
    assert nothing[1] == pytest.approx(50_000 + noise + LEAST_EXCESS * 90 * unseen, abs=1)
    assert value(SUM, (numbers(),)) == 50_000
    assert value(SUM, (numbers(beyond=10),)) == 50_000 + 315  # 10 · 0.35 · 90
    assert some[1] > nothing[1] + 10 * 0.75 * 90 - 1
    assert some[0] == nothing[0], "no row is far below 0"
    assert bar(SUM, (numbers(beyond=10, below=1_000),))[0] < some[0]


def test_negative_values_are_the_mirror() -> None:
    up, mirrored = numbers(beyond=9), numbers(within=0, below=1_000, far_below=9, total=-50_000)
    assert bar(SUM, (mirrored,)) == (-bar(SUM, (up,))[1], -bar(SUM, (up,))[0])
    assert value(SUM, (mirrored,)) == -value(SUM, (up,))


def test_a_steeper_tail_exceeds_less() -> None:
    assert _excess(100, 200, 2.0) == _excess(100, 90, 2.0) == MOST_EXCESS
    assert _excess(100, 0, 1.19) == LEAST_EXCESS
    assert LEAST_EXCESS < _excess(100, 35, 2.0) < MOST_EXCESS
    falls = [_excess(100, beyond, 2.0) for beyond in range(1, 100)]
    assert falls == sorted(falls)


@pytest.mark.parametrize("currency", ["rho", "epsilon"])
def test_bars_widen_with_confidence(currency: Any) -> None:
    for column, row in ((SUM, (numbers(beyond=3),)), (MEAN, (numbers(beyond=3), 1_500))):
        bars = [bar(column, row, currency, level) for level in (0.3, 0.6, 0.9, 0.99, 0.999999)]
        widths = [high - low for low, high in bars]
        assert widths == sorted(widths)
        assert bars[2][0] <= value(column, row, currency) <= bars[2][1]


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
    for count in (0, 1, -5):
        low, high = bar(MEAN, (numbers(), count))
        assert (low, high) == (-90 * 1.75, 90 * 1.75)
        assert low <= value(MEAN, (numbers(), count)) <= high
    low, high = bar(MEAN, (numbers(), 1_000))
    assert 49 < low < 50 < high < 53


@pytest.mark.parametrize(
    ("number", "told"), [(468_123.0, "468,000"), (99.96, "100"), (0.01234, "0.0123"), (2.5e9, "2,500,000,000")]
)
def test_how_far_rows_may_lie_is_told_without_an_exponent(number: float, told: str) -> None:
    assert rough(number) == told
