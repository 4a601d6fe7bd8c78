"""The look that all plots share, and the doors to Plotly and Matplotlib."""

from collections.abc import Mapping, Sequence
from html import escape, unescape
from importlib import import_module
from typing import Any

from sfumato.errors import missing_extra
from sfumato.visible import visible, visible_lines

INK = "#3b3a52"
FILL = "#7c83c8"
MIST = "#c9cce8"
RUST = "#c2562f"
GRID = "#e9e8f0"
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"


def plotly(module: str = "graph_objects") -> Any:
    """A module of Plotly, or MissingExtra."""
    try:
        return import_module(f"plotly.{module}")
    except ImportError:
        raise missing_extra("a plot", "plotly", "plot") from None


def matplotlib(module: str = "matplotlib") -> Any:
    """A module of Matplotlib, or MissingExtra."""
    try:
        return import_module(module)
    except ImportError:
        raise missing_extra("a plot in .png or .svg", "matplotlib", "plot") from None


def plain(text: object) -> str:
    """A label that is shown as it is written: Plotly would read tags in it, links included."""
    return escape(visible(str(text)), quote=False)


def written(label: str) -> str:
    """A label for Matplotlib, which reads dollar signs as formulas and no tags."""
    return visible_lines(unescape(label.replace("<br>", "\n"))).replace("$", r"\$")


def figure(
    traces: Sequence[Any],
    *,
    title: str = "",
    height: int = 360,
    horizontal: Mapping[str, Any] | None = None,
    vertical: Mapping[str, Any] | None = None,
    **layout: Any,
) -> Any:
    """Traces on a quiet white ground. Axes stay where they are, so that a finger scrolls the page and not the plot."""
    axis = {
        "fixedrange": True,
        "automargin": True,
        "gridcolor": GRID,
        "zeroline": False,
        "linecolor": GRID,
        "title_standoff": 12,
        "title_font": {"size": 13},
    }
    drawn = plotly().Figure(list(traces))
    drawn.update_layout(
        template="none",
        title={"text": plain(title), "x": 0, "xref": "paper", "font": {"size": 16}} if title else None,
        height=height,
        margin={"l": 8, "r": 16, "t": 48 if title else 16, "b": 8},
        font={"family": FONT, "size": 13, "color": INK},
        paper_bgcolor="white",
        plot_bgcolor="white",
        hoverlabel={"bgcolor": "white", "font": {"family": FONT, "color": INK}},
        dragmode=False,
        xaxis={**axis, **(horizontal or {})},
        yaxis={**axis, **(vertical or {})},
        **layout,
    )
    return drawn


def percent_ticks() -> dict[str, Any]:
    """Marks of an axis that counts from 0 to 100."""
    marks = (0, 25, 50, 75, 100)
    return {"tickvals": list(marks), "ticktext": [f"{mark} %" for mark in marks]}


def legend_above() -> dict[str, Any]:
    """A legend in one line over the plot, which leaves a phone the whole width."""
    return {"orientation": "h", "x": 0, "xanchor": "left", "y": 1.02, "yanchor": "bottom"}


def whiskers(values: Sequence[float], intervals: Sequence[tuple[float, float]]) -> dict[str, Any]:
    """Plotly's error bars from the low to the high end of each interval."""
    return {
        "type": "data",
        "symmetric": False,
        "array": [high - value for value, (_, high) in zip(values, intervals, strict=True)],
        "arrayminus": [value - low for value, (low, _) in zip(values, intervals, strict=True)],
        "color": INK,
        "thickness": 1.5,
    }
