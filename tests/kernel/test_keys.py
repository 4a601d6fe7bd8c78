"""Which unknown keys may be shown: the table exactly, the neighbour inequalities exactly, the joint law, the draw."""

import json
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import pairwise, product
from math import prod

import numpy as np
import pytest

from sfumato.kernel.mechanisms import keys
from sfumato.kernel.mechanisms.keys import Chances, KeySelection, chance_below, growth_below
from tests.entropy import ScriptedEntropy, SeededEntropy
from tests.kernel.laws import PRECISE, bounds_of_exp_minus, chi_square, decimal, exp_minus, laplace_tail, mutant

F = Fraction
LAST = (1 << 64) - 1
PRICES = [
    (F(1), F(1, 10**5), 1),
    (F(1, 2), F(1, 10**6), 1),
    (F(1, 10), F(1, 10**6), 1),
    (F(5), F(1, 1000), 1),
    (F(1), F(1, 10**5), 3),
    (F(2), F(1, 50), 2),
    (F(3), F(9, 10), 4),
    (F(40), F(1, 10**30), 2),
    (F(10**100), F(1, 10**9), 1),
    (F(1, 10**60), F(1, 20), 1),
]


def table_of(module: object, epsilon: Fraction, delta: Fraction, max_groups: int) -> Chances:
    return module._chances(epsilon, delta, max_groups)


def growth_above(epsilon: Fraction) -> Fraction:
    """A rational just above e^ε, by the integer series; e^1024 for what is larger than that."""
    work = 4000
    low, _ = bounds_of_exp_minus(min(epsilon, F(1024)), work)
    return F(2**work, low)


def growth_under(epsilon: Fraction) -> Fraction:
    work = 4000
    _, high = bounds_of_exp_minus(min(epsilon, F(1024)), work)
    return max(F(1), F(2**work, high))


def worst_excess(table: Chances, epsilon: Fraction, delta: Fraction) -> Fraction:
    """By how much the worst of the four neighbour inequalities misses; e^ε enters from below. At most 0 if all hold."""
    growth, excess = growth_under(epsilon), F(-1)
    chances = [table.probability(n) for n in range(table.certain + 2)]
    for before, after in pairwise(chances):
        excess = max(
            excess,
            after - growth * before - delta,
            before - growth * after - delta,
            (1 - before) - growth * (1 - after) - delta,
            (1 - after) - growth * (1 - before) - delta,
        )
    return excess


# ---- the table ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("epsilon", "delta", "half", "most"),
    [(F(1), F(1, 10**5), 12, 14), (F(1, 2), F(1, 10**6), 26, 30), (F(1, 10), F(1, 10**6), 109, 132)],
)
def test_how_many_units_show_a_key(epsilon: Fraction, delta: Fraction, half: int, most: int) -> None:
    law = KeySelection(epsilon, delta)
    for units, share in ((half, F(1, 2)), (most, F(95, 100))):
        assert law.units_for(share) == units
        assert law.probability(units - 1) < share <= law.probability(units)
    assert law.units_for(F(0)) == 0
    assert law.probability(law.units_for(F(1))) == 1


def closed_form(epsilon: Fraction, delta: Fraction, units: int) -> Decimal:
    """Desfontaines et al. 2022: δ (e^(nε) - 1)/(e^ε - 1) up to n₁, then mirrored, then 1."""
    with localcontext(PRECISE):
        e, d = decimal(epsilon), decimal(delta)
        tanh = (1 - exp_minus(epsilon)) / (1 + exp_minus(epsilon))
        turn = 1 + int((1 + tanh * (1 / d - 1)).ln() / e)

        def rising(n: int) -> Decimal:
            return ((n * e).exp() - 1) / (e.exp() - 1) * d

        if units <= turn:
            return rising(units)
        p = rising(turn)
        return min(Decimal(1), p - (1 - p + d / (e.exp() - 1)) * ((-(units - turn) * e).exp() - 1))


