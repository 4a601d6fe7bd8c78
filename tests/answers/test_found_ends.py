"""What is read from the numbers between found ends: variances, bins, running shares, bars, and when there are none."""

from fractions import Fraction as F
from typing import Any

import numpy as np
import pytest

from sfumato.answers.columns import Noises, expected_error, interval_of, value_of
from sfumato.answers.found_ends import LEAST_EXCESS, MOST_EXCESS, _excess, read
from sfumato.kernel.lines import Line
from sfumato.kernel.mechanisms.additive import Additive
from sfumato.kernel.mechanisms.found_ends import HALF_SQUARE, MOST_AWAY, FoundEnds
from sfumato.kernel.widths import deviation, error, rows_at_anchor, rows_at_clamp
from sfumato.plan.expressions import Column
from sfumato.plan.nodes import BetweenEnds, Grid
from sfumato.query.bound import FoundSpread
from sfumato.query.rewrite import FoundBinsColumn, FoundSpreadColumn

CELLS = Grid(Column("x"), F(-63), F(63), 1 << 18)
WHOLE = Grid(Column("x"), F(-43), F(43), 1 << 18)
FINDING = F(33, 100)
ROWS = 100_000


def column(wanted: Any, *, root: bool = False, sample: bool = False, whole: bool = False) -> Any:
    bins = 1 if wanted == "moments" else 5
    ends = BetweenEnds(WHOLE if whole else CELLS, F(1) if whole else F(1, 1 << 30), FINDING, wanted, bins)
    if wanted == "moments":
        return FoundSpreadColumn("v", 0, FoundSpread(ends, sample, root))
    return FoundBinsColumn("h", 0, ends)


def made(column: Any, currency: Any = "rho") -> FoundEnds:
    ends = column.ends
    line = Line(ends.cells.size, ends.cells.lower, ends.cells.width, ends.step)
    return FoundEnds.for_share(F(1), currency, 1, 1, line, FINDING, ends.wanted, ends.bins)


def edge(mechanism: FoundEnds, value: float) -> int:
    """The edge that is nearest."""
    values = [mechanism.line.at(place) for place in range(len(mechanism.line.edges()))]
    return int(np.argmin(np.abs(np.array(values) - value)))


def places(mechanism: FoundEnds, low: float, high: float) -> list[int]:
    """Anchors a little inside of the ends."""
    first, last = edge(mechanism, low), edge(mechanism, high)
    return [first + 1, first, last - 1, last]


def moments(mechanism: FoundEnds, values: Any, low: float, high: float, beyond: tuple[int, int] = (0, 0)) -> Any:
    """What would be released of these values without noise, with so many rows more below and above."""
    found = places(mechanism, low, high)
    first, last = mechanism.line.at(found[1]), mechanism.line.at(found[3])
    away = np.rint((2 * np.clip(values, first, last) - first - last) / (last - first) * MOST_AWAY).astype(int)
    away = np.concatenate([away, [-MOST_AWAY] * beyond[0], [MOST_AWAY] * beyond[1]])
    return (*found, beyond[0], len(values), beyond[1], int(away.sum()), int((away**2 - HALF_SQUARE).sum()))


def both(column: Any, mechanism: FoundEnds, numbers: Any, confidence: float = 0.95) -> tuple[Any, Any]:
    return (
        value_of(column, (), (numbers,), (mechanism,)),
        interval_of(column, (numbers,), Noises((mechanism,), confidence)),
    )


VALUES = np.random.default_rng(1).normal(170, 10, ROWS)


@pytest.mark.parametrize("currency", ["epsilon", "rho"])
@pytest.mark.parametrize("root", [False, True])
def test_a_variance_is_that_of_the_values_and_its_bar_holds_it(root: bool, currency: Any) -> None:
    spread = column("moments", root=root)
    mechanism = made(spread, currency)
    truth = VALUES.std() if root else VALUES.var()
    value, (low, high) = both(spread, mechanism, moments(mechanism, VALUES, 132, 223))
    assert value == pytest.approx(truth, rel=1e-3)
    assert 0.95 * truth < low < truth < high < 1.15 * truth
    wider = both(spread, mechanism, moments(mechanism, VALUES, 132, 223), 0.999)[1]
    assert wider[0] < low
    assert high < wider[1]
    assert expected_error(spread, (mechanism,), 0.95) is None


def test_a_sample_of_n_has_n_over_n_minus_1_times_the_variance() -> None:
    mechanism = made(column("moments"))
    numbers = moments(mechanism, VALUES[:1_000], 132, 223)
    of_all, of_sample = (both(column("moments", sample=sample), mechanism, numbers)[0] for sample in (False, True))
    assert of_sample == pytest.approx(of_all * 1_000 / 999)


def test_a_variance_gets_back_what_is_seen_beyond_and_a_bar_for_what_is_not() -> None:
    spread = column("moments")
    mechanism = made(spread)
    seen = [
        both(spread, mechanism, moments(mechanism, VALUES, 132, 223, beyond)) for beyond in ((0, 0), (0, 10), (10, 0))
    ]
    (plain, bar), (above, wide), (below, deep) = seen
    assert above > plain
    assert below > plain
    assert wide[1] - wide[0] > bar[1] - bar[0]
    assert deep[1] - deep[0] > bar[1] - bar[0]


