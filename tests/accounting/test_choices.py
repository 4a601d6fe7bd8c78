"""Charts of what owners choose: each curve is checked against another way to the same number."""

from math import log, sqrt
from statistics import NormalDist

import numpy as np
import pytest

from sfumato.accounting import draw_caps, draw_clipping, draw_keys, draw_quantiles
from sfumato.accounting.choices import EACH_MORE, LARGEST, MIDDLE, SPREAD
from sfumato.errors import UsageError
from sfumato.kernel.mechanisms.keys import KeySelection
from sfumato.ledger.terms import Terms
from sfumato.schema.budget import Budget

# Everybody at an even rank of the law: sums over them are integrals of it.
RANKS = (np.arange(1_000_000) + 0.5) / 1_000_000


def incomes() -> np.ndarray:
    inverse = NormalDist().inv_cdf
    return MIDDLE * np.exp(SPREAD * np.array([inverse(rank) for rank in RANKS[::10]]))


def test_what_is_clipped_is_what_lies_beyond_the_bound() -> None:
    panel = draw_clipping(0.1).panels[0]
    noise, lost, both = panel.lines
    people = incomes()
    for place in (3, 40, 120):
        bound = noise.x[place]
        assert lost.y[place] == pytest.approx(np.maximum(people - bound, 0).sum() / people.sum(), rel=2e-2)
        assert noise.y[place] == pytest.approx(log(20) * bound / 0.1 / (people.mean() * 1000), rel=1e-3)
        assert both.y[place] == pytest.approx(noise.y[place] + lost.y[place])
    (mark,) = panel.marks
    assert mark.y == min(both.y)
    assert f"{mark.x:,.0f}" in panel.takeaway
    assert mark.x < LARGEST / 2 < noise.x[-1]


def test_more_people_allow_a_higher_bound() -> None:
    few, many = (draw_clipping(0.1, people=people).panels[0].marks[0].x for people in (1000, 100_000))
    assert few < many


def test_rows_cut_off_are_those_beyond_the_cap() -> None:
    noise, lost, both = draw_caps(0.1).panels[0].lines
    rows = np.arange(1, 400)
    law = (1 - EACH_MORE) * EACH_MORE ** (rows - 1.0)
    assert law.sum() == pytest.approx(1)
    for cap in (1, 5, 20):
        assert lost.y[cap - 1] == pytest.approx(1000 * (law * np.maximum(rows - cap, 0)).sum())
        assert noise.y[cap - 1] == pytest.approx(log(20) * cap / 0.1)
    assert min(both.y) < min(both.y[0], both.y[-1])


def test_a_key_is_shown_half_of_the_time_at_its_threshold() -> None:
    panel = draw_keys(0.5, 1e-6).panels[0]
    budget = Terms(Budget(0.5, 1e-6))
    for line, mark, held in zip(panel.lines, panel.marks, (1, 2, 5), strict=True):
        selection = KeySelection(budget.limit, budget.for_keys(None), held)
        assert mark.x == selection.threshold  # what a ledger would use at this spend
        chances = dict(zip(line.x, line.y, strict=True))
        assert chances[mark.x - 1] < 0.5 < chances[mark.x]
        assert chances[1] <= float(budget.for_keys(None)) * 1.01 / held
    assert [mark.x for mark in panel.marks] == [52, 75, 120]


def test_quantiles_follow_the_exponential_mechanism() -> None:
    """The law of the chosen rank, worked out on ranks and carried over to incomes."""
    panel = draw_quantiles(0.1).panels[0]
    ranks = np.linspace(0, 1, 200_001)[1:-1]
    density = np.exp(-0.1 * 1000 * np.abs(ranks - 0.5))  # of a place on the line of incomes: as wide as the gap there
    places = np.array([NormalDist().inv_cdf(rank) for rank in ranks[::20]])
    income = MIDDLE * np.exp(SPREAD * places)
    weight = density[::20] * np.gradient(income)
    weight[income > LARGEST / 2] = 0
    reached = np.cumsum(weight) / weight.sum()
    low, high = (income[np.searchsorted(reached, end)] for end in (0.025, 0.975))
    band = panel.bands[1]
    assert (band.x[0], band.x[-1]) == (pytest.approx(low, rel=0.02), pytest.approx(high, rel=0.02))
    assert [mark.x for mark in panel.marks][1] == MIDDLE
    wide = [band.x[-1] - band.x[0] for band in panel.bands]
    assert wide[0] < wide[2] / 3


@pytest.mark.parametrize("draw", [draw_clipping, draw_caps, draw_quantiles])
def test_people_are_counted_in_whole_numbers(draw: object) -> None:
    with pytest.raises(UsageError, match="people"):
        draw(0.1, people=0)  # type: ignore[operator]
    with pytest.raises(UsageError, match="epsilon"):
        draw(-1)  # type: ignore[operator]


def test_the_deviation_of_keys_is_that_of_the_selection() -> None:
    line = draw_keys(1, 1e-6, groups=(1,)).panels[0].lines[0]
    selection = KeySelection(Terms(Budget(1, 1e-6)).limit, Terms(Budget(1, 1e-6)).for_keys(None), 1)
    sigma = sqrt(float(selection.law.variance))
    at = round(selection.threshold + sigma)
    assert dict(zip(line.x, line.y, strict=True))[at] == pytest.approx(0.84, abs=0.08)
