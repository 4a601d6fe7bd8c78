"""Every formula and number of lab 4, found again in another way."""

import itertools
import math

import numpy as np
import pytest

from sfumato.labs.source import load
from tests.labs.content import numbers_of

NUMBERS = numbers_of(4)
CHECKS = load(4).module("checks")


def tables(values: str, most: int) -> list[list[str]]:
    return [list(one) for size in range(1, most + 1) for one in itertools.product(values, repeat=size)]


def worst_ratio(laws) -> float:
    """The largest logarithm of a ratio between the laws of neighbours, one person added or removed."""
    worst = 0.0
    for table in tables("abc", 4):
        for place in range(len(table)):
            one, other = laws(table), laws(table[:place] + table[place + 1 :])
            worst = max(worst, float(np.abs(np.log(one / other)).max()))
    return worst


@pytest.mark.parametrize(("utility", "du"), [("count", 1), ("ratio", 1), ("hundredth", 0.01)])
def test_the_mechanism_is_private_with_the_sensitivities_of_task_2(utility: str, du: float) -> None:
    def law(table: list[str]):
        return NUMBERS.probabilities(CHECKS.scores_of(table, "abc", utility), du, 1.0)

    assert worst_ratio(law) <= 1 + 1e-12


def test_a_monotone_utility_needs_no_two_unless_people_are_replaced() -> None:
    def law(held: list[int]):  # the weights exp(u), which is the price 1 without the two
        return NUMBERS.probabilities(held, 1, 2.0)

    counted = worst_ratio(lambda table: law(CHECKS.scores_of(table, "abc", "count")))
    assert counted <= 1 + 1e-12
    replaced = float(np.log(law([1, 12]) / law([0, 13])).max())
    assert replaced > 1.9


def test_the_ratio_is_not_monotone() -> None:
    before, after = (CHECKS.scores_of(table, "abc", "ratio") for table in (["a", "b"], ["a", "b", "a"]))
    assert after[1] < before[1]
    before, after = (CHECKS.scores_of(table, "abc", "ratio") for table in (["a"], ["a", "b"]))
    assert after[1] > before[1]


def test_a_hundredth_with_sensitivity_one_has_a_hundredth_of_the_price() -> None:
    law = worst_ratio(lambda table: NUMBERS.probabilities(CHECKS.scores_of(table, "abc", "hundredth"), 1, 1.0))
    assert law <= 0.01


def test_the_accuracy_bound_holds_for_every_table() -> None:
    for held in itertools.product(range(0, 30, 5), repeat=4):
        for eps, t in ((0.3, 0.5), (1.0, 1.0), (2.0, 3.0)):
            chances = NUMBERS.probabilities(held, 1, eps)
            lost = max(held) - np.array(held)
            assert chances[lost >= 2 / eps * (math.log(4) + t)].sum() <= math.exp(-t)


@pytest.mark.parametrize("q", [0.1, 0.5, 0.75])
def test_the_sensitivity_of_the_quantile_score_by_search(q: float) -> None:
    grid, worst = [0, 1, 2, 3], 0.0
    for size in range(1, 5):
        for values in itertools.combinations_with_replacement(range(4), size):
            for place in range(size):
                fewer = values[:place] + values[place + 1 :]
                one, other = CHECKS.quantile_scores(values, q, grid), CHECKS.quantile_scores(fewer, q, grid)
                worst = max(worst, max(abs(a - b) for a, b in zip(one, other, strict=True)))
    assert worst == pytest.approx(max(q, 1 - q))


@pytest.mark.parametrize("row", range(1, 8))
def test_one_customer_changes_the_revenue_by_the_largest_price_at_most(row: int) -> None:
    prices = load(4).variant(row).prices
    changes = [price for price in prices for bid in range(max(prices) + 2) if bid >= price]
    assert max(changes) == max(prices)


@pytest.mark.parametrize("scores", [[6.0, 4.0, 3.0, 3.0, 0.0], [1.0, 1.0], [9.0, 0.0, 0.0]])
def test_permute_and_flip_by_all_orders(scores: list[float]) -> None:
    du, eps = 1.5, 1.2
    flips = [math.exp(eps * (score - max(scores)) / (2 * du)) for score in scores]
    law = np.zeros(len(scores))
    orders = list(itertools.permutations(range(len(scores))))
    for order in orders:
        left = 1.0 / len(orders)
        for place in order:
            law[place] += left * flips[place]
            left *= 1 - flips[place]
    assert NUMBERS.permute_and_flip_chances(scores, du, eps) == pytest.approx(law, rel=1e-12)
    lost = max(scores) - np.array(scores)
    assert law @ lost <= NUMBERS.probabilities(scores, du, eps) @ lost + 1e-12


def test_permute_and_flip_is_private() -> None:
    law = worst_ratio(lambda table: NUMBERS.permute_and_flip_chances(CHECKS.scores_of(table, "abc", "ratio"), 1, 1.0))
    assert law <= 1 + 1e-9


def test_which_epsilon_was_used_for_the_printed_runs() -> None:
    assert sum(NUMBERS.THESIS_RUNS.values()) == NUMBERS.RUNS
    fit, low, high = NUMBERS.thesis_fit()
    assert (fit, low, high) == pytest.approx((11.2, 10.3, 12.2), abs=0.06)
    chance, exponent = NUMBERS.thesis_chance()
    assert chance == pytest.approx(0.093, abs=0.001)
    assert round(300 * chance) == 28
    assert exponent == pytest.approx(-171, abs=0.5)


def test_the_table_of_the_town_gives_what_the_hand_out_says() -> None:
    for row in range(1, 8):
        variant = load(4).variant(row)
        printed = NUMBERS.numbers(variant)
        values = NUMBERS.tables(variant, "en")["main"].column(variant.column).to_pylist()
        assert len(values) == variant.rows == printed["rows"]
        assert set(values) <= set(NUMBERS.DOMAINS[variant.column])
        assert values.count(printed["best"]) == printed["best_count"] == max(map(values.count, set(values)))
        assert printed["gap"] >= 1  # no two values share the first place, or "the best" would mean nothing
        assert variant.column == ("Education" if row % 2 else "Marital Status")


def test_languages_share_the_data_that_answers_depend_on() -> None:
    variant = load(4).variant(3)
    english, russian = (NUMBERS.tables(variant, lang) for lang in ("en", "ru"))
    for column in ("Age", "Education", "Marital Status"):
        assert english["main"][column].equals(russian["main"][column])
    assert english["bids"].equals(russian["bids"])


def test_a_rare_value_gives_its_only_holder_away() -> None:
    for row in (1, 4):
        printed = NUMBERS.numbers(load(4).variant(row))
        chance = printed["leak_percent"][0] / 100
        needed = printed["leak_runs_95"]
        assert 1 - (1 - chance) ** needed >= 0.95 > 1 - (1 - chance) ** (needed - 1)
