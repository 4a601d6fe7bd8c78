"""One list of formats; each command prints its own part of it and refuses the rest in the same words."""

from collections.abc import Callable
from pathlib import Path
from typing import get_args

import pytest

from sfumato.cli import format as formats

Shell = Callable[..., tuple[int, str, str]]

KNOWN = {
    "demo": (formats.WithoutRows, []),
    "ask": (formats.WithPage, ["p.toml", "SELECT 1", "--spend", "1"]),
    "attack": (formats.WithPage, ["--list"]),
    "compare": (formats.WithPageAndText, []),
    "geo tree": (formats.WithMap, ["points.csv", "--epsilon", "1"]),
    "risk": (formats.Usual, ["people.csv"]),
    "local plan": (formats.Usual, []),
}


def test_every_part_is_of_the_one_list() -> None:
    parts = {value for name, value in vars(formats).items() if name.startswith(("Usual", "With"))}
    assert {choice for part in parts for choice in get_args(part)} == set(formats.Format)


@pytest.mark.parametrize("command", KNOWN)
@pytest.mark.parametrize("format", formats.Format)
def test_what_a_command_does_not_print_is_refused(shell: Shell, command: str, format: formats.Format) -> None:
    part, arguments = KNOWN[command]
    if format in get_args(part):
        return
    code, _, err = shell(*command.split(), *arguments, "--format", format)
    assert code == 2
    listed = ", ".join(f"'{choice}'" for choice in get_args(part))
    assert f"'{format}' is not one of {listed}." in " ".join(err.replace("│", " ").split())


@pytest.mark.parametrize(
    ("ending", "format"), [("csv", "csv"), ("JSON", "json"), ("html", "html"), ("txt", "table"), ("", "table")]
)
def test_the_ending_of_a_file_is_its_format(
    shell: Shell, policy: Path, tmp_path: Path, ending: str, format: str
) -> None:
    asked = ("ask", policy, "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex", "--spend", "0.5")
    shell(*asked)
    named, said = tmp_path / f"answer.{ending}".rstrip("."), tmp_path / "said"
    assert shell(*asked, "--output", named)[0] == 0
    assert shell(*asked, "--format", format, "--output", said)[0] == 0
    assert named.read_text(encoding="utf-8") == said.read_text(encoding="utf-8")


def test_what_is_said_counts_more_than_an_ending(shell: Shell, tmp_path: Path) -> None:
    named = tmp_path / "meaning.csv"
    for order in (["--output", named, "--format", "json"], ["--format", "json", "--output", named]):
        assert shell("epsilon", "1", *order)[0] == 0
        assert named.read_text(encoding="utf-8").startswith(("[", "{"))


def test_an_ending_that_a_command_does_not_print_is_refused(shell: Shell, tmp_path: Path) -> None:
    code, _, err = shell("epsilon", "1", "--output", tmp_path / "meaning.html")
    assert code == 2
    assert "'html' is not one of 'table', 'json', 'csv'" in " ".join(err.replace("│", " ").split())
    assert not (tmp_path / "meaning.html").exists()


@pytest.mark.parametrize("ending", ["xlsx", "TSV", "parquet", "v2"])
def test_an_ending_that_nothing_is_written_with_is_refused_before_the_charge(
    shell: Shell, policy: Path, tmp_path: Path, ending: str
) -> None:
    asked, named = ("ask", policy, "SELECT COUNT(*) AS n FROM people", "--spend", "0.5"), tmp_path / f"n.{ending}"
    code, out, err = shell(*asked, "--output", named)
    assert (code, out) == (2, "")
    assert f"n.{ending} ends in .{ending}, and nothing like that is written." in err
    assert "Let it end in .csv, .json or .txt, or, where --format knows them, in .html, .md or .geojson;" in err
    assert ("Spreadsheets open .csv." in err) is (ending in ("xlsx", "TSV"))
    assert shell("history", policy, "--format", "csv")[1].count("\n") == 1
    assert not named.exists()
    for order in (["--output", named, "--format", "csv"], ["--format", "csv", "--output", named]):
        assert shell(*asked, *order)[0] == 0
        assert named.read_text(encoding="utf-8").startswith("n,")


def test_a_statement_for_the_engine_may_end_in_sql(shell: Shell, policy: Path, tmp_path: Path) -> None:
    plan = ("explain", policy, "SELECT COUNT(*) AS n FROM people", "--spend", "0.5")
    assert shell(*plan, "--sql", "--output", tmp_path / "plan.sql")[0] == 0
    assert "SELECT" in (tmp_path / "plan.sql").read_text(encoding="utf-8")
    assert shell("ask", *plan[1:], "--output", tmp_path / "plan.sql")[0] == 2


def test_all_reports_stand_in_a_csv_file(shell: Shell, tmp_path: Path) -> None:
    places, told = tmp_path / "places.csv", tmp_path / "noisy.csv"
    places.write_text("lat,lon\n" + "43.78,10.92\n" * 50)
    assert shell("geo", "report", places, "--output", told)[0] == 0
    assert len(told.read_text().splitlines()) == 51


def test_every_command_that_writes_instead_of_printing_looks_at_the_ending() -> None:
    sources = {file.name: file.read_text() for file in Path(formats.__file__).parent.glob("*.py")}
    assert [name for name, text in sources.items() if "instead of the screen" in text] == ["writable.py"]