def test_cells_that_are_wide_for_their_values_are_in_the_bar() -> None:
    """A deviation of 1 around a billion is lost in cells that are half a million wide."""
    spread = column("moments", root=True)
    mechanism = made(spread)
    values = np.random.default_rng(2).normal(1e9, 1.0, 5_000)
    _, (low, high) = both(spread, mechanism, moments(mechanism, values, 5e8, 2e9))
    assert low == 0
    assert high > 2e5
    whole = column("moments", root=True, whole=True)
    ages = np.random.default_rng(2).integers(20, 81, 50_000)
    mechanism = made(whole)
    value, (low, high) = both(whole, mechanism, moments(mechanism, ages, 15, 90))
    assert low < ages.std() < high
    assert value == pytest.approx(ages.std(), rel=1e-3)


def test_a_steeper_tail_exceeds_less() -> None:
    assert _excess(100, 200, 1.5) == _excess(100, 90, 2.0) == MOST_EXCESS
    assert _excess(1_000, 0, 1.0) == LEAST_EXCESS
    assert LEAST_EXCESS < _excess(400, 35, 1.3) < MOST_EXCESS


@pytest.mark.parametrize("wanted", ["bins", "totals", "moments"])
@pytest.mark.parametrize("currency", ["epsilon", "rho"])
def test_there_is_nothing_without_rows_or_with_too_many_beyond(wanted: Any, currency: Any) -> None:
    one = column(wanted)
    mechanism = made(one, currency)
    cells = len(mechanism.line.edges()) - 1
    found = places(mechanism, 132, 223)
    sought, beyond = rows_at_anchor(mechanism.anchor, cells), rows_at_clamp(mechanism.end)

    def numbers(where: list[int], below: int, inside: int, above: int) -> Any:
        if wanted == "moments":
            return (*where, below, inside, above, 0, 0)
        counts = np.array([below, inside, 0, 0, 0, 0, above])
        strategy = mechanism.within.strategy
        return (*where, *(counts if strategy is None else strategy.answers(counts)).tolist())

    enough = 3 * sought
    assert read(mechanism, numbers(found, beyond, enough, beyond)) is not None
    nothing = [
        numbers(found, 0, sought // 2, 0),
        numbers(found, 0, -enough, 0),
        numbers(found, 9 * beyond, enough, 0),
        numbers(found, 0, enough, 9 * beyond),
        numbers([found[2], found[1], found[0], found[3]], 0, enough, 0),  # crossed anchors
        numbers([found[0], found[1], found[2], cells], 0, enough, 0),  # the line has no more
        numbers([found[0], 0, found[2], found[3]], 0, enough, 0),
    ]
    for given in nothing:
        assert read(mechanism, given) is None
        assert both(one, mechanism, given) == ((None, None) if wanted == "moments" else ([], []))


def test_bins_begin_at_round_numbers_and_have_the_bars_of_their_noise() -> None:
    one = column("bins")
    mechanism = made(one)
    numbers = (*places(mechanism, 39, 187), 3, 10, 500, 900, 700, 20, 4)
    value, bars = both(one, mechanism, numbers)
    assert [(part["low"], part["high"], part["count"]) for part in value] == [
        (0, 40, 10),
        (40, 80, 500),
        (80, 120, 900),
        (120, 160, 700),
        (160, 200, 20),
    ]
    half = error(mechanism.within.law, 0.95)
    assert bars == [(count - half, count + half) for count in (10, 500, 900, 700, 20)]


def test_whole_numbers_have_bins_from_the_first_to_the_last() -> None:
    one = column("bins", whole=True)
    mechanism = made(one)
    value, _ = both(one, mechanism, (*places(mechanism, 18, 89), 3, 900, 900, 900, 700, 20, 4))
    assert [(part["low"], part["high"]) for part in value] == [(15, 29), (30, 44), (45, 59), (60, 74), (75, 89)]
    assert all(type(part["low"]) is type(part["high"]) is int for part in value)


@pytest.mark.parametrize("currency", ["epsilon", "rho"])
def test_running_shares_count_what_lies_below_the_bins(currency: Any) -> None:
    one = column("totals")
    mechanism = made(one, currency)
    strategy = mechanism.within.strategy
    assert strategy is not None
    counts = np.array([6, 900, 2_000, 4_000, 2_000, 900, 4])
    value, bars = both(one, mechanism, (*places(mechanism, 39, 187), *strategy.answers(counts).tolist()))
    assert [part["at"] for part in value] == [40, 80, 120, 160, 200]
    shares = [part["share"] for part in value]
    assert shares == sorted(shares)
    assert shares[0] == pytest.approx(906 / 9_810, abs=1e-9 if currency == "epsilon" else 1e-4)
    assert shares[-1] == pytest.approx(9_806 / 9_810, abs=1e-9 if currency == "epsilon" else 1e-4)
    assert all(low <= share <= high for share, (low, high) in zip(shares, bars, strict=True))


def test_other_mechanisms_are_not_read() -> None:
    with pytest.raises(TypeError, match="ends that are found"):
        read(Additive.for_share(F(1), "rho", 1, 1), (1, 2, 3, 4, 5))


def test_noise_of_the_counts_is_what_a_bar_is_made_of() -> None:
    mechanism = made(column("moments"))
    found = read(mechanism, moments(mechanism, VALUES, 132, 223))
    assert found is not None
    assert found.spread == deviation(mechanism.within.law)
    assert found.above.most == pytest.approx(error(mechanism.within.law, 0.9), abs=1e-9)
