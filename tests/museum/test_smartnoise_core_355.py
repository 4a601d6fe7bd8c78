"""SmartNoise Core #355: the sensitivity of a mean was (U - L)/n with the n of the table at hand.

Rule: neighbours of every table count, not of this one; nothing that is certified depends on the data.
"""

from fractions import Fraction
from math import exp, inf, log
from pathlib import Path

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.kernel.certify import certify
from sfumato.kernel.cost import Cost
from sfumato.plan.nodes import CentredSum, CountValues
from sfumato.schema.table import Schema
from tests.museum.room import certified_question

QUESTION = "SELECT AVG(x) AS mean FROM data"


def explained(rows: int, folder: Path) -> str:
    table = pa.table({"x": pa.array([float(i % 10) for i in range(rows)], pa.float64())})
    budget, ledger = sf.Budget(epsilon=1), folder / f"{rows}.ledger"
    columns = {"x": sf.Float(0, 10)}
    with sf.protect(table, unit=sf.Row(), columns=columns, budget=budget, ledger=ledger) as session:
        return str(session.explain(QUESTION, spend=0.5))


def test_what_is_certified_is_the_same_for_tables_of_every_size(tmp_path: Path) -> None:
    assert len({explained(rows, tmp_path) for rows in (0, 1, 2, 1_000)}) == 1


def test_a_mean_is_a_sum_and_a_count_with_noise_of_their_own() -> None:
    schema = Schema("data", sf.Row(), {"x": sf.Float(0, 10)})
    certified = certified_question(QUESTION, schema, Cost("epsilon", Fraction(1, 2)))
    assert [type(measure.aggregate) for measure in certified.plan.measures] == [CentredSum, CountValues]
    assert certify(certified.plan, schema, "epsilon") == certified


def test_noise_scaled_by_the_current_size_has_no_epsilon() -> None:
    """The twin: neighbours of size n and n - 1 get Laplace noise of different scale; far out the ratio has no bound."""

    def density(at: float, mean: float, rows: int) -> float:
        scale = 10 / rows
        return exp(-abs(at - mean) / scale) / (2 * scale)

    ratios = [log(density(at, 5.0, 9) / density(at, 5.0, 10)) for at in (10, 100, 500)]
    assert ratios[0] < ratios[1] < ratios[2] < inf
    assert ratios[2] > 10 * 1.0, "epsilon was to be 1"


@pytest.mark.parametrize("rows", [0, 1])
def test_the_mean_of_nobody_is_answered_like_any_other(rows: int, tmp_path: Path) -> None:
    table = pa.table({"x": pa.array([5.0] * rows, pa.float64())})
    budget, ledger = sf.Budget(epsilon=1), tmp_path / "data.ledger"
    with sf.protect(table, unit=sf.Row(), columns={"x": sf.Float(0, 10)}, budget=budget, ledger=ledger) as session:
        mean = session.ask(QUESTION, spend=0.5).rows[0]["mean"]
    assert 0 <= mean <= 10
