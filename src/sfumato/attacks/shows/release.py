"""Releases to attack: a table in classes of at least k, and noisy counts and sums through a session."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.anonymise import mondrian
from sfumato.attacks.shows.scene import Scene
from sfumato.attacks.staging import session_on
from sfumato.schema.columns import Category, Declared, Float
from sfumato.schema.numbers import exact_positive

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

# Counts in an answer, so that a session can group by every cell of the public grid, and people in a cell on average,
# so that its counts say something beside the noise.
LARGEST_GRID, PEOPLE_A_CELL = 20_000, 5
BINS, MOST_VALUES = 4, 20


def general(table: pa.Table, quasi: Sequence[str], k: int) -> pa.Table:
    """The table in classes of at least k, by Mondrian."""
    return mondrian(table, quasi, k=k).to_arrow()


def _ranks(column: "pa.ChunkedArray[Any]") -> tuple[Integers, list[Any]]:
    listed = column.to_pylist()
    values = sorted({value for value in listed if value is not None}) + ([None] if None in listed else [])
    place = {value: position for position, value in enumerate(values)}
    return np.array([place[value] for value in listed], dtype=np.int64), values


def binned(scene: Scene) -> tuple[pa.Table, list[str]]:
    """The quasi-identifiers in a few bins, as many columns as a grid can carry, one at least; and the sensitive column.

    The grid follows from what a policy declares: the range of a number, the list of a column's possible values.
    """
    secret = _binned(scene.table[scene.secret], MOST_VALUES)
    kept: list[str] = []
    cells, most = len(set(secret)), min(LARGEST_GRID, scene.table.num_rows // PEOPLE_A_CELL)
    columns: dict[str, Any] = {}
    for name in scene.quasi:
        bins = _binned(scene.table[name], BINS)
        if not kept or cells * len(set(bins)) <= most:
            cells *= len(set(bins))
            kept.append(name)
            columns[name] = pa.array(bins)
    return pa.table(columns | {scene.secret: pa.array(secret)}), kept


def _binned(column: "pa.ChunkedArray[Any]", most: int) -> list[str]:
    """Numbers in intervals of equal width, texts as they are or, where there are many, in lists of neighbours.

    Where there are many values, NULL is a part of its own.
    """
    codes, values = _ranks(column)
    if len(values) <= most:
        return [str(values[code]) for code in codes.tolist()]
    known = [value for value in values if value is not None]
    if isinstance(known[0], int | float):
        low, high = float(np.floor(known[0])), float(np.ceil(known[-1])) + 1
        place = [most if value is None else int((value - low) / (high - low) * most) for value in values]
    else:
        place = [most if value is None else rank * most // len(known) for rank, value in enumerate(values)]
    names = [*(f"band {part}" for part in range(most)), "nothing"]
    return [names[place[code]] for code in codes.tolist()]


def private_counts(
    table: pa.Table, grids: Sequence[Sequence[str]], sensitive: str, epsilon: float, *, name: str
) -> list[pa.Table]:
    """How many people have each sensitive value in each cell of each grid, through one session that spends all it has.

    Every grid gets an equal share, and fresh noise, even where it was asked before. name: of the column of counts.
    """
    used = dict.fromkeys([*(key for keys in grids for key in keys), sensitive])
    columns: dict[str, Declared] = {key: Category(_values(table, key)) for key in used}
    spend = exact_positive(epsilon, "epsilon") / len(grids)
    with session_on(table.select(list(used)), columns, epsilon) as session:
        asked = [", ".join(f'"{key}"' for key in (*keys, sensitive)) for keys in grids]
        return [
            session.ask(
                f'SELECT {names}, COUNT(*) AS "{name}" FROM data GROUP BY {names}',  # noqa: S608
                spend=spend,
                fresh=True,
            ).to_arrow()
            for names in asked
        ]


def sums_by_person(columns: Mapping[str, Floats], epsilon: float, *, times: int = 1) -> dict[str, Floats]:
    """Each person's number in each column, from 0 to 1, as a session answers it that spends all it has.

    Every person is a group alone. times: so often is the question asked; the answers follow each other by person.
    """
    people = len(next(iter(columns.values())))
    declared: dict[str, Declared] = {name: Float(0, 1) for name in columns}
    declared["pid"] = Category(list(range(people)))
    sums = ", ".join(f"SUM({name}) AS {name}" for name in columns)
    spend = exact_positive(epsilon, "epsilon") / times
    with session_on(pa.table({"pid": np.arange(people), **columns}), declared, epsilon) as session:
        answers = [
            session.ask(f"SELECT pid, {sums} FROM data GROUP BY pid", spend=spend, fresh=True)  # noqa: S608
            .to_arrow()
            .sort_by("pid")
            for _ in range(times)
        ]
    return {name: np.stack([answer[name].to_numpy() for answer in answers], axis=1).reshape(-1) for name in columns}


def _values(table: pa.Table, name: str) -> list[Any]:
    return sorted(set(table[name].to_pylist()))
