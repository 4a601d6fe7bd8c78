"""A question end to end: what it answers, what it costs, and when it is free."""

import json
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet
import pytest

import sfumato as sf
from sfumato.errors import BudgetExceeded, DataUnreadable, Refused, RequestConflict, UsageError

Open = Callable[..., sf.Session]
COUNT = "SELECT COUNT(*) AS n FROM people"
BY_SEX = "SELECT sex, COUNT(*) AS n, SUM(income) AS total, AVG(income) AS income FROM people GROUP BY sex"
GENEROUS = {"budget": sf.Budget(epsilon=10**9)}


def answers(answer: sf.Answer) -> str:
    return json.dumps([answer.rows, answer.interval(0.9)])


# ---- values


def test_answers_are_near_the_truth_when_much_is_spent(open_crowd: Open, crowd: pa.Table) -> None:
    answer = open_crowd(**GENEROUS).ask(BY_SEX, spend=10**6)
    assert answer.columns == ("sex", "n", "total", "income")
    assert [row["sex"] for row in answer.rows] == ["f", "m"]
    for row in answer.rows:
        incomes = crowd.filter(pc.equal(crowd["sex"], row["sex"]))["income"].to_pylist()
        assert row["n"] == len(incomes)
        assert row["total"] == pytest.approx(sum(incomes), abs=60)
        assert row["income"] == pytest.approx(sum(incomes) / len(incomes), abs=0.5)


def test_gaussian_noise_is_near_the_truth_too(open_crowd: Open) -> None:
    session = open_crowd(budget=sf.Budget(epsilon=10**6, delta=1e-6))
    answer = session.ask("SELECT COUNT(*) AS n, AVG(age) AS age FROM people WHERE age BETWEEN 20 AND 29", spend=10**5)
    assert answer.rows == [{"n": 120, "age": pytest.approx(24.5, abs=0.05)}]
    assert session.history()[0].releases[0]["mechanism"] == "discrete_gaussian"


def test_a_row_is_a_unit_of_its_own(open_crowd: Open) -> None:
    session = open_crowd(unit=sf.Row(), **GENEROUS)
    answer = session.ask("SELECT COUNT(*) AS n, COUNT(city) AS cities FROM people", spend=10**6)
    assert answer.rows == [{"n": 800, "cities": 800}]
    assert answer.unit == "row"


def test_the_answer_says_who_is_protected(open_crowd: Open) -> None:
    assert open_crowd().ask(COUNT, spend=0.5).unit == "person (user_id: at most 2 rows in 2 groups)"


def test_every_declared_key_gets_a_row(open_crowd: Open, crowd: pa.Table) -> None:
    columns = {"sex": sf.Category(["m", "x", "f"]), "age": sf.Int(1, 5)}
    session = open_crowd(columns=columns, **GENEROUS)
    assert session.ask("SELECT sex, COUNT(*) AS n FROM people GROUP BY sex", spend=10**6).rows == [
        {"sex": "f", "n": 532},
        {"sex": "m", "n": 268},
        {"sex": "x", "n": 0},
    ]
    ages = session.ask("SELECT age, COUNT(*) AS n FROM people GROUP BY age", spend=10**6).rows
    assert ages == [{"age": age, "n": 0} for age in range(1, 6)]


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow"])
def test_tables_of_every_kind_are_read(open_crowd: Open, crowd: pa.Table, kind: str) -> None:
    if kind == "pandas":
        table = crowd.to_pandas()
    elif kind == "polars":
        table = pytest.importorskip("polars").from_arrow(crowd)
    else:
        table = crowd
    assert open_crowd(table, **GENEROUS).ask(COUNT, spend=10**6).rows == [{"n": 800}]


def test_the_table_of_a_frame_is_called_data(open_crowd: Open) -> None:
    session = open_crowd(table=None, **GENEROUS)
    assert session.ask("SELECT COUNT(*) AS n FROM data", spend=10**6).rows == [{"n": 800}]


