"""Files, tables and pipes: the same positions from all, and every bad row named."""

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest

import sfumato as sf
from sfumato.errors import DataUnreadable, UsageError
from sfumato.geo.inputs import BATCH, Reading

PLACES = [(39.96, 116.31), (-16.5, 179.5), (0.0, -0.125)]
COLUMNS = {"name": ["a", "b", "c"], "lat": [39.96, -16.5, 0.0], "lon": [116.31, 179.5, -0.125]}


def feature(lat: object, lon: object) -> dict[str, Any]:
    return {"type": "Feature", "properties": {}, "geometry": {"type": "Point", "coordinates": [lon, lat]}}


def made(folder: Path, kind: str) -> Any:
    collection = {"type": "FeatureCollection", "features": [feature(*place) for place in PLACES]}
    table = pa.table(COLUMNS)
    path = folder / f"points.{kind}"
    match kind:
        case "csv":
            path.write_text("name,lat,lon\n" + "".join(f"x,{lat},{lon}\n" for lat, lon in PLACES))
        case "tsv":
            path.write_text('"Longitude"\t"Latitude"\r\n' + "".join(f"{lon}\t{lat}\r\n" for lat, lon in PLACES))
        case "parquet":
            pyarrow.parquet.write_table(table, path)
        case "geojson":
            path.write_text(json.dumps(collection))
        case "ndjson":
            path.write_text("\n".join(json.dumps(one) for one in collection["features"]) + "\n")
        case "json":
            path.write_text(json.dumps({"type": "MultiPoint", "coordinates": [[lon, lat] for lat, lon in PLACES]}))
        case "pandas":
            return pd.DataFrame(COLUMNS)
        case "polars":
            return pl.DataFrame(COLUMNS)
        case "lazy":
            return pl.DataFrame(COLUMNS).lazy()
        case "mixed":
            return pd.DataFrame({**COLUMNS, "name": [1, "b", None], "lat": ["39.96", -16.5, 0.0]})
        case "arrow":
            return table
        case "list":
            return PLACES
        case "stream":
            return io.BytesIO(b"lat;lon\n" + b"".join(f"{lat};{lon}\n".encode() for lat, lon in PLACES))
    return path


KINDS = [
    "csv",
    "tsv",
    "parquet",
    "geojson",
    "ndjson",
    "json",
    "pandas",
    "polars",
    "lazy",
    "mixed",
    "arrow",
    "list",
    "stream",
]


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_positions_from_everything(tmp_path: Path, kind: str) -> None:
    lat, lon, problems = sf.geo.read(made(tmp_path, kind))
    assert list(zip(lat.tolist(), lon.tolist(), strict=True)) == PLACES
    assert problems == []


BAD = "lat,lon\n1,2\nabc,3\n4,\n95,5\n6,7\n8,999\n"
REASONS = [
    (2, "the latitude is missing or not a number"),
    (3, "the longitude is missing or not a number"),
    (4, "the latitude is beyond a pole (swapped with the longitude?)"),
    (6, "the longitude is beyond 360 degrees"),
]


def test_bad_rows_are_named_never_dropped_in_silence(tmp_path: Path) -> None:
    path = tmp_path / "bad.csv"
    path.write_text(BAD)
    with pytest.raises(
        UsageError, match=r"4 rows hold no position: row 2: .*; row 3: .*; row 4: .*; row 6: "
    ) as failed:
        sf.geo.read(path)
    assert "abc" not in str(failed.value)
    lat, lon, problems = sf.geo.read(path, on_bad="skip")
    assert (lat.tolist(), lon.tolist()) == ([1.0, 6.0], [2.0, 7.0])
    assert problems == REASONS


def test_torn_rows_are_named_by_their_number(tmp_path: Path) -> None:
    """Too many or too few fields; rows after them keep the number they have in the file."""
    path = tmp_path / "torn.csv"
    path.write_text('lat,lon,note\n1,2,"a\nb"\n3,4\n5,6,,7\n8,9,\n95,1,\n10,11,\n')
    with pytest.raises(UsageError, match="1 row holds no position: row 2: it has 2 fields, the header 3"):
        sf.geo.read(path)
    lat, _, problems = sf.geo.read(path, on_bad="skip")
    assert lat.tolist() == [1.0, 8.0, 10.0]
    assert problems == [
        (2, "it has 2 fields, the header 3"),
        (3, "it has 4 fields, the header 3"),
        (5, "the latitude is beyond a pole (swapped with the longitude?)"),
    ]


def test_a_torn_row_far_into_a_pipe_is_named() -> None:
    rows = b"lat,lon\n" + b"12.5,13.25\n" * 300_000 + b"1,2,3\n"
    with pytest.raises(UsageError, match="row 300001: it has 3 fields, the header 2"):
        sf.geo.read(io.BytesIO(rows))


def test_a_row_with_two_faults_is_one_row() -> None:
    with pytest.raises(UsageError, match=r"1 row holds no position: row 1: the latitude .*, the longitude "):
        sf.geo.read(pd.DataFrame({"lat": [None], "lon": ["x"]}))


