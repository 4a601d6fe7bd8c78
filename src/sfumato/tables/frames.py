"""Tables in memory as Arrow tables: pandas, Polars, Arrow, lists of dicts."""

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, Literal

import pyarrow as pa

from sfumato.tables.wordings import mixed_types, not_a_table

Kind = Literal["arrow", "pandas", "polars", "rows"]


def framed(source: object) -> tuple[pa.Table, Kind]:
    """The rows in their order, and the kind in which they were handed over."""
    module = type(source).__module__.partition(".")[0]
    try:
        if isinstance(source, pa.Table):
            return _without_views(source), "arrow"
        if isinstance(source, pa.RecordBatch):
            return _without_views(pa.Table.from_batches([source])), "arrow"
        if module == "pandas" and hasattr(source, "columns"):
            return pa.Table.from_pandas(source, preserve_index=False), "pandas"
        if module == "polars" and hasattr(source, "lazy"):
            oldest = import_module("polars").CompatLevel.oldest()
            return source.lazy().collect().to_arrow(compat_level=oldest), "polars"
        if isinstance(source, list | tuple) and all(isinstance(row, Mapping) for row in source):
            return of_rows(source), "rows"
        if hasattr(source, "__arrow_c_stream__"):
            return _without_views(pa.table(source)), "arrow"
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
        raise mixed_types() from None
    raise not_a_table(type(source).__name__)


def of_rows(rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    """Columns of whatever any row has; where a row lacks one, its cell is missing."""
    # Not from_pylist, which takes the columns of the first row for all there are.
    columns = dict.fromkeys(name for row in rows for name in row)
    try:
        return pa.table({name: [row.get(name) for row in rows] for name in columns})
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
        raise mixed_types() from None


def _without_views(table: pa.Table) -> pa.Table:
    # Arrow still lacks take, concat and cast for string views in the versions we support.
    for position, field in enumerate(table.schema):
        values = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
        if pa.types.is_string_view(values):
            texts = pa.array(table.column(position).to_pylist(), type=pa.string())
            table = table.set_column(position, field.name, texts)
    return table
