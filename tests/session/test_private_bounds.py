"""SUM, AVG and quantiles of columns without bounds: from the policy to the answer."""

import json
import re
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import sfumato as sf
from sfumato.answers.found_bounds import read as read_found
from sfumato.cli.ask import Format, _rendered
from sfumato.cli.init import app as init
from sfumato.errors import Refused, UsageError
from sfumato.kernel.mechanisms.additive import Additive, DiscreteLaplace
from sfumato.schema.policy import load_policy
from tests.entropy import SeededEntropy
from tests.plots.reading import read

ROWS = 20_000


@pytest.fixture
def people() -> pd.DataFrame:
    rng = np.random.default_rng(11)
    return pd.DataFrame(
        {
            "user_id": rng.integers(0, ROWS // 2, ROWS),
            "age": rng.integers(17, 91, ROWS),
            "debt": -rng.exponential(100.0, ROWS),
            "bare": rng.integers(0, 10, ROWS),
            "sex": rng.choice(["f", "m"], ROWS),
        }
    )


def opened(people: pd.DataFrame, folder: Path, delta: float = 0, unit: Any = None) -> sf.Session:
    session = sf.protect(
        people,
        unit=unit or sf.Row(),
        columns={
            "age": sf.Int(private_bounds=0.33),
            "debt": sf.Float(private_bounds=0.2),
            "bare": sf.Int(),
            "sex": sf.Category(["f", "m"]),
        },
        budget=sf.Budget(epsilon=100, delta=delta),
        ledger=folder / "people.ledger",
        table="people",
    )
    session._entropy = SeededEntropy("found bounds")  # a clamp lies far out once in thousands of runs
    return session


@pytest.mark.parametrize("delta", [0, 1e-6])
def test_a_sum_finds_its_bounds_and_says_so(people: pd.DataFrame, tmp_path: Path, delta: float) -> None:
    with opened(people, tmp_path, delta) as session:
        answer = session.ask("SELECT SUM(age) AS s, AVG(age) AS a FROM people", spend=1)
        ((low, high),) = [row["s"] for row in answer.interval(0.999999)]
        assert low <= people.age.sum() <= high
        assert high - low < 0.1 * people.age.sum()
        ((low, high),) = [row["a"] for row in answer.interval(0.999999)]
        assert low <= people.age.mean() <= high
        assert isinstance(answer.rows[0]["s"], int)
        # Which of the edges above 90 it is, noise decides.
        told = (
            r"s: bounds -(\d+) to \1 were found privately with 29\.7 % of the spend; the error bar holds if no more "
            r"than \d+ rows lie above \1 and none below -\1, on average by no more than [\d.]+\. Declared bounds are "
            r"better\."
        )
        assert re.match(told, answer.notes[0])
        assert answer.to_dict()["notes"] == list(answer.notes)
        assert next(charge["mechanism"] for charge in session.history()[0].releases) == "bounded_sum"
        again = session.ask("SELECT SUM(age) AS s, AVG(age) AS a FROM people", spend=1)
        assert again.cached
        assert (again.rows, again.notes) == (answer.rows, answer.notes)
        assert answer.spent.epsilon == pytest.approx(1, rel=1e-6)


def test_groups_have_bounds_of_their_own(people: pd.DataFrame, tmp_path: Path) -> None:
    with opened(people, tmp_path, unit=sf.Person("user_id", max_rows=4, max_groups=2)) as session:
        answer = session.ask("SELECT sex, SUM(debt) AS s, AVG(2 * debt - age) AS a FROM people GROUP BY sex", spend=20)
        for row, interval in zip(answer.rows, answer.interval(0.999999), strict=True):
            group = people[people.sex == row["sex"]]
            assert row["s"] == pytest.approx(group.debt.sum(), rel=0.05)
            assert row["a"] == pytest.approx((2 * group.debt - group.age).mean(), rel=0.1)
            assert interval["a"][0] <= row["a"] <= interval["a"][1]
        assert [note.split(":")[0] for note in answer.notes if "found" in note] == ["s, f", "s, m", "a, f", "a, m"]
        assert "bounds -" in next(note for note in answer.notes if "s, f" in note)


def test_an_average_counts_the_people_it_adds_up(people: pd.DataFrame, tmp_path: Path) -> None:
    """Somebody in more groups than allowed is in the sum and in the count of each, or in neither."""
    people["user_id"] = np.arange(ROWS) // 4
    people["bare"] = np.arange(ROWS) % 4
    columns = {"age": sf.Int(private_bounds=0.33), "bare": sf.Category([0, 1, 2, 3]), "city": sf.Text()}
    people["city"] = people.bare.map(str)
    unit, budget = sf.Person("user_id", max_rows=4, max_groups=1), sf.Budget(epsilon=200, delta=1e-6)
    with sf.protect(people, unit=unit, columns=columns, budget=budget, ledger=tmp_path / "l", table="t") as session:
        session._entropy = SeededEntropy("an average")
        for key in ("bare", "city"):
            answer = session.ask(f"SELECT {key}, AVG(age) AS a FROM t GROUP BY {key}", spend=20)
            assert len(answer.rows) == 4
            for row in answer.rows:
                assert row["a"] == pytest.approx(people.age.mean(), rel=0.15)


def test_other_noise_does_not_depend_on_bounds() -> None:
    with pytest.raises(TypeError, match="bounds are found"):
        read_found(Additive(DiscreteLaplace(Fraction(1)), 1, 1), (0, 1, 2))


def test_too_few_rows_find_nothing(people: pd.DataFrame, tmp_path: Path) -> None:
    with opened(people.head(20), tmp_path) as session:
        answer = session.ask("SELECT SUM(age) AS s, AVG(age) AS a FROM people", spend=1)
        assert "no bounds were found" in answer.notes[0]
        assert answer.rows == [{"s": None, "a": None}]
        assert answer.interval() == [{"s": None, "a": None}]
        with pytest.raises(UsageError, match="nothing to draw"):
            answer.plot()


def test_zeros_have_no_bounds(people: pd.DataFrame, tmp_path: Path) -> None:
    with opened(people.assign(age=0), tmp_path) as session:
        answer = session.ask("SELECT SUM(age) AS s FROM people", spend=1)
        assert answer.rows == [{"s": None}]
        assert "or all 0" in answer.notes[0]


@pytest.fixture
def few_men(people: pd.DataFrame, tmp_path: Path) -> Iterator[Callable[[str], sf.Answer]]:
    """Answers about a table with enough women to find bounds, and too few men."""
    some = pd.concat([people[people.sex == "f"], people[people.sex == "m"].head(5)])
    with opened(some, tmp_path) as session:
        asked = "SELECT sex, SUM(age) AS s, AVG(age) AS a FROM people GROUP BY sex"
        yield lambda rest: session.ask(f"{asked} {rest}", spend=1)


Asked = Callable[[str], sf.Answer]


def test_a_sum_without_bounds_is_missing_wherever_it_is_shown(few_men: Asked) -> None:
    answer = few_men("")
    woman, man = answer.rows
    assert man == {"sex": "m", "s": None, "a": None}
    assert answer.interval()[1] == {"s": None, "a": None}
    assert woman["s"] > 0
    assert any(note.startswith("s, m: no bounds were found") for note in answer.notes)
    lines = str(answer).splitlines()
    assert lines[3].split() == ["m", "–", "–", "–", "–"]
    assert len(lines[3]) == len(lines[2]), "numbers and dashes stand at the right"
    for html in (answer.to_html(), answer._repr_html_()):
        assert [cell.text for cell in read(html).all("td")][5:] == ["m", "–", "–", "–", "–"]
    shown = _rendered(answer, 0.95, Format.table, "")
    assert "None" not in shown
    assert shown.count("–") == 4
    assert _rendered(answer, 0.95, Format.csv, "").splitlines()[2] == "m,,,,,,"
    content = json.loads(_rendered(answer, 0.95, Format.json, ""))
    assert (content["rows"][1], content["intervals"][1]) == (man, {"s": None, "a": None})
    assert answer.to_pandas().s.isna().tolist() == [False, True]
    assert answer.to_polars()["s"].to_list() == answer.to_arrow()["s"].to_pylist() == [woman["s"], None]
    (drawn,) = answer.plot("a").data
    assert (list(drawn.x), list(drawn.y)) == (["f"], [woman["a"]])


@pytest.mark.parametrize(
    ("rest", "left"),
    [
        ("ORDER BY s", "mf"),
        ("ORDER BY s DESC", "fm"),
        ("ORDER BY a NULLS LAST, s", "fm"),
        ("ORDER BY a DESC NULLS FIRST", "mf"),
        ("HAVING s > 0", "f"),
        ("HAVING NOT s > 0", ""),
        ("HAVING a IS NULL", "m"),
        ("HAVING s + a < 5 OR sex = 'm' ORDER BY s LIMIT 1", "m"),
    ],
)
def test_after_the_noise_it_is_null(few_men: Asked, rest: str, left: str) -> None:
    assert "".join(row["sex"] for row in few_men(rest).rows) == left


def test_a_key_without_a_number_interrupts_no_line(people: pd.DataFrame, tmp_path: Path) -> None:
    columns, budget = {"age": sf.Int(private_bounds=0.1), "bare": sf.Int(8, 11)}, sf.Budget(epsilon=100)
    with sf.protect(people, unit=sf.Row(), columns=columns, budget=budget, ledger=tmp_path / "l", table="t") as session:
        answer = session.ask("SELECT bare, SUM(age) AS s FROM t GROUP BY bare ORDER BY bare", spend=10)
        assert [row["s"] is None for row in answer.rows] == [False, False, True, True]
        (drawn,) = answer.plot().data
        assert (drawn.type, list(drawn.x)) == ("bar", ["8", "9"])


@pytest.mark.parametrize("delta", [0, 1e-6])
def test_quantiles_are_chosen_on_a_line_of_logarithms(people: pd.DataFrame, tmp_path: Path, delta: float) -> None:
    """Without bounds and without a spend for them: a line for every magnitude, a little coarser."""
    with opened(people, tmp_path, delta) as session:
        asked = "MEDIAN(age) AS m, QUANTILE(age, 0.9) AS q, MIN(age) AS least, MAX(debt) AS most, MEDIAN(debt) AS d"
        answer = session.ask(f"SELECT {asked} FROM people", spend=8)
        (row,), (bars,) = answer.rows, answer.interval(0.95)
        for name, level, column in (("m", 0.5, "age"), ("q", 0.9, "age"), ("d", 0.5, "debt")):
            low, high = bars[name]
            assert low <= people[column].quantile(level) <= high
            near = people[column].quantile([max(level - 0.02, 0), min(level + 0.02, 1)])
            assert near.iloc[0] * (1 + 1e-3 * np.sign(-near.iloc[0])) - 1 <= row[name]
            assert row[name] <= near.iloc[1] * (1 + 1e-3 * np.sign(near.iloc[1])) + 1
        assert isinstance(row["m"], int)
        assert bars["least"][0] <= 17 <= bars["least"][1]
        assert -5 < row["most"] <= 0.01
        assert "m: no bounds are declared, so the answer is one of numbers that lie 0.033 % apart" in answer.notes[0]
        assert not any("counts as" in note for note in answer.notes)


def test_quantiles_of_few_rows_and_of_all_numbers(tmp_path: Path) -> None:
    """Below 0, at it, between steps: the value a position stands for lies near the rows around it."""
    for values in ([-5e9] * 400, [0.0] * 400, [2.5e-6] * 400, [7.25e12] * 400):
        folder = tmp_path / str(values[0])
        folder.mkdir()
        with opened(pd.DataFrame({"debt": values, "sex": "f", "age": 1, "bare": 1}), folder) as session:
            answer = session.ask("SELECT MEDIAN(debt) AS d FROM people", spend=20)
            assert answer.rows[0]["d"] == pytest.approx(values[0], rel=1e-3, abs=1e-9)


def test_many_groups_are_summed_up(people: pd.DataFrame, tmp_path: Path) -> None:
    columns = {"age": sf.Int(private_bounds=0.1), "bare": sf.Int(0, 19)}
    budget = sf.Budget(epsilon=1)
    with sf.protect(people, unit=sf.Row(), columns=columns, budget=budget, ledger=tmp_path / "l", table="t") as session:
        answer = session.ask("SELECT bare, SUM(age) AS s FROM t GROUP BY bare", spend=1)
        assert len([note for note in answer.notes if note.startswith("s")]) == 13
        assert answer.notes[-1] == "s: so too in 8 more groups."


def test_explain_says_what_finding_costs(people: pd.DataFrame, tmp_path: Path) -> None:
    with opened(people, tmp_path) as session:
        told = session.explain("SELECT AVG(debt) AS a FROM people", spend=1)
        assert "clamped to bounds that are found privately with 20 % of it (for a): 80 % of the spend" in str(told)
        assert "noise in proportion to the larger of the bounds found" in str(told)
        assert told.expected_error == {"a": None}
        assert told.steps[0].event["finding"] == "4/25"


@pytest.mark.parametrize(
    "question",
    [
        "SELECT SUM(bare) FROM people",
        "SELECT SUM(age + bare) FROM people",
        "SELECT VARIANCE(age * bare) FROM people",
        "SELECT MEDIAN(bare) FROM people",
        "SELECT HISTOGRAM(bare, 5) FROM people",
    ],
)
def test_what_has_no_bounds_and_no_leave_to_find_them_is_refused(
    people: pd.DataFrame, tmp_path: Path, question: str
) -> None:
    with opened(people, tmp_path) as session, pytest.raises(Refused, match="no bounds"):
        session.ask(question, spend=1)


def test_too_many_groups_are_refused(people: pd.DataFrame, tmp_path: Path) -> None:
    columns = {"age": sf.Int(private_bounds=0.1), "bare": sf.Int(0, 9_999)}
    budget = sf.Budget(epsilon=1)
    with (
        sf.protect(people, unit=sf.Row(), columns=columns, budget=budget, ledger=tmp_path / "l", table="t") as session,
        pytest.raises(Refused, match=r"10,?000"),
    ):
        session.ask("SELECT bare, SUM(age) FROM t GROUP BY bare", spend=1)


@pytest.mark.parametrize("wrong", [0, 1, -0.1, 1.5, "0.1", True, float("nan")])
def test_private_bounds_are_a_part(wrong: Any) -> None:
    for kind in (sf.Int, sf.Float):
        with pytest.raises(UsageError, match="private_bounds"):
            kind(private_bounds=wrong)


def test_declared_bounds_are_never_looked_for() -> None:
    with pytest.raises(UsageError, match="both bounds and private_bounds"):
        sf.Int(0, 9, private_bounds=0.1)


def test_a_policy_may_allow_it(tmp_path: Path) -> None:
    (tmp_path / "p.toml").write_text(
        '[data]\nsource = "p.csv"\n[unit]\nkind = "row"\n[budget]\nepsilon = 1\n'
        '[columns]\nage = { type = "int", private_bounds = 0.1 }\nx = { type = "float", private_bounds = 0.2 }\n'
    )
    columns = load_policy(tmp_path / "p.toml").schema.columns
    assert columns == {"age": sf.Int(private_bounds=0.1), "x": sf.Float(private_bounds=0.2)}


def test_a_draft_allows_it_where_bounds_are_not_common_knowledge(tmp_path: Path) -> None:
    table = tmp_path / "people.csv"
    table.write_text("age,income,pay\n1,2,0.5\n")
    run = CliRunner()
    assert run.invoke(init, [str(table), "--private-bounds", "0.1"]).exit_code == 0
    columns = load_policy(tmp_path / "people.toml").schema.columns
    assert columns == {"age": sf.Int(0, 120), "income": sf.Int(private_bounds=0.1), "pay": sf.Float(private_bounds=0.1)}
    wrong = run.invoke(init, [str(table), "--private-bounds", "1.5", "--force"])
    assert isinstance(wrong.exception, UsageError)


def heavy(people: int, rows: int) -> pd.DataFrame:
    """People with many rows of very different sizes."""
    rng = np.random.default_rng(17)
    return pd.DataFrame(
        {"user_id": np.repeat(np.arange(people), rows), "amount": rng.lognormal(4.5, 1.2, people * rows).round(2)}
    )


@pytest.mark.parametrize("most", [1, 4])
def test_people_with_many_more_rows_than_count_have_the_mean_of_their_rows(most: int, tmp_path: Path) -> None:
    table = heavy(5_000, 20)
    session = sf.protect(
        table,
        unit=sf.Person("user_id", max_rows=most, max_groups=1),
        columns={"amount": sf.Float(private_bounds=0.33)},
        budget=sf.Budget(epsilon=100),
        ledger=tmp_path / "heavy.ledger",
    )
    session._entropy = SeededEntropy("heavy")
    with session:
        (row,) = session.ask("SELECT AVG(amount) AS mean, MEDIAN(amount) AS middle FROM data", spend=20).rows
    assert row["mean"] == pytest.approx(table["amount"].mean(), rel=0.1)
    assert row["middle"] == pytest.approx(table["amount"].median(), rel=0.05)


# ---- variances, histograms and running shares: both ends are found


def measured(folder: Path, delta: float, rows: int = 12_000, unit: Any = None) -> tuple[pd.DataFrame, sf.Session]:
    rng = np.random.default_rng(23)
    table = pd.DataFrame(
        {
            "user_id": np.arange(rows) // 2,
            "height": rng.normal(170, 10, rows),
            "income": np.where(rng.random(rows) < 0.2, 0.0, rng.lognormal(10, 0.8, rows)),
            "age": rng.integers(17, 91, rows),
            "sex": rng.choice(["f", "m"], rows),
        }
    )
    session = sf.protect(
        table,
        unit=unit or sf.Row(),
        columns={
            "height": sf.Float(private_bounds=0.33),
            "income": sf.Float(private_bounds=0.33),
            "age": sf.Int(private_bounds=0.33),
            "sex": sf.Category(["f", "m", "x"]),
        },
        budget=sf.Budget(epsilon=100, delta=delta),
        ledger=folder / "measured.ledger",
    )
    session._entropy = SeededEntropy("ends")
    return table, session


@pytest.mark.parametrize("delta", [0, 1e-6])
@pytest.mark.parametrize("unit", [None, sf.Person("user_id", max_rows=2, max_groups=2)], ids=["row", "person"])
def test_variances_without_bounds_are_near_the_truth_and_their_bars_hold_it(
    delta: float, unit: Any, tmp_path: Path
) -> None:
    table, session = measured(tmp_path, delta, unit=unit)
    with session:
        answer = session.ask("SELECT STDDEV_POP(height) AS h, VAR_POP(age) AS a FROM data", spend=8)
        (row,), (bars,) = answer.rows, answer.interval()
        for name, truth in (("h", table["height"].std(ddof=0)), ("a", table["age"].var(ddof=0))):
            assert row[name] == pytest.approx(truth, rel=0.1)
            assert bars[name][0] <= truth <= bars[name][1]
        assert sum("were found privately" in note for note in answer.notes) == 2
        assert session.ask("SELECT STDDEV_POP(height) AS h, VAR_POP(age) AS a FROM data", spend=8).cached


@pytest.mark.parametrize("delta", [0, 1e-6])
def test_histograms_without_bounds_have_round_bins_and_counts_near_the_truth(delta: float, tmp_path: Path) -> None:
    table, session = measured(tmp_path, delta)
    with session:
        answer = session.ask("SELECT HISTOGRAM(height, 8) AS h, CDF(age, 6) AS c FROM data", spend=8)
        (row,), (bars,) = answer.rows, answer.interval(0.999999)
    assert len(row["h"]) == 8
    assert sum(part["count"] for part in row["h"]) == pytest.approx(len(table), rel=0.02)
    for part, (low, high) in zip(row["h"], bars["h"], strict=True):
        truth = table["height"].between(part["low"], part["high"], inclusive="left").sum()
        near = (
            table["height"].sub(part["low"]).abs().lt(0.2).sum() + table["height"].sub(part["high"]).abs().lt(0.2).sum()
        )
        assert low - near <= truth <= high + near  # a cell is 0.1 wide here
    for part, (low, high) in zip(row["c"], bars["c"], strict=True):
        assert low <= (table["age"] <= part["at"]).mean() <= high
    assert "in no bin" in " ".join(answer.notes)


def test_a_group_without_rows_has_no_bins_and_every_form_says_so(tmp_path: Path) -> None:
    _, session = measured(tmp_path, 0)
    with session:
        question = "SELECT sex, HISTOGRAM(age, 4) AS h, STDDEV(income) AS s FROM data GROUP BY sex"
        answer = session.ask(question, spend=20)
        (again,) = session.recall(answer.receipt)
    assert [bool(row["h"]) for row in answer.rows] == [True, True, False]
    assert [row["s"] is None for row in answer.rows] == [False, False, True]
    assert again.rows == answer.rows
    assert "–" in _rendered(answer, 0.95, Format.table, "")
    lines = _rendered(answer, 0.95, Format.csv, "").splitlines()
    assert len(lines) == 1 + 2 * 4 + 1
    assert lines[-1].strip(",") == "x"
    figure = answer.plot("h")
    assert figure.data
    assert "no bounds were found" in " ".join(answer.notes)


def test_explaining_tells_what_finding_ends_takes(tmp_path: Path) -> None:
    _, session = measured(tmp_path, 1e-6)
    with session:
        told = str(
            session.explain(
                "SELECT CDF(age, 5) AS c, VARIANCE(income) AS v, HISTOGRAM(height, 3) AS h FROM data", spend=1
            )
        )
    for words in (
        "running totals of 5 bins between bounds",
        "count, sum and squares between",
        "3 bins between",
        "33 %",
    ):
        assert words in told


def test_too_many_groups_times_bins_are_refused(tmp_path: Path) -> None:
    _, session = measured(tmp_path, 0)
    with session, pytest.raises(Refused, match="allowed"):
        session.ask("SELECT sex, age % 100 AS a, HISTOGRAM(income, 1000) AS h FROM data GROUP BY sex, a", spend=1)
