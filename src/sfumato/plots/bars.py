"""Bars with error bars."""

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from sfumato.errors import missing_extra

INK = "#3b3a52"
FILL = "#7c83c8"


def bars(
    labels: Sequence[str], values: Sequence[float], intervals: Sequence[tuple[float, float]], *, title: str
) -> Any:
    """A Plotly figure: one bar a label, a whisker from the low to the high end of its interval."""
    graph = _plotly()
    above = [high - value for value, (_, high) in zip(values, intervals, strict=True)]
    below = [value - low for value, (low, _) in zip(values, intervals, strict=True)]
    figure = graph.Figure(
        graph.Bar(
            x=list(labels),
            y=list(values),
            marker_color=FILL,
            error_y={"type": "data", "symmetric": False, "array": above, "arrayminus": below, "color": INK},
        )
    )
    figure.update_layout(template="plotly_white", title=title, margin={"l": 40, "r": 20, "t": 50, "b": 40})
    return figure


def _plotly() -> Any:
    try:
        return import_module("plotly.graph_objects")
    except ImportError:
        raise missing_extra("a plot", "plotly", "plot") from None
