"""The pages about positions: examples run as printed, figures hold, proofs name what exists."""

import re
import shlex
from pathlib import Path

import numpy as np
import pytest

import sfumato.geo as geo
from sfumato.cli.main import run

DOCS = Path(__file__).parents[2] / "docs"
PAGES = ["reference/geo.md", "how-to/protect-a-position.md"]
TUTORIAL = "tutorial/positions.md"
FIGURES = "explanation/geo-figures.md"
PROOFS = [
    "metric-of-the-earth",
    "planar-geometric",
    "spherical-laplace",
    "privtree",
    "metric-privacy",
    "traces",
]


def text(page: str) -> str:
    return (DOCS / page).read_text(encoding="utf-8")


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", text(page), flags=re.MULTILINE | re.DOTALL)


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
    checked = 0
    for block in blocks(page, "python"):
        exec(compile(block, page, "exec"), names)  # noqa: S102
        for line in block.splitlines():
            if printed := re.search(r"^((?:hide\.(?:mean|error|loss)|sf\.geo\.distance)[^#]*?)\s+# ([0-9.]+)", line):
                shown = printed[2].rstrip(".")
                digits = len(shown.partition(".")[2])
                assert round(eval(printed[1], names), digits or None) == float(shown)  # noqa: S307
                checked += 1
    assert checked


@pytest.mark.parametrize("page", PAGES)
def test_shell_examples_run(page: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for command in [line for block in blocks(page, "sh") for line in block.splitlines()]:
        program, *arguments = shlex.split(command)
        assert program == "sfumato"
        with pytest.raises(SystemExit) as left:
            run(arguments)
        assert not left.value.code, capsys.readouterr().err
    assert page == PAGES[0] or (folder / "reports.geojson").exists()


def test_the_tutorial(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Blocks in their order: Python and shell share one folder."""
    names: dict[str, object] = {}
    for language, block in re.findall(r"^```(\w+)\n(.*?)^```", text(TUTORIAL), flags=re.MULTILINE | re.DOTALL):
        if language == "python":
            exec(compile(block, TUTORIAL, "exec"), names)  # noqa: S102
            continue
        for command in block.splitlines():
            with pytest.raises(SystemExit) as left:
                run(shlex.split(command)[1:])
            assert not left.value.code, capsys.readouterr().err
    assert "a new place costs level 1.38629" in capsys.readouterr().out
    assert (folder / "map.html").stat().st_size > 100_000
    assert (folder / "map.png").exists()


def test_every_public_name_is_on_the_reference_page() -> None:
    assert [name for name in geo.__all__ if name not in text(PAGES[0])] == []


def test_the_figures_are_drawn_and_the_table_is_what_the_code_prints(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names: dict[str, object] = {}
    for block in blocks(FIGURES, "python"):
        exec(compile(block, FIGURES, "exec"), names)  # noqa: S102
    rows = capsys.readouterr().out.strip().splitlines()
    assert len(rows) == 6
    assert all(row in text(FIGURES).splitlines() for row in rows)
    for name in ("comparison.svg", "heatmap.png", "reports.png"):
        assert (folder / name).stat().st_size > 10_000
        assert (DOCS / "images" / "geo" / name).exists()
        assert f"../images/geo/{name}" in text(FIGURES)


@pytest.mark.parametrize("name", PROOFS)
def test_a_proof_states_its_claim_and_names_code_and_tests_that_exist(name: str) -> None:
    page = text(f"proofs/{name}.md")
    assert "**Claim.**" in page
    assert "**Needs.**" in page
    paths = re.findall(r"`((?:src|tests)/[\w/.]+)`", page)
    assert {path.split("/")[0] for path in paths} == {"src", "tests"}
    for path in paths:
        assert (DOCS.parent / path).exists(), path


@pytest.mark.parametrize("page", [*PAGES, FIGURES, TUTORIAL])
def test_links_hold(page: str) -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", text(page)):
        assert ((DOCS / page).parent / target).exists(), target
