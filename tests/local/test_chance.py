"""Coins, packed coins and small uniform numbers: exact where they are decided, and their law in many draws."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import stats

from sfumato.local import chance
from sfumato.local.chance import ROUNDS, leading, odds, packed_coins, value_of
from sfumato.noise import coins as drawing
from sfumato.noise.coins import Ratio, below, coins, decided
from tests.entropy import ScriptedEntropy, SeededEntropy
from tests.kernel.laws import chi_square, mutant

F = Fraction
CHANCES = [odds(1, F(1)), odds(7, F(1, 10)), odds(F(30, 98), F(2)), Ratio(F(3, 4)), Ratio(F(1, 3)), Ratio(F(1, 2))]


def lanes(prefixes: list[int]) -> list[int]:
    """Words that show lane i the bits of prefixes[i], the highest first."""
    return [
        sum((prefix >> (ROUNDS - 1 - place) & 1) << lane for lane, prefix in enumerate(prefixes))
        for place in range(ROUNDS)
    ]


@pytest.mark.parametrize("one", CHANCES, ids=repr)
def test_packed_coins_compare_each_lane_with_the_probability(one: Any) -> None:
    first, whole = leading(one), 1 << ROUNDS
    low, high = one.bounds(ROUNDS)
    assert low - 1 <= first <= low
    assert high <= first + 2
    near = [first - 2, first - 1, first + 1, first + 2, 0, whole - 1, first // 2, whole - 2]
    prefixes = [min(max(prefix, 0), whole - 1) for prefix in near] * 8
    prefixes = [prefix if prefix != first else prefix - 1 for prefix in prefixes]
    drawn = packed_coins(one, 1, ScriptedEntropy(words=lanes(prefixes)))
    assert [int(drawn[0]) >> lane & 1 for lane in range(64)] == [int(prefix < first) for prefix in prefixes]


def test_an_open_lane_draws_more_bits() -> None:
    one = odds(1, F(1))
    first = leading(one)
    low, high = one.bounds(ROUNDS + 64)
    prefixes = [first] + [0] * 63
    for extension, shows in ((0, 1), ((1 << 64) - 1, 0), ((low & ((1 << 64) - 1)) - 1, 1), (high & ((1 << 64) - 1), 0)):
        # Words with no open coin are read no further.
        entropy = ScriptedEntropy(words=lanes(prefixes), choices=[extension])
        assert int(packed_coins(one, 1, entropy)[0]) & 1 == shows
        assert entropy.unread == 0


@pytest.mark.parametrize("one", CHANCES, ids=repr)
def test_draws_follow_the_chance_and_not_one_nearby(one: Any) -> None:
    count = 400_000
    for draw in (
        lambda: int(coins(one, count, SeededEntropy("coins")).sum()),
        lambda: int(np.unpackbits(packed_coins(one, count // 64, SeededEntropy("packed")).view(np.uint8)).sum()),
    ):
        heads = draw()
        assert stats.binomtest(heads, count, value_of(one)).pvalue > 1e-6
        assert stats.binomtest(heads, count, value_of(one) * 0.95).pvalue < 1e-6


def test_certain_and_impossible_coins() -> None:
    for share, word in ((F(0), 0), (F(1), (1 << 64) - 1)):
        assert set(packed_coins(Ratio(share), 100, SeededEntropy("sure")).tolist()) == {word}
        assert coins(Ratio(share), 100, SeededEntropy("sure")).all() == bool(share)
    assert decided(Ratio(F(1, 2)), 1, 1, SeededEntropy("x")) is False
    for bad in (F(-1), F(2)):
        with pytest.raises(ValueError, match="between 0 and 1"):
            Ratio(bad)


def test_lanes_are_independent() -> None:
    bits = np.unpackbits(
        packed_coins(odds(1, F(1)), 40_000, SeededEntropy("lanes")).view(np.uint8).reshape(-1, 8), axis=1
    )
    correlation = np.corrcoef(bits.T)
    np.fill_diagonal(correlation, 0)
    assert np.abs(correlation).max() < 6 / 200


@pytest.mark.parametrize("bound", [1, 2, 3, 6, 1000, 1 << 16, 3 << 30, 1 << 32])
def test_small_uniform_numbers(bound: int) -> None:
    drawn = below(bound, 100_000, SeededEntropy("below"))
    assert drawn.min() >= 0
    assert drawn.max() < bound
    cells = min(bound, 12)
    shares = [len(range(cell * bound // cells, (cell + 1) * bound // cells)) / bound for cell in range(cells)]
    edges = [cell * bound // cells for cell in range(1, cells)]
    counts = np.bincount(np.searchsorted(edges, drawn, side="right"), minlength=cells)
    if cells > 1:
        assert chi_square(counts, shares) > 1e-6


def test_a_half_word_that_would_favour_a_result_is_drawn_again() -> None:
    """2^32 is one more than a multiple of 3: the half word 0 is one too many."""
    assert below(3, 1, ScriptedEntropy(words=[0, 1 << 31])).tolist() == [1]
    twin = mutant(drawing, "< threshold", "< 0 * threshold")
    assert twin.below(3, 1, ScriptedEntropy(words=[0])).tolist() == [0]
    for bad in (0, -1, (1 << 32) + 1):
        with pytest.raises(ValueError, match="2\\^32"):
            below(bad, 1, SeededEntropy("x"))


def test_forgetting_the_open_lanes_is_caught() -> None:
    """The twin calls an open coin 0 instead of drawing on."""
    twin = mutant(chance, "decided(chance, first, ROUNDS, entropy)", "False")
    entropy = ScriptedEntropy(words=lanes([leading(Ratio(F(1, 3)))] + [0] * 63), choices=[0])
    assert int(twin.packed_coins(Ratio(F(1, 3)), 1, entropy)[0]) & 1 == 0
    entropy = ScriptedEntropy(words=lanes([leading(Ratio(F(1, 3)))] + [0] * 63), choices=[0])
    assert int(packed_coins(Ratio(F(1, 3)), 1, entropy)[0]) & 1 == 1
