"""A decision tree, drawn: what is asked, how many rows of each class are there as far as noise lets it be known."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sfumato.plots.style import FILL, INK, MIST, RUST, figure, plain, plotly

MOST_LABELLED = 64
ROW_HEIGHT = 92


@dataclass(frozen=True, slots=True)
class Drawn:
    """A node: its question or class, what it holds, whether noise rules it, and where its children are in the list."""

    text: str
    hover: str
    grey: bool
    share: float  # of the class that is drawn in red
    children: tuple[int, ...]


def tree(nodes: Sequence[Drawn], *, title: str) -> Any:
    """The root on top; leaves side by side; a line to the left is no, one to the right yes."""
    places: dict[int, tuple[float, int]] = {}
    leaves = _placed(nodes, 0, 0, 0.0, places)
    deepest = max(level for _, level in places.values())
    lines_x: list[float | None] = []
    lines_y: list[float | None] = []
    for number, node in enumerate(nodes):
        for child in node.children:
            lines_x += [places[number][0], places[child][0], None]
            lines_y += [-places[number][1], -places[child][1], None]
    graph, labelled = plotly(), len(nodes) <= MOST_LABELLED
    edges = graph.Scatter(x=lines_x, y=lines_y, mode="lines", line={"color": MIST, "width": 1.5}, hoverinfo="skip")
    dots = graph.Scatter(
        x=[places[number][0] for number in range(len(nodes))],
        y=[-places[number][1] for number in range(len(nodes))],
        mode="markers+text" if labelled else "markers",
        text=[plain(node.text) for node in nodes],
        textposition=["top center" if node.children else "bottom center" for node in nodes],
        textfont={"size": 11},
        hovertext=[plain(node.hover) for node in nodes],
        hoverinfo="text",
        marker={
            "size": 14,
            "color": [_colour(node) for node in nodes],
            "line": {"color": INK, "width": 1},
        },
        cliponaxis=False,
    )
    quiet = {"visible": False}
    height = ROW_HEIGHT * (deepest + 2)
    horizontal = {**quiet, "range": [-0.7, leaves - 0.3]}
    vertical = {**quiet, "range": [-deepest - 0.6, 0.6]}
    return figure([edges, dots], title=title, height=height, horizontal=horizontal, vertical=vertical, showlegend=False)


def _placed(
    nodes: Sequence[Drawn], number: int, level: int, begin: float, places: dict[int, tuple[float, int]]
) -> float:
    """Leaves stand one after the other, every other node over the middle of its children; gives the next free place."""
    node = nodes[number]
    if not node.children:
        places[number] = begin, level
        return begin + 1
    end = begin
    for child in node.children:
        end = _placed(nodes, child, level + 1, end, places)
    places[number] = sum(places[child][0] for child in node.children) / len(node.children), level
    return end


def _colour(node: Drawn) -> str:
    if node.grey:
        return MIST
    red = [int(RUST[place : place + 2], 16) for place in (1, 3, 5)]
    blue = [int(FILL[place : place + 2], 16) for place in (1, 3, 5)]
    mixed = [round(node.share * one + (1 - node.share) * other) for one, other in zip(red, blue, strict=True)]
    return f"rgb({mixed[0]},{mixed[1]},{mixed[2]})"
