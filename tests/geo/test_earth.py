"""Degrees, the flat map and distances, against the geodesic on the ellipsoid."""

from math import atan, atan2, cos, radians, sin, sqrt, tan

import numpy as np
import pytest

from sfumato.errors import UsageError
from sfumato.geo.earth import RADIUS_M, WIDEST, Chart, degrees_of, distance_m, on_grid, positions, vectors, wrapped
from tests.entropy import SeededEntropy

A, F = 6_378_137.0, 1 / 298.257223563


def geodesic_m(lat: float, lon: float, other_lat: float, other_lon: float) -> float:
    """Vincenty 1975, inverse: metres along the WGS84 ellipsoid; not for nearly opposite places."""
    b = A * (1 - F)
    u1, u2, away = atan((1 - F) * tan(radians(lat))), atan((1 - F) * tan(radians(other_lat))), radians(other_lon - lon)
    turn = away
    for _ in range(200):
        one, two = cos(u2) * sin(turn), cos(u1) * sin(u2) - sin(u1) * cos(u2) * cos(turn)
        sine = sqrt(one * one + two * two)
        if sine == 0:
            return 0.0
        cosine = sin(u1) * sin(u2) + cos(u1) * cos(u2) * cos(turn)
        sigma, alpha = atan2(sine, cosine), cos(u1) * cos(u2) * sin(turn) / sine
        square = 1 - alpha * alpha
        middle = cosine - 2 * sin(u1) * sin(u2) / square if square > 1e-15 else 0.0
        c = F / 16 * square * (4 + F * (4 - 3 * square))
        before, turn = (
            turn,
            away + (1 - c) * F * alpha * (sigma + c * sine * (middle + c * cosine * (2 * middle * middle - 1))),
        )
        if abs(turn - before) < 1e-13:
            break
    k = square * (A * A - b * b) / (b * b)
    big = 1 + k / 16384 * (4096 + k * (-768 + k * (320 - 175 * k)))
    small = k / 1024 * (256 + k * (-128 + k * (74 - 47 * k)))
    swing = (
        small
        * sine
        * (
            middle
            + small / 4 * (cosine * (2 * middle**2 - 1) - small / 6 * middle * (4 * sine**2 - 3) * (4 * middle**2 - 3))
        )
    )
    return b * big * (sigma - swing)


def random_pairs(count: int, apart_degrees: float) -> np.ndarray:
    words = SeededEntropy(f"pairs {apart_degrees}").words(4 * count).reshape(4, count)
    unit = (words >> np.uint64(11)).astype(float) * 2.0**-53
    lat, lon = 180 * unit[0] - 90, 360 * unit[1] - 180
    other = np.clip(lat + apart_degrees * (2 * unit[2] - 1), -90, 90)
    return np.stack([lat, lon, other, lon + apart_degrees * (2 * unit[3] - 1)], axis=1)


def sphere_m(lat: float, lon: float, other_lat: float, other_lon: float) -> float:
    one, two = vectors(np.array([lat, other_lat]), np.array([lon, other_lon]))
    return 2 * RADIUS_M * float(np.arcsin(min(np.linalg.norm(one - two) / 2, 1)))


def test_the_oracle() -> None:
    """Flinders Peak to Buninyong, the worked example of the Australian datum (on nearly this ellipsoid)."""
    assert geodesic_m(-37.95103341666667, 144.42486788888888, -37.65282113888889, 143.92649552777777) == pytest.approx(
        54_972.271, abs=0.05
    )


@pytest.mark.parametrize("apart", [1e-4, 0.01, 1.0, 60.0])
def test_the_sphere_never_says_more_than_the_ground(apart: float) -> None:
    for pair in random_pairs(400, apart):
        ground, sphere = geodesic_m(*pair), sphere_m(*pair)
        assert sphere <= ground * (1 + 1e-9) + 1e-6
        assert ground <= WIDEST * sphere + 1e-6


