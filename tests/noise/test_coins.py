"""Coins with odds 1 to weight · exp(-gamma), and uniform whole numbers: exact to the last bit that is asked for."""

import inspect
import types
from fractions import Fraction

import numpy as np
import pytest

from sfumato.noise import coins
from sfumato.noise.coins import Odds, uniform_below
from tests.entropy import ScriptedEntropy, SeededEntropy
from tests.kernel.laws import bounds_of_exp_minus, chi_square, mutant

F = Fraction
LAST = (1 << 64) - 1
CASES = [
    (F(1), F(1)),
    (F(1), F(1, 1000)),
    (F(7), F(3)),
    (F(999_999), F(1, 3)),
    (F(3, 7), F(40)),
    (F(2**63), F(1, 10**9)),
    (F(1, 2**40), F(5)),
    (F(1), F(100)),
]


def bracket(weight: Fraction, gamma: Fraction, bits: int) -> tuple[Fraction, Fraction]:
    """The probability times 2^bits between two rationals, by the integer series of the kernel's tests."""
    work = bits + 128
    low, high = bounds_of_exp_minus(gamma, work)
    return 2**bits / (1 + weight * F(high, 2**work)), 2**bits / (1 + weight * F(low, 2**work))


@pytest.mark.parametrize("bits", [64, 128, 192])
@pytest.mark.parametrize(("weight", "gamma"), CASES)
def test_the_bounds_hold_the_probability(weight: Fraction, gamma: Fraction, bits: int) -> None:
    low, high = Odds(weight, gamma).bounds(bits)
    below, above = bracket(weight, gamma, bits)
    assert low <= above
    assert below <= high
    assert 0 <= low < high <= low + 2


@pytest.mark.parametrize(("weight", "gamma"), CASES[:-1])
def test_words_next_to_the_probability_are_decided_as_the_probability_is(weight: Fraction, gamma: Fraction) -> None:
    """Far words decide at once; the word that holds the probability asks for more, and those bits decide."""
    target = int(bracket(weight, gamma, 192)[0])
    first, second, third = target >> 128, target >> 64 & LAST, target & LAST
    for word, choices, expected in [
        (max(first - 2, 0), [], True),
        (min(first + 2, LAST), [], False),
        (first, [second - 2], True),
        (first, [second + 2], False),
        (first, [second, third - 9], True),
        (first, [second, third + 9], False),
    ]:
        entropy = ScriptedEntropy([word], choices)
        if word != first or choices:
            assert Odds(weight, gamma).draw(1, entropy).tolist() == [expected]
            assert entropy.unread == 0


def test_a_twin_that_never_asks_for_more_bits_is_caught() -> None:
    twin = mutant(coins, "words <= np.uint64(high - 1)", "words < np.uint64(0)").Odds(F(1), F(1))
    first, second = int(bracket(F(1), F(1), 128)[0]) >> 64, int(bracket(F(1), F(1), 128)[0]) & LAST
    entropy = ScriptedEntropy([first], [second - 2])
    assert twin.draw(1, entropy).tolist() != [True]
    assert entropy.unread == 1


@pytest.mark.parametrize("gamma", [F(1, 2), F(10**100)])
def test_a_coin_without_weight_against_it_is_sure(gamma: Fraction) -> None:
    assert Odds(F(0), gamma).draw(3, ScriptedEntropy([0, 1 << 63, LAST])).all()


def test_a_coin_that_is_almost_sure() -> None:
    """exp(-10^100) is 0 at every precision the bits will ever reach."""
    coin = Odds(F(10**6), F(10**100))
    assert coin.draw(3, ScriptedEntropy([0, LAST, LAST], [LAST - 1, LAST - 1])).all()


@pytest.mark.parametrize(("weight", "gamma"), [(F(-1), F(1)), (F(1), F(0)), (F(1), F(-1)), (F(2**64), F(1))])
def test_what_is_no_coin(weight: Fraction, gamma: Fraction) -> None:
    with pytest.raises(ValueError, match="weight"):
        Odds(weight, gamma)


@pytest.mark.parametrize(("weight", "gamma"), CASES[:4])
def test_the_share_of_heads(weight: Fraction, gamma: Fraction) -> None:
    """|z| < 6 for the law, |z| > 6 for odds 10 % off."""
    draws = 400_000
    heads = int(Odds(weight, gamma).draw(draws, SeededEntropy("heads")).sum())

    def score(weight: Fraction) -> float:
        p = float(bracket(weight, gamma, 64)[0] / 2**64)
        return abs(heads - draws * p) / max((draws * p * (1 - p)) ** 0.5, 1)

    assert score(weight) < 6
    if weight < 1000:
        assert score(weight * F(9, 10)) > 6


@pytest.mark.parametrize("bound", [1, 2, 3, 1000, 10**6 + 3, 2**63, 2**63 - 1])
def test_uniform_words_beyond_the_last_multiple_are_drawn_again(bound: int) -> None:
    last = 2**64 // bound * bound - 1
    words = [0, bound - 1, bound % 2**64, last]
    beyond = [LAST] if last < LAST else []
    expected = [word % bound for word in words]
    entropy = ScriptedEntropy([*words, *beyond, *([5] if beyond else [])])
    drawn = uniform_below(bound, len(words) + len(beyond), entropy)
    assert drawn.tolist() == [*expected, *([5 % bound] if beyond else [])]
    assert (drawn.dtype, entropy.unread) == (np.int64, 0)


def test_a_twin_that_keeps_them_is_caught() -> None:
    """Scaled down: with words of 2 bits and bound 3, keeping the word 3 makes 0 twice as likely."""
    source = inspect.getsource(coins).replace("WORD = 64", "WORD = 2")
    assert "1 << WORD" in source
    for broken in (False, True):
        module = types.ModuleType("small")
        text = source.replace("words > np.uint64(last)", "words > np.uint64(99)") if broken else source
        exec(compile(text, "<small words>", "exec"), module.__dict__)  # noqa: S102
        counts = [0, 0, 0]
        for word in range(4):
            counts[int(module.uniform_below(3, 1, ScriptedEntropy([word, 0]))[0])] += 1
        # The word 3 is replaced by the next one, here 0.
        assert counts == [2, 1, 1]
        assert ScriptedEntropy([3, 1]).unread == 2
        again = module.uniform_below(3, 1, ScriptedEntropy([3, 1]))
        assert again.tolist() == ([0] if broken else [1])


def test_uniform_law() -> None:
    drawn = uniform_below(10, 200_000, SeededEntropy("ten"))
    assert chi_square(np.bincount(drawn, minlength=10), [0.1] * 10) > 1e-6


@pytest.mark.parametrize("bound", [0, -1, 2**63 + 1])
def test_bounds_that_are_refused(bound: int) -> None:
    with pytest.raises(ValueError, match="bound"):
        uniform_below(bound, 1, SeededEntropy("none"))
