"""Tables that people bring to be predicted: every cell as the number of its bin, or scaled. None of it is private."""

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from math import isfinite
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.errors import SfumatoError
from sfumato.learn.bins import Codes, Feature, Kind, Line, Listed, Span
from sfumato.learn.wordings import (
    column_lacking,
    column_of_other_kind,
    complex_table,
    row_without_columns,
    shape_differs,
    sparse_table,
)
from sfumato.protected import array_of, library_of
from sfumato.schema.columns import plain_text
from sfumato.tables.frames import framed

UNLIKE = (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, ValueError, OverflowError)


def codes_of(table: Any, features: Sequence[Feature]) -> Codes:
    """One row of numbers of cells for every row, one column for every feature."""
    columns = _columns_of(table, [feature.name for feature in features])
    codes = [_coded(columns[feature.name], feature) for feature in features]
    return np.column_stack(codes).astype(np.int64)


def scaled_of(table: Any, features: Sequence[Feature]) -> NDArray[np.float64]:
    """Numbers from -1 to 1 for those between two bounds, beyond which they count as at them, and places of listed
    values; NaN where one is missing or not listed.
    """
    columns = _columns_of(table, [feature.name for feature in features])
    scaled = [_scaled(columns[feature.name], feature) for feature in features]
    return np.column_stack(scaled).astype(np.float64)


def steps_of(table: Any, features: Sequence[Feature], steps: int) -> NDArray[np.float64]:
    """Whole steps to both sides of the middle, as engines make them of numbers between two bounds (`learn.scaled`), to
    the last digit; NaN where one is missing.
    """
    columns = _columns_of(table, [feature.name for feature in features])
    return np.column_stack([_stepped(columns[feature.name], feature, steps) for feature in features])


def cells_by_name(table: Any, names: Sequence[str]) -> dict[str, Any]:
    """The named columns as they were handed over: of rows their own cells, of which none was made like another.

    NumPy is asked about nothing but arrays: of rows it would look for a common type.
    """
    if hasattr(table, "tocsr"):
        raise sparse_table()
    match library_of(table):
        case None:
            return _cells_of_rows(_rows_of(table), names)
        case "numpy":
            array = _two_dimensions(table, names)
            return {name: array[:, place] for place, name in enumerate(names)}
        case "pandas" if table.ndim == 2:
            present = [str(each) for each in table.columns]
            return {name: table.iloc[:, _place(name, present)] for name in names}
        case "polars" | "pyarrow" if hasattr(table, "columns"):
            table = table if hasattr(table, "get_column") else framed(table)[0]
            present = list(getattr(table, "column_names", table.columns))
            return {name: table[present[_place(name, present)]] for name in names}
    raise row_without_columns()


def _rows_of(table: Any) -> list[Any]:
    if isinstance(table, str | bytes | bytearray | memoryview | Mapping) or not isinstance(table, Iterable):
        raise row_without_columns()
    return list(table)


def _cells_of_rows(rows: Sequence[Any], names: Sequence[str]) -> dict[str, list[Any]]:
    try:
        return _named_cells(rows, names)
    except SfumatoError:
        raise
    except Exception:  # noqa: BLE001 - a row that raises when it is looked at, whose words may quote a value
        raise row_without_columns() from None


def _named_cells(rows: Sequence[Any], names: Sequence[str]) -> dict[str, list[Any]]:
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
    table = array_of(table)
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
            case Span():
                raise TypeError("a number between two bounds is not in cells")
    except UNLIKE:
        raise column_of_other_kind(feature.name) from None


def _listed(column: Any, cells: Listed) -> Codes:
    """Each different value is looked up once."""
    places = {plain_text(value): place for place, value in enumerate(cells.values)}
    whole = type(cells.values[0]) is int
    missing = len(cells.values)
    encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    known = [places.get(_text(value, whole), missing) for value in encoded.dictionary.to_pylist()]
    indices = encoded.indices.fill_null(len(known)).to_numpy(zero_copy_only=False)
    return np.asarray(np.array([*known, missing], dtype=np.int64)[indices])


def _text(value: object, whole: bool) -> str:
    """A value as a category writes it: 1.0 is 1. Of whole numbers it is the nearest, of halves the even one, as
    engines read it.
    """
    if isinstance(value, float | Decimal) and isfinite(value) and (whole or value == int(value)):
        return str(round(value))
    return plain_text(value) if isinstance(value, str | int | bool) else str(value)


def _along(column: Any, cells: Line) -> Codes:
    """What is missing or no number has the last cell; what is infinite lies beyond the bound, as engines count it."""
    numbers = _numbers(column, cells.kind)
    found = np.searchsorted(np.array(cells.cuts, dtype=np.float64), numbers, side="right")
    return np.where(np.isnan(numbers), cells.size - 1, found).astype(np.int64)


def _numbers(column: Any, kind: Kind) -> NDArray[np.float64]:
    """Of days those since 1970-01-01; NaN for what is missing. Whole numbers are rounded, halves to the even one, as
    engines read them.
    """
    if kind == "day":
        days = column.cast(pa.date32(), safe=False).cast(pa.int32()).cast(pa.float64())
        return np.asarray(days.to_numpy(zero_copy_only=False))
    plain = column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
    if pa.types.is_temporal(plain.type):
        raise ValueError
    plain = plain.cast(pa.int8()) if pa.types.is_boolean(plain.type) else plain
    found = np.asarray(plain.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False))
    return np.rint(found) if kind == "whole" else found


def _stepped(column: Any, feature: Feature, steps: int) -> NDArray[np.float64]:
    cells = feature.cells
    if not isinstance(cells, Span):
        raise TypeError("listed values have no steps")
    inside = _between(column, feature, cells)
    return np.asarray(np.rint((inside - cells.middle) * cells.factor(steps)))


def _scaled(column: Any, feature: Feature) -> NDArray[np.float64]:
    cells = feature.cells
    if not isinstance(cells, Span):
        codes = _coded(column, feature).astype(np.float64)
        return np.where(codes == cells.size - 1, np.nan, codes)
    return np.asarray((_between(column, feature, cells) - cells.middle) / cells.reach)


def _between(column: Any, feature: Feature, cells: Span) -> NDArray[np.float64]:
    """Numbers, at a bound where they are beyond it, infinite ones too; NaN where they are missing."""
    try:
        numbers = _numbers(column, cells.kind)
    except UNLIKE:
        raise column_of_other_kind(feature.name) from None
    return np.asarray(np.clip(numbers, cells.lower, cells.upper))
