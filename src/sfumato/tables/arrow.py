"""Parquet, Arrow and Feather files, whole or a batch at a time."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from sfumato.tables.streams import DAMAGED
from sfumato.tables.texts import Chosen
from sfumato.tables.wordings import file_not_understood

BATCH = 1 << 16  # rows
FILE_BEGINS = b"ARROW1"
NOT_ONE = {
    "parquet": "it is damaged or not a Parquet file",
    "arrow": "it is damaged or neither an Arrow nor a Feather file",
}


def table(stream: BinaryIO, kind: str, name: str) -> pa.Table:
    with _refusals(name, NOT_ONE[kind]):
        found: pa.Table = _reader(stream).read_all() if kind == "arrow" else pq.ParquetFile(_seekable(stream)).read()
        return found


def batches(stream: BinaryIO, kind: str, name: str, chosen: Chosen = list) -> Iterator[pa.RecordBatch]:
    """The chosen columns. The directory of a file is at its end, so a pipe is read to there."""
    with _refusals(name, NOT_ONE[kind]):
        found: Any = _reader(stream) if kind == "arrow" else pq.ParquetFile(_seekable(stream))
        names = found.schema.names if kind == "arrow" else found.schema_arrow.names
    wanted = list(chosen(names))
    with _refusals(name, DAMAGED):
        if kind == "parquet":
            yield from found.iter_batches(BATCH, columns=wanted)
        elif isinstance(found, pa.RecordBatchStreamReader):
            yield from (batch.select(wanted) for batch in found)
        else:
            yield from (found.get_batch(place).select(wanted) for place in range(found.num_record_batches))


def _reader(stream: BinaryIO) -> Any:
    """Of a file with a directory, as Feather is, or of a stream without."""
    source = _seekable(stream)
    begins = source.read(len(FILE_BEGINS))
    source.seek(0)
    return pa.ipc.open_file(source) if begins == FILE_BEGINS else pa.ipc.open_stream(source)


def _seekable(stream: BinaryIO) -> Any:
    return stream if stream.seekable() else pa.BufferReader(stream.read())


@contextmanager
def _refusals(name: str, reason: str) -> Iterator[None]:
    try:
        yield
    except (pa.ArrowException, OSError):
        raise file_not_understood(name, reason) from None
