"""Faults in how the emitter composes SQL: each makes it disagree with the plain-Python interpreter."""

from collections.abc import Iterator

import pytest

from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.errors import EngineFailed
from sfumato.plan.nodes import Plan
from tests.contract.everything import TABLE, plans_about_everything
from tests.emitter import Emit, arrange, emit, sql_of
from tests.engines.brute_force import twin
from tests.reference import evaluate


def differences(emitter: Emit) -> Iterator[Plan]:
    """The plans over the table with everything in it on which an emitter disagrees with the reference."""
    engine, rows = DuckDBEngine(TABLE, next(plans_about_everything())[1]), TABLE.to_pylist()
    try:
        for plan, schema in plans_about_everything():
            try:
                expected = evaluate(plan, schema, rows)
            except ValueError:
                continue  # max_groups binds
            try:
                if arrange(plan, engine.run(sql_of(plan, schema, emitter))) != expected:
                    yield plan
            except EngineFailed:
                yield plan
    finally:
        engine.close()


def test_the_emitter_agrees_with_the_reference() -> None:
    assert list(differences(emit)) == []


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        pytest.param(
            'dialect.quotient(_big(caps.rows, dialect), "many")',
            "_big(caps.rows, dialect)",
            id="rows not shared out",
        ),
        pytest.param("WHEN s{i} < most * {low} THEN most * {low} ", "", id="sum not clipped below"),
        pytest.param("WHEN c{i} > most THEN most", "WHEN n > most THEN most", id="NULLs counted when bounded"),
        pytest.param("{column(counting.unit.id, writer.dialect)} IS NOT NULL", "TRUE", id="NULL ids kept"),
        pytest.param("(NOT {self.condition(operand)})", "COALESCE(NOT {self.condition(operand)}, TRUE)", id="NOT NULL"),
        pytest.param("{' OR '.join", "{' AND '.join", id="OR as AND"),
        pytest.param("AND {high} THEN {place} END", "AND {high} + 6 THEN {place} % 6 END", id="undeclared kept"),
        pytest.param('COUNT(v{i}) AS s{i}"', 'COUNT(*) AS s{i}"', id="NULLs centred"),
        pytest.param('[f"ELSE {self._as(otherwise, kind)}"]', "[]", id="ELSE forgotten"),
    ],
)
def test_an_emitter_with_a_fault_disagrees(right: str, wrong: str) -> None:
    assert any(differences(twin((right, wrong))))
