"""AVG becomes a sum and a count, equal aggregates are measured once, and the shares add up to the spend exactly."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.kernel.certify import certify
from sfumato.ledger.terms import Terms
from sfumato.plan.nodes import CentredSum, CountRows, CountValues, Measure, Plan
from sfumato.query.bind import BoundQuestion
from sfumato.query.rewrite import Draft, MeanColumn, rewrite
from tests.query.asking import EPSILON, RHO, SCHEMA, walk

CALLS = ["COUNT(*)", "COUNT(age)", "COUNT(zip)", "SUM(age)", "SUM(income / 12)", "AVG(age)", "AVG(income)", "AVG(debt)"]
spends = st.fractions(min_value=Fraction(1, 1000), max_value=3, max_denominator=10**9)
budgets = st.sampled_from([EPSILON, RHO])


def asked(calls: list[str]) -> str:
    return f"SELECT {', '.join(f'{call} AS c{i}' for i, call in enumerate(calls))} FROM people"


@pytest.mark.slow
@given(st.lists(st.sampled_from(CALLS), min_size=1, max_size=6), spends, budgets)
def test_the_certified_cost_is_the_spend(calls: list[str], spend: Fraction, budget: sf.Budget) -> None:
    walked = walk(asked(calls), budget=budget, spend=spend)
    assert walked.certified.cost == walked.price == Terms(budget).price(spend)
    assert sum(measure.share for measure in walked.plan.measures) == walked.price.amount
    assert all(measure.share > 0 for measure in walked.plan.measures)


@given(st.permutations(CALLS), spends, budgets)
def test_the_order_of_the_columns_changes_no_share(calls: list[str], spend: Fraction, budget: sf.Budget) -> None:
    def shares(order: list[str]) -> set[Measure]:
        return set(walk(asked(order), budget=budget, spend=spend).plan.measures)

    assert shares(calls) == shares(CALLS)


@pytest.mark.parametrize("budget", [EPSILON, RHO], ids=["epsilon", "rho"])
def test_an_average_is_paid_for_once(budget: sf.Budget) -> None:
    """The museum's exhibit: AVG became SUM and COUNT, each with the full epsilon (SmartNoise #202)."""
    walked = walk("SELECT AVG(age) FROM people", budget=budget)
    total, count = walked.plan.measures
    assert isinstance(total.aggregate, CentredSum)
    assert isinstance(count.aggregate, CountValues)
    assert (total.share, count.share) == (walked.price.amount * Fraction(2, 3), walked.price.amount / 3)


@pytest.mark.parametrize("budget", [EPSILON, RHO], ids=["epsilon", "rho"])
def test_a_plan_that_spends_twice_is_certified_at_twice_the_price(budget: sf.Budget) -> None:
    """The exhibit itself, built by hand: the kernel prices what the plan does, whatever the planner meant."""
    walked = walk("SELECT AVG(age) FROM people", budget=budget)
    doubled = tuple(Measure(m.aggregate, m.mechanism, walked.price.amount) for m in walked.plan.measures)
    plan = Plan(walked.plan.table, walked.plan.unit, None, (), doubled)
    assert certify(plan, SCHEMA, walked.price.currency).cost.amount == 2 * walked.price.amount


def test_averages_share_what_they_have_in_common() -> None:
    draft = walk("SELECT AVG(age) AS a, COUNT(age) AS n, AVG(age) AS b FROM people").draft
    assert [type(aggregate) for aggregate in draft.aggregates] == [CentredSum, CountValues]
    assert draft.weights == (Fraction(4, 3), Fraction(5, 3))
    assert [column for column in draft.columns if isinstance(column, MeanColumn)] == [
        MeanColumn(name, 0, 1, draft.columns[0].lattice) for name in ("a", "b")
    ]


def test_mechanisms_follow_the_currency() -> None:
    question = "SELECT COUNT(*), AVG(age) FROM people"
    assert {m.mechanism for m in walk(question, budget=EPSILON).plan.measures} == {"laplace"}
    assert {m.mechanism for m in walk(question, budget=RHO).plan.measures} == {"gaussian"}


def test_nothing_foreign_is_measured() -> None:
    assert rewrite(BoundQuestion(None, (), (CountRows(),), table="people")) == Draft((), (), ())  # type: ignore[arg-type]
