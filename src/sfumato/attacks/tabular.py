"""Tables from anywhere, and columns of two tables made comparable."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sfumato.anonymise.result import AnonymisedTable
from sfumato.errors import UsageError, did_you_mean, quoted

_HINT = "Pass an Arrow, pandas or Polars table, or a list of dicts."


def as_arrow(table: object, what: str) -> pa.Table:
    """The rows of an anonymised, Arrow, pandas or Polars table or of a list of dicts, in the same order."""
    try:
        if isinstance(table, AnonymisedTable):
            table = table.to_arrow()
        if isinstance(table, pa.Table):
            arrow = _without_views(table)
        elif isinstance(table, list | tuple) and all(isinstance(row, Mapping) for row in table):
            # Not from_pylist, which takes the columns of the first row for all there are.
            columns = dict.fromkeys(name for row in table for name in row)
            arrow = pa.table({name: [row.get(name) for row in table] for name in columns})
        elif hasattr(table, "__arrow_c_stream__"):
            arrow = _without_views(pa.table(table))
        else:
            raise UsageError(f"the {what} table is a {type(table).__name__}, which is no table.", _HINT)
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise UsageError(f"the {what} table has a column of mixed types.", "Give each column one type.") from error
    if arrow.num_rows == 0:
        raise UsageError(f"the {what} table is empty.", "An attack needs at least one row on each side.")
    return arrow


def _without_views(table: pa.Table) -> pa.Table:
    # Polars hands out string views, for which Arrow still lacks take, concat and cast in the versions we support.
    for position, field in enumerate(table.schema):
        values = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
        if pa.types.is_string_view(values):
            texts = pa.array(table.column(position).to_pylist(), type=pa.string())
            table = table.set_column(position, field.name, texts)
    return table


def need_column(table: pa.Table, what: str, name: str) -> None:
    if name not in table.column_names:
        raise UsageError(
            f'the {what} table has no column "{name}".{did_you_mean(name, table.column_names)}',
            f"It has {quoted(table.column_names)}.",
        )
    if table.column_names.count(name) > 1:
        raise UsageError(f'the {what} table has two columns "{name}".', "Rename one of them.")


def codes_of(columns: Iterable["pa.ChunkedArray[Any]"]) -> NDArray[np.int64]:
    """One number a row of all the columns laid end to end: equal values have equal numbers, NULL and NaN have -1.

    Claim: a date equals the same date as text or timestamp, and a number the same number of another type.
    """
    parts = [_plain(column) for column in columns]
    kind = _common_type([part.type for part in parts])
    try:
        whole = pa.concat_arrays([part.cast(kind) for part in parts])
        encoded = whole.dictionary_encode()
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise UsageError(
            "a column holds values that cannot be compared.", "Link on texts, numbers or dates."
        ) from error
    return np.asarray(encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False), dtype=np.int64)


def _plain(column: "pa.ChunkedArray[Any]") -> Any:
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    array = pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], type=column.type)
    if pa.types.is_floating(array.type):
        array = pc.if_else(pc.is_nan(array), pa.scalar(None, type=array.type), array)
    return array


def _common_type(kinds: list[pa.DataType]) -> pa.DataType:
    kinds = [kind for kind in kinds if not pa.types.is_null(kind)]
    if kinds and all(kind == kinds[0] for kind in kinds):
        return kinds[0]
    if kinds and all(pa.types.is_signed_integer(kind) for kind in kinds):
        return pa.int64()
    if kinds and all(pa.types.is_integer(kind) or pa.types.is_floating(kind) for kind in kinds):
        return pa.float64()
    if kinds and all(pa.types.is_date(kind) or pa.types.is_timestamp(kind) for kind in kinds):
        return pa.timestamp("us")
    return pa.string()
