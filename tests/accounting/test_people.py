"""Groups and parts: the formulas, the worst cases by brute force, and what is refused."""

from fractions import Fraction
from itertools import product
from math import exp, expm1

import pytest

from sfumato.accounting import Event, delta, group, parallel
from sfumato.errors import Refused, UsageError

FIXED = {"neighbours": "add or remove", "fixed_in_advance": True}


@pytest.mark.parametrize(
    ("one", "several"),
    [
        (("pure", 0.1), Event("pure", Fraction(3, 10))),
        (("laplace", 0.1), Event("laplace", Fraction(3, 10))),
        (("exponential", 0.1), Event("exponential", Fraction(3, 10))),
        (("permute_and_flip", 0.1), Event("permute_and_flip", Fraction(3, 10))),
        (("randomised_response", 0.1), Event("pure", Fraction(3, 10))),
        (("geometric", 0.1, 2), Event("geometric", Fraction(3, 10), Fraction(6))),
        (("zcdp", 0.1), Event("zcdp", Fraction(9, 10))),
        (("gaussian", 6), Event("gaussian", Fraction(2))),
        (("discrete_gaussian", 6), Event("discrete_gaussian", Fraction(6), Fraction(3))),
    ],
)
def test_a_group_of_three(one: object, several: Event) -> None:
    assert group(one, 3) == several
    assert group(one, 1).amount == Event(several.mechanism, group(one, 1).amount, group(one, 1).detail).amount


@pytest.mark.parametrize("size", [1, 2, 5, 40])
def test_the_delta_of_a_group(size: int) -> None:
    found = group(("approximate", 0.5, 1e-12), size)
    assert found.amount == Fraction(size, 2)
    assert float(found.detail) == pytest.approx(1e-12 * expm1(0.5 * size) / expm1(0.5), rel=1e-12)
    assert found.detail >= Fraction(1, 10**12)


def test_the_delta_of_a_group_is_reached() -> None:
    """A chain of neighbours, each step the worst (ε, δ) pair allows: the group's δ is what the formula says."""
    epsilon, chance, size = 0.4, 1e-3, 4
    bound = chance
    for _ in range(size - 1):
        bound = exp(epsilon) * bound + chance
    assert float(group(("approximate", 0.4, 1e-3), size).detail) == pytest.approx(bound, rel=1e-12)


def test_a_group_sees_the_law_of_the_larger_change() -> None:
    """Noise for one person, three people moved: the loss distribution is that of three times the sensitivity."""
    assert delta([group(("gaussian", 3), 3)], 1) == pytest.approx(delta([("gaussian", 1)], 1))
    assert delta([group(("geometric", 0.2), 3)], 0.3) <= delta([("pure", 0.6)], 0.3)


@pytest.mark.parametrize("wrong", [0, -1, 1.5, True, "2"])
def test_a_group_has_a_whole_number_of_people(wrong: object) -> None:
    with pytest.raises(UsageError):
        group(("pure", 1), wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("size", [100, 10**6])
def test_a_group_for_which_nothing_is_promised_is_refused(size: int) -> None:
    with pytest.raises(UsageError, match="says nothing"):
        group(("approximate", 1, 1e-6), size)


def test_parts_that_share_nobody_cost_the_dearest() -> None:
    assert parallel([("laplace", 0.1), ("laplace", 0.3), ("pure", 0.2)], **FIXED) == Event("pure", Fraction(3, 10))
    assert parallel([("zcdp", 0.1), ("gaussian", 1)], **FIXED) == Event("zcdp", Fraction(1, 2))
    mixed = parallel([("approximate", 1, 1e-6), ("approximate", 0.5, 1e-5)], **FIXED)
    assert (mixed.amount, mixed.detail) == (1, Fraction(1, 10**5))


def test_a_person_in_several_parts_pays_for_the_dearest_of_them() -> None:
    prices = [("pure", Fraction(place, 10)) for place in range(1, 6)]
    assert parallel(prices, parts_per_unit=2, **FIXED).amount == Fraction(9, 10)
    assert parallel(prices, parts_per_unit=9, **FIXED).amount == Fraction(15, 10)


def test_replacing_somebody_changes_two_parts_or_one_part_twice() -> None:
    replaced = {"neighbours": "replace", "fixed_in_advance": True}
    assert parallel([("pure", 0.1), ("pure", 0.3)], **replaced).amount == Fraction(6, 10)
    assert parallel([("zcdp", 0.1), ("zcdp", 0.3)], **replaced).amount == Fraction(12, 10)
    found = parallel([("approximate", 0.5, 1e-6)], **replaced)
    assert (found.amount, float(found.detail)) == (1, pytest.approx(1e-6 * (1 + exp(0.5))))


def test_the_rules_by_brute_force() -> None:
    """Every table of up to three records in two parts, randomised response on each record's count parity.

    The loss between two tables is at most the sum of the ε of the parts in which they differ in a person: the claim
    is never exceeded, and reached, for both ideas of neighbours.
    """
    prices = (Fraction(1, 10), Fraction(3, 10))
    records = [(part, value) for part in (0, 1) for value in (0, 1)]
    tables = [table for length in range(4) for table in product(records, repeat=length)]

    def loss(first: tuple[tuple[int, int], ...], second: tuple[tuple[int, int], ...]) -> Fraction:
        """The exact log-ratio of whole-number Laplace noise on the number of ones and of zeros of each part."""
        total = Fraction(0)
        for part in (0, 1):
            for value in (0, 1):
                moved = abs(first.count((part, value)) - second.count((part, value)))
                total += moved * prices[part]
        return total

    worst = {"add or remove": Fraction(0), "replace": Fraction(0)}
    for table in tables:
        for place in range(len(table)):
            rest = table[:place] + table[place + 1 :]
            worst["add or remove"] = max(worst["add or remove"], loss(table, rest))
            for other in records:
                worst["replace"] = max(worst["replace"], loss(table, (*rest, other)))
    for neighbours, found in worst.items():
        claim = parallel([("pure", price) for price in prices], neighbours=neighbours, fixed_in_advance=True)
        assert claim.amount == found


def test_a_partition_from_the_data_is_refused() -> None:
    with pytest.raises(Refused, match="chosen from the data"):
        parallel([("pure", 1)], neighbours="add or remove", fixed_in_advance=False)


@pytest.mark.parametrize(
    ("parts", "changed", "says"),
    [
        ([("pure", 1), ("zcdp", 1)], {}, "different currencies"),
        ([], {}, "nothing to compose"),
        ([("pure", 1)], {"neighbours": "near"}, "add or remove"),
        ([("pure", 1)], {"fixed_in_advance": 1}, "must be True or False"),
        ([("pure", 1)], {"parts_per_unit": 0}, "parts_per_unit"),
    ],
)
def test_what_parallel_refuses(parts: list[object], changed: dict[str, object], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        parallel(parts, **{**FIXED, **changed})  # type: ignore[arg-type]


def test_the_declaration_cannot_be_left_out() -> None:
    with pytest.raises(TypeError):
        parallel([("pure", 1)], neighbours="add or remove")  # type: ignore[call-arg]
