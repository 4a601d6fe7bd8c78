"""What a column adds to a score, cell by cell, with what is not known of it."""

from collections.abc import Sequence
from typing import Any

from sfumato.plots.style import FILL, MIST, figure, plain, plotly, whiskers

LABELS = 24  # of so many cells each has its label


def curve(
    labels: Sequence[str],
    weights: Sequence[float],
    errors: Sequence[float],
    grey: Sequence[bool],
    *,
    title: str,
    to: str,
) -> Any:
    """Bars from 0 up or down, each with its band of two standard errors; grey where noise rules."""
    intervals = [(weight - 2 * error, weight + 2 * error) for weight, error in zip(weights, errors, strict=True)]
    drawn = plotly().Bar(
        x=[plain(label) for label in labels],
        y=list(weights),
        marker_color=[MIST if noisy else FILL for noisy in grey],
        error_y=whiskers(weights, intervals),
    )
    horizontal = {"type": "category", "tickangle": -45, "nticks": LABELS}
    vertical = {"title": {"text": plain(to)}, "zeroline": True}
    return figure([drawn], title=title, horizontal=horizontal, vertical=vertical)
