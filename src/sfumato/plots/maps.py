"""Maps without a network: points, a heat of counts, degrees as a grid, a scale bar. Pages for .html, else a picture."""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from math import cos, floor, log10, radians, sqrt
from pathlib import Path
from typing import Any

from sfumato.errors import UsageError, missing_extra
from sfumato.plots.charts import COLOURS
from sfumato.plots.page import Figure, Section, page, write_page
from sfumato.plots.style import GRID, INK, figure, legend_above, plain, plotly
from sfumato.visible import visible

METRES_A_DEGREE = 111_195.0
HEAT = ((0.0, "#ffffff"), (0.15, "#e4e5f4"), (0.45, "#7c83c8"), (0.75, "#8e4f8b"), (1.0, "#c2562f"))
WIDTH, DOTS_AN_INCH = 7.2, 150
MOST_DOTS = 20_000


@dataclass(frozen=True, slots=True)
class Dots:
    """Points under one name."""

    name: str
    lat: Sequence[float]
    lon: Sequence[float]
    colour: str = "fill"
    size: float = 5.0


@dataclass(frozen=True, slots=True)
class Heat:
    """Numbers on an even grid of cells, south and west first, over south, west, north, east."""

    name: str
    values: Sequence[Sequence[float]]
    box: tuple[float, float, float, float]

    @property
    def most(self) -> float:
        return max((value for row in self.values for value in row), default=0.0)


@dataclass(frozen=True, slots=True)
class Map:
    """What is drawn, and the one sentence to take away."""

    title: str
    takeaway: str
    dots: Sequence[Dots] = ()
    heat: Heat | None = None

    def save(self, path: str | Path, *, static: bool = False) -> None:
        """Write a page that works offline for .html (`static`: one that stands still), a picture for .png and .svg."""
        place = Path(path)
        match place.suffix.lower():
            case ".html":
                write_page(place, self.page(static=static))
            case ".png" | ".svg":
                _write_picture(self, place)
            case _:
                raise UsageError(f"{place.name} is neither .html nor .png nor .svg.", "Name the map e.g. map.html.")

    def page(self, *, static: bool = False) -> str:
        """One HTML document."""
        sections = [Section("Map", [Figure(interactive(self), self.takeaway)])]
        return page(self.title, sections, footer="Made by Sfumato.", static=static)

    @property
    def box(self) -> tuple[float, float, float, float]:
        """South, west, north, east of everything drawn."""
        if self.heat is not None:
            return self.heat.box
        lat = [value for dots in self.dots for value in dots.lat] or [0.0]
        lon = [value for dots in self.dots for value in dots.lon] or [0.0]
        tall, wide = max(lat) - min(lat), max(lon) - min(lon)
        pad = max(0.06 * tall, 0.06 * wide, 1e-4)
        return min(lat) - pad, min(lon) - pad, max(lat) + pad, max(lon) + pad


@dataclass(frozen=True, slots=True)
class ScaleBar:
    """A round length, and where it is drawn."""

    west: float
    east: float
    lat: float
    text: str


def scale_bar(box: tuple[float, float, float, float]) -> ScaleBar:
    """About a fifth of the width of the map: 1, 2 or 5 times a power of ten metres, true at the height of the bar."""
    south, west, north, east = box
    lat = south + 0.05 * (north - south)
    metres = METRES_A_DEGREE * max(cos(radians(lat)), 1e-6)
    wanted = max((east - west) * metres / 5, 1e-3)
    power = 10.0 ** floor(log10(wanted))
    length = max(step * power for step in (1, 2, 5) if step * power <= wanted)
    start = west + 0.04 * (east - west)
    return ScaleBar(start, start + length / metres, lat, f"{length / 1000:g} km" if length >= 1000 else f"{length:g} m")


def root(value: float) -> float:
    """Colours follow the root of a number: on an even scale one city would leave all else white. Noise below 0 is 0."""
    return sqrt(max(value, 0.0))


