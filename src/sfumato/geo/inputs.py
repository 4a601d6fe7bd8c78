"""Positions from files, tables and pipes, a batch at a time; every bad row is named with its reason."""

import csv
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Literal

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from sfumato.errors import SfumatoError, file_missing, file_unreadable
from sfumato.geo.earth import Floats, problems_of
from sfumato.geo.wordings import (
    Problem,
    bad_positions,
    column_unknown,
    kind_unknown,
    not_geojson,
    source_unknown,
)

BATCH = 1 << 16
KINDS = {".csv": "csv", ".tsv": "csv", ".parquet": "parquet", ".geojson": "geojson", ".json": "geojson"}
KINDS |= {".ndjson": "ndjson", ".geojsonl": "ndjson", ".jsonl": "ndjson"}
LATITUDES = ("lat", "latitude", "y")
LONGITUDES = ("lon", "lng", "longitude", "long", "x")


@dataclass(slots=True)
class Reading:
    """Batches of good positions; what was wrong is in `problems`, complete when the last batch is out."""

    source: Any
    lat: str | None = None
    lon: str | None = None
    kind: str | None = None
    skip_bad: bool = False
    rows: int = 0
    problems: list[Problem] = field(default_factory=list)
    torn: list[Problem] = field(default_factory=list)  # rows of CSV with too many or too few fields, not in any batch

    def __iter__(self) -> Iterator[tuple[Floats, Floats]]:
        """Needs: with skip_bad=False, a bad row ends the reading with an error that names it."""
        for lat, lon in self._raw():
            found = problems_of(lat, lon)
            bad = np.array([row for row, _ in found], dtype=np.int64) - 1
            self.problems += (found := [(self._row(self.rows + row), reason) for row, reason in found])
            self.rows += len(lat)
            if found and not self.skip_bad:
                raise bad_positions(found)
            good = np.ones(len(lat), dtype=np.bool_)
            good[bad] = False
            yield lat[good], lon[good]
        self.problems = sorted(self.problems + self.torn)

    def _row(self, row: int) -> int:
        """The number in the file of the row that came out as this one."""
        for torn, _ in self.torn:
            row += torn <= row
        return row

    def _raw(self) -> Iterator[tuple[Floats, Floats]]:
        source = self.source
        if hasattr(source, "collect") and not hasattr(source, "__arrow_c_stream__"):  # a lazy frame of Polars
            source = source.collect()
        if isinstance(source, str | Path):
            yield from self._file(Path(source)) if str(source) != "-" else self._stream(sys.stdin.buffer, "-")
        elif hasattr(source, "__arrow_c_stream__"):
            yield from self._frame(source)
        elif hasattr(source, "read"):
            yield from self._stream(source, "the stream")
        elif isinstance(source, Sequence | np.ndarray):
            yield from _pairs(source)
        else:
            raise source_unknown(type(source).__name__)

    def _file(self, path: Path) -> Iterator[tuple[Floats, Floats]]:
        self.kind = self.kind or KINDS.get(path.suffix.lower())
        if self.kind is None:
            raise kind_unknown(path.name)
        if not path.is_file():
            raise file_missing(str(path))
        try:
            if self.kind == "parquet":
                yield from self._tables(pyarrow.parquet.ParquetFile(path).iter_batches(BATCH))
            else:
                with path.open("rb") as stream:
                    yield from self._stream(stream, path.name)
        except (pa.ArrowException, OSError):
            raise file_unreadable(path.name, "it is damaged or of another kind than its name says") from None

    def _stream(self, stream: BinaryIO, name: str) -> Iterator[tuple[Floats, Floats]]:
        match self.kind or "csv":
            case "csv":
                yield from self._csv(stream, name)
            case "ndjson" | "jsonl":
                yield from _grouped(self._line(line) for line in stream if line.strip())
            case "parquet":  # its directory is at its end: a pipe is read to there
                try:
                    file = pyarrow.parquet.ParquetFile(pa.BufferReader(stream.read()))
                except pa.ArrowException:
                    raise file_unreadable(name, "it is not a Parquet file") from None
                yield from self._tables(file.iter_batches(BATCH))
            case "geojson":
                try:
                    content = json.load(stream)
                except ValueError:
                    raise not_geojson("it is not JSON") from None
                yield from _grouped(_features(content))
            case other:
                raise kind_unknown(other)

    def _csv(self, stream: BinaryIO, name: str) -> Iterator[tuple[Floats, Floats]]:
        """Texts first: a number that cannot be read is a row to name, not an end."""
        try:
            header = stream.readline().decode("utf-8-sig")
        except UnicodeDecodeError:
            raise file_unreadable(name, "it is not valid UTF-8") from None
        if not header:
            raise file_unreadable(name, "it is empty")
        separator = max(",;\t|", key=header.count)
        columns = next(csv.reader([header], delimiter=separator), [])
        lat, lon = self._names(columns)
        options = pyarrow.csv.ConvertOptions(
            column_types={lat: pa.string(), lon: pa.string()}, include_columns=[lat, lon], strings_can_be_null=True
        )
        # With one thread Arrow knows the number of a torn row.
        reading = pyarrow.csv.ReadOptions(column_names=columns, block_size=1 << 20, use_threads=False)
        parsing = pyarrow.csv.ParseOptions(
            delimiter=separator, newlines_in_values=True, invalid_row_handler=self._invalid
        )
        try:
            yield from self._tables(pyarrow.csv.open_csv(stream, reading, parsing, options))
        except pa.ArrowException as error:
            if "Empty CSV" in str(error):
                return
            if self.torn and not self.skip_bad:
                raise bad_positions(self.torn) from None
            raise file_unreadable(name, "it is not CSV") from None

    def _invalid(self, row: pyarrow.csv.InvalidRow) -> Literal["skip", "error"]:
        self.torn.append((row.number or 0, f"it has {row.actual_columns} fields, the header {row.expected_columns}"))
        return "skip" if self.skip_bad else "error"

    def _line(self, line: bytes) -> tuple[float, float]:
        """A point of GeoJSON, or an object with a latitude and a longitude; what is neither becomes a row to name."""
        try:
            content = json.loads(line)
            if isinstance(content, dict) and "type" not in content:
                lat, lon = self._names(list(content))
                return _number(content[lat]), _number(content[lon])
            return next(_features(content))
        except (ValueError, StopIteration, SfumatoError):
            return float("nan"), float("nan")

    def _frame(self, source: Any) -> Iterator[tuple[Floats, Floats]]:
        try:
            batches = pa.table(source).to_batches(BATCH)
        except pa.ArrowException:  # a column of pandas that holds numbers and texts
            lat, lon = self._names([str(name) for name in source.columns])
            yield from _grouped(zip(source[lat].tolist(), source[lon].tolist(), strict=True))
            return
        yield from self._tables(batches)

    def _tables(self, batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[Floats, Floats]]:
        for batch in batches:
            lat, lon = self._names(batch.schema.names)
            yield numbers(batch.column(lat)), numbers(batch.column(lon))

    def _names(self, present: Sequence[str]) -> tuple[str, str]:
        return _column(self.lat, LATITUDES, present), _column(self.lon, LONGITUDES, present)


