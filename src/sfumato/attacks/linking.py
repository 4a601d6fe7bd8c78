"""Linking: names come back to a table without names, through what both tables know."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.attacks.result import AttackResult
from sfumato.attacks.tabular import as_arrow, codes_of, need_column
from sfumato.errors import UsageError

Integers = NDArray[np.int64]

_RESERVED = ("row", "identity")


def linking(
    released: object,
    auxiliary: object,
    on: Sequence[str],
    *,
    identity: str | None = None,
    truth: Iterable[Any] | None = None,
) -> AttackResult[dict[str, Any]]:
    """Name each released record whose values in the columns `on` belong to exactly one person of the auxiliary table.

    released, auxiliary: Arrow, pandas or Polars tables or lists of dicts, e.g. a hospital's table and a voter list.
    identity: the auxiliary column that names a person; rows that share it are one person. Without it every row is a
    person, named by the one column that the released table lacks, or by its row number when that is not one column.
    truth: who the released records really are, in their order.

    recovered: {"row": position in released, "identity": name, and the released record itself} for each named record.
    success: the share of the released records named, counting only the rightly named when `truth` is given. Without it
    a name may be wrong: the true person may be missing from the auxiliary table.
    chance: what naming every record after a random person of the auxiliary table gets right if all are in it.
    bound: None, as a table without names promises nothing.

    Claim: NULL and NaN match nothing, not even each other.
    """
    known, other = as_arrow(released, "released"), as_arrow(auxiliary, "auxiliary")
    keys = _keys(known, other, on)
    labels, persons = _persons(known, other, identity)
    owner = _sole_owners(keys[known.num_rows :], persons, highest=int(keys.max()))[keys[: known.num_rows]]
    rows = np.flatnonzero(owner >= 0)
    names = labels.take(owner[rows]).to_pylist()
    named = [(row, name) for row, name in zip(rows.tolist(), names, strict=True) if name is not None]
    hits = len(named) if truth is None else _hits(named, truth, known.num_rows)
    records = known.take(pa.array([row for row, _ in named], type=pa.int64())).to_pylist()
    return AttackResult(
        name="linking",
        recovered=[
            # Released columns of the same names give way.
            {"row": row, "identity": name} | {key: value for key, value in record.items() if key not in _RESERVED}
            for (row, name), record in zip(named, records, strict=True)
        ],
        success=hits / known.num_rows,
        chance=1 / len(np.unique(persons)),
        bound=None,
        attempts=known.num_rows,
    )


def _keys(released: pa.Table, auxiliary: pa.Table, on: Sequence[str]) -> Integers:
    """One number for each combination of values in `on`, released rows first; 0 for combinations with a NULL."""
    if isinstance(on, str):
        raise UsageError("on must be a list of columns, not one text.", f'Write on=["{on}"].')
    if not on:
        raise UsageError("on names no column to link by.", 'List what both tables know, e.g. on=["zip", "birth_date"].')
    for name in on:
        need_column(released, "released", name)
        need_column(auxiliary, "auxiliary", name)
    combined = np.zeros(released.num_rows + auxiliary.num_rows, dtype=np.int64)
    complete = np.ones(len(combined), dtype=np.bool_)
    for name in on:
        codes = codes_of([released[name], auxiliary[name]])
        complete &= codes >= 0
        # Renumbering after each column keeps the product far below 2^63, however many columns there are.
        combined = np.unique(combined * (codes.max() + 2) + codes + 1, return_inverse=True)[1].astype(np.int64)
    return np.where(complete, combined + 1, 0)


def _persons(released: pa.Table, auxiliary: pa.Table, identity: str | None) -> tuple["pa.ChunkedArray[Any]", Integers]:
    """The name in each auxiliary row, and a number that rows of one person share."""
    row_numbers = np.arange(auxiliary.num_rows, dtype=np.int64)
    if identity is not None:
        need_column(auxiliary, "auxiliary", identity)
        codes = codes_of([auxiliary[identity]])
        # A row without a name is somebody too: it must keep its namesakes in `on` from looking unique.
        return auxiliary[identity], np.where(codes >= 0, codes, codes.max() + 1 + row_numbers)
    lacking = [name for name in auxiliary.column_names if name not in released.column_names]
    if len(lacking) == 1:
        return auxiliary[lacking[0]], row_numbers
    return pa.chunked_array([pa.array(row_numbers)]), row_numbers


def _sole_owners(keys: Integers, persons: Integers, *, highest: int) -> Integers:
    """For each key from 0 to the highest, an auxiliary row of the only person who has it, or -1."""
    numbers = np.unique(persons, return_inverse=True)[1]
    _, rows = np.unique(keys * (numbers.max() + 1) + numbers, return_index=True)
    holders = np.bincount(keys[rows], minlength=highest + 1)
    owners = np.full(highest + 1, -1, dtype=np.int64)
    owners[keys[rows]] = rows
    owners[holders != 1] = -1
    owners[0] = -1
    return owners


def _hits(named: list[tuple[int, Any]], truth: Iterable[Any], released: int) -> int:
    answers: list[Any] = truth.to_pylist() if isinstance(truth, pa.Array | pa.ChunkedArray) else list(truth)
    if len(answers) != released:
        raise UsageError(
            f"truth names {len(answers)} records, but {released} were released.", "Give one identity for each record."
        )
    return sum(answers[row] == name for row, name in named)