def test_lines_of_objects_with_a_latitude_and_a_longitude(tmp_path: Path) -> None:
    path = tmp_path / "points.jsonl"
    path.write_text('{"Latitude": 1, "lng": 2}\n{"lat": 3}\n{"y": "4", "x": 5}\n[1, 2]\n')
    lat, lon, problems = sf.geo.read(path, on_bad="skip")
    assert (lat.tolist(), lon.tolist()) == ([1.0, 4.0], [2.0, 5.0])
    assert [row for row, _ in problems] == [2, 4]
    path.write_text('{"a": 1, "b": 2}\n')
    assert sf.geo.read(path, lat="b", lon="a")[0].tolist() == [2.0]
    assert sf.geo.read(path, lat="b", lon="a", kind="jsonl")[1].tolist() == [1.0]


def test_parquet_from_a_stream(tmp_path: Path) -> None:
    path = tmp_path / "points.parquet"
    pyarrow.parquet.write_table(pa.table({"lat": [1.0], "lon": [2.0]}), path)
    assert sf.geo.read(io.BytesIO(path.read_bytes()), kind="parquet")[0].tolist() == [1.0]
    with pytest.raises(DataUnreadable, match="not a Parquet file"):
        sf.geo.read(io.BytesIO(b"lat,lon"), kind="parquet")


def test_nothing_at_all_is_said_to_be_empty() -> None:
    with pytest.raises(DataUnreadable, match="it is empty"):
        sf.geo.read(io.BytesIO(b""))


def test_bad_rows_of_a_table_and_of_geojson(tmp_path: Path) -> None:
    frame = pd.DataFrame({"lat": ["1", None, "x"], "lon": ["2", "3", "4"]})
    assert [row for row, _ in sf.geo.read(frame, on_bad="skip")[2]] == [2, 3]
    path = tmp_path / "bad.ndjson"
    lines = [
        json.dumps(feature(1, 2)),
        "{",
        json.dumps(feature("x", 2)),
        json.dumps({"type": "Feature", "geometry": None}),
    ]
    path.write_text("\n".join(lines))
    assert {row for row, _ in sf.geo.read(path, on_bad="skip")[2]} == {2, 3, 4}


def test_rows_are_counted_across_batches() -> None:
    lat = np.zeros(BATCH + 10)
    lat[BATCH + 4] = 99
    reading = Reading(pa.table({"lat": lat, "lon": np.zeros(BATCH + 10)}), skip_bad=True)
    assert [len(batch) for batch, _ in reading] == [BATCH, 9]
    assert reading.problems == [(BATCH + 5, "the latitude is beyond a pole (swapped with the longitude?)")]


def test_a_stream_is_read_a_batch_at_a_time() -> None:
    """A million rows arrive in many batches; the first is out before the last is in."""

    class Lines(io.RawIOBase):
        read_so_far = 0

        def readable(self) -> bool:
            return True

        def readinto(self, buffer: Any) -> int:
            if self.read_so_far >= 8 + (19 << 22):
                return 0
            size = min(len(buffer), 8 if self.read_so_far == 0 else 1 << 14)
            start = max(self.read_so_far - 8, 0) % 19
            text = b"lat,lon\n" if self.read_so_far == 0 else b"39.96000,116.31000\n" * 900
            buffer[:size] = text[start : start + size]
            self.read_so_far += size
            return size

    lines = Lines()
    batches = iter(Reading(io.BufferedReader(lines, 1 << 14)))
    next(batches)
    assert lines.read_so_far < 48 << 20
    assert sum(len(lat) for lat, _ in batches) > 3_000_000


def test_columns_can_be_named(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("breite,hoehe,laenge\n1,9,2\n")
    assert sf.geo.read(path, lat="breite", lon="laenge")[0].tolist() == [1.0]
    with pytest.raises(DataUnreadable, match='no column "lat"'):
        sf.geo.read(path)
    with pytest.raises(DataUnreadable, match='Did you mean "breite"'):
        sf.geo.read(path, lat="breit")


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("a.xls", b"", "of no kind that is read here"),
        ("a.parquet", b"PAR1", "damaged"),
        ("a.geojson", b"{", "not JSON"),
        ("a.geojson", b'{"type": "LineString"}', "neither a FeatureCollection"),
        ("a.csv", b"\xff\xfe,lon\n", "UTF-8"),
    ],
)
def test_files_that_cannot_be_read(tmp_path: Path, name: str, content: bytes, says: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataUnreadable, match=says):
        sf.geo.read(tmp_path / name)


def test_other_sources_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataUnreadable, match="no file"):
        sf.geo.read(tmp_path / "none.csv")
    with pytest.raises(UsageError, match="int"):
        sf.geo.read(5)
    with pytest.raises(UsageError, match="pairs"):
        sf.geo.read([(1, 2, 3)])


def test_an_empty_file_has_no_positions(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("lat,lon\n")
    assert len(sf.geo.read(tmp_path / "a.csv")[0]) == 0
