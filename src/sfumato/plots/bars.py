"""Bars: an answer with its error bars, and shares side by side."""

from collections.abc import Sequence
from typing import Any

from sfumato.plots.style import FILL, RUST, figure, percent_ticks, plain, plotly, whiskers


def bars(
    labels: Sequence[str], values: Sequence[float], intervals: Sequence[tuple[float, float]], *, title: str
) -> Any:
    """A Plotly figure: one bar a label, a whisker from the low to the high end of its interval."""
    drawn = plotly().Bar(
        x=[plain(label) for label in labels],
        y=list(values),
        marker_color=FILL,
        error_y=whiskers(values, intervals),
    )
    return figure([drawn], title=title, horizontal={"type": "category"})


def shares(labels: Sequence[str], values: Sequence[float], *, alarming: Sequence[str] = ()) -> Any:
    """Lying bars from 0 to 100 %, the first on top; the alarming ones stand out."""
    drawn = plotly().Bar(
        x=[100 * value for value in values],
        y=[plain(label) for label in labels],
        orientation="h",
        marker_color=[RUST if label in alarming else FILL for label in labels],
        text=[percent(value) for value in values],
        textposition="outside",
        cliponaxis=False,
        hoverinfo="skip",
    )
    return figure(
        [drawn],
        height=90 + 54 * len(labels),
        horizontal={"range": [0, 112], **percent_ticks()},
        vertical={"autorange": "reversed", "type": "category", "showgrid": False, "ticksuffix": "  "},
        bargap=0.45,
    )


def percent(share: float) -> str:
    """A share for people: 71.2 %, 0.008 %."""
    hundred = 100 * share
    return f"{hundred:.1f} %" if hundred >= 0.1 else f"{hundred:.1g} %"
