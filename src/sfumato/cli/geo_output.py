"""What the commands of `sfumato geo` read and print."""

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Self, TextIO

import numpy as np

from sfumato import geo
from sfumato.cli.format import Format, WithMap
from sfumato.cli.output import as_table, number
from sfumato.cli.progress import counting
from sfumato.errors import UsageError, file_missing, so_many
from sfumato.geo.earth import Floats
from sfumato.geo.inputs import Reading
from sfumato.geo.planar import Planar, level_of
from sfumato.geo.wordings import Problem, box_unusable, not_a_position, vectors_unusable

SHOWN = 20  # rows of a table on the screen
KEPT = 20_000  # positions remembered for a map


class Sink:
    """Writes reports as they come; a table shows the first ones, JSON and GeoJSON are closed at the end."""

    def __init__(self, mechanism: Planar, format: WithMap, output: Path | None, *, keep: bool) -> None:
        self._mechanism, self._format, self._keep = mechanism, format, keep
        self._output, self._count = output, 0
        self._head: list[dict[str, float]] = []
        self._kept: list[tuple[Floats, Floats]] = []
        self._file: TextIO = sys.stdout

    def __enter__(self) -> Self:
        if self._output is not None:
            try:
                self._file = self._fresh.open("w", encoding="utf-8")
            except OSError as error:
                raise UsageError(
                    f"{self._output} cannot be written: {error.strerror}.", "Choose another file."
                ) from None
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        try:
            if kind is None:
                self._finish()
        finally:
            if self._output is not None:
                self._file.close()
                if self._fresh != self._output:
                    self._fresh.replace(self._output) if kind is None else self._fresh.unlink()

    @property
    def _fresh(self) -> Path:
        """A file appears under its name when all of it was written; a pipe or a terminal is there already."""
        named = Path(str(self._output))
        return named if named.exists() and not named.is_file() else Path(f"{named}.part")

    def add(self, lat: Any, lon: Any) -> None:
        lat, lon = np.atleast_1d(lat), np.atleast_1d(lon)
        pairs = list(zip(lat.tolist(), lon.tolist(), strict=True))
        opening = self._opening() if not self._count else ""
        match self._format:
            case Format.csv:
                self._file.write(opening + "".join(f"{one:.5f},{two:.5f}\n" for one, two in pairs))
            case Format.json:
                rows = ",\n".join(f'{{"lat": {one:.5f}, "lon": {two:.5f}}}' for one, two in pairs)
                self._file.write(opening + (",\n" if self._count and pairs else "") + rows)
            case Format.geojson:
                rows = ",\n".join(_feature(one, two) for one, two in pairs)
                self._file.write(opening + (",\n" if self._count and pairs else "") + rows)
            case Format.table:
                self._head += [{"lat": one, "lon": two} for one, two in pairs[: SHOWN - len(self._head)]]
        self._count += len(pairs)
        if self._keep and sum(len(part) for part, _ in self._kept) < KEPT:
            self._kept.append((lat, lon))

    def kept(self) -> tuple[Floats, Floats]:
        """What a map shows."""
        none = [np.empty(0)]
        return (
            np.concatenate([lat for lat, _ in self._kept] or none)[:KEPT],
            np.concatenate([lon for _, lon in self._kept] or none)[:KEPT],
        )

    def _opening(self) -> str:
        about = {"epsilon_per_m": float(self._mechanism.epsilon), "error95_m": round(self._mechanism.error_m(), 2)}
        match self._format:
            case Format.csv:
                return "lat,lon\n"
            case Format.json:
                return json.dumps(about)[:-1] + ', "reports": [\n'
            case Format.geojson:
                return '{"type": "FeatureCollection", "features": [\n'
            case Format.table:
                return ""

    def _finish(self) -> None:
        opening = self._opening() if not self._count else ""
        if self._format is Format.table:
            rows = [{name: f"{value:.5f}" for name, value in row.items()} for row in self._head]
            self._file.write(as_table(["lat", "lon"], rows, footer=self._footer()))
        elif self._format is Format.csv:
            self._file.write(opening)
        else:
            self._file.write(opening + "\n]}\n")

    def _footer(self) -> str:
        told = self._mechanism
        more = f" The first {len(self._head)} are shown; --format csv prints all." if self._count > SHOWN else ""
        return (
            f"{so_many(self._count, 'report')}.{more} Each costs level {float(told.level):.4g} within "
            f"{float(told.radius_m):g} m; "
            f"95 % are within {told.error_m():,.0f} m of the truth. Reports of one person add up."
        )


def _feature(lat: float, lon: float) -> str:
    return (
        '{"type": "Feature", "geometry": {"type": "Point", "coordinates": '
        f'[{lon:.5f}, {lat:.5f}]}}, "properties": {{}}}}'
    )


def price_of(level: str, radius: str, around: str | None) -> Planar:
    centre = None if around is None else pair_of(around)
    return geo.planar(level=level_of(level), radius_m=number(radius, "radius_m"), around=centre)


def afterwards(mechanism: Planar, path: str | None, *, remap: bool) -> Callable[[Any, Any], geo.Position]:
    """How a report is told: as it is, as the closest of public places, or as the best guess among them."""
    if path is None:
        if remap:
            raise UsageError("there is no place to remap to.", "Name a file of public places with --places.")
        return mechanism.report
    lats, lons, _ = geo.read(path)
    listed = list(zip(lats.tolist(), lons.tolist(), strict=True))
    if not remap:
        return lambda lat, lon: mechanism.report(lat, lon, places=listed)
    guess = geo.remap(listed, epsilon=mechanism.epsilon)
    return lambda lat, lon: guess(*mechanism.report(lat, lon))


def pair_of(text: str) -> tuple[float, float]:
    try:
        lat, lon = (float(part) for part in text.split(","))
    except ValueError:
        raise not_a_position("a position of the form LAT,LON") from None
    return lat, lon


def box_of(text: str) -> geo.Box:
    try:
        south, west, north, east = (float(part) for part in text.split(","))
    except ValueError:
        raise box_unusable() from None
    return geo.Box(south, west, north, east)


def progress(reading: Reading) -> Iterator[tuple[Floats, Floats]]:
    """The batches; after two seconds a terminal shows how many rows are done."""
    with counting("Reading") as tick:
        for batch in reading:
            tick(len(batch[0]))
            yield batch


def counted(reading: Reading) -> tuple[Floats, Floats]:
    """All positions of a reading."""
    parts, none = list(progress(reading)), [np.empty(0)]
    return np.concatenate([lat for lat, _ in parts] or none), np.concatenate([lon for _, lon in parts] or none)


def name_bad(problems: Sequence[Problem], listed: int = 20) -> None:
    """Rows that were left out, on standard error."""
    for row, reason in problems[:listed]:
        print(f"row {row} left out: {reason}", file=sys.stderr)
    if len(problems) > listed:
        print(f"and {len(problems) - listed} more rows left out", file=sys.stderr)


def vectors_from(path: Path) -> dict[str, list[float]]:
    """One word and its numbers per line."""
    if not path.is_file():
        raise file_missing(str(path))
    found: dict[str, Any] = {}
    with path.open(encoding="utf-8") as lines:
        for place, line in enumerate(lines, start=1):
            word, *entries = line.split()
            try:
                found[word] = [float(entry) for entry in entries]
            except ValueError:
                raise vectors_unusable(f"line {place} holds something else than numbers") from None
    return found
