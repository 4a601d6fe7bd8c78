"""Tables in memory: pandas, Polars and Arrow, handed to the engine with types that no cell decides.

An engine that is shown Python objects guesses a column's type from them: one cell would change how all others are read.
So a column of objects becomes one of texts, each cell by itself (`duckdb.cells`). A column of numbers, texts or times
without a zone keeps its type; what else there is becomes texts as well.
"""

import sys
from collections.abc import Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from sfumato.engines.duckdb.cells import FIRST_YEAR, LAST_YEAR, texts_of, zoned_ids
from sfumato.engines.duckdb.layouts import check_layouts, lies_plainly, readable, without_a_layer
from sfumato.engines.wordings import folder_names, frame_unknown
from sfumato.errors import DataUnreadable, SfumatoError, column_absent, file_unreadable

if TYPE_CHECKING:
    import pyarrow as pa

FRAMES = {
    ("pandas", "DataFrame"),
    ("polars", "DataFrame"),
    ("polars", "LazyFrame"),
    ("pyarrow", "Table"),
    ("pyarrow", "RecordBatch"),
    ("pyarrow", "RecordBatchReader"),
    ("pyarrow", "FileSystemDataset"),
    ("pyarrow", "InMemoryDataset"),
}
# Whose tables and columns have types of their own, and what says that something turns itself into one of these.
LIBRARIES = {
    "pandas": ("DataFrame", "Series", "Index", "api.extensions.ExtensionArray"),
    "polars": ("DataFrame", "Series"),
    "pyarrow": ("Table", "RecordBatch", "Array", "ChunkedArray"),
    "numpy": ("ndarray", "matrix"),
}
TURNS = ("__array__", "__array_interface__", "__arrow_c_stream__", "__arrow_c_array__", "__dataframe__")
GUESSING = ("CsvFileFormat", "JsonFileFormat")  # their types come from the first rows
MAY_ROUND = "fc"  # real and complex numbers of any width
TYPED = "biuf"  # NumPy's kinds of numbers: true and false, whole, unsigned, real
WIDEST = 8  # bytes
# A day inside of the moments that pandas can show by another clock.
WITHIN, WITHIN_NS = ("0001-01-02", "9999-12-30"), ("1677-09-23", "2262-04-10")


def typed(frame: Any, names: Sequence[str], unit_id: str | None) -> object:
    """The declared columns of a frame, as something whose types an engine need not guess."""
    module = type(frame).__module__.partition(".")[0]
    guessing = module == "pyarrow" and type(getattr(frame, "format", None)).__name__ in GUESSING
    if (module, type(frame).__name__) not in FRAMES or guessing:
        raise frame_unknown(type(frame).__name__)
    try:
        _check_folders(frame, names)
        ready = _ready(frame, module, names, unit_id)
        check_layouts(ready.schema, names)
        return ready
    except SfumatoError:
        raise
    except Exception:  # noqa: BLE001 - other people's converters, whose messages may quote a value
        raise unlike_any() from None


def _ready(frame: Any, module: str, names: Sequence[str], unit_id: str | None) -> Any:
    match module:
        case "pandas":
            return _table({name: _series(_named(frame, name), name == unit_id) for name in names})
        case "polars":
            collected = frame.lazy().collect()
            return _table({name: _polars_series(_present(collected, name), name == unit_id) for name in names})
        case _:
            check_layouts(frame.schema, names)
            return _with_known_numbers(frame, names)


def _check_folders(frame: Any, names: Sequence[str]) -> None:
    """Refuse a declared column that is the names of folders: Arrow finds a type that all of them have in common.

    Every file knows its folder, whatever became of the dataset; one that is filtered does not tell.
    """
    if type(frame).__name__ != "FileSystemDataset":
        return
    from pyarrow import dataset  # noqa: PLC0415 - slow to load

    folders: set[str] = set()
    try:
        for fragment in frame.get_fragments():
            folders |= set(dataset.get_partition_keys(fragment.partition_expression))
    except ValueError:
        raise frame_unknown("filtered FileSystemDataset") from None
    if named := [name for name in names if name in folders]:
        raise folder_names(named[0])