@pytest.mark.parametrize("apart", [0.01, 30.0])
def test_distances_on_the_mean_sphere(apart: float) -> None:
    for pair in random_pairs(200, apart):
        assert float(distance_m(*pair)) == pytest.approx(geodesic_m(*pair), rel=0.006, abs=1e-6)


CENTRES = [(39.9, 116.4), (0.0, 179.999), (89.99, 10.0), (-90.0, 0.0)]


@pytest.mark.parametrize("centre", CENTRES)
@pytest.mark.parametrize("reach", [50_000, 2_000_000])
def test_the_flat_map_stretches_nothing_beyond_its_word(centre: tuple[float, float], reach: float) -> None:
    """Also far outside, on the far side and across its rim, against the geodesic on the ellipsoid."""
    chart = Chart(*centre, reach)
    for apart in (0.001, 0.2, 5.0, 60.0):
        pairs = random_pairs(300, apart)
        for lat, lon in (centre, (-centre[0], centre[1] + 180)):  # near the centre and near its opposite
            near = np.stack([np.clip(lat + pairs[:, 0] / 90, -90, 90), lon + pairs[:, 1] / 180], axis=1)
            pairs = np.vstack([pairs, np.hstack([near, np.clip(near + apart * 0.3, [-90, -999], [90, 999])])])
        one, two = (np.stack(chart.flat(pairs[:, k], wrapped(pairs[:, k + 1] % 360)), 1) for k in (0, 2))
        flat = np.hypot(*(one - two).T)
        ground = np.array([geodesic_m(*pair) for pair in pairs])
        assert (flat <= chart.stretch * ground * (1 + 1e-8) + 1e-3).all()
    assert chart.stretch < (1.0001 if reach == 50_000 else 1.02)


def test_a_map_that_cuts_off_at_the_rim_would_tear_at_the_far_side() -> None:
    """The twin without the mirror: two places a few metres apart end up on opposite rims."""
    chart = Chart(39.9, 116.4, 50_000)
    lat, lon = np.array([-39.9, -39.9]), wrapped(np.array([296.3999, 296.4001]))
    east, _ = chart.flat(lat, lon)
    assert abs(east[0] - east[1]) < 25
    assert np.hypot(*(np.stack(chart.flat(lat, lon)))).max() < 25


@pytest.mark.parametrize("centre", CENTRES)
def test_there_and_back(centre: tuple[float, float]) -> None:
    chart = Chart(*centre, 100_000)
    east, north = np.meshgrid(np.linspace(-60_000, 60_000, 9), np.linspace(-60_000, 60_000, 9))
    back = chart.flat(*chart.round(east.ravel(), north.ravel()))
    assert np.allclose(back[0], east.ravel(), atol=1e-6)
    assert np.allclose(back[1], north.ravel(), atol=1e-6)


def test_degrees_and_vectors() -> None:
    lat, lon = np.array([90.0, -90.0, 0.0, 12.5, -45.0]), np.array([0.0, 0.0, 180.0, -179.5, 45.0])
    back = degrees_of(vectors(lat, lon))
    assert np.allclose(back[0], lat)
    assert np.allclose(back[1][2:], lon[2:])


def test_the_public_grid() -> None:
    lat, lon = on_grid(np.array([1.234567, -0.000001]), np.array([-179.999999, 0.000004]))
    assert lat.tolist() == [1.23457, 0.0]
    assert lon.tolist() == [180.0, 0.0]
    assert not np.signbit(lat[1])


@pytest.mark.parametrize(
    ("lat", "lon", "says"),
    [
        ([91.0, 0], [0, 0], "row 1: the latitude is beyond a pole"),
        ([0, 0], [0, 361], "row 2: the longitude"),
        ([0, float("nan")], [0, 0], "row 2: the latitude is missing"),
        ([0, 1, 2], [0, 1, float("inf")], "row 3: the longitude"),
        ([0, 1], [0], "2 latitudes and 1 longitudes"),
        (["a"], [0], "not a latitude"),
        (91, 0, "not a latitude"),
    ],
)
def test_bad_positions_are_named_by_row(lat: object, lon: object, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        positions(lat, lon)
