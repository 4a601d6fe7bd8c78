"""Plotly's figures as pictures that stand still, drawn by Matplotlib: small, and without a script.

What the plots of this package are made of is drawn: bars, lines, dots, bands, squares of colour, with their axes.
"""

import re
from io import BytesIO
from typing import Any

from sfumato.plots.static_axes import Scale, finish_axis, scales_of
from sfumato.plots.static_traces import draw
from sfumato.plots.style import INK, matplotlib, written

PIXELS_AN_INCH, POINTS_A_PIXEL = 96, 0.75
LETTER = 6.5  # pixels, of the letters below
LETTERS = 13
HEIGHT = 360


def svg(plot: Any, width: int) -> bytes:
    """A figure of Plotly as SVG, so many pixels wide. The same figure gives the same bytes."""
    height = plot.layout.height or HEIGHT
    with matplotlib().rc_context(_style()):
        figure = matplotlib("matplotlib.figure").Figure(
            figsize=(width / PIXELS_AN_INCH, height / PIXELS_AN_INCH), layout="constrained"
        )
        axis = figure.subplots()
        scales = scales_of(plot)
        handles = draw(figure, axis, plot, scales)
        _shapes(axis, plot, scales)
        finish_axis(axis, plot, scales, width, height)
        if plot.layout.title.text:
            axis.set_title(written(plot.layout.title.text), loc="left", fontsize=LETTERS * POINTS_A_PIXEL * 1.2)
        if handles:
            longest = max(len(handle.get_label()) for handle in handles)
            columns = max(1, min(len(handles), int(width / (LETTER * longest + 50))))
            figure.legend(handles=handles, loc="outside upper left", frameon=False, ncols=columns)
        buffer = BytesIO()
        figure.savefig(buffer, format="svg", metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))
    return shortened(buffer.getvalue())


def shortened(picture: bytes) -> bytes:
    """The same paths to a hundredth of a point: a smaller file."""

    def rounded(path: re.Match[bytes]) -> bytes:
        numbers = re.sub(rb"-?\d+\.\d+", lambda number: b"%.2f" % float(number[0]), path[0])
        return numbers.replace(b" \n", b" ")

    return re.sub(rb' d="[^"]*"', rounded, picture)


def _style() -> dict[str, Any]:
    """Texts stay texts, in the letters of the page; nothing tells when and by which version a picture was made."""
    return {
        "svg.fonttype": "none",
        "svg.hashsalt": "sfumato",
        "font.family": "sans-serif",
        "font.sans-serif": ["Segoe UI", "Roboto", "Helvetica Neue", "Arial", "DejaVu Sans"],
        "font.size": LETTERS * POINTS_A_PIXEL,
        "text.color": INK,
        "axes.labelcolor": INK,
        "xtick.color": INK,
        "ytick.color": INK,
    }


def _shapes(axis: Any, plot: Any, scales: tuple[Scale, Scale]) -> None:
    """Straight lines across, and words beside them."""
    for shape in plot.layout.shapes:
        style = {"color": shape.line.color or INK, "linewidth": (shape.line.width or 2) * POINTS_A_PIXEL}
        style["linestyle"] = ":" if shape.line.dash == "dot" else "-"
        if "domain" in (shape.yref or ""):
            axis.axvline(scales[0].place(shape.x0), **style)
        else:
            axis.axhline(scales[1].place(shape.y0), **style)
    for note in plot.layout.annotations:
        paper = [name == "paper" for name in (note.xref, note.yref)]
        where = {(True, False): axis.get_yaxis_transform, (False, True): axis.get_xaxis_transform}
        transform = where.get((paper[0], paper[1]))
        place = [
            value if on_paper else scale.place(value)
            for value, on_paper, scale in zip((note.x, note.y), paper, scales, strict=True)
        ]
        axis.annotate(
            written(note.text),
            place,
            xycoords=axis.transData if transform is None else transform(),
            xytext=(0, 3),
            textcoords="offset points",
            ha={"left": "left", "right": "right"}.get(note.xanchor or "", "center"),
            va="bottom" if note.yanchor == "bottom" else "center",
        )
