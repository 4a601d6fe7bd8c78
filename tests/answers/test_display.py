"""An answer for people: text, notebook, page and picture, with cells of every kind."""

import json
import pickle
from copy import copy, deepcopy
from dataclasses import replace
from typing import Any

import pytest

from sfumato.answers import display, pages, picture, rounding
from sfumato.answers.answer import Answer
from sfumato.cli.output import as_table
from sfumato.errors import UsageError
from sfumato.plots.steps import MOST_TICKS
from tests.answers.test_answer import answered
from tests.plots.reading import fetches_nothing, read, runs_nothing_foreign
from tests.query.asking import walk

BINS = [{"low": 10.0 * i, "high": 10.0 * i + 10, "count": count} for i, count in enumerate((5, -2, 40))]
POINTS = [{"at": 0, "share": 0.1}, {"at": 10, "share": 0.5}, {"at": 20, "share": 1.0}]
EVIL = "<script>alert(1)</script><img src=x onerror=alert(2)>"


class Made(Answer):
    """An answer whose error bars are given, as those of later aggregates are."""

    def interval(self, confidence: float = 0.95) -> Any:
        return self._numbers[0]


def made(rows: list[dict[str, Any]], intervals: list[dict[str, Any]], keys: tuple[str, ...] = ()) -> Answer:
    """An answer of these rows: any cell, any error bar."""
    columns = walk("SELECT sex, COUNT(*) AS n FROM people GROUP BY sex").draft.columns
    named = [replace(columns[0 if name in keys else 1], name=name) for name in rows[0]]
    plain = answered(walk("SELECT COUNT(*) AS n FROM people"), [(5,)])
    parts = {name: getattr(plain, name) for name in Answer.__dataclass_fields__}
    changes = {"rows": rows, "columns": tuple(rows[0]), "_numbers": (intervals, tuple(named), ())}
    return Made(**{**parts, **changes})


@pytest.fixture
def by_sex() -> Answer:
    walked = walk("SELECT sex, COUNT(*) AS n, AVG(income) AS income FROM people GROUP BY sex")
    return replace(answered(walked, [(1234, 5, 600), (20, -7, 20)]), more=5)


# ---- text


def years(many: int) -> Answer:
    rows = [{"year": 1984 + place, "n": 1200 + place} for place in range(many)]
    return made(rows, [{"n": (row["n"] - 5, row["n"] + 5)} for row in rows], keys=("year",))


def test_whole_numbers_that_are_keys_are_shown_as_they_are_written() -> None:
    answer = years(3)
    assert str(answer).splitlines()[2].split() == ["1984", "1,200", "5"]
    assert '<td class="number">1984</td><td class="number">1,200</td>' in answer._repr_html_()
    assert "1,984" not in answer.to_html()
    shell = as_table(*display.readable(answer, 0.95))
    assert " 1984 " in shell
    assert " 1,200 " in shell
    assert answer.rows[0]["year"] == 1984


@pytest.mark.parametrize("many", [3, picture.MOST_BARS])
def test_a_tick_for_every_bar(many: int) -> None:
    figure = years(many).plot()
    assert (figure.data[0].type, figure.layout.xaxis.type) == ("bar", "category")
    assert list(figure.data[0].x) == [str(1984 + place) for place in range(many)]


def test_no_tick_lies_between_two_keys() -> None:
    axis = years(picture.MOST_BARS + 1).plot().layout.xaxis
    assert (axis.tickvals, axis.tickformat) == (None, "d")
    rows = [{"zip": 10 * place, "n": place} for place in range(60)]
    axis = made(rows, [{"n": (row["n"] - 5, row["n"] + 5)} for row in rows], keys=("zip",)).plot().layout.xaxis
    assert axis.tickvals == tuple(range(0, 600, 40))
    assert len(axis.tickvals) <= MOST_TICKS


