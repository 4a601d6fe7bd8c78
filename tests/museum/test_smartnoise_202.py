"""SmartNoise #202: AVG became SUM and COUNT, and each of them spent the whole epsilon of the question.

Rule: the cost comes from the final plan, not from what the planner meant to spend.
"""

import importlib
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import BudgetExceeded
from sfumato.kernel.certify import certify
from sfumato.kernel.cost import Cost
from sfumato.query.bind import bind
from sfumato.query.rewrite import rewrite
from sfumato.query.sql import parse
from sfumato.schema.table import Schema
from tests.kernel.laws import mutant
from tests.museum.room import certified_question

SCHEMA = Schema("people", sf.Person("who", 4, 2), {"x": sf.Float(0, 9), "k": sf.Category(["a", "b"])})
QUESTIONS = [
    "SELECT AVG(x) FROM people",
    "SELECT AVG(x) AS a, AVG(-x) AS b, AVG(x + 1) AS c FROM people",
    "SELECT k, COUNT(*), COUNT(x), SUM(x), AVG(x) FROM people GROUP BY k",
]
GREEDY = mutant(
    importlib.import_module("sfumato.query.allocate"), "- finding) * weight / whole", "- finding) * weight / weight"
)


@pytest.mark.parametrize("currency", ["epsilon", "rho"])
@pytest.mark.parametrize("question", QUESTIONS)
def test_all_releases_of_a_question_together_cost_what_was_spent(question: str, currency: Any) -> None:
    price = Cost(currency, Fraction(1, 3))
    certified = certified_question(question, SCHEMA, price)
    assert len(certified.releases) >= 2
    assert certified.cost == price
    each = [release.mechanism.cost(currency) for release in certified.releases]
    assert sum(each) == price.amount
    assert max(each) < price.amount


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_planner_that_spends_everything_on_each_release_is_charged_for_each(question: str) -> None:
    price = Cost("epsilon", Fraction(1, 3))
    bound = bind(parse(question), SCHEMA)
    plan = GREEDY.allocate(bound, rewrite(bound), SCHEMA, price)
    assert certify(plan, SCHEMA, "epsilon").cost.amount == len(plan.measures) * price.amount


def test_the_ledger_refuses_that_planner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sfumato.query.planned.allocate", GREEDY.allocate)
    table = pa.table({"who": [1], "x": [1.0], "k": ["a"]})
    budget, ledger = sf.Budget(epsilon=1), tmp_path / "people.ledger"
    with sf.protect(
        table, unit=SCHEMA.unit, columns=SCHEMA.columns, budget=budget, ledger=ledger, table="people"
    ) as session:
        with pytest.raises(BudgetExceeded):
            session.ask(QUESTIONS[0], spend=0.6)
        assert session.history() == []
        session.ask(QUESTIONS[0], spend=0.5)
        assert session.budget.left.epsilon == 0
