"""Counts around released positions: where they are cut, what one unit moves, what noise they get."""

from decimal import localcontext
from fractions import Fraction
from itertools import pairwise, product
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest

from sfumato.errors import Refused
from sfumato.kernel.mechanisms import rank_bars, ranks
from sfumato.kernel.mechanisms.additive import DiscreteGaussian, DiscreteLaplace
from sfumato.kernel.mechanisms.protocol import MOST_COUNTED_ROWS, CellCounts
from sfumato.kernel.mechanisms.rank_bars import balanced, counts_between, cuts_of, measuring, step_of
from sfumato.kernel.mechanisms.ranks import MOST_LEVELS, RankChoice
from tests.entropy import SeededEntropy
from tests.kernel import test_ranks as ranked
from tests.kernel.laws import PRECISE, chi_square, decimal, mutant

F = Fraction
HALF = F(1, 2)
TILTS = (F(0), F(1, 4), F(2, 5), HALF)


# ---- where


@pytest.mark.parametrize("cells", [1, 2, 3, 16, 74, 1000, 1 << 18])
@pytest.mark.parametrize("step", rank_bars.STEPS)
def test_cuts_lie_ever_nearer_to_the_chosen_cell(cells: int, step: int) -> None:
    for chosen in {0, cells // 3, cells - 1}:
        cuts = cuts_of((chosen,), cells, step)
        assert list(cuts) == sorted(set(cuts))
        assert all(0 < cut < cells for cut in cuts)
        below, above = (
            [chosen + 1 - cut for cut in cuts if cut <= chosen],
            [cut - chosen for cut in cuts if cut > chosen],
        )
        for distances in (below[::-1], above):
            exact = [cells * 2.0 ** (-quarters / 4) for quarters in range(step, rank_bars.NEAREST, 2 * step)]
            possible = {int(one) for one in exact} | {round(one) for one in exact if abs(one - round(one)) < 1e-6}
            assert set(distances) <= possible
        if step == 2 and cells > 2:
            assert not below or below[-1] == 1
            assert not above or above[0] == 1


def test_cuts_of_several_are_those_of_each() -> None:
    assert set(cuts_of((5, 90), 200, 2)) == set(cuts_of((5,), 200, 2)) | set(cuts_of((90,), 200, 2))


@pytest.mark.parametrize("gaussian", [True, False])
def test_however_many_levels_there_are_the_counts_stay_few(gaussian: bool) -> None:
    for many in range(1, MOST_LEVELS + 1):
        step = step_of(many, gaussian=gaussian)
        chosen = tuple(range(0, 1 << 18, (1 << 18) // many))[:many]
        assert len(cuts_of(chosen, 1 << 18, step)) < rank_bars.MOST_BETWEEN
    assert step_of(1, gaussian=gaussian) == 2


def test_rows_between_cuts_are_all_rows_each_once() -> None:
    dense = np.array([3, 0, 0, 5, 1, 0, 7])
    places = np.flatnonzero(dense)
    given = CellCounts(places, dense[places])
    for cuts in ((), (1,), (3,), (4,), (1, 3, 4, 6), (1, 2, 3, 4, 5, 6)):
        edges = [0, *cuts, len(dense)]
        expected = [int(dense[low:high].sum()) for low, high in pairwise(edges)]
        assert counts_between(given, cuts).tolist() == expected
    nothing = CellCounts(np.array([], dtype=np.int64), np.array([], dtype=np.int64))
    assert counts_between(nothing, (2, 3)).tolist() == [0, 0, 0]


# ---- what one unit moves


@pytest.mark.parametrize("tilt", TILTS)
@pytest.mark.parametrize("size", [1, 2, 3, 9, 37, 102, 1024])
def test_no_column_is_longer_than_is_said(size: int, tilt: Fraction) -> None:
    matrix = balanced(size, tilt)
    assert matrix.shape == (size + bool(tilt), size)
    lengths = (matrix.astype(object) ** 2).sum(axis=0)
    assert measuring(size, tilt)[1] == max(lengths.tolist())
    assert int(np.abs(matrix).max()) * MOST_COUNTED_ROWS < 1 << 62  # of a sum of rows, none is lost
    assert np.linalg.matrix_rank(matrix.astype(float)) == size


@pytest.mark.parametrize(("size", "gamma"), [(9, 1.18), (37, 1.63), (73, 1.85), (325, 2.32)])
@pytest.mark.parametrize("level", [HALF, F(1, 4), F(9, 10), F(1)])
def test_differences_err_as_the_page_says(size: int, gamma: float, level: Fraction) -> None:
    tilt = abs(level - HALF)
    wanted = np.tril(np.ones((size, size)))[:-1] - float(level)
    weights = wanted @ np.linalg.pinv(balanced(size, tilt).astype(float))
    errors = np.sqrt((weights**2).sum(axis=1) * measuring(size, tilt)[1])
    assert errors.max() <= gamma + float(tilt) + 0.005


def moved(mechanism: RankChoice, positions: tuple[int, ...], counts: Any, added: Any) -> np.ndarray:
    cuts = mechanism.cuts(positions)
    one, two = (mechanism._measured(counts_between(ranked.cells(rows), cuts))[0] for rows in (counts, added))
    return two - one


@pytest.mark.usefixtures("coarse")
@pytest.mark.parametrize("rows", [1, 2])
@pytest.mark.parametrize("levels", [(HALF,), (F(1, 10), HALF)])
def test_positions_and_counts_together_lose_no_more_than_is_paid(levels: tuple[Fraction, ...], rows: int) -> None:
    """On all small neighbours: of every outcome of the positions, what noise on the counts around it loses besides."""
    size, price = 3, F(1, 2)
    pure = RankChoice(levels, size, rows, rows**2, (F(1, rows),) * len(levels), price / rows)
    normal = RankChoice(levels, size, rows, rows**2, (F(1, rows),) * len(levels), price / rows**2, gaussian=True)
    for counts in product(range(2), repeat=size):
        for added in ranked.additions(size, rows):
            more = tuple(a + b for a, b in zip(counts, added, strict=True))
            one, two = ranked.law(pure, counts), ranked.law(pure, more)
            for outcome in one:
                with localcontext(PRECISE):
                    lost = abs((one[outcome] / two[outcome]).ln())
                    steps = decimal(F(int(np.abs(moved(pure, outcome, counts, more)).sum()), 1))
                    assert lost + steps * decimal(pure.bars) <= decimal(pure.cost("epsilon")) + ranked.ROUNDING
                law = normal.noise(normal.cuts(outcome))
                assert isinstance(law, DiscreteGaussian)
                length = sum(int(step) ** 2 for step in moved(normal, outcome, counts, more).tolist())
                assert length / (2 * law.variance) <= normal.l2_squared * normal.bars


@pytest.fixture
def coarse(monkeypatch: pytest.MonkeyPatch) -> None:
    ranked._coarse(monkeypatch, ranks)


TWINS = {
    "the sum of all rows for nothing": ("(matrix**2).sum(axis=0).max()", "(matrix[:size] ** 2).sum(axis=0).max()"),
    "half of the square": ("int((matrix**2).sum(axis=0).max())", "int((matrix**2).sum(axis=0).max()) // 2"),
    "rows that lie on both sides": ("return np.asarray(np.diff(edges), dtype=np.int64)", "return edges[1:]"),
}


@pytest.mark.parametrize("twin", TWINS)
def test_a_twin_that_counts_more_than_it_pays_for_is_caught(twin: str) -> None:
    module = mutant(rank_bars, *TWINS[twin])
    tilt, cuts = F(2, 5), (1, 2, 3, 4, 5, 6, 7)
    worst = 0
    for place in range(8):
        one, two = (CellCounts(np.arange(8), np.full(8, 3) + (np.arange(8) == place) * more) for more in (0, 1))
        step = module.balanced(8, tilt) @ (module.counts_between(two, cuts) - module.counts_between(one, cuts))
        worst = max(worst, sum(int(entry) ** 2 for entry in step.tolist()))
    assert worst > module.measuring(8, tilt)[1]


# ---- noise


def test_noise_has_the_law_that_is_paid_for() -> None:
    normal = RankChoice.for_share(F(1, 100), "rho", 3, 5, (F(1, 4), HALF), 1000)
    cuts = normal.cuts((300, 500))
    assert normal.noise(cuts) == DiscreteGaussian(F(measuring(len(cuts) + 1, F(1, 4))[1] * 5, 1) / (2 * F(1, 1000)))
    pure = RankChoice.for_share(F(1), "epsilon", 3, 5, (HALF,), 1000)
    assert pure.noise(cuts) == DiscreteLaplace(F(12))
    assert pure.bars == F(1, 12)
    with pytest.raises(Refused, match="Gaussian noise is not paid in epsilon"):
        normal.cost("epsilon")


@pytest.mark.slow
@pytest.mark.parametrize("currency", ["epsilon", "rho"])
def test_released_counts_are_the_rows_and_noise_of_that_law(currency: Any) -> None:
    mechanism = RankChoice.for_share(F(4), currency, 1, 1, (HALF,), 16)
    given, entropy = ranked.cells((5,) * 16), SeededEntropy(f"counts {currency}")
    scaled: list[float] = []
    for _ in range(1_500):
        position, *answers = mechanism.choose(given, entropy)
        assert len(answers) == mechanism.counted((position,))
        cuts = mechanism.cuts((position,))
        measured, law = mechanism._measured(counts_between(given, cuts))
        noise = np.array(answers) - measured
        assert law == mechanism.noise(cuts)
        width = float(law.scale) if isinstance(law, DiscreteLaplace) else float(law.variance) ** 0.5
        scaled.append(noise[0] / width)
    if currency == "rho":
        edges = [NormalDist().inv_cdf(k / 10) for k in range(1, 10)]
        seen = np.bincount(np.searchsorted(edges, scaled), minlength=10)
        assert chi_square(seen.tolist(), [0.1] * 10) > 1e-6
    else:
        q = float(np.exp(-1 / float(mechanism.noise(()).scale)))  # type: ignore[union-attr]
        whole = np.rint(np.array(scaled) * float(mechanism.noise(()).scale)).astype(int)  # type: ignore[union-attr]
        chances = [(1 - q) / (1 + q) * q ** abs(k) for k in range(-2, 3)]
        seen = [int((whole == k).sum()) for k in range(-2, 3)]
        assert chi_square([*seen, 1_500 - sum(seen)], [*chances, 1 - sum(chances)]) > 1e-6


@pytest.mark.parametrize("currency", ["epsilon", "rho"])
@pytest.mark.parametrize("levels", [(HALF,), (F(1, 10), HALF, F(1))])
@pytest.mark.parametrize("cells", [1, 2, 3, 40, 1 << 18])
def test_there_is_noise_for_every_count_and_as_much_whatever_was_chosen(currency: Any, levels: Any, cells: int) -> None:
    mechanism = RankChoice.for_share(F(4), currency, 1, 1, levels, cells)
    for chosen in {0, cells // 2, cells - 1}:
        positions = tuple(min(chosen + place, cells - 1) * mechanism.parts for place in range(len(levels)))
        assert mechanism.counted(positions) <= mechanism._most_counted
    read = set()
    for counts in ((), (9,), (0, 0, 30)):
        if len(counts) <= cells:
            entropy = SeededEntropy("as much")
            mechanism.choose(ranked.cells((*counts, *([0] * (min(cells, 3) - len(counts))))), entropy)
            read.add(entropy.words_read)
    assert currency == "rho" or len(read) == 1
