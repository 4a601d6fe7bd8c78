"""How often attacks succeed: bars with a mark for chance and one for what was promised."""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from sfumato.errors import UsageError, missing_extra
from sfumato.plots.bars import percent
from sfumato.plots.charts import DOTS_AN_INCH
from sfumato.plots.style import FILL, GRID, INK, MIST, RUST, figure, legend_above, percent_ticks, plain, plotly
from sfumato.visible import visible

LINE = 54
WIDTH, LINE_INCHES = 8.0, 0.62


@dataclass(frozen=True, slots=True)
class Success:
    """One bar: how often an attack hit, how often chance would, what was promised, and whether that alarms.

    outsiders: how often it hits people who are not in the table, where that was tried.
    """

    label: str
    success: float
    chance: float
    bound: float | None
    alarming: bool
    outsiders: float | None = None


def successes(bars: Sequence[Success]) -> Any:
    """Lying bars from 0 to 100 %, the first on top; alarming ones stand out."""
    graph = plotly()
    names = [plain(bar.label) for bar in bars]
    drawn = [
        graph.Bar(
            x=[100 * bar.success for bar in bars],
            y=names,
            orientation="h",
            name="success",
            marker_color=[RUST if bar.alarming else FILL for bar in bars],
            text=[percent(bar.success) for bar in bars],
            textposition="outside",
            cliponaxis=False,
            hoverinfo="skip",
        ),
        _marks(graph, names, [bar.chance for bar in bars], "chance", {"color": INK, "symbol": "line-ns-open"}),
        _marks(graph, names, [bar.bound for bar in bars], "what was promised", {"color": INK, "symbol": "diamond"}),
    ]
    if any(bar.outsiders is not None for bar in bars):
        learnt = [bar.outsiders for bar in bars]
        drawn.append(_marks(graph, names, learnt, "people not in the table", {"color": INK, "symbol": "circle-open"}))
    return figure(
        drawn,
        height=110 + LINE * len(bars),
        horizontal={"range": [0, 112], **percent_ticks()},
        vertical={"autorange": "reversed", "type": "category", "showgrid": False, "ticksuffix": "  "},
        legend=legend_above(),
        bargap=0.45,
    )


def _marks(graph: Any, names: list[str], shares: Sequence[float | None], name: str, marker: dict[str, Any]) -> Any:
    return graph.Scatter(
        x=[None if share is None else 100 * share for share in shares],
        y=names,
        mode="markers",
        name=name,
        marker={"size": 13, "line": {"color": INK, "width": 2}, **marker},
        hovertemplate=f"{name}: %{{x:.2f}} %<extra></extra>",
    )


def save_picture(title: str, bars: Sequence[Success], path: Path) -> None:
    """The same bars as .png or .svg."""
    if path.suffix.lower() not in (".png", ".svg"):
        raise UsageError(f"{path.name} is neither .html nor .png nor .svg.", "Name the plot e.g. attack.html.")
    try:
        figures, agg = import_module("matplotlib.figure"), import_module("matplotlib")
    except ImportError:
        raise missing_extra("a plot in .png or .svg", "matplotlib", "plot") from None
    drawn = figures.Figure(figsize=(WIDTH, 1.6 + LINE_INCHES * len(bars)), layout="constrained")
    axis, places = drawn.subplots(), range(len(bars))
    axis.barh(places, [bar.success for bar in bars], color=[RUST if bar.alarming else MIST for bar in bars], height=0.5)
    axis.plot([bar.chance for bar in bars], places, "|", color=INK, markersize=18, label="chance")
    promised = [(bar.bound, place) for place, bar in enumerate(bars) if bar.bound is not None]
    axis.plot([x for x, _ in promised], [y for _, y in promised], "D", color=INK, markersize=6, label="promised")
    others = [(bar.outsiders, place) for place, bar in enumerate(bars) if bar.outsiders is not None]
    if others:
        hollow = {"color": INK, "markersize": 8, "markerfacecolor": "none", "label": "not in the table"}
        axis.plot([x for x, _ in others], [y for _, y in others], "o", **hollow)
    for place, bar in enumerate(bars):
        axis.annotate(
            percent(bar.success),
            (bar.success, place),
            xytext=(4, 10),
            textcoords="offset points",
            color=INK,
            fontsize=9,
        )
    axis.set_yticks(list(places), [visible(bar.label).replace("$", r"\$") for bar in bars], color=INK)
    axis.invert_yaxis()
    axis.set_xlim(0, 1.1)
    axis.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0 %", "25 %", "50 %", "75 %", "100 %"])
    axis.grid(axis="x", color=GRID)
    axis.set_axisbelow(True)
    axis.spines[["top", "right"]].set_visible(False)
    axis.legend(frameon=False, fontsize=9, loc="upper center", bbox_to_anchor=(0.5, -0.1), ncols=3)
    axis.set_title(visible(title).replace("$", r"\$"), fontsize=12, color=INK)
    with agg.rc_context({"svg.fonttype": "none", "svg.hashsalt": "sfumato"}):
        try:
            drawn.savefig(path, dpi=DOTS_AN_INCH, metadata={"Date": None} if path.suffix.lower() == ".svg" else None)
        except OSError as error:
            raise UsageError(f"{path} cannot be written: {error.strerror}.", "Choose another file.") from None
