"""Maps: a scale bar that is right, degrees in their proportion, files that open without a network."""

from math import cos, radians
from pathlib import Path
from xml.etree import ElementTree

import pytest

from sfumato.errors import MissingExtra, UsageError
from sfumato.plots import maps
from sfumato.plots.maps import METRES_A_DEGREE, Dots, Heat, Map, interactive, root_marks, scale_bar

POINTS = Map(
    "Cafés for $5 & <b>", "so <it> is", [Dots("a <i>", [39.9, 40.0], [116.3, 116.5]), Dots("b", [39.95], [116.4])]
)
HEAT = Map("Heat", "warm", heat=Heat("points", [[1, 2], [3, 4]], (39.0, 116.0, 40.0, 117.0)))


@pytest.mark.parametrize(
    "box", [(39.8, 116.2, 40.1, 116.6), (-0.001, 10.0, 0.001, 10.003), (-80.0, -180.0, 80.0, 180.0)]
)
def test_the_scale_bar_is_a_round_length_and_true(box: tuple[float, float, float, float]) -> None:
    bar = scale_bar(box)
    number, unit = bar.text.split()
    metres = float(number) * (1000 if unit == "km" else 1)
    assert (bar.east - bar.west) * METRES_A_DEGREE * cos(radians(bar.lat)) == pytest.approx(metres)
    assert number.strip("0.")[0] in "125"
    assert 0.05 < (bar.east - bar.west) / (box[3] - box[1]) <= 0.2 + 1e-9


def test_degrees_keep_their_proportion() -> None:
    drawn = interactive(HEAT)
    assert drawn.layout.yaxis.scaleratio == pytest.approx(1 / cos(radians(39.5)))
    assert drawn.layout.xaxis.range == (116.0, 117.0)
    assert list(drawn.data[0].y) == [39.25, 39.75]


def test_colours_follow_the_root_of_a_count_and_are_told_as_counts() -> None:
    """On an even scale a city of 10,000 leaves a village of 100 as white as nobody: here it is a tenth as dark."""
    drawn = interactive(Map("m", "t", heat=Heat("points", [[0, 100], [-30, 10_000]], (0, 0, 1, 1)))).data[0]
    assert [list(row) for row in drawn.z] == [[0, 10], [0, 100]]
    assert [list(row) for row in drawn.customdata] == [[0, 100], [-30, 10_000]]
    assert (list(drawn.colorbar.tickvals), list(drawn.colorbar.ticktext)) == (
        [0.0, 24.49489742783178, 44.721359549995796, 70.71067811865476, 100.0],
        ["0", "600", "2,000", "5,000", "10,000"],
    )
    assert root_marks(0) == [0.0]


@pytest.mark.parametrize("drawn", [POINTS, HEAT])
def test_pages_and_pictures(tmp_path: Path, drawn: Map) -> None:
    for name in ("map.html", "map.png", "map.svg", "again.svg"):
        drawn.save(tmp_path / name)
    page = (tmp_path / "map.html").read_text(encoding="utf-8")
    assert "Content-Security-Policy" in page
    assert "<it>" not in page
    assert (tmp_path / "map.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "map.svg").read_bytes() == (tmp_path / "again.svg").read_bytes()
    texts = {element.text for element in ElementTree.fromstring((tmp_path / "map.svg").read_bytes()).iter()}  # noqa: S314
    assert "longitude, degrees" in texts


def test_mistakes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="neither"):
        POINTS.save(tmp_path / "map.gif")
    with pytest.raises(UsageError, match="cannot be written"):
        POINTS.save(tmp_path / "nowhere" / "map.png")
    assert Map("empty", "none").box[0] < 0

    def absent(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(maps, "import_module", absent)
    with pytest.raises(MissingExtra, match="matplotlib"):
        POINTS.save(tmp_path / "map.png")
