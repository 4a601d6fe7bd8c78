"""Numbers from -1 to 1 in rows and columns, as colours, with what is not known of them."""

from collections.abc import Sequence
from typing import Any

from sfumato.plots.style import FILL, RUST, figure, plain, plotly

MOST_WRITTEN = 15  # rows or columns of which every number is written


def matrix(
    rows: Sequence[str],
    columns: Sequence[str],
    values: Sequence[Sequence[float]],
    errors: Sequence[Sequence[float]],
    *,
    title: str,
) -> Any:
    """A square for each number, the first row on top; its noise is in what shows when it is pointed at."""
    short = max(len(rows), len(columns)) <= MOST_WRITTEN
    written = [
        [f"{value:+.2f}<br>±{error:.2f}" for value, error in zip(*pair, strict=True)]
        for pair in zip(values, errors, strict=True)
    ]
    drawn = plotly().Heatmap(
        z=[list(row) for row in values],
        x=[plain(label) for label in columns],
        y=[plain(label) for label in rows],
        text=written,
        texttemplate="%{text}" if short else None,
        zmin=-1,
        zmax=1,
        colorscale=[[0, RUST], [0.5, "white"], [1, FILL]],
        hovertemplate="%{y}, %{x}: %{text}<extra></extra>",
    )
    return figure(
        [drawn],
        title=title,
        height=160 + 44 * len(rows),
        horizontal={"type": "category", "showgrid": False},
        vertical={"autorange": "reversed", "type": "category", "showgrid": False},
    )
