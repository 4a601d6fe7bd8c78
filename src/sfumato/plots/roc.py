"""The ROC curve of a model with the band that its noise makes."""

from collections.abc import Sequence
from typing import Any

from sfumato.plots.style import FILL, GRID, MIST, figure, plotly

Point = tuple[float, float, float, float]


def roc(points: Sequence[Point], *, auc: float | None) -> Any:
    """Hits against false alarms, from the strictest cut to the laxest."""
    graph, across = plotly(), [point[0] for point in points]
    edge = {"mode": "lines", "line": {"width": 0}, "hoverinfo": "skip", "showlegend": False}
    traces = [
        graph.Scatter(x=across, y=[point[2] for point in points], **edge),
        graph.Scatter(x=across, y=[point[3] for point in points], fill="tonexty", fillcolor=MIST, **edge),
        graph.Scatter(x=[0, 1], y=[0, 1], mode="lines", line={"color": GRID, "dash": "dot"}, hoverinfo="skip"),
        graph.Scatter(x=across, y=[point[1] for point in points], mode="lines", line={"color": FILL, "width": 2}),
    ]
    title = "ROC" if auc is None else f"ROC, AUC {auc:.3f}"
    shares = {"range": [0, 1], "tickformat": ".0%"}
    return figure(
        traces,
        title=title,
        horizontal={**shares, "title": {"text": "false alarms"}},
        vertical={**shares, "title": {"text": "hits"}},
        showlegend=False,
    )
