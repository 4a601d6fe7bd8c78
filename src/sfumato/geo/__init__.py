"""Positions without anyone to trust, and point sets without giving anyone away.

import sfumato as sf
sf.geo.planar(level="ln 4", radius_m=200).report(39.9593, 116.3108)
sf.geo.privtree(points, epsilon=1).count((39.8, 116.2, 40.1, 116.6))
"""

from sfumato.geo import teaching
from sfumato.geo.compare import PRIORS, Comparison, compare
from sfumato.geo.device import Device, Told, device
from sfumato.geo.earth import Position, distance_m
from sfumato.geo.figures import draw_comparison, draw_reports, draw_tree
from sfumato.geo.inputs import read
from sfumato.geo.metric import Metric, Words, metric, words
from sfumato.geo.planar import Planar, planar
from sfumato.geo.privtree import privtree
from sfumato.geo.remapping import Remap, closest, remap
from sfumato.geo.tree import Box, RangeCount, Tree

__all__ = [
    "PRIORS",
    "Box",
    "Comparison",
    "Device",
    "Metric",
    "Planar",
    "Position",
    "RangeCount",
    "Remap",
    "Told",
    "Tree",
    "Words",
    "closest",
    "compare",
    "device",
    "distance_m",
    "draw_comparison",
    "draw_reports",
    "draw_tree",
    "metric",
    "planar",
    "privtree",
    "read",
    "remap",
    "teaching",
    "words",
]
