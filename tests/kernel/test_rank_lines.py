"""Private quantiles: rows on a line of parts, words read, sizes that must not overflow, prices and refusals."""

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from sfumato.kernel.cost import root_below
from sfumato.kernel.mechanisms import rank_lines, ranks
from sfumato.kernel.mechanisms.protocol import MOST_COUNTED_ROWS, CellCounts
from sfumato.kernel.mechanisms.rank_lines import Line
from sfumato.kernel.mechanisms.ranks import FARTHEST, MOST_LEVELS, RankChoice
from tests.entropy import ScriptedEntropy, SeededEntropy
from tests.kernel.laws import mutant
from tests.kernel.test_ranks import ENDS, HALF, MEDIAN, THREE, TWO, cells, choice

F = Fraction


# ---- rows, parts, positions --------------------------------------------------------------------------------


@pytest.mark.parametrize(("parts", "together"), [(2, 1), (8, 1), (64, 1), (8, 3), (64, 8)])
def test_a_row_more_is_one_part_more_and_moves_no_other(parts: int, together: int) -> None:
    before = np.zeros(3 * parts, dtype=np.int64)
    for count in range(1, 3 * parts * together):
        filled, rows = rank_lines._fine(CellCounts(np.array([1]), np.array([count])), parts, together)
        assert rows.min() >= 1
        after = np.zeros(3 * parts, dtype=np.int64)
        after[filled] = rows
        change = after - before
        assert change.sum() == 1
        assert change.min() == 0
        assert (np.diff(filled) > 0).all()
        middle = after[parts : parts + parts // 2].sum()
        assert abs(2 * middle - count) <= 2 * together
        before = after


def test_a_twin_that_spreads_rows_anew_is_caught() -> None:
    """Rows put side by side from the left: a further one is no trouble; rows moved to make room are."""
    twin = mutant(rank_lines, "order[number]", "number * parts // np.repeat(counts, counts)")
    moved = False
    for count in range(1, 7):
        dense = []
        for more in (count, count + 1):
            filled, rows = twin._fine(CellCounts(np.array([0]), np.array([more])), 8)
            full = np.zeros(8, dtype=np.int64)
            np.add.at(full, filled, rows)
            dense.append(full)
        moved = moved or bool((dense[1] < dense[0]).any())
    assert moved


def test_runs_are_the_positions_of_a_line() -> None:
    given = cells((0, 3, 0, 200, 1))
    line = Line.of(given, 5, 64)
    filled, rows = rank_lines._fine(given, 64)
    dense = np.zeros(5 * 64, dtype=np.int64)
    dense[filled] = rows
    expected = np.concatenate([[0], np.cumsum(dense)])
    assert np.repeat(line.ranks, line.alike).tolist() == expected.tolist()
    assert (np.cumsum(line.alike) - line.alike).tolist() == line.starts.tolist()
    for start, end in ((0, 320), (3, 3), (70, 71), (64, 300), (100, 320)):
        piece = line.between(start, end)
        assert np.repeat(piece.ranks, piece.alike).tolist() == expected[start : end + 1].tolist()
        assert piece.starts[0] == start
        assert (np.diff(piece.starts) == piece.alike[:-1]).all()


def test_equal_values_are_cut_where_the_levels_lie() -> None:
    """Nine tenths of the rows are one value: the quartiles are all there, and a level beyond is beyond."""
    levels = (F(1, 4), HALF, F(3, 4), F(95, 100))
    counts = np.ones(1 << 17, dtype=np.int64)
    counts[0] = 9 * counts.size
    mechanism = RankChoice.for_share(F(1), "epsilon", 1, 1, levels, 1 << 18)
    places = np.arange(counts.size, dtype=np.int64)
    drawn = mechanism.choose(CellCounts(places, counts), SeededEntropy("ties"))
    values = [position / mechanism.parts for position in drawn[:4]]
    assert all(0 <= value <= 1 for value in values[:3])
    assert abs(values[3] - counts.size / 2) < counts.size / 4


@pytest.mark.parametrize("currency", ["epsilon", "rho"])
@pytest.mark.parametrize("levels", [(HALF,), (F(1, 5),), (F(0),), (F(0), F(1)), (F(0), HALF, F(1))])
def test_a_value_that_many_have_is_found_among_empty_cells(levels: tuple[Fraction, ...], currency: Any) -> None:
    """Nine tenths of the rows are one value with a quarter of a million empty places around: it is every quantile up to
    nine tenths, and the smallest; the largest is among the few above."""
    mechanism = RankChoice.for_share(F(2), currency, 1, 1, levels, 1 << 18)
    given = CellCounts(np.array([1000, *range(200_000, 201_000)]), np.array([9000, *[1] * 1000]))
    entropy = SeededEntropy(f"{levels} {currency}")
    for _ in range(5):
        drawn = mechanism.choose(given, entropy)[: len(levels)]
        for level, position in zip(levels, drawn, strict=True):
            cell = position / mechanism.parts
            assert 1000 <= cell <= 1001 if level < 1 else 200_000 <= cell <= 201_001, (level, cell)


@pytest.mark.parametrize(
    "given",
    [
        CellCounts(np.array([0], dtype=np.int32), np.array([1])),
        CellCounts(np.array([0]), np.array([1.0])),  # type: ignore[arg-type]
        CellCounts(np.array([0, 1]), np.array([1])),
        CellCounts(np.array([-1]), np.array([1])),
        CellCounts(np.array([3]), np.array([1])),
        CellCounts(np.array([1, 0]), np.array([1, 1])),
        CellCounts(np.array([1, 1]), np.array([1, 1])),
        CellCounts(np.array([0]), np.array([0])),
        CellCounts(np.array([0]), np.array([MOST_COUNTED_ROWS + 1])),
        CellCounts(np.array([0, 1]), np.array([MOST_COUNTED_ROWS, 1])),
        CellCounts(np.array([0, 1, 2]), np.array([1 << 62, 1 << 62, 1 << 63 - 1])),
    ],
)
def test_cells_that_do_not_fit(given: CellCounts) -> None:
    assert not given.fit(3)


def test_cells_that_fit() -> None:
    assert cells(()).fit(3)
    assert cells((0, 4, 1)).fit(3)
    assert cells((0, 4, 1)).dense(3).tolist() == [0, 4, 1]
    assert CellCounts(np.array([0]), np.array([MOST_COUNTED_ROWS])).fit(1)


# ---- words, sizes, prices ----------------------------------------------------------------------------------


def test_two_words_a_choice_whatever_the_rows_are() -> None:
    for counts in ((), (1,), (0, 5, 0, 1000, 3), tuple(range(40))):
        entropy = SeededEntropy("words")
        mechanism = RankChoice.for_share(F(1), "rho", 1, 1, THREE, 40)
        mechanism._positions(cells((*counts, *([0] * (40 - len(counts))))), entropy)
        assert (entropy.words_read, entropy.extensions) == (2 * 3, 0)


def test_a_place_in_a_run_is_uniform_also_where_words_do_not_divide() -> None:
    """A word that would favour a place is thrown away: 2^64 mod 3 = 1, so word 0 is."""
    last = (1 << 64) - 1
    for words, expected in (([0, 5], 0), ([1], 0), ([last // 3], 0), ([last // 3 + 1], 1), ([last], 2)):
        entropy = ScriptedEntropy(words)
        assert ranks._below(3, entropy) == expected
        assert entropy.unread == 0
    assert ranks._below(1, ScriptedEntropy([last])) == 0


@pytest.mark.parametrize("epsilon", [F(1, 10**k) for k in (3, 6, 9, 11, 12, 15, 30)])
def test_however_small_epsilon_is_no_score_overflows(epsilon: Fraction) -> None:
    levels = (F(0), F(1, 10000), F(4999, 10000), F(9999, 10000), F(1))
    mechanism = RankChoice.for_share(epsilon, "epsilon", 7, 49, levels, 2)
    assert max(abs(rows) for place in range(5) for rows in mechanism.widths.rows_of(place)) <= FARTHEST
    full = CellCounts(np.array([0, 1]), np.array([MOST_COUNTED_ROWS // 2, MOST_COUNTED_ROWS // 2]))
    with np.errstate(over="raise", invalid="raise"):
        for given in (full, cells((0, 0)), cells((1, 0))):
            drawn = mechanism.choose(given, SeededEntropy("small"))
            assert all(0 <= position < mechanism.positions for position in drawn[:5])
    worst = 10_000 * (FARTHEST + MOST_COUNTED_ROWS)
    assert worst < 1 << 63


def test_a_share_is_divided_and_never_exceeded() -> None:
    for levels in (MEDIAN, TWO, THREE, ENDS):
        pure = RankChoice.for_share(F(1, 3), "epsilon", 2, 3, levels, 10)
        assert pure.cost("epsilon") == F(1, 3)
        rho = RankChoice.for_share(F(1, 3), "rho", 2, 3, levels, 10)
        assert F(1, 3) - F(1, 10**9) < rho.cost("rho") <= F(1, 3)
    one = RankChoice(MEDIAN, 2, 1, 1, (F(1),), HALF)
    assert one.cost("epsilon") == 1 + HALF
    assert one.cost("rho") == F(1) / 8 + F(1, 4) / 2
    assert replace(one, gaussian=True).cost("rho") == F(1) / 8 + HALF
    assert replace(one, gaussian=True).event()["counts_rho"] == "1/2"
    assert one.event() == {
        "mechanism": "rank_choice",
        "levels": "1/2",
        "rows": "1",
        "estimates": "1",
        "counts": "1/2",
    }
    shared = RankChoice.for_share(F(1), "rho", 3, 5, MEDIAN, 10)
    assert {part: shared.event()[part] for part in ("rows", "rows_squared")} == {"rows": "3", "rows_squared": "5"}
    assert shared.event()["estimates"] == str(3 * shared.estimates[0])
    assert shared.estimates[0] == root_below(8 * F(9, 10) / 5)


@pytest.mark.parametrize("value", [F(2), F(1, 3), F(4), F(1, 10**30), F(0)])
def test_a_root_is_never_above(value: Fraction) -> None:
    root = root_below(value)
    assert root**2 <= value < (root + F(1, 1 << 64)) ** 2


@pytest.mark.parametrize(
    "levels",
    [
        (),
        (HALF, HALF),
        (HALF, F(1, 4)),
        (F(-1, 10),),
        (F(11, 10),),
        (F(1, 3),),
        tuple(F(i, 1000) for i in range(MOST_LEVELS + 1)),
    ],
)
def test_levels_that_are_refused(levels: tuple[Fraction, ...]) -> None:
    depths = len(levels).bit_length()
    with pytest.raises(ValueError, match="levels"):
        RankChoice(levels, 3, 1, 1, (F(1),) * depths, F(1))


@pytest.mark.parametrize(
    ("estimates", "bars"), [((), F(1)), ((F(1), F(1)), F(1)), ((F(0),), F(1)), ((F(1),), F(-1)), ((F(1),), F(0))]
)
def test_prices_that_are_refused(estimates: Any, bars: Any) -> None:
    with pytest.raises(ValueError, match="epsilon"):
        RankChoice(MEDIAN, 3, 1, 1, estimates, bars)


def test_levels_are_chosen_from_the_middle() -> None:
    levels = tuple(F(i, 10) for i in range(1, 10))
    nodes = choice(levels, 3).nodes()
    assert [node.depth for node in nodes] == [3, 2, 1, 2, 0, 3, 2, 1, 2]
    for place, node in enumerate(nodes):
        assert node.below == (levels[node.left] if node.left is not None else 0)
        assert node.above == (levels[node.right] if node.right is not None else 1)
        assert node.below < levels[place] < node.above
        assert node.slope == max(node.inside, 1 - node.inside)
    for depth in range(4):
        spans = sorted((node.below, node.above) for node in nodes if node.depth == depth)
        assert all(one[1] <= two[0] for one, two in pairwise(spans))
