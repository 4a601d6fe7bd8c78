"""What the figures about real tables are made of: ratios with their intervals, an inverted CDF, an error by its law."""

from fractions import Fraction
from math import inf, sqrt

import numpy as np
import pytest

import sfumato as sf
from benchmarks.bars import Column as Measured
from benchmarks.bars import Shares
from benchmarks.rank_error import expected_error
from benchmarks.real.peers import candidates
from benchmarks.real.ratios import of_runs, stated
from sfumato.answers.cells import quantile
from sfumato.kernel.mechanisms.protocol import CellCounts
from sfumato.kernel.mechanisms.ranks import RankChoice
from sfumato.plan.expressions import Column
from sfumato.plan.nodes import Grid
from sfumato.query.bound import Quantile
from sfumato.query.rewrite import QuantileColumn
from tests.entropy import SeededEntropy

HALF = Fraction(1, 2)


@pytest.mark.parametrize(("factor", "worse", "better"), [(1.0, False, False), (1.3, True, False), (0.8, False, True)])
def test_a_ratio_of_errors_is_judged_by_its_interval(factor: float, worse: bool, better: bool) -> None:
    generator = np.random.default_rng(1)
    ours, theirs = factor * np.abs(generator.normal(size=4000)), np.abs(generator.normal(size=4000))
    found = of_runs(ours, theirs)
    assert found.low < found.value < found.high
    assert (found.worse, found.better) == (worse, better)


def test_few_runs_do_not_make_an_answer_worse() -> None:
    generator = np.random.default_rng(2)
    found = of_runs(1.3 * np.abs(generator.normal(size=20)), np.abs(generator.normal(size=20)))
    assert found.high / found.low > 1.5
    assert not found.worse


def test_no_error_beside_none_is_alike_and_no_answer_is_worse() -> None:
    assert of_runs(np.zeros(9), np.zeros(9)) == stated(1.0)
    assert of_runs(np.full(9, inf), np.ones(9)).worse
    assert of_runs(np.ones(9), np.zeros(9)).worse


def test_a_cdf_is_inverted_from_both_ends_inwards() -> None:
    points = [1.0, 2.0, 3.0, 4.0]
    bars = [(0.0, 0.2), (0.3, 0.55), (0.45, 0.7), (0.8, 1.0)]
    length = Measured("", "t", "x", sf.Float(0, 4))
    assert Shares(length, points, bars).inverted(0.5) == (1.0, 4.0)
    assert Shares(length, points, bars).inverted(0.25) == (1.0, 2.0)
    assert Shares(length, points, bars).inverted(0.1) == (0.0, 2.0)
    # Up to 1 lie too few, up to 4 too many: 2, 3 or 4.
    assert Shares(Measured("", "t", "x", sf.Int(1, 4)), points, bars).inverted(0.5) == (2.0, 4.0)


def test_a_point_that_passes_beyond_one_that_does_not_is_not_believed() -> None:
    bars = [(0.0, 0.6), (0.1, 0.4), (0.9, 1.0)]
    assert Shares(Measured("", "t", "x", sf.Float(0, 3)), [1.0, 2.0, 3.0], bars).inverted(0.5) == (0.0, 3.0)


@pytest.mark.parametrize("whole", [False, True])
def test_the_expected_error_is_that_of_draws(whole: bool) -> None:
    grid = Grid(Column("x"), Fraction(-1, 2) if whole else Fraction(0), Fraction(39, 2) if whole else Fraction(20), 20)
    column = QuantileColumn("q", 0, 0, Quantile(grid, HALF, whole))
    cells = CellCounts(np.array([2, 3, 7, 15], dtype=np.int64), np.array([3, 4, 3, 6], dtype=np.int64))
    ranks = RankChoice.for_share(Fraction(1), "epsilon", 1, 1, (HALF,), grid.size)
    entropy, truth = SeededEntropy("errors"), 7.0
    errors = np.array([abs(quantile(column, ranks.choose(cells, entropy), ranks) - truth) for _ in range(1500)])
    expected = expected_error(ranks, cells, column, truth)
    deviation = errors.std() / sqrt(len(errors))
    assert abs(errors.mean() - expected) < 6 * deviation
    wrong = expected_error(RankChoice.for_share(HALF, "epsilon", 1, 1, (HALF,), grid.size), cells, column, truth)
    assert abs(errors.mean() - wrong) > 6 * deviation


@pytest.mark.parametrize(
    ("ends", "whole", "step"), [((0, 80), False, 0.005), ((-60, 300), False, 0.02), ((17, 90), True, 1)]
)
def test_candidates_of_a_peer_lie_at_round_numbers(ends: tuple[float, float], whole: bool, step: float) -> None:
    found = candidates(*ends, whole=whole)
    assert (found[0], found[-1]) == ends
    assert set(range(int(ends[0]), int(ends[1]) + 1)) <= set(found)
    assert np.allclose(np.diff(found), step)
