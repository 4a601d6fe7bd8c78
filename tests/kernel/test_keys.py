"""Which unknown keys may be shown: the threshold exactly, all small neighbours, the draw, what counts beside it."""

import json
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

from sfumato.answers import selecting
from sfumato.answers.selecting import given_shown
from sfumato.kernel.mechanisms import keys
from sfumato.kernel.mechanisms.additive import DiscreteGaussian
from sfumato.kernel.mechanisms.keys import KeySelection, chance_below
from tests.entropy import SeededEntropy
from tests.kernel.laws import PRECISE, chi_square, decimal, exp_minus, mutant

F = Fraction
PRICES = [
    (F(6225, 10**6), F(1, 10**8), 1),
    (F(6225, 4 * 10**6), F(1, 10**8), 1),
    (F(6225, 4 * 10**6), F(1, 10**8), 5),
    (F(1, 2), F(1, 10**3), 1),
    (F(1, 2), F(1, 10**3), 3),
    (F(5), F(1, 10**6), 2),
    (F(50), F(1, 10**30), 2),
    (F(1, 7), F(9, 10), 4),
    (F(10**6), F(1, 10**9), 1),
]


def weights(variance: Fraction, far: int) -> list[Decimal]:
    """exp(-k²/(2 variance)) for k from 0, each by itself."""
    with localcontext(PRECISE):
        return [exp_minus(F(k * k) / (2 * variance)) for k in range(far)]


def tail(variance: Fraction, least: int) -> Decimal:
    """P(noise >= least)."""
    far = max(abs(least), 0) + 40 + 30 * int(float(variance) ** 0.5)
    found = weights(variance, far)
    with localcontext(PRECISE):
        whole = 2 * sum(found[1:]) + found[0]
        above = sum(found[max(least, 0) :])
        if least < 0:
            above += sum(found[1 : 1 - least])
        return above / whole


# ---- the threshold


@pytest.mark.parametrize(("rho", "delta", "max_groups"), PRICES)
def test_the_threshold_is_the_least_that_delta_allows(rho: Fraction, delta: Fraction, max_groups: int) -> None:
    selection = KeySelection(rho, delta, max_groups)
    variance = selection.law.variance
    assert variance == F(max_groups) / (2 * rho)
    with localcontext(PRECISE):

        def all_shown(threshold: int) -> Decimal:
            return 1 - (1 - tail(variance, threshold - 1)) ** max_groups

        assert all_shown(selection.threshold) <= decimal(delta)
        assert selection.threshold == 2 or all_shown(selection.threshold - 1) > decimal(delta) * (
            1 - Decimal(10) ** -25
        )


@pytest.mark.parametrize(
    ("part", "groups", "half"), [(4, 1, 103), (4, 2, 147), (4, 5, 238), (1, 1, 52), (1, 2, 75), (1, 5, 120)]
)
def test_how_many_people_show_a_key(part: int, groups: int, half: int) -> None:
    """At spend 0.5, δ = 1e-6, of which a fiftieth of a half is for the question: a quarter for finding, or all."""
    selection = KeySelection(F(6225, 10**6) / part, F(1, 10**8), groups)
    assert selection.units_for(F(1, 2)) == selection.threshold == half
    variance = selection.law.variance
    assert tail(variance, 0) >= Decimal("0.5") > tail(variance, 1)
    sure = selection.units_for(F(95, 100))
    assert tail(variance, selection.threshold - sure) >= Decimal("0.95")
    assert tail(variance, selection.threshold - sure + 2) < Decimal("0.95")


TWINS = [
    ("-_decimal(1 / (2 * variance))", "-_decimal(1 / variance)"),  # half the variance
    ("return least + 1", "return least"),  # as if a key of one unit had none
    ("everything = (2 * sum(weights[1:]) + 1)", "everything = 2 * (2 * sum(weights[1:]) + 1)"),
    ("chance_below(delta, max_groups, bits)", "chance_below(delta, 1, bits)"),  # δ for every key
]


@pytest.mark.parametrize(("old", "new"), TWINS)
def test_twins_of_the_threshold_are_caught(old: str, new: str) -> None:
    twin = mutant(keys, old, new).KeySelection(F(1, 2), F(1, 10**3), 3)
    with localcontext(PRECISE):
        shown = 1 - (1 - tail(twin.law.variance, twin.threshold - 1)) ** 3
        assert shown > decimal(F(1, 10**3))


