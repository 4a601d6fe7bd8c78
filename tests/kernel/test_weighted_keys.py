"""Keys found by weights: the bound on a tail, the threshold against the exact law, neighbours, the draw, the record."""

from decimal import Decimal, localcontext
from fractions import Fraction
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import pytest

from sfumato.kernel.mechanisms import keys, weighted_keys
from sfumato.kernel.mechanisms.keys import KeySelection
from sfumato.kernel.mechanisms.weighted_keys import beyond
from sfumato.plan.counting import WHOLE_WEIGHT, weights
from tests.entropy import SeededEntropy
from tests.kernel.laws import PRECISE, decimal, mutant
from tests.kernel.test_keys import tail

F = Fraction
SPENT = F(6225, 10**6)  # ρ of spend 0.5 with δ = 1e-6
# The deviation is 2^16/√(2ρ): from a hundredth of a whole weight to nine of them.
PRICES = [
    (F(5000), F(1, 10**6), 5),
    (F(1, 2), F(1, 10**3), 3),
    (F(1, 2), F(1, 10**8), 300),
    (F(1, 8), F(1, 10), 2),
    (SPENT, F(1, 10**8), 2),
    (SPENT, F(1, 10**8), 10),
]


@lru_cache(maxsize=2)
def tails(variance: Fraction) -> npt.NDArray[np.float64]:
    """P(noise >= k) for k from 0, every term added up; right to ten digits."""
    far = int(12 * float(variance) ** 0.5) + 10
    above = np.exp(np.arange(far, -1, -1, dtype=np.float64) ** 2 / (-2 * float(variance))).cumsum()
    return above[::-1] / (2 * above[-1] - 1)


def all_shown(selection: KeySelection, threshold: int, keys: int) -> float:
    """How often any of the keys is shown that a unit of so many alone holds."""
    weight = weights(selection.max_groups)[min(keys, len(weights(selection.max_groups))) - 1]
    law = tails(selection.law.variance)
    far = threshold - weight
    if far <= 0:
        return 1.0
    return -float(np.expm1(keys * np.log1p(-law[far]))) if far < len(law) else 0.0


# ---- a bound on the tail


@pytest.mark.parametrize("variance", [F(1, 5), F(1), F(4), F(171, 10), F(1000), F(10**5)])
def test_the_bound_is_never_below_the_tail_and_hardly_above(variance: Fraction) -> None:
    sigma = float(variance) ** 0.5
    for part in (1, 1.5, 2, 3, 4, 5.6, 8, 12):
        least = max(1, round(part * sigma) + 1)
        exact, bound = tail(variance, least), beyond(least, variance)
        assert bound >= exact
        if variance > 10:  # the curve bends within a step, by x²/24 of the variance; and the fraction ends
            assert bound <= exact * Decimal(1 + (((least - 0.5) / sigma) ** 2 + 2) / (20 * float(variance)) + 2e-6)


@pytest.mark.parametrize("level", [2, 10])
def test_a_fraction_that_ends_sooner_is_safe_and_one_of_odd_depth_is_not(level: int) -> None:
    variance, least = F(10**4), 150
    for levels, safe in ((level, True), (level - 1, False)):
        twin = mutant(weighted_keys, "LEVELS = 60", f"LEVELS = {levels}")
        assert (twin.beyond(least, variance) >= tail(variance, least)) == safe


def test_where_noise_is_not_rare_the_bound_says_nothing() -> None:
    assert beyond(-5, F(100)) == beyond(0, F(100)) == beyond(10, F(100)) == 1
    assert beyond(10, F(100), 7) == 7
    assert beyond(11, F(100)) < 1
    assert beyond(100, F(100), 7) == pytest.approx(7 * beyond(100, F(100)))


# ---- the threshold


@pytest.mark.parametrize(("rho", "delta", "max_groups"), PRICES)
def test_the_threshold_is_the_least_that_delta_allows(rho: Fraction, delta: Fraction, max_groups: int) -> None:
    selection = KeySelection(rho, delta, max_groups, weighted=True)
    assert selection.law.variance == F(WHOLE_WEIGHT**2) / (2 * rho)
    worst = max(all_shown(selection, selection.threshold, held) for held in range(1, max_groups + 1))
    assert worst <= float(delta) * (1 + 1e-9)
    less = selection.threshold - max(1, int(float(delta) * float(selection.law.variance) ** 0.5))
    assert max(all_shown(selection, less, held) for held in range(1, max_groups + 1)) > float(delta)


