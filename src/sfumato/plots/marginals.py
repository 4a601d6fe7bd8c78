"""How many rows of a synthetic table are in each cell of a column, alone or beside a private count of the real ones."""

from collections.abc import Sequence
from typing import Any

from sfumato.plots.style import FILL, INK, figure, legend_above, plain, plotly, whiskers

LABELS = 24  # of so many cells each has its label


def marginals(
    labels: Sequence[str], synthetic: Sequence[float], *, title: str, private: Sequence[float] = (), noise: float = 0.0
) -> Any:
    """Bars of synthetic rows; points, with two standard deviations of their noise, of a private count."""
    graph, across = plotly(), [plain(label) for label in labels]
    traces = [graph.Bar(x=across, y=list(synthetic), marker_color=FILL, name="synthetic")]
    if private:
        intervals = [(value - 2 * noise, value + 2 * noise) for value in private]
        points = {"mode": "markers", "marker": {"color": INK, "size": 5}, "error_y": whiskers(private, intervals)}
        traces.append(
            graph.Scatter(x=across, y=list(private), name="asked privately, ±2 standard deviations", **points)
        )
    return figure(
        traces,
        title=title,
        horizontal={"type": "category", "tickangle": -45, "nticks": LABELS},
        vertical={"title": {"text": "rows"}, "rangemode": "tozero"},
        showlegend=bool(private),
        legend=legend_above(),
    )
