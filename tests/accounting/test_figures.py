"""Charts: the right curves, honest captions, and files that open: a page, a PNG, an SVG."""

from itertools import pairwise
from math import erfc, exp, log, sqrt
from pathlib import Path
from xml.etree import ElementTree

import pytest

from sfumato.accounting import draw_belief, draw_composition, draw_deviations, draw_worlds, gaussian_sigma
from sfumato.errors import MissingExtra, UsageError
from sfumato.plots import style
from sfumato.plots.charts import Chart, Line, Panel, interactive

CHART = Chart(
    "A title with $1 & <b>", [Panel("one", "so <it> is", "x", "y", [Line("$a$ <i>", [1, 2, 3], [1.0, None, 2.0])])]
)


def names(chart: Chart) -> list[str]:
    return [line.name.partition(":")[0] for line in chart.panels[0].lines]


def test_every_bound_is_drawn_where_it_is_proved() -> None:
    chart = draw_composition([("laplace", 1)] * 200, points=10)
    panel = chart.panels[0]
    assert names(chart) == ["sequential", "advanced", "thesis", "zcdp", "rdp", "pld", "optimal"]
    proved = panel.lines[2]
    assert max(x for x, y in zip(proved.x, proved.y, strict=True) if y is not None) <= 92
    best = panel.lines[5].y[-1]
    assert f"{best:.4g}" in panel.takeaway
    assert panel.lines[0].y[-1] == 200
    assert panel.lines[0].x[0] == 1


def test_on_request_the_formula_goes_on_dashed_and_falls_below_the_exact_optimum() -> None:
    panel = draw_composition([("pure", 1)] * 200, points=25, unproved=True).panels[0]
    optimal, proved, unproved = panel.lines[-2], panel.lines[2], panel.lines[-1]
    assert unproved.name == "the simplified formula where it is not proved"
    assert unproved.dashed
    both = [
        x for x, one, two in zip(proved.x, proved.y, unproved.y, strict=True) if one is not None and two is not None
    ]
    assert both == [88]
    assert all(one is not None or two is not None for one, two in zip(proved.y, unproved.y, strict=True))
    false = [x for x, exact, claim in zip(optimal.x, optimal.y, unproved.y, strict=True) if claim and claim < exact]
    assert false == [176, 184, 192, 200]


def test_a_mixed_list_is_drawn_in_proportion() -> None:
    chart = draw_composition([("laplace", 0.1)] * 30 + [("gaussian", 5)] * 10, points=5)
    assert names(chart) == ["sequential", "advanced", "zcdp", "rdp", "pld"]
    assert list(chart.panels[0].lines[0].x) == [8, 16, 24, 32, 40]


def test_one_mechanism_can_be_drawn() -> None:
    assert list(draw_composition([("laplace", 0.1)]).panels[0].lines[0].x) == [1]


def test_where_the_formula_holds_throughout_nothing_is_dashed() -> None:
    chart = draw_composition([("laplace", 0.1)] * 20, points=4, unproved=True)
    assert not any(line.dashed for line in chart.panels[0].lines)


def test_beliefs() -> None:
    chart = draw_belief(2, 0.1)
    moved, told = chart.panels
    assert [band.name for band in moved.bands] == ["epsilon 3", "epsilon 2", "epsilon 1", "epsilon 0.5", "epsilon 0.1"]
    assert "0.1 stays between 0.0148 and 0.4509" in moved.takeaway
    assert "76.2%" in told.takeaway
    for band in moved.bands:
        assert all(low <= x <= high for low, x, high in zip(band.low, band.x, band.high, strict=True))
    assert [line.name for line in told.lines if line.bold] == ["epsilon 2"]


def test_beliefs_beside_others() -> None:
    moved = draw_belief(1, beside=(2, 4)).panels[0]
    assert [band.name for band in moved.bands] == ["epsilon 4", "epsilon 2", "epsilon 1"]
    assert [band.colour for band in moved.bands if band.name == "epsilon 1"] == ["fill"]
    assert len({band.colour for band in moved.bands}) == 3


def test_two_worlds_that_no_answer_tells_apart() -> None:
    seen, loss = draw_worlds(0.5, answer=500, sensitivity=2).panels
    without, with_one = seen.lines
    for line, centre in ((without, 500), (with_one, 502)):
        assert line.x[max(range(len(line.y)), key=line.y.__getitem__)] == centre
        assert area(line) == pytest.approx(1 - exp(-5), abs=2e-3)  # the picture ends five scales off
    for x, one, two, told in zip(without.x, without.y, with_one.y, loss.lines[0].y, strict=True):
        assert one == pytest.approx(exp(-abs(x - 500) / 4) / 8)
        assert log(two / one) == pytest.approx(told, abs=1e-9)
        assert abs(told) <= 0.5 + 1e-12
    assert max(loss.lines[0].y) == pytest.approx(0.5)
    assert "more than 1.65 times" in loss.takeaway
    assert not loss.marks


