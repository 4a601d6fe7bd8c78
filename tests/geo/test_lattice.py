"""The planar geometric: exact law, the claim on every pair of a small grid, slow path against fast path, twins."""

from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

from sfumato.geo import lattice
from sfumato.geo.lattice import _accepted, _below, planar_geometric
from tests.entropy import RepeatedEntropy, SeededEntropy
from tests.kernel.laws import PRECISE, chi_square, decimal, mutant
from tests.statistics.evidence import ERROR, epsilon_shown, source

DRAWS = 400_000
REACH = 90  # beyond, at rate 1/2, lies less than 1e-16


def weight(rate: Fraction, i: int, j: int) -> Decimal:
    return (-decimal(rate) * Decimal(i * i + j * j).sqrt()).exp()


def cells(i: Any, j: Any, reach: int) -> Any:
    inside = (abs(i) <= reach) & (abs(j) <= reach)
    place = np.where(inside, (i + reach) * (2 * reach + 1) + j + reach, (2 * reach + 1) ** 2)
    return np.bincount(place, minlength=(2 * reach + 1) ** 2 + 1)


def law(rate: Fraction, reach: int) -> list[float]:
    line = np.arange(-REACH, REACH + 1)
    weights = np.exp(-float(rate) * np.hypot(line[:, None], line[None, :]))
    inner = weights[REACH - reach : REACH + reach + 1, REACH - reach : REACH + reach + 1] / weights.sum()
    return [*inner.ravel().tolist(), 1 - float(inner.sum())]


def p_value(module: Any, rate: Fraction, name: str) -> float:
    i, j = module.planar_geometric(rate, DRAWS, source(name))
    return chi_square(cells(i, j, 8), law(rate, 8))


@pytest.mark.parametrize("rate", [Fraction(1, 2), Fraction(1), Fraction(7, 3)])
def test_the_law(rate: Fraction) -> None:
    assert p_value(lattice, rate, f"planar {rate}") > ERROR


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("x += y\n", "x += 0 * y\n"),  # noise in one direction only
        ("    gamma -= steps\n", ""),
    ],
)
def test_slips_in_the_sampler_show(old: str, new: str) -> None:
    assert p_value(mutant(lattice, old, new), Fraction(1), f"twin {old}") < ERROR


def test_two_independent_laplace_coordinates_are_another_law() -> None:
    twin = mutant(lattice, "np.flatnonzero(_accepted(rate, scale, i, j, entropy))", "np.arange(size)")
    assert p_value(twin, Fraction(1), "twin independent") < ERROR


def test_a_tenth_less_noise_shows() -> None:
    i, j = planar_geometric(Fraction(11, 10), DRAWS, source("planar narrow"))
    assert chi_square(cells(i, j, 8), law(Fraction(1), 8)) < ERROR


def test_a_fine_lattice_has_the_radius_of_planar_laplace_noise() -> None:
    """At 1/20000 the lattice is as good as the plane: Gamma(2); an exponential radius is caught."""
    i, j = planar_geometric(Fraction(1, 20_000), DRAWS, source("planar fine"))
    radius = np.hypot(i, j) / 20_000
    bins = np.linspace(0, 8, 81)
    within = 1 - (1 + bins) * np.exp(-bins)
    counts = np.histogram(radius, bins)[0]
    observed = [*counts, len(radius) - counts.sum()]
    assert chi_square(observed, [*np.diff(within), 1 - within[-1]]) > ERROR
    wrong = 1 - np.exp(-bins)
    assert chi_square(observed, [*np.diff(wrong), 1 - wrong[-1]]) < ERROR


@pytest.mark.parametrize("rate", [Fraction(3, 10), Fraction(1), Fraction(5, 2)])
def test_every_pair_of_a_small_grid_keeps_the_claim(rate: Fraction) -> None:
    """ratio <= e^(rate · d) for all pairs of true places and all outputs, with 60 digits; equality is attained."""
    side = list(product(range(4), repeat=2))
    outputs = list(product(range(-3, 7), repeat=2))
    with localcontext(PRECISE):
        table = {(x, z): weight(rate, z[0] - x[0], z[1] - x[1]) for x in side for z in outputs}
        tight = False
        for one, two in product(side, side):
            bound = decimal(rate) * Decimal((one[0] - two[0]) ** 2 + (one[1] - two[1]) ** 2).sqrt()
            worst = max((table[one, z] / table[two, z]).ln() for z in outputs)
            assert worst <= bound + Decimal(10) ** -50
            tight = tight or (one != two and worst > bound - Decimal(10) ** -50)
    assert tight


def test_renormalising_over_a_region_would_break_the_claim() -> None:
    """The twin that samples on the region instead of bringing the result back to it."""
    rate, side = 0.3, list(product(range(20), repeat=2))
    places = np.array(side, dtype=float)
    table = np.exp(-rate * np.hypot(*(places[:, None] - places[None]).transpose(2, 0, 1)))
    table /= table.sum(axis=1, keepdims=True)
    ratio = np.log(table[0] / table[1])
    assert ratio.max() > 1.2 * rate


def test_words_on_both_paths_agree() -> None:
    rate, count = Fraction(1, 7), 2000
    scale = lattice.ROOT_OF_TWO / rate
    rng = SeededEntropy("paths")
    i = (rng.words(count) % np.uint64(61)).astype(np.int64) - 30
    j = (rng.words(count) % np.uint64(61)).astype(np.int64) - 30
    words = rng.words(count)
    fast = _accepted(rate, scale, i, j, RepeatedEntropy(words, "more"))
    for index in range(0, count, 7):
        assert fast[index] == _below(rate, scale, int(i[index]), int(j[index]), int(words[index]), rng)


def test_a_word_on_the_border_is_settled_with_more_bits() -> None:
    rate = Fraction(1)
    scale = lattice.ROOT_OF_TWO / rate
    with localcontext(PRECISE):
        gamma = decimal(rate) * Decimal(5) - Decimal(7) / decimal(scale)
        border = int((-gamma).exp() * 2**64)
    rng = SeededEntropy("border")
    i, j = np.full(200, 3), np.full(200, 4)
    entropy = RepeatedEntropy(np.full(200, border, dtype=np.uint64), "extend")
    accepted = _accepted(rate, scale, i, j, entropy)
    assert entropy.extensions >= 200
    assert 0 < accepted.sum() < 200
    assert _below(rate, scale, 3, 4, border - 1, rng)
    assert not _below(rate, scale, 3, 4, border + 1, rng)
    assert _below(rate, scale, 0, 0, 2**64 - 1, rng)


def test_audit_and_a_twin_with_less_noise() -> None:
    """Between (0, 0) and (1, 0): outputs to the left of 0 favour the first by e^rate at most."""
    rate = Fraction(1)

    def shown(noise: Fraction) -> float:
        first, second = (
            int((planar_geometric(noise, DRAWS, source(f"audit {noise} {x}"))[0] + x <= 0).sum()) for x in (0, 1)
        )
        return epsilon_shown(first, second, DRAWS, ERROR / 2)

    assert shown(rate) <= 1
    assert shown(Fraction(2)) > 1


@pytest.mark.parametrize("rate", [Fraction(0), Fraction(1, 1 << 27), Fraction(2000)])
def test_rates_outside_the_proof_are_refused(rate: Fraction) -> None:
    with pytest.raises(ValueError, match="rate"):
        planar_geometric(rate, 1, SeededEntropy("x"))