def test_the_continuous_threshold_is_not_safe_for_whole_noise() -> None:
    """With σ = 2 and the δ of three deviations it is 7; a key of one unit then shows with twice that."""
    selection = KeySelection(F(1, 8), F(135, 10**5))
    assert selection.law.variance == 4
    assert float(tail(F(4), 6)) > 2 * 135 / 10**5
    assert selection.threshold == 8


@pytest.mark.parametrize("max_groups", [1, 2, 3, 7, 50])
@pytest.mark.parametrize("delta", [F(1, 10**6), F(1, 10**20), F(1, 3), 1 - F(1, 10**6)])
def test_the_chance_of_one_key_is_the_largest_that_all_keys_allow(delta: Fraction, max_groups: int) -> None:
    bits = 256
    chance = chance_below(delta, max_groups, bits)
    assert 1 - (1 - F(chance, 2**bits)) ** max_groups <= delta
    assert 1 - (1 - F(chance + 2, 2**bits)) ** max_groups > delta
    assert F(chance + 1, 2**bits) >= delta / max_groups  # never less than an even share


# ---- all keys together, on all small neighbours

ORDERS = (2, 8, 40)


def of_one(selection: KeySelection, units: int, far: int) -> dict[int | None, Decimal]:
    """The law of what is told of one key."""
    found = weights(selection.law.variance, far)
    with localcontext(PRECISE):
        whole = 2 * sum(found[1:]) + found[0]
        shown: dict[int | None, Decimal] = {
            number: found[abs(number - units)] / whole for number in range(selection.threshold, units + far)
        }
        shown[None] = 1 - sum(shown.values())
        return shown


def divergences(one: dict[Any, Decimal], two: dict[Any, Decimal]) -> list[Decimal]:
    with localcontext(PRECISE):
        return [
            sum(one[x] * (one[x] / two[x]) ** (order - 1) for x in one if one[x] > 0 and x in two).ln()  # type: ignore[union-attr]
            / (order - 1)
            / order
            for order in ORDERS
        ]


@pytest.mark.parametrize("held", [1, 2, 3])
def test_given_that_no_key_of_its_own_is_shown_a_unit_moves_no_more_than_is_paid(held: int) -> None:
    """Keys that others hold too: both tables have them. Rényi divergences add up, as noise is independent."""
    selection = KeySelection(F(1, 4), F(1, 100), 3)
    worst = []
    for counts in product((1, 2, 5), repeat=held):
        together = [Decimal(0)] * len(ORDERS)
        for units in counts:
            one, two = of_one(selection, units, 60), of_one(selection, units + 1, 60)
            both = [max(a, b) for a, b in zip(divergences(one, two), divergences(two, one), strict=True)]
            together = [a + b for a, b in zip(together, both, strict=True)]
        worst.append(max(together))
    assert max(worst) <= decimal(selection.rho) * held / 3 + Decimal(10) ** -12


def test_counting_rows_instead_of_units_is_caught() -> None:
    """Two rows of one unit move a count by two: alone they pass the threshold more often than δ allows."""
    selection = KeySelection(F(1, 2), F(1, 20))
    assert float(tail(selection.law.variance, selection.threshold - 2)) > 1 / 20


# ---- the draw


def test_draws_follow_the_law() -> None:
    selection, draws = KeySelection(F(1, 2), F(1, 10**3)), 100_000
    for units in (1, 3, selection.threshold, selection.threshold + 3):
        noisy, shown = selection.select(np.full(draws, units), SeededEntropy(f"keys {units}"))
        assert (shown == (noisy >= selection.threshold)).all()
        law = of_one(selection, units, 60)
        near = [value for value in sorted(v for v in law if v is not None) if float(law[value]) * draws > 5]
        seen = [int((noisy[shown] == value).sum()) for value in near]
        chances = [float(law[value]) for value in near]
        rest = 1 - sum(chances)
        assert chi_square([*seen, draws - sum(seen)], [*chances, rest]) > 1e-6


def test_a_twin_with_less_noise_leaves_the_law() -> None:
    selection, draws = KeySelection(F(1, 2), F(1, 10**3)), 100_000
    twin = KeySelection(F(1, 2) * F(100, 81), F(1, 10**3))
    _, shown = twin.select(np.full(draws, 4), SeededEntropy("twin"))
    hidden = float(of_one(selection, 4, 60)[None])
    assert chi_square([int(shown.sum()), draws - int(shown.sum())], [1 - hidden, hidden]) < 1e-6


