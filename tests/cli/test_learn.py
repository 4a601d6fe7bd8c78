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
    code, out, _ = shell("evaluate", policy, model, "--spend", "2", "--explain")
    assert code == 0
    assert "rows by predicted class and class: 25 % of the price, 4 numbers in all" in out
    assert "those held out" in out
    told = json.loads(shell("evaluate", policy, model, "--spend", "2", "--explain", "--format", "json")[1])
    assert (told["epsilon"], told["tables"], len(told["stages"])) == (2, 2, 2)
    assert "1 charge so far" in shell("budget", policy)[1], "nothing was paid for it"
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


@pytest.mark.parametrize(
    ("name", "more", "wrote"),
    [
        ("linear", ("--target", "age"), ["prediction"]),
        ("correlation", (), None),
        ("components", ("--k", "1"), ["component_1"]),
    ],
)
def test_learn_of_numbers(
    policy: Path, shell: Shell, name: str, more: tuple[str, ...], wrote: list[str] | None
) -> None:
    folder = policy.parent
    model, page = folder / "model.json", folder / "card.html"
    common = ("learn", name, policy, *more, "--spend", "1")
    assert json.loads(shell(*common, "--explain", "--format", "json")[1])["learner"] == name
    assert shell("history", policy, "--format", "json")[1].strip() == "[]"
    code, out, _ = shell(*common, "--output", model, "--html", page)
    assert code == 0
    assert "Cost epsilon 1; left epsilon 19." in out
    assert page.read_text().startswith("<!DOCTYPE html>")
    assert json.loads(shell(*common, "--format", "json")[1]) == json.loads(model.read_text())
    assert f"learn {name}" in shell("history", policy)[1]
    assert "One row" in shell("card", model)[1]
    code, out, error = shell("predict", model, folder / "people.csv", "--output", folder / "scored.parquet")
    if wrote is None:
        assert code == 2
        assert "nothing of single rows" in error
        assert shell("card", model, "--sql", "people")[0] == 2
    else:
        scored = pyarrow.parquet.read_table(folder / "scored.parquet")
        assert scored.column_names[-len(wrote) :] == wrote
        assert shell("card", model, "--sql", "people")[1].startswith("SELECT people.*")
    assert shell("evaluate", policy, model, "--spend", "1")[0] == 2


def test_clusters(policy: Path, shell: Shell) -> None:
    folder = policy.parent
    model, page = folder / "clusters.json", folder / "card.html"
    common = ("learn", "clusters", policy, "--k", "3", "--spend", "1", "--columns", "age,wealth")
    assert "rows around 3 centres" in shell(*common, "--explain")[1]
    code, out, _ = shell(*common, "--output", model, "--html", page)
    assert code == 0
    assert "cluster 2: about" in out
    assert "Cost epsilon 1; left epsilon 19." in out
    assert json.loads(shell(*common, "--format", "json")[1]) == json.loads(model.read_text())
    assert shell("predict", model, folder / "people.csv", "--output", folder / "scored.parquet")[0] == 0
    scored = pyarrow.parquet.read_table(folder / "scored.parquet")
    assert scored.column_names[-1] == "cluster"
    assert set(scored.column("cluster").to_pylist()) <= {0, 1, 2}
    assert shell("card", model, "--sql", "people")[1].startswith("SELECT people.*")
    assert "learn clusters" in shell("history", policy)[1]
    assert shell("evaluate", policy, model, "--spend", "1")[0] == 2
    assert shell("learn", "clusters", policy, "--spend", "1", "--columns", "city")[0] == 3
    assert shell("learn", "clusters", policy, "--spend", "1", "--k", "0")[0] == 2


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
