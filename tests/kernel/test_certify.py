"""From a plan to its sensitivity and cost: every rule, and every refusal."""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import pytest

from sfumato.errors import Refused, UsageError
from sfumato.kernel import certify as certify_module
from sfumato.kernel.certify import MOST_GROUPS, CertifiedRelease, Sensitivity, certify
from sfumato.kernel.cost import Cost
from sfumato.kernel.mechanisms.additive import Additive, DiscreteGaussian, DiscreteLaplace
from sfumato.plan.counting import countings
from sfumato.plan.expressions import (
    AllOf,
    AnyOf,
    Arithmetic,
    Call,
    Case,
    Column,
    Comparison,
    Day,
    IsNull,
    Matches,
    Negative,
    Not,
    Number,
    OneOf,
    String,
)
from sfumato.plan.lattice import Lattice
from sfumato.plan.nodes import CentredSum, CountPeople, CountRows, CountValues, Measure, RangeKey, Sum
from sfumato.plan.sources import Computed, Folded, Lookup, OnUnit, PerUnit, Rows, Taken
from sfumato.schema.columns import Float, Identifier, Int, Text
from sfumato.schema.others import Lookup as Public
from sfumato.schema.others import Table
from sfumato.schema.table import Schema
from tests.kernel.plans import AGE, BY_AGE, BY_SEX, COLUMNS, PERSON, measure, plan, schema

INCOME, NAME, ELSEWHERE = Column("income"), Column("name"), Column("elsewhere")


# ---- sensitivity -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("aggregate", "per_row"),
    [
        (CountRows(), 1),
        (CountValues(INCOME), 1),
        (Sum(INCOME, AGE), 90),
        (Sum(INCOME, Lattice(-100, 90, 3)), 100),
        (Sum(INCOME, Lattice(-100, -90, 0)), 100),
        (CentredSum(INCOME, AGE), 37),  # from 53, the lower middle, to 90
        (CentredSum(INCOME, Lattice(0, 10, -4)), 5),
        (CentredSum(INCOME, Lattice(-3, -2, 0)), 1),
        (CentredSum(INCOME, Lattice(-7, 4, 0)), 6),
    ],
)
def test_sensitivity(aggregate: Any, per_row: int) -> None:
    by_row = certify(plan(measure(aggregate)), schema(), "epsilon").releases[0]
    assert by_row.sensitivity.l1 == per_row
    by_person = certify(plan(measure(aggregate), unit=PERSON), schema(PERSON), "epsilon").releases[0]
    assert by_person.sensitivity.l1 == 20 * per_row
    step = aggregate.lattice.step if isinstance(aggregate, Sum | CentredSum) else 1
    assert by_row.sensitivity.rule.endswith(f"{float(per_row * step):,.6g} to one group")  # in units of the column
    assert "20 rows" in by_person.sensitivity.rule
    alone = replace(PERSON, max_rows=1, max_groups=1)
    one = certify(plan(measure(aggregate), unit=alone), schema(alone), "epsilon")
    assert "at most 1 row, each" in one.releases[0].sensitivity.rule


@pytest.mark.parametrize("lower", range(-6, 7))
@pytest.mark.parametrize("width", range(1, 8))
def test_sensitivity_is_the_largest_contribution_of_one_row(lower: int, width: int) -> None:
    lattice = Lattice(lower, lower + width, 0)
    steps = range(lower, lower + width + 1)
    plain = certify(plan(measure(Sum(INCOME, lattice))), schema(), "epsilon").releases[0]
    assert plain.sensitivity.l1 == max(abs(k) for k in steps)
    centred = certify(plan(measure(CentredSum(INCOME, lattice))), schema(), "epsilon").releases[0]
    assert centred.sensitivity.l1 == max(abs(k - lattice.centre) for k in steps)


def test_keys_do_not_change_the_sensitivity() -> None:
    one = certify(plan(measure()), schema(), "epsilon")
    many = certify(plan(measure(), keys=(BY_SEX, BY_AGE)), schema(), "epsilon")
    assert one.releases == many.releases
    assert one.cost == many.cost
    assert one.digest != many.digest


# ---- mechanism and cost ------------------------------------------------------------------------------------


