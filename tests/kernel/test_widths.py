"""How wide noise is, against the exact probabilities; and that nothing it says can move a claim."""

from decimal import Decimal, localcontext
from fractions import Fraction
from math import inf, nan, sqrt
from typing import Any

import numpy as np
import pytest
from scipy import stats

from sfumato.kernel import widths
from sfumato.kernel.mechanisms import found_bounds, ranks
from sfumato.kernel.mechanisms.additive import Additive, DiscreteGaussian, DiscreteLaplace
from sfumato.kernel.mechanisms.found_bounds import MOST_SOUGHT
from sfumato.kernel.mechanisms.ranks import FARTHEST, RankChoice, safe
from sfumato.kernel.widths import SMALL_DEVIATION, RankWidths, deviation, error
from tests.entropy import SeededEntropy
from tests.kernel import test_found_bounds as found
from tests.kernel import test_ranks as ranked
from tests.kernel.laws import (
    PRECISE,
    chi_square,
    exp_minus,
    gaussian_total,
    gaussian_weight,
    laplace_tail,
    mutant,
)

F = Fraction
CONFIDENCES = [0.01, 0.3, 0.5, 0.8, 0.9, 0.95, 0.99, 0.999, 0.999999, 1 - 1e-12]


# ---- spread ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [Fraction(1, 10), Fraction(1), Fraction(100, 3), Fraction(10**6)])
def test_laplace_deviation(scale: Fraction) -> None:
    with localcontext(PRECISE):
        q = exp_minus(1 / scale)
        exactly = float((2 * q).sqrt() / (1 - q))
    assert deviation(DiscreteLaplace(scale)) == pytest.approx(exactly, rel=1e-12)
    if scale == 1:
        total = 2 * sum(k * k * float(exp_minus(k)) for k in range(1, 100))
        assert exactly == pytest.approx(sqrt(total * float((1 - q) / (1 + q))), rel=1e-12)


@pytest.mark.parametrize("variance", [Fraction(1, 10), Fraction(1), Fraction(100)])
def test_gaussian_deviation_bounds_the_discrete_one(variance: Fraction) -> None:
    total = gaussian_total(variance)
    exactly = sqrt(2 * sum(k * k * float(gaussian_weight(variance, k) / total) for k in range(1, 200)))
    claimed = deviation(DiscreteGaussian(variance))
    assert claimed == sqrt(float(variance))
    assert exactly <= claimed * (1 + 1e-12)


# ---- error -------------------------------------------------------------------------------------------------


def is_laplace_quantile(scale: Fraction, confidence: float, k: int) -> bool:
    """P(|X| <= k) >= c and P(|X| <= k - 1) < c."""
    with localcontext(PRECISE):
        allowed = 1 - Decimal(confidence)
        return 2 * laplace_tail(scale, k + 1) <= allowed and (k == 0 or 2 * laplace_tail(scale, k) > allowed)


def is_gaussian_quantile(variance: Fraction, confidence: float, k: int) -> bool:
    with localcontext(PRECISE):
        needed = Decimal(confidence) * gaussian_total(variance)
        covered = sum((2 * gaussian_weight(variance, j) for j in range(1, k)), Decimal(1))
        last = 2 * gaussian_weight(variance, k)
        return covered + last >= needed and covered < needed if k else needed <= 1


@pytest.mark.parametrize("confidence", CONFIDENCES)
@pytest.mark.parametrize(
    "scale", [Fraction(1, 10), Fraction(1, 2), Fraction(1), Fraction(10, 3), Fraction(40), Fraction(1000)]
)
def test_laplace_error_is_the_smallest(scale: Fraction, confidence: float) -> None:
    assert is_laplace_quantile(scale, confidence, error(DiscreteLaplace(scale), confidence))


