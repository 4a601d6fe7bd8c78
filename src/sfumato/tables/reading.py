"""Files as Arrow tables, or a batch at a time; anything that is a table as one."""

from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa

from sfumato.errors import file_missing
from sfumato.tables import arrow, texts
from sfumato.tables.frames import Kind, framed, of_rows
from sfumato.tables.kinds import kind_of
from sfumato.tables.objects import BROKEN, values
from sfumato.tables.streams import opened
from sfumato.tables.texts import Chosen, Torn
from sfumato.tables.wordings import row_no_object, row_not_json


def read(source: object, *, typed: bool = False) -> tuple[pa.Table, Kind]:
    """Any table, empty ones too, and the kind in which it was handed over. typed: as in `read_file`."""
    if isinstance(source, str | PathLike):
        return read_file(Path(source), typed=typed), "arrow"
    return framed(source)


def read_file(path: Path, *, typed: bool = False) -> pa.Table:
    """The rows of a file. typed: a CSV column gets the type that all its values have, instead of texts."""
    if not path.is_file():
        raise file_missing(str(path))
    kind = kind_of(path)
    with opened(path) as stream:
        match kind:
            case "csv":
                return texts.table(stream, path.name, typed=typed)
            case "json":
                return of_rows(list(_objects(stream)))
            case _:
                return framed(arrow.table(stream, kind, path.name))[0]


def batches(
    stream: BinaryIO, kind: str, name: str, chosen: Chosen = list, torn: Torn | None = None
) -> Iterator[pa.RecordBatch]:
    """CSV, Parquet and Arrow, the chosen columns alone. JSON has no columns: `objects.values`."""
    match kind:
        case "csv":
            return texts.batches(stream, name, chosen, torn)
        case _:
            return arrow.batches(stream, kind, name, chosen)


def _objects(stream: BinaryIO) -> Iterator[dict[str, object]]:
    for row, value in enumerate(values(stream), start=1):
        if value is BROKEN:
            raise row_not_json(row)
        if not isinstance(value, dict):
            raise row_no_object(row)
        yield value
