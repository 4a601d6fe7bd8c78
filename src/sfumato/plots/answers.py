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
        (bins,), (pairs,) = cells, intervals
        counts = [part["count"] for part in bins]
        drawn = plotly().Bar(
            x=[(part["low"] + part["high"]) / 2 for part in bins],
            y=counts,
            width=[part["high"] - part["low"] for part in bins],
            marker={"color": FILL, "line": {"color": "white", "width": 1}},
            error_y=whiskers(counts, pairs),
        )
        return figure([drawn], title=title, bargap=0)
    lines = [
        _line(
            [*(part["low"] for part in bins), bins[-1]["high"]],
            [*(part["count"] for part in bins), bins[-1]["count"]],
            label,
            COLOURS[place % len(COLOURS)],
            "hv",
        )
        for place, (label, bins) in enumerate(zip(labels, cells, strict=True))
    ]
    return figure(lines, vertical={"title": {"text": plain(title)}}, legend=legend_above(), showlegend=True)


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
