"""Exact positions per second, PrivTree over a million points, and its range counts against a grid and a fixed tree."""

import time
from dataclasses import replace
from fractions import Fraction

import numpy as np

from benchmarks.measure import Report, medians
from sfumato.geo import planar, privtree, teaching, words
from sfumato.geo.lattice import planar_geometric
from sfumato.geo.tree import Box
from sfumato.kernel.entropy import SystemEntropy
from sfumato.kernel.samplers import discrete_laplace
from sfumato.simulate import Simulator

LOCATIONS = 1_000_000
POINTS = 1_000_000
AREA = Box(20.0, 90.0, 55.0, 135.0)
QUERIES = 300
VOCABULARY, ENTRIES, ASKED = 20_000, 100, 200
FLOOR = 0.001  # of all points: smaller counts are measured against this


def run() -> list[Report]:
    return [_locations(), _words(), _trees()]


def _locations() -> Report:
    report, entropy = Report("Positions, one thread"), SystemEntropy()
    mechanism, town = planar(level="ln 4", radius_m=200), planar(level="ln 4", radius_m=200, around=(39.9, 116.4))
    lat, lon = np.full(LOCATIONS, 39.96), np.full(LOCATIONS, 116.31)
    zeros = np.zeros(LOCATIONS)
    seconds = medians(
        {
            "lattice": lambda: planar_geometric(Fraction(1, 20_000), LOCATIONS, entropy),
            "flat": lambda: mechanism.report_flat(zeros, zeros, entropy=entropy),
            "anywhere": lambda: mechanism.report(lat, lon, entropy=entropy),
            "around": lambda: town.report(lat, lon, entropy=entropy),
            "textbook": lambda: teaching.planar_laplace(zeros, zeros, epsilon=0.007, entropy=entropy),
        },
        repetitions=3,
    )
    rate = {name: LOCATIONS / value / 1e6 for name, value in seconds.items()}
    report.add("planar geometric, exact", rate["lattice"], "M/s", at_least=5)
    report.add(
        "  against Lambert's W in doubles (not private)", rate["lattice"] / rate["textbook"], "times", at_least=2
    )
    report.add("reports on a flat map, metres in and out", rate["flat"], "M/s", at_least=3)
    report.add("reports anywhere, degrees in and out", rate["anywhere"], "M/s")
    report.add("reports around a place, degrees in and out", rate["around"], "M/s")
    return report


def _words() -> Report:
    """Different words of a large vocabulary; the plain way adds up every weight for each of them."""
    report, entropy, stream = Report("Words"), SystemEntropy(), Simulator(13).stream("words")
    table = stream.normal(VOCABULARY * ENTRIES).reshape(VOCABULARY, ENTRIES)
    mechanism = words({f"w{place}": row for place, row in enumerate(table)}, epsilon=5).mechanism
    plain = replace(mechanism, quick=None)
    asked = list(mechanism.items[:ASKED])
    seconds = medians(
        {
            "quick": lambda: mechanism.protect(asked, entropy=entropy),
            "plain": lambda: plain.protect(asked, entropy=entropy),
        },
        repetitions=3,
    )
    report.add(
        f"different words of {VOCABULARY:,}, vectors of {ENTRIES}", ASKED / seconds["quick"], "/s", at_least=1000
    )
    report.add("  against adding up all weights a word", seconds["plain"] / seconds["quick"], "times", at_least=10)
    return report


def cities(count: int) -> np.ndarray:
    """Forty towns of unlike sizes, and a tenth of all points anywhere."""
    stream = Simulator(11).stream("cities")
    centres = np.stack([30 + 15 * stream.uniform(40), 100 + 25 * stream.uniform(40)], axis=1)
    spread = 0.02 * 20 ** stream.uniform(40)
    town = stream.categories((1000 / np.arange(1, 41)).astype(int), count)
    points = centres[town] + spread[town][:, None] * np.stack([stream.normal(count), stream.normal(count)], axis=1)
    rural = stream.uniform(count) < 0.1
    anywhere = np.stack([20 + 35 * stream.uniform(count), 90 + 45 * stream.uniform(count)], axis=1)
    return np.clip(np.where(rural[:, None], anywhere, points), [20, 90], [54.999, 134.999])


