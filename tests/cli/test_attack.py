"""sfumato attack, in every format."""

import csv
import io
import json
import time
from collections.abc import Callable
from pathlib import Path

import pyarrow.csv
import pyarrow.parquet
import pytest
from rich.console import Console

from sfumato.attacks import shows
from sfumato.attacks.shows import SHOWS
from sfumato.cli import progress as bars
from sfumato.datasets import population
from tests.plots.reading import fetches_nothing, read

Shell = Callable[..., tuple[int, str, str]]


@pytest.fixture
def people(tmp_path: Path) -> Path:
    place = tmp_path / "people.csv"
    pyarrow.csv.write_csv(population(300).select(["age", "sex", "zip", "income", "diagnosis"]), place)
    return place


def test_the_list_names_every_attack(shell: Shell) -> None:
    code, out, err = shell("attack", "--list")
    assert (code, err) == (0, "")
    assert all(name in out for name in SHOWS)
    assert [row["attack"] for row in json.loads(shell("attack", "--list", "--format", "json")[1])] == list(SHOWS)
    assert shell("attack", "--list", "--format", "csv")[1].startswith("attack,what it does\n")


def test_an_attack_as_a_table_and_as_json(shell: Shell) -> None:
    code, out, err = shell("attack", "known-sample")
    assert (code, err) == (0, "")
    assert "rotation" in out
    assert "held: no more than promised" in out
    found = json.loads(shell("attack", "known_sample", "--epsilon", "0.5", "--format", "json")[1])
    assert found["attack"] == "known_sample"
    assert [case["works"] for case in found["cases"]] == [True, True, False]
    assert found["cases"][-1]["protection"] == "a session, epsilon 0.5 in all"


def test_an_attack_on_a_file(shell: Shell, people: Path, tmp_path: Path) -> None:
    said = shell("attack", "skewness", people, "--quasi", "age, sex", "--sensitive", "diagnosis", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(said[1])))
    assert [row["attempts"] for row in rows] == ["300"] * 3
    assert rows[0]["bound"] == ""
    assert 0 <= float(rows[0]["outsiders"]) <= 1
    parquet = tmp_path / "people.parquet"
    pyarrow.parquet.write_table(pyarrow.csv.read_csv(people), parquet)
    options = (
        "--columns",
        "age,income",
        "--plot",
        tmp_path / "a.html",
        "--format",
        "html",
        "--output",
        tmp_path / "b.html",
    )
    assert shell("attack", "denoise-additive", parquet, *options) == (0, "", "")
    assert "<h1>Attack: denoise additive</h1>" in (tmp_path / "b.html").read_text(encoding="utf-8")
    assert (tmp_path / "a.html").stat().st_size > 10_000
    assert shell("attack", "denoise-additive", parquet, "--static", *options) == (0, "", "")
    for name in ("a.html", "b.html"):
        stands_still(tmp_path / name, pictures=1)


def stands_still(page: Path, *, pictures: int) -> None:
    text = page.read_text(encoding="utf-8")
    reader = read(text)
    fetches_nothing(reader)
    assert (len(reader.all("img")), reader.all("script")) == (pictures, [])
    assert len(text) < 250_000


@pytest.mark.parametrize("command", [("attack", "tracker"), ("compare",)])
def test_pictures_that_stand_still_need_a_page(shell: Shell, command: tuple[str, ...]) -> None:
    code, _, err = shell(*command, "--static")
    assert code == 2
    assert "--static draws the plots of a page, and no page is written." in err


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        ((), 2, "no attack is named"),
        (("trackr",), 2, 'Did you mean "tracker"'),
        (("linking", "missing.csv"), 5, "missing.csv"),
        (("tracker", "--epsilon", "much"), 2, "epsilon"),
    ],
)
def test_mistakes_in_the_shell(shell: Shell, arguments: tuple[str, ...], code: int, says: str) -> None:
    found, out, err = shell("attack", *arguments)
    assert (found, out) == (code, "")
    assert says in err