def read(
    source: Any, *, lat: str | None = None, lon: str | None = None, kind: str | None = None, on_bad: str = "refuse"
) -> tuple[Floats, Floats, list[Problem]]:
    """All positions of a source, and what was wrong with the rows left out (none, unless on_bad="skip")."""
    reading = Reading(source, lat, lon, kind, on_bad == "skip")
    parts = list(reading)
    empty = [np.empty(0, dtype=np.float64)]
    return (
        np.concatenate([one for one, _ in parts] or empty),
        np.concatenate([two for _, two in parts] or empty),
        reading.problems,
    )


def numbers(column: Any) -> Floats:
    """Doubles; what is missing or no number becomes NaN, which is named later."""
    if pa.types.is_integer(column.type) or pa.types.is_floating(column.type) or pa.types.is_decimal(column.type):
        return np.asarray(column.cast(pa.float64()).fill_null(float("nan")).to_numpy(zero_copy_only=False))
    try:
        return np.asarray(column.cast(pa.float64()).fill_null(float("nan")).to_numpy(zero_copy_only=False))
    except pa.ArrowException:
        return np.array([_number(value) for value in column.to_pylist()], dtype=np.float64)


def _number(value: object) -> float:
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return float("nan")


def _column(asked: str | None, usual: Sequence[str], present: Sequence[str]) -> str:
    folded = {name.casefold(): name for name in present}
    if asked is not None:
        if asked not in present:
            raise column_unknown(asked, present)
        return asked
    for name in usual:
        if name in folded:
            return folded[name]
    raise column_unknown(usual[0], present)


def _pairs(source: Any) -> Iterator[tuple[Floats, Floats]]:
    for start in range(0, len(source), BATCH):
        table = np.array([[_number(entry) for entry in row] for row in source[start : start + BATCH]])
        if table.ndim != 2 or table.shape[1] != 2:
            raise source_unknown("list of something else than pairs")
        yield table[:, 0], table[:, 1]


def _grouped(pairs: Iterable[tuple[float, float]]) -> Iterator[tuple[Floats, Floats]]:
    waiting: list[tuple[float, float]] = []
    for pair in pairs:
        waiting.append(pair)
        if len(waiting) == BATCH:
            yield from _pairs(waiting)
            waiting = []
    if waiting:
        yield from _pairs(waiting)


def _features(content: Any) -> Iterator[tuple[float, float]]:
    match content:
        case {"type": "FeatureCollection", "features": list(features)}:
            for feature in features:
                yield from _features(feature)
        case {"type": "Feature"}:
            yield _point(content.get("geometry"))
        case {"type": "Point"}:
            yield _point(content)
        case {"type": "MultiPoint", "coordinates": list(points)}:
            for point in points:
                yield _point({"type": "Point", "coordinates": point})
        case _:
            raise not_geojson("neither a FeatureCollection nor a Feature, Point or MultiPoint")


def _point(geometry: Any) -> tuple[float, float]:
    """Longitude comes first in GeoJSON."""
    match geometry:
        case {"type": "Point", "coordinates": [lon, lat, *_]}:
            return _number(lat), _number(lon)
        case _:
            return float("nan"), float("nan")
