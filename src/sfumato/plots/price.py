"""What questions cost, and what a price means."""

from collections.abc import Sequence
from math import exp
from typing import Any

from sfumato.plots.style import FILL, INK, MIST, RUST, figure, legend_above, percent_ticks, plain, plotly

HIGHEST_EPSILON = 5
POINTS_A_UNIT = 20


def spending(spends: Sequence[float], spent: Sequence[float], *, limit: float) -> Any:
    """Two lines over the questions: what the spends add up to, and what they cost together; the limit across."""
    graph = plotly()
    places = list(range(len(spends) + 1))
    sums = [sum(spends[:place]) for place in places]
    lines = [
        graph.Scatter(
            x=places,
            y=list(values),
            name=name,
            mode="lines",
            line={"shape": "hv", "color": colour, "width": width, "dash": dash},
            hovertemplate="after question %{x}: %{y:.3f}<extra></extra>",
        )
        for name, values, colour, width, dash in (
            ("the spends, added up", sums, RUST, 2, "dot"),
            ("what they cost together", [0.0, *spent], FILL, 3, "solid"),
        )
    ]
    drawn = figure(
        lines,
        height=380,
        horizontal={"title": {"text": "question"}, "rangemode": "tozero", "showgrid": False},
        vertical={"title": {"text": "epsilon"}, "range": [0, 1.1 * max(limit, *sums)]},
        legend=legend_above(),
    )
    drawn.add_hline(y=limit, line={"color": INK, "width": 1.5})
    drawn.add_annotation(
        x=0, xref="paper", xanchor="left", y=limit, yanchor="bottom", showarrow=False, text=f"the limit, {limit:g}"
    )
    return drawn


def belief(prior: float, epsilon: float) -> tuple[float, float]:
    """How far an answer with this epsilon can move a belief: down to the first, up to the second.

    Claim: odds change by a factor between e^-epsilon and e^epsilon, apart from the probability delta.
    """
    odds = prior / (1 - prior)
    low, high = odds * exp(-epsilon), odds * exp(epsilon)
    return low / (1 + low), high / (1 + high)


def beliefs(marks: Sequence[tuple[str, float]]) -> Any:
    """The band that a belief of one half stays in, over epsilon, with named prices marked on its upper edge."""
    graph = plotly()
    grid = [place / POINTS_A_UNIT for place in range(HIGHEST_EPSILON * POINTS_A_UNIT + 1)]
    band = [belief(0.5, epsilon) for epsilon in grid]
    edge = {"mode": "lines", "line": {"color": FILL, "width": 2, "simplify": False}, "showlegend": False}
    upper = graph.Scatter(
        x=grid, y=[100 * high for _, high in band], hovertemplate="at most %{y:.1f} %<extra></extra>", **edge
    )
    lower = graph.Scatter(
        x=grid,
        y=[100 * low for low, _ in band],
        fill="tonexty",
        fillcolor=MIST,
        hovertemplate="at least %{y:.1f} %<extra></extra>",
        **edge,
    )
    dots = graph.Scatter(
        x=[epsilon for _, epsilon in marks],
        y=[100 * belief(0.5, epsilon)[1] for _, epsilon in marks],
        mode="markers+text",
        text=[plain(name) for name, _ in marks],
        textposition="bottom right",
        marker={"color": INK, "size": 9},
        hoverinfo="skip",
        showlegend=False,
        cliponaxis=False,
    )
    return figure(
        [upper, lower, dots],
        height=380,
        horizontal={"title": {"text": "epsilon"}, "range": [0, HIGHEST_EPSILON]},
        vertical={
            "title": {"text": "belief that somebody is in the data"},
            "range": [0, 102],
            **percent_ticks(),
        },
    )
