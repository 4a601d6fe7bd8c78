"""From an engine's rows to one row of integers for every declared group."""

from collections.abc import Iterable, Sequence
from typing import Any

from sfumato.errors import too_many_rows
from sfumato.plan.nodes import Plan


def arrange(plan: Plan, rows: Iterable[Sequence[Any]]) -> list[tuple[int, ...]]:
    """Rows come as the number of a group and one integer a measure; groups that did not come count 0.

    NULL is how the SQL says that there was too much to add up exactly.
    """
    arranged = [(0,) * len(plan.measures)] * plan.groups
    for group, *values in rows:
        if None in values:
            raise too_many_rows()
        arranged[group] = tuple(int(value) for value in values)
    return arranged