def root_marks(most: float) -> list[float]:
    """Round numbers from 0 to about the most, evenly apart in their roots."""
    wanted = [most * part**2 for part in (0.25, 0.5, 0.75, 1)] if most > 0 else []
    rounded = [value // 10.0 ** floor(log10(value)) * 10.0 ** floor(log10(value)) for value in wanted]
    return list(dict.fromkeys([0.0, *rounded]))


def interactive(drawn: Map) -> Any:
    """The map as a Plotly figure; a degree of longitude is as wide as it is in the middle of the map."""
    graph, traces = plotly(), []
    south, west, north, east = box = drawn.box
    if drawn.heat is not None:
        rows, columns = len(drawn.heat.values), len(drawn.heat.values[0])
        marks = root_marks(drawn.heat.most)
        traces.append(
            graph.Heatmap(
                z=[[root(value) for value in row] for row in drawn.heat.values],
                customdata=[list(row) for row in drawn.heat.values],
                x=[west + (column + 0.5) * (east - west) / columns for column in range(columns)],
                y=[south + (row + 0.5) * (north - south) / rows for row in range(rows)],
                colorscale=[list(stop) for stop in HEAT],
                colorbar={
                    "title": {"text": plain(drawn.heat.name)},
                    "thickness": 12,
                    "tickvals": [root(mark) for mark in marks],
                    "ticktext": [f"{mark:,g}" for mark in marks],
                },
                hovertemplate="%{y:.4f}, %{x:.4f}: %{customdata:.1f}<extra></extra>",
            )
        )
    traces += [
        graph.Scatter(
            x=list(dots.lon)[:MOST_DOTS],
            y=list(dots.lat)[:MOST_DOTS],
            mode="markers",
            name=plain(dots.name),
            marker={"color": COLOURS[dots.colour], "size": dots.size, "opacity": 0.8},
            hovertemplate="%{y:.5f}, %{x:.5f}<extra></extra>",
        )
        for dots in drawn.dots
    ]
    bar = scale_bar(box)
    traces.append(
        graph.Scatter(
            x=[bar.west, bar.east],
            y=[bar.lat, bar.lat],
            mode="lines+text",
            text=["", bar.text],
            textposition="middle right",
            line={"color": INK, "width": 3},
            hoverinfo="skip",
            showlegend=False,
        )
    )
    ratio = 1 / max(cos(radians((south + north) / 2)), 0.05)
    return figure(
        traces,
        height=560,
        horizontal={"range": [west, east], "ticksuffix": "°", "title": {"text": "longitude"}},
        vertical={
            "range": [south, north],
            "ticksuffix": "°",
            "title": {"text": "latitude"},
            "scaleanchor": "x",
            "scaleratio": ratio,
        },
        legend=legend_above(),
    )


def _write_picture(drawn: Map, path: Path) -> None:
    try:
        figures, library = import_module("matplotlib.figure"), import_module("matplotlib")
        colours = import_module("matplotlib.colors")
    except ImportError:
        raise missing_extra("a map in .png or .svg", "matplotlib", "plot") from None
    south, west, north, east = box = drawn.box
    ratio = 1 / max(cos(radians((south + north) / 2)), 0.05)
    tall = WIDTH * min(max((north - south) * ratio / (east - west), 0.4), 1.6)
    picture = figures.Figure(figsize=(WIDTH, tall * (0.86 if drawn.heat else 1) + 0.6), layout="constrained")
    axis = picture.subplots()
    axis.grid(color=GRID)
    axis.set_axisbelow(True)
    if drawn.heat is not None:
        shades = colours.LinearSegmentedColormap.from_list("sfumato", list(HEAT))
        image = axis.imshow(
            drawn.heat.values,
            origin="lower",
            extent=(west, east, south, north),
            cmap=shades,
            norm=colours.PowerNorm(0.5, vmin=0, vmax=max(drawn.heat.most, 1e-9), clip=True),
            aspect="auto",
            alpha=0.95,
        )
        picture.colorbar(image, ax=axis, label=_literal(drawn.heat.name), shrink=0.7)
    for dots in drawn.dots:
        axis.scatter(
            list(dots.lon)[:MOST_DOTS],
            list(dots.lat)[:MOST_DOTS],
            s=dots.size**2,
            color=COLOURS[dots.colour],
            alpha=0.8,
            linewidths=0,
            label=_literal(dots.name),
        )
    bar = scale_bar(box)
    axis.plot([bar.west, bar.east], [bar.lat, bar.lat], color=INK, linewidth=3, solid_capstyle="butt")
    axis.annotate(bar.text, (bar.east, bar.lat), textcoords="offset points", xytext=(5, -3), color=INK, fontsize=9)
    axis.set_xlim(west, east)
    axis.set_ylim(south, north)
    axis.set_aspect(ratio)
    axis.set_xlabel("longitude, degrees", color=INK)
    axis.set_ylabel("latitude, degrees", color=INK)
    axis.set_title(_literal(drawn.title), color=INK, fontsize=11)
    if drawn.dots:
        axis.legend(frameon=False, fontsize=8, loc="upper right")
    # Texts stay texts, and nothing tells when the file was made: the same numbers give the same picture.
    with library.rc_context({"svg.fonttype": "none", "svg.hashsalt": "sfumato"}):
        try:
            picture.savefig(path, dpi=DOTS_AN_INCH, metadata={"Date": None} if path.suffix.lower() == ".svg" else None)
        except OSError as error:
            raise UsageError(f"{path} cannot be written: {error.strerror}.", "Choose another file.") from None


def _literal(text: str) -> str:
    """Matplotlib reads dollar signs as formulas."""
    return visible(text).replace("$", r"\$")