@pytest.mark.parametrize(("epsilon", "delta"), [(e, d) for e, d, groups in PRICES[:4] if groups == 1])
def test_the_table_is_the_closed_form_from_below(epsilon: Fraction, delta: Fraction) -> None:
    law = KeySelection(epsilon, delta)
    with localcontext(PRECISE):
        for units in range(law.units_for(F(1)) + 3):
            below = closed_form(epsilon, delta, units) - decimal(law.probability(units))
            assert -(Decimal(10) ** -45) < below < Decimal(10) ** -30


@pytest.mark.parametrize(("epsilon", "delta", "max_groups"), PRICES)
def test_all_four_neighbour_inequalities_hold_exactly(epsilon: Fraction, delta: Fraction, max_groups: int) -> None:
    table = table_of(keys, epsilon, delta, max_groups)
    chance = F(chance_below(delta, max_groups, table.bits), 2**table.bits)
    assert worst_excess(table, epsilon / max_groups, chance) <= 0
    assert table.numerators[0] == 0
    assert list(table.numerators) == sorted(table.numerators)
    assert table.probability(10**30) == 1


@pytest.mark.parametrize(("epsilon", "delta", "max_groups"), PRICES)
def test_no_probability_could_be_larger(epsilon: Fraction, delta: Fraction, max_groups: int) -> None:
    """Each step misses the largest one that the inequalities allow by less than 2^-100 of δ."""
    table = table_of(keys, epsilon, delta, max_groups)
    chance = F(chance_below(delta, max_groups, table.bits), 2**table.bits)
    growth = growth_above(epsilon / max_groups)
    for units in range(1, table.certain + 1):
        before, after = table.probability(units - 1), table.probability(units)
        largest = min(growth * before + chance, 1 - (1 - before - chance) / growth, F(1))
        assert largest - after < delta / 2**100 or after == 1


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("min((shown * growth >> bits) + chance, one + (-hidden << bits) // growth, one)",
         "min((shown * growth >> bits) + chance, one)"),  # hiding is protected too
        ("(shown * growth >> bits) + chance", "(shown * growth >> bits) + 2 * chance"),
        ("growth * (1 - Decimal(10) ** (5 - context.prec))", "growth * (1 + Decimal(10) ** -30)"),  # rounded up
        ("growth = growth_below(epsilon / max_groups, bits)", "growth = growth_below(epsilon * 10 / 9, bits)"),
        ("(shown * growth >> bits) + chance", "-(-(shown * growth) >> bits) + chance"),  # each step rounded up
        ("numerators = [0]", "numerators = [1 << (bits - 9)]"),  # keys that nobody holds
    ],
)  # fmt: skip
def test_twins_of_the_table_are_caught(old: str, new: str) -> None:
    table = table_of(mutant(keys, old, new), F(1), F(1, 10**5), 1)
    excess = worst_excess(table, F(1), F(chance_below(F(1, 10**5), 1, table.bits), 2**table.bits))
    assert excess > 0 or table.numerators[0] != 0


# ---- the pieces --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bits", [128, 300])
@pytest.mark.parametrize("epsilon", [F(1, 10**100), F(1, 7), F(1), F(30), F(1024), F(1025), F(10**100)])
def test_growth_is_just_below_the_exponential(epsilon: Fraction, bits: int) -> None:
    growth = F(growth_below(epsilon, bits), 2**bits)
    assert 1 <= growth <= growth_above(epsilon)
    assert growth_under(epsilon) - growth <= F(2, 2**bits)


@pytest.mark.parametrize("max_groups", [1, 2, 3, 7, 50])
@pytest.mark.parametrize("delta", [F(1, 10**6), F(1, 10**20), F(1, 3), 1 - F(1, 10**6)])
def test_the_chance_of_one_key_is_the_largest_that_all_keys_allow(delta: Fraction, max_groups: int) -> None:
    bits = 256
    chance = chance_below(delta, max_groups, bits)
    assert 1 - (1 - F(chance, 2**bits)) ** max_groups <= delta
    assert 1 - (1 - F(chance + 2, 2**bits)) ** max_groups > delta
    assert F(chance + 1, 2**bits) >= delta / max_groups  # never less than an even share


