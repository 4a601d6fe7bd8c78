"""Answers that run along an axis: steps, histograms, cumulative shares."""

from collections.abc import Mapping, Sequence
from typing import Any

from sfumato.plots.style import FILL, INK, RUST, figure, legend_above, plain, plotly, whiskers

COLOURS = (FILL, RUST, INK, "#5a9a8b", "#b98a2f", "#9a5a8f", "#8a8aa0")
SHADE = 0.25
MOST_TICKS = 15
Pair = tuple[float, float]
Part = Mapping[str, Any]


def steps(places: Sequence[Any], values: Sequence[float], intervals: Sequence[Pair], *, title: str, along: str) -> Any:
    """A line of steps over an ordered key, in the band that its intervals make."""
    band = _band(places, intervals, "hvh")
    line = _line(places, values, title, FILL, "hvh")
    horizontal = {"title": {"text": plain(along)}, **_ticks(places)}
    return figure([*band, line], title=title, horizontal=horizontal, showlegend=False)


def _ticks(places: Sequence[Any]) -> dict[str, Any]:
    """Whole numbers as they are written, 1984, and no tick between two of them: where some are missing, at keys."""
    if not all(isinstance(place, int) for place in places):
        return {}
    whole = max(places) - min(places) + 1 == len(places)
    return {"tickformat": "d", **({} if whole else {"tickvals": list(places)[:: -(-len(places) // MOST_TICKS)]})}


def histogram(
    labels: Sequence[str],
    cells: Sequence[Sequence[Part]],
    intervals: Sequence[Sequence[Pair]],
    *,
    title: str,
    along: str = "",
) -> Any:
    """One group: bars as wide as their bins, with whiskers. Several: a line of steps each, in its band."""
    horizontal = {"title": {"text": plain(along)}}
    if len(cells) == 1:
        edges, counts = _edges(cells[0]), [part["count"] for part in cells[0]]
        drawn = plotly().Bar(
            x=[(low + high) / 2 for low, high in edges],
            y=counts,
            width=[high - low for low, high in edges],
            marker={"color": FILL, "line": {"color": "white", "width": 1}},
            error_y=whiskers(counts, intervals[0]),
        )
        return figure([drawn], title=title, horizontal=horizontal, bargap=0)
    traces = []
    for place, (label, bins, pairs) in enumerate(zip(labels, cells, intervals, strict=True)):
        colour, edges = COLOURS[place % len(COLOURS)], _edges(bins)
        across = [*(low for low, _ in edges), edges[-1][1]]
        counts = [part["count"] for part in bins]
        traces += _band(across, [*pairs, pairs[-1]], "hv", colour)
        traces.append(_line(across, [*counts, counts[-1]], label, colour, "hv"))
    vertical = {"title": {"text": plain(title)}}
    return figure(traces, horizontal=horizontal, vertical=vertical, legend=legend_above(), showlegend=True)


def _edges(bins: Sequence[Part]) -> list[Pair]:
    """Where bins begin and end; whole numbers reach half way to their neighbours."""
    half = 0.5 if all(isinstance(end, int) for part in bins for end in (part["low"], part["high"])) else 0.0
    return [(part["low"] - half, part["high"] + half) for part in bins]


def cumulative(
    labels: Sequence[str],
    cells: Sequence[Sequence[Part]],
    intervals: Sequence[Sequence[Pair]],
    *,
    title: str,
    along: str = "",
) -> Any:
    """The share at or below each point, as steps in the band of their intervals."""
    traces = []
    for place, (label, points, pairs) in enumerate(zip(labels, cells, intervals, strict=True)):
        across, colour = [point["at"] for point in points], COLOURS[place % len(COLOURS)]
        traces += _band(across, pairs, "hv", colour)
        traces.append(_line(across, [point["share"] for point in points], label, colour, "hv"))
    horizontal, vertical = {"title": {"text": plain(along)}}, {"tickformat": ".0%", "title": {"text": plain(title)}}
    return figure(traces, horizontal=horizontal, vertical=vertical, legend=legend_above(), showlegend=len(cells) > 1)


def _line(across: Sequence[Any], values: Sequence[float], name: str, colour: str, shape: str) -> Any:
    line = {"shape": shape, "color": colour, "width": 2}
    return plotly().Scatter(x=list(across), y=list(values), name=plain(name), mode="lines", line=line)


def _band(across: Sequence[Any], intervals: Sequence[Pair], shape: str, colour: str = FILL) -> list[Any]:
    """The area between the ends of the intervals, through which the bands of other groups can be seen."""
    red, green, blue = (int(colour[place : place + 2], 16) for place in (1, 3, 5))
    shade = f"rgba({red},{green},{blue},{SHADE})"
    edge = {"mode": "lines", "line": {"shape": shape, "width": 0}, "hoverinfo": "skip", "showlegend": False}
    graph = plotly()
    lower = graph.Scatter(x=list(across), y=[low for low, _ in intervals], **edge)
    upper = graph.Scatter(x=list(across), y=[high for _, high in intervals], fill="tonexty", fillcolor=shade, **edge)
    return [lower, upper]
