"""The Earth: degrees, vectors, distances, and the flat map around a public place.

What is private is measured on a sphere of radius `RADIUS_M`, the smallest radius of curvature of the ellipsoid WGS84.
A way over the ellipsoid is never shorter than the way through the same latitudes and longitudes over this sphere, so
what holds for metres on the sphere holds for metres on the ground; noise is at most 1.02 % wider there.
Proof: docs/proofs/metric-of-the-earth.md
"""

from math import pi
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from sfumato.geo.wordings import Problem, bad_positions, lengths_differ, not_a_position

Floats = npt.NDArray[np.float64]

RADIUS_M = 6_335_439
MEAN_RADIUS_M = 6_371_008.8
WIDEST = 1.0102  # the largest radius of curvature over RADIUS_M
FARTHEST_M = 1e8
DIGITS = 5  # decimals of published degrees: about a metre
GRID = 10**DIGITS


class Position(NamedTuple):
    """Latitude and longitude in degrees: two numbers, or two arrays."""

    lat: Any
    lon: Any


def positions(lat: object, lon: object, *, first_row: int = 1) -> tuple[Floats, Floats, bool]:
    """Both as arrays of doubles, longitudes in (-180, 180], and whether it was a single position.

    Needs: finite latitudes from -90 to 90, longitudes from -360 to 360; else every bad row is named.
    """
    single = np.ndim(lat) == 0 and np.ndim(lon) == 0  # type: ignore[arg-type]
    try:
        lats = np.atleast_1d(np.asarray(lat, dtype=np.float64)).ravel()
        lons = np.atleast_1d(np.asarray(lon, dtype=np.float64)).ravel()
    except (TypeError, ValueError):
        raise not_a_position("the input") from None
    if len(lats) != len(lons):
        raise lengths_differ(len(lats), len(lons))
    if problems := problems_of(lats, lons, first_row):
        raise not_a_position("the input") if single else bad_positions(problems)
    return lats, wrapped(lons), single


def flat_places(east: object, north: object) -> tuple[Floats, Floats, bool]:
    """Metres on a flat map as arrays. Needs: finite, within 10^8 m."""
    single = np.ndim(east) == 0 and np.ndim(north) == 0  # type: ignore[arg-type]
    try:
        x = np.atleast_1d(np.asarray(east, dtype=np.float64)).ravel()
        y = np.atleast_1d(np.asarray(north, dtype=np.float64)).ravel()
    except (TypeError, ValueError):
        raise not_a_position("the input") from None
    if len(x) != len(y):
        raise lengths_differ(len(x), len(y))
    bad = np.flatnonzero(~((np.abs(x) <= FARTHEST_M) & (np.abs(y) <= FARTHEST_M)))
    if len(bad):
        raise bad_positions([(int(index) + 1, "not a number of metres up to 100,000 km") for index in bad])
    return x, y, single


def problems_of(lat: Floats, lon: Floats, first_row: int = 1) -> list[Problem]:
    """Which rows hold no position, and why; a row comes once."""
    found: dict[int, str] = {}
    for where, reason in (
        (~np.isfinite(lat), "the latitude is missing or not a number"),
        (~np.isfinite(lon), "the longitude is missing or not a number"),
        (np.abs(lat) > 90, "the latitude is beyond a pole (swapped with the longitude?)"),
        (np.abs(lon) > 360, "the longitude is beyond 360 degrees"),
    ):
        for index in np.flatnonzero(where):
            row = first_row + int(index)
            found[row] = f"{found[row]}, {reason}" if row in found else reason
    return sorted(found.items())


def wrapped(lon: Floats) -> Floats:
    """Longitudes in (-180, 180]."""
    turned = np.where(lon > 180, lon - 360, lon)
    return np.asarray(np.where(turned <= -180, turned + 360, turned))


def vectors(lat: Floats, lon: Floats) -> Floats:
    """Unit vectors, one per row."""
    phi, lam = np.radians(lat), np.radians(lon)
    return np.stack([np.cos(phi) * np.cos(lam), np.cos(phi) * np.sin(lam), np.sin(phi)], axis=-1)


def degrees_of(vector: Floats) -> tuple[Floats, Floats]:
    """Latitude and longitude of vectors of any length but 0."""
    x, y, z = vector[..., 0], vector[..., 1], vector[..., 2]
    return np.degrees(np.arctan2(z, np.hypot(x, y))), wrapped(np.degrees(np.arctan2(y, x)))


def on_grid(lat: Floats, lon: Floats) -> tuple[Floats, Floats]:
    """Rounded to the public grid: whole multiples of 10^-5 degrees, each as the double nearest to that decimal."""
    lats, lons = np.rint(lat * GRID) / GRID, np.rint(lon * GRID) / GRID
    return np.asarray(lats + 0.0), np.asarray(np.where(lons == -180, 180.0, lons) + 0.0)


def distance_m(lat: Any, lon: Any, other_lat: Any, other_lon: Any) -> Any:
    """Metres along a great circle of the mean sphere; within 0.6 % of the ellipsoid."""
    phi, psi = np.radians(lat), np.radians(other_lat)
    half = np.sin((psi - phi) / 2) ** 2 + np.cos(phi) * np.cos(psi) * np.sin(np.radians(other_lon - lon) / 2) ** 2
    return 2 * MEAN_RADIUS_M * np.arcsin(np.sqrt(np.clip(half, 0, 1)))


class Chart:
    """A flat map in metres around a public place: azimuthal, equidistant, of all the Earth.

    Claim: `flat` stretches no distance by more than `stretch`, anywhere. A place beyond the reach is drawn to the rim,
    and the far side of the Earth, where the rim would tear, mirrors the near side.
    Proof: docs/proofs/metric-of-the-earth.md
    """

    def __init__(self, lat: float, lon: float, reach_m: float) -> None:
        self.reach = reach_m / RADIUS_M
        self.stretch = self.reach / float(np.sin(self.reach)) * (1 + 2.0**-40)
        centre = np.radians(lat), np.radians(lon)
        (sin_lat, sin_lon), (cos_lat, cos_lon) = np.sin(centre), np.cos(centre)
        self._frame = np.array(
            [
                [-sin_lon, cos_lon, 0.0],
                [-sin_lat * cos_lon, -sin_lat * sin_lon, cos_lat],
                [cos_lat * cos_lon, cos_lat * sin_lon, sin_lat],
            ]
        )

    def flat(self, lat: Floats, lon: Floats) -> tuple[Floats, Floats]:
        """Metres east and north of the centre."""
        east, north, up = self._frame @ vectors(lat, lon).T
        across = np.hypot(east, north)
        angle = np.arctan2(across, up)
        radius = RADIUS_M * np.minimum(np.minimum(angle, self.reach), pi - angle)
        scale = np.divide(radius, across, out=np.zeros_like(across), where=across > 0)
        return east * scale, north * scale

    def round(self, east: Floats, north: Floats) -> tuple[Floats, Floats]:
        """Latitude and longitude of a place of the map; beyond the far side is the far side."""
        radius = np.hypot(east, north)
        angle = np.minimum(radius / RADIUS_M, pi)
        across = np.divide(np.sin(angle), radius, out=np.zeros_like(radius), where=radius > 0)
        return degrees_of(np.stack([east * across, north * across, np.cos(angle)], axis=-1) @ self._frame)
