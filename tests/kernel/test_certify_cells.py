"""Sensitivity, mechanism and price of aggregates over cells, of people, of different values and of open keys."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from sfumato.errors import Refused
from sfumato.kernel.certify import MOST_CELLS, MOST_COUNTED, MOST_GROUPS, Certified, Sensitivity, certify, strategy_of
from sfumato.kernel.cost import Cost, root_below
from sfumato.kernel.mechanisms.additive import Additive, DiscreteGaussian, DiscreteLaplace
from sfumato.kernel.mechanisms.choice import Exponential, FrequencyChoice, PermuteAndFlip
from sfumato.kernel.mechanisms.keys import KeySelection
from sfumato.kernel.mechanisms.ranks import RankChoice
from sfumato.kernel.mechanisms.running import Strategy
from sfumato.kernel.mechanisms.splits import QuestionChoice
from sfumato.plan.caps import Caps
from sfumato.plan.counting import weights
from sfumato.plan.expressions import Arithmetic, Column
from sfumato.plan.lattice import Lattice
from sfumato.plan.nodes import (
    CellSum,
    Choose,
    CountDistinct,
    CountPeople,
    CountRows,
    CountValues,
    Cross,
    Cumulative,
    Gap,
    Grid,
    Histogram,
    MostFrequent,
    OpenKey,
    Quantiles,
    Question,
    RangeKey,
    Selection,
)
from sfumato.schema.unit import Row
from tests.kernel.plans import BY_AGE, BY_SEX, PERSON, measure, plan, schema

F = Fraction
GRID = Grid(Column("income"), F(0), F(100), 40)
LEVELS = (F(1, 4), F(1, 2))
CITY = OpenKey(Column("city"))
SELECTION = Selection(F(1, 8), F(1, 10**6))
SPLIT = Choose((GRID, BY_SEX), BY_SEX, (Question(0, (0,) * 20 + (1,) * 20), Question(1, (0, 1))))
GAP = Choose((BY_SEX,), None, (Gap(0, (1, 1)), Gap(0, (2, 2), 1)), "gap")


def released(aggregate: Any, mechanism: Any, currency: Any, unit: Any = None, share: Any = 1, keys: Any = ()) -> Any:
    paid = certify(plan(measure(aggregate, share, mechanism), unit=unit, keys=keys), schema(unit), currency)
    assert paid.cost.currency == currency
    return paid.releases[0], paid.cost


@pytest.mark.parametrize("aggregate", [CountDistinct(Column("income")), Histogram(GRID)])
def test_a_person_moves_values_and_cells_by_max_rows(aggregate: Any) -> None:
    for unit, rows in ((None, 1), (PERSON, 20)):
        release, cost = released(aggregate, "laplace", "epsilon", unit)
        assert (release.sensitivity.l1, release.sensitivity.l2_squared) == (rows, rows**2)
        size = GRID.size if isinstance(aggregate, Histogram) else None
        assert release.mechanism == Additive(DiscreteLaplace(F(rows)), rows, rows**2, size)
        assert cost == Cost("epsilon", F(1))


def test_a_person_counts_once_in_each_of_their_groups() -> None:
    """Five groups are √5 in L2 norm: the noise is for 5 and not for 9, the square of the next whole length."""
    for keys, groups in (((), 1), ((BY_SEX,), 2), ((BY_AGE,), 5)):
        release, cost = released(CountPeople(), "laplace", "epsilon", PERSON, keys=keys)
        assert (release.sensitivity.l1, release.sensitivity.l2_squared) == (groups, groups)
        assert release.mechanism == Additive(DiscreteLaplace(F(groups)), groups, groups)
        release, cost = released(CountPeople(), "gaussian", "rho", PERSON, F(1, 2), keys=keys)
        assert release.mechanism == Additive(DiscreteGaussian(F(groups)), groups, groups)
        assert cost == Cost("rho", F(1, 2))
        told = {"sensitivity": "1"} if groups == 1 else {"sensitivity_squared": str(groups)}
        assert release.mechanism.event() == {"mechanism": "discrete_gaussian", "variance": str(groups), **told}
    with pytest.raises(Refused, match="counts people"):
        released(CountPeople(), "laplace", "epsilon")


def test_running_totals_are_paid_for_by_their_columns() -> None:
    for unit, rows in ((None, 1), (PERSON, 20)):
        release, _ = released(Cumulative(GRID), "laplace", "epsilon", unit)
        tree = Strategy("tree", 40)
        assert strategy_of(Cumulative(GRID), "epsilon") == tree
        assert (release.sensitivity.l1, release.sensitivity.l2_squared) == (2 * rows, 2 * rows**2)
        assert release.mechanism == Additive(DiscreteLaplace(F(2 * rows)), 2 * rows, 2 * rows**2, 40, tree)
        release, cost = released(Cumulative(GRID), "gaussian", "rho", unit, F(1, 2))
        roots = Strategy("roots", 40)
        squared = rows**2 * roots.spread_squared
        assert release.sensitivity.l2_squared == squared
        assert release.mechanism == Additive(DiscreteGaussian(F(squared)), rows * roots.most, squared, 40, roots)
        assert cost == Cost("rho", F(1, 2))
        assert str(roots.spread_squared) in release.sensitivity.rule


def test_quantiles_are_priced_by_their_theorem() -> None:
    for unit, rows in ((None, 1), (PERSON, 20)):
        release, cost = released(Quantiles(GRID, LEVELS), "exponential", "epsilon", unit)
        assert release.mechanism == RankChoice.for_share(F(1), "epsilon", rows, rows**2, LEVELS, 40)
        assert cost == Cost("epsilon", F(1))
        release, cost = released(Quantiles(GRID, LEVELS), "exponential", "rho", unit)
        assert F(999, 1000) < cost.amount == release.mechanism.cost("rho") <= 1


def test_round_numbers_are_likelier_for_one_level_of_a_column_in_epsilon() -> None:
    """Whatever is computed of a column, several levels and ρ have the law they had."""
    computed = replace(GRID, value=Arithmetic("+", GRID.value, GRID.value))
    lines = {
        (GRID, 1, "epsilon"): (GRID.lower, GRID.width),
        (GRID, 2, "epsilon"): None,
        (GRID, 1, "rho"): None,
        (computed, 1, "epsilon"): None,
    }
    for (grid, levels, currency), line in lines.items():
        release, _ = released(Quantiles(grid, (F(1, 4), F(3, 4))[:levels]), "exponential", currency)
        assert release.mechanism.line == line


@pytest.mark.parametrize("aggregate", [Quantiles(GRID, LEVELS), MostFrequent(BY_SEX), SPLIT, GAP])
def test_a_share_whose_rate_is_rounded_to_nothing_is_refused(aggregate: Any) -> None:
    with pytest.raises(Refused, match="so small a share"):
        released(aggregate, "exponential", "rho", PERSON, F(1, 10**40))


def test_the_most_frequent_value_is_chosen_by_counts_that_rise_together() -> None:
    for unit, rows in ((None, 1), (PERSON, 20)):
        release, cost = released(MostFrequent(BY_AGE), "permute_and_flip", "epsilon", unit)
        flip = PermuteAndFlip(F(1, rows), F(1), monotone=True)
        assert release.mechanism == FrequencyChoice(flip, rows, rows**2, BY_AGE.size)
        assert cost == Cost("epsilon", F(1))
        release, cost = released(MostFrequent(BY_AGE), "exponential", "rho", unit)
        chosen = Exponential(root_below(F(8, rows**2)), F(1), monotone=True)
        assert release.mechanism == FrequencyChoice(chosen, rows, rows**2, BY_AGE.size)
        assert F(999, 1000) < cost.amount == release.mechanism.cost("rho") <= 1


@pytest.mark.parametrize(("asked", "step", "monotone"), [(SPLIT, 128, True), (replace(SPLIT, score="max"), 1, True)])
def test_questions_are_chosen_by_what_a_row_moves_their_scores(asked: Any, step: int, monotone: bool) -> None:
    for choose, moved, alike in ((asked, step, monotone), (GAP, 1, False)):
        for unit, rows in ((None, 1), (PERSON, 20)):
            release, cost = released(choose, "permute_and_flip", "epsilon", unit)
            flip = PermuteAndFlip(F(1, rows), F(moved), monotone=alike)
            assert release.mechanism == QuestionChoice(flip, rows, rows**2, choose)
            assert (release.sensitivity.l1, release.sensitivity.l2_squared) == (rows, rows**2)
            assert f"no score moves more than {moved}" in release.sensitivity.rule
            assert cost == Cost("epsilon", F(1))
            release, cost = released(choose, "exponential", "rho", unit)
            chosen = Exponential(root_below(F(8, rows**2)), F(moved), monotone=alike)
            assert release.mechanism == QuestionChoice(chosen, rows, rows**2, choose)
            assert F(999, 1000) < cost.amount == release.mechanism.cost("rho") <= 1


def test_a_tree_is_switched_off_by_its_own_name() -> None:
    allowed = replace(schema(), allow=frozenset({"additive", "choice"}))
    paid = certify(plan(measure(SPLIT, 1, "permute_and_flip")), allowed, "epsilon")
    assert paid.switched_off == ("splits",)
    with pytest.raises(Refused, match=r"switched choosing questions that divide rows \(splits\) off"):
        paid.demand_allowed()


def test_tables_of_a_choice_are_counted_together() -> None:
    wide = Grid(Column("income"), F(0), F(100), MOST_COUNTED // 74 // 4)
    two = Choose((wide, replace(wide, upper=F(50))), BY_SEX, (Question(0, (0,) * wide.size),))
    assert released(two, "permute_and_flip", "epsilon", keys=(BY_AGE,))
    one_more = replace(two, tables=(*two.tables, BY_AGE))
    with pytest.raises(Refused, match=f"more than {MOST_COUNTED} cells"):
        released(one_more, "permute_and_flip", "epsilon", keys=(BY_AGE,))


def test_sums_in_cells_have_the_noise_of_their_largest_value() -> None:
    summed = CellSum(Cross((BY_SEX, GRID)), Column("age"), Lattice(-3, 2, 0))
    for unit, rows in ((None, 1), (PERSON, 20)):
        release, _ = released(summed, "laplace", "epsilon", unit)
        moved = 3 * rows, (3 * rows) ** 2
        assert release.mechanism == Additive(DiscreteLaplace(F(3 * rows)), *moved, 80, sums=True)
        release, _ = released(summed, "gaussian", "rho", unit, F(1, 2))
        assert release.mechanism == Additive(DiscreteGaussian(F(moved[1])), *moved, 80, sums=True)
        assert release.mechanism.family == "additive"
    with pytest.raises(Refused, match="constant"):
        released(replace(summed, lattice=Lattice(0, 0, 0)), "laplace", "epsilon")
    with pytest.raises(Refused, match="no number"):
        released(replace(summed, value=Column("sex")), "laplace", "epsilon")


@pytest.mark.parametrize(
    ("aggregate", "mechanism", "currency"),
    [
        (SPLIT, "exponential", "epsilon"),
        (SPLIT, "permute_and_flip", "rho"),
        (GAP, "laplace", "epsilon"),
        (CellSum(GRID, Column("age"), Lattice(0, 9, 0)), "exponential", "epsilon"),
        (Quantiles(GRID, LEVELS), "laplace", "epsilon"),
        (Quantiles(GRID, LEVELS), "gaussian", "rho"),
        (MostFrequent(BY_SEX), "exponential", "epsilon"),
        (MostFrequent(BY_SEX), "permute_and_flip", "rho"),
        (MostFrequent(BY_SEX), "laplace", "epsilon"),
        (CountRows(), "exponential", "epsilon"),
        (Histogram(GRID), "permute_and_flip", "epsilon"),
        (Histogram(GRID), "laplace", "rho"),
    ],
)
def test_another_mechanism_is_refused(aggregate: Any, mechanism: Any, currency: Any) -> None:
    with pytest.raises(Refused, match="not for this"):
        released(aggregate, mechanism, currency)


def test_too_many_cells_are_refused() -> None:
    wide, many = replace(GRID, size=MOST_GROUPS // 74), RangeKey(Column("age"), 1, MOST_CELLS // (1 << 18) + 1)
    assert released(Histogram(wide), "laplace", "epsilon", keys=(BY_AGE,))
    for aggregate in (
        Histogram,
        Cumulative,
        MostFrequent,
        lambda cells: CellSum(cells, Column("age"), Lattice(0, 1, 0)),
    ):
        with pytest.raises(Refused, match="cells"):
            released(aggregate(replace(wide, size=wide.size + 1)), "laplace", "epsilon", keys=(BY_AGE,))
    with pytest.raises(Refused, match="cells"):
        released(Quantiles(replace(GRID, size=1 << 18), LEVELS), "exponential", "epsilon", keys=(many,))


@pytest.mark.parametrize("aggregate", [Histogram, Cumulative, MostFrequent, CountDistinct])
def test_columns_of_cells_are_looked_up(aggregate: Any) -> None:
    hidden = Column("name") if aggregate is CountDistinct else replace(GRID, value=Column("name"))
    with pytest.raises(Refused, match="identifier"):
        released(aggregate(hidden), "laplace", "epsilon")
    with pytest.raises(Refused, match="identifier"):
        released(MostFrequent(replace(BY_SEX, expression=Column("name"))), "permute_and_flip", "epsilon")


def test_a_grid_is_no_key_of_a_question() -> None:
    with pytest.raises(Refused, match="unknown Grid"):
        released(CountRows(), "laplace", "epsilon", keys=(GRID,))
    with pytest.raises(ValueError, match="grid"):
        Grid(Column("income"), F(1), F(1), 3)


@pytest.mark.parametrize(("l1", "l2_squared"), [(0, 0), (-1, 1), (7, 6), (7, 50), (3, 0)])
def test_norms_that_no_whole_numbers_have_are_refused(l1: int, l2_squared: int) -> None:
    """A length in place of its square is seen, where it is smaller than the sum of the sizes."""
    with pytest.raises(ValueError, match="norms"):
        Sensitivity(l1, l2_squared, "")


# ---- open keys


def discovering(currency: Any = "rho", unit: Any = PERSON, selection: Any = SELECTION, **changes: Any) -> Certified:
    asked = plan(measure(None, F(1, 2), "gaussian"), unit=unit, keys=(CITY, BY_SEX))
    return certify(replace(asked, selection=selection, **changes), schema(unit), currency)


def test_finding_keys_is_paid_in_rho_and_delta() -> None:
    paid = discovering()
    assert paid.selection == KeySelection(SELECTION.share, SELECTION.delta, PERSON.max_groups)
    assert paid.cost == Cost("rho", F(1, 2) + SELECTION.share, SELECTION.delta)
    assert [event["mechanism"] for event in paid.events] == ["key_threshold", "discrete_gaussian"]
    assert discovering(unit=Row()).selection == KeySelection(SELECTION.share, SELECTION.delta, 1)
    odd = discovering(selection=Selection(F(1, 3), F(1, 100)))
    assert odd.cost.amount == F(1, 2) + F(1, 3)


WEIGHTED = replace(SELECTION, weighted=True)


def test_keys_are_found_by_weights_at_the_same_price() -> None:
    paid = discovering(selection=WEIGHTED)
    assert paid.selection == KeySelection(SELECTION.share, SELECTION.delta, PERSON.max_groups, weighted=True)
    assert paid.cost == discovering().cost
    assert paid.digest != discovering().digest
    assert paid.countings[0].weights == weights(PERSON.max_groups)
    assert not discovering().countings[0].weights


def test_weights_are_of_people_in_several_groups_and_never_a_measure() -> None:
    for wrong in ({"unit": Row()}, {"caps": Caps(5, 1, 5)}):
        with pytest.raises(Refused, match="weights"):
            discovering(selection=WEIGHTED, **wrong)
    with pytest.raises(Refused, match="weights"):
        by_its_own_count(weighted=True)


def test_keys_alone_are_paid_for_and_nothing_else_is_measured() -> None:
    for selection in (SELECTION, WEIGHTED):
        alone = discovering(selection=selection, measures=())
        assert alone.releases == ()
        assert alone.cost == Cost("rho", SELECTION.share, SELECTION.delta)
        assert [event["mechanism"] for event in alone.events] == ["key_threshold"]
    with pytest.raises(Refused, match="does not pay"):
        discovering(selection=replace(SELECTION, share=F(0)), measures=())
    with pytest.raises(Refused, match="measures nothing"):
        certify(plan(unit=PERSON, keys=(BY_SEX,)), schema(PERSON), "rho")


PEOPLE = CountPeople()


def by_its_own_count(aggregate: Any = PEOPLE, unit: Any = PERSON, **changes: Any) -> Certified:
    given = {"share": F(0), "delta": F(1, 10**6), "by": 0} | changes
    asked = plan(measure(aggregate, F(1, 2), "gaussian"), unit=unit, keys=(CITY,))
    return certify(replace(asked, selection=Selection(**given)), schema(unit), "rho")


def test_a_count_of_units_selects_and_is_paid_for_once() -> None:
    paid = by_its_own_count()
    assert paid.selection == KeySelection(F(1, 2), F(1, 10**6), PERSON.max_groups)
    assert paid.releases[0].mechanism is paid.selection
    assert paid.cost == Cost("rho", F(1, 2), F(1, 10**6))
    assert [event["mechanism"] for event in paid.events] == ["key_threshold"]
    assert by_its_own_count(CountRows(), Row()).cost == Cost("rho", F(1, 2), F(1, 10**6))


@pytest.mark.parametrize(
    "wrong",
    [
        {"aggregate": CountRows()},  # a person's rows
        {"aggregate": CountValues(Column("income"))},
        {"by": 1},
        {"by": -1},
        {"by": True},
        {"share": F(1, 8)},
        {"unit": Row(), "aggregate": CountValues(Column("income"))},
    ],
    ids=str,
)
def test_what_does_not_count_units_selects_no_keys(wrong: dict[str, Any]) -> None:
    with pytest.raises(Refused):
        by_its_own_count(**wrong)


def test_with_open_keys_people_are_counted_in_as_many_groups_as_they_may() -> None:
    asked = plan(measure(CountPeople(), F(1, 2), "gaussian"), unit=PERSON, keys=(CITY,))
    paid = certify(replace(asked, selection=SELECTION), schema(PERSON), "rho")
    assert (paid.releases[0].sensitivity.l1, paid.releases[0].sensitivity.l2_squared) == (5, 5)


@pytest.mark.parametrize(
    "selection",
    [
        None,
        Selection(F(0), F(1, 10**6)),
        Selection(F(-1), F(1, 10**6)),
        Selection(F(1), F(0)),
        Selection(F(1), F(1)),
    ],
)
def test_keys_that_are_not_paid_for_are_refused(selection: Any) -> None:
    with pytest.raises(Refused, match="does not pay"):
        discovering(selection=selection)


def test_keys_are_not_found_in_pure_epsilon() -> None:
    asked = replace(plan(measure(), keys=(CITY,)), selection=SELECTION)
    with pytest.raises(Refused, match="does not pay"):
        certify(asked, schema(), "epsilon")


@pytest.mark.parametrize("selection", [Selection(0.5, F(1, 9)), Selection(F(1), 0.1)])  # type: ignore[arg-type]
def test_shares_of_keys_are_exact(selection: Selection) -> None:
    with pytest.raises(Refused, match="exact share"):
        discovering(selection=selection)


def test_paying_for_keys_that_are_listed_is_refused() -> None:
    with pytest.raises(Refused, match="none to find"):
        discovering(keys=(BY_SEX,))


@pytest.mark.parametrize("share", [F(1, 10**12), F(1, 10**60)])
def test_a_share_for_which_no_key_is_ever_sure_is_refused_before_it_is_paid(share: Fraction) -> None:
    with pytest.raises(Refused, match="sure"):
        discovering(selection=Selection(share, F(1, 10**15)))
