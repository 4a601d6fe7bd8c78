"""The spherical Laplace: law, both paths, poles and the date line, privacy by cells, twins."""

from decimal import Context, Decimal, localcontext
from fractions import Fraction
from math import cos, pi, sin
from typing import Any

import numpy as np
import pytest

from sfumato.geo import globe
from sfumato.geo.digits import pi as decimal_pi
from sfumato.geo.digits import sine_cosine
from sfumato.geo.earth import vectors
from sfumato.geo.globe import _exact, _proposals, centres, spherical_laplace
from tests.entropy import RepeatedEntropy, SeededEntropy
from tests.kernel.laws import chi_square, mutant
from tests.statistics.evidence import ERROR, epsilon_shown, source

DRAWS = 200_000
PLACES = [(0.0, 0.0), (52.5, 13.4), (90.0, 0.0), (-90.0, 77.0), (0.0, 180.0), (-16.5, 179.99999), (89.9999, -120.0)]
RATE = Fraction(20)


def angles(module: Any, rate: Fraction, lat: float, lon: float, name: str, draws: int = DRAWS) -> tuple[Any, Any]:
    """Angle from the position, and direction, of each draw."""
    cells = module.spherical_laplace(rate, np.full(draws, lat), np.full(draws, lon), source(name))
    there, here = centres(cells), vectors(np.array([lat]), np.array([lon]))[0]
    phi, lam = np.radians(lat), np.radians(lon)
    east = np.array([-sin(lam), cos(lam), 0])
    north = np.array([-sin(phi) * cos(lam), -sin(phi) * sin(lam), cos(phi)])
    across = np.hypot(there @ east, there @ north)
    return np.arctan2(across, there @ here), np.arctan2(there @ east, there @ north)


def radial_law(rate: float, edges: Any) -> list[float]:
    """P(angle in a bin) for density proportional to sin(c) e^(-rate c) on [0, π], integrated in closed form."""
    upto = 1 - np.exp(-rate * edges) * (np.cos(edges) + rate * np.sin(edges))
    return list(np.diff(upto) / (1 + np.exp(-rate * pi)))


EDGES = np.concatenate([np.linspace(0, 0.6, 61), [pi]])


@pytest.mark.parametrize(("lat", "lon"), PLACES)
def test_the_law_everywhere(lat: float, lon: float) -> None:
    angle, turn = angles(globe, RATE, lat, lon, f"globe {lat} {lon}")
    assert chi_square(np.histogram(angle, EDGES)[0], radial_law(float(RATE), EDGES)) > ERROR
    assert chi_square(np.histogram(turn, 36, (-pi, pi))[0], [1 / 36] * 36) > ERROR


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("np.log(first * second)", "np.log(first)"),  # an exponential radius instead of Gamma(2)
        ("/ -float(rate)", "/ -float(rate) * 0.95"),
        ("turn *= 2 * half_circle", "turn *= 1.9 * half_circle"),
    ],
)
def test_slips_in_the_sampler_show(old: str, new: str) -> None:
    angle, turn = angles(mutant(globe, old, new), Fraction(16), 30.0, 40.0, f"globe twin {new}", 2 * DRAWS)
    flat = chi_square(np.histogram(turn, 36, (-pi, pi))[0], [1 / 36] * 36)
    assert min(chi_square(np.histogram(angle, EDGES)[0], radial_law(16.0, EDGES)), flat) < ERROR


def test_as_many_proposals_are_accepted_as_the_sphere_asks_for() -> None:
    """κ²/(1 + κ²) of them at rate κ; a twin that keeps all of them, the flat law, is 28 deviations away."""
    _, accepted = _proposals(Fraction(16), np.zeros(DRAWS), np.zeros(DRAWS), source("globe accepted"))
    chance = 256 / 257
    assert abs(accepted.mean() - chance) < 6 * (chance * (1 - chance) / DRAWS) ** 0.5 < 1 - chance


