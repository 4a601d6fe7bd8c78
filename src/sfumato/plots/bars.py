"""Bars and dots: an answer with its error bars, and shares side by side."""

from collections.abc import Sequence
from typing import Any

from sfumato.plots.style import FILL, INK, RUST, figure, percent_ticks, plain, plotly, whiskers

# So many labels of so many letters stand side by side on a telephone; others are lines, one below the other.
MOST_UPRIGHT, LONGEST_UPRIGHT = 8, 12
KEYS_OF_NUMBERS = 31  # short labels, as of years and days, that may turn
SHORT = 10
MOST_LINES = 100  # a page with more lines than these is no picture: they stand side by side, and some have labels
LONGEST_LABEL = 30
LINE, TITLE = 24, 90  # heights
Pair = tuple[float, float]


def bars(labels: Sequence[str], values: Sequence[float], intervals: Sequence[Pair], *, title: str) -> Any:
    """A Plotly figure: one bar a label, a whisker from the low to the high end of its interval."""
    if _upright(labels):
        upright = plotly().Bar(
            x=[plain(label) for label in labels],
            y=list(values),
            marker_color=FILL,
            error_y=whiskers(values, intervals),
        )
        return figure([upright], title=title, horizontal={"type": "category"})
    lying = plotly().Bar(
        x=list(values),
        y=list(range(len(labels))),
        orientation="h",
        marker_color=FILL,
        error_x=whiskers(values, intervals),
        hovertext=[plain(label) for label in labels],
        hovertemplate="%{hovertext}: %{x:,.6g}<extra></extra>",
    )
    return figure([lying], title=title, height=TITLE + LINE * len(labels), vertical=_lines(labels), bargap=0.3)


def dots(labels: Sequence[str], values: Sequence[float], intervals: Sequence[Pair], *, title: str) -> Any:
    """A dot a label, in the middle of its whisker: for what is not as much as a bar is long."""
    upright = _upright(labels)
    names = [plain(label) for label in labels]
    places: list[Any] = names if upright else list(range(len(labels)))
    across, up = (places, list(values)) if upright else (list(values), places)
    drawn = plotly().Scatter(
        x=across,
        y=up,
        mode="markers",
        marker={"color": FILL, "size": 9, "line": {"color": INK, "width": 1}},
        hovertext=names,
        hovertemplate=f"%{{hovertext}}: %{{{'y' if upright else 'x'}:,.6g}}<extra></extra>",
        **{"error_y" if upright else "error_x": whiskers(values, intervals)},
    )
    if upright:  # as far from the edges as bars are
        return figure([drawn], title=title, horizontal={"type": "category", "range": [-0.5, len(labels) - 0.5]})
    return figure([drawn], title=title, height=TITLE + LINE * len(labels), vertical=_lines(labels))


def _upright(labels: Sequence[str]) -> bool:
    longest = max(map(len, labels), default=0)
    few = len(labels) <= MOST_UPRIGHT and longest <= LONGEST_UPRIGHT
    return few or (len(labels) <= KEYS_OF_NUMBERS and longest <= SHORT) or len(labels) > MOST_LINES


def _lines(labels: Sequence[str]) -> dict[str, Any]:
    """An axis of lines, the first on top, each with its label; a long one is cut, and whole where it is pointed at."""
    shown = [label if len(label) <= LONGEST_LABEL else f"{label[: LONGEST_LABEL - 1]}…" for label in labels]
    return {
        "range": [len(labels) - 0.5, -0.5],
        "tickvals": list(range(len(labels))),
        "ticktext": [plain(label) for label in shown],
        "showgrid": False,
        "ticksuffix": "  ",
    }


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
