"""Tables from anywhere, and back to where they came from."""

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq

from sfumato.anonymise.wordings import (
    column_repeated,
    column_unknown,
    columns_not_listed,
    file_kind_unknown,
    file_not_understood,
    file_not_written,
    frame_missing,
    mixed_types,
    not_a_table,
    output_kind_unknown,
    table_empty,
)
from sfumato.errors import file_missing

Kind = Literal["arrow", "pandas", "polars", "rows"]
SEPARATORS = ",;\t|"


@dataclass(frozen=True, slots=True)
class Source:
    """A table and the kind in which it was handed over; a file comes back as an Arrow table."""

    table: pa.Table
    kind: Kind

    def again(self, table: pa.Table) -> Any:
        """Another table in the kind of this one."""
        match self.kind:
            case "pandas":
                return to_pandas(table)
            case "polars":
                return to_polars(table)
            case "rows":
                return table.to_pylist()
            case _:
                return table


def read_table(source: object) -> Source:
    """The rows of a CSV or Parquet file, of a pandas, Polars or Arrow table or of a list of dicts, in their order.

    The columns of a CSV file stay texts, so that 01234 keeps its zero; where numbers are needed, texts that are
    numbers count as numbers.
    """
    table, kind = read(source)
    for name in table.column_names:
        if table.column_names.count(name) > 1:
            raise column_repeated(name)
    if not table.num_rows:
        raise table_empty()
    return Source(table, kind)


def read(source: object, *, typed: bool = False) -> tuple[pa.Table, Kind]:
    """Any table, empty ones too, and its kind. typed: as in `read_file`."""
    module = type(source).__module__.partition(".")[0]
    try:
        if isinstance(source, str | PathLike):
            return read_file(Path(source), typed=typed), "arrow"
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
            # Not from_pylist, which takes the columns of the first row for all there are.
            columns = dict.fromkeys(name for row in source for name in row)
            return pa.table({name: [row.get(name) for row in source] for name in columns}), "rows"
        if hasattr(source, "__arrow_c_stream__"):
            return _without_views(pa.table(source)), "arrow"
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
        raise mixed_types() from None
    raise not_a_table(type(source).__name__)


def _without_views(table: pa.Table) -> pa.Table:
    # Arrow still lacks take, concat and cast for string views in the versions we support.
    for position, field in enumerate(table.schema):
        values = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
        if pa.types.is_string_view(values):
            texts = pa.array(table.column(position).to_pylist(), type=pa.string())
            table = table.set_column(position, field.name, texts)
    return table


def read_file(path: Path, *, typed: bool = False) -> pa.Table:
    """The rows of a CSV or Parquet file. typed: CSV columns get the type that all their values have."""
    if not path.is_file():
        raise file_missing(str(path))
    match path.suffix.lower():
        case ".csv" | ".tsv":
            return _csv(path, typed=typed)
        case ".parquet":
            try:
                return pq.read_table(path)
            except (pa.ArrowException, OSError):
                raise file_not_understood(path.name, "it is damaged or no Parquet file") from None
        case _:
            raise file_kind_unknown(str(path))


def _csv(path: Path, *, typed: bool) -> pa.Table:
    separator, names = _header(path)
    if len(set(names)) < len(names):
        raise file_not_understood(path.name, "two columns have the same name")
    try:
        return pc.read_csv(
            path,
            parse_options=pc.ParseOptions(delimiter=separator, newlines_in_values=True),
            convert_options=pc.ConvertOptions(column_types={} if typed else dict.fromkeys(names, pa.string())),
        )
    except pa.ArrowInvalid as error:
        encoding = "utf" in str(error).lower()
        reason = "it is not valid UTF-8" if encoding else "its rows do not all have as many fields as its header"
        raise file_not_understood(path.name, reason) from None


def _header(path: Path) -> tuple[str, list[str]]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as lines:
            first = lines.readline()
            separator = max(SEPARATORS, key=first.count)
            lines.seek(0)
            return separator, next(csv.reader(lines, delimiter=separator), [])
    except (UnicodeDecodeError, csv.Error):
        raise file_not_understood(path.name, "it is not valid UTF-8") from None


def write_table(table: pa.Table, path: Path) -> None:
    """Save a table as CSV or Parquet, by the ending of the name."""
    try:
        match path.suffix.lower():
            case ".csv":
                pc.write_csv(table, path)
            case ".parquet":
                pq.write_table(table, path)
            case _:
                raise output_kind_unknown(path.name)
    except OSError as error:
        raise file_not_written(str(path), error.strerror or "the disk refuses it") from None


def to_pandas(table: pa.Table) -> Any:
    try:
        import_module("pandas")
    except ImportError:
        raise frame_missing("pandas") from None
    return table.to_pandas()


def to_polars(table: pa.Table) -> Any:
    try:
        polars = import_module("polars")
    except ImportError:
        raise frame_missing("polars") from None
    return polars.from_arrow(table)


def named(table: pa.Table, columns: Iterable[str] | str | None, what: str) -> list[str]:
    """The columns listed, or an error that says which one does not exist."""
    if isinstance(columns, str):
        raise columns_not_listed(what, columns)
    listed = [] if columns is None else list(columns)
    for name in listed:
        if name not in table.column_names:
            raise column_unknown(str(name), table.column_names)
    return listed


def one_or_more(columns: str | Sequence[str] | None) -> list[str]:
    """A column, or several."""
    if columns is None:
        return []
    return [columns] if isinstance(columns, str) else list(columns)