def test_an_answer_prints_as_a_table_with_its_sentences(by_sex: Answer) -> None:
    lines = str(by_sex).splitlines()
    assert lines[0].split() == ["sex", "n", "n", "±", "income", "income", "±"]
    assert lines[2].split()[:3] == ["f", "1,234", "12"]
    assert lines[4:] == [
        f"± at 95 %. Protects one row. {display.NO_BAR}",  # the average of 20 rows is lost in noise
        "Cost epsilon 0.5. Spent in all epsilon 0.5; left epsilon 2.5.",
        "Someone who starts at even odds that a person is in the data ends, after this answer, between 37.7 % and "
        "62.3 %.",
        "About 5 more questions like this fit.",
        *by_sex.notes,
    ]
    assert len(by_sex.notes) == 2


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (0, "No other question at this price fits"),
        (1, "1 more question like this fits."),
        (2000, "2,000 more questions"),
    ],
)
def test_how_many_more(more: int, says: str) -> None:
    assert says in display.more_in_words(more)


def test_an_answer_without_rows_still_prints(by_sex: Answer) -> None:
    _, columns, mechanisms = by_sex._numbers
    nothing = replace(by_sex, rows=[], _numbers=((), columns, mechanisms))
    assert str(nothing).splitlines()[0].split() == ["sex", "n", "n", "±", "income", "income", "±"]
    assert "<table>" in nothing._repr_html_()
    assert "<table>" in nothing.to_html()
    with pytest.raises(UsageError, match="nothing to draw"):
        nothing.plot()


@pytest.mark.parametrize(
    ("interval", "value", "shown"),
    [
        ((3, 13), 8, 5),
        ((3, 13), 4, 9),
        ((3, 13), 12, 9),
        ((0.5, 1.5), 0.75, 0.75),
        (None, 8, "–"),
        ((None, 5), 3, "≤ 5"),
        ((2.5, float("inf")), 3.0, "≥ 2.50"),
        ((None, None), 3, "–"),
        ([(0, 2), (0, 10)], [{"share": 1}, {"share": 2}], 8),
        ([(None, None)], [{"share": 1}], "–"),
        ([], [], "–"),
    ],
)
def test_a_number_and_its_margin_hold_the_interval(interval: Any, value: Any, shown: Any) -> None:
    found = rounding.margin(interval, value)
    assert found == shown
    assert type(found) is type(shown)


def test_the_margin_is_shown_everywhere() -> None:
    """A value that is not quite in the middle: 30 in (21, 40) is ±10, not ±9.5."""
    answer = made([{"q": 30}], [{"q": (21, 40)}])
    assert str(answer).splitlines()[2].split() == ["30", "10"]
    for html in (answer.to_html(), answer._repr_html_()):
        assert [cell.text for cell in read(html).all("td")] == ["30", "10"]


def test_a_lopsided_bar_is_told_by_its_ends() -> None:
    """30 in (28, 40) as ±10 would reach down to 20."""
    answer = made([{"q": 30, "r": 5}, {"q": 31, "r": 6}], [{"q": (28, 40), "r": (1, 9)}, {"q": (30, 32), "r": (2, 10)}])
    head, _, first, second, *_ = str(answer).splitlines()
    shown = [" ".join(line.split()) for line in (head, first, second)]
    assert shown == ["q q at 95 % r r ±", "30 28 to 40 5 4", "31 30 to 32 6 4"]
    assert "28 to 40" in as_table(*display.readable(answer, 0.95))
    assert first.index("28 to 40") == second.index("30 to 32")
    wider = made([{"q": 30}, {"q": 2}], [{"q": (28, 40)}, {"q": (1, 3)}])
    ends = [line.rindex("to") for line in str(wider).splitlines()[2:4]]
    assert ends[1] == ends[0] + 1, "bars stand at the right"
    for html in (answer.to_html(), answer._repr_html_()):
        cells = read(html).all("td")
        assert [cell.text for cell in cells[:4]] == ["30", "28 to 40", "5", "4"]
        assert cells[1].attributes["class"] == "number"


def test_numbers_have_as_many_digits_as_their_bars_leave() -> None:
    answer = made([{"x": -0.0006, "y": 1234.5678}], [{"x": (-1.2706, 1.2694), "y": (1222.2, 1246.9)}])
    assert str(answer).splitlines()[2].split() == ["0.0", "1.3", "1,235", "13"]
    assert [cell.text for cell in read(answer.to_html()).all("td")] == ["0.0", "1.3", "1,235", "13"]
    assert answer.rows[0]["x"] == -0.0006
    assert answer.to_dict()["rows"][0]["y"] == 1234.5678