def test_files_that_are_no_tables(shell: Shell, tmp_path: Path) -> None:
    for name, content in (
        ("a.xlsx", b"x"),
        ("a.parquet", b"nonsense"),
        ("a.csv", b"a\n\xff\xfe\n"),
        ("b.csv", b"a,b\n1\n"),
    ):
        (tmp_path / name).write_bytes(content)
        code, _, err = shell("attack", "linking", tmp_path / name)
        assert code == 5, (name, err)


def test_what_all_attacks_need_is_checked_before_the_first(
    shell: Shell, people: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def begin(*_: object) -> None:
        raise AssertionError("work began")

    monkeypatch.setattr(shows, "SHOWS", dict.fromkeys(SHOWS, begin))
    roles = ("--quasi", "age,sex", "--sensitive", "diagnosis")
    code, _, err = shell("attack", "all", people, *roles, "--columns", "age,zip,sex")
    assert (code, "sex" in err, "finite numbers" in err) == (2, True, True)
    assert shell("attack", "all", people, *roles[:2])[0] == 2


def test_rows_with_gaps_are_left_out_and_counted(shell: Shell, tmp_path: Path) -> None:
    place = tmp_path / "gaps.csv"
    town = population(400).select(["age", "hours_per_week", "income", "sex"]).to_pylist()
    lines = [
        f"{'' if at % 10 == 0 else row['age']},{row['hours_per_week']},{row['income']},{row['sex']}"
        for at, row in enumerate(town)
    ]
    place.write_text("\n".join(["age,hours_per_week,income,sex", *lines]), encoding="utf-8")
    says = "40 of 400 rows are left out for want of a value in age."
    options = ("--quasi", "age,hours_per_week", "--sensitive", "sex", "--value", "income", "--epsilon", "1")
    code, out, err = shell("compare", place, *options)
    assert (code, err) == (0, "")
    assert says in out
    assert shell("compare", place, *options, "--format", "csv")[2] == f"{says}\n"
    attacked = ("attack", "homogeneity", place, "--quasi", "age,hours_per_week", "--sensitive", "sex")
    assert says in shell(*attacked)[1]
    assert json.loads(shell(*attacked, "--format", "json")[1])["notes"] == [says]


def test_a_bar_appears_though_a_step_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = io.StringIO()
    monkeypatch.setattr(bars, "SLOW", 0.05)
    monkeypatch.setattr(bars, "Console", lambda **_: Console(file=screen, force_terminal=True, width=80))
    with bars.progress("Attacking …"):
        time.sleep(0.5)
    assert "Attacking" in screen.getvalue()
    quick = io.StringIO()
    monkeypatch.setattr(bars, "SLOW", 60)
    monkeypatch.setattr(bars, "Console", lambda **_: Console(file=quick, force_terminal=True, width=80))
    with bars.progress("Attacking …") as report:
        report(0.5)
    assert quick.getvalue() == ""


def test_compare_in_every_format(shell: Shell, tmp_path: Path) -> None:
    place = tmp_path / "town.csv"
    pyarrow.csv.write_csv(population(300).select(["age", "hours_per_week", "income", "sex"]), place)
    options = ("--quasi", "age,hours_per_week", "--sensitive", "sex", "--value", "income", "--epsilon", "1, 4")
    code, out, err = shell("compare", place, *options)
    assert (code, err) == (0, "")
    assert "epsilon = 4" in out
    assert json.loads(shell("compare", place, *options, "--format", "json")[1])[0]["method"] == "names removed"
    assert shell("compare", place, *options, "--format", "csv")[1].startswith("method,privacy level,")
    assert shell("compare", place, *options, "--format", "markdown")[1].startswith("| method |")
    assert shell("compare", place, *options, "--format", "html", "--output", tmp_path / "c.html") == (0, "", "")
    assert "Methods compared" in (tmp_path / "c.html").read_text(encoding="utf-8")
    assert shell("compare", place, *options, "--static", "--output", tmp_path / "c.html") == (0, "", "")
    stands_still(tmp_path / "c.html", pictures=3)
    assert shell("compare", place)[0] == 2
