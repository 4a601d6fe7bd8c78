"""`sfumato geo`: files and pipes in, tables, JSON, CSV, GeoJSON and maps out."""

import csv
import io
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow.csv
import pyarrow.parquet
import pytest

from tests.entropy import SeededEntropy

Shell = Callable[..., tuple[int, str, str]]


@pytest.fixture
def points(tmp_path: Path) -> Path:
    words = SeededEntropy("shell").words(4000).reshape(2, 2000)
    unit = (words >> np.uint64(11)) * 2.0**-53
    path = tmp_path / "points.csv"
    rows = zip(39.9 + 0.05 * unit[0], 116.3 + 0.05 * unit[1], strict=True)
    path.write_text("lat,lon\n" + "".join(f"{lat:.6f},{lon:.6f}\n" for lat, lon in rows))
    return path


@pytest.mark.parametrize("command", ["report", "protect"])
def test_reports_in_every_format(shell: Shell, points: Path, command: str) -> None:
    code, out, err = shell("geo", command, points)
    assert code == 0, err
    assert "2,000 reports. The first 20 are shown" in out
    assert "level 1.386 within 200 m" in out
    _, out, _ = shell("geo", command, points, "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert len(rows) == 2000
    assert all(len(row["lat"].partition(".")[2]) == 5 for row in rows)
    _, out, _ = shell("geo", command, points, "--format", "json")
    found = json.loads(out)
    assert len(found["reports"]) == 2000
    assert found["epsilon_per_m"] == pytest.approx(0.00693147)
    _, out, _ = shell("geo", command, points, "--format", "geojson")
    features = json.loads(out)["features"]
    assert len(features) == 2000
    assert 116 < features[0]["geometry"]["coordinates"][0] < 117


def test_one_position(shell: Shell) -> None:
    code, out, _ = shell(
        "geo", "report", "--at", "-16.5,179.9999", "--level", "ln 2", "--radius", "100", "--format", "json"
    )
    assert code == 0
    assert abs(json.loads(out)["reports"][0]["lat"] + 16.5) < 0.1
    code, out, _ = shell("geo", "report", "--at", "39.9,116.3", "--around", "39.9,116.4")
    assert code == 0
    assert "1 report. Each costs" in out


def test_a_pipe(points: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "sfumato", "geo", "report", "-", "--format", "csv"],
        input=points.read_bytes() + b"100,1\n",
        capture_output=True,
        timeout=120,
    )
    assert done.returncode == 2
    assert b"row 2001" in done.stderr
    done = subprocess.run(
        [sys.executable, "-m", "sfumato", "geo", "report", "-", "--format", "csv", "--skip-bad"],
        input=points.read_bytes() + b"100,1\n",
        capture_output=True,
        timeout=120,
    )
    assert done.returncode == 0
    assert done.stdout.count(b"\n") == 2001
    assert b"row 2001 left out: the latitude is beyond a pole" in done.stderr


@pytest.mark.parametrize("old", [None, "what was there before"])
def test_a_file_is_written_whole_or_not_at_all(shell: Shell, points: Path, tmp_path: Path, old: str | None) -> None:
    target = tmp_path / "reports.csv"
    if old is not None:
        target.write_text(old)
    points.write_text(points.read_text() + "100,1\n")
    code, _, err = shell("geo", "report", points, "--format", "csv", "--output", target)
    assert code == 2
    assert "row 2001" in err
    assert (target.read_text() if target.exists() else None) == old
    code, _, _ = shell("geo", "report", points, "--format", "csv", "--output", target, "--skip-bad")
    assert code == 0
    assert target.read_text().count("\n") == 2001
    assert not list(tmp_path.glob("*.part"))


@pytest.mark.parametrize("more", [[], ["--remap"]])
def test_reports_at_public_places(shell: Shell, points: Path, tmp_path: Path, more: list[str]) -> None:
    places = tmp_path / "places.csv"
    places.write_text("name,lat,lon\na,39.91,116.31\nb,39.94,116.34\n")
    code, out, err = shell("geo", "report", points, "--places", places, *more, "--format", "csv")
    assert code == 0, err
    assert set(out.split()) == {"lat,lon", "39.91000,116.31000", "39.94000,116.34000"}
    code, out, _ = shell("geo", "report", "--at", "39.9,116.3", "--places", places, *more, "--format", "json")
    assert len(json.loads(out)["reports"]) == 1


def test_a_device_of_the_system_is_written_to_directly(shell: Shell, points: Path) -> None:
    code, _, err = shell("geo", "report", points, "--format", "csv", "--output", "/dev/null")
    assert code == 0, err


def test_a_remap_needs_places(shell: Shell) -> None:
    code, _, err = shell("geo", "report", "--at", "39.9,116.3", "--remap")
    assert code == 2
    assert "--places" in err


def test_lines_of_json_and_parquet_from_a_pipe(points: Path) -> None:
    table = pyarrow.csv.read_csv(points)
    lines = "".join(json.dumps(row) + "\n" for row in table.to_pylist()).encode()
    parquet = io.BytesIO()
    pyarrow.parquet.write_table(table, parquet)
    for kind, content in (("ndjson", lines), ("parquet", parquet.getvalue())):
        for command, more in (("report", []), ("heatmap", ["--epsilon", "1", "--box", "39,116,41,117"])):
            done = subprocess.run(
                [
                    sys.executable,
                    "-m",
                    "sfumato",
                    "geo",
                    command,
                    "-",
                    "--input-format",
                    kind,
                    "--format",
                    "json",
                    *more,
                ],
                input=content,
                capture_output=True,
                timeout=120,
            )
            assert done.returncode == 0, done.stderr
            found = json.loads(done.stdout)
            assert len(found["reports"]) == 2000 if command == "report" else len(found) > 4