def test_lists_are_small_bars() -> None:
    assert display.blocks(BINS) == "▂▁█"
    assert display.blocks(POINTS) == "▂▅█"
    assert display.blocks([{"low": 0, "high": 1, "count": -3}]) == "▁"
    long = [{"at": place, "share": place / 999} for place in range(1000)]
    assert len(display.blocks(long)) == display.MOST_BLOCKS
    assert display.blocks(long)[-1] == "█"


def test_cells_of_every_kind_print_and_leave_as_json() -> None:
    pairs = [(0, 10), (-7, 3), (35, 45)]
    answer = made(
        [{"sex": "f", "h": BINS, "mode": "red", "low": None}],
        [{"h": pairs, "mode": None, "low": (None, 4)}],
        keys=("sex",),
    )
    lines = str(answer).splitlines()
    assert lines[2].split() == ["f", "▂▁█", "5", "red", "–", "–", "≤", "4"]
    content = json.loads(json.dumps(answer.to_dict()))
    assert content["rows"][0]["h"] == BINS
    assert content["intervals"] == [{"h": [list(pair) for pair in pairs], "mode": None, "low": [None, 4]}]
    assert lines[3:9] == [
        *(
            "",
            "h:",
            "sex  range     count  ±",
            "───  ────────  ─────  ─",
            "f    0 to 10       5  5",
            "f    10 to 20     -2  5",
        ),
    ]
    for html in (answer.to_html(), answer._repr_html_()):
        assert "▂▁█" in html
        assert [cell.text for cell in read(html).all("td")][-4:] == ["f", "20 to 30", "40", "5"]


@pytest.mark.slow
def test_bins_and_points_are_listed_with_their_margins() -> None:
    wholes = [{"low": 1, "high": 1, "count": 3}, {"low": 2, "high": 3, "count": 4}]
    long = [{"at": place / 10, "share": place / 100} for place in range(50)]
    answer = made(
        [{"count": key, "h": wholes, "c": long} for key in "ab"],
        [{"h": None, "c": [(0.0, 1.0)] * 50}] * 2,
        keys=("count",),
    )
    bins, points = display.listed(answer, 0.95, 60)
    assert (bins.column, bins.columns, bins.more, bins.rest) == ("h", ["count", "range", "count_", "±"], 0, [])
    assert [list(row.values()) for row in bins.rows[:2]] == [["a", "1", 3, "–"], ["a", "2 to 3", 4, "–"]]
    assert (points.columns, len(points.rows), points.more) == (["count", "up to", "share", "±"], 60, 40)
    assert list(points.rows[-1].values()) == ["b", "0.9", 0.09, "–"]  # its bar holds every share
    assert "… 80 more: --format json, or answer.rows" in str(answer)
    assert "… 40 more" not in answer.to_html()
    assert "… 9,000 more" in made([{"c": long}] * 200, [{"c": None}] * 200).to_html()


def test_one_column_of_lists_is_told_row_by_row() -> None:
    answer = made(
        [{"k": "a", "h": BINS[:2], "n": 5}, {"k": "b", "h": BINS[2:], "n": 6}],
        [{"h": [(0, 10), (-7, 3)], "n": (4, 6)}, {"h": None, "n": (5, 7)}],
        keys=("k",),
    )
    both = display.beside(answer, {"low": display.ends(0), "high": display.ends(1)}, 0.95)
    columns, rows = display.long(answer, *both)
    assert columns == ["k", "h_from", "h_to", "h", "n", "h_low", "h_high", "n_low", "n_high"]
    assert [[row[name] for name in columns] for row in rows] == [
        ["a", 0.0, 10.0, 5, 5, 0, 10, 4, 6],
        ["a", 10.0, 20.0, -2, 5, -7, 3, 4, 6],
        ["b", 20.0, 30.0, 40, 6, None, None, 5, 7],
    ]
    points = made([{"c": POINTS}], [{"c": [(0, 1)] * 3}])
    assert display.long(points, ["c"], points.rows) == (
        ["c_at", "c"],
        [{"c_at": point["at"], "c": point["share"]} for point in POINTS],
    )
    for plain in (made([{"n": 5}], [{"n": (4, 6)}]), made([{"c": POINTS, "h": BINS}], [{"c": None, "h": None}])):
        assert display.long(plain, list(plain.columns), plain.rows) == (list(plain.columns), plain.rows)