def column_of(values: Any) -> Any:
    """A column that is handed over by itself: a series or an array by its type, anything else cell by cell.

    Claim: no cell decides how another is read. No library is asked which type the cells of a list have in common.
    """
    library = library_of(values)
    try:
        match library:
            case "pandas":
                import pandas as pd  # noqa: PLC0415 - slow to load

                one = values.iloc[:, 0] if values.ndim == 2 else values  # a label of a row may be any attribute
                return _series(pd.Series(one, dtype=one.dtype), is_id=False)
            case "polars":
                return _polars_series(values.to_series() if hasattr(values, "columns") else values, is_id=False)
            case "pyarrow":
                return _known_column(values)
            case "numpy":
                return _numpy_column(array_of(values).ravel())
            case _:
                return texts_of(_alone(cell) for cell in values)
    except SfumatoError:
        raise
    except Exception:  # noqa: BLE001 - other people's converters, whose messages may quote a value
        raise unlike_any() from None


def library_of(values: Any) -> str | None:
    """The library that knows the type of a table or column, whoever derived a class from its own; None of rows to walk.

    Claim: what only turns itself into an array or a table is refused, by its class.
    Needs: nothing. It may look for a type that all cells have in common, as NumPy and pandas do, or not: who knows?
    """
    for name, kinds in LIBRARIES.items():
        library = sys.modules.get(name)
        if library is not None and isinstance(values, tuple(attrgetter(*kinds)(library))):
            return name
    if any(hasattr(values, one) for one in TURNS):
        raise frame_unknown(type(values).__name__)
    return None


def array_of(values: Any) -> Any:
    """What says itself which array it is. Cells behind a mask are missing, and so others than times are objects."""
    if not np.ma.isMaskedArray(values):
        return np.asarray(values)
    hidden = np.ma.getmaskarray(values)
    if values.dtype.kind == "M":  # of nanoseconds objects would be whole numbers
        return np.where(hidden, np.datetime64("NaT"), np.ma.getdata(values))
    cells = np.ma.getdata(values).astype(object)
    cells[hidden] = None
    return cells


def _alone(cell: Any) -> Any:
    """The only cell of a row. A class that is derived from a list may do anything: it is a cell."""
    return cell[0] if type(cell) in (list, tuple) and len(cell) == 1 else cell


def _numpy_column(cells: Any) -> Any:
    import pyarrow as pa  # noqa: PLC0415 - slow to load

    kind = cells.dtype.kind
    if kind == "M":
        return _moments(cells)
    if kind in TYPED and cells.dtype.itemsize <= WIDEST:
        wide = cells.astype(np.float64) if kind == "f" else cells
        return _number(pa.array(wide, from_pandas=True))
    return texts_of(cells)


def unlike_any() -> DataUnreadable:
    return file_unreadable("the table", "its columns are of a kind DuckDB does not take")


def _table(columns: dict[str, Any]) -> "pa.Table":
    import pyarrow as pa  # noqa: PLC0415 - slow to load

    return pa.table(columns)


def _named(frame: Any, name: str) -> Any:
    present = [str(each) for each in frame.columns]
    if name not in present:
        raise column_absent(name, present)
    if present.count(name) > 1:
        raise file_unreadable("the table", "two columns have the same name")
    return frame.iloc[:, present.index(name)]


def _present(collected: Any, name: str) -> Any:
    if name not in collected.columns:
        raise column_absent(name, collected.columns)
    return collected[name]


def _series(series: Any, is_id: bool) -> Any:
    """A column of pandas, as Arrow's."""
    import pandas as pd  # noqa: PLC0415 - slow to load
    import pyarrow as pa  # noqa: PLC0415

    dtype = series.dtype
    match type(dtype).__name__:
        case "CategoricalDtype":
            codes = series.cat.codes.to_numpy()
            kinds = series.cat.categories
            return _series(pd.Series(kinds, dtype=kinds.dtype), is_id).take(pa.array(codes, mask=codes < 0))
        case "SparseDtype":
            return _series(series.sparse.to_dense(), is_id)
        case "DatetimeTZDtype" if is_id:
            return zoned_ids(series.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy())
        case "DatetimeTZDtype":
            return _moments(_own_clock(series.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy(), series.dt.tz))
        case "ArrowDtype" if isinstance(dtype.pyarrow_dtype, pa.BaseExtensionType) and dtype.pyarrow_dtype != pa.uuid():
            return _objects(series, is_id)  # as one text among them would make them
        case "ArrowDtype":
            return _arrow(series.array.__arrow_array__(), is_id)
        case "StringDtype" if dtype.storage == "pyarrow":
            return _arrow(series.array.__arrow_array__(), is_id)
    if is_id and dtype.kind in MAY_ROUND:
        return pa.nulls(len(series), pa.float64())  # refused for its type, in `canonical_columns`
    if dtype.kind == "M":
        return _moments(series.to_numpy())
    if dtype.kind in TYPED and dtype.itemsize <= WIDEST:
        return _number(pa.array(series.astype("float64") if dtype.itemsize == 2 and dtype.kind == "f" else series))
    return _objects(series, is_id)


