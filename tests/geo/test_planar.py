"""Reports as people ask for them: levels, the public grid, places, priors."""

from fractions import Fraction
from math import exp, log

import numpy as np
import pytest

import sfumato as sf
from sfumato.errors import UsageError
from sfumato.geo.earth import GRID
from sfumato.geo.planar import level_of, quantile
from tests.entropy import SeededEntropy
from tests.statistics.evidence import ERROR, epsilon_shown, source

TOWN = (39.9593, 116.3108)
DRAWS = 100_000
WAYS = [None, (39.9, 116.4)]


@pytest.mark.parametrize("around", WAYS)
@pytest.mark.parametrize("place", [TOWN, (90.0, 0.0), (-90.0, 12.0), (0.0, 180.0), (-16.5, -180.0), (64.0, 2.0)])
def test_every_report_lies_on_the_public_grid(place: tuple[float, float], around: tuple[float, float] | None) -> None:
    """M2: 0 m against 1 m, poles, date line, near powers of two."""
    mechanism = sf.geo.planar(level="ln 4", radius_m=200, around=around)
    for shift in (0.0, 9e-6):
        lat = np.full(3000, min(90.0, place[0] + shift))
        told = mechanism.report(lat, np.full(3000, place[1]), entropy=SeededEntropy(f"{place} {shift}"))
        for degrees, most in ((told.lat, 90), (told.lon, 180)):
            assert (np.rint(degrees * GRID) / GRID == degrees).all()
            assert (np.abs(degrees) <= most).all()


@pytest.mark.parametrize("around", WAYS)
def test_reports_are_as_far_off_as_said(around: tuple[float, float] | None) -> None:
    mechanism = sf.geo.planar(level="ln 4", radius_m=200, around=around)
    told = mechanism.report(np.full(DRAWS, TOWN[0]), np.full(DRAWS, TOWN[1]), entropy=source(f"far {around}"))
    off = sf.geo.distance_m(*TOWN, told.lat, told.lon)
    assert mechanism.mean_error_m == pytest.approx(288.539, abs=0.1)
    assert off.mean() == pytest.approx(mechanism.mean_error_m, rel=0.02)
    for confidence in (0.5, 0.95):
        inside = (off <= mechanism.error_m(confidence)).mean()
        assert confidence - 0.005 < inside < confidence + 0.015


@pytest.mark.parametrize("around", WAYS)
def test_audit_of_two_places_200_m_apart(around: tuple[float, float] | None) -> None:
    """The best event is the half nearer to the first; at ln 4 within 200 m it shows at most ln 4, a twin more."""
    other = TOWN[0] + 200 / 111_034  # metres a degree of latitude, here, on the ellipsoid

    def shown(level: str) -> float:
        mechanism = sf.geo.planar(level=level, radius_m=200, around=around)
        hits = []
        for lat in (TOWN[0], other):
            draws = source(f"audit {around} {level} {lat}")
            told = mechanism.report(np.full(DRAWS, lat), np.full(DRAWS, TOWN[1]), entropy=draws)
            hits.append(int((told.lat < (TOWN[0] + other) / 2).sum()))
        return epsilon_shown(hits[0], hits[1], DRAWS, ERROR / 2)

    assert shown("ln 4") <= log(4)
    assert shown("ln 40") > log(4)


def test_the_lattice_around_a_place_counts_its_snapping() -> None:
    anywhere, around = (sf.geo.planar(level="ln 4", radius_m=200, around=way) for way in WAYS)
    assert anywhere.loss(200) == pytest.approx(log(4))
    assert anywhere.loss(0) == around.loss(0) == 0
    assert log(4) - 3e-4 < around.loss(200) <= log(4)
    assert 0 < around.loss(1e-9) < 1e-4
    assert around.step_m == Fraction(1, 128)
    assert around.event()["mechanism"] == "planar_geometric"
    assert anywhere.event()["mechanism"] == "spherical_laplace"


def test_one_position_gives_one() -> None:
    told = sf.geo.planar(level=1.39, radius_m=200).report(*TOWN)
    lat, lon = told
    assert isinstance(lat, float)
    assert abs(lat - TOWN[0]) < 0.1
    assert abs(lon - TOWN[1]) < 0.1
    assert sf.geo.planar(epsilon=0.01).report(*TOWN) != told