@pytest.mark.parametrize("scale", [Fraction(10**9), Fraction(10) ** 30])
@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
def test_laplace_error_of_large_scales(scale: Fraction, confidence: float) -> None:
    k = error(DiscreteLaplace(scale), confidence)
    with localcontext(PRECISE):
        for near, covered in ((Decimal(1) - Decimal("1e-8"), False), (Decimal(1) + Decimal("1e-8"), True)):
            missed = 2 * laplace_tail(scale, int(k * near) + 1)
            assert (missed <= 1 - Decimal(confidence)) is covered


@pytest.mark.parametrize("confidence", CONFIDENCES)
@pytest.mark.parametrize(
    "variance", [Fraction(1, 10), Fraction(1, 2), Fraction(1), Fraction(10, 3), Fraction(40), Fraction(1000)]
)
def test_gaussian_error_is_the_smallest(variance: Fraction, confidence: float) -> None:
    assert is_gaussian_quantile(variance, confidence, error(DiscreteGaussian(variance), confidence))


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
def test_gaussian_error_of_large_deviations_is_at_most_one_too_large(confidence: float) -> None:
    for sigma in (SMALL_DEVIATION + 1, 12345.678, 10.0**9):
        k = error(DiscreteGaussian(Fraction(sigma) ** 2), confidence)
        # The discrete law and the rounded continuous one differ by less than 1e-100 here.
        assert 2 * stats.norm.cdf((k + 0.5) / sigma) - 1 >= confidence
        assert 2 * stats.norm.cdf((k - 1.5) / sigma) - 1 < confidence


def test_gaussian_error_has_no_step_where_the_method_changes() -> None:
    for confidence in (0.5, 0.95, 0.999):
        below = error(DiscreteGaussian(Fraction(SMALL_DEVIATION) ** 2), confidence)
        above = error(DiscreteGaussian(Fraction(SMALL_DEVIATION) ** 2 + 1), confidence)
        assert below <= above <= below + 1


def test_gaussian_error_ends_even_for_a_confidence_no_double_can_reach() -> None:
    assert error(DiscreteGaussian(Fraction(1)), 1.0) < 30
    assert widths._two_sided_normal(1.0) == inf


def test_an_error_covers_the_share_of_draws_it_claims() -> None:
    for mechanism in (
        DiscreteLaplace(Fraction(20)),
        DiscreteGaussian(Fraction(300)),
        DiscreteGaussian(Fraction(10**7)),
    ):
        draws = np.abs(mechanism.draw(200_000, SeededEntropy("cover")))
        for confidence in (0.5, 0.9, 0.99):
            inside = int((draws <= error(mechanism, confidence)).sum())
            assert inside >= 200_000 * confidence - 6 * sqrt(200_000 * confidence * (1 - confidence))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("log1p(exp(-1 / t))", "0"),
        ("log((1 - confidence) / 2)", "log(1 - confidence)"),
        ("1e-9 * abs(bound)) - 1", "1e-9 * abs(bound))"),
    ],
)
def test_twins_of_the_laplace_error_are_caught(old: str, new: str) -> None:
    twin = mutant(widths, old, new)
    cases = [(scale, confidence) for scale in (Fraction(1, 2), Fraction(40)) for confidence in CONFIDENCES]
    assert not all(
        is_laplace_quantile(scale, confidence, twin.error(DiscreteLaplace(scale), confidence))
        for scale, confidence in cases
    )


def test_a_twin_of_the_gaussian_error_is_caught() -> None:
    twin = mutant(widths, "total = 2 * sum(weights) - 1", "total = 2 * sum(weights)")
    assert not all(
        is_gaussian_quantile(Fraction(1), c, twin.error(DiscreteGaussian(Fraction(1)), c)) for c in CONFIDENCES
    )


# ---- not believed ------------------------------------------------------------------------------------------

NONSENSE: list[Any] = [10**30, -(10**30), nan, inf, 7.5, F(1, 2), "rows", None, True, np.int64(3), [1]]