def test_laplace_is_paid_in_epsilon() -> None:
    certified = certify(
        plan(measure(Sum(INCOME, AGE), Fraction(1, 3)), measure(share=Fraction(1, 5))), schema(), "epsilon"
    )
    assert certified.cost == Cost("epsilon", Fraction(8, 15))
    assert certified.releases[0].mechanism == Additive(DiscreteLaplace(Fraction(270)), 90, 90**2)
    assert certified.releases[1].mechanism == Additive(DiscreteLaplace(Fraction(5)), 1, 1)
    assert certified.events[0] == {"mechanism": "discrete_laplace", "scale": "270", "sensitivity": "90"}
    assert certified.digest == certified.plan.digest()


def test_gaussian_is_paid_in_rho() -> None:
    measures = [measure(Sum(INCOME, AGE), Fraction(1, 2), "gaussian"), measure(None, Fraction(1, 8), "gaussian")]
    certified = certify(plan(*measures, unit=PERSON), schema(PERSON), "rho")
    assert certified.cost == Cost("rho", Fraction(5, 8))
    assert certified.releases[0].mechanism == Additive(DiscreteGaussian(Fraction(1800**2)), 1800, 1800**2)
    assert certified.releases[1].mechanism == Additive(DiscreteGaussian(Fraction(1600)), 20, 400)


def test_the_price_is_the_theorem_s_and_not_the_share_s(monkeypatch: pytest.MonkeyPatch) -> None:
    """A mechanism twice as loud as asked for costs what it is, whatever the plan says."""
    louder = CertifiedRelease(Sensitivity(1, 1, ""), Additive(DiscreteLaplace(Fraction(1, 2)), 1, 1))
    monkeypatch.setattr(certify_module, "_release", lambda measure, counting, plan, currency: louder)
    assert certify(plan(measure()), schema(), "epsilon").cost == Cost("epsilon", Fraction(2))
    assert certify(plan(measure()), schema(), "rho").cost == Cost("rho", Fraction(2))


# ---- refusals ----------------------------------------------------------------------------------------------


def refused(reason: str, *arguments: Any) -> None:
    with pytest.raises(Refused, match=reason):
        certify(*arguments)


def test_another_unit_or_table_is_refused() -> None:
    refused("another unit", plan(measure(), unit=PERSON), schema(), "epsilon")
    refused("another unit", plan(measure()), schema(PERSON), "epsilon")
    refused("another unit", plan(measure(), unit=replace(PERSON, id="other")), schema(PERSON), "epsilon")
    refused("another table", plan(measure(), table="others"), schema(), "epsilon")


def test_a_plan_that_measures_nothing_is_refused() -> None:
    refused("nothing", plan(), schema(), "epsilon")


def test_too_many_groups_are_refused() -> None:
    most = RangeKey(Column("age"), 1, MOST_GROUPS)
    assert certify(plan(measure(), keys=(most,)), schema(), "epsilon")
    refused("group", plan(measure(), keys=(RangeKey(Column("age"), 0, MOST_GROUPS),)), schema(), "epsilon")
    refused("group", plan(measure(), keys=(BY_SEX, replace(most, expression=Column("income")))), schema(), "epsilon")


def test_no_group_at_all_is_refused() -> None:
    refused("no group", plan(measure(), keys=(RangeKey(Column("age"), 3, 2),)), schema(), "epsilon")
    refused("no group", plan(measure(), keys=(BY_AGE, replace(BY_SEX, values=()))), schema(), "epsilon")


def test_grouping_twice_by_one_column_is_refused() -> None:
    refused("twice", plan(measure(), keys=(BY_SEX, BY_SEX)), schema(), "epsilon")


@pytest.mark.parametrize("share", [0, -1, Fraction(-1, 10**9)])
def test_a_share_of_nothing_is_refused(share: Any) -> None:
    refused("share", plan(measure(share=share)), schema(), "epsilon")


@pytest.mark.parametrize(
    ("mechanism", "currency"),
    [("laplace", "rho"), ("gaussian", "epsilon"), ("uniform", "epsilon"), ("laplace", "euro")],
)
def test_noise_in_another_currency_is_refused(mechanism: Any, currency: Any) -> None:
    refused("not paid in", plan(measure(mechanism=mechanism)), schema(), currency)


@pytest.mark.parametrize("aggregate", [Sum(INCOME, Lattice(0, 0, 0)), CentredSum(INCOME, Lattice(7, 7, 0))])
def test_a_constant_aggregate_is_refused(aggregate: Any) -> None:
    refused("constant", plan(measure(aggregate)), schema(), "epsilon")


