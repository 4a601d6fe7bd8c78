"""Which engine a source belongs to."""

from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.engines.protocol import Engine
from sfumato.schema.limits import Limits
from sfumato.schema.table import Schema


def open_engine(
    source: object,
    schema: Schema,
    *,
    source_table: str | None = None,
    limits: Limits | None = None,
    version: str | None = None,
) -> Engine:
    """DuckDB reads files and tables in memory, which is all there is so far."""
    return DuckDBEngine(source, schema, source_table=source_table, limits=limits, version=version)
