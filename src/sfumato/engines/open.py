"""Which engine a source belongs to, and how many of it a table gets."""

from contextlib import ExitStack, closing
from dataclasses import replace

from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.engines.lanes import Lanes
from sfumato.engines.protocol import Engines
from sfumato.engines.wordings import changed_while_opened
from sfumato.schema.limits import Limits
from sfumato.schema.table import Schema

ONCE = ("RecordBatchReader",)  # what can be read only once


def open_engine(
    source: object,
    schema: Schema,
    *,
    source_table: str | None = None,
    limits: Limits | None = None,
    version: str | None = None,
) -> Engines:
    """DuckDB reads files and tables in memory, which is all there is so far. Several slots share the memory."""
    if limits is None or limits.slots == 1 or limits.memory is None:
        return DuckDBEngine(source, schema, source_table=source_table, limits=limits, version=version)
    if type(source).__name__ in ONCE:  # also where nothing is in it
        raise changed_while_opened()
    part = replace(limits, memory=limits.memory // limits.slots, slots=1)
    with ExitStack() as opened:  # where one cannot be opened, none stays open
        engines = []
        for _ in range(limits.slots):
            engine = DuckDBEngine(source, schema, source_table=source_table, limits=part, version=version)
            engines.append(opened.enter_context(closing(engine)))
        lanes = Lanes(engines)
        opened.pop_all()
        return lanes
