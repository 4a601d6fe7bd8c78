"""The two laws of `ask` and the mechanism that adds them: prices and records, against the exact probabilities."""

from dataclasses import replace
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import product
from math import isqrt
from typing import Any

import numpy as np
import pytest

from sfumato.errors import Refused
from sfumato.kernel.mechanisms.additive import Additive, DiscreteGaussian, DiscreteLaplace
from sfumato.kernel.mechanisms.protocol import CellCounts, CellSums
from sfumato.kernel.mechanisms.running import Strategy
from tests.entropy import SeededEntropy
from tests.kernel.laws import PRECISE, chi_square, decimal, gaussian_cells, gaussian_total, laplace_cells

F = Fraction


# ---- price and record --------------------------------------------------------------------------------------


def test_prices_are_exact() -> None:
    laplace = DiscreteLaplace.for_epsilon(F(1, 10), 7)
    assert laplace.scale == 70
    assert laplace.cost("epsilon", 7) == F(1, 10)
    assert laplace.cost("epsilon", 14) == F(1, 5)
    assert laplace.cost("rho", 7) == F(1, 200)
    gaussian = DiscreteGaussian.for_rho(F(1, 8), l2_squared=9)
    assert gaussian.variance == 36
    assert gaussian.cost("rho", 9) == F(1, 8)
    assert gaussian.cost("rho", 36) == F(1, 2)
    assert DiscreteGaussian.for_rho(F(1, 8), l2_squared=5).variance == 20


def test_noise_that_doubles_cannot_reckon_with_is_refused() -> None:
    """Beyond, the lowest digits of a draw would have another law, and show those of the sum."""
    DiscreteLaplace(F(1 << 900)).draw(3, SeededEntropy(1))
    DiscreteGaussian(F(1 << 1000)).draw(3, SeededEntropy(1))
    with pytest.raises(Refused, match="no double tells its scale"):
        DiscreteLaplace.for_epsilon(F(1, 10**4000), 1)
    with pytest.raises(Refused, match="no double tells its variance"):
        DiscreteGaussian.for_rho(F(1, 10**4000), l2_squared=1)


def test_gaussian_noise_has_no_price_in_epsilon() -> None:
    with pytest.raises(Refused, match="not paid in epsilon"):
        Additive(DiscreteGaussian(F(1)), 1, 1).cost("epsilon")


@pytest.mark.parametrize("share", [F(1, 3), F(10**30 + 1, 7), F(1, 10**40)])
@pytest.mark.parametrize(("l1", "l2_squared"), [(1, 1), (2, 2), (3, 5), (10**12 + 39, (10**12 + 39) ** 2)])
def test_a_share_buys_what_it_pays(share: Fraction, l1: int, l2_squared: int) -> None:
    pure, zcdp = (Additive.for_share(share, currency, l1, l2_squared) for currency in ("epsilon", "rho"))  # type: ignore[arg-type]
    assert pure.cost("epsilon") == zcdp.cost("rho") == share
    assert pure.cost("rho") == share**2 / 2
    assert (pure.law, zcdp.law) == (DiscreteLaplace(l1 / share), DiscreteGaussian(l2_squared / (2 * share)))


def test_events_say_what_was_done() -> None:
    """A length is kept where it is a whole number, as ever; √5 as its square, and never as 3."""
    assert Additive(DiscreteLaplace(F(70, 3)), 7, 30).event() == {
        "mechanism": "discrete_laplace",
        "scale": "70/3",
        "sensitivity": "7",
    }
    for squared, told in ((9, {"sensitivity": "3"}), (5, {"sensitivity_squared": "5"})):
        assert Additive(DiscreteGaussian(F(36)), 4, squared).event() == {
            "mechanism": "discrete_gaussian",
            "variance": "36",
            **told,
        }


def test_running_totals_are_a_family_of_their_own() -> None:
    tree = Strategy("tree", 40)
    assert Additive(DiscreteLaplace(F(1)), 2, 2, 40, tree).family == "running"
    assert (
        Additive(DiscreteLaplace(F(1)), 1, 1, 40).family == Additive(DiscreteLaplace(F(1)), 1, 1).family == "additive"
    )
    for cells in (None, 39):
        with pytest.raises(ValueError, match="all cells"):
            Additive(DiscreteLaplace(F(1)), 2, 2, cells, tree)


def test_a_number_and_cells_are_not_taken_for_each_other() -> None:
    law, cells = DiscreteLaplace(F(1)), CellCounts(np.array([1]), np.array([7]))
    Additive(law, 1, 1).check(5)
    Additive(law, 1, 1, 2).check(cells)
    wrong: list[tuple[int | None, Any]] = [(None, True), (None, 1.0), (None, cells), (2, 5), (1, cells)]
    for size, entry in wrong:
        with pytest.raises(Refused, match="something else than"):
            Additive(law, 1, 1, size).check(entry)


def test_sums_in_cells_and_counts_of_rows_are_not_taken_for_each_other() -> None:
    law, places = DiscreteLaplace(F(1)), np.array([0, 2])
    sums, counts = CellSums(places, (-5, 1 << 70)), CellCounts(places, np.array([7, 1]))
    Additive(law, 1, 1, cells=3, sums=True).check(sums)
    Additive(law, 1, 1, cells=3).check(counts)
    wrong: list[tuple[bool, Any]] = [
        (True, counts),
        (False, sums),
        (True, 3),
        (True, CellSums(places, (1, 2, 3))),
        (True, CellSums(places, (1, 0.5))),  # type: ignore[arg-type]
        (True, CellSums(np.array([0, 0]), (1, 2))),
        (True, CellSums(np.array([2, 0]), (1, 2))),
        (True, CellSums(np.array([-1, 0]), (1, 2))),
        (True, CellSums(np.array([0, 3]), (1, 2))),
        (True, CellSums(np.array([0.0, 2.0]), (1, 2))),
        (False, CellCounts(np.array([0, 0]), np.array([7, 1]))),
    ]
    for of_sums, entry in wrong:
        with pytest.raises(Refused, match="cells"):
            Additive(law, 1, 1, cells=3, sums=of_sums).check(entry)
    for cells, strategy in ((None, None), (3, Strategy("tree", 3))):
        with pytest.raises(ValueError, match="sums in cells"):
            Additive(law, 1, 1, cells, strategy, sums=True)


