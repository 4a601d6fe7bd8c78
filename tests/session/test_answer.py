"""What an answer can do: error bars, tables, plots, JSON."""

import json
from collections.abc import Callable
from math import sqrt
from typing import Any

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import MissingExtra, UsageError
from tests.entropy import SeededEntropy

Open = Callable[..., sf.Session]
BY_SEX = "SELECT sex, COUNT(*) AS n, AVG(income) AS income FROM people GROUP BY sex"
GENEROUS = {"budget": sf.Budget(epsilon=10**9)}


@pytest.fixture
def answer(open_crowd: Open) -> sf.Answer:
    return open_crowd().ask(BY_SEX, spend=0.5)


# ---- error bars


@pytest.mark.slow
@pytest.mark.parametrize("delta", [0, 1e-6])
@pytest.mark.parametrize("confidence", [0.5, 0.95])
def test_error_bars_cover_the_truth_as_often_as_they_say(
    open_crowd: Open, crowd: pa.Table, delta: float, confidence: float
) -> None:
    """Seeded noise on 70 groups, 15 times; too few is a lie, far too many is a waste."""
    session = open_crowd(budget=sf.Budget(10**6, delta))
    session._entropy = SeededEntropy(f"coverage {delta}")
    ages, incomes = crowd["age"].to_pylist(), crowd["income"].to_pylist()
    question = "SELECT age, COUNT(*) AS n, SUM(income) AS total, AVG(income) AS mean FROM people GROUP BY age"
    covered = {"n": 0, "total": 0, "mean": 0}
    trials = 0
    for _ in range(15):
        asked = session.ask(question, spend=40, fresh=True)
        for row, interval in zip(asked.rows, asked.interval(confidence), strict=True):
            inside = [income for age, income in zip(ages, incomes, strict=True) if age == row["age"]]
            if inside:
                truth = {"n": len(inside), "total": sum(inside), "mean": sum(inside) / len(inside)}
                trials += 1
                for name, (low, high) in interval.items():
                    covered[name] += low <= truth[name] <= high
    assert trials == 15 * 70
    slack = 6 * sqrt(confidence * (1 - confidence) * trials)
    for name, hits in covered.items():
        assert hits > confidence * trials - slack, name
    assert covered["total"] < confidence * trials + slack


def test_error_bars_grow_with_confidence(answer: sf.Answer) -> None:
    widths = []
    for confidence in (0.5, 0.9, 0.99):
        low, high = answer.interval(confidence)[0]["n"]
        widths.append(high - low)
        assert low <= answer.rows[0]["n"] <= high
    assert widths == sorted(widths)
    assert answer.interval() == answer.interval(0.95)


@pytest.mark.parametrize(("lower", "upper"), [(0, 100), (-100, -50), (-100, 20), (50, 60)])
def test_the_mean_of_nobody_may_be_anything_within_the_bounds(
    open_crowd: Open, crowd: pa.Table, lower: int, upper: int
) -> None:
    session = open_crowd(crowd.slice(0, 0), columns={"age": sf.Int(lower, upper)})
    asked = session.ask("SELECT AVG(age) AS age FROM people", spend=0.1)
    low, high = asked.interval(1 - 1e-12)[0]["age"]
    assert (low, high) == (lower, upper)
    assert low <= asked.rows[0]["age"] <= high


@pytest.mark.parametrize("confidence", [0, 1, -0.5, 1.5, float("nan"), "0.9", None, True])
def test_confidence_lies_between_0_and_1(answer: sf.Answer, confidence: Any) -> None:
    with pytest.raises(UsageError, match="confidence must lie between 0 and 1"):
        answer.interval(confidence)


# ---- shapes


