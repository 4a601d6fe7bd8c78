"""Pages whose plots stand still: the same numbers, no script, a hundredth of the size."""

import re
from base64 import b64decode
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from sfumato.errors import MissingExtra
from sfumato.plots import style
from sfumato.plots.attacks import Success, successes
from sfumato.plots.bars import bars, dots, shares
from sfumato.plots.centres import Axis, Centre, centres_map
from sfumato.plots.charts import Chart, Line, Mark, Panel
from sfumato.plots.coefficients import coefficients
from sfumato.plots.compare import against_truth, estimates
from sfumato.plots.curves import curve
from sfumato.plots.maps import Dots, Heat, Map, interactive
from sfumato.plots.marginals import marginals
from sfumato.plots.matrix import matrix
from sfumato.plots.page import Figure, Section, page
from sfumato.plots.price import beliefs, spending
from sfumato.plots.roc import roc
from sfumato.plots.static import svg
from sfumato.plots.steps import cumulative, histogram, steps
from sfumato.plots.trees import Drawn, tree
from tests.plots.reading import read

EVIL = "<script>alert(1)</script> costs $1 & $2"
BINS = [{"low": 10.0 * i, "high": 10.0 * i + 10, "count": count} for i, count in enumerate((5, -2, 40))]
POINTS = [{"at": place, "share": place / 20} for place in (0, 10, 20)]
PAIRS = [(0, 10), (-7, 3), (35, 45)]
MANY = [f"value number {place}" for place in range(40)]
DAYS = [f"2026-01-{day:02d}" for day in range(1, 32)]
SUCCESSES = [
    Success("additive noise, 0.5 standard deviations", 0.71, 0.69, None, alarming=False, outsiders=0.54),
    Success("differential privacy, epsilon = 4", 0.7, 0.69, 0.99, alarming=False, outsiders=0.71),
]
# Every kind of plot that this package puts into a page, and a word that must be in the picture.
PLOTS = {
    "upright bars": (bars(["m", "f"], [10, 20], [(8, 13), (20, 21)], title="n of people"), "n of people"),
    "lying bars": (bars(MANY, [10.0] * 40, [(8, 13)] * 40, title="n"), "value number 39"),
    "dots": (dots(["a", "b"], [1.5, 2], [(1, 2), (1, 3)], title="mean"), "mean"),
    "lying dots": (dots(MANY, [10.0] * 40, [(8, 13)] * 40, title="n"), "value number 0"),
    "shares": (shares(["named", "guessed"], [0.7, 0.01], alarming=["named"]), "70.0 %"),
    "successes": (successes(SUCCESSES), "epsilon = 4"),
    "steps": (steps(list(range(40)), [5.0] * 40, [(3, 7)] * 40, title="n", along="age"), "age"),
    "days": (steps(DAYS, [5.0] * 31, [(3, 7)] * 31, title="n", along="day"), "day"),
    "histogram": (histogram(["h"], [BINS], [PAIRS], title="h", along="age"), "age"),
    "histograms": (histogram(["x", "y"], [BINS] * 2, [PAIRS] * 2, title="h", along="age"), "y"),
    "running shares": (cumulative(["c"], [POINTS], [[(0, 1)] * 3], title="c", along="age"), "20%"),
    "against the truth": (against_truth(["a"], [9.0], [8.0], [(7, 10)], measure="visits"), "visits"),
    "estimates": (estimates({"exact": [5.0], "private": [-7.0, 9.0]}, truth=5, measure="salary"), "the truth"),
    "spending": (spending([1, 0.5], [1.0, 1.1], limit=3), "the limit, 3"),
    "beliefs": (beliefs([("spent, 1", 1.0)]), "spent, 1"),
    "curve": (curve(["a", "b"], [1, -1], [0.5, 0.5], [False, True], title="age", to="score"), "score"),
    "coefficients": (coefficients(["age"], [2.0], [(1, 3)], title="income", along="dollars"), "dollars"),
    "marginals": (marginals(["a", "b"], [3, 4], title="sex", private=[2, 5], noise=1.0), "rows"),
    "matrix": (matrix(["a"], ["b"], [[0.5]], [[0.1]], title="pairs"), "+0.50"),
    "roc": (roc([(0, 0, 0, 0), (0.5, 0.8, 0.7, 0.9), (1, 1, 1, 1)], auc=0.8), "ROC, AUC 0.800"),
    "heat": (interactive(Map("m", "t", heat=Heat("points a cell", [[1, 200], [3, -4]], (39, 116, 40, 117)))), "points"),
    "map": (interactive(Map("m", "t", [Dots("reports", [39.5], [116.5])])), "longitude"),
    "tree": (
        tree(
            [Drawn("old?", "", False, 0.5, (1, 2)), Drawn("no", "", True, 0, ()), Drawn("yes", "", False, 1, ())],
            title="smokes",
        ),
        "old?",
    ),
    "centres": (
        centres_map(
            [Centre(1, (1.0, 2.0), (0.5, 0.5), 9, "", False)], Axis("age", (0, 9), False), Axis("pay", None, False)
        ),
        "Centres of clusters",
    ),
}


