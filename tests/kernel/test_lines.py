"""Lines of logarithms: values and their cells, edges, bins at round numbers, what an end costs."""

from fractions import Fraction as F
from itertools import pairwise
from math import log
from typing import Any

import numpy as np
import pytest

from sfumato.kernel.lines import ROUND, Line

REAL = Line(1 << 18, F(-63), F(126, 1 << 18), F(1, 1 << 30))
WHOLE = Line(1 << 18, F(-43), F(86, 1 << 18), F(1))
FROM_0 = Line(1 << 12, F(0), F(12, 1 << 12), F(1))
LINES = [REAL, WHOLE, FROM_0]


def edge_above(line: Line, value: float) -> int:
    """The first edge that is no smaller."""
    return next(edge for edge in range(len(line.edges())) if line.at(edge) >= value)


@pytest.mark.parametrize("line", LINES)
def test_a_value_lies_in_its_cell(line: Line) -> None:
    for value in (0.0, 1.0, 0.3, 17.5, 1234.0, 80_000.0, *((-1.0, -55.5, -9e5) if line.lower else ())):
        place = line.place(value)
        begin, end = line.values(np.array([place, place + 1])).tolist()
        assert begin <= value * (1 + 1e-12) + 1e-12
        assert value * (1 - 1e-12) - 1e-12 <= end
    assert line.place(1e300) == line.size - 1
    assert line.place(-1e300) == 0


@pytest.mark.parametrize("line", LINES)
def test_edges_rise_from_one_end_to_the_other_by_quarters_of_an_octave_and_one_is_0(line: Line) -> None:
    edges = line.edges()
    assert (edges[0], edges[-1]) == (0, line.size)
    assert (np.diff(edges) >= 1).all()
    assert any(line.at(edge) == 0 for edge in range(len(edges)))
    inside = np.diff(edges)[1:-1] * float(line.width)
    assert np.allclose(inside, log(2) / 4, rtol=0.02)


def test_whole_numbers_up_to_a_thousand_have_cells_of_their_own() -> None:
    places = [WHOLE.place(float(value)) for value in range(-1000, 1001)]
    assert all(one < other for one, other in pairwise(places))


@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("bins", [2, 3, 10, 77])
@pytest.mark.parametrize(("low", "high"), [(0, 1), (0, 90), (12, 93), (39, 187), (0.5, 3), (-40, 200), (-90, -12)])
def test_bins_are_equal_begin_at_round_numbers_and_hold_both_ends(
    line: Line, bins: int, low: float, high: float
) -> None:
    if line.one_sided and low < 0:
        return
    first, last = edge_above(line, low), edge_above(line, high) + 1
    edges = line.bins(first, last, bins)
    assert len(edges) == bins + 1
    assert len({after - before for before, after in pairwise(edges)}) == 1
    width = edges[1] - edges[0]
    assert edges[0] % width == 0
    assert edges[0] <= line.at(first)
    assert line.at(last) <= edges[-1]
    if line.whole:
        assert all(edge.denominator == 1 for edge in edges)
    else:
        assert any(width / times == F(10) ** round(log(width / times) / log(10)) for times in ROUND)
        # No other round width would be much smaller: the bins are no more than two thirds wider than they must be.
        assert bins * width <= 2 * max(F(line.at(last)) - F(line.at(first)), width) + 2 * width
    cuts = line.cuts(first, last, bins)
    assert (np.diff(cuts) >= 0).all()


def test_a_value_that_many_have_is_in_the_bin_that_begins_there() -> None:
    """Heaps at round numbers: the cell that holds the beginning of a bin belongs to it."""
    for line, low, high in ((REAL, 0.0, 70_000.0), (WHOLE, 0.0, 70_000.0), (REAL, -90.0, -12.0), (WHOLE, 30.0, 130.0)):
        first, last = edge_above(line, low), edge_above(line, high)
        edges, cuts = line.bins(first, last, 10), line.cuts(first, last, 10)
        for edge, cut in list(zip(edges, cuts, strict=True))[1:]:
            heap = float(edge)
            assert cut <= line.place(heap)
            assert heap == 0 or line.whole or line.place(heap * (0.999 if heap > 0 else 1.001)) < cut


def test_one_bin_goes_from_end_to_end() -> None:
    assert REAL.bins(100, 200, 1) == [F(REAL.at(100)), F(REAL.at(200))]


@pytest.mark.parametrize("line", LINES)
def test_cells_are_as_far_from_the_middle_as_their_values(line: Line) -> None:
    low, high, most = edge_above(line, 10), edge_above(line, 500), 1 << 14
    away = line.deviations(low, high, most)
    first, last = line.at(low), line.at(high)
    assert len(away) == line.edges()[high] - line.edges()[low]
    assert (np.diff(away) >= 0).all()
    for value in (20.0, 100.0, 250.0):
        place = line.place(value) - int(line.edges()[low])
        expected = (2 * value - first - last) / (last - first) * most
        assert abs(away[place] - expected) <= 1 + most * value * float(line.width) / (last - first)
        if line is WHOLE:
            assert away[place] == round(expected)


@pytest.mark.parametrize("line", LINES)
def test_ends_cost_more_the_farther_they_are_and_nothing_at_the_anchors(line: Line) -> None:
    low, high = edge_above(line, 0 if line.one_sided else 30), edge_above(line, 100)
    down, up = line.farther(low, high, 1_000.0)
    assert len(down) == len(up) == len(line.edges()) - 1
    assert min(down.min(), up.min()) >= 0
    beyond = up[high - 1 :]
    assert beyond[0] < 300
    assert (np.diff(beyond[4:60]) > 0).all()
    octave = beyond[24] - beyond[20]
    assert 900 < octave < 1_100  # one for every time twice as far
    if not line.one_sided:
        zero = int(np.searchsorted(line.edges(), line.place(0.0)))
        at = len(down) - 1 - zero  # downwards from the last cell
        assert down[at] < 3_000
        assert down[at - 3] > down[at] + 3_000  # the tiny cells beside it
        assert down[at + 8] > down[at] + 3_000  # and those beyond


def test_crossed_anchors_still_have_costs() -> None:
    down, up = REAL.farther(400, 380, 10.0)
    assert np.isfinite(down).all()
    assert (up >= 0).all()


def test_lines_are_made_once() -> None:
    assert REAL.edges() is Line(1 << 18, F(-63), F(126, 1 << 18), F(1, 1 << 30)).edges()


def test_a_line_says_what_it_is() -> None:
    found: Any = [(line.whole, line.one_sided) for line in LINES]
    assert found == [(False, False), (True, False), (True, True)]