def test_nobodys_key_is_never_shown() -> None:
    selection = KeySelection(F(1, 100), F(1, 2))
    _, shown = selection.select(np.array([0, -3, -(2**40)] * 1000), SeededEntropy("nobody"))
    assert not shown.any()
    assert len(selection.select(np.array([], dtype=np.int64), SeededEntropy("none"))[0]) == 0


def test_as_many_words_whatever_the_counts_are() -> None:
    read = set()
    for units in (np.zeros(500, dtype=np.int64), np.full(500, 10**6), np.arange(500)):
        entropy = SeededEntropy("words")
        KeySelection(F(1, 2), F(1, 10**6), 4).select(units, entropy)
        read.add(entropy.words_read)
    assert len(read) == 1


# ---- bars of the counts that select


@pytest.mark.parametrize("confidence", [0.5, 0.8, 0.95])
@pytest.mark.parametrize("rho", [pytest.param(F(1, 25_000), marks=pytest.mark.slow), F(6225, 10**6), F(1, 2), F(20)])
def test_bars_of_counts_hold_given_that_the_key_is_shown(rho: Fraction, confidence: float) -> None:
    selection = KeySelection(rho, F(1, 10**8))
    sigma = float(selection.law.variance) ** 0.5
    far = int(14 * sigma) + 60
    for units in {1, *(max(1, round(selection.threshold + part * sigma)) for part in (-3, -2, -1, 0, 1, 2, 5, 9))}:
        law = of_one(selection, units, far)
        shown = 1 - law[None]
        held = Decimal(0)
        for value, chance in law.items():
            if value is not None and float(chance) > 1e-9 * float(shown):
                low, high = given_shown(value, selection, confidence)
                assert low <= high
                assert value <= high
                held += chance if low <= units <= high else 0
        assert float(held / shown) >= confidence - 1e-6, (units, float(held / shown))


@pytest.mark.parametrize("rho", [F(1, 2), F(1, 18_000), F(1, 100_000)])
def test_bars_know_the_law_at_every_deviation(rho: Fraction) -> None:
    """No continuous law in its place: at 95 deviations and at 224 it is the same, to nine digits."""
    law = KeySelection(rho, F(1, 10**8)).law
    for part in (-5, -1, 0, 1, 5.6, 9):
        least = round(part * float(law.variance) ** 0.5)
        assert selecting._tail(law, least) == pytest.approx(float(tail(law.variance, least)), rel=1e-9)


@pytest.mark.parametrize("rho", [F(800), F(10**5)])
def test_counts_that_select_with_hardly_any_noise_have_bars(rho: Fraction) -> None:
    selection = KeySelection(rho, F(1, 10**8))
    for noisy in (selection.threshold, selection.threshold + 1, 100):
        low, high = given_shown(noisy, selection, 0.95)
        assert low <= noisy <= high <= noisy + 1


def test_a_bar_that_forgets_the_selection_does_not_hold() -> None:
    selection = KeySelection(F(6225, 10**6), F(1, 10**8))
    units = round(selection.threshold - 2 * float(selection.law.variance) ** 0.5)
    law = of_one(selection, units, 200)
    held = sum(chance for value, chance in law.items() if value is not None and abs(value - units) <= 18)
    assert float(held / (1 - law[None])) < 0.5


# ---- price, record, limits


def test_price_and_record() -> None:
    selection = KeySelection(F(1, 2), F(1, 10**6), 5)
    assert selection.cost("rho") == F(1, 2)
    assert selection.law == DiscreteGaussian(F(5))
    event = selection.event()
    assert event == {
        "mechanism": "key_threshold",
        "rho": "1/2",
        "delta": "1/1000000",
        "max_groups": "5",
        "threshold": str(selection.threshold),
    }
    assert json.loads(json.dumps(event)) == event


@pytest.mark.parametrize(
    ("rho", "delta", "max_groups"),
    [
        *[
            (F(0), F(1, 2), 1),
            (F(-1), F(1, 2), 1),
            (F(1), F(0), 1),
            (F(1), F(1), 1),
            (F(1), F(-1), 1),
            (F(1), F(1, 2), 0),
        ],
        (F(1, 10**12), F(1, 2), 1),
        (F(1), F(1, 10**31), 1),
    ],
)
def test_what_is_refused(rho: Fraction, delta: Fraction, max_groups: int) -> None:
    with pytest.raises(ValueError, match="key selection"):
        KeySelection(rho, delta, max_groups)
