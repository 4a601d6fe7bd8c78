"""The real emitter in the words of DuckDB, also for plans of plain numbers, and what its rows say."""

from collections.abc import Callable, Sequence
from typing import Any

from sfumato.engines.arrange import gather
from sfumato.engines.duckdb.dialect import DUCKDB
from sfumato.engines.sql import counting, sources
from sfumato.plan.counting import Counting, countings
from sfumato.plan.nodes import Plan
from sfumato.plan.sources import Source
from sfumato.schema.table import Schema

Emit = Callable[[Any, Schema], str]


def numbers_of(plan: Plan | Counting) -> Counting:
    """The one counting of a plan that has plain numbers alone."""
    if isinstance(plan, Counting):
        return plan
    (made,) = countings(plan)
    return made


def emit(asked: Plan | Counting, schema: Schema) -> str:
    return counting.emit(numbers_of(asked), schema, DUCKDB)


def sql_of(plan: Plan, schema: Schema, write: Emit = emit) -> str:
    return write(plan, schema)


def write_source(source: Source, schema: Schema) -> str:
    return sources.write_source(source, schema, DUCKDB)


def arrange(plan: Plan, rows: Sequence[Sequence[Any]]) -> list[tuple[int, ...]]:
    """One row of integers for every declared group; groups without rows count 0."""
    return [tuple(row) for row in gather(countings(plan), [rows]).entries]  # type: ignore[arg-type]
