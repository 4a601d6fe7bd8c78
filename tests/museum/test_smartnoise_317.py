"""SmartNoise #317: a column without bounds had the sensitivity None, and its SUM was released without noise.

Rule: unknown means refuse, before anything is charged.
"""

from fractions import Fraction
from pathlib import Path

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import Refused
from sfumato.kernel.mechanisms.additive import DiscreteGaussian, DiscreteLaplace
from sfumato.plan.expressions import Column
from sfumato.plan.lattice import Lattice
from sfumato.plan.nodes import CentredSum, Sum
from sfumato.schema.table import Schema
from tests.museum.room import bounds_of, plan_of


@pytest.mark.parametrize("call", ["SUM(wealth)", "AVG(wealth)", "SUM(wealth * age)", "SUM(age / wealth)"])
def test_a_sum_without_bounds_is_refused_and_costs_nothing(call: str, tmp_path: Path) -> None:
    table = pa.table({"wealth": [1.0, 2.0], "age": [30, 40]})
    columns = {"wealth": sf.Float(), "age": sf.Int(0, 100)}
    budget, ledger = sf.Budget(epsilon=1), tmp_path / "data.ledger"
    with sf.protect(table, unit=sf.Row(), columns=columns, budget=budget, ledger=ledger) as session:
        with pytest.raises(Refused, match="has no bounds"):
            session.ask(f"SELECT {call} FROM data", spend=0.5)
        assert session.history() == []
        assert session.budget.spent.epsilon == 0


def test_a_sum_without_a_lattice_cannot_even_be_written_down() -> None:
    for kind in (Sum, CentredSum):
        with pytest.raises(TypeError):
            kind(Column("wealth"))  # type: ignore[call-arg]


def test_no_noise_is_no_mechanism() -> None:
    for nothing in (Fraction(0), Fraction(-1)):
        with pytest.raises(ValueError, match="positive"):
            DiscreteLaplace(nothing)
        with pytest.raises(ValueError, match="positive"):
            DiscreteGaussian(nothing)
    with pytest.raises(Refused, match="constant"):
        bounds_of(plan_of(Sum(Column("x"), Lattice(0, 0, 0))), Schema("people", sf.Row(), {"x": sf.Float()}))