@pytest.mark.parametrize(
    ("part", "groups", "few", "many", "plain"),
    [
        (4, 2, 104, 147, 147),
        (4, 5, 106, 237, 238),
        (4, 10, 108, 341, 342),
        (1, 2, 53, 74, 75),
        (1, 5, 54, 119, 120),
        (1, 10, 55, 171, 172),
    ],
)
def test_how_many_people_show_a_key(part: int, groups: int, few: int, many: int, plain: int) -> None:
    """At spend 0.5, δ = 1e-6: of people who hold it alone, of those who hold as many as count, and without weights."""
    selection = KeySelection(SPENT / part, F(1, 10**8), groups, weighted=True)
    assert selection.units_for(F(1, 2)) == few
    assert selection.units_for(F(1, 2), groups) == selection.units_for(F(1, 2), groups + 1) == many
    assert KeySelection(SPENT / part, F(1, 10**8), groups).units_for(F(1, 2)) == plain
    if part == 4:
        return
    sure = selection.units_for(F(95, 100), groups)
    law, weight = tails(selection.law.variance), weights(groups)[-1]
    below = sure * weight - selection.threshold  # noise may take so much off
    assert 1 - law[below + 1] >= 0.95 > 1 - law[below + 1 - weight]


@pytest.mark.parametrize("rho", [F(1, 1000), SPENT, F(1, 10), F(1), F(10)])
@pytest.mark.parametrize("groups", [2, 5, 50])
def test_weights_never_need_more_people_than_a_whole_weight_more_of_each(rho: Fraction, groups: int) -> None:
    """Whatever they hold, if noise is larger than a person; else less than √G - 1 people and one for rounding."""
    plain = KeySelection(rho, F(1, 10**8), groups).threshold
    needed = KeySelection(rho, F(1, 10**8), groups, weighted=True).units_for(F(1, 2), groups)
    assert needed <= plain + (1 if rho < F(1, 20) else groups**0.5)


TWINS = {
    "for who holds one key": (
        "zip((max_groups, *range(len(each) - 1, 0, -1)), reversed(each), strict=True)",
        "[(1, each[0])]",
    ),
    "for who holds all that count": (
        "zip((max_groups, *range(len(each) - 1, 0, -1)), reversed(each), strict=True)",
        "[(max_groups, each[-1])]",
    ),
    "for each key by itself": ("variance, keys) <= delta", "variance) <= delta"),
    "half the variance": ("/ (4 * variance)", "/ (2 * variance)"),
    "as if the key had nobody": ("beyond(threshold - weight,", "beyond(threshold,"),
    "the last weight is of one key more": ("(max_groups, *range", "(len(each), *range"),
}
SEEN_BY: dict[str, tuple[Fraction, Fraction, int]] = {
    "for who holds all that count": (F(5000), F(1, 10**6), 5),  # little noise: who holds one key is seen first
    "the last weight is of one key more": (SPENT, F(1, 10**8), 300),
}


@pytest.mark.parametrize("name", TWINS)
def test_twins_of_the_threshold_are_caught(name: str) -> None:
    rho, delta, groups = SEEN_BY.get(name, (SPENT, F(1, 10**8), 10))
    selection = KeySelection(rho, delta, groups, weighted=True)
    twin = mutant(weighted_keys, *TWINS[name]).weighted_threshold(selection.law.variance, delta, groups)
    assert max(all_shown(selection, twin, held) for held in range(1, groups + 1)) > float(delta) * 1.001


# ---- all keys together, on neighbours

ORDERS = (2, 8, 40)
STEP = 64  # so many whole numbers are taken together, of a deviation of hundreds of thousands


def moved(selection: KeySelection, sums: list[int], weight: int) -> float:
    """The largest divergence of what is told of a key that others hold too, when a unit adds its weight to their sum.

    What is told: nothing, or the noisy sum. As a part of ρ.
    """
    sigma, worst = float(selection.law.variance) ** 0.5, 0.0
    for before in sums:
        ends = before - int(45 * sigma), before + weight + int(45 * sigma)
        values = np.arange(max(selection.threshold, ends[0]), ends[1], STEP)
        laws = [
            np.log(STEP / (sigma * (2 * np.pi) ** 0.5)) - (values - held) ** 2.0 / (2 * sigma**2)
            for held in (before, before + weight)
        ]
        for this, other in (laws, laws[::-1]):
            hidden = [max(0.0, 1 - float(np.exp(law).sum())) for law in (this, other)]
            for order in ORDERS:
                mass = float(np.exp(order * this + (1 - order) * other).sum())
                mass += hidden[0] ** order * hidden[1] ** (1 - order) if min(hidden) > 1e-9 else 0
                worst = max(worst, float(np.log(mass)) / (order - 1) / order)
    return worst / float(selection.rho)


