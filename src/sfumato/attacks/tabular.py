"""Tables from anywhere, and columns of two tables made comparable."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sfumato.anonymise.result import AnonymisedTable
from sfumato.errors import UsageError, did_you_mean, quoted
from sfumato.tables.reading import read


def as_arrow(table: object, what: str) -> pa.Table:
    """The rows of an anonymised, Arrow, pandas or Polars table, of a file or of a list of dicts, in the same order."""
    try:
        arrow = table.to_arrow() if isinstance(table, AnonymisedTable) else read(table, typed=True)[0]
    except UsageError as error:
        raise UsageError(f"the {what} table: {error.message}", error.hint) from None
    if arrow.num_rows == 0:
        raise UsageError(f"the {what} table is empty.", "An attack needs at least one row on each side.")
    return arrow


def need_column(table: pa.Table, what: str, name: str) -> None:
    if name not in table.column_names:
        raise UsageError(
            f'the {what} table has no column "{name}".{did_you_mean(name, table.column_names)}',
            f"It has {quoted(table.column_names)}.",
        )
    if table.column_names.count(name) > 1:
        raise UsageError(f'the {what} table has two columns "{name}".', "Rename one of them.")


def codes_of(columns: Iterable["pa.ChunkedArray[Any]"]) -> NDArray[np.int64]:
    """One number per row of all the columns laid end to end: equal values have equal numbers, NULL and NaN have -1.

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
