"""The textbook version: its formulas hold, and it is not private, which is why it is for teaching only."""

from math import e, pi

import numpy as np
import pytest
from scipy.special import lambertw

from sfumato.errors import UsageError
from sfumato.geo import teaching
from sfumato.geo.teaching import corrected_epsilon, lambert_w_lower, planar_laplace, radius, share_within
from tests.kernel.laws import chi_square, mutant
from tests.statistics.evidence import ERROR, epsilon_shown, source

DRAWS = 100_000


def test_lambert_w() -> None:
    x = -(10.0 ** np.linspace(-300, -0.44, 500))
    assert np.allclose(lambert_w_lower(x), lambertw(x, -1).real, rtol=1e-12)
    assert np.allclose(lambert_w_lower(np.array([-1 / e + 1e-12, -1 / e])), -1, atol=1e-5)


def test_the_radius_inverts_the_share() -> None:
    shares = np.linspace(0.0001, 0.9999, 500)
    assert np.allclose(share_within(radius(shares, 0.01), 0.01), shares, atol=1e-9)
    assert radius(0.95, 1.0) == pytest.approx(4.743865, abs=1e-6)


def radius_p(module: object) -> float:
    x, y = module.planar_laplace(np.zeros(DRAWS), np.zeros(DRAWS), epsilon=0.01, entropy=source("teaching"))
    edges = np.linspace(0, 800, 41)
    counts = np.histogram(np.hypot(x, y), edges)[0]
    law = np.diff(share_within(edges, 0.01))
    return chi_square([*counts, DRAWS - counts.sum()], [*law, 1 - law.sum()])


def test_the_law_and_the_exponential_twin() -> None:
    assert radius_p(teaching) > ERROR
    assert radius_p(mutant(teaching, "    r = radius(share, inner)\n", "    r = -np.log1p(-share) / inner\n")) < ERROR


@pytest.mark.parametrize(
    ("step", "reach", "angles", "less"),
    [(1, 1e4, 2 * pi * 2.0**-53, 2.8e-9), (1, 1e4, 1e-9, 0.0040), (1e-3, 1e6, 2 * pi * 2.0**-53, 0.279)],
)
def test_the_correction(step: float, reach: float, angles: float, less: float) -> None:
    found = corrected_epsilon(0.01, step_m=step, reach_m=reach, step_of_angles=angles)
    assert 1 - found / 0.01 == pytest.approx(less, rel=0.02)


def coarse_masses(x: tuple[float, float], epsilon: float, angles: int, outputs: np.ndarray, step: float) -> np.ndarray:
    """Exact cell masses of the polar algorithm when only so many angles exist: every ray cut at the cell borders."""
    masses = np.zeros(len(outputs))
    for turn in 2 * pi * np.arange(angles) / angles:
        way = np.array([np.cos(turn), np.sin(turn)])
        with np.errstate(divide="ignore", invalid="ignore"):
            low, high = ((outputs + side * step / 2 - x) / way for side in (-1, 1))
        enter = np.nanmax(np.where(np.isfinite(low) | np.isfinite(high), np.minimum(low, high), -np.inf), axis=1)
        leave = np.nanmin(np.where(np.isfinite(low) | np.isfinite(high), np.maximum(low, high), np.inf), axis=1)
        enter, leave = np.maximum(enter, 0), np.maximum(leave, 0)
        masses += np.where(leave > enter, share_within(leave, epsilon) - share_within(enter, epsilon), 0) / angles
    return masses


def worst_ratio(epsilon: float, angles: int) -> float:
    """The largest loss over d·ε between neighbouring grid places, on outputs within a reach of 6."""
    line = np.arange(-4, 5)
    outputs = np.stack(np.meshgrid(line, line), axis=-1).reshape(-1, 2).astype(float)
    one = coarse_masses((0.0, 0.0), epsilon, angles, outputs, 1.0)
    worst = 0.0
    for other in ((1.0, 0.0), (1.0, 1.0)):
        two = coarse_masses(other, epsilon, angles, outputs, 1.0)
        near = (np.hypot(*outputs.T) <= 5) & (np.hypot(*(outputs - other).T) <= 5)
        worst = max(worst, float(np.abs(np.log(one[near] / two[near])).max() / np.hypot(*other)))
    return worst


def test_without_the_correction_coarse_angles_break_the_claim() -> None:
    """With 110 angles and a reach of 5 the plain algorithm loses more than ε; with ε′ it keeps it."""
    epsilon, angles = 1.5, 110
    inner = corrected_epsilon(epsilon, step_m=1.0, reach_m=5.0, step_of_angles=2 * pi / angles)
    assert worst_ratio(epsilon, angles) > epsilon
    assert worst_ratio(inner, angles) <= epsilon


def test_it_is_not_private_in_doubles() -> None:
    """The precision of the sum tells 0 from 1 m: no epsilon holds for the textbook version."""
    hits = []
    for x in (0.0, 1.0):
        east, _ = planar_laplace(np.full(DRAWS, x), np.zeros(DRAWS), epsilon=0.01, entropy=source(f"doubles {x}"))
        small = np.abs(east) < 0.5
        scaled = np.ldexp(east, 53)
        hits.append(int((small & (scaled != np.rint(scaled))).sum()))
    assert epsilon_shown(hits[0], hits[1], DRAWS, ERROR / 2) > 1  # a hundred times what is claimed for a metre


def test_places_and_mistakes() -> None:
    places = [(0, 0), (100, 0), (0, 100)]
    x, y = planar_laplace(np.zeros(50), np.zeros(50), epsilon=0.01, places=places, entropy=source("places"))
    assert set(zip(x.tolist(), y.tolist(), strict=True)) <= {(0.0, 0.0), (100.0, 0.0), (0.0, 100.0)}
    with pytest.raises(UsageError, match="no place"):
        planar_laplace(0.0, 0.0, epsilon=1, places=[])
    with pytest.raises(UsageError, match="no corrected epsilon"):
        corrected_epsilon(1.0, step_m=1, reach_m=100, step_of_angles=0.1)
