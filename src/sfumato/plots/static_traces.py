"""What is drawn on the axes of a plot that stands still: bars, lines, dots, bands, squares of colour."""

import re
from itertools import pairwise
from typing import Any

import numpy as np

from sfumato.plots.static_axes import Scale
from sfumato.plots.style import FILL, INK, matplotlib, written

POINTS_A_PIXEL = 0.75
GAP = 0.2  # between bars, of what each has
STEPS = {"hv": "steps-post", "hvh": "steps-mid"}
FILLS = {"hv": "post", "hvh": "mid"}
DASHES = {"dot": ":", "dash": "--", "dashdot": "-."}
SYMBOLS = {"diamond": "D", "line-ns-open": "|", "square": "s", "x": "x"}
BETWEEN = 4  # points between a mark and its word
Scales = tuple[Scale, Scale]


def draw(figure: Any, axis: Any, plot: Any, scales: Scales) -> list[Any]:
    """Every trace in its order; what stands in the legend, if there is one."""
    handles, before = [], None
    for trace in plot.data:
        match trace.type:
            case "bar":
                handle = _bars(axis, trace, plot, scales)
            case "scatter":
                handle = _scatter(axis, trace, before, scales)
            case "heatmap":
                handle = _squares(figure, axis, trace, scales)
            case kind:
                raise TypeError(f"{kind} is no trace that stands still")
        before = trace
        if trace.name and trace.showlegend is not False and handle is not None:
            handle.set_label(written(trace.name))
            handles.append(handle)
    wanted = plot.layout.showlegend
    return handles if wanted or (wanted is None and len(handles) > 1) else []


def _bars(axis: Any, trace: Any, plot: Any, scales: Scales) -> Any:
    lying = trace.orientation == "h"
    along, lengths = (
        (scales[1].places(trace.y), scales[0].places(trace.x))
        if lying
        else (scales[0].places(trace.x), scales[1].places(trace.y))
    )
    gap = GAP if plot.layout.bargap is None else plot.layout.bargap
    apart = min((after - place for place, after in pairwise(sorted(set(along)))), default=1.0)
    thick = list(trace.width) if trace.width is not None else [apart * (1 - gap)] * len(along)
    line = trace.marker.line
    style = {
        "color": _colours(trace.marker.color, FILL),
        "edgecolor": _colour(line.color) if line.width else "none",
        "linewidth": (line.width or 0) * POINTS_A_PIXEL,
    }
    drawn = axis.barh(along, lengths, thick, **style) if lying else axis.bar(along, lengths, thick, **style)
    across, up = (lengths, along) if lying else (along, lengths)
    _whiskers(axis, trace, across, up)
    for place, length, text in zip(along, lengths, trace.text if trace.text is not None else (), strict=False):
        at = (length, place) if lying else (place, length)
        position = "middle right" if lying else "top center"
        _word(axis, at, text, position)
    return drawn


def _whiskers(axis: Any, trace: Any, across: list[float], up: list[float]) -> None:
    for name in ("error_x", "error_y"):
        error = trace[name]
        if error.array is None:
            continue
        sides = [np.maximum(error.arrayminus if error.arrayminus is not None else error.array, 0)]
        sides.append(np.maximum(error.array, 0))
        axis.errorbar(
            across,
            up,
            **{f"{name[-1]}err": sides},
            fmt="none",
            ecolor=_colour(error.color or INK),
            elinewidth=(error.thickness or 2) * POINTS_A_PIXEL,
            capsize=3,
            capthick=(error.thickness or 2) * POINTS_A_PIXEL,
        )


def _scatter(axis: Any, trace: Any, before: Any, scales: Scales) -> Any:
    across, up = scales[0].places(trace.x), scales[1].places(trace.y)
    mode, line, handle = trace.mode or "lines", trace.line, None
    colour = _colour(line.color or FILL)
    if trace.fill == "tonexty" and before is not None:
        fill = _colour(trace.fillcolor) if trace.fillcolor else (*_colour(line.color or FILL)[:3], 0.5)
        handle = axis.fill_between(
            across, scales[1].places(before.y), up, color=fill, linewidth=0, step=FILLS.get(line.shape or "")
        )
    if trace.fill == "toself":
        axis.fill(across, up, color=_colour(trace.fillcolor or FILL), alpha=trace.opacity, linewidth=0)
    width = 2 if line.width is None else line.width
    if "lines" in mode and width:
        (drawn,) = axis.plot(
            across,
            up,
            color=colour,
            linewidth=width * POINTS_A_PIXEL,
            linestyle=DASHES.get(line.dash or "", "-"),
            drawstyle=STEPS.get(line.shape or "", "default"),
            alpha=trace.opacity,
        )
        handle = drawn if handle is None else handle
    _whiskers(axis, trace, across, up)
    if "markers" in mode:
        handle = _marks(axis, trace, across, up)
    if "text" in mode:
        for place, text in enumerate(trace.text):
            many = isinstance(trace.textposition, list | tuple)
            position = trace.textposition[place] if many else trace.textposition
            _word(axis, (across[place], up[place]), text, position or "middle center")
    return handle