@pytest.mark.parametrize("held", [1, 2, 3])
def test_given_that_no_key_of_its_own_is_shown_a_unit_moves_no_more_than_is_paid(held: int) -> None:
    """Noise is independent, so that the divergences of its keys add up."""
    selection = KeySelection(F(1, 50), F(1, 100), 3, weighted=True)
    sums = [WHOLE_WEIGHT, 5 * WHOLE_WEIGHT, selection.threshold, 100 * WHOLE_WEIGHT]
    found = held * moved(selection, sums, weights(3)[held - 1])
    assert found <= 1 + 1e-6
    assert found > 0.9  # somebody far above the threshold
    assert held == 1 or held * moved(selection, sums, WHOLE_WEIGHT) > 1.5, "whole weights for every key"


def test_counting_rows_instead_of_people_is_caught() -> None:
    selection = KeySelection(F(1, 2), F(1, 20), 2, weighted=True)
    twice = tails(selection.law.variance)[selection.threshold - 2 * WHOLE_WEIGHT]
    assert twice > 1 / 20


# ---- the draw


def test_draws_follow_the_law_and_less_noise_leaves_it() -> None:
    selection, draws = KeySelection(F(1, 2), F(1, 10**3), 3, weighted=True), 100_000
    twin = KeySelection(F(1, 2) * F(100, 81), F(1, 10**3), 3, weighted=True)
    law = tails(selection.law.variance)
    for units in (1, 2, 3, 5):
        score = units * WHOLE_WEIGHT
        far = selection.threshold - score
        chance = float(law[far] if far >= 0 else 1 - law[1 - far])
        deviation = (draws * chance * (1 - chance)) ** 0.5
        noisy, shown = selection.select(np.full(draws, score), SeededEntropy(f"weights {units}"))
        assert (shown == (noisy >= selection.threshold)).all()
        assert abs(int(shown.sum()) - draws * chance) < 6 * deviation
        if units == 2:
            missed = twin.law.draw(draws, SeededEntropy("twin")) + score >= selection.threshold
            assert abs(int(missed.sum()) - draws * chance) > 6 * deviation


def test_nobodys_key_is_never_shown() -> None:
    selection = KeySelection(F(1, 100), F(1, 2), 2, weighted=True)
    _, shown = selection.select(np.zeros(10_000, dtype=np.int64), SeededEntropy("nobody"))
    assert not shown.any()


# ---- price, record, limits


def test_price_and_record() -> None:
    selection = KeySelection(F(1, 2), F(1, 10**6), 5, weighted=True)
    assert selection.cost("rho") == F(1, 2)
    assert selection.event() == {
        "mechanism": "key_threshold",
        "rho": "1/2",
        "delta": "1/1000000",
        "max_groups": "5",
        "threshold": str(selection.threshold),
        "weight": "65536",
    }


@pytest.mark.parametrize("rho", [F(1, 2**33), F(1, 10**9), F(10**12)])
def test_all_prices_have_a_threshold_that_64_bits_hold(rho: Fraction) -> None:
    for groups in (2, 10**9):
        selection = KeySelection(rho, F(1, 10**30), groups, weighted=True)
        assert WHOLE_WEIGHT < selection.threshold < 2**40
        assert selection.units_for(F(95, 100), groups) > 0
        noisy, _ = selection.select(np.full(3, 1 << 61), SeededEntropy("large"))
        assert noisy.dtype == np.int64


def test_noise_that_would_hide_everybody_is_refused() -> None:
    with pytest.raises(ValueError, match="key selection"):
        KeySelection(F(1, 2**33) - F(1, 10**20), F(1, 10**6), 2, weighted=True)


def test_the_constants_are_rounded_to_the_safe_side() -> None:
    pi, root = Decimal("3.14159265358979323846264338327950288419716939937510"), weighted_keys.ROOT_OF_TWO_PI
    with localcontext(PRECISE):
        assert root**2 < 2 * pi < (root + Decimal(10) ** -29) ** 2
    assert weighted_keys.LEVELS % 2 == 0
    assert decimal(keys.LEAST_DELTA) / 10**9 > beyond(20 * 100, F(10**4))