def words(picture: bytes) -> list[str]:
    return [element.text or "" for element in ElementTree.fromstring(picture).iter() if element.tag.endswith("}text")]  # noqa: S314


@pytest.mark.parametrize("width", [736, 360])
@pytest.mark.parametrize("name", PLOTS)
def test_every_kind_of_plot_stands_still(name: str, width: int) -> None:
    plot, word = PLOTS[name]
    picture = svg(plot, width)
    root = ElementTree.fromstring(picture)  # noqa: S314
    assert root.attrib["width"] == f"{0.75 * width:g}pt"
    assert any(word in text for text in words(picture)), words(picture)
    assert len(picture) < 150_000


def test_bars_are_as_long_as_their_numbers() -> None:
    """Three bars of 1, 2 and 4 from one line, whiskers beside them: read off the picture."""
    picture = svg(bars(["a", "b", "c"], [1, 2, 4], [(1, 1), (2, 2), (4, 4)], title=""), 736).decode()
    box = r'<path d="M ([\d.]+) ([\d.]+) L ([\d.]+) \2 L \3 ([\d.]+) L \1 \4 z " [^>]*fill: #7c83c8'
    tall = [abs(float(foot) - float(top)) for _, foot, _, top in re.findall(box, " ".join(picture.split()))]
    assert [each / tall[0] for each in tall] == pytest.approx([1, 2, 4], rel=0.01)


def test_long_labels_leave_room_for_the_plot() -> None:
    label = SUCCESSES[0].label
    assert label in words(svg(successes(SUCCESSES), 736))
    narrow = words(svg(successes(SUCCESSES), 360))
    assert label not in narrow
    assert label in " ".join(narrow)


def test_people_who_are_not_in_the_table_are_rings() -> None:
    """A dot would hide the number beside the bar."""
    picture = " ".join(svg(successes(SUCCESSES), 736).decode().split())
    rings = re.findall(r'<use [^>]*style="fill: none; stroke: #3b3a52[^"]*"', picture)
    assert len(rings) >= 2


def test_the_same_figure_is_the_same_picture_and_says_nothing_of_when() -> None:
    plot = PLOTS["dots"][0]
    assert svg(plot, 360) == svg(plot, 360)
    assert b"<dc:date>" not in svg(plot, 360)
    assert b"Matplotlib v" not in svg(plot, 360)


def test_a_page_of_pictures_runs_no_script_and_is_small() -> None:
    figure = Figure(PLOTS["upright bars"][0], "More f than m")
    moving, still = (page("P", [Section("s", [figure])], static=static) for static in (False, True))
    assert len(moving) > 4_000_000
    assert len(still) < 100_000
    reader = read(still)
    assert not reader.all("script")
    (policy,) = [m.attributes["content"] for m in reader.all("meta") if "http-equiv" in m.attributes]
    assert "script-src 'none'" in str(policy)
    assert "img-src data:" in str(policy)
    (picture,) = reader.all("img")
    assert picture.attributes["alt"] == "More f than m"
    (narrow,) = reader.all("source")
    assert narrow.attributes["media"] == "(max-width: 34rem)"
    for place, width in ((picture.attributes["src"], "552pt"), (narrow.attributes["srcset"], "270pt")):
        kind, _, content = str(place).partition("base64,")
        assert kind == "data:image/svg+xml;"
        assert ElementTree.fromstring(b64decode(content)).attrib["width"] == width  # noqa: S314


def test_labels_are_shown_as_they_are_written() -> None:
    picture = svg(bars([EVIL, "b"], [1, 2], [(0, 2), (1, 3)], title=EVIL), 736)
    assert b"<script" not in picture
    assert EVIL in words(picture)


def test_a_chart_and_a_map_are_pages_that_stand_still(tmp_path: Path) -> None:
    panel = Panel("p", "t", "x", "y", [Line("l", [0, 1, 2], [1, None, 3])], marks=[Mark(1, 1, "here")])
    Chart("c", [panel]).save(tmp_path / "c.html", static=True)
    Map("m", "t", [Dots("d", [39.5], [116.5])]).save(tmp_path / "m.html", static=True)
    for name in ("c.html", "m.html"):
        text = (tmp_path / name).read_text(encoding="utf-8")
        assert len(text) < 150_000
        assert not read(text).all("script")


def test_without_matplotlib_it_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr(style, "import_module", missing)
    with pytest.raises(MissingExtra, match="needs matplotlib"):
        svg(PLOTS["dots"][0], 736)