def boxes(points: np.ndarray) -> list[Box]:
    """Around random points, from a twentieth of a degree to eight degrees wide."""
    stream = Simulator(12).stream("boxes")
    middles = points[stream.integers(0, len(points) - 1, QUERIES)]
    sizes = 0.05 * 160 ** stream.uniform(QUERIES)
    return [
        Box(max(20, lat - size / 2), max(90, lon - size / 2), min(55, lat + size / 2), min(135, lon + size / 2))
        for (lat, lon), size in zip(middles.tolist(), sizes.tolist(), strict=True)
    ]


def even_grid(points: np.ndarray, cells: int, epsilon: float) -> np.ndarray:
    """Noisy counts of an even grid."""
    edges = [np.linspace(AREA.south, AREA.north, cells + 1), np.linspace(AREA.west, AREA.east, cells + 1)]
    counts = np.histogram2d(points[:, 0], points[:, 1], edges)[0]
    return counts + discrete_laplace(Fraction(1) / Fraction(epsilon), cells * cells, SystemEntropy()).reshape(
        cells, cells
    )


def from_grid(grid: np.ndarray, box: Box) -> float:
    """A range count from an even grid, cut cells spread evenly."""
    cells = len(grid)
    shares = []
    for low, high, start, end in (
        (box.south, box.north, AREA.south, AREA.north),
        (box.west, box.east, AREA.west, AREA.east),
    ):
        edges = np.linspace(start, end, cells + 1)
        covered = np.minimum(high, edges[1:]) - np.maximum(low, edges[:-1])
        shares.append(np.clip(covered / (edges[1] - edges[0]), 0, 1))
    return float(shares[0] @ grid @ shares[1])


def fixed_tree(points: np.ndarray, depth: int, epsilon: float) -> list[np.ndarray]:
    """Every level gets an equal share of epsilon; a range is answered from the largest cells inside it."""
    return [even_grid(points, 1 << level, epsilon / (depth + 1)) for level in range(depth + 1)]


def from_tree(levels: list[np.ndarray], box: Box, level: int = 0, row: int = 0, column: int = 0) -> float:
    side = 1 << level
    high, wide = (AREA.north - AREA.south) / side, (AREA.east - AREA.west) / side
    south, west = AREA.south + row * high, AREA.west + column * wide
    tall = np.clip((min(box.north, south + high) - max(box.south, south)) / high, 0, 1)
    broad = np.clip((min(box.east, west + wide) - max(box.west, west)) / wide, 0, 1)
    share = float(tall * broad)
    if share == 0:
        return 0.0
    if share >= 1 - 1e-12 or level == len(levels) - 1:
        return share * float(levels[level][row, column])
    return sum(from_tree(levels, box, level + 1, 2 * row + r, 2 * column + c) for r in (0, 1) for c in (0, 1))


def _trees() -> Report:
    report = Report("PrivTree, a million points")
    points = cities(POINTS)
    start = time.perf_counter()
    privtree(points, epsilon=1, box=AREA)
    report.add("seconds to build", time.perf_counter() - start, "s", at_most=2)
    asked = boxes(points)
    truth = np.array(
        [
            (
                (points[:, 0] >= box.south)
                & (points[:, 0] < box.north)
                & (points[:, 1] >= box.west)
                & (points[:, 1] < box.east)
            ).sum()
            for box in asked
        ]
    )
    for epsilon in (0.1, 1.0):
        tree = privtree(points, epsilon=epsilon, box=AREA)
        cells = round((POINTS * epsilon / 10) ** 0.5)  # the guideline of Qardaji, Yang, Li 2013
        grids = [even_grid(points, size, epsilon) for size in (cells // 2, cells, 2 * cells, 4 * cells)]
        fixed = [fixed_tree(points, depth, epsilon) for depth in (6, 8, 10)]
        # Peers get the size that suits them best, which nobody could choose without looking at the points.
        errors = {
            "PrivTree": _error([tree.count(box).count for box in asked], truth),
            "best even grid": min(_error([from_grid(grid, box) for box in asked], truth) for grid in grids),
            "best fixed quadtree": min(_error([from_tree(levels, box) for box in asked], truth) for levels in fixed),
        }
        report.add(f"mean relative error of {QUERIES} ranges, epsilon {epsilon:g}", errors["PrivTree"], "")
        for name in ("best even grid", "best fixed quadtree"):
            report.add(f"  share of that of the {name}", errors["PrivTree"] / errors[name], "times", at_most=1)
    return report


def _error(counts: list[float], truth: np.ndarray) -> float:
    return float(np.mean(np.abs(np.array(counts) - truth) / np.maximum(truth, FLOOR * POINTS)))
