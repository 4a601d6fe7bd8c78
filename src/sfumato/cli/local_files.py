"""Values and reports in files and pipes, a batch at a time, with a bar when it takes longer than two seconds."""

import csv
import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import IO, Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from sfumato.errors import DataUnreadable, UsageError, column_absent, file_missing, file_unreadable
from sfumato.local import Protocol, Reports

BATCH = 1 << 16
PATIENCE_SECONDS = 2.0
KINDS = ("lines", "csv", "jsonl", "parquet")
SUFFIXES = {
    ".txt": "lines",
    ".csv": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".parquet": "parquet",
}
STDIN = "-"
WIRE = ("protocol", "report")

Cells = dict[str, list[Any]]
Tick = Callable[[int], None]


def kind_of(path: str, given: str | None, otherwise: str) -> str:
    """The format that was asked for, or that the name of the file says."""
    if given is not None:
        if given not in KINDS:
            raise UsageError(f"{given} is no format of a file.", f"Name one of {', '.join(KINDS)}.")
        return given
    if path == STDIN:
        return otherwise
    try:
        return SUFFIXES[Path(path).suffix.lower()]
    except KeyError:
        raise UsageError(f"{path} does not say what it holds.", f"Name one of {', '.join(KINDS)}.") from None


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
    if kind == "parquet":
        yield from ((cells, False) for cells in _parquet(path, wanted))
        return
    with _opened(path) as file:
        match kind:
            case "lines":
                name = wanted[0] if wanted else "value"
                for lines in _batched(file):
                    yield {name: [line.rstrip("\r\n") for line in lines]}, True
            case "csv":
                yield from ((cells, True) for cells in _csv(file, path, wanted))
            case _:
                yield from ((cells, False) for cells in _json(file, wanted))


def _csv(file: IO[str], path: str, wanted: list[str] | None) -> Iterator[Cells]:
    reader = csv.reader(file)
    header = next(reader, None)
    if header is None:
        raise file_unreadable(path, "it is empty")
    places = _places(header, wanted)
    row = 1
    for batch in _batched(reader):
        for place, record in enumerate(batch):
            if len(record) != len(header):
                raise file_unreadable(path, f"row {row + place} has {len(record)} cells, the header {len(header)}")
        yield {name: [record[at] for record in batch] for name, at in places.items()}
        row += len(batch)


def _places(header: list[str], wanted: list[str] | None) -> dict[str, int]:
    if wanted is None:
        if len(header) != 1:
            raise UsageError("the file has several columns.", "Say which one with --column.")
        wanted = header
    for name in wanted:
        if name not in header:
            raise column_absent(name, header)
    return {name: header.index(name) for name in wanted}


def _json(file: IO[str], wanted: list[str] | None) -> Iterator[Cells]:
    row = 1
    for lines in _batched(file):
        records = [_parsed(line, row + place) for place, line in enumerate(lines)]
        if wanted is None:
            yield {"value": records}
        else:
            yield {name: [_field(record, name, row + at) for at, record in enumerate(records)] for name in wanted}
        row += len(lines)


def _parsed(line: str, row: int) -> Any:
    try:
        return json.loads(line)
    except ValueError:
        raise DataUnreadable(f"row {row}: this is not JSON.", "Write one value or object a line.") from None


def _field(record: Any, name: str, row: int) -> Any:
    if not isinstance(record, dict) or name not in record:
        raise DataUnreadable(f'row {row}: there is no "{name}".', "Write an object with this name on every line.")
    return record[name]


def _parquet(path: str, wanted: list[str] | None) -> Iterator[Cells]:
    arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    if path != STDIN and not Path(path).exists():
        raise file_missing(path)
    try:  # its directory is at its end: a pipe is read to there
        file = parquet.ParquetFile(arrow.BufferReader(sys.stdin.buffer.read()) if path == STDIN else path)
    except (OSError, ValueError):  # Arrow's own errors are one or the other
        raise file_unreadable(path, "it is not a Parquet file") from None
    places = _places(list(file.schema_arrow.names), wanted)
    for batch in file.iter_batches(batch_size=BATCH, columns=list(places)):
        yield {name: batch.column(name).to_pylist() for name in places}


def reports(path: str, kind: str, tick: Tick) -> Iterator[Any]:
    """Reports one by one, in the form `Server.add` takes."""
    if kind in ("lines", "jsonl"):
        with _opened(path) as file:
            for count, line in enumerate(file, start=1):
                yield line
                if count % BATCH == 0:
                    tick(BATCH)
        return
    source = _parquet(path, list(WIRE)) if kind == "parquet" else (cells for cells, _ in _cells(path, kind, list(WIRE)))
    row = 1
    for cells in source:
        for mark, text in zip(*(cells[name] for name in WIRE), strict=True):
            yield {"protocol": mark, "report": _parsed(text if isinstance(text, str) else "", row)}
            row += 1
        tick(len(cells["report"]))


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


@contextmanager
def _opened(path: str) -> Iterator[IO[str]]:
    try:
        if path == STDIN:
            yield sys.stdin
        else:
            with open(path, encoding="utf-8", newline="") as file:
                yield file
    except FileNotFoundError:
        raise file_missing(path) from None
    except OSError as error:
        raise file_unreadable(path, str(error.strerror).lower()) from None
    except UnicodeDecodeError:
        raise file_unreadable(path, "it is not valid UTF-8") from None
    except csv.Error as error:
        raise file_unreadable(path, str(error)) from None


def _batched(source: Iterable[Any]) -> Iterator[list[Any]]:
    waiting = iter(source)
    while batch := list(islice(waiting, BATCH)):
        yield batch


@contextmanager
def counting(message: str) -> Iterator[Tick]:
    """A function to tell how much more is done; on a terminal a bar appears after two seconds."""
    console, started, done = Console(stderr=True), time.monotonic(), 0
    columns = (TextColumn("{task.description}"), BarColumn(bar_width=30), MofNCompleteColumn())
    bar = Progress(*columns, console=console, transient=True)
    task = bar.add_task(message, total=None)

    def tick(more: int) -> None:
        nonlocal done
        done += more
        if console.is_terminal and time.monotonic() - started > PATIENCE_SECONDS:
            bar.start()
            bar.update(task, completed=done)

    try:
        yield tick
    finally:
        bar.stop()
