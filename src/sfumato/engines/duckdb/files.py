"""Files on disk: what kind they are, what names their state, which file a directory may hold."""

import csv
import gzip
import hashlib
import os
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import IO, TYPE_CHECKING

from sfumato.engines.wordings import folder_changed, folder_empty, folder_linked, folder_nested, kind_unknown
from sfumato.errors import file_missing, file_unreadable

if TYPE_CHECKING:
    import pyarrow as pa

WILDCARDS = "*?["
SEPARATORS = ",;\t|"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
KINDS = {
    ".csv": "csv",
    ".tsv": "csv",
    ".csv.gz": "csv",
    ".tsv.gz": "csv",
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
    ".parquet": "parquet",
    ".duckdb": "duckdb",
    ".db": "duckdb",
    ".sqlite": "sqlite",
    ".sqlite3": "sqlite",
}
COMPRESSED = ".gz"
LONGEST_LINE = 2_000_000  # bytes: longer ones DuckDB refuses
QUOTE, CR, LF, CR_LF = b'"', b"\r", b"\n", b"\r\n"
PIECE = 1 << 19  # bytes that are looked at together; of a line that holds so many nothing is known
END = "the end"  # a line by itself, unless a quote is open there
NOT_OPENED = "it may not be opened"
SQLITE_BEGINS = b"SQLite format 3\0"


def ending(path: Path) -> str:
    """What the name says of a file: its suffix, and before .gz the one that stands there."""
    suffix = path.suffix.lower()
    return Path(path.stem).suffix.lower() + suffix if suffix == COMPRESSED else suffix


def is_compressed(path: Path) -> bool:
    return ending(path).endswith(COMPRESSED)


def compression(path: Path) -> str:
    """For DuckDB, so that it does not guess."""
    return "'gzip'" if is_compressed(path) else "'none'"


def source_kind(path: Path) -> str:
    """What a path holds, by its name; a .db may be of either database, and says which in its first bytes."""
    if any(sign in str(path) for sign in WILDCARDS):
        raise file_unreadable(path.name, "its path holds *, ? or [, which would be read as a pattern")
    kind = KINDS.get(ending(path))
    with allowed(path):
        if path.is_dir() and kind in (None, "parquet"):
            return "directory"
        if not path.is_file():
            raise file_missing(str(path))
    if kind is None:
        raise kind_unknown(str(path))
    if path.suffix.lower() == ".db" and beginning(path, len(SQLITE_BEGINS)) == SQLITE_BEGINS:
        return "sqlite"
    return kind


@contextmanager
def allowed(path: Path) -> Iterator[None]:
    """What the system says of a file names its path, also to analysts."""
    try:
        yield
    except OSError:
        raise file_unreadable(path.name, NOT_OPENED) from None


def beginning(path: Path, length: int) -> bytes:
    with allowed(path), path.open("rb") as content:
        return content.read(length)


@dataclass(frozen=True, slots=True)
class Files:
    """One file, or those of a directory as they were listed when it was opened."""

    path: Path
    listed: tuple[Path, ...]
    is_folder: bool

    def state(self) -> str:
        """Path, size and time of modification; looked up anew at each call."""
        if not self.is_folder:
            return state(self.path)
        if listing(self.path) != self.listed:
            raise folder_changed(str(self.path))
        told = "\n".join(map(state, self.listed))
        return f"{self.path}|{len(self.listed)}|{hashlib.sha256(told.encode(errors='surrogateescape')).hexdigest()}"

    def changed(self) -> tuple[tuple[int, int], ...]:
        """Of each file which one it is and when anything about it changed last, its name too: putting it back shows."""
        return tuple(map(_changed, self.listed))


def one_file(path: Path) -> Files:
    return Files(path, (path,), is_folder=False)


def folder(path: Path) -> Files:
    return Files(path, listing(path), is_folder=True)


def state(path: Path) -> str:
    status = _status(path)
    return f"{path}|{status.st_size}|{status.st_mtime_ns}"


def _changed(path: Path) -> tuple[int, int]:
    status = _status(path)
    return status.st_ino, status.st_ctime_ns


def _status(path: Path) -> os.stat_result:
    try:
        return path.stat()
    except OSError:
        raise file_missing(str(path)) from None


def state_with_log(path: Path) -> str:
    """A database keeps its newest rows in a log beside it."""
    log = path.with_name(path.name + ".wal")
    with allowed(path):
        return state(path) + (f"|{state(log)}" if log.is_file() else "")