def _marks(axis: Any, trace: Any, across: list[float], up: list[float]) -> Any:
    marker = trace.marker
    sizes = 6 if marker.size is None else marker.size
    symbol = SYMBOLS.get(marker.symbol or "", "o")
    colour = _colours(marker.color, FILL)
    looks: dict[str, Any] = {"c": colour if isinstance(colour, list) else [colour]}
    if marker.symbol == "circle-open":
        looks = {"facecolors": "none", "edgecolors": colour}
    elif symbol != "|":
        looks["edgecolors"] = _colour(marker.line.color or INK)
    return axis.scatter(
        across,
        up,
        s=(np.asarray(sizes, dtype=float) * POINTS_A_PIXEL) ** 2,
        marker=symbol,
        linewidths=(marker.line.width or 0) * POINTS_A_PIXEL,
        alpha=marker.opacity if isinstance(marker.opacity, int | float) else None,
        zorder=3,
        clip_on=trace.cliponaxis is not False,
        **looks,
    )


def _squares(figure: Any, axis: Any, trace: Any, scales: Scales) -> Any:
    values = np.array([[np.nan if cell is None else cell for cell in row] for row in trace.z], dtype=float)
    across, up = (_edges(scale.places(values_of)) for scale, values_of in zip(scales, (trace.x, trace.y), strict=True))
    stops = [(stop, _colour(colour)) for stop, colour in trace.colorscale]
    shades = matplotlib("matplotlib.colors").LinearSegmentedColormap.from_list("sfumato", stops)
    drawn = axis.pcolormesh(
        across, up, values, cmap=shades, vmin=trace.zmin, vmax=trace.zmax, shading="flat", rasterized=values.size > 900
    )
    if trace.showscale is not False:
        scale = figure.colorbar(drawn, ax=axis, shrink=0.8, pad=0.02, label=written(trace.colorbar.title.text or ""))
        scale.outline.set_visible(False)
        if trace.colorbar.tickvals is not None:
            scale.set_ticks(list(trace.colorbar.tickvals), labels=list(trace.colorbar.ticktext))
    if trace.texttemplate:
        for row, place_up in zip(trace.text, scales[1].places(trace.y), strict=True):
            for text, place in zip(row, scales[0].places(trace.x), strict=True):
                _word(axis, (place, place_up), text, "middle center", small=True)
    return drawn


def _edges(middles: list[float]) -> list[float]:
    half = (middles[1] - middles[0]) / 2 if len(middles) > 1 else 0.5
    return [middles[0] - half, *((one + two) / 2 for one, two in pairwise(middles)), middles[-1] + half]


def _word(axis: Any, at: tuple[float, float], text: Any, position: str, *, small: bool = False) -> None:
    up, _, side = position.partition(" ")
    sideways = {"left": -1, "right": 1}.get(side, 0)
    upward = {"top": 1, "bottom": -1}.get(up, 0)
    axis.annotate(
        written(str(text)),
        at,
        xytext=(BETWEEN * sideways, BETWEEN * upward),
        textcoords="offset points",
        ha={-1: "right", 0: "center", 1: "left"}[sideways],
        va={-1: "top", 0: "center", 1: "bottom"}[upward],
        fontsize="small" if small else None,
        annotation_clip=False,
    )


def _colours(colours: Any, usual: str) -> Any:
    if isinstance(colours, str) or colours is None:
        return _colour(colours or usual)
    return [_colour(colour) for colour in colours]


def _colour(colour: str) -> tuple[float, float, float, float]:
    """As Plotly writes it: by name, #rrggbb, rgb(…) or rgba(…)."""
    if parts := re.fullmatch(r"rgba?\(([\d., ]+)\)", colour):
        red, green, blue, *alpha = (float(part) for part in parts[1].split(","))
        return red / 255, green / 255, blue / 255, alpha[0] if alpha else 1.0
    red, green, blue, alpha_ = matplotlib("matplotlib.colors").to_rgba(colour)
    return red, green, blue, alpha_