def test_many_groups() -> None:
    chance = F(chance_below(F(1, 10**6), 10**6, 200), 2**200)
    assert F(1, 10**12) <= chance + F(1, 2**199)
    assert chance < F(1, 10**12) * (1 + F(1, 10**6))


# ---- all keys together -------------------------------------------------------------------------------------


def joint_delta(law: KeySelection, counts: tuple[int, ...], touched: tuple[int, ...], *, removed: bool) -> Decimal:
    """Σ over all sets of keys of max(0, P - e^ε P'), the unit added to the touched keys or removed from them."""
    fewer = [law.probability(n) for n in counts]
    more = [law.probability(n + hit) for n, hit in zip(counts, touched, strict=True)]
    before, after = (more, fewer) if removed else (fewer, more)
    with localcontext(PRECISE):
        growth, total = decimal(law.epsilon).exp(), Decimal(0)
        for shown in product((True, False), repeat=len(counts)):
            p, q = (prod(c if s else 1 - c for c, s in zip(side, shown, strict=True)) for side in (before, after))
            total += max(Decimal(0), decimal(p) - growth * decimal(q))
        return total


def worst_delta(law: KeySelection, held: int, keys: int = 3, largest: int = 4) -> Decimal:
    return max(
        joint_delta(law, counts, touched, removed=removed)
        for counts in product(range(largest), repeat=keys)
        for touched in product((0, 1), repeat=keys)
        if sum(touched) <= held
        for removed in (False, True)
    )


@pytest.mark.parametrize("max_groups", [1, 2, 3])
def test_all_keys_together_keep_to_delta_and_reach_it(max_groups: int) -> None:
    law = KeySelection(F(1), F(1, 20), max_groups)
    worst = worst_delta(law, max_groups)
    assert Decimal("0.9999999") < worst * 20 <= 1


def test_a_twin_that_gives_delta_to_every_key_is_caught() -> None:
    """A unit with two keys, each shown as if it were the only one."""
    assert worst_delta(KeySelection(F(1), F(1, 20), 1), 2) > Decimal(1) / 20


def test_counting_rows_instead_of_units_is_caught() -> None:
    """Two rows of one unit move a count by two: π₂ alone exceeds δ."""
    law = KeySelection(F(1), F(1, 20))
    assert law.probability(2) > law.delta


def test_the_continuous_threshold_is_not_safe_for_whole_noise() -> None:
    """Rounded up it is 12 at (1, 1e-5); a key of one unit then shows with 1.22e-5. Thirteen would be right."""
    assert float(laplace_tail(F(1), 11)) == pytest.approx(1.22e-5, rel=0.01)
    assert float(laplace_tail(F(1), 12)) <= 1e-5
    assert KeySelection(F(1), F(1, 10**5)).probability(1) <= F(1, 10**5)


# ---- the draw ----------------------------------------------------------------------------------------------


def test_draws_follow_the_table() -> None:
    law, draws = KeySelection(F(1), F(1, 10**3)), 200_000
    twin = KeySelection(F(10, 9), F(1, 10**3))
    flagged = False
    for units in range(law.units_for(F(1)) + 2):
        shown = int(law.draw(np.full(draws, units), SeededEntropy(f"draw {units}")).sum())
        chance = float(law.probability(units))
        if chance in (0, 1):
            assert shown == chance * draws
            continue
        assert chi_square([shown, draws - shown], [chance, 1 - chance]) > 1e-6
        other = float(twin.probability(units))
        flagged = flagged or (other < 1 and chi_square([shown, draws - shown], [other, 1 - other]) < 1e-6)
    assert flagged


