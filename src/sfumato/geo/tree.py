"""What PrivTree gives: leaves with noisy counts, range counts with error bars, a heat map."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil, exp, sqrt
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from sfumato.errors import out_of_range
from sfumato.geo.wordings import box_unusable

Floats = npt.NDArray[np.float64]

DEEPEST = 26
LARGEST_RASTER = 512


class Box(NamedTuple):
    """Degrees."""

    south: float
    west: float
    north: float
    east: float


def as_box(box: Sequence[float]) -> Box:
    try:
        made = Box(*(float(edge) for edge in box))
    except (TypeError, ValueError):
        raise box_unusable() from None
    # A NaN fails the comparison too.
    if not (-90 <= made.south < made.north <= 90 and -360 <= made.west < made.east <= min(360, made.west + 360)):
        raise box_unusable()
    return made


@dataclass(frozen=True, slots=True)
class Leaves:
    """First code at the deepest level, depth and noisy count of each leaf, in the order of the codes."""

    codes: npt.NDArray[np.uint64]
    depths: npt.NDArray[np.int64]
    counts: npt.NDArray[np.int64]

    def edges(self, box: Box) -> tuple[Floats, Floats, Floats, Floats]:
        """South, west, north, east of each leaf."""
        size = 2.0 ** -self.depths.astype(np.float64)
        south = _squeezed(self.codes >> np.uint64(1)) * 2.0**-DEEPEST
        west = _squeezed(self.codes) * 2.0**-DEEPEST
        high, wide = box.north - box.south, box.east - box.west
        return (
            box.south + south * high,
            box.west + west * wide,
            box.south + (south + size) * high,
            box.west + (west + size) * wide,
        )


@dataclass(frozen=True, slots=True)
class RangeCount:
    """How many points lie in a box: the estimate spreads a cut leaf evenly; the interval does not rely on that."""

    count: float
    low: float
    high: float
    confidence: float


@dataclass(frozen=True, slots=True)
class Tree:
    """A private quadtree: everything in it may be published."""

    box: Box
    leaves: Leaves
    scale: Fraction  # of the noise of a leaf
    epsilon: Fraction

    def __len__(self) -> int:
        return len(self.leaves.counts)

    @property
    def total(self) -> int:
        return int(self.leaves.counts.sum())

    def count(self, box: Sequence[float], *, confidence: float = 0.95) -> RangeCount:
        """The number of points in a box (south, west, north, east).

        Claim: the true number lies within [low, high] with at least this confidence: a cut leaf counts as empty below
        and as full above, and the noise of the leaves is summed exactly.
        """
        if not 0 < confidence < 1:
            raise out_of_range("confidence", "0", "1", f"{confidence:g}")
        asked = as_box(box)
        share = self._shares(asked)
        inside, touched = share >= 1, share > 0
        counts = self.leaves.counts
        miss = (1 - confidence) / 2
        low = int(counts[inside].sum()) - noise_quantile(self.scale, int(inside.sum()), miss)
        high = int(counts[touched].sum()) + noise_quantile(self.scale, int(touched.sum()), miss)
        return RangeCount(float(counts @ share), float(max(0, low)), float(max(0, high)), confidence)

    def _shares(self, asked: Box) -> Floats:
        """The share of each leaf's area that lies in the box, whichever turn its longitudes are counted in."""
        south, west, north, east = self.leaves.edges(self.box)
        high = np.maximum(np.minimum(north, asked.north) - np.maximum(south, asked.south), 0) / (north - south)
        wide = np.zeros_like(high)
        for turn in (-360.0, 0.0, 360.0):
            covered = np.minimum(east, asked.east + turn) - np.maximum(west, asked.west + turn)
            wide += np.maximum(covered, 0) / (east - west)
        return np.asarray(high * np.minimum(wide, 1))

    def rows(self) -> list[dict[str, float]]:
        """One dict a leaf."""
        south, west, north, east = self.leaves.edges(self.box)
        names = ("south", "west", "north", "east", "depth", "count")
        table = zip(south, west, north, east, self.leaves.depths, self.leaves.counts, strict=True)
        return [dict(zip(names, (value.item() for value in row), strict=True)) for row in table]

    def geojson(self) -> dict[str, Any]:
        """The leaves as polygons, counter-clockwise as RFC 7946 asks."""
        features = []
        for row in self.rows():
            s, w, n, e = (row[side] for side in ("south", "west", "north", "east"))
            ring = [[w, s], [e, s], [e, n], [w, n], [w, s]]
            features.append(
                {
                    "type": "Feature",
                    "geometry": {"type": "Polygon", "coordinates": [ring]},
                    "properties": {"count": row["count"], "depth": row["depth"]},
                }
            )
        return {"type": "FeatureCollection", "features": features}

    def raster(self, box: Sequence[float] | None = None, cells: int = 128) -> Floats:
        """Estimated points a cell of an even grid over the box, south first; negative estimates are 0."""
        if not 1 <= cells <= LARGEST_RASTER:
            raise out_of_range("cells", "1", str(LARGEST_RASTER), str(cells))
        asked = self.box if box is None else as_box(box)
        south, west, north, east = self.leaves.edges(self.box)
        ys, xs = np.linspace(asked.south, asked.north, cells + 1), np.linspace(asked.west, asked.east, cells + 1)
        near = (north > asked.south) & (south < asked.north) & (east > asked.west) & (west < asked.east)
        rows = _overlaps(south[near], north[near], ys)
        columns = _overlaps(west[near], east[near], xs)
        return np.asarray((rows * np.maximum(self.leaves.counts[near], 0)[:, None]).T @ columns)


