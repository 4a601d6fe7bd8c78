"""The real emitter, in the words of DuckDB."""

from sfumato.engines.duckdb.dialect import DUCKDB
from sfumato.engines.sql import counting, sources
from sfumato.plan.nodes import Plan
from sfumato.plan.sources import Source
from sfumato.schema.table import Schema


def emit(plan: Plan, schema: Schema) -> str:
    return counting.emit(plan, schema, DUCKDB)


def write_source(source: Source, schema: Schema) -> str:
    return sources.write_source(source, schema, DUCKDB)
