"""What is measured for running totals: columns, reconstruction, and the error of the totals."""

from fractions import Fraction
from math import comb, sqrt
from typing import Any

import numpy as np
import pytest

from sfumato.answers.cells import running_totals
from sfumato.kernel.mechanisms import running
from sfumato.kernel.mechanisms.running import FINENESS, FLAT, MOST_RUNNING, Strategy
from tests.kernel.laws import mutant

SIZES = [1, 2, 3, 16, 31, 32, 33, 100, 128, 256, 257, 1024]
KINDS = ["roots", "tree"]


def matrix(strategy: Any) -> np.ndarray[Any, Any]:
    """Column by column: what one row in each cell is answered with."""
    return np.stack([strategy.answers(cell) for cell in np.eye(strategy.size, dtype=np.int64)], axis=1)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", KINDS)
def test_norms_of_columns_by_brute_force(kind: Any, size: int) -> None:
    strategy = Strategy(kind, size)
    measured = matrix(strategy).astype(object)
    assert strategy.most == max(abs(measured).sum(axis=0))
    squared = max((measured**2).sum(axis=0))
    assert strategy.spread_squared == squared


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", KINDS)
def test_answers_are_whole_and_linear(kind: Any, size: int) -> None:
    strategy, generator = Strategy(kind, size), np.random.default_rng(size)
    counts = generator.integers(0, 1 << 32, size) // size
    answers = strategy.answers(counts)
    assert answers.dtype == np.int64
    assert answers.tolist() == (matrix(strategy).astype(object) @ counts.astype(object)).tolist()


def test_answers_of_the_most_rows_do_not_overflow() -> None:
    counts = np.zeros(MOST_RUNNING, dtype=np.int64)
    counts[0] = 1 << 32
    assert Strategy("roots", MOST_RUNNING).answers(counts)[0] == FINENESS << 32
    assert Strategy("roots", MOST_RUNNING).most < 1 << 31


def test_roots_are_those_of_the_matrix_of_ones() -> None:
    """C(2k, k) / 4^k, rounded to the grid; squared they give running totals but for the rounding."""
    column = matrix(Strategy("roots", 200))[:, 0]
    for k in range(200):
        assert abs(Fraction(int(column[k]), FINENESS) - Fraction(comb(2 * k, k), 4**k)) <= Fraction(1, 2 * FINENESS)
    squared = np.convolve(column / FINENESS, column / FINENESS)[:200]
    assert np.abs(squared - 1).max() < 1e-3


def test_blocks_of_the_tree() -> None:
    assert Strategy("tree", FLAT).blocks() == (1,)
    assert Strategy("tree", FLAT + 1).blocks() == (1, 16)
    assert Strategy("tree", 256).blocks() == (1, 16)
    assert Strategy("tree", 257).blocks() == (1, 16, 256)
    assert Strategy("tree", 40).answers(np.arange(40)).tolist()[40:] == [120, 376, 284]


@pytest.mark.parametrize("size", [1, 7, 32, 33, 128, 300])
@pytest.mark.parametrize("kind", KINDS)
def test_answers_without_noise_give_the_runningrunning_totals(kind: Any, size: int) -> None:
    strategy = Strategy(kind, size)
    counts = np.random.default_rng(size).integers(0, 1000, size)
    rebuilt = running_totals(strategy) @ strategy.answers(counts).astype(np.float64)
    assert np.abs(rebuilt - np.cumsum(counts)).max() < 1e-6


def errors(measured: np.ndarray[Any, Any], sensitivity: float) -> tuple[float, float]:
    """Root mean square and largest deviation of a running total, for noise of deviation 1 at sensitivity 1."""
    inverse = np.linalg.pinv(measured.astype(np.float64))
    deviations = np.sqrt((np.cumsum(inverse, axis=0) ** 2).sum(axis=1)) * sensitivity
    return float(np.sqrt((deviations**2).mean())), float(deviations.max())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "size", "middling", "largest"),
    [
        ("roots", 128, 2.45, 2.61),
        pytest.param("roots", 1024, 3.11, 3.27, marks=pytest.mark.exhaustive),
        ("tree", 128, 5.02, 6.58),
        pytest.param("tree", 1024, 7.78, 9.76, marks=pytest.mark.exhaustive),
    ],
)
def test_error_of_runningrunning_totals(kind: Any, size: int, middling: float, largest: float) -> None:
    strategy = Strategy(kind, size)
    found = errors(matrix(strategy), sqrt(strategy.spread_squared) if kind == "roots" else strategy.most)
    assert found == pytest.approx((middling, largest), rel=0.003)
    rebuilt = np.sqrt((running_totals(strategy) ** 2).sum(axis=1)) * (
        sqrt(strategy.spread_squared) if kind == "roots" else strategy.most
    )
    assert rebuilt.max() == pytest.approx(found[1], rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("size", "blocks", "middling", "largest"),
    [
        (128, (1, 8, 128), 5.89, 7.09),
        pytest.param(1024, (1, 4, 64, 1024), 9.18, 11.1, marks=pytest.mark.exhaustive),
    ],
)
def test_a_tree_that_measures_its_root_too_is_worse(
    size: int, blocks: tuple[int, ...], middling: float, largest: float
) -> None:
    """The figures of the literature for a line split into 16 from its root; without the root there is a level less."""
    with_root = np.vstack([np.kron(np.eye(size // block), np.ones(block)) for block in blocks])
    assert errors(with_root, len(blocks)) == pytest.approx((middling, largest), rel=0.003)
    assert errors(matrix(Strategy("tree", size)), Strategy("tree", size).most) < (middling, largest)


@pytest.mark.parametrize("size", [0, -1, MOST_RUNNING + 1])
def test_sizes_that_are_refused(size: int) -> None:
    with pytest.raises(ValueError, match="cells"):
        Strategy("roots", size)


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        ("int((_roots(self.size) ** 2).sum())", "int(_roots(self.size)[0]) ** 2", "roots"),
        ("int(_roots(self.size).sum()) if", "FINENESS if", "roots"),
        (
            "else len(self.blocks())\n\n    @property\n    def spread_squared",
            "else 1\n\n    @property\n    def spread_squared",
            "tree",
        ),
    ],
)
def test_a_twin_that_forgets_part_of_a_column_is_caught(old: str, new: str, kind: Any) -> None:
    twin = mutant(running, old, new).Strategy(kind, 100)
    measured = matrix(twin).astype(object)
    assert twin.most < max(abs(measured).sum(axis=0)) or twin.spread_squared < max((measured**2).sum(axis=0))
