"""Tables in memory: pandas, Polars and Arrow, handed to the engine with types that no cell decides.

An engine that is shown Python objects guesses a column's type from them: one cell would change how all others are read.
So a column of objects becomes one of texts, each cell by itself (`engines.cells`); a column that has a type keeps it.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sfumato.engines.cells import texts_of
from sfumato.errors import DataUnreadable, SfumatoError, column_absent, file_unreadable, frame_unknown

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
TYPED = "biuf"  # NumPy's kinds of numbers: true and false, whole, unsigned, real


def typed(frame: object, names: Sequence[str]) -> object:
    """The declared columns of a frame, as something whose types an engine need not guess."""
    module = type(frame).__module__.partition(".")[0]
    if (module, type(frame).__name__) not in FRAMES:
        raise frame_unknown(type(frame).__name__)
    if module == "pyarrow":
        return frame
    try:
        columns = _of_pandas(frame, names) if module == "pandas" else _of_polars(frame, names)
    except SfumatoError:
        raise
    except Exception:  # noqa: BLE001 - other people's converters, whose messages may quote a value
        raise unlike_any() from None
    import pyarrow as pa  # noqa: PLC0415 - slow to load

    return pa.table(columns)


def unlike_any() -> DataUnreadable:
    return file_unreadable("the table", "its columns are of a kind DuckDB does not take")


def _of_pandas(frame: Any, names: Sequence[str]) -> dict[str, Any]:
    present = [str(name) for name in frame.columns]
    found = {}
    for name in names:
        if name not in present:
            raise column_absent(name, present)
        if present.count(name) > 1:
            raise file_unreadable("the table", "two columns have the same name")
        found[name] = _series(frame.iloc[:, present.index(name)])
    return found


def _series(series: Any) -> Any:
    import pyarrow as pa  # noqa: PLC0415 - slow to load

    dtype = series.dtype
    match type(dtype).__name__:
        case "ArrowDtype":
            return pa.chunked_array(series.array.__arrow_array__())
        case "CategoricalDtype":
            codes = pa.array(series.cat.codes.to_numpy(), mask=series.cat.codes.to_numpy() < 0)
            return _series(series.cat.categories.to_series()).take(codes)
        case "DatetimeTZDtype":  # by the clock that the column itself shows
            return pa.array(series.dt.tz_localize(None), from_pandas=True)
        case "SparseDtype":
            return _series(series.sparse.to_dense())
    if (dtype.kind in TYPED and dtype.itemsize <= 8) or dtype.kind == "M":
        found = pa.array(series, from_pandas=True)
        return _of_64_bits(found) if dtype.kind in "iu" else found
    return _objects(series)


def _of_64_bits(numbers: Any) -> Any:
    """Whole numbers of one width: which width they have, and whether a sign, may depend on single rows.

    Those that may not fit are texts, as they would be in a column of objects.
    """
    import pyarrow as pa  # noqa: PLC0415 - slow to load

    return numbers.cast(pa.large_string() if numbers.type == pa.uint64() else pa.int64())


def _objects(series: Any) -> "pa.Array[Any]":
    """Texts, each cell by itself. Where all are texts or missing, the same a hundred times quicker."""
    import pyarrow as pa  # noqa: PLC0415 - slow to load

    try:
        return pa.array(series.to_numpy(dtype=object), pa.large_string(), from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError, UnicodeError):
        return texts_of(series)


def _of_polars(frame: Any, names: Sequence[str]) -> dict[str, Any]:
    collected = frame.lazy().collect()
    found = {}
    for name in names:
        if name not in collected.columns:
            raise column_absent(name, collected.columns)
        series = collected[name]
        if str(series.dtype) in ("Object", "Int128", "UInt128"):
            found[name] = texts_of(series.to_list())
        else:
            found[name] = _of_64_bits(series.to_arrow()) if series.dtype.is_integer() else series.to_arrow()
    return found