@pytest.mark.parametrize("name", ["map.html", "map.png", "map.svg"])
def test_maps(shell: Shell, points: Path, tmp_path: Path, name: str) -> None:
    for arguments in (["report", points], ["heatmap", points, "--epsilon", 1, "--box", "39.8,116.2,40,116.5"]):
        code, _, err = shell("geo", *arguments, "--plot", tmp_path / name)
        assert code == 0, err
        content = (tmp_path / name).read_bytes()
        assert b" km" in content or b" m" in content or name.endswith("png")
        (tmp_path / name).unlink()


def test_trees(shell: Shell, points: Path) -> None:
    area = ["--epsilon", 1, "--box", "39.8,116.2,40,116.5"]
    code, out, err = shell("geo", "tree", points, *area, "--count", "39.9,116.3,39.95,116.35", "--format", "json")
    assert code == 0, err
    (row,) = json.loads(out)
    assert row["low"] <= 2000 <= row["high"]
    assert row["count"] == pytest.approx(2000, abs=300)
    _, out, _ = shell("geo", "tree", points, *area, "--count", "39.9,116.3,39.95,116.35")
    assert "95 % confidence" in out
    _, out, _ = shell("geo", "tree", points, *area)
    assert "the fullest come first" in out
    _, out, _ = shell("geo", "tree", points, *area, "--format", "csv")
    assert sum(float(row["count"]) for row in csv.DictReader(io.StringIO(out))) == pytest.approx(2000, abs=300)
    _, out, _ = shell("geo", "tree", points, *area, "--format", "geojson")
    assert json.loads(out)["features"][0]["geometry"]["type"] == "Polygon"


def test_compare(shell: Shell, tmp_path: Path) -> None:
    code, out, err = shell("geo", "compare", "--format", "json", "--plot", tmp_path / "c.svg")
    assert code == 0, err
    rows = json.loads(out)
    assert len(rows) == 6
    assert [row["epsilon_per_m"] is None for row in rows] == [False, True, True] * 2
    _, out, _ = shell("geo", "compare", "--prior", "town", "--format", "csv")
    assert out.count("inf") == 2
    code, _, err = shell("geo", "compare", "--prior", "city")
    assert code == 2


def test_a_trace(shell: Shell, tmp_path: Path) -> None:
    asked = ["geo", "trace", tmp_path / "d.json", "--per-day", 2, "--level", 1, "--when", "2026-03-01T10:00:00"]
    code, out, err = shell(*asked, "--at", "39.9,116.3")
    assert (code, "new; 1 left today" in out) == (0, True), err
    _, again, _ = shell(*asked, "--at", "39.9,116.3")
    assert "as before, at no cost" in again
    assert again.split("(")[0] == out.split("(")[0]
    shell(*asked, "--at", "40.9,116.3", "--format", "json")
    code, _, err = shell(*asked, "--at", "41.9,116.3", "--format", "csv")
    assert code == 4
    assert "0 of 2 a day is left" in err


def test_words(shell: Shell, tmp_path: Path) -> None:
    path = tmp_path / "vectors.txt"
    path.write_text("tea 0 0.5\ncoffee 0.5 0\nwar 9 9\n")
    code, out, err = shell("geo", "words", "tea, war", "--vectors", path, "--epsilon", 1000)
    assert (code, out) == (0, "tea, war\n"), err
    code, _, err = shell("geo", "words", "tea or war", "--vectors", path, "--epsilon", 1)
    assert (code, "item 2" in err) == (2, True)
    code, out, _ = shell("geo", "words", "tea or war", "--vectors", path, "--epsilon", 1000, "--skip-unknown")
    assert out == "tea  war\n"
    path.write_text("tea 0 x\n")
    code, _, err = shell("geo", "words", "tea", "--vectors", path, "--epsilon", 1)
    assert "line 1" in err


def test_what_stands_between_words_acts_on_no_terminal(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pipe gets it as it was."""
    path = tmp_path / "vectors.txt"
    path.write_text("tea 0 0.5\nwar 9 9\n")
    asked = ["geo", "words", "tea\x1b[; war\ntea", "--vectors", path, "--epsilon", 1000, "--skip-unknown"]
    assert "\x1b" in shell(*asked)[1]
    monkeypatch.setattr(type(sys.stdout), "isatty", lambda stream: True)
    code, out, _ = shell(*asked)
    assert code == 0
    assert "\x1b" not in out
    assert r"tea\x1b[; war" in out
    assert out.endswith("\ntea\n")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["report"], "LAT,LON"),
        (["report", "--at", "1"], "LAT,LON"),
        (["report", "--at", "1,x"], "LAT,LON"),
        (["report", "--at", "95,0"], "not"),
        (["report", "--at", "1,2", "--level", "much"], "level"),
        (["report", "--at", "1,2", "--output", "/nowhere/x"], "cannot be written"),
        (["tree", "none.csv", "--epsilon", "1"], "no file"),
        (["tree", "none.csv", "--epsilon", "1", "--count", "1,2,3"], "south, west, north, east"),
        (["words", "a", "--vectors", "none.txt", "--epsilon", "1"], "no file"),
    ],
)
def test_mistakes(shell: Shell, arguments: list[str], says: str) -> None:
    code, out, err = shell("geo", *arguments)
    assert code in (2, 5)
    assert says in err
    assert out == ""
