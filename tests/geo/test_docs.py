"""The pages about positions: examples run as printed, figures hold, proofs name what exists."""

import re
from pathlib import Path

import numpy as np
import pytest

import sfumato.geo as geo
from tests.pages import DOCS, blocks, check_numbers, missing, play, text, typed, written

PAGES = ["reference/geo.md", "how-to/protect-a-position.md"]
TUTORIAL = "tutorial/positions.md"
FIGURES = "explanation/geo-figures.md"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An own folder with points.csv in it."""
    monkeypatch.chdir(tmp_path)
    spread = np.random.default_rng(2).normal([39.95, 116.4], 0.02, (800, 2))
    Path("points.csv").write_text("lat,lon\n" + "".join(f"{lat:.6f},{lon:.6f}\n" for lat, lon in spread))
    return tmp_path


@pytest.mark.parametrize("page", PAGES)
def test_python_examples_run_and_give_the_numbers_printed_beside_them(page: str, folder: Path) -> None:
    names: dict[str, object] = {}
    for block in blocks(page, "python"):
        written(block, page, names)
    assert check_numbers(page, r"(?:hide\.(?:mean|error|loss)|sf\.geo\.distance)[^#]", names)


@pytest.mark.parametrize("page", PAGES)
def test_shell_examples_run(page: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for command in [line for block in blocks(page, "sh") for line in block.splitlines()]:
        typed(command, capsys)
    assert page == PAGES[0] or (folder / "reports.geojson").exists()


def test_the_tutorial(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Blocks in their order: Python and shell share one folder."""
    assert "a new place costs level 1.38629" in play(TUTORIAL, capsys).printed
    assert (folder / "map.html").stat().st_size > 100_000
    assert (folder / "map.png").exists()


def test_every_public_name_is_on_the_reference_page() -> None:
    assert missing(PAGES[0], geo.__all__) == []


def test_the_figures_are_drawn_and_the_table_is_what_the_code_prints(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names: dict[str, object] = {}
    for block in blocks(FIGURES, "python"):
        written(block, FIGURES, names)
    rows = capsys.readouterr().out.strip().splitlines()
    assert len(rows) == 6
    assert all(row in text(FIGURES).splitlines() for row in rows)
    for name in ("comparison.svg", "heatmap.png", "reports.png"):
        assert (folder / name).stat().st_size > 10_000
        assert (DOCS / "images" / "geo" / name).exists()
        assert f"../images/geo/{name}" in text(FIGURES)


@pytest.mark.parametrize("page", [*PAGES, FIGURES, TUTORIAL])
def test_links_hold(page: str) -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", text(page)):
        assert ((DOCS / page).parent / target).exists(), target
