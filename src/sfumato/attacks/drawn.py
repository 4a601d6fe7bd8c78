"""The rows an attack works on: complete ones in random order, of columns checked before any work begins."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.anonymise.roles import apart
from sfumato.attacks.tabular import need_column
from sfumato.attacks.wordings import one_value_only, rows_left_out, too_few_complete, too_few_rows, wants_numbers
from sfumato.simulate import Simulator


@dataclass(frozen=True, slots=True)
class Drawn:
    """A table without gaps in the columns that are needed, its rows in random order. notes: what was left out."""

    table: pa.Table
    notes: tuple[str, ...]


def drawn(
    table: pa.Table,
    verb: str,
    fewest: int,
    roles: Mapping[str, Sequence[str]],
    *,
    numeric: Sequence[str] = (),
    seed: int,
) -> Drawn:
    """Refuse what cannot be attacked; leave out rows that lack a value in a column with a role, and shuffle the rest.

    numeric: the columns that must hold numbers; infinity is a missing value there, as NaN is everywhere.
    """
    apart({role: names for role, names in roles.items() if role != "columns"})
    names = list(dict.fromkeys([*(name for each in roles.values() for name in each), *numeric]))
    for name in names:
        need_column(table, verb, name)
        table = _with(table, name, _plain(table[name]))
    if table.num_rows < fewest:
        raise too_few_rows(table.num_rows, fewest)
    for name in numeric:
        table = _with(table, name, _numbers(table[name], verb, name))
    missing = {name: _missing(table[name]) for name in names}
    complete = ~np.logical_or.reduce([*missing.values(), np.zeros(table.num_rows, dtype=np.bool_)])
    gaps = [name for name in names if missing[name].any()]
    kept = int(complete.sum())
    if kept < fewest:
        raise too_few_complete(kept, table.num_rows, fewest, max(gaps, key=lambda name: int(missing[name].sum())))
    rows = table.filter(pa.array(complete)) if gaps else table
    for name in names:
        if len(rows[name].unique()) < 2:
            raise one_value_only(name)
    order = Simulator(seed).stream("order of rows attacked").permutation(kept)
    notes = (rows_left_out(table.num_rows - kept, table.num_rows, gaps),) if gaps else ()
    return Drawn(rows.take(order), notes)


def numeric_columns(table: pa.Table) -> tuple[list[str], list[str]]:
    """The columns of numbers that vary: those without gaps, and those with."""
    whole: list[str] = []
    gaps: list[str] = []
    for name, kind in zip(table.column_names, table.schema.types, strict=True):
        if (pa.types.is_integer(kind) or pa.types.is_floating(kind)) and len(table[name].unique()) > 1:
            (gaps if _missing(_finite(table[name])).any() else whole).append(name)
    return whole, gaps


def _with(table: pa.Table, name: str, column: "pa.ChunkedArray[Any]") -> pa.Table:
    return table.set_column(table.column_names.index(name), name, column)


def _plain(column: "pa.ChunkedArray[Any]") -> "pa.ChunkedArray[Any]":
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


def _numbers(column: "pa.ChunkedArray[Any]", verb: str, name: str) -> "pa.ChunkedArray[Any]":
    """Whole numbers as they are, others as doubles, NULL where a double is not finite."""
    if pa.types.is_integer(column.type):
        return column
    try:
        return _finite(column.cast(pa.float64()))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise wants_numbers(verb, name) from None


def _finite(column: "pa.ChunkedArray[Any]") -> "pa.ChunkedArray[Any]":
    if not pa.types.is_floating(column.type):
        return column
    finite: pa.ChunkedArray[Any] = pc.if_else(pc.is_finite(column), column, pa.scalar(None, type=column.type))
    return finite


def _missing(column: "pa.ChunkedArray[Any]") -> "np.ndarray[Any, np.dtype[np.bool_]]":
    return np.asarray(column.is_null(nan_is_null=True).to_numpy(), dtype=np.bool_)
