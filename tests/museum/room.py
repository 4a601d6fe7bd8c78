"""What the exhibits share: a plan's integers through the real emitter and engine, and what the kernel certifies."""

from fractions import Fraction
from typing import Any

import pyarrow as pa

import sfumato as sf
from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.kernel.certify import Certified, certify
from sfumato.kernel.cost import Cost
from sfumato.plan.nodes import Aggregate, Key, Measure, Plan
from sfumato.query.planned import planned
from sfumato.schema.table import Schema
from tests.emitter import arrange, sql_of


def plan_of(*aggregates: Aggregate, unit: Any = None, keys: tuple[Key, ...] = ()) -> Plan:
    measures = tuple(Measure(aggregate, "laplace", Fraction(1)) for aggregate in aggregates)
    return Plan("people", unit or sf.Row(), None, keys, measures)


def integers(plan: Plan, schema: Schema, table: pa.Table) -> list[tuple[int, ...]]:
    engine = DuckDBEngine(table, schema)
    found = arrange(plan, engine.run(sql_of(plan, schema)))
    engine.close()
    return found


def bounds_of(plan: Plan, schema: Schema) -> list[int]:
    return [release.sensitivity.l1 for release in certify(plan, schema, "epsilon").releases]


def certified_question(question: str, schema: Schema, price: Cost) -> Certified:
    return planned(question, schema, price).certified
