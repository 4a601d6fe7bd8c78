"""Charts of accounting: lines, bands, bars and marks, drawn by Plotly into a page or by Matplotlib into PNG and SVG."""

from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import Any

from sfumato.errors import UsageError
from sfumato.plots.page import Figure, Section, Table, page, write_page
from sfumato.plots.static import shortened
from sfumato.plots.style import FILL, GRID, INK, MIST, RUST, figure, legend_above, matplotlib, plain, plotly
from sfumato.visible import visible

PICTURES = (".png", ".svg")
COLOURS = {
    "ink": INK,
    "fill": FILL,
    "mist": MIST,
    "rust": RUST,
    "moss": "#5d8a5a",
    "ochre": "#c99a2e",
    "sea": "#2f8f9d",
    "plum": "#8e4f8b",
    "stone": "#9a98a8",
}
PANEL_WIDTH, PANEL_HEIGHT, DOTS_AN_INCH = 6.8, 5.2, 150
SHORT_NAME = 20


@dataclass(frozen=True, slots=True)
class Line:
    """A curve; None leaves a gap."""

    name: str
    x: Sequence[float]
    y: Sequence[float | None]
    colour: str = "fill"
    dashed: bool = False
    bold: bool = False


@dataclass(frozen=True, slots=True)
class Band:
    """The area between two curves."""

    name: str
    x: Sequence[float]
    low: Sequence[float]
    high: Sequence[float]
    colour: str = "mist"


@dataclass(frozen=True, slots=True)
class Bars:
    """A histogram: one height between each edge and the next."""

    name: str
    edges: Sequence[float]
    heights: Sequence[float]
    colour: str = "mist"


@dataclass(frozen=True, slots=True)
class Mark:
    """A dot with a word."""

    x: float
    y: float
    text: str


@dataclass(frozen=True, slots=True)
class Panel:
    """One plot: what its axes are, what is drawn, and the one sentence to take away."""

    title: str
    takeaway: str
    horizontal: str
    vertical: str
    lines: Sequence[Line] = ()
    bands: Sequence[Band] = ()
    marks: Sequence[Mark] = ()
    top: float | None = None
    bottom: float = 0.0
    bars: Sequence[Bars] = ()


@dataclass(frozen=True, slots=True)
class Chart:
    """Panels under one title."""

    title: str
    panels: Sequence[Panel]

    def save(self, path: str | Path, *, static: bool = False) -> None:
        """Write the chart: a page that works offline for .html, a picture for .png and .svg.

        `static`: a page whose plots stand still, which is small.
        """
        place = Path(path)
        check_drawable(place)
        if place.suffix.lower() == ".html":
            write_page(place, self.page(static=static))
        else:
            _write_picture(self, place)

    def page(self, *, static: bool = False) -> str:
        """One HTML document with every panel and its numbers."""
        sections = [
            Section(panel.title, [Figure(interactive(panel), panel.takeaway, _numbers(panel))]) for panel in self.panels
        ]
        return page(self.title, sections, footer="Made by Sfumato.", static=static)


def check_drawable(path: Path) -> None:
    """Refuse an ending that is no plot's, and one whose library is not installed."""
    match path.suffix.lower():
        case ".html":
            plotly()
        case ".png" | ".svg":
            matplotlib()
        case _:
            raise UsageError(f"{path.name} is neither .html nor .png nor .svg.", "Name the plot e.g. bounds.html.")


def interactive(panel: Panel) -> Any:
    """The panel as a Plotly figure."""
    graph, traces = plotly(), []
    for band in panel.bands:
        edge = {
            "x": list(band.x),
            "mode": "lines",
            "line": {"color": COLOURS[band.colour], "width": 1.5, "simplify": False},
        }
        name = plain(band.name)
        traces.append(graph.Scatter(y=list(band.high), name=name, legendgroup=name, showlegend=False, **edge))
        traces.append(graph.Scatter(y=list(band.low), name=name, legendgroup=name, fill="tonexty", **edge))
    for bars in panel.bars:
        ends = list(pairwise(bars.edges))
        traces.append(
            graph.Bar(
                x=[(left + right) / 2 for left, right in ends],
                y=list(bars.heights),
                width=[right - left for left, right in ends],
                name=plain(bars.name),
                marker={"color": COLOURS[bars.colour], "line": {"width": 0}},
            )
        )
    for line in panel.lines:
        style = {
            "color": COLOURS[line.colour],
            "width": 3 if line.bold else 2,
            "dash": "dot" if line.dashed else "solid",
        }
        traces.append(
            graph.Scatter(
                x=list(line.x), y=list(line.y), name=plain(line.name), mode="lines", line={**style, "simplify": False}
            )
        )
    if panel.marks:
        traces.append(
            graph.Scatter(
                x=[mark.x for mark in panel.marks],
                y=[mark.y for mark in panel.marks],
                text=[plain(mark.text) for mark in panel.marks],
                mode="markers+text",
                textposition="bottom right",
                marker={"color": INK, "size": 8},
                hoverinfo="skip",
                showlegend=False,
                cliponaxis=False,
            )
        )
    vertical: dict[str, Any] = {"title": {"text": plain(panel.vertical)}, "rangemode": "tozero"}
    if panel.top is not None:
        vertical["range"] = [panel.bottom, panel.top]
    return figure(
        traces,
        height=440,
        horizontal={"title": {"text": plain(panel.horizontal)}},
        vertical=vertical,
        legend=legend_above(),
    )