def _overlaps(low: Floats, high: Floats, edges: Floats) -> Floats:
    """The share of each interval that lies in each cell of a line."""
    covered = np.minimum(high[:, None], edges[1:]) - np.maximum(low[:, None], edges[:-1])
    return np.asarray(np.maximum(covered, 0) / (high - low)[:, None])


def _squeezed(codes: npt.NDArray[np.uint64]) -> Floats:
    """Every second bit, as a number."""
    values = codes & np.uint64(0x5555555555555555)
    for shift, mask in (
        (1, 0x3333333333333333),
        (2, 0x0F0F0F0F0F0F0F0F),
        (4, 0x00FF00FF00FF00FF),
        (8, 0x0000FFFF0000FFFF),
        (16, 0x00000000FFFFFFFF),
    ):
        values = (values | (values >> np.uint64(shift))) & np.uint64(mask)
    return values.astype(np.float64)


@lru_cache(maxsize=4096)
def noise_quantile(scale: Fraction, leaves: int, miss: float) -> int:
    """A whole t with P(sum of the noise of so many leaves > t) <= miss.

    The characteristic function of discrete Laplace noise is known; its power is inverted on a circle so long that what
    wraps around is below a thousandth of `miss`.
    """
    if leaves == 0:
        return 0
    q = exp(-1 / float(scale))
    deviation = sqrt(2 * q) / (1 - q)
    # Bernstein: the sum exceeds `reach` with probability below miss / 1000.
    target = -np.log(miss / 1000)
    reach = ceil(deviation * sqrt(2 * leaves * target) + 2 * target * (float(scale) + 1)) + 2
    size = 1 << (2 * reach + 1).bit_length()
    wave = np.cos(2 * np.pi * np.arange(size // 2 + 1) / size)
    transform = np.exp(leaves * (2 * np.log1p(-q) - np.log1p(q * q - 2 * q * wave)))
    law = np.fft.irfft(transform, size)
    tail = np.cumsum(law[: size // 2 + 1][::-1])[::-1]  # P(sum >= t)
    enough = np.flatnonzero(tail[1:] <= miss * 0.998 - 1e-12)
    return int(enough[0])
