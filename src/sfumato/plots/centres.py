"""A map of centres on two public axes: an ellipse around each is what noise may have moved it by. No row is drawn."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from math import cos, pi, sin
from typing import Any

from sfumato.plots.style import FILL, INK, MIST, figure, plain, plotly

CORNERS = 48  # of an ellipse
SMALLEST, LARGEST = 8, 30  # of a mark
EPOCH = date(1970, 1, 1)
Pair = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Axis:
    """A column from bound to bound, where it has bounds; `days` are counted from 1970-01-01."""

    name: str
    ends: Pair | None
    days: bool

    def shown(self, place: float) -> Any:
        """A day as its date, and none beyond what dates can be."""
        if not self.days:
            return place
        most = (date.max - EPOCH).days, (date.min - EPOCH).days
        return (EPOCH + timedelta(days=round(min(max(place, most[1]), most[0])))).isoformat()

    def line(self) -> dict[str, Any]:
        said: dict[str, Any] = {"title": {"text": plain(self.name)}}
        if self.ends is not None:
            wider = (self.ends[1] - self.ends[0]) / 50
            said["range"] = [self.shown(self.ends[0] - wider), self.shown(self.ends[1] + wider)]
        return said


@dataclass(frozen=True, slots=True)
class Centre:
    """Where it is, how far noise may have moved it, how many rows are near it, and whether noise rules it."""

    number: int
    at: Pair
    around: Pair
    rows: int
    hover: str
    grey: bool


def centres_map(centres: Sequence[Centre], across: Axis, up: Axis) -> Any:
    graph, most = plotly(), max(1, *(one.rows for one in centres), 1)
    ellipses = [
        graph.Scatter(
            x=[across.shown(one.at[0] + one.around[0] * cos(2 * pi * part / CORNERS)) for part in range(CORNERS + 1)],
            y=[up.shown(one.at[1] + one.around[1] * sin(2 * pi * part / CORNERS)) for part in range(CORNERS + 1)],
            mode="lines",
            fill="toself",
            opacity=0.5,
            fillcolor=MIST,
            line={"color": MIST if one.grey else FILL, "width": 1},
            hoverinfo="skip",
        )
        for one in centres
    ]
    marks = graph.Scatter(
        x=[across.shown(one.at[0]) for one in centres],
        y=[up.shown(one.at[1]) for one in centres],
        mode="markers+text",
        text=[str(one.number) for one in centres],
        textposition="top center",
        hovertext=[plain(one.hover) for one in centres],
        hoverinfo="text",
        marker={
            "color": [MIST if one.grey else FILL for one in centres],
            "size": [SMALLEST + (LARGEST - SMALLEST) * (max(one.rows, 0) / most) ** 0.5 for one in centres],
            "line": {"color": INK, "width": 1},
        },
    )
    return figure(
        [*ellipses, marks], title="Centres of clusters", horizontal=across.line(), vertical=up.line(), showlegend=False
    )
