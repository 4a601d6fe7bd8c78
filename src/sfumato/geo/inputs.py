"""Positions from files, tables and pipes, a batch at a time; every bad row is named with its reason."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa

from sfumato.errors import DataUnreadable, SfumatoError, UsageError, file_missing
from sfumato.geo.earth import Floats, problems_of
from sfumato.geo.wordings import Problem, bad_positions, column_unknown, not_geojson, source_unknown
from sfumato.tables.arrow import BATCH
from sfumato.tables.frames import framed
from sfumato.tables.kinds import PLACES, kind_called, kind_of
from sfumato.tables.objects import BROKEN, values
from sfumato.tables.reading import batches
from sfumato.tables.streams import PIPE, opened, readable

SEVERAL = ("FeatureCollection", "MultiPoint")  # of GeoJSON
ONE = ("Feature", "Point")
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
        if isinstance(source, str | PathLike):
            yield from self._file(source)
        elif hasattr(source, "__arrow_c_stream__") or _is_rows(source):
            yield from self._frame(source)
        elif hasattr(source, "read"):
            with readable("the stream"):
                yield from self._stream(source, self._kind(), "the stream")
        elif isinstance(source, Sequence | np.ndarray):
            yield from _pairs(source)
        else:
            raise source_unknown(type(source).__name__)

    def _file(self, source: str | PathLike[str]) -> Iterator[tuple[Floats, Floats]]:
        path = Path(source)
        if source == PIPE:
            kind = self._kind()
        elif not path.is_file():
            raise file_missing(str(path))
        else:
            kind = kind_of(path, PLACES) if self.kind is None else self._kind()
        with opened(PIPE if source == PIPE else path) as stream:
            yield from self._stream(stream, kind, "the pipe" if source == PIPE else path.name)

    def _kind(self) -> str:
        return "csv" if self.kind is None else kind_called(self.kind, PLACES)

    def _stream(self, stream: BinaryIO, kind: str, name: str) -> Iterator[tuple[Floats, Floats]]:
        if kind in ("json", "geojson"):
            yield from _grouped(self._json(stream, kind))
            return
        try:
            yield from self._tables(batches(stream, kind, name, self._names, self._torn))
        except DataUnreadable:
            if self.torn and not self.skip_bad:
                raise bad_positions(self.torn) from None
            raise

    def _torn(self, row: int, fields: int, expected: int) -> bool:
        self.torn.append((row, f"it has {fields} fields, the header {expected}"))
        return self.skip_bad

    def _json(self, stream: BinaryIO, kind: str) -> Iterator[tuple[float, float]]:
        """Points of GeoJSON, or objects with a latitude and a longitude; what is neither becomes a row to name."""
        for place, value in enumerate(values(stream)):
            if kind == "geojson" and not place:
                if value is BROKEN:
                    raise not_geojson("it is not JSON")
                yield from _features(value)
            elif isinstance(value, dict) and value.get("type") in SEVERAL:
                yield from _features(value)
            else:
                yield self._one(value)

    def _one(self, value: Any) -> tuple[float, float]:
        try:
            if isinstance(value, Mapping) and value.get("type") not in ONE:
                lat, lon = self._names(list(value))
                return _number(value[lat]), _number(value[lon])
            return next(_features(value))
        except (ValueError, StopIteration, SfumatoError):
            return float("nan"), float("nan")

    def _frame(self, source: Any) -> Iterator[tuple[Floats, Floats]]:
        try:
            yield from self._tables(framed(source)[0].to_batches(BATCH))
        except UsageError:  # a column that holds numbers and texts
            if _is_rows(source):
                yield from _grouped(map(self._one, source))
                return
            lat, lon = self._names([str(name) for name in source.columns])
            yield from _grouped(zip(source[lat].tolist(), source[lon].tolist(), strict=True))

    def _tables(self, found: Iterable[pa.RecordBatch]) -> Iterator[tuple[Floats, Floats]]:
        for batch in found:
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


def _is_rows(source: object) -> bool:
    return isinstance(source, list | tuple) and bool(source) and all(isinstance(row, Mapping) for row in source)


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