@pytest.mark.parametrize(
    ("cell", "shown"), [(0.0, "0.00"), (0.00372, "0.0037"), (-0.05, "-0.05"), (1234.567, "1,234.57")]
)
def test_small_numbers_keep_their_digits(cell: float, shown: str) -> None:
    answer = made([{"x": cell}], [{"x": (cell, cell)}])
    assert str(answer).splitlines()[2].split()[0] == shown
    for html in (answer.to_html(), answer._repr_html_()):
        assert read(html).all("td")[0].text == shown


# ---- notebook and page


def test_a_notebook_shows_the_table_price_and_notes(by_sex: Answer) -> None:
    fragment = by_sex._repr_html_()
    reader = read(fragment)
    assert [cell.text for cell in reader.all("th")] == ["sex", "n", "n ±", "income", "income ±"]
    assert [cell.text for cell in reader.all("td")][:3] == ["f", "1,234", "12"]
    for part in ("left epsilon 2.5", "Protects one row", "About 5 more", by_sex.notes[0]):
        assert part in fragment
    assert not reader.all("script")


def test_a_notebook_shows_the_first_rows_of_many() -> None:
    walked = walk("SELECT visit, COUNT(*) AS n FROM people GROUP BY visit")
    fragment = answered(walked, [(place,) for place in range(1000)])._repr_html_()
    assert len(read(fragment).all("tr")) == 1 + pages.MOST_IN_NOTEBOOK
    assert "The first 100 of 1,000 rows." in fragment


def test_a_page_is_one_file_that_fetches_nothing(by_sex: Answer, tmp_path: Any) -> None:
    place = tmp_path / "answer.html"
    text = by_sex.to_html(place)
    assert place.read_text(encoding="utf-8") == text == by_sex.to_html()
    reader = read(text)
    runs_nothing_foreign(reader)
    fetches_nothing(reader)
    assert len(reader.all("figure")) == 2
    for part in (*by_sex.notes, "between 37.7 % and 62.3 %", "epsilon 0.5", "the question"):
        assert part in text
    assert "Plotly" in text


def test_the_title_of_a_page_is_its_question(by_sex: Answer) -> None:
    question = "SELECT sex, COUNT(*) AS n\nFROM people GROUP BY sex"
    page = read(replace(by_sex, question=question).to_html())
    assert [title.text for title in page.all("h1")] == ["SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"]
    long = f"SELECT {', '.join(f'COUNT(*) AS n{place}' for place in range(40))} FROM people"
    page = read(replace(by_sex, question=long).to_html())
    (title,) = page.all("h1")
    assert len(title.text) <= pages.CUT_TITLE
    assert title.text.endswith(" …")
    assert [code.text for code in page.all("code")] == [long]


def test_a_page_says_what_there_is_not(by_sex: Answer) -> None:
    _, columns, mechanisms = by_sex._numbers
    assert pages.NO_ROWS in replace(by_sex, rows=[], _numbers=((), columns, mechanisms)).to_html()
    mode = answered(walk("SELECT sex, MODE(grade) AS g FROM people GROUP BY sex"), [(1,), (2,)]).to_html()
    assert "g by sex; a most frequent value has no error bar" in mode
    assert "noise stays inside" not in mode


def test_a_page_that_cannot_be_written_says_so(by_sex: Answer, tmp_path: Any) -> None:
    with pytest.raises(UsageError, match="cannot be written"):
        by_sex.to_html(tmp_path)


