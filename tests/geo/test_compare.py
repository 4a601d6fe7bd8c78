"""The experiment: tables of probabilities, closed forms, the optimal attacker."""

from math import asinh, sqrt

import numpy as np
import pytest

import sfumato as sf
from sfumato.errors import UsageError
from sfumato.geo.compare import SIDE, _cloaked, _disc, _planar

ROOT = sqrt(2)


@pytest.mark.parametrize("channel", [_planar(12, 0.5), _disc(12, 3.0), _cloaked(12, 4)])
def test_every_table_holds_probabilities(channel: np.ndarray) -> None:
    assert channel.shape == (144, 144)
    assert (channel >= 0).all()
    assert np.allclose(channel.sum(axis=1), 1)


def worst(channel: np.ndarray, side: int) -> float:
    """The largest loss over distance between neighbours of the square."""
    table = channel.reshape(side, side, -1)
    with np.errstate(divide="ignore", invalid="ignore"):
        loss = np.abs(np.log(table[1:]) - np.log(table[:-1]))
    return float(np.nanmax(loss))


def test_only_planar_noise_bounds_the_loss() -> None:
    assert worst(_planar(12, 0.5), 12) <= 0.5 + 1e-9
    assert worst(_disc(12, 3.0), 12) == np.inf
    assert worst(_cloaked(12, 4), 12) == np.inf


def test_the_attacker_is_never_worse_than_believing_the_report() -> None:
    for prior in sf.geo.PRIORS:
        for curve in sf.geo.compare(level="ln 4", radius_m=200, prior=prior).curves:
            assert (np.array(curve.adversary_m) <= np.array(curve.loss_m) + 1e-9).all()


def test_an_attacker_with_a_prior_gains_more_than_one_without() -> None:
    uniform, town = (sf.geo.compare(level="ln 4", radius_m=200, prior=prior) for prior in ("uniform", "town"))
    assert town.rows[0]["adversary_error_m"] / town.loss_m < uniform.rows[0]["adversary_error_m"] / uniform.loss_m


def test_under_a_prior_planar_noise_leaves_the_attacker_more_doubt_than_obfuscation() -> None:
    rows = sf.geo.compare(level="ln 4", radius_m=200, prior="town").rows
    planar, disc, _ = (row["adversary_error_m"] for row in rows)
    assert planar > 1.05 * disc


def test_closed_forms_for_blocks() -> None:
    """A block of k × k places reporting its middle, against (√2 + asinh 1)/6 of the side for a fine grid."""
    side, block = 24, 12
    places = np.stack(np.meshgrid(np.arange(side), np.arange(side), indexing="ij"), -1).reshape(-1, 2)
    between = np.hypot(*(places[:, None] - places[None]).transpose(2, 0, 1))
    loss = (_cloaked(side, block) * between).sum() / side**2
    assert loss == pytest.approx(block * (ROOT + asinh(1)) / 6, rel=0.02)


def test_a_prior_of_your_own() -> None:
    weights = np.zeros((SIDE, SIDE))
    weights[3, 4] = 1
    assert sf.geo.compare(level=1, radius_m=100, prior=weights).rows[0]["adversary_error_m"] == 0
    with pytest.raises(UsageError, match="weights"):
        sf.geo.compare(level=1, radius_m=100, prior=[1.0])
    with pytest.raises(UsageError, match="town"):
        sf.geo.compare(level=1, radius_m=100, prior="twon")
