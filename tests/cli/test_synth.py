"""sfumato synth."""

import json
from collections.abc import Callable
from pathlib import Path

import pyarrow.csv
import pyarrow.parquet
import pytest

from sfumato.learn.synthesis.sampling import MARK
from tests.cli.test_learn import POLICY
from tests.learn.people import people

Shell = Callable[..., tuple[int, str, str]]


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    pyarrow.csv.write_csv(people(800, holes=False), tmp_path / "people.csv")
    (tmp_path / "people.toml").write_text(POLICY)
    return tmp_path / "people.toml"


def test_synth(policy: Path, shell: Shell) -> None:
    folder = policy.parent
    rows, model, page = folder / "rows.parquet", folder / "model.json", folder / "card.html"
    common = ("synth", policy, "--spend", "1")
    code, out, _ = shell(*common, "--explain")
    assert code == 0
    assert "rows by cell of two columns, a table a pair" in out
    code, out, _ = shell(*common, "--explain", "--format", "json")
    assert sum(stage["share"] for stage in json.loads(out)["stages"]) == pytest.approx(1, abs=1e-5)
    assert shell("history", policy, "--format", "json")[1].strip() == "[]"
    code, out, _ = shell(*common, "--output", rows, "--model", model, "--html", page, "--compare", "0.5")
    assert code == 0
    assert "Synthetic rows: people" in out
    assert "Cost epsilon 1; left epsilon 18.5." in out
    assert f"Wrote {rows}.\nWrote {model}.\nWrote {page}." in out
    assert "of rows elsewhere" in out
    assert page.read_text().count("of rows elsewhere") == 4
    table = pyarrow.parquet.read_table(rows)
    assert table.column_names == ["age", "city", "wealth", "y"]
    assert json.loads(table.schema.metadata[MARK.encode()])["epsilon"] == "1"
    code, out, _ = shell(*common, "--rows", "30", "--seed", "4", "--output", folder / "rows.csv")
    assert code == 0
    assert len((folder / "rows.csv").read_text().splitlines()) == 31
    assert json.loads((folder / "rows.csv-metadata.json").read_text())[MARK]["seed"] == 4
    assert json.loads(shell(*common, "--format", "json")[1]) == json.loads(model.read_text()), "again, for nothing"
    both = json.loads(shell(*common, "--compare", "0.5", "--format", "json")[1])
    assert both["model"]["learner"] == "synthetic"
    assert [one["name"] for one in both["comparison"]["columns"]] == ["age", "city", "wealth", "y"]
    told = shell("history", policy)[1]
    assert "learn synthetic" in told
    assert "compare synthetic" in told
    assert "a tree of pairs" in shell("card", model)[1]
    assert shell("predict", model, folder / "people.csv")[0] == 2
    assert shell("evaluate", policy, model, "--spend", "1")[0] == 2
    assert shell("card", model, "--sql", "people")[0] == 2


def test_mistakes_are_told_before_anything_is_paid(policy: Path, shell: Shell) -> None:
    folder = policy.parent
    for wrong, code in (
        (("--spend", "much"), 2),
        (("--spend", "99"), 4),
        (("--spend", "1", "--columns", "age,street"), 3),
        (("--spend", "1", "--output", folder / "rows.xlsx"), 2),
        (("--spend", "1", "--output", folder / "nowhere" / "rows.csv"), 2),
        (("--spend", "1", "--model", folder / "nowhere" / "m.json"), 2),
        (("--spend", "1", "--rows", "0"), 2),
        (("--spend", "1", "--seed", "-1"), 2),
        (("--spend", "1", "--compare", "much"), 2),
        (("--spend", "1", "--max-rows", "2"), 2),
    ):
        assert shell("synth", policy, *wrong)[0] == code, wrong
    assert shell("history", policy, "--format", "json")[1].strip() == "[]"