def listing(path: Path) -> tuple[Path, ...]:
    """The Parquet files right in a directory. Names that begin with . or _ are of the writers of files, not data."""
    with allowed(path):
        if not path.is_dir():
            raise file_missing(str(path))
        found = sorted(entry for entry in path.iterdir() if not entry.name.startswith((".", "_")))
        if any(entry.is_symlink() for entry in found):
            raise folder_linked(str(path))
        if any(entry.is_dir() for entry in found):
            raise folder_nested(str(path))
    files = tuple(entry for entry in found if entry.suffix.lower() == ".parquet")
    if not files:
        raise folder_empty(str(path))
    for file in files:
        source_kind(file)
    return files


def header(path: Path) -> tuple[str, list[str]]:
    """The separator and the column names, from the first line alone: no row can change how the file is read."""
    with _undamaged(path), _lines(path) as lines:
        first = lines.readline()
        separator = separator_of(first)
        lines.seek(0)
        names = next(csv.reader(lines, delimiter=separator), [])
    if len({name.casefold() for name in names}) < len(names):
        raise file_unreadable(path.name, "two columns have the same name")
    return separator, names


def plain_rows(path: Path, separator: str, width: int) -> int | None:
    """How many rows a CSV file has in which no line is out of the ordinary, by its bytes alone; None of any other.

    Such lines hold no quote, as many separators as they need, and end alike; those that are empty are none.
    """
    opened = gzip.open if is_compressed(path) else open
    sign, many, end, rest = separator.encode(), 0, b"", b""
    with _undamaged(path), opened(path, "rb") as content:
        while piece := content.read(PIECE):
            end = end or (CR_LF if CR_LF in piece else LF)
            whole, newline, rest = (rest + piece).rpartition(LF)
            if not newline or (found := _plain(whole + newline, sign, width, end)) is None:
                return None
            many += found
    found = _plain(rest, sign, width, end or LF)
    return None if found is None else many + found - 1  # the header


def _plain(piece: bytes, sign: bytes, width: int, end: bytes) -> int | None:
    breaks = piece.count(end)
    if QUOTE in piece or piece.count(CR) != breaks * (end == CR_LF) or piece.count(LF) != breaks:
        return None
    lines = piece.removesuffix(end).split(end) if piece else []
    rows = list(filter(None, lines)) if width > 1 else lines
    return len(rows) if {row.count(sign) for row in rows} <= {width - 1} else None


@contextmanager
def _undamaged(path: Path) -> Iterator[None]:
    try:
        yield
    except (UnicodeDecodeError, csv.Error):
        raise file_unreadable(path.name, "it is not valid UTF-8") from None
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise file_unreadable(path.name, "it is damaged or not compressed by gzip") from None
    except OSError:
        raise file_unreadable(path.name, NOT_OPENED) from None


def holds_rows(path: Path, separator: str, width: int, found: Iterable["pa.RecordBatch"]) -> bool:
    """Whether a CSV file holds these rows and no others, cell by cell, as Python reads it; not where a quote is open.

    Empty fields too many are none, so are blanks around a cell, and so is an empty line, unless rows have one field.
    """
    csv.field_size_limit(max(csv.field_size_limit(), LONGEST_LINE))
    try:
        with _lines(path) as lines:
            rows = csv.reader(chain(lines, [END]), delimiter=separator, skipinitialspace=True)
            next(rows, None)
            kept = filter(None, rows) if width > 1 else (row or [""] for row in rows)
            for batch in found:
                read = list(islice(kept, batch.num_rows))
                if not _same(read, batch) and not _alike(read, batch, width):
                    return False
            return list(islice(kept, 2)) == [[END]]
    except (UnicodeDecodeError, csv.Error, gzip.BadGzipFile, EOFError, zlib.error):
        return False


def _same(read: Sequence[Sequence[str]], batch: "pa.RecordBatch") -> bool:
    """To the letter, which is quick."""
    import pyarrow as pa  # noqa: PLC0415 - slow to load

    if {len(row) for row in read} != {batch.num_columns} or len(read) != batch.num_rows:
        return False
    columns = zip(zip(*read, strict=True), batch.columns, strict=True)
    return all(pa.array(cells, shown.type).equals(shown) for cells, shown in columns)


def _alike(read: Sequence[Sequence[str]], batch: "pa.RecordBatch", width: int) -> bool:
    written = [[*map(_bare, row)] for row in read]
    shown = [[*map(_bare, row)] for row in zip(*(column.to_pylist() for column in batch.columns), strict=True)]
    return [row if any(row[width:]) else row[:width] for row in written] == shown


def _bare(cell: str) -> str:
    return cell.strip(" ")


def separator_of(first: str) -> str:
    """The one that the first line holds most often."""
    return max(SEPARATORS, key=first.count)


def _lines(path: Path) -> IO[str]:
    opened = gzip.open if is_compressed(path) else open
    return opened(path, "rt", encoding="utf-8-sig", newline="")
