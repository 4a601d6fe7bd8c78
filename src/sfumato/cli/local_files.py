"""Values and reports in files and pipes, a batch at a time."""

import csv
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import IO, Any

from sfumato.cli.progress import Tick
from sfumato.errors import UsageError, column_absent, file_missing
from sfumato.local import Protocol, Reports
from sfumato.tables.kinds import LINES, kind_called, kind_of
from sfumato.tables.objects import BROKEN
from sfumato.tables.objects import values as json_values
from sfumato.tables.streams import PIPE, lines, opened
from sfumato.tables.wordings import row_lacks, row_not_json

BATCH = 1 << 16
WRITTEN = {".csv": "csv", ".jsonl": "json", ".ndjson": "json", ".json": "json", ".txt": "json", ".parquet": "parquet"}
STDIN = PIPE
WIRE = ("protocol", "report")

Cells = dict[str, list[Any]]


def read_kind(path: str, given: str | None, otherwise: str) -> str:
    """What the input holds, as it was said, or as the name of the file says."""
    if given is not None:
        return kind_called(given, LINES)
    if path == STDIN:
        return otherwise
    if not Path(path).is_file():
        raise file_missing(path)
    return kind_of(Path(path), LINES)


def written_kind(path: str, given: str | None) -> str:
    """How reports are written, as it was said, or as the name of the file says; lines of JSON into a pipe."""
    suffix = Path(path).suffix.lower() if given is None else f".{given.lower()}"
    kind = "json" if path == STDIN and given is None else WRITTEN.get(suffix)
    if kind is None:
        raise UsageError(
            f"{path if given is None else given} does not say how to write reports.", "Name one of jsonl, csv, parquet."
        )
    return kind


def values(protocol: Protocol, path: str, kind: str, column: str | None) -> Iterator[tuple[int, Any]]:
    """Batches of values as the protocol takes them, each with the number of its first row; a header is row 0."""
    names = protocol.scheme.names
    wanted = list(names) if names else ([column] if column else None)
    row = 1
    for cells, texts in _cells(path, kind, wanted):
        content = protocol.scheme.read(cells) if texts else (cells if names else next(iter(cells.values())))
        yield row, content
        row += len(next(iter(cells.values())))


def _cells(path: str, kind: str, wanted: list[str] | None) -> Iterator[tuple[Cells, bool]]:
    """(column -> cells, whether the cells are texts)."""
    with opened(path) as stream:
        match kind:
            case "lines":
                name = wanted[0] if wanted else "value"
                for texts in _batched(lines(stream)):
                    yield {name: [line.decode().rstrip("\r\n") for line in texts]}, True
            case "json":
                yield from ((cells, False) for cells in _json(stream, wanted))
            case _:
                batches = import_module("sfumato.tables.reading").batches  # slow to load
                for batch in batches(stream, kind, Path(path).name, lambda names: _places(names, wanted)):
                    yield {name: batch.column(name).to_pylist() for name in batch.schema.names}, kind == "csv"


def _places(present: Sequence[str], wanted: list[str] | None) -> Sequence[str]:
    if wanted is None and len(present) != 1:
        raise UsageError("the file has several columns.", "Say which one with --column.")
    for name in wanted or ():
        if name not in present:
            raise column_absent(name, present)
    return wanted or present


def _json(stream: Iterable[bytes], wanted: list[str] | None) -> Iterator[Cells]:
    row = 1
    for records in _batched(json_values(stream)):
        if BROKEN in records:
            raise row_not_json(row + records.index(BROKEN))
        if wanted is None:
            yield {"value": records}
        else:
            yield {name: [_field(record, name, row + at) for at, record in enumerate(records)] for name in wanted}
        row += len(records)


def _field(record: Any, name: str, row: int) -> Any:
    if not isinstance(record, dict) or name not in record:
        raise row_lacks(row, name)
    return record[name]


def reports(path: str, kind: str, tick: Tick) -> Iterator[Any]:
    """Reports one by one, in the form `Server.add` takes."""
    if kind in ("lines", "json"):
        with opened(path) as stream:
            for count, report in enumerate(json_values(stream), start=1):
                if report is BROKEN:
                    raise row_not_json(count)
                yield report
                if count % BATCH == 0:
                    tick(BATCH)
        return
    row = 1
    for cells, _ in _cells(path, kind, list(WIRE)):
        for mark, text in zip(*(cells[name] for name in WIRE), strict=True):
            yield {"protocol": mark, "report": _parsed(text, row)}
            row += 1
        tick(len(cells["report"]))


def _parsed(text: Any, row: int) -> Any:
    try:
        return json.loads(text)
    except (TypeError, ValueError):
        raise row_not_json(row) from None


@contextmanager
def writing(path: str, kind: str) -> Iterator[Callable[[Reports], None]]:
    """A place for reports. A file appears under its name when all of it was written."""
    if path == STDIN:
        if kind == "parquet":
            raise UsageError("Parquet cannot be written to a pipe.", "Name a file with --output.")
        yield _writer(sys.stdout, kind)
        sys.stdout.flush()
        return
    target, fresh = Path(path), Path(f"{path}.part")
    try:
        if kind == "parquet":
            with _parquet_writer(fresh) as write:
                yield write
        else:
            with open(fresh, "w", encoding="utf-8", newline="") as file:
                yield _writer(file, kind)
        fresh.replace(target)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}.", "Choose another file.") from None
    finally:
        fresh.unlink(missing_ok=True)


def _writer(file: IO[str], kind: str) -> Callable[[Reports], None]:
    if kind != "csv":
        return lambda batch: file.writelines(line + "\n" for line in batch.lines())
    table = csv.writer(file, lineterminator="\n")
    table.writerow(WIRE)
    return lambda batch: table.writerows((row["protocol"], json.dumps(row["report"])) for row in batch.rows)


@contextmanager
def _parquet_writer(path: Path) -> Iterator[Callable[[Reports], None]]:
    arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    schema = arrow.schema([(name, arrow.string()) for name in WIRE])
    with parquet.ParquetWriter(path, schema) as file:

        def write(batch: Reports) -> None:
            texts = [json.dumps(row["report"]) for row in batch.rows]
            file.write_table(arrow.table([[batch.mark] * len(batch), texts], schema=schema))

        yield write


def _batched(source: Iterable[Any]) -> Iterator[list[Any]]:
    waiting = iter(source)
    while batch := list(islice(waiting, BATCH)):
        yield batch