def _number(column: Any) -> Any:
    """Numbers of one width: which width they have, and whether a sign, may depend on single rows. NaN is missing.

    Whole numbers that may not fit are texts, as they would be in a column of objects.
    """
    import pyarrow as pa  # noqa: PLC0415 - slow to load

    if pa.types.is_integer(column.type):
        return column.cast(pa.large_string() if column.type == pa.uint64() else pa.int64())
    if not pa.types.is_floating(column.type):
        return readable(column)
    import pyarrow.compute as pc  # noqa: PLC0415 - slow to load

    reals = column.cast(pa.float64())
    return pc.if_else(pc.is_nan(reals), pa.scalar(None, pa.float64()), reals)


def _arrow(found: Any, is_id: bool) -> Any:
    """A column of Arrow's that pandas holds, by its type alone.

    Claim: no cell stops the conversion, and what is no text in UTF-8 is missing.
    Needs: nothing; bytes may be anything where Arrow says that texts are.
    Proof: only cells of bytes, decimals and UUIDs are made Python's, which cannot fail; texts are looked at first and
    become bytes where one is none. Types that are not listed here are missing as a whole.
    """
    import pyarrow as pa  # noqa: PLC0415 - slow to load

    kind, is_one = found.type, pa.types
    chunks: list[Any] = found.chunks if isinstance(found, pa.ChunkedArray) else [found]
    if is_one.is_dictionary(kind) or is_one.is_run_end_encoded(kind):
        return _arrow(without_a_layer(found), is_id)
    column = pa.chunked_array(chunks, kind)
    if is_one.is_timestamp(kind) and kind.tz is not None:
        utc = _in_numpy(column.cast(pa.timestamp(kind.unit)))
        return zoned_ids(utc) if is_id else _moments(_own_clock(utc, kind.tz))
    if is_one.is_timestamp(kind) or is_one.is_date(kind):
        return _moments(_in_numpy(column))
    if is_one.is_integer(kind) or is_one.is_floating(kind) or is_one.is_boolean(kind):
        return _number(column)
    if is_one.is_decimal(kind) and not is_one.is_decimal256(kind) and kind.scale >= 0:
        return readable(column)
    if is_one.is_string(kind) or is_one.is_large_string(kind) or is_one.is_string_view(kind):
        try:
            column.validate(full=True)
        except pa.ArrowInvalid:
            return texts_of((cell.as_buffer().to_pybytes() if cell.is_valid else None for cell in column), ids=is_id)
        return column.cast(pa.large_string())
    bytes_like = (is_one.is_binary, is_one.is_large_binary, is_one.is_binary_view, is_one.is_fixed_size_binary)
    if is_one.is_decimal(kind) or any(one(kind) for one in bytes_like) or kind == pa.uuid():
        return texts_of(column.to_pylist(), ids=is_id)
    return pa.nulls(len(column), pa.large_string())


def _moments(moments: Any) -> Any:
    """Times in microseconds; those of other years than 1 to 9999 are missing, and no conversion fails."""
    import pyarrow as pa  # noqa: PLC0415 - slow to load

    if np.datetime_data(moments.dtype)[0] != "ns":
        years = moments.astype("datetime64[Y]").astype(np.int64) + 1970
        within = (years >= FIRST_YEAR) & (years <= LAST_YEAR)
        moments = np.where(within, moments, np.datetime64("NaT")).astype("datetime64[us]")
    return pa.array(moments, from_pandas=True)


def _own_clock(utc: Any, zone: Any) -> Any:
    """Moments of UTC by the clock of a zone, as pandas shows them one by one: Arrow knows no summers after 2037.

    Claim: no cell stops the conversion of others.
    Needs: a zone does not change its clock in the first or last day of the years that it is asked for.
    Proof: pandas is asked for moments a day inside of what it can hold; by how much its clock differs there is added to
    the moments themselves, and what would not fit is missing.
    """
    import pandas as pd  # noqa: PLC0415 - slow to load

    unit = np.datetime_data(utc.dtype)[0]
    moments = utc.view(np.int64)
    day = int(np.timedelta64(1, "D").astype(f"timedelta64[{unit}]").astype(np.int64))
    ends = np.array([*WITHIN_NS] if unit == "ns" else [*WITHIN], dtype="datetime64[D]").astype(np.int64) * day
    inside = np.clip(moments, *ends)
    held = pd.Series(inside.view(utc.dtype)).dt.tz_localize("UTC").dt.tz_convert(zone)
    ahead = held.dt.tz_localize(None).to_numpy().view(np.int64) - inside
    whole = np.iinfo(np.int64)
    fits = (moments <= whole.max - np.maximum(ahead, 0)) & (moments > whole.min - np.minimum(ahead, 0))
    return np.where(fits, moments + np.where(fits, ahead, 0), whole.min).view(utc.dtype)


