"""CSV: the first line alone says separator and columns, every cell is a text, and a torn row is named by its number."""

import csv
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from typing import BinaryIO, Literal

import pyarrow as pa
import pyarrow.csv as pc

from sfumato.engines.duckdb.files import separator_of
from sfumato.errors import DataUnreadable
from sfumato.tables.streams import NOT_UTF_8
from sfumato.tables.wordings import file_not_understood, row_torn

BLOCK = 1 << 20  # bytes
Chosen = Callable[[Sequence[str]], Sequence[str]]  # of all columns those that are wanted, or an error
Torn = Callable[[int, int, int], bool]  # row, its fields, those of the header; whether to go on without that row
Tear = tuple[int, int, int]
Options = tuple[pc.ReadOptions, pc.ParseOptions, pc.ConvertOptions]


def batches(stream: BinaryIO, name: str, chosen: Chosen = list, torn: Torn | None = None) -> Iterator[pa.RecordBatch]:
    """The chosen columns as texts. A row that has more or fewer fields than the header ends the reading."""
    separator, names = header(stream, name)
    wanted = list(chosen(names))
    tears: list[Tear] = []
    options = _options(separator, names, wanted, dict.fromkeys(wanted, pa.string()), _handler(tears, torn))
    try:
        yield from pc.open_csv(stream, *options)
    except pa.ArrowInvalid as error:
        if not _is_empty(error):
            raise _refusal(name, tears, error) from None


def table(stream: BinaryIO, name: str, *, typed: bool = False) -> pa.Table:
    """All of it. typed: a column has the type that all its values have; else it is one of texts, so 01 keeps its 0."""
    separator, names = header(stream, name)
    texts: dict[str, pa.DataType] = dict.fromkeys(names, pa.string())
    tears: list[Tear] = []
    try:
        found = pc.read_csv(stream, *_options(separator, names, names, {} if typed else texts, _handler(tears, None)))
    except pa.ArrowInvalid as error:
        if _is_empty(error):
            return pa.table({each: pa.array([], kind) for each, kind in texts.items()})
        raise _refusal(name, tears, error) from None
    if pa.binary() in found.schema.types:  # what Arrow makes of other encodings
        raise file_not_understood(name, NOT_UTF_8)
    return found


def header(stream: BinaryIO, name: str) -> tuple[str, list[str]]:
    """The separator and the names of the columns, by the rule of the private engine; the stream then holds the rows."""
    try:
        first = stream.readline().decode("utf-8-sig")
        separator = separator_of(first)
        lines = chain([first], (line.decode() for line in iter(stream.readline, b"")))
        names = next(csv.reader(lines, delimiter=separator), [])
    except (UnicodeDecodeError, csv.Error):
        raise file_not_understood(name, NOT_UTF_8) from None
    if not first:
        raise file_not_understood(name, "it is empty")
    if not any(names):
        raise file_not_understood(name, "its first line names no column")
    if len(set(names)) < len(names):
        raise file_not_understood(name, "two columns have the same name")
    return separator, names


def _options(
    separator: str,
    names: list[str],
    wanted: list[str],
    types: Mapping[str, pa.DataType],
    invalid: Callable[[pc.InvalidRow], Literal["skip", "error"]],
) -> Options:
    return (
        pc.ReadOptions(column_names=names, block_size=BLOCK, use_threads=False),  # so Arrow knows the numbers of rows
        pc.ParseOptions(delimiter=separator, newlines_in_values=True, invalid_row_handler=invalid),
        pc.ConvertOptions(column_types=dict(types), include_columns=wanted),
    )


def _handler(tears: list[Tear], torn: Torn | None) -> Callable[[pc.InvalidRow], Literal["skip", "error"]]:
    def invalid(row: pc.InvalidRow) -> Literal["skip", "error"]:
        tears.append((row.number or 0, row.actual_columns, row.expected_columns))
        return "skip" if torn is not None and torn(*tears[-1]) else "error"

    return invalid


def _is_empty(error: pa.ArrowInvalid) -> bool:
    return "Empty CSV" in str(error)


def _refusal(name: str, tears: list[Tear], error: pa.ArrowInvalid) -> DataUnreadable:
    """The cause in our own words: Arrow's would quote the file."""
    if "utf" in str(error).lower():
        return file_not_understood(name, NOT_UTF_8)
    return row_torn(name, *tears[-1]) if tears else file_not_understood(name, "it is not CSV")
