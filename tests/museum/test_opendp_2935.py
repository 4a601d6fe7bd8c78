"""OpenDP #2935: NaN silently became 0 on its way to the noise, an answer about nobody.

Rule: only integers reach the kernel, and NaN is NULL long before.
"""

from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.errors import Refused
from sfumato.kernel.certify import certify
from sfumato.kernel.gate import Receipt, release
from sfumato.plan.expressions import Arithmetic, Column
from sfumato.plan.lattice import Lattice
from sfumato.plan.nodes import CentredSum, CountRows, CountValues, Sum
from sfumato.schema.table import Schema
from tests.emitter import arrange, sql_of
from tests.engines.brute_force import twin
from tests.entropy import SeededEntropy
from tests.museum.room import integers, plan_of

NAN, INF = float("nan"), float("inf")
X, LATTICE = Column("x"), Lattice(5, 9, 0)
INF_MINUS_INF = Arithmetic("-", X, X)


@pytest.mark.parametrize("unit", [sf.Row(), sf.Person("who", 9, 1)], ids=["row", "person"])
def test_nan_is_nobodys_value(unit: Any) -> None:
    schema = Schema("people", unit, {"x": sf.Float(5, 9)})
    plan = plan_of(
        CountRows(), CountValues(X), Sum(X, LATTICE), CentredSum(X, LATTICE), CountValues(INF_MINUS_INF), unit=unit
    )
    table = pa.table({"x": [7.0, NAN, -NAN, None, INF], "who": [1, 2, 3, 4, 5]})
    assert integers(plan, schema, table) == [(5, 2, 7 + 9, 0 + 2, 1)]


def test_a_clamp_that_takes_nan_for_a_number_is_flagged() -> None:
    schema = Schema("people", sf.Row(), {"x": sf.Float(5, 9)})
    plan = plan_of(Sum(X, LATTICE))
    careless = twin(("WHEN {real} <= {self.dialect.INFINITY} THEN {high} END", "ELSE {high} END"))
    engine = DuckDBEngine(pa.table({"x": [NAN]}), schema)
    found = arrange(plan, engine.run(sql_of(plan, schema, careless)))
    assert found != integers(plan, schema, pa.table({"x": [NAN]})) == [(0,)]


@pytest.mark.parametrize("value", [NAN, INF, 0.0, 1.5, None, True, "0", Fraction(1)], ids=repr)
def test_the_gate_takes_whole_numbers_only_and_keeps_the_receipt(value: Any) -> None:
    schema = Schema("people", sf.Row(), {"x": sf.Float(5, 9)})
    certified = certify(plan_of(CountRows()), schema, "epsilon")
    receipt = Receipt(1, certified.digest)
    with pytest.raises(Refused, match="whole numbers"):
        release(certified, receipt, [[value]], SeededEntropy("nan"))
    assert release(certified, receipt, [[0]], SeededEntropy("nan"))
