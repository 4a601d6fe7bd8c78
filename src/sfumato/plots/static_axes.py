"""The axes of a plot that stands still: words, days and numbers, with ticks that find room."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from textwrap import wrap
from typing import Any

from sfumato.plots.style import GRID, INK, matplotlib, written

A_TICK = 85  # pixels along an axis for a number or a day
LETTER, LINE = 6.5, 15  # pixels
LABELS = 0.4  # of a picture's width, for labels that can be in lines
AXIS = 0.9  # of a picture's width, beside the labels of the other axis
EPOCH = date(1970, 1, 1)


@dataclass(frozen=True, slots=True)
class Scale:
    """Where values lie on an axis: words in their order, days since 1970, numbers as they are."""

    kind: str  # "words", "days" or "numbers"
    words: dict[str, int] = field(default_factory=dict)

    def place(self, value: Any) -> float:
        """NaN leaves a gap."""
        if value is None:
            return float("nan")
        if self.kind == "words":
            return float(value) if isinstance(value, int | float) else float(self.words[str(value)])
        return float((_day(value) - EPOCH).days) if self.kind == "days" else float(value)

    def places(self, values: Any) -> list[float]:
        return [] if values is None else [self.place(value) for value in values]


def scales_of(plot: Any) -> tuple[Scale, Scale]:
    """Of the axis across and the axis up."""
    across, up = (
        [value for trace in plot.data for value in (trace[name] if trace[name] is not None else ())]
        for name in ("x", "y")
    )
    return _scale(across, plot.layout.xaxis), _scale(up, plot.layout.yaxis)


def _scale(values: Sequence[Any], layout: Any) -> Scale:
    texts = [value for value in values if isinstance(value, str)]
    if layout.type != "category" and texts and all(_is_day(text) for text in texts):
        return Scale("days")
    if layout.type == "category" or texts:
        return Scale("words", {word: place for place, word in enumerate(dict.fromkeys(map(str, values)))})
    return Scale("numbers")


def _day(text: str) -> date:
    return date.fromisoformat(text[:10])


def _is_day(text: str) -> bool:
    try:
        _day(text)
    except ValueError:
        return False
    return True


def finish_axis(axis: Any, plot: Any, scales: tuple[Scale, Scale], width: int, height: int) -> None:
    """Ranges, ticks, titles and the quiet ground of all plots."""
    for name, layout, scale, length, longest in (
        ("x", plot.layout.xaxis, scales[0], width, width),
        ("y", plot.layout.yaxis, scales[1], height, LABELS * width),
    ):
        side = axis.xaxis if name == "x" else axis.yaxis
        _range(axis, name, layout, scale)
        _ticks(side, layout, scale, length, name, int(longest / LETTER))
        if layout.title.text:
            side.set_label_text(written(layout.title.text))
        if layout.visible is False:
            side.set_visible(False)
        if layout.showgrid is not False:
            side.grid(color=GRID)
        if layout.zeroline:
            (axis.axvline if name == "x" else axis.axhline)(0, color=INK, linewidth=0.8)
    axis.set_axisbelow(True)
    axis.tick_params(length=0)
    axis.spines[:].set_visible(False)
    if plot.layout.yaxis.scaleanchor:
        axis.set_aspect(plot.layout.yaxis.scaleratio or 1)


def _range(axis: Any, name: str, layout: Any, scale: Scale) -> None:
    set_range = axis.set_xlim if name == "x" else axis.set_ylim
    low, high = axis.get_xlim() if name == "x" else axis.get_ylim()
    if scale.kind == "words" and scale.words:
        low, high = -0.5, len(scale.words) - 0.5
    if layout.range is not None:
        low, high = (scale.place(end) for end in layout.range)
    elif layout.rangemode == "tozero":
        low, high = min(low, 0.0), max(high, 0.0)
    set_range(*((high, low) if layout.autorange == "reversed" else (low, high)))


def _ticks(side: Any, layout: Any, scale: Scale, length: int, name: str, longest: int) -> None:
    library = matplotlib("matplotlib.ticker")
    prefix, suffix = layout.tickprefix or "", (layout.ticksuffix or "").rstrip()
    if layout.tickvals is not None or scale.kind == "words":
        places = scale.places(layout.tickvals) if layout.tickvals is not None else list(range(len(scale.words)))
        words = layout.ticktext if layout.ticktext is not None else layout.tickvals
        labels = [f"{prefix}{written(str(word))}{suffix}" for word in (scale.words if words is None else words)]
        lines = int(AXIS * length / max(len(labels), 1) / LINE)
        _labelled(side, places, [_in_lines(label, longest, lines) for label in labels], length, name)
        return
    room = max(2, length // (A_TICK if name == "x" else 3 * LINE))
    if scale.kind == "days":
        days = matplotlib("matplotlib.dates")
        locator = days.AutoDateLocator(maxticks=room)
        side.set_major_locator(locator)
        side.set_major_formatter(days.ConciseDateFormatter(locator))
        return
    side.set_major_locator(library.MaxNLocator(room, steps=[1, 2, 2.5, 5, 10], integer=layout.tickformat == "d"))
    how = layout.tickformat or ""
    side.set_major_formatter(library.FuncFormatter(lambda value, _: f"{prefix}{_shown(value, how)}{suffix}"))


def _shown(value: float, how: str) -> str:
    match how:
        case ".0%":
            return f"{100 * value:.0f}%"
        case "d":
            return f"{value:.0f}"
        case _:
            return f"{value:,.6g}"


def _in_lines(label: str, longest: int, lines: int) -> str:
    """A label in as many lines as there is room for, where one would take too much of the picture."""
    parts = wrap(label, longest, break_long_words=False) if len(label) > longest else []
    return "\n".join(parts) if 1 < len(parts) <= lines else label


def _labelled(side: Any, places: Sequence[float], labels: Sequence[str], length: int, name: str) -> None:
    """Labels turn where they have no room beside each other; where even that is too narrow, some are left out."""
    longest = max((max(map(len, label.split("\n"))) for label in labels), default=1)
    each = AXIS * length / max(len(labels), 1)
    turned = name == "x" and (longest + 1) * LETTER > each
    every = max(1, -(-LINE // max(int(each), 1))) if name == "y" or turned else 1
    side.set_ticks(list(places)[::every], list(labels)[::every], rotation=90 if turned else 0)
