"""Charts of noise: densities are densities, histograms follow the law they show, and a wrong law is seen."""

from itertools import pairwise
from math import log, sqrt
from pathlib import Path

import numpy as np
import pytest

from sfumato.errors import UsageError
from sfumato.noise import analytic_gaussian_deviation, draw_densities, draw_errors
from sfumato.plots.charts import Line, Panel, interactive
from tests.entropy import SeededEntropy


def area(line: Line, *, within: float | None = None) -> float:
    steps = zip(pairwise(line.x), pairwise(line.y), strict=True)
    return sum(
        (right - left) * (low + high) / 2
        for (left, right), (low, high) in steps
        if within is None or -within <= left < right <= within
    )


def test_densities() -> None:
    chart = draw_densities((10, 1, 0.3), answer=500)
    lines = chart.panels[0].lines
    assert [line.name for line in lines] == [f"Laplace, epsilon {price}" for price in ("10", "1", "0.3")]
    for line, price in zip(lines, (10, 1, 0.3), strict=True):
        assert area(line) == pytest.approx(1, abs=0.04)
        assert max(line.y) == pytest.approx(price / 2)
        assert line.x[list(line.y).index(max(line.y))] == 500
    assert "±0.0693 at epsilon 10, ±0.693 at epsilon 1, ±2.31 at epsilon 0.3" in chart.panels[0].takeaway


def test_the_gaussian_density_beside_laplaces() -> None:
    panel = draw_densities([0.1], delta=1e-5, sensitivity=2).panels[0]
    laplace, gaussian = panel.lines
    sigma = analytic_gaussian_deviation(2, 0.1, 1e-5)
    assert max(gaussian.y) == pytest.approx(1 / (sigma * sqrt(2 * np.pi)))
    assert max(laplace.y) == pytest.approx(0.1 / 4)
    assert area(gaussian) == pytest.approx(1, abs=1e-3)
    assert gaussian.dashed
    assert f"±{20 * log(2):.3g} at epsilon 0.1" in panel.takeaway


def misfit(panel: Panel, draws: int) -> float:
    """The largest distance between a bar and the law, in standard deviations of the bar (at least one draw)."""
    return max(
        abs(drawn - expected) / max(sqrt(expected * (1 - expected) / draws), 1 / draws)
        for drawn, expected in zip(panel.bars[0].heights, panel.lines[0].y, strict=True)
    )


@pytest.mark.parametrize("epsilons", [(0.1, 1.1), (0.002,), (1e-15,)])
def test_errors_follow_the_law_that_is_drawn(epsilons) -> None:
    chart = draw_errors(epsilons, draws=20_000, entropy=SeededEntropy("figures"))
    assert [panel.title for panel in chart.panels] == [f"epsilon {price:g}" for price in epsilons]
    for panel, price in zip(chart.panels, epsilons, strict=True):
        assert sum(panel.lines[0].y) == pytest.approx(0.99, abs=0.01)
        assert sum(panel.bars[0].heights) == pytest.approx(sum(panel.lines[0].y), abs=6 * sqrt(0.01 / 20_000))
        assert misfit(panel, 20_000) < 6
        assert len(panel.bars[0].edges) == len(panel.bars[0].heights) + 1 <= 210
        assert list(panel.lines[0].x) == pytest.approx([-x for x in reversed(panel.lines[0].x)])
        assert max(panel.lines[0].y) == panel.lines[0].y[len(panel.lines[0].y) // 2]
        assert f"the law says {1 / np.sinh(price):.3g}" in panel.takeaway


def test_a_histogram_of_another_price_does_not_fit() -> None:
    right, wrong = draw_errors((0.1, 0.12), draws=20_000, entropy=SeededEntropy("figures")).panels
    assert misfit(Panel("", "", "", "", right.lines, bars=wrong.bars), 20_000) > 6


def test_relative_errors_are_in_percent_of_the_answer() -> None:
    plain = draw_errors([0.1], draws=1000, entropy=SeededEntropy("percent")).panels[0]
    relative = draw_errors([0.1], answer=200, draws=1000, entropy=SeededEntropy("percent")).panels[0]
    assert list(relative.bars[0].edges) == pytest.approx([edge / 2 for edge in plain.bars[0].edges])
    assert relative.bars[0].heights == plain.bars[0].heights
    assert "% of the answer" in relative.horizontal
    assert "the law says 4.99 %" in relative.takeaway
    assert "% of the answer" in draw_errors([1], answer=100, draws=10).panels[0].horizontal
    assert draw_errors([1]).panels[0].bars != draw_errors([1]).panels[0].bars


def test_bars_reach_pages_and_pictures(tmp_path: Path) -> None:
    chart = draw_errors((0.5, 1), draws=500)
    drawn = interactive(chart.panels[0])
    assert [trace.type for trace in drawn.data] == ["bar", "scatter"]
    assert len(drawn.data[0].x) == len(chart.panels[0].bars[0].heights)
    for name in ("errors.html", "errors.png", "errors.svg"):
        chart.save(tmp_path / name)
        assert (tmp_path / name).stat().st_size > 5000


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: draw_errors([]),
        lambda: draw_densities([0]),
        lambda: draw_errors([1], answer=0),
        lambda: draw_errors([1], draws=0),
    ],
)
def test_mistakes_are_refused(wrong) -> None:
    with pytest.raises(UsageError):
        wrong()