def test_metres_of_a_map_of_your_own() -> None:
    mechanism = sf.geo.planar(level="ln 4", radius_m=200)
    east, north = mechanism.report_flat(np.zeros(DRAWS), np.full(DRAWS, 1e6), entropy=source("flat"))
    steps = east / float(mechanism.step_m)
    assert (steps == np.rint(steps)).all()
    assert np.hypot(east, north - 1e6).mean() == pytest.approx(288.539, rel=0.02)
    single = mechanism.report_flat(1.0, 2.0)
    assert all(isinstance(value, float) for value in single)
    with pytest.raises(UsageError, match="row 2"):
        mechanism.report_flat([0, float("nan")], [0, 0])
    with pytest.raises(UsageError, match="2 latitudes"):
        mechanism.report_flat([0, 0], [0])
    with pytest.raises(UsageError, match="input"):
        mechanism.report_flat("a", 0)


def test_levels_as_people_write_them() -> None:
    assert level_of("ln 4") < level_of("ln(4.0000001)")
    assert float(level_of("ln 4")) == pytest.approx(log(4), abs=1e-15)
    assert exp(float(level_of(" 1.5 "))) == pytest.approx(exp(1.5))
    assert level_of(0.1) == Fraction(1, 10)
    for bad in ("four", "ln x", "ln 1", "ln 0", "", "-1"):
        with pytest.raises(UsageError):
            level_of(bad)


def test_the_radius_of_95_percent() -> None:
    assert quantile(0.95) == pytest.approx(4.743865, abs=1e-6)
    assert quantile(0.5) == pytest.approx(1.678347, abs=1e-6)
    with pytest.raises(UsageError):
        quantile(1.0)


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"level": 1},
        {"level": 1, "radius_m": 100, "epsilon": 1},
        {"level": 1, "radius_m": 1e9},
        {"level": 1e9, "radius_m": 1},
        {"level": 0, "radius_m": 1},
        {"level": 1, "radius_m": float("nan")},
        {"level": 1, "radius_m": 100, "around": (99, 0)},
        {"level": 1, "radius_m": 100, "around": ("x", 0)},
        {"level": 1, "radius_m": 100, "around": (0, 0), "reach_m": 10**8},
        {"level": True, "radius_m": 100},
    ],
)
def test_mistakes(given: dict) -> None:
    with pytest.raises(UsageError):
        sf.geo.planar(**given)


CAFES = [(39.96, 116.31), (39.97, 116.33), (39.95, 116.30)]


def test_the_closest_place() -> None:
    told = sf.geo.planar(level="ln 4", radius_m=200).report([39.96] * 200, [116.31] * 200, places=CAFES)
    assert set(zip(told.lat.tolist(), told.lon.tolist(), strict=True)) <= set(CAFES)
    over = sf.geo.closest(np.array([0.0]), np.array([179.9999]), [(0.0, -179.9), (0.0, 170.0)])
    assert over[1].tolist() == [-179.9]
    with pytest.raises(UsageError, match="no place"):
        sf.geo.closest(np.array([0.0]), np.array([0.0]), [])


def test_a_remap_never_costs_accuracy_under_its_prior() -> None:
    """Positions drawn from the prior: the expected distance falls; a report elsewhere still ends on a place."""
    rng = SeededEntropy("prior")
    places = [(39.9 + 0.002 * row, 116.3 + 0.002 * column) for row in range(8) for column in range(8)]
    weights = [1.0 + 30 * (index % 9 == 0) for index in range(64)]
    mechanism = sf.geo.planar(level="ln 2", radius_m=200)
    shares = np.cumsum(weights) / sum(weights)
    truth = np.array(places)[np.searchsorted(shares, (rng.words(3000) >> np.uint64(11)) * 2.0**-53)]
    told = mechanism.report(truth[:, 0], truth[:, 1], entropy=rng)
    mapped = sf.geo.remap(places, weights, epsilon=mechanism.epsilon)(told.lat, told.lon)
    before = sf.geo.distance_m(truth[:, 0], truth[:, 1], *told).mean()
    after = sf.geo.distance_m(truth[:, 0], truth[:, 1], *mapped).mean()
    assert after < 0.9 * before
    assert tuple(sf.geo.remap(places, epsilon=mechanism.epsilon)(0.0, 0.0)) in places
    with pytest.raises(UsageError, match="weights"):
        sf.geo.remap(places, [1.0], epsilon=1)
