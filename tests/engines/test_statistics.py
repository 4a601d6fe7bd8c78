"""What a NaN row counts as must not depend on the other rows, whatever statistics say of them."""

from fractions import Fraction
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.plan.expressions import AllOf, Arithmetic, Column, Comparison, Condition, IsNull, Not, Number
from sfumato.plan.lattice import Lattice
from sfumato.plan.nodes import CentredSum, CountRows, CountValues, Measure, Plan, Sum
from sfumato.schema.columns import Float
from sfumato.schema.table import Schema
from sfumato.schema.unit import Row
from tests.emitter import arrange, sql_of

X = Column("x")
MORE = Arithmetic("+", X, Number(Fraction(1)))
SCHEMA = Schema("people", Row(), {"x": Float(0, 100)})
LATTICE = Lattice.covering(Fraction(0), Fraction(100), whole=False)
AGGREGATES = (CountRows(), CountValues(X), CountValues(MORE), Sum(X, LATTICE), CentredSum(MORE, LATTICE))
CONDITIONS: list[Condition | None] = [
    None,
    Comparison(">", X, Number(Fraction(100))),
    Not(Comparison("<", X, Number(Fraction(100)))),
    IsNull(X),
    AllOf((Not(IsNull(MORE)), Comparison("<", MORE, Number(Fraction(1000))))),
]
FEW = [1.0, 50.0, float("nan")]


def integers(rows: list[float], where: Condition | None, path: Path, *, in_place: bool) -> tuple[int, ...]:
    plan = Plan("people", Row(), where, (), tuple(Measure(a, "laplace", Fraction(1)) for a in AGGREGATES))
    table = pa.table({"x": pa.array(rows, pa.float64())})
    pq.write_table(table, path)
    engine = DuckDBEngine(path if in_place else table, SCHEMA)
    try:
        return arrange(plan, engine.run(sql_of(plan, SCHEMA)))[0]
    finally:
        engine.close()


@pytest.mark.parametrize("in_place", [True, False], ids=["parquet", "loaded"])
@pytest.mark.parametrize("where", CONDITIONS, ids=["all", "above", "not below", "null", "not null"])
@pytest.mark.parametrize("added", [200.0, -5.0, float("inf"), 70.0])
def test_one_row_moves_each_measure_by_its_own_contribution(
    tmp_path: Path, where: Condition | None, added: float, in_place: bool
) -> None:
    before, alone, after = (
        integers(rows, where, tmp_path / "people.parquet", in_place=in_place) for rows in (FEW, [added], [*FEW, added])
    )
    assert [b + a for b, a in zip(before, alone, strict=True)] == list(after)


def test_trusting_statistics_would_break_this(tmp_path: Path) -> None:
    """The twin: the same question with the optimiser as it comes."""
    found = []
    for rows in (FEW, [200.0], [*FEW, 200.0]):
        pq.write_table(pa.table({"x": pa.array(rows, pa.float64())}), tmp_path / "people.parquet")
        with duckdb.connect() as connection:
            connection.execute(f"CREATE VIEW people AS SELECT * FROM '{tmp_path}/people.parquet'")
            plan = Plan("people", Row(), None, (), (Measure(Sum(X, LATTICE), "laplace", Fraction(1)),))
            found.append(connection.execute(sql_of(plan, SCHEMA)).fetchone()[1])
    assert found[0] + found[1] != found[2]
