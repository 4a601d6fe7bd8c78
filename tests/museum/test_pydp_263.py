"""PyDP #263: when the budget was used up, the next call returned -8388603.

Rule: refuse, never answer nonsense; and what was paid for stays readable.
"""

from pathlib import Path

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import BudgetExceeded

QUESTION = "SELECT COUNT(*) AS n FROM data"


@pytest.mark.parametrize("budget", [sf.Budget(epsilon=1), sf.Budget(epsilon=1, delta=1e-6)], ids=str)
def test_an_exhausted_budget_refuses_every_further_question(budget: sf.Budget, tmp_path: Path) -> None:
    table, ledger = pa.table({"x": [1] * 100}), tmp_path / "data.ledger"
    with sf.protect(table, unit=sf.Row(), columns={"x": sf.Int(0, 9)}, budget=budget, ledger=ledger) as session:
        bought = session.ask(QUESTION, spend=1)
        assert session.budget.left.epsilon == 0
        for question, spend in ((QUESTION, 0.5), ("SELECT SUM(x) FROM data", 1), ("SELECT AVG(x) FROM data", 0.001)):
            with pytest.raises(BudgetExceeded) as refused:
                session.ask(question, spend=spend)
            assert "has 0 left of 1" in refused.value.message
        with pytest.raises(BudgetExceeded):
            session.ask(QUESTION, spend=1, fresh=True)
        assert len(session.history()) == 1
        assert session.ask(QUESTION, spend=1).rows == bought.rows


def test_a_refusal_is_an_error_that_carries_no_number_of_the_data(tmp_path: Path) -> None:
    table = pa.table({"x": [7_654_321] * 54_321})
    columns, budget = {"x": sf.Int(0, 10**7)}, sf.Budget(epsilon=0.5)
    with sf.protect(table, unit=sf.Row(), columns=columns, budget=budget, ledger=tmp_path / "data.ledger") as session:
        with pytest.raises(BudgetExceeded) as refused:
            session.ask("SELECT SUM(x) FROM data", spend=1)
        assert not isinstance(refused.value, int | float)
        assert "54321" not in str(refused.value)
        assert session.history() == []
