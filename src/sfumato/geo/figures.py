"""Maps and charts of this package."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from sfumato.geo.compare import Comparison
from sfumato.geo.earth import Floats
from sfumato.geo.tree import Box, Tree, as_box
from sfumato.plots.charts import Chart, Line, Mark, Panel
from sfumato.plots.maps import Dots, Heat, Map

COLOURS = ("fill", "ochre", "rust")
RIM = 0.05


def draw_reports(lat: Floats, lon: Floats, *, error_m: float) -> Map:
    """Reports on a map; true positions are never drawn."""
    says = (
        f"Each of the {len(lat):,} dots is a report: with 95 % confidence the truth lies within {error_m:,.0f} m of it."
    )
    return Map("Reported positions", says, [Dots("reports", lat.tolist(), lon.tolist())])


def draw_tree(tree: Tree, *, box: Sequence[float] | None = None, cells: int = 96) -> Map:
    """A heat map of the private counts; without a box, the part of the area where they are."""
    area = as_box(box) if box is not None else busy(tree)
    values = tree.raster(area, cells)
    says = (
        f"About {max(tree.total, 0):,} points in {len(tree):,} leaves, published with epsilon {float(tree.epsilon):g}."
    )
    return Map(
        "Private heat map",
        says,
        heat=Heat("points a cell", values.tolist(), (area.south, area.west, area.north, area.east)),
    )


def busy(tree: Tree) -> Box:
    """The box that holds all but a twentieth of the counted points on each side; from published counts alone."""
    south, west, north, east = tree.leaves.edges(tree.box)
    weights = np.maximum(tree.leaves.counts.astype(np.float64) - 3 * float(tree.scale), 0)
    if not weights.sum():
        return tree.box
    edges: list[float] = []
    for low, high in ((south, north), (west, east)):
        middle = (low + high) / 2
        order = np.argsort(middle)
        share = np.cumsum(weights[order]) / weights.sum()
        first, last = order[np.searchsorted(share, [RIM, 1 - RIM])]
        edges += [float(low[first]), float(high[last])]
    tall, wide = edges[1] - edges[0], edges[3] - edges[2]
    return Box(
        max(tree.box.south, edges[0] - RIM * tall),
        max(tree.box.west, edges[2] - RIM * wide),
        min(tree.box.north, edges[1] + RIM * tall),
        min(tree.box.east, edges[3] + RIM * wide),
    )


def draw_comparison(comparisons: Sequence[Comparison]) -> Chart:
    """One panel a prior: the attacker's error against the expected distance of a report."""
    return Chart("Planar noise, cloaking, bounded obfuscation", [_panel(comparison) for comparison in comparisons])


def _panel(comparison: Comparison) -> Panel:
    rows: list[dict[str, Any]] = comparison.rows
    lines = [
        Line(curve.name, list(curve.loss_m), list(curve.adversary_m), colour, bold=curve.private)
        for curve, colour in zip(comparison.curves, COLOURS, strict=True)
    ]
    far = ", ".join(f"{row['mechanism']} {row['adversary_error_m']:.0f} m" for row in rows)
    says = (
        f"Where a report is off by {comparison.loss_m:.0f} m on average, the best attacker is off by: {far}. "
        "Only planar noise bounds what a report can tell about two near places."
    )
    mark = Mark(comparison.loss_m, rows[0]["adversary_error_m"], "this level")
    return Panel(
        f"Prior: {comparison.prior}",
        says,
        "expected distance of a report (m)",
        "error of the attacker (m)",
        lines,
        (),
        [mark],
    )