def holding(column: Column, text: Column, day: Column) -> dict[str, Any]:
    """A condition of every kind that looks at one of these columns: a number, a text or a date."""
    test = Comparison("=", column, Number(Fraction(1)))
    return {
        "left": test,
        "right": Comparison("<>", String("a"), text),
        "arithmetic": Comparison("<", Arithmetic("+", Number(Fraction(1)), column), Number(Fraction(1))),
        "negative": Comparison("<", Negative(column), Number(Fraction(1))),
        "function": IsNull(Call("COALESCE", (Number(Fraction(1)), column))),
        "branch": IsNull(Case(((IsNull(Column("age")), column),), None)),
        "when": IsNull(Case(((IsNull(column), Number(Fraction(1))),), Number(Fraction(2)))),
        "else": IsNull(Case(((IsNull(Column("age")), Number(Fraction(1))),), column)),
        "pattern": Matches("like", text, "a%"),
        "date": Comparison("<", Day("2024-01-31"), day),
        "one of": OneOf(text, (String("a"), String("b"))),
        "null": IsNull(column),
        "not": Not(test),
        "all": AllOf((Comparison("=", Column("age"), Number(Fraction(1))), test)),
        "any": AnyOf((Comparison("=", Column("age"), Number(Fraction(1))), test)),
    }


@pytest.mark.parametrize("kind", holding(NAME, NAME, NAME))
def test_a_column_is_found_wherever_it_hides(kind: str) -> None:
    assert certify(plan(measure(), where=holding(INCOME, Column("city"), Column("born"))[kind]), schema(), "epsilon")
    refused("identifier", plan(measure(), where=holding(NAME, NAME, NAME)[kind]), schema(), "epsilon")
    refused("no column", plan(measure(), where=holding(ELSEWHERE, ELSEWHERE, ELSEWHERE)[kind]), schema(), "epsilon")


@pytest.mark.parametrize("column", [NAME, ELSEWHERE])
def test_keys_and_values_are_looked_up_too(column: Column) -> None:
    reason = "identifier" if column is NAME else "no column"
    refused(reason, plan(measure(), keys=(replace(BY_SEX, expression=column),)), schema(), "epsilon")
    for aggregate in (CountValues(column), Sum(column, AGE), CentredSum(Negative(column), AGE)):
        refused(reason, plan(measure(aggregate)), schema(), "epsilon")


def test_the_unit_id_is_no_column() -> None:
    refused("no column", plan(measure(CountValues(Column("user_id"))), unit=PERSON), schema(PERSON), "epsilon")


@dataclass(frozen=True)
class Stranger:
    value: Any = INCOME


def test_what_the_kernel_does_not_know_is_refused() -> None:
    refused("unknown Stranger", plan(measure(), where=Stranger()), schema(), "epsilon")
    refused("unknown Stranger", plan(measure(CountValues(Stranger()))), schema(), "epsilon")
    refused("unknown Stranger", plan(measure(Stranger())), schema(), "epsilon")
    with pytest.raises(Refused, match="unknown Stranger"):
        certify_module._sensitivity(Stranger(), countings(plan(measure()))[0], PERSON, None)  # type: ignore[arg-type]
    unknown = Call("ABS", (INCOME,))
    object.__setattr__(unknown, "name", "EVIL")  # it cannot be made
    refused("unknown function", plan(measure(), where=IsNull(unknown)), schema(), "epsilon")
    with pytest.raises(UsageError, match="Stranger"):
        schema(Stranger())


@pytest.mark.parametrize("values", [("f", "f"), ("f", "m", "f"), (1, "1")])
def test_a_key_that_lists_a_value_twice_is_refused(values: Any) -> None:
    refused("twice", plan(measure(), keys=(replace(BY_SEX, values=values),)), schema(), "epsilon")


@pytest.mark.parametrize("share", [3, True, 0.5])
def test_a_share_that_is_no_fraction_is_refused(share: Any) -> None:
    refused("share", plan(Measure(CountRows(), "laplace", share)), schema(), "epsilon")


def test_a_long_range_is_counted_without_listing_it() -> None:
    refused("group", plan(measure(), keys=(RangeKey(Column("age"), 0, 1 << 62),)), schema(), "epsilon")


# ---- sources -----------------------------------------------------------------------------------------------

SEVERAL = Schema(
    "people",
    PERSON,
    COLUMNS,
    {"cities": Public("cities.csv", "city", {"size": Float(0, 9)})},
    {"visits": Table("visits.csv", {"cost": Float(0, 1), "place": Identifier()})},
)
TOTAL = Folded("total", "sum", Column("cost"), Lattice(0, 4, -2))
A_PERSON = PerUnit("visits", None, (TOTAL,), 20)