def test_json_has_the_agreed_shape(answer: sf.Answer) -> None:
    said = json.loads(json.dumps(answer.to_dict()))
    agreed = ["question", "columns", "kinds", "along", "measured", "rows", "intervals", "confidence", "spend", "cost"]
    agreed += ["spent", "left", "unit", "cached", "receipt"]
    assert [key for key in said if key != "when"] == [*agreed, "more", "price", "notes"]
    assert said["columns"] == ["sex", "n", "income"]
    assert [list(row) for row in said["rows"]] == [["sex", "n", "income"]] * 2
    assert [list(row) for row in said["intervals"]] == [["n", "income"]] * 2
    assert all(len(pair) == 2 and pair[0] <= pair[1] for row in said["intervals"] for pair in row.values())
    assert said["confidence"] == 0.95
    assert said["cost"] == said["spent"] == {"epsilon": 0.5, "delta": 0}
    assert said["left"] == {"epsilon": 2.5, "delta": 0}
    assert said["unit"].startswith("person (user_id")
    assert said["cached"] is False
    assert said["receipt"] == 2
    assert answer.to_dict(0.5)["confidence"] == 0.5


def test_counts_are_whole_and_means_are_real(answer: sf.Answer) -> None:
    for row in answer.rows:
        assert type(row["n"]) is int
        assert type(row["income"]) is float
        assert 0 <= row["income"] <= 200_000


def test_tables(answer: sf.Answer) -> None:
    arrow, pandas, polars = answer.to_arrow(), answer.to_pandas(), answer.to_polars()
    assert arrow.to_pylist() == answer.rows
    assert pandas.to_dict("records") == answer.rows
    assert polars.to_dicts() == answer.rows
    for table in (pandas, polars):
        assert list(table.columns) == ["sex", "n", "income"]
    assert arrow.column_names == ["sex", "n", "income"]


@pytest.mark.parametrize(
    ("column", "key"), [(sf.Category(["m", "f"]), "sex"), (sf.Int(17, 20), "age"), (sf.Category([17, 18]), "age")]
)
def test_tables_with_keys_of_every_type(open_crowd: Open, column: Any, key: str) -> None:
    session = open_crowd(columns={key: column})
    answer = session.ask(f"SELECT COUNT(*) AS n, {key} FROM people GROUP BY {key}", spend=0.5)
    assert answer.columns == ("n", key)
    assert answer.to_polars().to_dicts() == answer.to_pandas().to_dict("records") == answer.to_arrow().to_pylist()


def test_a_plot_has_a_bar_a_group_and_its_error(answer: sf.Answer) -> None:
    figure = answer.plot()
    bar = figure.data[0]
    assert list(bar.x) == ["f", "m"]
    assert list(bar.y) == [row["n"] for row in answer.rows]
    for row, interval, above in zip(answer.rows, answer.interval(), bar.error_y.array, strict=True):
        assert above == interval["n"][1] - row["n"]
    assert list(answer.plot("income").data[0].y) == [row["income"] for row in answer.rows]


def test_a_plot_of_one_number_is_named_after_it(open_crowd: Open) -> None:
    figure = open_crowd().ask("SELECT COUNT(*) AS n FROM people", spend=0.5).plot()
    assert list(figure.data[0].x) == ["n"]


def test_a_plot_of_a_column_that_is_not_there_is_a_usage_error(answer: sf.Answer) -> None:
    for column in ("incom", "sex"):
        with pytest.raises(UsageError):
            answer.plot(column)


@pytest.mark.parametrize(
    ("module", "call"), [("pandas", "to_pandas"), ("polars", "to_polars"), ("plotly.graph_objects", "plot")]
)
def test_a_missing_package_says_what_to_install(answer: sf.Answer, module: str, call: str, monkeypatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, module, None)
    with pytest.raises(MissingExtra, match=r'pip install "sfumato\[(pandas|polars|plot)\]"'):
        getattr(answer, call)()


def test_an_answer_is_not_changed_afterwards(answer: sf.Answer) -> None:
    with pytest.raises(AttributeError):
        answer.rows = []
