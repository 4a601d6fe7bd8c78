"""No plan counts more of a person than the owner allows: in its source, in a fold, on a side of a join."""

from typing import assert_never

from sfumato.errors import plan_refused
from sfumato.kernel.wordings import join_multiplies
from sfumato.plan.caps import Caps
from sfumato.plan.nodes import Plan
from sfumato.plan.sources import Kept, Lookup, OnUnit, PerUnit, Rows, Source, table_caps, unit_of
from sfumato.schema.table import Schema
from sfumato.schema.unit import Person

MOST_PAIRS = 4096  # rows that a join makes of one person: more, and one person would slow a question


def check_ceilings(plan: Plan, schema: Schema) -> None:
    """Refuse caps above the ceilings of the tables they are of, and caps where there is nobody to cap.

    Needs: a plan of the schema's unit, and a source of its tables (`plan.sources.derive`).
    """
    if not isinstance(plan.unit, Person):
        if plan.caps is not None:
            raise plan_refused("it caps the rows of a person where nobody has an id")
        return
    _check_source(plan.table, schema)
    if isinstance(unit_of(plan.table, plan.unit), Person):
        most, caps = table_caps(plan.table, schema), plan.asked_caps
        allowed = Caps(most.max_rows, most.max_groups, most.max_rows_per_group)
        if not all(getattr(caps, name) <= getattr(allowed, name) for name in ("rows", "groups", "rows_per_group")):
            raise plan_refused("it counts more of a person than the owner allows")


def _check_source(source: Source, schema: Schema) -> None:
    match source:
        case str():
            pass
        case Rows(source=inner) | Lookup(source=inner) | Kept(source=inner):
            _check_source(inner, schema)
        case PerUnit(source=inner, rows=rows):
            _check_source(inner, schema)
            _check_rows(rows, inner, schema)
        case OnUnit(left=left, right=right, left_rows=left_rows, right_rows=right_rows):
            _check_source(left, schema)
            _check_source(right, schema)
            _check_rows(left_rows, left, schema)
            _check_rows(right_rows, right, schema)
            # With one row on a side there are as many pairs as rows on the other.
            if min(left_rows, right_rows) > 1 and left_rows * right_rows > MOST_PAIRS:
                raise join_multiplies(left_rows, right_rows, MOST_PAIRS)
        case _:
            assert_never(source)


def _check_rows(rows: int, source: Source, schema: Schema) -> None:
    if rows > table_caps(source, schema).max_rows:
        raise plan_refused("it counts more rows of a person in a part than the owner allows")
