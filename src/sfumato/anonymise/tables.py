"""The table to anonymise, in the kind in which it was handed over, and its columns by name."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq

from sfumato.anonymise.wordings import (
    column_repeated,
    column_unknown,
    columns_not_listed,
    file_not_written,
    frame_missing,
    output_kind_unknown,
    table_empty,
)
from sfumato.tables.frames import Kind
from sfumato.tables.reading import read


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
    """The rows of a file, of a pandas, Polars or Arrow table or of a list of dicts, in their order.

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