@pytest.mark.parametrize("rate", [Fraction(16), Fraction(43_911), Fraction(10**7, 3)])
def test_both_paths_agree_on_the_same_words(rate: Fraction) -> None:
    rng = SeededEntropy(f"both {rate}")
    lat = np.concatenate([np.array([place[0] for place in PLACES]), np.linspace(-89, 89, 60)])
    lon = np.concatenate([np.array([place[1] for place in PLACES]), np.linspace(-179, 180, 60)])
    words = rng.words(4 * len(lat))
    cells, accepted = _proposals(rate, lat, lon, RepeatedEntropy(words, "a"))
    for index in range(len(lat)):
        drawn = [int(word) for word in words.reshape(4, -1)[:, index]]
        found = _exact(rate, float(lat[index]), float(lon[index]), drawn, rng)
        assert (found is not None) == accepted[index]
        assert found is None or found == tuple(cells[index])


def test_tiny_uniforms_and_borders_go_to_the_exact_path() -> None:
    """U = 0 in its first 63 bits asks for more; a place on a border of cells (angle 0 from the equator) too."""
    words = np.array([[0], [1 << 63], [1 << 40], [0]], dtype=np.uint64).ravel()
    entropy = RepeatedEntropy(words, "more")
    _proposals(RATE, np.zeros(1), np.zeros(1), entropy)
    assert entropy.extensions > 0


def test_a_proposal_beyond_the_far_side_is_rejected() -> None:
    """Both uniforms near 2^-63: the radius is 87/16 > π."""
    assert _exact(Fraction(16), 10.0, 20.0, [2, 2, 1 << 60, 0], SeededEntropy("far")) is None


@pytest.mark.parametrize("digits", [30, 70])
def test_sine_cosine_and_pi(digits: int) -> None:
    with localcontext(Context(prec=digits)):
        assert str(decimal_pi()).startswith("3.14159265358979323846264338")
        for value in (Decimal(0), Decimal("0.5"), Decimal(-3), Decimal("6.28"), Decimal(8)):
            sine, cosine = sine_cosine(value)
            assert abs(sine * sine + cosine * cosine - 1) < Decimal(10) ** (4 - digits)
            assert abs(float(sine) - sin(value)) < 1e-15
            assert abs(float(cosine) - cos(value)) < 1e-15
        sine, cosine = sine_cosine(decimal_pi() / 6)
        assert abs(sine - Decimal("0.5")) < Decimal(10) ** (4 - digits)


def test_too_low_a_rate_is_refused() -> None:
    with pytest.raises(ValueError, match="16"):
        spherical_laplace(Fraction(15), np.zeros(1), np.zeros(1), SeededEntropy("x"))


@pytest.mark.parametrize(
    ("one", "two"),
    [((0.0, 179.99), (0.0, -179.97)), ((89.99, 0.0), (89.99, 180.0)), ((52.0, 13.0), (52.02, 13.0))],
    ids=["date line", "pole", "town"],
)
def test_audit(one: tuple[float, float], two: tuple[float, float]) -> None:
    """The half of the Earth nearer to the first: likelier under it by e^(rate · angle) at most; a twin is caught."""
    here, there = (vectors(np.array([lat]), np.array([lon]))[0] for lat, lon in (one, two))
    apart = float(np.arccos(np.clip(here @ there, -1, 1)))

    def shown(rate: Fraction) -> float:
        hits = []
        for lat, lon in (one, two):
            cells = spherical_laplace(
                rate, np.full(DRAWS, lat), np.full(DRAWS, lon), source(f"audit {rate} {lat} {lon}")
            )
            hits.append(int((centres(cells) @ (here - there) > 0).sum()))
        return epsilon_shown(hits[0], hits[1], DRAWS, ERROR / 2)

    claimed = Fraction(1 / apart)
    assert shown(claimed) <= 1
    assert shown(3 * claimed) > 1


def test_sine_and_cosine_err_by_less_than_the_proof_allows() -> None:
    """Eight units of 2^-53 each, in NumPy's vector loops too, over all angles that occur."""
    uniform = SeededEntropy("sines").words(1_500).astype(np.float64) * 2.0**-64
    turns = np.concatenate([2 * pi * uniform, uniform * 2.0**-20, pi * (uniform - 0.5), np.arange(9) * pi / 4])
    with localcontext(Context(prec=50)):
        exactly = [sine_cosine(Decimal(turn)) for turn in turns.tolist()]
        for computed, place in ((np.sin(turns), 0), (np.cos(turns), 1)):
            for found, pair in zip(computed.tolist(), exactly, strict=True):
                assert abs(Decimal(found) - pair[place]) < 8 * Decimal(2) ** -53
