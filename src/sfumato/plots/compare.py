"""Private numbers beside the true ones."""

from collections.abc import Mapping, Sequence
from typing import Any

from sfumato.plots.style import FILL, INK, MIST, RUST, figure, legend_above, plain, plotly, whiskers


def against_truth(
    labels: Sequence[str],
    truth: Sequence[float],
    private: Sequence[float],
    intervals: Sequence[tuple[float, float]],
    *,
    measure: str,
    prefix: str = "",
) -> Any:
    """A line a label, the first on top: a pale bar for the true number, a dot with its whisker for the private one."""
    graph, names = plotly(), [plain(label) for label in labels]
    true_bars = graph.Bar(
        x=list(truth),
        y=names,
        orientation="h",
        name="true",
        marker_color=MIST,
        hovertemplate=f"true: {prefix}%{{x:,.0f}}<extra></extra>",
    )
    dots = graph.Scatter(
        x=list(private),
        y=names,
        mode="markers",
        name="private, with its 95 % error bar",
        marker={"color": FILL, "size": 7, "line": {"color": INK, "width": 1}},
        error_x={**whiskers(private, intervals), "width": 5},
        hovertemplate=f"private: {prefix}%{{x:,.0f}}<extra></extra>",
    )
    return figure(
        [true_bars, dots],
        height=110 + 28 * len(names),
        horizontal={"title": {"text": plain(measure)}, "tickprefix": prefix, "rangemode": "tozero"},
        vertical={"autorange": "reversed", "type": "category", "showgrid": False, "ticksuffix": "  "},
        legend=legend_above(),
        bargap=0.3,
    )


def estimates(groups: Mapping[str, Sequence[float]], *, truth: float, measure: str) -> Any:
    """One line per group, the first on top: a dot for each estimate, and one upright line at the truth."""
    graph = plotly()
    dots = [
        graph.Scatter(
            x=list(values),
            y=[plain(name)] * len(values),
            mode="markers",
            name=plain(name),
            marker={"color": colour, "size": 11, "opacity": 0.85, "line": {"color": "white", "width": 1}},
            hovertemplate="%{x:,.2f}<extra></extra>",
        )
        for (name, values), colour in zip(groups.items(), (RUST, FILL, INK) * len(groups), strict=False)
    ]
    drawn = figure(
        dots,
        height=130 + 60 * len(groups),
        horizontal={"title": {"text": plain(measure)}},
        vertical={
            "range": [len(groups) - 0.5, -0.5],
            "type": "category",
            "showgrid": False,
            "ticksuffix": "  ",
        },
        showlegend=False,
    )
    drawn.update_layout(margin_t=40)
    drawn.add_vline(x=truth, line={"color": INK, "width": 1.5, "dash": "dot"})
    drawn.add_annotation(x=truth, y=1, yref="paper", yanchor="bottom", showarrow=False, text="the truth")
    return drawn