def test_sums_in_cells_get_noise_in_every_cell_also_in_those_without_rows() -> None:
    mechanism = Additive(DiscreteLaplace(F(1, 10**9)), 1, 1, cells=3, sums=True)
    entries = [CellSums(np.array([1]), (-(1 << 80),)), CellSums(np.array([], dtype=np.int64), ())]
    assert mechanism.draw(entries, SeededEntropy("no noise")) == [(0, -(1 << 80), 0), (0, 0, 0)]
    wide = replace(mechanism, law=DiscreteLaplace(F(10**9)))
    drawn = [number for row in wide.draw(entries[1:] * 20, SeededEntropy("noise")) for number in row]  # type: ignore[union-attr]
    assert len(set(drawn)) == 60


@pytest.mark.parametrize("spread", [F(0), F(-1)])
def test_noise_of_no_width_is_refused(spread: Fraction) -> None:
    with pytest.raises(ValueError, match="positive"):
        DiscreteLaplace(spread)
    with pytest.raises(ValueError, match="positive"):
        DiscreteGaussian(spread)


def test_draws_follow_the_law() -> None:
    laplace, gaussian = DiscreteLaplace(F(5)), DiscreteGaussian(F(20))
    assert chi_square(*laplace_cells(laplace.draw(200_000, SeededEntropy("draw")), laplace.scale)) > 1e-6
    assert chi_square(*gaussian_cells(gaussian.draw(200_000, SeededEntropy("draw")), gaussian.variance)) > 1e-6


# ---- privacy of one integer, by the exact probabilities ----------------------------------------------------


@pytest.mark.parametrize("sensitivity", [1, 2, 5])
@pytest.mark.parametrize("epsilon", [F(1, 10), F(1), F(3)])
def test_laplace_loss_is_at_most_epsilon_and_reaches_it(epsilon: Fraction, sensitivity: int) -> None:
    scale = DiscreteLaplace.for_epsilon(epsilon, sensitivity).scale
    losses = [
        abs(abs(k + shift) - abs(k)) / scale for k in range(-40, 41) for shift in range(-sensitivity, sensitivity + 1)
    ]
    assert max(losses) == epsilon


@pytest.mark.parametrize("sensitivity", [1, 3])
@pytest.mark.parametrize("variance", [F(1, 2), F(2), F(9)])
def test_gaussian_divergence_is_at_most_alpha_rho(variance: Fraction, sensitivity: int) -> None:
    """D_α(N(Δ) ‖ N(0)) = ln Σ p^α q^(1-α) / (α - 1) <= α ρ, with equality at whole α Δ."""
    rho = DiscreteGaussian(variance).cost("rho", sensitivity**2)
    with localcontext(PRECISE):
        total = gaussian_total(variance)
        for alpha in (F(11, 10), F(3, 2), F(2), F(5), F(20)):
            reach = 60 * sensitivity
            weights = [
                (-(decimal(alpha) * (k - sensitivity) ** 2 + decimal(1 - alpha) * k**2) / decimal(2 * variance)).exp()
                for k in range(-reach, reach + 1)
            ]
            divergence = (sum(weights) / total).ln() / decimal(alpha - 1)
            assert divergence <= decimal(alpha * rho) + Decimal(10) ** -40
            if alpha.denominator == 1:
                assert divergence >= decimal(alpha * rho) - Decimal(10) ** -40


@pytest.mark.parametrize("moved", [(1, 1), (2, 1), (1, 1, 1), (2, 1, 1)])
def test_a_length_that_is_no_whole_number_is_paid_exactly(moved: tuple[int, ...]) -> None:
    """A unit that moves several groups: their divergences add up to α l2_squared/(2 variance), at whole α reached."""
    squared = sum(one**2 for one in moved)
    law = Additive.for_share(F(1, 4), "rho", sum(moved), squared).law
    assert isinstance(law, DiscreteGaussian)
    assert isqrt(squared) ** 2 != squared
    with localcontext(PRECISE):
        total, alpha = gaussian_total(law.variance), 3
        divergence = Decimal(0)
        for one in moved:
            weights = [
                (-decimal((alpha * (k - one) ** 2 + (1 - alpha) * k**2) / (2 * law.variance))).exp()
                for k in range(-100, 101)
            ]
            divergence += (sum(weights) / total).ln() / (alpha - 1)
        assert abs(divergence - alpha * Decimal("0.25")) < Decimal(10) ** -30


def test_every_entry_of_every_group_gets_noise_of_its_own() -> None:
    mechanism = Additive.for_share(F(1, 4), "rho", 2, 2, cells=50)
    empty = CellCounts(np.array([], dtype=np.int64), np.array([], dtype=np.int64))
    drawn = np.array(mechanism.draw([empty] * 2_000, SeededEntropy("cells")))
    assert drawn.shape == (2_000, 50)
    assert chi_square(*gaussian_cells(drawn.ravel(), F(4))) > 1e-6
    assert chi_square(*gaussian_cells(drawn.ravel(), F(8))) < 1e-6  # the noise of a length of 2
    for one, two in product((drawn[0], drawn[:, 0]), (drawn[1], drawn[:, 1])):
        assert one.tolist()[:40] != two.tolist()[:40]