@pytest.mark.parametrize("said", NONSENSE)
def test_a_number_of_rows_is_made_safe(said: Any) -> None:
    assert type(safe(said)) is int
    assert -FARTHEST <= safe(said) <= FARTHEST
    assert (safe(5), safe(-5)) == (5, -5)


def test_widths_of_ranks_are_told_nothing_but_parameters() -> None:
    """What they say is one number for all tables; so it may be anything."""
    assert set(RankWidths.__dataclass_fields__) == {"nodes", "estimates", "candidates"}


@pytest.fixture(params=range(len(NONSENSE)), ids=[repr(said) for said in NONSENSE])
def misled(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines of two parts a cell, whose widths are nonsense."""
    said = [NONSENSE[(request.param + shift) % len(NONSENSE)] for shift in range(2)]
    ranked._coarse(monkeypatch, ranks)
    monkeypatch.setattr(RankWidths, "rows_of", lambda _self, _place: tuple(said))


@pytest.mark.slow
@pytest.mark.usefixtures("misled")
def test_nonsense_moves_no_claim_of_ranks() -> None:
    for levels, size, rows in ((ranked.MEDIAN, 2, 1), ((F(1, 10),), 1, 2)):
        excess = ranked.excess(ranked.choice(levels, size, rows), ranked.one_group(size, 3, rows))
        assert max(excess) <= ranked.ROUNDING
    assert max(ranked.excess(ranked.choice(ranked.TWO, 2, 1), ranked.one_group(2, 2, 1))) <= ranked.ROUNDING


@pytest.mark.slow
@pytest.mark.usefixtures("misled")
def test_draws_misled_by_nonsense_follow_the_law_that_was_checked() -> None:
    mechanism, counts = ranked.choice(ranked.MEDIAN, 2, 1, epsilon=3), (4, 2)
    expected, entropy = ranked.law(mechanism, counts), SeededEntropy("misled")
    seen = dict.fromkeys(expected, 0)
    with np.errstate(over="raise", invalid="raise"):
        for _ in range(1_500):
            seen[mechanism.choose(ranked.cells(counts), entropy)[:1]] += 1
    assert chi_square(list(seen.values()), [float(chance) for chance in expected.values()]) > 1e-6


def test_a_twin_that_believes_a_width_fails_where_the_score_overflows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RankWidths, "rows_of", lambda _self, _place: (10**30, 0))
    twin = mutant(ranks, "return min(max(rows, -FARTHEST), FARTHEST) if type(rows) is int else 0", "return rows")
    with pytest.raises((OverflowError, ValueError, TypeError)):
        ranked.choice(ranked.MEDIAN, 2, module=twin).choose(ranked.cells((4, 2)), SeededEntropy("twin"))
    assert RankChoice.for_share(F(1), "rho", 1, 1, ranked.MEDIAN, 2).choose(ranked.cells((4, 2)), SeededEntropy("safe"))


# ---- round numbers -----------------------------------------------------------------------------------------

LINES = [
    (F(0), F(80, 1 << 18), 1 << 18, F(1, 10)),
    (F(-60), F(360, 1 << 18), 1 << 18, F(1, 10)),
    (F(-1, 2), F(1), 100_001, F(100)),
    (F(-1, 2), F(1_500_001, 1 << 18), 1 << 18, F(1000)),
    (F(1, 3), F(512, 1 << 18), 1 << 18, F(1)),
    (F(0.1), F(7, 10**9), 5_000, F(10) ** -8),
]


@pytest.mark.parametrize(("lower", "width", "cells", "step"), LINES)
def test_round_numbers_of_a_line_are_multiples_of_a_power_of_ten(
    lower: Fraction, width: Fraction, cells: int, step: Fraction
) -> None:
    assert widths.round_step(width, cells) == step
    assert widths.FEWEST_ROUND <= width * cells / step < 10 * widths.FEWEST_ROUND
    found = widths.round_cells(lower, width, cells).tolist()
    assert found == sorted(set(found))
    numbers = [widths.round_number(lower, width, cells, cell) for cell in found]
    first, last = -(-lower // step), -(-(lower + width * cells) // step)
    assert numbers == [step * number for number in range(first, last)]
    others = set(range(0, cells, 97)) - set(found)
    assert {widths.round_number(lower, width, cells, cell) for cell in others} == {None}


def test_where_all_cells_hold_round_numbers_none_is_likelier() -> None:
    line = F(-1, 2), F(1), 2_000
    assert len(widths.round_cells(*line)) == 0
    assert widths.round_number(*line, 10) is None
    assert widths.round_number(F(0), F(80, 1 << 18), 1 << 18, 1 << 18) is None  # the end of the line


def test_round_cells_have_their_part_of_the_weight() -> None:
    """In all, exp(-ε·cost / (2·slope)) of the others add up to nine times as much: a tenth is theirs."""
    for level, epsilon in ((F(1, 2), F(1, 1000)), (F(9, 10), F(1, 100))):
        cost = widths.cost_of_odd(level, epsilon, 800, 1 << 18)
        slope = max(level.numerator, level.denominator - level.numerator)
        others = ((1 << 18) - 800) * np.exp(-float(epsilon) * cost / (2 * slope))
        assert 800 / (800 + others) == pytest.approx(0.1, rel=0.01)
    assert widths.cost_of_odd(F(1, 2), F(1), 800, 8_000) == 0  # they have more without


@pytest.mark.parametrize("said", NONSENSE, ids=repr)
def test_costs_are_made_safe(said: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranks, "cost_of_odd", lambda *_: said)
    mechanism = RankChoice.for_share(F(1), "epsilon", 1, 1, ranked.MEDIAN, 1 << 18, LINES[0][:2])
    costs = mechanism.costs(mechanism.nodes()[0])
    assert costs.dtype == np.int64
    assert 0 <= costs.min() <= costs.max() <= FARTHEST


SOUGHT: list[tuple[Any, Any, Any]] = [
    (-(10**40), 10**40, -(10**40)),
    (nan, inf, -inf),
    (2.0, 0.5, 1.5),
    (np.int64(2), np.int64(1), None),
    ("2", "", b"16"),
    (True, False, True),
    (0, 0, 0),
    (10**30, -1, 10**30),
    (2, 1, 16),  # as good as any
]


def as_used(said: Any) -> int:
    """What a number that is no number of rows counts as."""
    return min(max(said, 0), MOST_SOUGHT) if type(said) is int else 0


@pytest.mark.slow
@pytest.mark.parametrize("said", SOUGHT)
def test_nonsense_moves_no_claim_of_found_bounds(said: tuple[Any, Any, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    found.seek(monkeypatch, said)
    sought = (as_used(said[0]), as_used(said[1]), as_used(said[2]))
    for more, less in found.NEIGHBOURS[1::2]:
        assert found.both_ways(more, less, sought=sought) <= found.PRICE + 1e-9
    assert found.p_value(found.tiny(), (1, 2, 2), sought, draws=1_000) > 1e-6


def test_a_twin_that_believes_how_many_rows_to_seek_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: a number of rows that is none, or one that overflows, is told as an error of the rows' own kind."""
    twin = mutant(found_bounds, "wanted = min(max(safe(wanted), 0), MOST_SOUGHT)", "")
    for said in ((nan, 1, 1), (10**30, 1, 1)):
        for name, one in zip(("rows_at_anchor", "rows_at_clamp", "rows_of_a_cell"), said, strict=True):
            monkeypatch.setattr(twin, name, lambda *_, one=one: one)
        made = twin.BoundedSum(found.TINY, F(1), F(1), Additive(DiscreteLaplace(F(1, 2)), 1, 1, 4), F(2))
        with pytest.raises((OverflowError, ValueError, TypeError)):
            made.find(found.tiny_cells((1, 2)), SeededEntropy("twin"))