def _in_numpy(moments: Any) -> Any:
    """Arrow's days, and times without a zone, as NumPy's."""
    import pyarrow as pa  # noqa: PLC0415 - slow to load

    missing = np.iinfo(np.int64).min  # how NumPy writes it
    if pa.types.is_date32(moments.type):
        days = moments.cast(pa.int32()).cast(pa.int64())
        return days.fill_null(missing).to_numpy().view("datetime64[D]")
    if pa.types.is_date64(moments.type):  # in milliseconds, which need not be those of a midnight
        return moments.cast(pa.int64()).fill_null(missing).to_numpy().view("datetime64[ms]").astype("datetime64[D]")
    return moments.cast(pa.int64()).fill_null(missing).to_numpy().view(f"datetime64[{moments.type.unit}]")


def _objects(series: Any, is_id: bool) -> "pa.Array[Any]":
    """Texts, each cell by itself. Where all are texts or missing, the same a hundred times quicker."""
    import pandas as pd  # noqa: PLC0415 - slow to load
    import pyarrow as pa  # noqa: PLC0415

    cells = series.to_numpy(dtype=object)
    try:
        if pd.api.types.infer_dtype(cells, skipna=True) == "string":
            return pa.array(cells, pa.large_string(), from_pandas=True)
    except Exception:  # noqa: BLE001, S110 - not in UTF-8, or a cell that raises when it is looked at
        pass
    return texts_of(cells, ids=is_id)


def _polars_series(series: Any, is_id: bool) -> Any:
    """Lists and structures are missing, and not looked into: there may be objects in them, which Arrow cannot hold."""
    import pyarrow as pa  # noqa: PLC0415 - slow to load

    if series.dtype.is_nested():
        return pa.nulls(len(series), pa.large_string())
    if str(series.dtype) in ("Object", "Int128", "UInt128"):
        return texts_of(series.to_list(), ids=is_id, by_utc=True)
    if is_id and getattr(series.dtype, "time_zone", None) is not None:  # as among objects, which one cell makes of them
        return zoned_ids(series.dt.convert_time_zone("UTC").dt.replace_time_zone(None).to_numpy())
    # Not a number is missing among objects, too, which one cell makes of a column.
    return _number((series.fill_nan(None) if series.dtype.is_float() else series).to_arrow())


def _with_known_numbers(frame: Any, names: Sequence[str]) -> Any:
    """Arrow's columns as the engine can read them: half floats are doubles, others as `layouts.readable` says.

    A table loses what other programs have written beside its types. What is read in pieces is changed piece by piece,
    and only where it has to be.
    """
    import pyarrow as pa  # noqa: PLC0415 - slow to load

    if isinstance(frame, pa.Table | pa.RecordBatch):
        return _known(frame, names)
    if all(lies_plainly(field.type) for field in frame.schema if field.name in names):
        return frame
    nothing = [pa.chunked_array([], field.type) for field in frame.schema]  # Arrow has empty tables of some types only
    schema = _known(pa.table(nothing, frame.schema.names), names).schema
    pieces = frame if isinstance(frame, pa.RecordBatchReader) else frame.to_batches()
    batches = (batch for piece in pieces for batch in _known(piece, names).to_batches())
    return pa.RecordBatchReader.from_batches(schema, batches)


def _known(frame: Any, names: Sequence[str]) -> "pa.Table":
    import pyarrow as pa  # noqa: PLC0415 - slow to load

    columns = [
        _known_column(one) if name in names else one
        for name, one in zip(frame.schema.names, frame.columns, strict=True)
    ]
    return pa.table(columns, frame.schema.names)


def _known_column(column: Any) -> Any:
    import pyarrow as pa  # noqa: PLC0415 - slow to load

    found = readable(column)
    return _number(found) if found.type == pa.float16() else found
