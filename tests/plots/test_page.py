"""Pages: every text is shown and none runs, nothing is fetched, and plotly.js is there once or not at all."""

import json
import re
from base64 import b64encode
from hashlib import sha256
from pathlib import Path

import pytest

from sfumato.errors import MissingExtra, UsageError
from sfumato.plots import style
from sfumato.plots.bars import bars, shares
from sfumato.plots.compare import against_truth, estimates
from sfumato.plots.fragment import text_fragment
from sfumato.plots.page import Code, Facts, Figure, Section, Table, asset, page, write_page
from tests.plots.reading import fetches_nothing, read, runs_nothing_foreign

HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</script><script>alert(1)</script>",
    "</title></style></code><iframe srcdoc='x'>",
    "<!-- <script> -->",
    "' onmouseover='alert(1)",
    '<a href="javascript:alert(1)">you</a>',
    "O'Brien & Söhne <3 &lt; \u2028 ]]>",
]


def hostile_page(text: str) -> str:
    table = Table([text], [[text]], caption=text)
    blocks = [
        text,
        table,
        Code(text),
        Facts({text: text}),
        Figure(bars([text], [1], [(0, 2)], title=text), text, table),
    ]
    return page(text, [Section(text, blocks)], lead=blocks, footer=text)


@pytest.mark.parametrize("text", HOSTILE)
def test_text_from_people_is_shown_and_never_runs(text: str) -> None:
    reader = read(hostile_page(text))
    runs_nothing_foreign(reader)
    shown = text.replace("\u2028", "\\u2028")  # nobody sees it
    for tag in ("title", "h1", "h2", "p", "th", "td", "caption", "code", "dt", "dd", "figcaption", "footer"):
        assert reader.all(tag), tag
        assert all(element.text == shown for element in reader.all(tag)), tag
    assert [element.text for element in reader.all("a")] == [shown]


@pytest.mark.parametrize("text", HOSTILE)
def test_labels_of_plots_are_shown_as_they_are_written(text: str) -> None:
    """Plotly would make tags of them: it gets entities instead, which it shows as characters."""
    figures = [
        bars([text], [1], [(0, 2)], title=text),
        shares([text], [0.5], alarming=[text]),
        against_truth([text], [1], [2], [(0, 3)], measure=text),
        estimates({text: [1.0]}, truth=1, measure=text),
    ]
    for figure in figures:
        drawn = json.dumps(json.loads(figure.to_json()), ensure_ascii=False)
        written = drawn.replace("<extra></extra>", "")
        assert "<" not in written
        assert ">" not in written
        assert json.dumps(style.plain(text), ensure_ascii=False)[1:-1] in drawn


def test_the_data_of_a_plot_ends_where_it_should() -> None:
    reader = read(hostile_page("</script><script>alert(1)</script>"))
    plots = [script for script in reader.all("script") if script.attributes.get("type") == "application/json"]
    assert len(plots) == 2
    for script in plots:
        assert set(json.loads(script.text)) >= {"data", "layout"}


def test_a_page_allows_its_own_scripts_and_nothing_else() -> None:
    reader = read(hostile_page("x"))
    policy = next(m.attributes["content"] for m in reader.all("meta") if "http-equiv" in m.attributes)
    assert policy is not None
    assert policy.startswith("default-src 'none'; ")
    scripts = [script.text for script in reader.all("script") if "type" not in script.attributes]
    hashes = [b64encode(sha256(text.encode()).digest()).decode() for text in scripts]
    assert re.findall(r"'sha256-([^']+)'", policy) == hashes
    assert len(scripts) == 2
    assert "unsafe-eval" not in policy
    assert not re.search(r"script-src[^;]*unsafe-inline", policy)
    assert sum(text.startswith("/**\n* plotly.js") for text in scripts) == 1


def test_a_page_fetches_nothing() -> None:
    reader = read(hostile_page("x"))
    runs_nothing_foreign(reader)
    fetches_nothing(reader)


