"""Laws of composition: order and grouping do not matter, more never costs less, and every bound keeps its place."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from sfumato.accounting import Event, compose, delta, epsilon
from sfumato.accounting.bounds import DESCRIPTIONS
from sfumato.errors import UsageError

TIGHT = 1 + 2e-4  # what grids may cost

sizes = some.integers(1, 300).map(lambda whole: Fraction(whole, 100))
pure = some.tuples(
    some.sampled_from(["laplace", "pure", "geometric", "randomised_response", "exponential", "permute_and_flip"]), sizes
)
gaussian = some.tuples(some.just("gaussian"), some.integers(50, 5000).map(lambda whole: Fraction(whole, 100)))
zcdp = some.tuples(some.just("zcdp"), some.integers(1, 200).map(lambda whole: Fraction(whole, 1000)))
approximate = some.tuples(some.just("approximate"), sizes, some.just(Fraction(1, 10**12)))
counted = some.integers(1, 30)
plans = some.dictionaries(some.one_of(pure, gaussian, approximate, zcdp), counted, min_size=1, max_size=4)
pure_plans = some.dictionaries(pure, counted, min_size=1, max_size=4)
deltas = some.sampled_from([1e-2, 1e-5, 1e-8])


@settings(max_examples=15)
@given(plans, deltas)
def test_order_and_grouping_do_not_matter(counts: dict[tuple[object, ...], int], chance: float) -> None:
    whole = compose(counts, chance)
    one_by_one = [given for given, count in reversed(counts.items()) for _ in range(count)]
    other = compose(one_by_one, chance)
    for name in DESCRIPTIONS:
        one, two = getattr(whole, name), getattr(other, name)
        assert one is two is None or two == pytest.approx(one, rel=1e-9), name


@settings(max_examples=15)
@given(plans, some.one_of(pure, gaussian, zcdp), deltas)
def test_one_mechanism_more_never_costs_less(
    counts: dict[tuple[object, ...], int], extra: tuple[object, ...], chance: float
) -> None:
    before = compose(counts, chance)
    after = compose({**counts, extra: counts.get(extra, 0) + 1}, chance)
    for name in DESCRIPTIONS:
        low, high = getattr(before, name), getattr(after, name)
        if low is not None and high is not None:
            assert low <= high * TIGHT, name


@settings(max_examples=15)
@given(plans)
def test_a_smaller_delta_never_costs_less(counts: dict[tuple[object, ...], int]) -> None:
    strict, loose = compose(counts, 1e-7), compose(counts, 1e-3)
    for name in DESCRIPTIONS:
        low, high = getattr(loose, name), getattr(strict, name)
        if low is not None and high is not None:
            assert low <= high * TIGHT, name


@settings(max_examples=20)
@given(plans, deltas)
def test_converting_never_lowers_a_cost(counts: dict[tuple[object, ...], int], chance: float) -> None:
    """From losses to divergences of every order to their common slope, something is lost each time."""
    bounds = compose(counts, chance)
    assert bounds.pld <= bounds.rdp <= bounds.zcdp * (1 + 1e-6)
    assert bounds.best[1] == bounds.epsilon == min(value for _, value in bounds._values() if value is not None)
    if bounds.thesis is not None:
        assert bounds.thesis >= bounds.zcdp * (1 - 1e-6)


@settings(max_examples=20)
@given(pure_plans, deltas)
def test_the_tight_accountant_lies_between_simple_bounds(counts: dict[tuple[object, ...], int], chance: float) -> None:
    """Never above the optimum over all ε-DP mechanisms, which is never above the sum; never below its largest part."""
    bounds = compose(counts, chance)
    assert bounds.optimal is not None
    assert bounds.pld <= bounds.optimal * TIGHT + 1e-7
    assert bounds.optimal <= bounds.sequential
    if not any(name == "exponential" for name, _ in counts):
        # One part alone is post-processing of the whole, so the whole cannot cost less.
        largest = max(compose({given: 1}, chance).pld for given in counts)
        assert largest <= bounds.pld * TIGHT + 1e-7


@settings(max_examples=10)
@given(plans, some.sampled_from([0.01, 1e-5]))
def test_epsilon_and_delta_are_two_readings_of_one_curve(counts: dict[tuple[object, ...], int], chance: float) -> None:
    price = epsilon(counts, chance)
    assert delta(counts, Fraction(price) * Fraction(1001, 1000)) <= chance * (1 + 1e-3)
    if price > 1e-6:
        assert delta(counts, 0) >= chance * (1 - 1e-6)


def test_a_pure_list_at_its_full_price_has_no_delta() -> None:
    assert delta([("laplace", 0.1)] * 30, 3) == 0
    assert delta([("laplace", 0.1)] * 30, 5) == 0
    assert delta([("approximate", 0.1, 1e-9)] * 30, 3) == pytest.approx(3e-8)
    assert 0 < delta([("laplace", 0.1)] * 30, 2.9999) < 1e-9


def test_the_table_of_a_mixed_list() -> None:
    bounds = compose([("laplace", 0.1)] * 100 + [("gaussian", 5)] * 20 + [("approximate", 0.1, 1e-8)])
    assert bounds.optimal is None
    assert bounds.thesis is None
    content = bounds.to_dict()
    assert list(content) == [
        *("sequential", "advanced", "thesis", "thesis_reason", "zcdp", "rdp", "pld", "optimal", "optimal_reason"),
    ]
    assert [row["bound"] for row in bounds.rows] == list(DESCRIPTIONS)
    assert bounds.pld == pytest.approx(6.0940, abs=1e-3)
    text = str(bounds)
    assert "100 × laplace(0.1)" in text
    assert "20 × gaussian(5)" in text
    assert "approximate(0.1, 1e-08)" in text


def test_the_json_of_a_plain_list_has_exactly_the_agreed_names() -> None:
    content = compose([("laplace", 0.1)] * 100).to_dict()
    assert list(content) == ["sequential", "advanced", "thesis", "zcdp", "rdp", "pld", "optimal"]
    assert all(isinstance(value, float) for value in content.values())


def test_sums_of_decimals_are_exact() -> None:
    assert compose([("laplace", 0.1)] * 3).sequential == 0.3
    assert compose([("laplace", Fraction(1, 3))] * 3).sequential == 1.0
    assert compose([("laplace", Fraction(1, 3))]).sequential > Fraction(1, 3)


def test_many_kinds_are_cut_short_when_shown() -> None:
    text = str(compose([("laplace", Fraction(place, 100)) for place in range(1, 15)]))
    assert "and 6 more" in text


def test_a_huge_epsilon_leaves_the_advanced_bound_empty() -> None:
    bounds = compose([("pure", 500)] * 2)
    assert bounds.advanced is None
    assert bounds.to_dict()["advanced_reason"]
    assert bounds.sequential == 1000.0
    assert bounds.epsilon <= 1000.0


@pytest.mark.parametrize("wrong", [0, 1, -0.1, 2, float("nan"), "1e-5", None, True])
def test_delta_lies_between_none_and_one(wrong: object) -> None:
    with pytest.raises(UsageError):
        compose([("laplace", 1)], wrong)  # type: ignore[arg-type]


def test_a_delta_that_the_mechanisms_use_up_is_refused() -> None:
    with pytest.raises(UsageError, match="leaves nothing"):
        compose([("approximate", 1, 1e-6)] * 10, 1e-5)


@pytest.mark.parametrize("wrong", [-1, "1", float("inf"), True])
def test_delta_needs_an_epsilon(wrong: object) -> None:
    with pytest.raises(UsageError):
        delta([("laplace", 1)], wrong)  # type: ignore[arg-type]


def test_a_bound_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        compose([("laplace", 1)]).pld = 0.0  # type: ignore[misc]


def test_exponential_choices_are_read_in_the_better_of_two_ways() -> None:
    few, many = compose([("exponential", 0.1)] * 3), compose([("exponential", 0.1)] * 300)
    assert few.pld < few.zcdp
    assert many.pld <= many.zcdp * (1 + 1e-9)
    assert compose([Event("exponential", Fraction(1, 10))] * 3).pld == few.pld
