"""Answers that run along an axis: steps, histograms, cumulative shares."""

from collections.abc import Mapping, Sequence
from typing import Any

from sfumato.plots.style import FILL, INK, MIST, RUST, figure, legend_above, plain, plotly, whiskers

COLOURS = (FILL, RUST, INK, "#5a9a8b", "#b98a2f", "#9a5a8f", "#8a8aa0")
Pair = tuple[float, float]
Part = Mapping[str, Any]


def steps(places: Sequence[Any], values: Sequence[float], intervals: Sequence[Pair], *, title: str, along: str) -> Any:
    """A line of steps over an ordered key, in the band that its intervals make."""
    across = [str(place) if hasattr(place, "isoformat") else place for place in places]
    band = _band(across, intervals, "hvh")
    line = _line(across, values, title, FILL, "hvh")
    return figure([*band, line], title=title, horizontal={"title": {"text": plain(along)}}, showlegend=False)


def histogram(
    labels: Sequence[str], cells: Sequence[Sequence[Part]], intervals: Sequence[Sequence[Pair]], *, title: str
) -> Any:
    """One group: bars as wide as their bins, with whiskers. Several: a line of steps each."""
    if len(cells) == 1:
        edges, counts = _edges(cells[0]), [part["count"] for part in cells[0]]
        drawn = plotly().Bar(
            x=[(low + high) / 2 for low, high in edges],
            y=counts,
            width=[high - low for low, high in edges],
            marker={"color": FILL, "line": {"color": "white", "width": 1}},
            error_y=whiskers(counts, intervals[0]),
        )
        return figure([drawn], title=title, bargap=0)
    lines = [
        _line(
            [*(low for low, _ in _edges(bins)), _edges(bins)[-1][1]],
            [*(part["count"] for part in bins), bins[-1]["count"]],
            label,
            COLOURS[place % len(COLOURS)],
            "hv",
        )
        for place, (label, bins) in enumerate(zip(labels, cells, strict=True))
    ]
    return figure(lines, vertical={"title": {"text": plain(title)}}, legend=legend_above(), showlegend=True)


def _edges(bins: Sequence[Part]) -> list[Pair]:
    """Where bins begin and end; whole numbers reach half way to their neighbours."""
    half = 0.5 if all(isinstance(end, int) for part in bins for end in (part["low"], part["high"])) else 0.0
    return [(part["low"] - half, part["high"] + half) for part in bins]


def cumulative(
    labels: Sequence[str], cells: Sequence[Sequence[Part]], intervals: Sequence[Sequence[Pair]], *, title: str
) -> Any:
    """The share at or below each point, as steps; one group alone in the band of its intervals."""
    traces = []
    for place, (label, points, pairs) in enumerate(zip(labels, cells, intervals, strict=True)):
        across = [point["at"] for point in points]
        traces += _band(across, pairs, "hv") if len(cells) == 1 else []
        traces.append(_line(across, [point["share"] for point in points], label, COLOURS[place % len(COLOURS)], "hv"))
    vertical = {"tickformat": ".0%", "title": {"text": plain(title)}}
    return figure(traces, vertical=vertical, legend=legend_above(), showlegend=len(cells) > 1)


def _line(across: Sequence[Any], values: Sequence[float], name: str, colour: str, shape: str) -> Any:
    line = {"shape": shape, "color": colour, "width": 2}
    return plotly().Scatter(x=list(across), y=list(values), name=plain(name), mode="lines", line=line)


def _band(across: Sequence[Any], intervals: Sequence[Pair], shape: str) -> list[Any]:
    edge = {"mode": "lines", "line": {"shape": shape, "width": 0}, "hoverinfo": "skip", "showlegend": False}
    graph = plotly()
    lower = graph.Scatter(x=list(across), y=[low for low, _ in intervals], **edge)
    upper = graph.Scatter(x=list(across), y=[high for _, high in intervals], fill="tonexty", fillcolor=MIST, **edge)
    return [lower, upper]
