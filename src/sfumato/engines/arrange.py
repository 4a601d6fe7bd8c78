"""From an engine's rows to one entry for every group and measure: an integer, or the rows of each cell."""

from collections.abc import Sequence
from itertools import islice, pairwise
from typing import Any

import numpy as np

from sfumato.engines.protocol import Engine, Query, RowsFound
from sfumato.errors import engine_failed
from sfumato.kernel.gate import Entry, Found, Group
from sfumato.kernel.mechanisms.found_bounds import Weighed
from sfumato.kernel.mechanisms.ranks import MOST_ROWS, Cells, Numbers
from sfumato.plan.nodes import OpenKey, Plan
from sfumato.plan.parts import Part, parts


def look(engine: Engine, plan: Plan, sql: Sequence[str]) -> Found:
    """What an engine finds for a plan, given what `engines.sql.counting` wrote for its parts."""
    (found,) = look_at_all(engine, [(plan, sql)])
    return found


def look_at_all(engine: Engine, asked: Sequence[tuple[Plan, Sequence[str]]]) -> list[Found]:
    """What an engine finds for several plans, each with the SQL of its parts.

    Claim: all of it is of one state of the data. Proof: the engine is asked once (`Engine.rows`).
    """
    queries = [
        Query(one, cells=part.kind == "cells" and not plan.open)
        for plan, sql in asked
        for part, one in zip(parts(plan), sql, strict=True)
    ]
    results = iter(engine.rows(queries))
    return [gather(plan, list(islice(results, len(sql)))) for plan, sql in asked]


def gather(plan: Plan, results: Sequence[RowsFound]) -> Found:
    """Results come part by part (`plan.parts`), each as rows of values of open keys, a group's number, integers.

    All declared groups are there; with open keys those that have rows, with the number of their units.
    """
    width, made = sum(isinstance(key, OpenKey) for key in plan.keys), parts(plan)
    if not width:
        groups: list[Group] = [(number,) for number in range(plan.groups)]
        units = None
    else:
        groups = [tuple(row[: width + 1]) for row in results[0]]
        units = np.array([int(row[-1]) for row in results[0]], dtype=np.int64)
    columns: dict[int, Sequence[Entry]] = {}
    for part, rows in zip(made, results, strict=True):
        if part.kind == "cells":
            columns |= dict.fromkeys(part.measures, _cells(part, rows, groups, width))
        elif part.kind == "magnitudes":
            columns |= dict.fromkeys(part.measures, _weighed(part, rows, groups, width))
        else:
            shown = {tuple(row[: width + 1]): row[width + 1 :] for row in rows}
            missing = (0,) * len(part.plan.measures)
            entries = [_numbers(shown.get(group, missing)) for group in groups]
            columns |= {place: [row[i] for row in entries] for i, place in enumerate(part.measures)}
    return Found(
        list(zip(*(columns[place] for place in range(len(plan.measures))), strict=True)),
        groups if width else None,
        units,
    )


def arrange(plan: Plan, rows: RowsFound) -> list[tuple[int, ...]]:
    """Of a part of plain numbers one row of integers for every declared group; groups that did not come count 0."""
    arranged = [(0,) * len(plan.measures)] * plan.groups
    for group, *values in rows:
        arranged[group] = _numbers(values)
    return arranged


def _numbers(values: Sequence[Any]) -> tuple[int, ...]:
    """NULL is how the SQL says that there was too much to add up exactly."""
    if None in values:
        raise engine_failed()
    return tuple(int(value) for value in values)


def _cells(part: Part, rows: RowsFound, groups: Sequence[Group], width: int) -> list[Entry]:
    """The cells of every group, in order; an engine may name a cell twice."""
    columns = rows.T if isinstance(rows, np.ndarray) else list(zip(*rows, strict=True)) or [()] * (width + 2)
    numbered, counted = (np.asarray(columns[place], dtype=np.int64) for place in (width, width + 1))
    if counted.sum() > MOST_ROWS:
        raise engine_failed()
    owner: Numbers = numbered // part.size
    if width:
        place_of = {group: place for place, group in enumerate(groups)}
        named_by = zip((row[:width] for row in rows), owner.tolist(), strict=True)
        owner = np.array([place_of.get((*opened, number), -1) for opened, number in named_by], dtype=np.int64)
    named = owner * part.size + numbered % part.size
    kept = (counted > 0) & (owner >= 0)
    numbers, inverse = np.unique(named[kept], return_inverse=True)
    counts = np.zeros(len(numbers), dtype=np.int64)
    np.add.at(counts, inverse, counted[kept])
    edges = np.searchsorted(numbers, np.arange(len(groups) + 1) * part.size)
    return [
        Cells(numbers[first:last] - place * part.size, counts[first:last])
        for place, (first, last) in enumerate(pairwise(edges))
    ]


def _weighed(part: Part, rows: RowsFound, groups: Sequence[Group], width: int) -> list[Entry]:
    """Rows and sums of the cells of every group; NULL is how the SQL says that there was too much to add up."""
    sums: dict[tuple[Group, int], int] = {}
    for row in rows:
        (total,) = _numbers(row[width + 2 : width + 3])  # with open keys the units come last
        named = (*row[:width], row[width] // part.size), row[width] % part.size
        sums[named] = sums.get(named, 0) + total
    return [
        Weighed(cells, tuple(sums[group, place] for place in cells.places.tolist()))
        for group, cells in zip(groups, _cells(part, rows, groups, width), strict=True)
        if isinstance(cells, Cells)
    ]
