"""sfumato learn, evaluate, predict and card."""

import json
from collections.abc import Callable
from pathlib import Path

import pyarrow.csv
import pyarrow.parquet
import pytest

from tests.learn.people import people

Shell = Callable[..., tuple[int, str, str]]
POLICY = """
[data]
source = "people.csv"
expected_rows = 100000

[unit]
kind = "row"

[budget]
epsilon = 20

[columns]
age = { type = "int", lower = 17, upper = 90 }
city = { type = "category", values = ["Vinci", "Urbino", "Siena", "Pisa", "Lucca"] }
wealth = { type = "float", lower = 0, upper = 100000 }
y = { type = "category", values = ["no", "yes"] }
"""


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    pyarrow.csv.write_csv(people(800, holes=False), tmp_path / "people.csv")
    (tmp_path / "people.toml").write_text(POLICY)
    return tmp_path / "people.toml"


@pytest.mark.parametrize("name", ["additive", "bayes", "tree", "forest"])
def test_learn_predict_card_and_evaluate(policy: Path, shell: Shell, name: str) -> None:
    folder = policy.parent
    model, page = folder / "model.json", folder / "card.html"
    common = ("learn", name, policy, "--target", "y", "--spend", "1", "--holdout", "0.2")
    code, out, _ = shell(*common, "--explain")
    assert code == 0
    assert "Schedule:" in out
    assert not (folder / "people.ledger").exists() or "charge" not in shell("ledger", "show", policy)[1]
    code, out, _ = shell(*common, "--explain", "--format", "json")
    assert sum(stage["share"] for stage in json.loads(out)["stages"]) == pytest.approx(1, abs=1e-5)
    code, out, _ = shell(*common, "--output", model, "--html", page)
    assert code == 0
    assert "Cost epsilon 1; left epsilon 19." in out
    assert f"Wrote {model}." in out
    assert page.read_text().startswith("<!DOCTYPE html>")
    code, out, _ = shell(*common, "--format", "json")
    assert json.loads(out) == json.loads(model.read_text()), "the same again, for nothing"
    code, out, _ = shell("predict", model, folder / "people.csv", "--output", folder / "scored.parquet")
    assert "800 rows" in out
    scored = pyarrow.parquet.read_table(folder / "scored.parquet")
    assert scored.column_names[-3:] == ["prediction", "probability_no", "probability_yes"]
    code, out, _ = shell("predict", model, folder / "people.csv", "--format", "json")
    assert len(json.loads(out)) == 800
    assert shell("predict", model, folder / "people.csv")[1].count("│") > 20
    assert shell("predict", model, folder / "people.csv", "--format", "csv")[1].count("\n") == 801
    code, out, _ = shell("evaluate", policy, model, "--spend", "2", "--html", folder / "roc.html")
    assert code == 0
    assert "Accuracy" in out
    assert (folder / "roc.html").exists()
    code, out, _ = shell("evaluate", policy, model, "--spend", "2", "--format", "json")
    assert json.loads(out)["classes"] == ["no", "yes"]
    assert "One row" in shell("card", model)[1]
    assert json.loads(shell("card", model, "--format", "json")[1])["learner"] == name
    assert shell("card", model, "--sql", "people")[1].startswith("SELECT people.*")
    assert shell("card", model, "--html", page)[0] == 0
    told = shell("history", policy)[1]
    assert f"learn {name}: y" in told
    assert f"evaluate {name}: y" in told


def test_mistakes_are_told_before_anything_is_paid(policy: Path, shell: Shell) -> None:
    folder = policy.parent
    for wrong, code in (
        (("--target", "z", "--spend", "1"), 3),
        (("--target", "y", "--spend", "much"), 2),
        (("--target", "y", "--spend", "99"), 4),
        (("--target", "y", "--spend", "1", "--columns", "age,street"), 3),
        (("--target", "y", "--spend", "1", "--output", folder / "nowhere" / "m.json"), 2),
        (("--target", "y", "--spend", "1", "--depth", "20"), 2),
        (("--target", "y", "--spend", "1", "--holdout", "2"), 2),
    ):
        assert shell("learn", "tree", policy, *wrong)[0] == code, wrong
    assert shell("history", policy, "--format", "json")[1].strip() == "[]"
    (folder / "no.json").write_text("{}")
    assert shell("card", folder / "no.json")[0] == 5
    assert shell("predict", folder / "no.json", folder / "people.csv")[0] == 5
    assert shell("evaluate", policy, folder / "no.json", "--spend", "1")[0] == 5