def _write_picture(chart: Chart, path: Path) -> None:
    figures, agg = matplotlib("matplotlib.figure"), matplotlib()
    count = len(chart.panels)
    drawn = figures.Figure(figsize=(PANEL_WIDTH * count, PANEL_HEIGHT), layout="constrained")
    axes = drawn.subplots(1, count, squeeze=False)[0]
    for panel, axis in zip(chart.panels, axes, strict=True):
        _draw(panel, axis)
    drawn.suptitle(_literal(chart.title), color=INK, fontsize=13, fontweight="bold")
    # Texts stay texts, and nothing in the file tells when and by which version it was made: the same numbers give the
    # same picture.
    vector, buffer = path.suffix.lower() == ".svg", BytesIO()
    with agg.rc_context({"svg.fonttype": "none", "svg.hashsalt": "sfumato"}):
        quiet = dict.fromkeys(("Date", "Creator", "Format", "Type")) if vector else None
        drawn.savefig(buffer, format="svg" if vector else "png", dpi=DOTS_AN_INCH, metadata=quiet)
    try:
        path.write_bytes(shortened(buffer.getvalue()) if vector else buffer.getvalue())
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}.", "Choose another file.") from None


def _draw(panel: Panel, axis: Any) -> None:
    for band in panel.bands:
        colour = COLOURS[band.colour]
        axis.fill_between(band.x, band.low, band.high, color=colour, alpha=0.25, linewidth=0, label=_literal(band.name))
        for edge in (band.low, band.high):
            axis.plot(band.x, edge, color=colour, linewidth=1.2)
    for bars in panel.bars:
        axis.stairs(bars.heights, bars.edges, fill=True, color=COLOURS[bars.colour], label=_literal(bars.name))
    for line in panel.lines:
        axis.plot(
            line.x,
            [float("nan") if value is None else value for value in line.y],
            color=COLOURS[line.colour],
            linewidth=2.4 if line.bold else 1.5,
            linestyle=":" if line.dashed else "-",
            label=_literal(line.name),
        )
    for mark in panel.marks:
        axis.plot([mark.x], [mark.y], marker="o", color=INK, markersize=5)
        axis.annotate(_literal(mark.text), (mark.x, mark.y), textcoords="offset points", xytext=(6, -12), color=INK)
    axis.set_title(_literal(panel.title), fontsize=11, color=INK)
    axis.set_xlabel(_literal(panel.horizontal), color=INK)
    axis.set_ylabel(_literal(panel.vertical), color=INK)
    axis.set_ylim(panel.bottom, panel.top)
    axis.margins(x=0)
    axis.grid(color=GRID)
    axis.set_axisbelow(True)
    axis.tick_params(colors=INK)
    if panel.lines and all(isinstance(place, int) for line in panel.lines for place in line.x):
        axis.xaxis.get_major_locator().set_params(integer=True)
    axis.spines[["top", "right"]].set_visible(False)
    axis.spines[["left", "bottom"]].set_color(INK)
    drawn: list[Band | Bars | Line] = [*panel.bands, *panel.bars, *panel.lines]
    axis.legend(
        frameon=False,
        fontsize=8,
        loc="upper center",
        bbox_to_anchor=(0.5, -0.14),
        ncols=5 if max((len(each.name) for each in drawn), default=0) <= SHORT_NAME else 2,
        columnspacing=1.2,
        handlelength=1.6,
        labelcolor=INK,
    )


def _literal(text: str) -> str:
    """Matplotlib reads dollar signs as formulas."""
    return visible(text).replace("$", r"\$")


def _numbers(panel: Panel) -> Table | None:
    """The lines as a table, thinned to what a reader can take in."""
    if not panel.lines:
        return None
    places = sorted({x for line in panel.lines for x in line.x})
    places = places[:: max(1, len(places) // 24)]
    values = [dict(zip(line.x, line.y, strict=True)) for line in panel.lines]
    rows = [[f"{x:g}", *(_shown(value.get(x)) for value in values)] for x in places]
    return Table([panel.horizontal, *(line.name for line in panel.lines)], rows)


def _shown(value: float | None) -> str:
    return "–" if value is None else f"{value:.4g}"
