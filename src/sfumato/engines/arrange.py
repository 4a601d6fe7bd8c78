"""From an engine's rows to one entry for every declared group and measure: an integer, or the rows of each cell."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from sfumato.errors import too_many_rows
from sfumato.kernel.bounds import Weighed
from sfumato.kernel.gate import Entry
from sfumato.kernel.ranks import MOST_ROWS, Cells
from sfumato.plan.nodes import Plan
from sfumato.plan.parts import Part, parts

Rows = Sequence[Sequence[Any]]


def gather(plan: Plan, results: Sequence[Rows]) -> list[tuple[Entry, ...]]:
    """Results come part by part (`plan.parts`), each as rows of a group's number and its integers."""
    columns: dict[int, Sequence[Entry]] = {}
    for part, rows in zip(parts(plan), results, strict=True):
        if part.kind == "cells":
            columns |= dict.fromkeys(part.measures, _cells(plan, part, rows))
        elif part.kind == "magnitudes":
            columns |= dict.fromkeys(part.measures, _weighed(plan, part, rows))
        else:
            arranged = arrange(part.plan, rows)
            columns |= {place: [row[i] for row in arranged] for i, place in enumerate(part.measures)}
    return list(zip(*(columns[place] for place in range(len(plan.measures))), strict=True))


def arrange(plan: Plan, rows: Rows) -> list[tuple[int, ...]]:
    """One row of integers for every declared group; groups that did not come count 0.

    NULL is how the SQL says that there was too much to add up exactly.
    """
    arranged = [(0,) * len(plan.measures)] * plan.groups
    for group, *values in rows:
        if None in values:
            raise too_many_rows()
        arranged[group] = tuple(int(value) for value in values)
    return arranged


def _cells(plan: Plan, part: Part, rows: Rows) -> list[Entry]:
    """The cells of every group, in order; an engine may name a cell twice."""
    named = np.array([row[0] for row in rows], dtype=np.int64)
    counted = np.array([int(row[1]) for row in rows], dtype=np.int64)
    kept = counted > 0
    numbers, inverse = np.unique(named[kept], return_inverse=True)
    counts = np.zeros(len(numbers), dtype=np.int64)
    np.add.at(counts, inverse, counted[kept])
    if counts.sum() > MOST_ROWS:
        raise too_many_rows()
    edges = np.searchsorted(numbers, np.arange(plan.groups + 1) * part.size)
    return [
        Cells(numbers[first:last] - group * part.size, counts[first:last])
        for group, (first, last) in enumerate(pairwise(edges))
    ]


def _weighed(plan: Plan, part: Part, rows: Rows) -> list[Entry]:
    """Rows and sums of the cells of every group; NULL is how the SQL says that there was too much to add up."""
    if any(total is None for _, _, total in rows):
        raise too_many_rows()
    sums: dict[int, int] = {}
    for number, _, total in rows:
        sums[number] = sums.get(number, 0) + int(total)
    return [
        Weighed(cells, tuple(sums[group * part.size + place] for place in cells.places.tolist()))
        for group, cells in enumerate(_cells(plan, part, rows))
        if isinstance(cells, Cells)
    ]