def test_every_bit_counts() -> None:
    law = KeySelection(F(1), F(1, 10**5))
    table = table_of(keys, F(1), F(1, 10**5), 1)
    rest = table.bits - 64
    for units in range(1, table.certain):
        head, tail = table.numerators[units] >> rest, table.numerators[units] & ((1 << rest) - 1)
        for words, choices, shown in [
            ([head - 1] if head else [], [], True),
            ([head + 1], [], False),
            ([head], [tail - 1] if tail else [], True),
            ([head], [tail], False),
            ([head], [(1 << rest) - 1], False),
        ]:
            if words and (choices or words != [head]):
                entropy = ScriptedEntropy(words, choices)
                assert law.draw(np.array([units]), entropy).tolist() == [shown]
                assert entropy.unread == 0


def test_a_twin_that_does_not_look_beyond_64_bits_is_caught() -> None:
    line = "entropy.below(1 << tail) < chances.numerators[places[index]] & ((1 << tail) - 1)"
    twin = mutant(keys, line, "True").KeySelection(F(1), F(1, 10**5))
    table = table_of(keys, F(1), F(1, 10**5), 1)
    rest = table.bits - 64
    head, largest = table.numerators[1] >> rest, (1 << rest) - 1
    assert twin.draw(np.array([1]), ScriptedEntropy([head])).all()
    assert not KeySelection(F(1), F(1, 10**5)).draw(np.array([1]), ScriptedEntropy([head], [largest])).any()


def test_nobodys_key_is_never_shown_and_a_sure_key_always() -> None:
    law = KeySelection(F(1), F(1, 10**5))
    sure = law.units_for(F(1))
    units = np.array([0, 0, -3, -(2**62), sure, sure, sure + 1, 2**62])
    entropy = ScriptedEntropy([0, LAST, 0, 0, 0, LAST, LAST, LAST], [0, 0, 0])
    assert law.draw(units, entropy).tolist() == [False] * 4 + [True] * 4
    assert entropy.unread == 0


def test_one_word_a_key_whatever_the_counts_are() -> None:
    law = KeySelection(F(1, 2), F(1, 10**6), 4)
    for units in (np.zeros(500, dtype=np.int64), np.full(500, 10**6), np.arange(500)):
        entropy = SeededEntropy("words")
        law.draw(units, entropy)
        assert (entropy.words_read, entropy.extensions) == (500, 0)


def test_no_keys() -> None:
    assert len(KeySelection(F(1), F(1, 10)).draw(np.array([], dtype=np.int64), SeededEntropy("none"))) == 0


# ---- price, record, limits ---------------------------------------------------------------------------------


def test_record() -> None:
    event = KeySelection(F(1, 2), F(1, 10**6), 5).event()
    assert event == {"mechanism": "key_selection", "epsilon": "1/2", "delta": "1/1000000", "max_groups": "5"}
    assert json.loads(json.dumps(event)) == event


@pytest.mark.parametrize(
    ("epsilon", "delta", "max_groups"),
    [(F(0), F(1, 2), 1), (F(-1), F(1, 2), 1), (F(1), F(0), 1), (F(1), F(1), 1), (F(1), F(-1), 1), (F(1), F(1, 2), 0)],
)
def test_what_is_refused(epsilon: Fraction, delta: Fraction, max_groups: int) -> None:
    with pytest.raises(ValueError, match="key selection"):
        KeySelection(epsilon, delta, max_groups)


def test_a_table_beyond_a_million_units_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keys, "MOST_UNITS", 50)
    with pytest.raises(ValueError, match="a million units"):
        KeySelection(F(1, 100), F(1, 10**9)).probability(1)


def test_a_table_is_built_once_and_cannot_be_changed() -> None:
    first = table_of(keys, F(1), F(1, 77), 1)
    assert table_of(keys, F(1), F(1, 77), 1) is first
    with pytest.raises(ValueError, match="read-only"):
        first.heads[1] = 0