def test_a_page_without_a_plot_needs_no_plotly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(style, "import_module", missing)
    reader = read(page("Words", [Section("Only", ["words"])]))
    assert reader.all("script") == []
    with pytest.raises(MissingExtra, match="needs plotly"):
        bars(["a"], [1], [(0, 2)], title="n")


def missing(name: str) -> None:
    raise ImportError(name)


def test_contents_lead_to_every_section() -> None:
    reader = read(page("Three", [Section(title, []) for title in ("one", "two", "three")]))
    assert [a.attributes["href"] for a in reader.all("a")] == [f"#{s.attributes['id']}" for s in reader.all("section")]
    assert [a.text for a in reader.all("a")] == ["one", "two", "three"]


def test_numbers_in_tables_are_written_for_people_and_stand_right() -> None:
    rows = [["69901", 1234, 0.5, "$1,000", "12.5 %", "yes"], ["69902", -5, 1e6, "−$3.20", "0.1 %", "no"]]
    reader = read(page("Table", [Section("t", [Table(list("abcdef"), rows)])]))
    cells = reader.all("td")
    assert [cell.text for cell in cells[:6]] == ["69901", "1,234", "0.50", "$1,000", "12.5 %", "yes"]
    assert [cell.attributes.get("class") for cell in cells[6:]] == [None, *["number"] * 4, None]


def test_ranges_and_dashes_stand_right_like_numbers() -> None:
    rows = [["27 to 30", "–", "≥ 2.50", "1 to 2"], ["-1.5 to 1,234", "–", "≤ -3", "north to south"]]
    cells = read(page("Table", [Section("t", [Table(list("abcd"), rows)])])).all("td")
    assert [cell.attributes.get("class") for cell in cells[:4]] == [*["number"] * 3, None]


def test_nothing_makes_a_page_wider_than_its_window() -> None:
    """Tables are as wide as the page and scroll by themselves; long lines of code break; pictures shrink."""
    css = asset("page.css")
    rules = dict(re.findall(r"^([^\s@/{][^{]*?) \{ (.*?) \}$", css, re.MULTILINE))
    assert "max-width: min(calc(100vw - 3rem)" in rules[".table"]
    assert "overflow-x: auto" in rules[".table"]
    for code in ("pre", "h1.code"):
        assert "overflow-wrap: anywhere" in rules[code]
    assert "white-space: pre-wrap" in rules["pre"]
    assert "width: 100%" in rules["picture img"]
    assert "white-space: nowrap" not in rules["th"]


def test_a_question_is_a_title_in_its_own_letters() -> None:
    question = "SELECT sex, COUNT(*) AS n FROM people WHERE age < 30"
    reader = read(page(question, [Section("s", ["x"])], code_title=True))
    (title,) = reader.all("h1")
    assert (title.text, title.attributes) == (question, {"class": "code"})
    assert [title.text for title in reader.all("title")] == [question]


def test_a_fragment_brings_its_style_and_touches_no_other() -> None:
    reader = read(text_fragment("a < b\n" + "<script>alert(1)</script>"))
    assert [element.tag for element in reader.elements] == ["div", "style", "pre"]
    assert reader.all("pre")[0].text == "a < b\n<script>alert(1)</script>"
    rules = [line for line in reader.all("style")[0].text.splitlines() if line]
    assert rules
    assert all(selector.strip().startswith(".sfumato") for line in rules for selector in line.split("{")[0].split(","))


def test_the_same_page_is_the_same_text(tmp_path: Path) -> None:
    assert hostile_page("x") == hostile_page("x")
    write_page(tmp_path / "x.html", page("Söhne", []))
    assert "Söhne" in (tmp_path / "x.html").read_text(encoding="utf-8")
    with pytest.raises(UsageError, match="cannot be written"):
        write_page(tmp_path / "absent" / "x.html", "")