def test_two_worlds_that_a_rare_answer_tells_apart() -> None:
    chart = draw_worlds(1, 1e-5, answer=500)
    seen, loss = chart.panels
    assert "Gaussian" in chart.title
    assert area(seen.lines[0]) == pytest.approx(1, abs=1e-4)
    (mark,) = loss.marks
    sigma = gaussian_sigma(1, 1e-5)
    assert mark.x == pytest.approx(500.5 + sigma**2)
    told = dict(zip(loss.lines[0].x, loss.lines[0].y, strict=True))
    assert all((value > 1) == (x > mark.x) for x, value in told.items() if abs(x - mark.x) > 1e-9)
    assert max(told.values()) > 1
    # P(loss > ε) = δ + e^ε P'(loss > ε): what the sentence calls the part above the ratio
    beyond, others = (erfc((mark.x - centre) / sigma / sqrt(2)) / 2 for centre in (501, 500))
    assert beyond - exp(1) * others == pytest.approx(1e-5, rel=1e-6)
    assert f"probability {beyond:.2g}" in loss.takeaway


def area(line: Line) -> float:
    steps = zip(pairwise(line.x), pairwise(line.y), strict=True)
    return sum((right - left) * (low + high) / 2 for (left, right), (low, high) in steps)


@pytest.mark.parametrize("wrong", [{"delta": 1}, {"delta": -1}, {"sensitivity": 0}, {"answer": "much"}])
def test_worlds_refuse_what_is_no_world(wrong) -> None:
    with pytest.raises(UsageError):
        draw_worlds(1, **wrong)


def test_twenty_doctors() -> None:
    panel = draw_deviations(20, 0.1).panels[0]
    assert [round(line.y[-1], 1) for line in panel.lines] == [282.8, 216.7, 137.5]
    assert "from 5 counts on Gaussian noise is narrower" in panel.takeaway
    assert len(draw_deviations(20, 1).panels[0].lines) == 2
    assert "Laplace noise stays narrower" in draw_deviations(2, 1).panels[0].takeaway


def test_a_page_works_offline_and_shows_texts_as_they_are(tmp_path: Path) -> None:
    CHART.save(tmp_path / "chart.html")
    text = (tmp_path / "chart.html").read_text(encoding="utf-8")
    assert "Content-Security-Policy" in text
    assert "so &lt;it&gt; is" in text
    assert "<b>" not in text.split("<script>")[0]
    assert "\\u003ci" not in text.split('type="application/json">')[1].split("</script>")[0].replace("&lt;", "")


def test_the_numbers_stand_below_the_picture() -> None:
    text = draw_deviations(3, 0.5).page()
    assert "The numbers" in text
    assert "Gaussian, exact" in text


@pytest.mark.parametrize("name", ["chart.png", "chart.PNG"])
def test_a_png(tmp_path: Path, name: str) -> None:
    CHART.save(tmp_path / name)
    assert (tmp_path / name).read_bytes().startswith(b"\x89PNG\r\n")


def test_an_svg_is_the_same_every_time(tmp_path: Path) -> None:
    for name in ("one.svg", "two.svg"):
        draw_belief(1).save(str(tmp_path / name))
    one, two = (tmp_path / "one.svg").read_bytes(), (tmp_path / "two.svg").read_bytes()
    assert one == two
    assert b"Matplotlib v" not in one
    texts = {element.text for element in ElementTree.fromstring(one).iter() if element.text}  # noqa: S314
    assert "belief before the answer" in texts


def test_other_kinds_of_file_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"neither .html nor .png nor .svg"):
        CHART.save(tmp_path / "chart.gif")
    for name in ("chart.png", "chart.svg", "chart.html"):
        with pytest.raises(UsageError, match="cannot be written"):
            CHART.save(tmp_path / "nowhere" / name)


def test_a_missing_matplotlib_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def absent(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(style, "import_module", absent)
    with pytest.raises(MissingExtra, match="matplotlib"):
        CHART.save(tmp_path / "chart.png")


def test_plotly_gets_every_trace() -> None:
    drawn = interactive(draw_belief(1).panels[0])
    assert len(drawn.data) == 2 * 4 + 1 + 1
    assert drawn.layout.yaxis.range == (0, 1)