def test_a_file_gives_its_table_a_name_and_its_ledger_a_place(crowd: pa.Table, tmp_path: Path) -> None:
    pyarrow.parquet.write_table(crowd, tmp_path / "town.parquet")
    with sf.protect(
        str(tmp_path / "town.parquet"), unit=sf.Row(), columns={"age": sf.Int(17, 90)}, budget=sf.Budget(10**9)
    ) as session:
        assert session.ask("SELECT COUNT(*) AS n FROM town", spend=10**6).rows == [{"n": 800}]
    assert (tmp_path / "town.ledger").exists()
    assert (tmp_path / "town.ledger.anchor").exists()


# ---- free answers


def test_the_same_question_again_is_free_and_identical(open_crowd: Open) -> None:
    session = open_crowd()
    first, again = session.ask(BY_SEX, spend=0.5), session.ask(BY_SEX, spend=0.5)
    assert answers(first) == answers(again)
    assert (first.cached, again.cached) == (False, True)
    assert (first.receipt, first.spent, first.left) == (again.receipt, again.spent, again.left)
    assert len(session.history()) == 1


def test_an_answer_survives_the_session(open_crowd: Open) -> None:
    first = open_crowd().ask(BY_SEX, spend=0.5)
    again = open_crowd().ask(BY_SEX, spend=0.5)
    assert again.cached
    assert answers(first) == answers(again)
    assert again.when == first.when


@pytest.mark.parametrize(
    "reworded",
    [
        "select count(*) as n, avg(income) as i from people where age >= 30 and sex = 'f'",
        "SELECT COUNT(*) AS many, AVG(income) FROM people WHERE age >= 30 AND sex = 'f'",
        "SELECT  COUNT( * ) n ,\n AVG(p.income) AS i FROM PEOPLE AS p WHERE (p.Age >= 30.0) AND p.sex = 'f' -- please",
        """SELECT COUNT(*) AS n, AVG("income") AS i FROM people WHERE ((age) >= 30 AND (sex = 'f'))""",
    ],
)
def test_a_reworded_question_is_free(open_crowd: Open, reworded: str) -> None:
    session = open_crowd()
    first = session.ask("SELECT COUNT(*) AS n, AVG(income) AS i FROM people WHERE age >= 30 AND sex = 'f'", spend=0.5)
    again = session.ask(reworded, spend=0.5)
    assert again.cached
    assert [list(row.values()) for row in again.rows] == [list(row.values()) for row in first.rows]
    assert len(session.history()) == 1


@pytest.mark.parametrize("spend", [0.25, 0.500001])
def test_another_spend_pays(open_crowd: Open, spend: float) -> None:
    session = open_crowd()
    session.ask(COUNT, spend=0.5)
    assert not session.ask(COUNT, spend=spend).cached
    assert len(session.history()) == 2


def test_the_same_spend_in_another_form_is_free(open_crowd: Open) -> None:
    session = open_crowd()
    session.ask(COUNT, spend=0.5)
    for spend in (Decimal("0.500"), Fraction(1, 2)):
        assert session.ask(COUNT, spend=spend).cached


def test_another_analyst_pays(open_crowd: Open) -> None:
    first = open_crowd(analyst="research").ask(COUNT, spend=0.5)
    other = open_crowd(analyst="press")
    answer = other.ask(COUNT, spend=0.5)
    assert not answer.cached
    assert answer.receipt != first.receipt
    assert [charge.analyst for charge in other._ledger.history()] == ["research", "press"]
    assert [charge.analyst for charge in other.history()] == ["press"], "others' questions are not shown"
    assert other.budget.spent.epsilon == 1


def test_a_fresh_answer_pays_and_differs(open_crowd: Open) -> None:
    session = open_crowd()
    seen = {session.ask("SELECT SUM(income) AS s FROM people", spend=0.5, fresh=True).rows[0]["s"] for _ in range(6)}
    assert len(seen) == 6
    assert session.budget.left.epsilon == 0


def test_a_request_id_pays_once(open_crowd: Open) -> None:
    session = open_crowd()
    first = session.ask(COUNT, spend=0.5, request="id-17", fresh=True)
    again = session.ask(COUNT, spend=0.5, request="id-17", fresh=True)
    assert answers(first) == answers(again)
    with pytest.raises(RequestConflict):
        session.ask(BY_SEX, spend=0.5, request="id-17")
    assert [charge.request for charge in session.history()] == ["id-17"]


