"""What columns add to a prediction, one a line, with what is not known of it."""

from collections.abc import Sequence
from typing import Any

from sfumato.plots.style import FILL, INK, MIST, figure, plain, plotly, whiskers


def coefficients(
    labels: Sequence[str],
    values: Sequence[float],
    intervals: Sequence[tuple[float, float]],
    *,
    title: str,
    along: str,
) -> Any:
    """A dot with its whisker for each, the first on top; grey where the whisker reaches over 0."""
    sure = [low > 0 or high < 0 for low, high in intervals]
    dots = plotly().Scatter(
        x=list(values),
        y=[plain(label) for label in labels],
        mode="markers",
        marker={"color": [FILL if one else MIST for one in sure], "size": 9, "line": {"color": INK, "width": 1}},
        error_x={**whiskers(values, intervals), "width": 5},
        hovertemplate="%{y}: %{x:.4g}<extra></extra>",
    )
    return figure(
        [dots],
        title=title,
        height=120 + 28 * len(labels),
        horizontal={"title": {"text": plain(along)}, "zeroline": True, "zerolinecolor": INK},
        vertical={"autorange": "reversed", "type": "category", "showgrid": False, "ticksuffix": "  "},
    )