def test_a_join_keeps_the_sensitivity_and_one_row_a_person_has_that_of_a_row() -> None:
    for source, most in (
        ("visits", 20),
        (OnUnit("people", "visits", (Taken("cost", "cost"),), True, 20, 20), 20),
        (OnUnit("people", A_PERSON, (Taken("total", "total"),), False, 20, 1), 20),
        (Lookup("people", "cities", "city", (Taken("size", "size"),), False), 20),
        (Rows("people", None, (Computed("age", Column("age"), Int(17, 90)),)), 20),
        (A_PERSON, 1),
        (OnUnit(A_PERSON, A_PERSON, (), True, 1, 1), 1),
        (OnUnit(OnUnit("people", "visits", (), True, 20, 20), A_PERSON, (), True, 20, 1), 20),
        (
            OnUnit(
                PerUnit(OnUnit("people", "visits", (Taken("cost", "cost"),), True, 20, 20), None, (TOTAL,), 20),
                A_PERSON,
                (),
                True,
                1,
                1,
            ),
            1,
        ),
    ):
        certified = certify(plan(measure(), unit=PERSON, table=source), SEVERAL, "epsilon")
        assert certified.releases[0].sensitivity.l1 == most


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        (Rows("people", None, (Computed("n", NAME, Text()),)), "identifier"),
        (Rows("people", IsNull(NAME), (Computed("a", Column("age"), Int()),)), "identifier"),
        (Rows("people", None, (Computed("n", ELSEWHERE, Text()),)), "no column"),
        (Rows("people", None, (Computed("n", Column("user_id"), Text()),)), "no column"),
        (Rows("people", Stranger(), (Computed("a", Column("age"), Int()),)), "unknown Stranger"),
        (PerUnit("people", None, (Folded("n", "count", NAME, AGE),), 20), "identifier"),
        (PerUnit("people", IsNull(ELSEWHERE), (Folded("n", "count", INCOME, AGE),), 20), "no column"),
        (PerUnit("people", None, (Folded("n", "count", Stranger(), AGE),), 20), "unknown Stranger"),
        (Lookup("people", "cities", "name", (), True), "identifier"),
        (Lookup("people", "cities", "elsewhere", (), True), "no column"),
        (Lookup("people", "visits", "city", (), True), "not public"),
        (OnUnit("people", "visits", (Taken("p", "place"),), True, 20, 20), "identifier"),
        (OnUnit("people", "visits", (Taken("p", "user_id"),), True, 20, 20), "no column"),
        (OnUnit(Rows("people", None, (Computed("n", NAME, Text()),)), "visits", (), True, 20, 20), "identifier"),
        (OnUnit("people", "cities", (), True, 20, 20), "another table"),
        ("cities", "another table"),
        (Stranger(), "unknown Stranger"),
        (OnUnit("people", Stranger(), (), True, 20, 20), "unknown Stranger"),
    ],
)
def test_a_source_that_does_not_keep_the_unit_or_uses_an_identifier_is_refused(source: Any, reason: str) -> None:
    refused(reason, plan(measure(), unit=PERSON, table=source), SEVERAL, "epsilon")


def test_outer_columns_are_those_of_the_source() -> None:
    income = plan(measure(Sum(INCOME, AGE)), unit=PERSON, table="visits")
    refused("no column", income, SEVERAL, "epsilon")
    refused("no column", plan(measure(), unit=PERSON, table=A_PERSON, where=IsNull(Column("cost"))), SEVERAL, "epsilon")
    assert certify(plan(measure(CountValues(Column("total"))), unit=PERSON, table=A_PERSON), SEVERAL, "epsilon")


def test_people_are_counted_once_where_everybody_has_one_row() -> None:
    keys = (RangeKey(Column("total"), 0, 9),)
    for source, most in ((A_PERSON, 1), (OnUnit("people", A_PERSON, (Taken("total", "total"),), True, 20, 1), 5)):
        counted = plan(measure(CountPeople()), unit=PERSON, table=source, keys=keys)
        assert certify(counted, SEVERAL, "epsilon").releases[0].sensitivity.l1 == most


def test_a_plan_has_one_digest_and_its_countings_their_salt_from_it() -> None:
    one, other = plan(measure(), keys=(BY_SEX,)), plan(measure(), keys=(BY_AGE,))
    for each in (one, other):
        found = certify(each, schema(), "epsilon")
        assert (found.digest, found.countings) == (each.digest(), countings(each))
    assert countings(one)[0].salt != countings(other)[0].salt, "who is chosen in the one is not therefore in the other"
