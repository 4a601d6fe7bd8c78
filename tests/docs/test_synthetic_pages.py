"""Synthetic tables: the how-to runs as printed, and the page of wrong answers shows what was measured."""

import re
from pathlib import Path

import pytest
from docs.synthetic import COMPARED, MARGINALS, PAGE, PICTURE, draw, draw_marginals

import sfumato as sf
from benchmarks.learn_synthetic import FITS, QUESTIONS
from sfumato.learn.synthesis.comparison import Compared, Comparison
from sfumato.learn.synthesis.pairs import CHOICES, FEW_FOR_FURTHER, LARGEST_PAIR, MOST_FURTHER, ONES
from tests.docs.test_gallery import texts
from tests.pages import play, text

HOW_TO, REFERENCE = "how-to/make-a-synthetic-table.md", "reference/learn.md"


def test_the_how_to_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    played = play(HOW_TO, capsys, policy="customers.toml")
    assert played.names["table"].column_names == ["age", "owns", "balance"]
    assert len(Path("rows.csv").read_text().splitlines()) == 501
    assert Path("rows.csv-metadata.json").exists()
    with sf.open("customers.toml") as session:
        assert session.budget.spent.epsilon == 1.5


def measured() -> dict[str, tuple[float, float]]:
    """The table of the page: error of synthetic rows and of asking, in percent."""
    rows = re.findall(r"^\| ([^|]+) \| ([\d.e+-]+) % \| ([\d.e+-]+) % \| [^|]+ \|$", PAGE.read_text("utf-8"), re.M)
    return {name: (float(drawn), float(direct)) for name, drawn, direct in rows}


def test_the_picture_shows_the_table(tmp_path: Path) -> None:
    found = measured()
    assert list(found) == list(QUESTIONS)
    draw(found, tmp_path / "again.svg")
    assert texts((tmp_path / "again.svg").read_text("utf-8")) == texts(PICTURE.read_text("utf-8"))


def test_columns_are_drawn_beside_private_counts(tmp_path: Path) -> None:
    """Noise and titles are new every time; what is drawn stays the same."""
    page = PAGE.read_text("utf-8")
    assert f"../images/synthetic/{MARGINALS.name}" in page
    shown = " ".join(texts(MARGINALS.read_text("utf-8")))
    columns = tuple(Compared(name, ("a", "b"), (3, 4), (2, 5), 1.0, 0.1, 0.05) for name in COMPARED)
    draw_marginals(Comparison(columns, None, "", 1), tmp_path / "small.svg")
    small = " ".join(texts((tmp_path / "small.svg").read_text("utf-8")))
    for words in (
        "synthetic, ε = 1",
        "asked privately, ε = 0.25, ±2 standard deviations",
        *(f"{one}: " for one in COMPARED),
    ):
        assert words in shown
        assert words in small


def test_the_numbers_of_the_pages() -> None:
    page, reference = " ".join(PAGE.read_text("utf-8").split()), " ".join(text(REFERENCE).split())
    assert FITS == 10
    assert "of ten fits with fresh noise" in page
    assert re.search(r"<!-- apart -->\d\.\d of 100 rows<!-- end -->", page)
    assert (1 / ONES, 1 / CHOICES) == (5, 20), "a fifth of the price, and a twentieth"
    assert (
        f"exceeds {FEW_FOR_FURTHER:,}, further ones, ten for every factor of ten and at most {MOST_FURTHER}"
        in reference
    )
    assert f"Pairs with more than {LARGEST_PAIR:,} cells" in reference
