"""Plans of plain numbers, written and read without the rest of the walk."""

from collections.abc import Callable, Sequence
from typing import Any

from sfumato.engines.arrange import gather
from sfumato.engines.sql.counting import emit
from sfumato.plan.counting import Counting, countings
from sfumato.plan.nodes import Plan
from sfumato.schema.table import Schema

Emit = Callable[[Counting, Schema], str]


def numbers_of(plan: Plan) -> Counting:
    """The one counting of a plan that has plain numbers alone."""
    (counting,) = countings(plan)
    return counting


def sql_of(plan: Plan, schema: Schema, write: Emit = emit) -> str:
    return write(numbers_of(plan), schema)


def arrange(plan: Plan, rows: Sequence[Sequence[Any]]) -> list[tuple[int, ...]]:
    """One row of integers for every declared group; groups without rows count 0."""
    return [tuple(row) for row in gather(countings(plan), [rows]).entries]  # type: ignore[arg-type]
