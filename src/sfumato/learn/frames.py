"""Tables that people bring to be predicted: every cell as the number of its bin. None of it is private."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.learn.bins import Codes, Feature, Line, Listed
from sfumato.learn.wordings import (
    column_lacking,
    column_of_other_kind,
    complex_table,
    row_without_columns,
    shape_differs,
    sparse_table,
)
from sfumato.schema.columns import plain_text
from sfumato.tables.frames import framed


def codes_of(table: Any, features: Sequence[Feature]) -> Codes:
    """One row of numbers of cells for every row, one column for every feature."""
    columns = _columns_of(table, [feature.name for feature in features])
    codes = [_coded(columns[feature.name], feature) for feature in features]
    return np.column_stack(codes).astype(np.int64)


def cells_by_name(table: Any, names: Sequence[str]) -> dict[str, Any]:
    """The named columns as they were handed over: of a list its own cells, of which none was made like another."""
    if isinstance(table, list | tuple):
        return _cells_of_rows(table, names)
    if not (hasattr(table, "columns") or hasattr(table, "__arrow_c_stream__")):
        array = _two_dimensions(table, names)
        return {name: array[:, place] for place, name in enumerate(names)}
    if hasattr(table, "iloc"):
        present = [str(each) for each in table.columns]
        return {name: table.iloc[:, _place(name, present)] for name in names}
    if not hasattr(table, "get_column"):
        table = framed(table)[0]
    present = list(getattr(table, "column_names", table.columns))
    return {name: table[present[_place(name, present)]] for name in names}


def _cells_of_rows(rows: Sequence[Any], names: Sequence[str]) -> dict[str, list[Any]]:
    if rows and all(isinstance(row, Mapping) for row in rows):
        present = list(dict.fromkeys(str(name) for row in rows for name in row))
        return {name: [row.get(present[_place(name, present)]) for row in rows] for name in names}
    if not all(isinstance(row, list | tuple | np.ndarray) for row in rows):
        raise row_without_columns()
    for row in rows:
        if len(row) != len(names):
            raise shape_differs(len(row), len(names))
    return {name: [row[place] for row in rows] for place, name in enumerate(names)}


def _place(name: str, present: list[str]) -> int:
    if name not in present:
        raise column_lacking(name, sorted(present))
    return present.index(name)


def _two_dimensions(table: Any, names: Sequence[str]) -> Any:
    if hasattr(table, "tocsr"):
        raise sparse_table()
    table = np.asarray(table)
    if np.iscomplexobj(table):
        raise complex_table()
    if table.ndim != 2:
        raise row_without_columns()
    if table.shape[1] != len(names):
        raise shape_differs(table.shape[1], len(names))
    return table


def _columns_of(table: Any, names: Sequence[str]) -> dict[str, Any]:
    """The named columns of a table; of an array of two dimensions they come in this order."""
    if _is_array(table):
        table = _two_dimensions(table, names)
        return {name: _array(table[:, place].tolist(), name) for place, name in enumerate(names)}
    found = framed(table)[0]
    present = set(found.column_names)
    for name in names:
        if name not in present:
            raise column_lacking(name, sorted(present))
    return {name: _whole(found.column(name)) for name in names}


def _is_array(table: Any) -> bool:
    """Rows without names of columns."""
    if hasattr(table, "tocsr"):
        return True
    if isinstance(table, list | tuple):
        return not all(isinstance(row, Mapping) for row in table)
    return hasattr(table, "__array__") and not hasattr(table, "columns") and not hasattr(table, "__arrow_c_stream__")


def _array(values: list[Any], name: str) -> Any:
    try:
        return pa.array(values, from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        raise column_of_other_kind(name) from None


def _whole(column: Any) -> Any:
    return pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)


def _coded(column: Any, feature: Feature) -> Codes:
    try:
        match feature.cells:
            case Listed() as listed:
                return _listed(column, listed)
            case Line() as line:
                return _along(column, line)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, ValueError, OverflowError):
        raise column_of_other_kind(feature.name) from None


def _listed(column: Any, cells: Listed) -> Codes:
    """Each different value is looked up once."""
    places = {plain_text(value): place for place, value in enumerate(cells.values)}
    missing = len(cells.values)
    encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    known = [places.get(_text(value), missing) for value in encoded.dictionary.to_pylist()]
    indices = encoded.indices.fill_null(len(known)).to_numpy(zero_copy_only=False)
    return np.asarray(np.array([*known, missing], dtype=np.int64)[indices])


def _text(value: object) -> str:
    """A value as a category writes it: 1.0 is 1."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return plain_text(value) if isinstance(value, str | int | bool) else str(value)


def _along(column: Any, cells: Line) -> Codes:
    """What is missing, no number or infinite has the last cell."""
    if cells.kind == "day":
        days = column.cast(pa.date32(), safe=False).cast(pa.int32()).cast(pa.float64())
        numbers = days.to_numpy(zero_copy_only=False)
    else:
        plain = column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
        if pa.types.is_temporal(plain.type):
            raise ValueError
        plain = plain.cast(pa.int8()) if pa.types.is_boolean(plain.type) else plain
        numbers = plain.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    found = np.searchsorted(np.array(cells.cuts, dtype=np.float64), numbers, side="right")
    return np.where(np.isnan(numbers) | (numbers == np.inf), cells.size - 1, found).astype(np.int64)
