"""From an engine's rows to one entry for every group and measure: an integer, or the rows of each cell."""

from collections.abc import Sequence
from itertools import islice, pairwise
from typing import Any

import numpy as np

from sfumato.engines.protocol import Engine, Query, RowsFound
from sfumato.engines.wordings import engine_failed
from sfumato.kernel.gate import Found, Group
from sfumato.kernel.mechanisms.protocol import MOST_COUNTED_ROWS, Added, CellCounts, CellSums, Numbers, Weighed
from sfumato.plan.counting import Counting
from sfumato.plan.nodes import OpenKey


def look(engine: Engine, made: Sequence[Counting], sql: Sequence[str]) -> Found:
    """What an engine finds now for the countings of a plan, given what `engines.sql.counting` wrote for each."""
    (found,) = look_at_all(engine, [(made, sql)], engine.version())
    return found


def look_at_all(engine: Engine, asked: Sequence[tuple[Sequence[Counting], Sequence[str]]], version: str) -> list[Found]:
    """What an engine finds for several plans, each given by its countings and their SQL.

    Claim: all of it is of one state of the data, the one of this name. Proof: the engine is asked once (`Engine.rows`).
    """
    queries = [
        Query(one, cells=counting.kind == "cells" and not counting.open)
        for made, sql in asked
        for counting, one in zip(made, sql, strict=True)
    ]
    results = iter(engine.rows(queries, version))
    return [gather(made, list(islice(results, len(sql)))) for made, sql in asked]


def gather(made: Sequence[Counting], results: Sequence[RowsFound]) -> Found:
    """Results come counting by counting, each as rows of values of open keys, a group's number, integers.

    All declared groups are there; with open keys those that have rows, with the number of their units or their weight.
    """
    width = sum(isinstance(key, OpenKey) for key in made[0].keys)
    if not width:
        groups: list[Group] = [(number,) for number in range(made[0].groups)]
        units = None
    else:
        groups = [tuple(row[: width + 1]) for row in results[0]]
        units = np.array(_numbers([row[-1] for row in results[0]]), dtype=np.int64)
    columns: dict[int, Sequence[Added]] = {}
    tables: dict[int, list[Sequence[CellCounts]]] = {}
    for counting, rows in zip(made, results, strict=True):
        if counting.table is not None:
            (place,) = counting.measures
            tables.setdefault(place, []).append(_cells(counting, rows, groups, width))
        elif counting.kind == "sums":
            columns |= dict(zip(counting.measures, _sums(counting, rows, groups, width), strict=True))
        elif counting.kind == "cells":
            columns |= dict.fromkeys(counting.measures, _cells(counting, rows, groups, width))
        elif counting.kind == "magnitudes":
            columns |= dict.fromkeys(counting.measures, _weighed(counting, rows, groups, width))
        elif counting.kind == "distinct":
            found = {tuple(row[: width + 1]): row[width + 1] for row in rows}
            columns |= {place: [int(found.get(group, 0)) for group in groups] for place in counting.measures}
        else:
            shown = {tuple(row[: width + 1]): row[width + 1 :] for row in rows}
            missing = (0,) * len(counting.counted)
            entries = [shown.get(group, missing) for group in groups]
            columns |= {place: _numbers([row[i] for row in entries]) for i, place in enumerate(counting.measures)}
    columns |= {place: list(zip(*found, strict=True)) for place, found in tables.items()}
    by_measure = [columns[place] for place in range(len(columns))]
    entries = list(zip(*by_measure, strict=True)) if columns else [()] * len(groups)
    return Found(entries, groups if width else None, units)


def _numbers(values: Sequence[Any]) -> list[int]:
    """NULL is how the SQL says that there was too much to add up exactly."""
    if None in values:
        raise engine_failed()
    return [*map(int, values)]


def _cells(counting: Counting, rows: RowsFound, groups: Sequence[Group], width: int) -> list[CellCounts]:
    """The cells of every group, in order; an engine may name a cell twice."""
    columns = rows.T if isinstance(rows, np.ndarray) else list(zip(*rows, strict=True)) or [()] * (width + 2)
    numbered, counted = (np.asarray(columns[place], dtype=np.int64) for place in (width, width + 1))
    if counted.sum() > MOST_COUNTED_ROWS:
        raise engine_failed()
    owner: Numbers = numbered // counting.size
    if width:
        place_of = {group: place for place, group in enumerate(groups)}
        named_by = zip((row[:width] for row in rows), owner.tolist(), strict=True)
        owner = np.array([place_of.get((*opened, number), -1) for opened, number in named_by], dtype=np.int64)
    named = owner * counting.size + numbered % counting.size
    kept = (counted > 0) & (owner >= 0)
    numbers, inverse = np.unique(named[kept], return_inverse=True)
    counts = np.zeros(len(numbers), dtype=np.int64)
    np.add.at(counts, inverse, counted[kept])
    edges = np.searchsorted(numbers, np.arange(len(groups) + 1) * counting.size)
    return [
        CellCounts(numbers[first:last] - place * counting.size, counts[first:last])
        for place, (first, last) in enumerate(pairwise(edges))
    ]


def _weighed(counting: Counting, rows: RowsFound, groups: Sequence[Group], width: int) -> list[Added]:
    """Rows and sums of the cells of every group; NULL is how the SQL says that there was too much to add up."""
    sums: dict[tuple[Group, int], int] = {}
    for row in rows:
        (total,) = _numbers(row[width + 2 :])
        named = (*row[:width], row[width] // counting.size), row[width] % counting.size
        sums[named] = sums.get(named, 0) + total
    return [
        Weighed(cells, tuple(sums[group, place] for place in cells.places.tolist()))
        for group, cells in zip(groups, _cells(counting, rows, groups, width), strict=True)
    ]


def _sums(counting: Counting, rows: RowsFound, groups: Sequence[Group], width: int) -> list[list[Added]]:
    """Of everything that is added up the sums in the cells of every group; an engine may name a cell twice."""
    found: dict[Group, dict[int, tuple[int, ...]]] = {group: {} for group in groups}
    for row in rows:
        own = found.get((*row[:width], row[width] // counting.size))
        if own is not None:
            place, sums = row[width] % counting.size, _numbers(row[width + 1 :])
            own[place] = tuple(map(sum, zip(own.get(place, (0,) * len(sums)), sums, strict=True)))
    places = {group: np.array(sorted(own), dtype=np.int64) for group, own in found.items()}
    return [
        [CellSums(places[group], tuple(own[place][i] for place in sorted(own))) for group, own in found.items()]
        for i in range(len(counting.counted))
    ]
