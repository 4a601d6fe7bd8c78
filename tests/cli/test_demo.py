"""The demo, end to end: what it shows, what it writes, and that its numbers agree with each other.

The noise is real: a check holds whatever the noise is, or fails with a probability below 1e-9 that is named beside it.
"""

import io
import json
import math
import shlex
from collections import Counter
from contextlib import redirect_stdout
from pathlib import Path
from statistics import median
from typing import Any

import pyarrow.parquet as pq
import pytest
from rich.cells import cell_len

from sfumato.cli.main import run
from sfumato.plots import style
from tests.plots.reading import fetches_nothing, read, runs_nothing_foreign

ROWS = 4_000
FILES = {"town.parquet", "town.toml", "town.ledger", "town.ledger.anchor", "town.ledger.anchor.key"}
FILES |= {"report.html", "synthetic.parquet"}


def demo(*arguments: str, code: int = 0) -> str:
    """What `sfumato demo` prints into a pipe."""
    out = io.StringIO()
    with redirect_stdout(out), pytest.raises(SystemExit) as left:
        run(["demo", "--fast", "--rows", str(ROWS), *arguments])
    assert (left.value.code or 0) == code
    return out.getvalue()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("demo") / "new" / "folder"


@pytest.fixture(scope="module")
def summary(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(demo("--format", "json", "--output", str(folder)))
    return found


def test_the_files(summary: dict[str, Any], folder: Path) -> None:
    assert {path.name for path in folder.iterdir()} == FILES
    assert summary["report"] == {"path": str(folder / "report.html"), "missing": ""}


def test_the_town(summary: dict[str, Any]) -> None:
    town = summary["town"]
    assert summary["rows"] == town["rows"] == ROWS
    assert 0 < town["unique"] <= town["persons"] < ROWS
    assert town["unique_share"] == town["unique"] / town["persons"]
    assert town["most_visits"] <= 12, "the policy promises that nobody is cut"


def test_names_come_back(summary: dict[str, Any]) -> None:
    linked = summary["linking"]
    assert linked["records"] == ROWS
    assert linked["success"] > 0.5
    assert linked["chance"] == 1 / linked["voters"]
    assert len({one["diagnosis"] for one in linked["shown"]}) == 3
    assert linked["success"] <= linked["named"] / ROWS


def test_exact_totals_give_a_salary_away(summary: dict[str, Any]) -> None:
    found, victim = summary["differencing"], summary["linking"]["shown"][0]
    assert found["pair"]["victim"] == victim
    assert found["error"] < 0.005
    assert found["totals"][0] - found["totals"][1] == pytest.approx(victim["income"], abs=0.005)
    assert found["success"] == 1
    assert found["chance"] == 2 * found["tolerance"] / 200_000


def test_nobody_to_trust(summary: dict[str, Any]) -> None:
    found = summary["local"]
    assert found["people"] == summary["town"]["persons"]
    assert sum(one["true"] for one in found["counts"]) == found["people"]
    assert sum(one["estimate"] for one in found["counts"]) == pytest.approx(found["people"])
    for one in found["counts"]:
        reach = (one["high"] - one["low"]) / 1.96
        assert abs(one["estimate"] - one["true"]) < 6.5 * reach + 10, "nine deviations, and more for what was clipped"
    assert "this device has 0 left of 2" in found["refusal"]


def test_a_day_of_places(summary: dict[str, Any]) -> None:
    found = summary["geo"]
    assert [one["stop"] for one in found["stops"]] == ["home", "bakery", "home", "home"]
    assert [one["reused"] for one in found["stops"]] == [False, False, True, True]
    assert found["stops"][0]["off_m"] == found["stops"][2]["off_m"]
    assert all(0 < one["off_m"] < 20 * found["usual_m"] for one in found["stops"])
    assert "left" in found["refusal"]


def test_a_model_of_everybody(summary: dict[str, Any]) -> None:
    found = summary["model"]
    assert (found["target"], found["epsilon"], found["draws"]) == ("marital_status", 0.5, 3)
    assert 1 <= len(found["leaves"]) <= 4
    assert all(0 < leaf["share"] <= 1 for leaf in found["leaves"])
    assert 0 < found["most_common"] < 1
    if found["accuracy"] is not None:
        assert found["low"] <= found["accuracy"] <= found["high"]
    assert not any("fitted on among them" in note for note in found["notes"]), "people were put aside"


def test_a_table_of_nobody(summary: dict[str, Any], folder: Path) -> None:
    found, table = summary["synthetic"], pq.read_table(folder / "synthetic.parquet")
    assert found["path"] == str(folder / "synthetic.parquet")
    assert json.loads(table.schema.metadata[b"sfumato.synthetic"])["epsilon"] == "1/2"
    assert (found["epsilon"], found["rows"]) == (0.5, table.num_rows)
    assert table.column_names == ["age", "sex", "education", "marital_status"]
    assert 3 <= len(found["pairs"]) <= 6
    women, *_, few = found["answers"]
    assert women["synthetic"] == table.column("sex").to_pylist().count("Female")
    assert women["true"] == len({row["person_id"] for row in people_of(folder) if row["sex"] == "Female"})
    assert few["true"] <= women["true"]
    for one in found["answers"]:
        assert one["low"] <= one["asked"] <= one["high"]
        # Half an error bar is 1.96 deviations; four of them are left with a probability of 1e-14.
        assert abs(one["asked"] - one["true"]) <= 2 * (one["high"] - one["low"])


def test_private_totals_do_not(summary: dict[str, Any]) -> None:
    attack, salary = summary["private"]["attack"], summary["differencing"]["pair"]["victim"]["income"]
    errors = [abs(estimate - salary) for estimate in attack["estimates"]]
    assert len(errors) == 10
    assert attack["median_error"] == median(errors)
    # The noise of a difference has a deviation above 7e7: an error is below 1e4 with a probability of 1.2e-4, and five
    # of the ten are, as such a median needs, with one of 252 * (1.2e-4)^5 < 1e-17.
    assert attack["median_error"] > 10 * summary["differencing"]["tolerance"]
    assert attack["success"] == attack["hits"] / len(errors)
    assert attack["chance"] < attack["bound"] < attack["pooled_bound"] < 0.03


def test_private_answers_stand_beside_the_truth(summary: dict[str, Any]) -> None:
    private = summary["private"]
    assert sum(count["true"] for count in private["counts"]) == ROWS
    assert len(private["counts"]) == len(private["averages"]) == 16
    for one in [*private["counts"], *private["averages"]]:
        assert one["low"] <= one["private"] <= one["high"]
        assert one["covered"] == (one["low"] <= one["true"] <= one["high"])
    for count in private["counts"]:
        # Half an error bar is 1.96 deviations; four of them are left with a probability of 1e-14.
        assert abs(count["private"] - count["true"]) <= 2 * (count["high"] - count["low"])
    # Sixteen counts, each covered in 95 cases of 100: ten misses have a probability of 8e-10.
    assert sum(not count["covered"] for count in private["counts"]) < 10
    assert private["covered"] == sum(one["covered"] for one in [*private["counts"], *private["averages"]])


def people_of(folder: Path) -> Any:
    """One row a person, in a table that no session has touched."""
    town = pq.read_table(folder / "town.parquet").to_pylist()
    return {row["person_id"]: row for row in town}.values()


def test_quartiles_of_people(summary: dict[str, Any], folder: Path) -> None:
    found, incomes = summary["answers"]["quartiles"], sorted(row["income"] for row in people_of(folder))
    assert [one["label"] for one in found] == ["lower", "middle", "upper"]
    for one, level in zip(found, (0.25, 0.5, 0.75), strict=True):
        # Exactly, the quartile: at least this share lies at or below it, and no smaller income has so many.
        assert one["true"] == incomes[math.ceil(level * len(incomes)) - 1]
        assert 0 <= one["low"] <= one["private"] <= one["high"] <= 200_000
        assert one["covered"] == (one["low"] <= one["true"] <= one["high"])
    assert found[0]["private"] <= found[1]["private"] <= found[2]["private"]


def test_a_histogram_for_its_error(summary: dict[str, Any], folder: Path) -> None:
    found = summary["answers"]
    assert found["wanted_error"] == 50
    assert 0 < found["price_of_ages"] < 0.5
    assert sum(one["true"] for one in found["ages"]) == summary["town"]["persons"]
    for one in found["ages"]:
        first, last = (int(end) for end in one["label"].split("–"))
        assert one["true"] == sum(first <= row["age"] <= last for row in people_of(folder))
        assert 40 < (one["high"] - one["low"]) / 2 <= 50, "as much as was paid for, and little more"
        # Half an error bar is 1.96 deviations; four of them are left with a probability of 1e-14.
        assert abs(one["private"] - one["true"]) <= 200


def test_occupations_that_nobody_declared(summary: dict[str, Any], folder: Path) -> None:
    found = summary["answers"]
    truth = Counter(row["occupation"] for row in people_of(folder) if row["occupation"] is not None)
    shown = {one["label"]: one["true"] for one in found["occupations"]}
    hidden = {one["label"]: one["people"] for one in found["hidden"]}
    assert {**shown, **hidden} == truth
    assert not shown.keys() & hidden.keys()
    assert truth["Armed-Forces"] <= 2
    # A value of one person is shown with a probability of delta, 1e-8 here; one of two people hardly more often.
    assert "Armed-Forces" in hidden or not truth["Armed-Forces"]
    assert "Sales" not in (folder / "town.toml").read_text(encoding="utf-8")
    assert found["discovering"].startswith("discovered; a key that ")
    for one in found["occupations"]:
        assert abs(one["private"] - one["true"]) <= 2 * (one["high"] - one["low"])


def test_the_budget_adds_up(summary: dict[str, Any]) -> None:
    budget, purchases = summary["budget"], summary["private"]["purchases"] + summary["answers"]["purchases"]
    spent = [purchase["spent"] for purchase in purchases]
    assert budget["charges"] == len(purchases) == 2 + 2 * len(summary["private"]["attack"]["estimates"]) + 3
    assert spent == sorted(spent)
    assert spent[-1] == budget["spent"] < budget["limit"] == 3
    assert budget["sum_of_spends"] == pytest.approx(sum(purchase["spend"] for purchase in purchases))
    assert budget["spent"] < budget["sum_of_spends"]
    assert 1 < budget["left"] < 3


def test_asking_again_tells_nothing_new(summary: dict[str, Any]) -> None:
    repeated = summary["budget"]["repeated"]
    assert repeated["identical"] is True
    assert repeated["cost"] == 0
    assert repeated["error_of_one"] == pytest.approx(repeated["error_of_mean"])


def test_the_ledger_says_no(summary: dict[str, Any]) -> None:
    budget = summary["budget"]
    assert 'analyst "mallory" has' in budget["refusal"]
    # The opening, the limit of an analyst, and a charge and a release for each question.
    assert budget["entries"] == 2 + 2 * budget["charges"]
    # Hers is the last charge before the three of the answers, each with its release.
    charge_of_mallory = budget["entries"] - 1 - 2 * len(summary["answers"]["purchases"])
    assert budget["tampering"].startswith(f"LedgerDamaged: entry {charge_of_mallory} of the ledger does not match")
    assert "its anchor remembers entry" in budget["rollback"]


def test_the_report(summary: dict[str, Any], folder: Path) -> None:
    reader = read((folder / "report.html").read_text(encoding="utf-8"))
    runs_nothing_foreign(reader)
    fetches_nothing(reader)
    assert len(reader.all("figure")) == len(reader.all("figcaption")) == 8 + bool(summary["answers"]["occupations"])
    assert len(reader.all("a")) == len(reader.all("section")) == 8
    assert all(caption.text for caption in reader.all("figcaption"))
    shown = " ".join(element.text for element in reader.elements if element.tag != "script")
    for number in (f"{summary['linking']['voters']:,}", f"${summary['differencing']['estimate']:,.2f}"):
        assert number in shown


def test_the_next_commands_work(summary: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    assert len(summary["next"]) == 3
    for command in summary["next"]:
        program, *arguments = shlex.split(command)
        assert program == "sfumato"
        with pytest.raises(SystemExit) as left:
            run(arguments)
        out, err = capsys.readouterr()
        assert not left.value.code, err
        assert out


def test_the_tour_fits_a_terminal_and_a_pipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    own = tmp_path / "sfumato-demo" / "notes.txt"
    own.parent.mkdir()
    own.write_text("mine")
    shown = demo(), demo("--seed", "3")
    assert own.read_text() == "mine"
    for text in shown:
        assert "\x1b" not in text
        assert max(cell_len(line) for line in text.splitlines()) <= 80
        for word in (
            "Mallory",
            "BudgetExceeded",
            "LedgerDamaged",
            "epsilon = 3",
            "sfumato-demo/report.html",
            "✓",
            "spend_for",
            "█",
        ):
            assert word in text
        # Rich takes square brackets for markup; the names of sections in the policy must survive.
        assert "[columns]" in text
    assert shown[0] != shown[1]


def test_somebody_elses_ledger_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for own in ("town.ledger", "town.toml"):
        (tmp_path / own).write_text("mine")
        demo("--output", str(tmp_path), code=2)
        assert "which the demo did not write" in capsys.readouterr().err
        assert (tmp_path / own).read_text() == "mine"
    assert {path.name for path in tmp_path.iterdir()} == {"town.ledger", "town.toml"}


def test_a_folder_that_cannot_be(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    demo("--output", str(tmp_path / "file"), code=2)
    assert "--output" in capsys.readouterr().err


def test_without_plotly_only_the_report_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(style, "import_module", missing)
    found = json.loads(demo("--format", "json", "--output", str(tmp_path)))
    assert found["report"]["path"] is None
    assert 'pip install "sfumato[plot]"' in found["report"]["missing"]
    assert {path.name for path in tmp_path.iterdir()} == FILES - {"report.html"}