def test_no_name_and_no_key_runs_as_a_script(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = made([{EVIL + "k": EVIL, EVIL: 3, "h": BINS}], [{EVIL: (1, 5), "h": [(0, 1)] * 3}], keys=(EVIL + "k",))
    evil = replace(answer._notes, hidden=(EVIL,))
    answer = replace(answer, question=f"SELECT '{EVIL}'", unit=EVIL, _notes=evil, when=EVIL, cached=True)
    page = read(answer.to_html())
    runs_nothing_foreign(page)
    assert len(page.all("script")) == 4  # plotly.js, page.js and two figures
    fragment = read(answer._repr_html_())
    assert {element.tag for element in fragment.elements} <= {
        *("caption", "div", "style", "table", "thead", "tbody", "tr", "th", "td", "p", "br"),
    }
    assert any(EVIL in cell.text for cell in fragment.all("td"))
    # The same check finds a page that forgets to escape.
    monkeypatch.setattr("sfumato.plots.page.html_escape", lambda text: text)
    broken = read(answer._repr_html_())
    assert broken.all("script")


# ---- pictures


def test_text_keys_are_bars(by_sex: Answer) -> None:
    assert by_sex.plot().data[0].type == "bar"


def test_many_whole_numbers_and_dates_are_steps_in_a_band() -> None:
    walked = walk("SELECT visit, COUNT(*) AS n FROM people GROUP BY visit ORDER BY n DESC")
    answer = answered(walked, [(place % 7,) for place in range(1000)])
    lower, upper, line = answer.plot().data
    assert (list(line.x), line.line.shape) == (list(range(1, 1001)), "hvh")
    assert list(line.y) == [place % 7 for place in range(1000)]
    bars_of = {row["visit"]: bar["n"] for row, bar in zip(answer.rows, answer.interval(), strict=True)}
    assert list(zip(lower.y, upper.y, strict=True)) == [bars_of[visit] for visit in line.x]
    days = walk("SELECT DATE_TRUNC('year', born) AS year, COUNT(*) AS n FROM people GROUP BY DATE_TRUNC('year', born)")
    dated = answered(days, [(place,) for place in range(100)])
    assert list(dated.plot().data[2].x[:2]) == ["1920-01-01", "1921-01-01"]
    assert list(dated.plot().data[2].y[:3]) == [0, 1, 2]
    for texts in (["2026-01-03", "2026-01-01", "today"], ["2026-01-03", "2026-01-01", "2026-13-01"]):
        mixed = made([{"day": text, "n": 1} for text in texts * 20], [{"n": (0, 5)}] * 60, keys=("day",))
        assert mixed.plot().data[0].type == "bar"


def test_two_numbers_or_two_keys_are_bars() -> None:
    two = made([{"k": 1, "n": 4}, {"k": 2, "n": 5}], [{"n": (3, 5)}, {"n": (4, 6)}], keys=("k",))
    assert two.plot().data[0].type == "bar"
    both = made([{"k": k, "l": 1, "n": 4} for k in range(5)], [{"n": (3, 5)}] * 5, keys=("k", "l"))
    assert list(both.plot().data[0].x) == ["0, 1", "1, 1", "2, 1", "3, 1", "4, 1"]
    yes = made([{"k": k, "n": 4} for k in (True, False, True)], [{"n": (3, 5)}] * 3, keys=("k",))
    assert yes.plot().data[0].type == "bar"


def test_a_histogram_is_drawn_with_bins_as_wide_as_they_are() -> None:
    (drawn,) = made([{"h": BINS}], [{"h": [(0, 10), (-7, 3), (35, 45)]}]).plot().data
    assert (list(drawn.x), list(drawn.y), list(drawn.width)) == ([5, 15, 25], [5, -2, 40], [10, 10, 10])
    assert list(drawn.error_y.array) == [5, 5, 5]


def test_bins_of_whole_numbers_touch() -> None:
    bins = [{"low": 1, "high": 1, "count": 3}, {"low": 2, "high": 3, "count": 4}]
    (drawn,) = made([{"h": bins}], [{"h": [(2, 4), (3, 5)]}]).plot().data
    assert (list(drawn.x), list(drawn.width)) == ([1, 2.5], [1, 2])
    first, _ = groups(made([{"k": k, "h": bins} for k in "ab"], [{"h": None}] * 2, keys=("k",)))
    assert list(first[2].x) == [0.5, 1.5, 3.5]


def groups(answer: Answer) -> list[Any]:
    """The traces of each group: the low and the high end of its band, and its line."""
    traces = answer.plot().data
    return [traces[place : place + 3] for place in range(0, len(traces), 3)]


def test_histograms_of_groups_are_steps_each_in_its_band() -> None:
    answer = made([{"k": k, "h": BINS} for k in "ab"], [{"h": [(0, 10), (-7, 3), (35, 45)]}] * 2, keys=("k",))
    (low, high, first), (_, _, second) = groups(answer)
    assert (first.name, second.name) == ("a", "b")
    assert (list(first.x), list(first.y)) == ([0, 10, 20, 30], [5, -2, 40, 40])
    assert (list(low.y), list(high.y)) == ([0, -7, 35, 35], [10, 3, 45, 45])
    assert (high.fillcolor, list(high.x)) == ("rgba(124,131,200,0.25)", list(first.x))


@pytest.mark.parametrize("call", ["HISTOGRAM", "CDF"])
@pytest.mark.parametrize(("value", "says"), [("age", "age"), ("age + visit", "the expression of age, visit")])
def test_the_axis_says_what_is_along_it(call: str, value: str, says: str) -> None:
    walked = walk(f"SELECT {call}({value}, 4) AS h FROM people")
    answer = answered(walked, [((5,) * 4,)])
    assert answer.plot().layout.xaxis.title.text == says
    assert answer.to_dict()["along"] == {"h": says}


def test_a_cdf_is_steps_up() -> None:
    lower, upper, line = made([{"c": POINTS}], [{"c": [(0.0, 0.2), (0.4, 0.6), (1.0, 1.0)]}]).plot().data
    assert (list(line.x), list(line.y), line.line.shape) == ([0, 10, 20], [0.1, 0.5, 1.0], "hv")
    assert (list(lower.y), list(upper.y)) == ([0.0, 0.4, 1.0], [0.2, 0.6, 1.0])
    both = made([{"k": k, "c": POINTS} for k in "ab"], [{"c": [(0, 1)] * 3}] * 2, keys=("k",))
    (low, high, first), (_, _, second) = groups(both)
    assert (first.name, second.name) == ("a", "b")
    assert (list(low.y), list(high.y)) == ([0, 0, 0], [1, 1, 1])


def test_an_end_that_is_unknown_gets_no_whisker() -> None:
    (drawn,) = made([{"q": 7.0}], [{"q": (None, 9.0)}]).plot().data
    assert (list(drawn.error_y.array), list(drawn.error_y.arrayminus)) == ([2.0], [0.0])
    (drawn,) = made([{"q": 7.0}], [{"q": (float("-inf"), 9.0)}]).plot().data
    assert list(drawn.error_y.arrayminus) == [0.0]


@pytest.mark.parametrize("cell", ["red", None, True, []])
def test_what_is_no_number_is_not_drawn(cell: Any) -> None:
    answer = made([{"mode": cell, "n": 3}], [{"mode": None, "n": (1, 5)}])
    with pytest.raises(UsageError, match='"mode" has nothing to draw'):
        answer.plot("mode")
    assert not picture.is_drawable(answer, "mode")
    page = read(answer.to_html())
    assert not page.all("figure")
    assert [cell.text for cell in page.all("dd")][-1] == "3 ± 2"  # a single number is set large


def test_labels_are_shown_and_not_read() -> None:
    answer = made([{"k": EVIL, "h": BINS}, {"k": "b", "h": BINS}], [{"h": None}] * 2, keys=("k",))
    assert "<" not in answer.plot().data[2].name


@pytest.mark.parametrize("looked_at", [False, True])
@pytest.mark.parametrize("again", [copy, deepcopy, lambda one: pickle.loads(pickle.dumps(one))])  # noqa: S301
def test_an_answer_is_copied_and_pickled_with_its_notes(again: Any, looked_at: bool, by_sex: Answer) -> None:
    notes = by_sex.notes if looked_at else None
    other = again(by_sex)
    assert other == by_sex
    assert other.notes == (notes or by_sex.notes) != ()
    assert other.to_dict() == by_sex.to_dict()
    assert deepcopy(other).notes == other.notes
