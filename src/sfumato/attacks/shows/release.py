"""Releases to attack: a table without names, one in classes of at least k, and noisy counts through a session."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.attacks.shows.scene import Scene, session_on
from sfumato.schema.columns import Category, Column

Integers = NDArray[np.int64]

# Counts in an answer, so that a session can group by every cell of the public grid.
LARGEST_GRID = 20_000
BINS, MOST_VALUES = 4, 20


def halved(table: pa.Table, quasi: Sequence[str], k: int) -> pa.Table:
    """Classes of at least k by splitting the widest column at its median, again and again (LeFevre et al. 2006).

    Numbers become intervals, texts lists of the values in the class.
    """
    ranks = {name: _ranks(table[name]) for name in quasi}
    released: dict[str, list[str]] = {name: [""] * table.num_rows for name in quasi}
    pending = [np.arange(table.num_rows, dtype=np.int64)]
    while pending:
        rows = pending.pop()
        if parts := _split(rows, [codes for codes, _ in ranks.values()], k):
            pending.extend(parts)
            continue
        for name, (codes, values) in ranks.items():
            text = _covering([values[code] for code in np.unique(codes[rows]).tolist()])
            for row in rows.tolist():
                released[name][row] = text
    for name in quasi:
        table = table.set_column(table.column_names.index(name), name, pa.array(released[name]))
    return table


def _ranks(column: "pa.ChunkedArray[Any]") -> tuple[Integers, list[Any]]:
    listed = column.to_pylist()
    values = sorted({value for value in listed if value is not None}) + ([None] if None in listed else [])
    place = {value: position for position, value in enumerate(values)}
    return np.array([place[value] for value in listed], dtype=np.int64), values


def _split(rows: Integers, columns: list[Integers], k: int) -> list[Integers]:
    """Two parts of at least k rows each, or nothing."""
    if len(rows) < 2 * k:
        return []
    width = [np.ptp(codes[rows]) / max(1, int(codes.max())) for codes in columns]
    for place in np.argsort(width)[::-1]:
        codes = columns[place][rows]
        below = codes <= np.sort(codes)[(len(rows) - 1) // 2]
        if below.all():
            below = codes < codes.max()
        if k <= below.sum() <= len(rows) - k:
            return [rows[below], rows[~below]]
    return []


def _covering(values: list[Any]) -> str:
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
        return str(values[0]) if len(values) == 1 else f"[{min(values)}, {max(values)}]"
    return str(values[0]) if len(values) == 1 else "{" + ", ".join(str(value) for value in values) + "}"


def binned(scene: Scene, attack: str, sensitive: str) -> tuple[pa.Table, list[str]]:
    """The quasi-identifiers in a few bins, as many columns as a grid of counts can carry, and the sensitive column.

    The grid follows from what a policy declares: the range of a number, the list of a column's possible values.
    """
    secret = _binned(scene.table[sensitive], MOST_VALUES)
    kept, cells = [], len(set(secret))
    columns: dict[str, Any] = {}
    for name in scene.needs_quasi(attack):
        bins = _binned(scene.table[name], BINS)
        if cells * len(set(bins)) <= LARGEST_GRID:
            cells *= len(set(bins))
            kept.append(name)
            columns[name] = pa.array(bins)
    return pa.table(columns | {sensitive: pa.array(secret)}), kept


def _binned(column: "pa.ChunkedArray[Any]", most: int) -> list[str]:
    """Numbers in intervals of equal width, texts as they are or, where there are many, in lists of neighbours."""
    codes, values = _ranks(column)
    if len(values) <= most:
        return [str(values[code]) for code in codes.tolist()]
    if isinstance(values[0], int | float):
        low, high = float(np.floor(values[0])), float(np.ceil(values[-1])) + 1
        place = np.floor((np.array(column.to_pylist(), dtype=np.float64) - low) / (high - low) * most)
        return [f"band {int(part)}" for part in place.tolist()]
    return [f"part {part}" for part in (codes * most // len(values)).tolist()]


def private_counts(table: pa.Table, keys: Sequence[str], sensitive: str, epsilon: float) -> pa.Table:
    """How many people have each sensitive value in each cell of the grid, through a session that spends all it has."""
    columns: dict[str, Column] = {name: Category(_values(table, name)) for name in (*keys, sensitive)}
    names = ", ".join(f'"{name}"' for name in (*keys, sensitive))
    with session_on(table, columns, epsilon) as session:
        sql = f'SELECT {names}, COUNT(*) AS "persons counted" FROM data GROUP BY {names}'  # noqa: S608
        answer: pa.Table = session.ask(sql, spend=epsilon).to_arrow()
    return answer


def _values(table: pa.Table, name: str) -> list[Any]:
    return sorted(set(table[name].to_pylist()))