def test_changed_data_pays_again(open_crowd: Open, crowd: pa.Table, tmp_path: Path) -> None:
    path = tmp_path / "people.parquet"
    pyarrow.parquet.write_table(crowd, path)
    session = open_crowd(path, **GENEROUS)
    assert session.ask(COUNT, spend=10**6).rows == [{"n": 800}]
    pyarrow.parquet.write_table(crowd.slice(0, 500), path)
    changed = session.ask(COUNT, spend=10**6)
    assert not changed.cached
    assert changed.rows == [{"n": 500}]
    assert session.ask(COUNT, spend=10**6).cached
    assert len(session.history()) == 2


def test_a_changed_csv_pays_again_after_opening_it_anew(open_crowd: Open, crowd: pa.Table, tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    pyarrow.csv.write_csv(crowd, path)
    session = open_crowd(path, **GENEROUS)
    assert session.ask(COUNT, spend=10**6).rows == [{"n": 800}]
    pyarrow.csv.write_csv(crowd.slice(0, 500), path)
    assert session.ask(COUNT, spend=10**6).cached
    anew = open_crowd(path, **GENEROUS).ask(COUNT, spend=10**6)
    assert (anew.cached, anew.rows) == (False, [{"n": 500}])


def test_a_changed_frame_pays_again_and_an_equal_one_does_not(open_crowd: Open, crowd: pa.Table) -> None:
    open_crowd().ask(COUNT, spend=0.5)
    assert open_crowd(crowd.to_pandas()).ask(COUNT, spend=0.5).cached
    assert not open_crowd(crowd.slice(1)).ask(COUNT, spend=0.5).cached


def test_a_frame_whose_column_is_called_like_its_table_is_recognised_by_all_columns(tmp_path: Path) -> None:
    def ask(ages: list[int]) -> sf.Answer:
        with sf.protect(
            pa.table({"data": [1, 2], "age": ages}),
            unit=sf.Row(),
            columns={"data": sf.Int(0, 9), "age": sf.Int(0, 99)},
            budget=sf.Budget(10**9),
            ledger=tmp_path / "a.ledger",
        ) as session:
            return session.ask("SELECT SUM(age) AS s FROM data", spend=10**6)

    assert ask([20, 30]).rows == [{"s": 50}]
    assert ask([20, 40]).rows == [{"s": 60}]


# ---- the budget


def test_the_budget_is_shared_and_seen_by_all(open_crowd: Open) -> None:
    research, press = open_crowd(analyst="research"), open_crowd(analyst="press")
    research.ask(COUNT, spend=2)
    press.ask(COUNT, spend=0.75)
    for session in (research, press):
        balance = session.budget
        assert (balance.limit.epsilon, balance.spent.epsilon, balance.left.epsilon) == (3, 2.75, 0.25)


def test_what_a_refusal_offers_is_granted(open_crowd: Open) -> None:
    session = open_crowd(budget=sf.Budget(epsilon=3, delta=1e-6))
    session.ask(COUNT, spend=2.5)
    with pytest.raises(BudgetExceeded) as refused:
        session.ask(BY_SEX, spend=2.5)
    said = str(refused.value)
    assert said.startswith("this question costs epsilon 2.5; the table has ")
    assert " left of 3." in said
    assert "or ask the owner to raise" in said
    offered = said.partition("spend=")[2].partition(" ")[0]
    assert 1 < float(offered) < 2.5
    assert len(session.history()) == 1
    session.ask(BY_SEX, spend=float(offered))
    assert session.budget.left.epsilon < 0.1


def test_left_is_what_is_granted(open_crowd: Open) -> None:
    session = open_crowd(budget=sf.Budget(epsilon=1, delta=1e-5))
    session.ask(COUNT, spend=0.7)
    left = session.budget.left.epsilon
    with pytest.raises(BudgetExceeded):
        session.ask(BY_SEX, spend=left + 1e-6)
    assert session.ask(BY_SEX, spend=left).left.epsilon < 0.01


@pytest.mark.parametrize("delta", [0, 1e-6])
@pytest.mark.parametrize("spend", [0.5, 0.1, 1])
def test_a_question_costs_its_spend(open_crowd: Open, delta: float, spend: float) -> None:
    session = open_crowd(budget=sf.Budget(epsilon=3, delta=delta))
    assert session.ask(COUNT, spend=spend).cost == sf.Session.explain(session, COUNT, spend=spend).cost
    assert session.ask(COUNT, spend=spend).cost.epsilon == spend
    assert session.ask(COUNT, spend=spend).cost.delta == delta / 2


# ---- nothing is charged for a mistake


@pytest.mark.parametrize(
    ("question", "spend", "error"),
    [
        (COUNT, None, UsageError),
        (COUNT, "0.5", UsageError),
        (None, 0.5, UsageError),
        (b"SELECT 1", 0.5, UsageError),
        ("", 0.5, Refused),
        ("please", 0.5, Refused),
        ("SELECT AVG(agee) AS a FROM people", 0.5, Refused),
        ("SELECT COUNT(*) AS n FROM persons", 0.5, Refused),
        ("SELECT name FROM people", 0.5, Refused),
        (COUNT, 4, BudgetExceeded),
    ],
)
def test_a_mistake_costs_nothing(open_crowd: Open, question: object, spend: object, error: type[Exception]) -> None:
    session = open_crowd()
    with pytest.raises(error):
        session.ask(question, spend=spend)
    assert session.history() == []


def test_a_missing_spend_says_what_to_write(open_crowd: Open) -> None:
    with pytest.raises(UsageError, match=r"spend is missing") as missing:
        open_crowd().ask(COUNT)
    assert "spend=0.5" in missing.value.hint


@pytest.mark.parametrize("request_id", ["", "x" * 201, 17])
def test_a_request_id_is_a_short_text(open_crowd: Open, request_id: object) -> None:
    session = open_crowd()
    with pytest.raises(UsageError, match="short text"):
        session.ask(COUNT, spend=0.5, request=request_id)
    assert session.history() == []


@pytest.mark.parametrize("analyst", ["", "x" * 201, "a\nb", None, 7])
def test_an_analyst_needs_a_name(open_crowd: Open, analyst: object) -> None:
    with pytest.raises(UsageError, match="an analyst needs a name"):
        open_crowd(analyst=analyst)


def test_a_table_in_memory_needs_a_ledger(crowd: pa.Table) -> None:
    with pytest.raises(UsageError, match="a place for its ledger"):
        sf.protect(crowd, unit=sf.Row(), columns={"age": sf.Int(17, 90)}, budget=sf.Budget(1))


def test_a_budget_is_a_budget(open_crowd: Open) -> None:
    with pytest.raises(UsageError, match="budget cannot be of type"):
        open_crowd(budget=3)


def test_a_file_that_is_not_there_starts_no_ledger(open_crowd: Open, tmp_path: Path) -> None:
    with pytest.raises(DataUnreadable, match="there is no file"):
        open_crowd(tmp_path / "missing.csv")
    assert not (tmp_path / "people.ledger").exists()


@pytest.mark.parametrize("delta", [0, 1e-6])
@pytest.mark.parametrize("spend", [1e-30, 1e-6, 0.000999, Fraction(999_999, 10**9)])
def test_a_question_for_next_to_nothing_is_refused(open_crowd: Open, spend: float | Fraction, delta: float) -> None:
    session = open_crowd(budget=sf.Budget(3, delta))
    for act in (
        lambda: session.ask(COUNT, spend=spend),
        lambda: session.ask_all([COUNT, BY_SEX], spend=spend),
        lambda: session.explain(COUNT, spend=spend),
        lambda: session.questions_left(spend),
        lambda: sf.Spend(spend, 1e-9),
    ):
        with pytest.raises(UsageError, match=r"at least 0\.001"):
            act()
    assert session.history() == []
    assert session.ask(COUNT, spend=0.001).rows
    assert session.spend_for(COUNT, error=10**6) == 0.001
