"""Quantiles, modes, histograms, running shares, different values, discovered keys and batches, end to end."""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy.stats import binom

import sfumato as sf
from sfumato import accounting
from sfumato.errors import BudgetExceeded, Refused, UsageError
from sfumato.kernel.entropy import SystemEntropy
from sfumato.kernel.mechanisms.keys import KeySelection
from sfumato.plan.counting import weights

COLUMNS: dict[str, Any] = {
    "age": sf.Int(0, 99),
    "income": sf.Float(0, 1000),
    "town": sf.Text(),
    "sex": sf.Category(["f", "m"]),
    "member": sf.Category([True, False]),
}
PURE, ZCDP = sf.Budget(epsilon=10**9), sf.Budget(epsilon=10**9, delta=1e-4)
RICH = 10**6


def people(count: int = 4000) -> pa.Table:
    place = np.arange(count)
    return pa.table(
        {
            "who": place // 2,
            "age": place % 100,
            "income": (place * 7919 % 100_003) / 100.003,
            "town": np.where(place % 10 < 7, "Ulm", np.where(place % 10 < 9, "Bonn", "Köln")),
            "sex": np.where(place % 3 == 0, "f", "m"),
            "member": place % 4 == 0,
        }
    )


def session(place: Path, budget: sf.Budget = PURE, unit: Any = None, table: pa.Table | None = None) -> sf.Session:
    return sf.protect(
        people() if table is None else table,
        table="people",
        unit=unit or sf.Row(),
        columns=COLUMNS,
        budget=budget,
        ledger=place / "people.ledger",
    )


BUDGETS = pytest.mark.parametrize("budget", [PURE, ZCDP], ids=["epsilon", "rho"])
UNITS = pytest.mark.parametrize("unit", [sf.Row(), sf.Person("who", 2, 2)], ids=["row", "person"])


@BUDGETS
@UNITS
def test_with_much_spent_answers_are_the_truth(tmp_path: Path, budget: sf.Budget, unit: Any) -> None:
    table = people()
    with session(tmp_path, budget, unit) as asked:
        (row,) = asked.ask(
            "SELECT MEDIAN(age) AS m, QUANTILE(income, 0.1) AS low, QUANTILE(income, 0.9) AS high, MIN(age) AS first, "
            "MAX(age) AS last, MODE(sex) AS sex, MODE(member) AS member, COUNT(DISTINCT age) AS ages, "
            "HISTOGRAM(age, 4) AS h, CDF(income, 5) AS c FROM people",
            spend=RICH,
        ).rows
    incomes = np.sort(np.asarray(table["income"]))
    assert abs(row["m"] - 49.5) <= 1
    assert row["low"] == pytest.approx(np.quantile(incomes, 0.1), abs=1)
    assert row["high"] == pytest.approx(np.quantile(incomes, 0.9), abs=1)
    assert (row["first"], row["last"], row["sex"], row["member"], row["ages"]) == (0, 99, "m", False, 100)
    assert row["h"] == [{"low": 25 * i, "high": 25 * i + 24, "count": 1000} for i in range(4)]
    assert [point["at"] for point in row["c"]] == [200.0, 400.0, 600.0, 800.0, 1000.0]
    assert [point["share"] for point in row["c"]] == pytest.approx([0.2, 0.4, 0.6, 0.8, 1.0], abs=0.001)


@BUDGETS
def test_they_work_in_groups_and_are_free_when_asked_again(tmp_path: Path, budget: sf.Budget) -> None:
    question = "SELECT sex, MEDIAN(age) AS m, MODE(member) AS mode, HISTOGRAM(income, 3) AS h FROM people GROUP BY sex"
    with session(tmp_path, budget) as asked:
        first = asked.ask(question, spend=10)
        again = asked.ask(question, spend=10)
        assert again.cached
        assert json.dumps([again.rows, again.interval()]) == json.dumps([first.rows, first.interval()])
        assert [row["sex"] for row in first.rows] == ["f", "m"]
        assert (
            asked.ask("SELECT sex, MEDIAN(age) AS m FROM people GROUP BY sex HAVING MEDIAN(age) > 1000", spend=1).rows
            == []
        )
    # Reopened, the ledger still knows it.
    with session(tmp_path, budget) as later:
        assert later.ask(question, spend=10).rows == first.rows


@BUDGETS
def test_intervals_hold_the_value_and_a_mode_has_none(tmp_path: Path, budget: sf.Budget) -> None:
    with session(tmp_path, budget) as asked:
        answer = asked.ask(
            "SELECT MEDIAN(age) AS m, MIN(age) AS a, MAX(age) AS z, MODE(sex) AS s, CDF(age, 4) AS c FROM people",
            spend=3,
        )
        (row,), (bars,) = answer.rows, answer.interval()
        for name in ("m", "a", "z"):
            assert bars[name][0] <= row[name] <= bars[name][1]
        assert bars["s"] is None
        assert bars["a"][0] == 0, "nothing can be said about how small the smallest value is"
        assert bars["z"][1] == 99
        assert all(low <= point["share"] <= high for point, (low, high) in zip(row["c"], bars["c"], strict=True))
        surer = answer.interval(0.9999)[0]["m"]
        assert surer[0] <= bars["m"][0] <= bars["m"][1] <= surer[1]


def test_several_levels_are_one_release(tmp_path: Path) -> None:
    deciles = ", ".join(f"QUANTILE(income, 0.{i})" for i in range(1, 10))
    with session(tmp_path) as asked:
        answer = asked.ask(f"SELECT {deciles} FROM people", spend=1)
        assert list(answer.rows[0]) == [f"q{10 * i}_income" for i in range(1, 10)]
        assert list(answer.rows[0].values()) == sorted(answer.rows[0].values())
        (charge,) = asked.history()
        assert [event["mechanism"] for event in charge.releases] == ["rank_choice"]


@pytest.mark.parametrize(
    ("question", "reason"),
    [
        ("SELECT MEDIAN(town) FROM people", "text"),
        ("SELECT QUANTILE(age, 1.5) FROM people", "quantile"),
        ("SELECT QUANTILE(age, 0.00001) FROM people", "quantile"),
        ("SELECT QUANTILE(age, 'x') FROM people", "quantile"),
        ("SELECT HISTOGRAM(age, 0) FROM people", "HISTOGRAM"),
        ("SELECT HISTOGRAM(age, 2.5) FROM people", "HISTOGRAM"),
        ("SELECT HISTOGRAM(age, 100000) FROM people", "HISTOGRAM"),
        ("SELECT CDF(age) FROM people", "CDF"),
        ("SELECT MODE(income) FROM people", "public list of values"),
        ("SELECT MODE(town) FROM people", "public list of values"),
        ("SELECT MODE(income + 1) FROM people", "public list"),
        ("SELECT MAX(age, 3) FROM people", "not supported"),
        ("SELECT COUNT(DISTINCT age, sex) FROM people", "one expression"),
        ("SELECT COUNT(DISTINCT who) FROM people", "who"),
        ("SELECT HISTOGRAM(age, 4) AS h FROM people ORDER BY h", "list"),
        ("SELECT sex, HISTOGRAM(age, 4) AS h FROM people GROUP BY sex HAVING h > 3", "list"),
        ("SELECT MODE(sex) AS s FROM people HAVING s > 3", "text"),
        ("SELECT MEDIAN(3) FROM people", "the same"),
        ("SELECT age, HISTOGRAM(income, 1000), COUNT(*) FROM people GROUP BY age, sex", "groups|allowed"),
        ("SELECT age, MODE(age) FROM people GROUP BY age, sex, member", None),
    ],
)
def test_what_does_not_work_is_refused_and_free(tmp_path: Path, question: str, reason: str | None) -> None:
    with session(tmp_path) as asked:
        if reason is None:
            assert len(asked.ask(question, spend=1).rows) == 400
            return
        with pytest.raises(Refused, match=reason):
            asked.ask(question, spend=1)
        assert asked.history() == []


# ---- discovered keys


def test_keys_are_discovered_when_enough_units_hold_them(tmp_path: Path) -> None:
    question = "SELECT town, sex, COUNT(*) AS n, MEDIAN(age) AS m FROM people GROUP BY town, sex"
    with session(tmp_path, ZCDP, sf.Person("who", 2, 2)) as asked:
        answer = asked.ask(question, spend=100)
        assert [(row["town"], row["sex"]) for row in answer.rows] == [
            (town, sex) for town in ("Bonn", "Köln", "Ulm") for sex in "fm"
        ]
        assert sum(row["n"] for row in answer.rows) == pytest.approx(4000, abs=20)
        assert answer.cost.delta == pytest.approx(1e-4 / 2 * 1.02)
        assert asked.ask(question, spend=100).rows == answer.rows
        assert asked.budget.left_for_keys == pytest.approx(1e-4 / 2 * 0.98)
        (charge,) = asked.history()
        assert charge.releases[0]["mechanism"] == "key_threshold"
    with session(tmp_path, ZCDP, sf.Person("who", 2, 2)) as later:
        assert later.ask(question, spend=100).rows == answer.rows


def test_a_table_with_no_key_to_show_answers_with_no_rows(tmp_path: Path) -> None:
    table = people(3)
    with session(tmp_path, ZCDP, table=table) as asked:
        answer = asked.ask(
            "SELECT town, COUNT(*), HISTOGRAM(age, 3), MEDIAN(age) FROM people GROUP BY town", spend=0.01
        )
        assert answer.rows == answer.interval() == []
        assert any("Groups are discovered: one of " in note for note in answer.notes)


def test_without_delta_keys_are_not_discovered(tmp_path: Path) -> None:
    with session(tmp_path, PURE) as asked, pytest.raises(Refused, match="delta > 0"):
        asked.ask("SELECT town, COUNT(*) FROM people GROUP BY town", spend=1)


def test_the_delta_of_a_question_is_the_analysts_choice_within_the_pot(tmp_path: Path) -> None:
    question = "SELECT town, COUNT(*) FROM people GROUP BY town"
    with session(tmp_path, ZCDP) as asked:
        asked.ask(question, spend=sf.Spend(1, delta=4e-5))
        with pytest.raises(BudgetExceeded, match=r"4e-05; 1e-05 is left"):
            asked.ask(question, spend=sf.Spend(1, delta=4e-5), fresh=True)
        assert len(asked.history()) == 1
        asked.ask(question, spend=sf.Spend(1, delta=1e-5))
        with pytest.raises(BudgetExceeded):
            asked.ask(question, spend=sf.Spend(1, delta=1e-12))
        with pytest.raises(UsageError, match="no delta"):
            asked.ask("SELECT COUNT(*) FROM people", spend=sf.Spend(1, delta=1e-9))
        for bad in (0, -1, 1, 2, float("nan")):
            with pytest.raises(UsageError):
                sf.Spend(1, delta=bad)


def shown_singletons(delta: float, trials: int) -> int:
    """How often the key of a single person is shown (threat S10)."""
    selection = KeySelection(Fraction(1, 200), Fraction(str(delta)), 1)
    return int(selection.select(np.ones(trials, dtype=np.int64), SystemEntropy())[1].sum())


def test_s10_the_key_of_one_person_is_shown_no_more_often_than_delta() -> None:
    assert shown_singletons(1e-3, 100_000) <= binom.ppf(1 - 1e-6, 100_000, 1e-3)


def test_s10_a_twin_that_shows_more_is_flagged() -> None:
    assert shown_singletons(4e-3, 100_000) > binom.ppf(1 - 1e-6, 100_000, 1e-3)


def any_shown(groups: int, keys: int, trials: int) -> int:
    """How often one of the keys is shown that a person holds alone, of as many groups as this threshold thinks of."""
    selection = KeySelection(Fraction(1, 50), Fraction(1, 1000), groups, weighted=True)
    mine = np.full((trials, keys), weights(20)[keys - 1], dtype=np.int64)
    return int(selection.select(mine.ravel(), SystemEntropy())[1].reshape(mine.shape).any(axis=1).sum())


@pytest.mark.parametrize("keys", [1, 3, 20])
def test_s10_all_keys_that_one_person_alone_holds_are_shown_no_more_often_than_delta(keys: int) -> None:
    assert any_shown(20, keys, 100_000) <= binom.ppf(1 - 1e-6, 100_000, 1e-3)


def test_s10_a_twin_that_thinks_of_one_key_is_flagged() -> None:
    assert any_shown(1, 20, 100_000) > binom.ppf(1 - 1e-6, 100_000, 1e-3)


def test_s10_through_a_session(tmp_path: Path) -> None:
    """A key that one person holds stays hidden."""
    place = np.arange(2000)
    table = people(2000).set_column(3, "town", pa.array(np.where(place < 1, "secret", "Ulm")))
    for unit, name in ((sf.Row(), "row"), (sf.Person("who", 2, 2), "person")):
        (tmp_path / name).mkdir()
        with session(tmp_path / name, ZCDP, unit, table) as asked:
            answer = asked.ask("SELECT town, COUNT(*) FROM people GROUP BY town", spend=1)
            assert [row["town"] for row in answer.rows] == ["Ulm"]


@pytest.mark.parametrize("bins", [1, 5, 10, 13, 74, 200])
def test_bins_of_whole_numbers_end_at_the_declared_bound(tmp_path: Path, bins: int) -> None:
    """All cells are equally wide, so the last may reach beyond it; values out there are counted in it."""
    ages = pd.DataFrame({"age": [17, 40, 89, 90, 91, 95, 500] * 10})
    columns, budget = {"age": sf.Int(17, 90)}, sf.Budget(epsilon=2000)
    with sf.protect(
        ages, unit=sf.Row(), columns=columns, budget=budget, ledger=tmp_path / "l", table="people"
    ) as asked:
        answer = asked.ask(f"SELECT HISTOGRAM(age, {bins}) AS h, CDF(age, {bins}) AS c FROM people", spend=1000)
        parts, points = answer.rows[0]["h"], answer.rows[0]["c"]
        assert (parts[0]["low"], parts[-1]["high"], points[-1]["at"]) == (17, 90, 90)
        assert len({part["high"] - part["low"] for part in parts[:-1]}) <= 1
        for part in parts:
            assert part["count"] == int(ages.age.clip(17, 90).between(part["low"], part["high"]).sum())
        assert [point["at"] for point in points] == [part["high"] for part in parts]
        assert points[-1]["share"] == pytest.approx(1)
        assert "h, c: a value of age below 17 counts as 17, one above 90 as 90" in answer.notes[0]


# ---- several questions, one charge


def test_a_batch_is_one_charge_and_free_when_asked_again(tmp_path: Path) -> None:
    questions = ["SELECT COUNT(*) AS n FROM people", "SELECT town, MEDIAN(age) FROM people GROUP BY town"] * 2
    with session(tmp_path, ZCDP) as asked:
        answers = asked.ask_all(questions, spend=4)
        (charge,) = asked.history()
        assert charge.spend == 4
        assert len(charge.releases) == 1 + 2
        assert [answer.rows for answer in answers[2:]] == [answer.rows for answer in answers[:2]]
        again = asked.ask_all(questions, spend=4)
        assert [answer.rows for answer in again] == [answer.rows for answer in answers]
        assert all(answer.cached for answer in again)
        assert len(asked.history()) == 1
        assert asked.ask_all(questions[:1], spend=4)[0].rows == asked.ask(questions[0], spend=4).rows
    with session(tmp_path, ZCDP) as later:
        assert [answer.rows for answer in later.ask_all(questions, spend=4)] == [answer.rows for answer in answers]


@BUDGETS
def test_what_is_asked_twice_is_measured_once(tmp_path: Path, budget: sf.Budget) -> None:
    """Also under another name or in another order: only then can both answers have the whole of their share."""
    count, other = "SELECT COUNT(*) AS n FROM people", "SELECT SUM(age) AS s FROM people"
    with session(tmp_path, budget) as asked:
        one, renamed, again = asked.ask_all([count, "SELECT COUNT(*) AS m FROM people LIMIT 1", count], spend=0.5)
        assert one.rows[0]["n"] == renamed.rows[0]["m"] == again.rows[0]["n"]
        alone = asked.ask(count, spend=0.5)
        assert (alone.cached, alone.rows, alone.interval()) == (True, one.rows, one.interval())
        thrice, both = asked.ask_all([other, count, count], spend=0.25), asked.ask_all([other, count], spend=0.25)
        assert [answer.rows for answer in thrice[:2]] == [answer.rows for answer in both]
        assert all(answer.cached for answer in both)
        assert [charge.spend for charge in asked.history()] == [0.5, 0.25]


@BUDGETS
def test_a_batch_costs_what_one_question_costs(tmp_path: Path, budget: sf.Budget) -> None:
    with session(tmp_path, budget) as asked:
        asked.ask_all(["SELECT COUNT(*) FROM people", "SELECT SUM(age) FROM people"], spend=1)
        assert asked.budget.spent.epsilon == pytest.approx(1, abs=1e-9)


def test_a_batch_is_paid_for_as_a_whole_or_not_at_all(tmp_path: Path) -> None:
    with session(tmp_path, sf.Budget(epsilon=1)) as asked:
        with pytest.raises(BudgetExceeded):
            asked.ask_all(["SELECT COUNT(*) FROM people"] * 3, spend=2)
        with pytest.raises(Refused):
            asked.ask_all(["SELECT COUNT(*) FROM people", "SELECT nonsense(age) FROM people"], spend=1)
        for bad in ([], "SELECT COUNT(*) FROM people"):
            with pytest.raises(UsageError, match="list"):
                asked.ask_all(bad, spend=1)
        assert asked.history() == []
        assert len(asked.ask_all(["SELECT COUNT(*) FROM people"] * 3, spend=1)) == 3


# ---- keys of other kinds, and keys alone


def years(tmp_path: Path, unit: Any, budget: sf.Budget = ZCDP) -> sf.Session:
    place = np.arange(3000)
    table = pd.DataFrame(
        {
            "who": place,
            "year": np.where(place < 1, 2050, 1984 + place % 3),
            "day": pd.to_datetime(np.where(place % 2, "2024-02-29", "1999-12-31")),
        }
    )
    columns = {"year": sf.Int(), "day": sf.Date()}
    return sf.protect(
        table, table="people", unit=unit, columns=columns, budget=budget, ledger=tmp_path / "years.ledger"
    )


@pytest.mark.parametrize("unit", [sf.Row(), sf.Person("who", 2, 2)], ids=["row", "person"])
def test_whole_numbers_and_days_are_discovered(tmp_path: Path, unit: Any) -> None:
    with years(tmp_path, unit) as asked:
        by_year = asked.ask("SELECT year, COUNT(*) AS n FROM people GROUP BY year ORDER BY year DESC", spend=20)
        assert [row["year"] for row in by_year.rows] == [1986, 1985, 1984]
        by_day = asked.ask("SELECT day, COUNT(*) AS n FROM people GROUP BY day", spend=20)
        assert [row["day"] for row in by_day.rows] == ["1999-12-31", "2024-02-29"]
        later = asked.ask("SELECT year, COUNT(*) AS n FROM people GROUP BY year HAVING year > 1984", spend=20)
        assert [row["year"] for row in later.rows] == [1985, 1986]
        (recalled,) = asked.recall(by_year.receipt)
        assert recalled.rows == by_year.rows


@pytest.mark.parametrize("unit", [sf.Row(), sf.Person("who", 2, 2)], ids=["row", "person"])
def test_keys_alone_are_found_by_how_many_hold_them(tmp_path: Path, unit: Any) -> None:
    with years(tmp_path, unit) as asked:
        told = asked.explain("SELECT year FROM people GROUP BY year", spend=2)
        assert "discovered" in told.keys
        answer = asked.ask("SELECT year FROM people GROUP BY year", spend=2)
        assert answer.rows == [{"year": 1984}, {"year": 1985}, {"year": 1986}]
        assert answer.measured == []
        with pytest.raises(UsageError, match="keys alone"):
            answer.plot()
        for column in (None, "year"):
            with pytest.raises(UsageError, match="keys alone"):
                asked.spend_for("SELECT year FROM people GROUP BY year", error=10, column=column)
        assert "1984" in str(answer)
        assert answer.to_dict()["rows"] == answer.rows
        (charge,) = asked.history()
        assert [event["mechanism"] for event in charge.releases] == ["key_threshold"]


ALONE = "SELECT year FROM people GROUP BY year"
OF_PEOPLE = "SELECT year, COUNT(DISTINCT who) AS n FROM people GROUP BY year"


@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("asked_first", [ALONE, OF_PEOPLE])
def test_keys_alone_and_a_count_of_people_are_two_questions(tmp_path: Path, groups: int, asked_first: str) -> None:
    """With one plan for both, whoever recalled the second would see the first."""
    second = OF_PEOPLE if asked_first == ALONE else ALONE
    with years(tmp_path, sf.Person("who", 2, groups)) as asked:
        answers = [asked.ask(question, spend=5) for question in (asked_first, second)]
        assert [answer.cached for answer in answers] == [False, False]
        for answer in answers:
            (recalled,) = asked.recall(answer.receipt)
            assert recalled.rows == answer.rows
            assert recalled.columns == answer.columns
            assert recalled.notes == answer.notes
            again = asked.ask(answer.question, spend=5)
            assert (again.cached, again.rows) == (True, answer.rows)
        first, then = asked.ask_all([asked_first, second], spend=9)
        assert {key for row in first.rows for key in row} == set(first.columns) != set(then.columns)


def test_what_a_ledger_keeps_of_weights_is_verified_read_and_accounted(tmp_path: Path) -> None:
    with years(tmp_path, sf.Person("who", 2, 2)) as asked:
        answers = [asked.ask(question, spend=5) for question in (ALONE, OF_PEOPLE.replace("DISTINCT who", "*"))]
        charges = asked.history()
        assert [len(charge.releases) for charge in charges] == [1, 2]
        assert all(charge.releases[0]["weight"] == "65536" for charge in charges)
        for charge, answer in zip(charges, answers, strict=True):
            assert float(accounting.epsilon(charge.releases, delta=answer.cost.delta)) == pytest.approx(5)
        verified = asked._ledger.verify()
    with years(tmp_path, sf.Person("who", 2, 2)) as later:
        assert later._ledger.verify() == verified
        assert [later.recall(answer.receipt)[0].rows for answer in answers] == [answer.rows for answer in answers]  # type: ignore[union-attr]


def test_all_of_the_spend_finds_keys_alone_and_weights_are_said_in_people(tmp_path: Path) -> None:
    beside = "SELECT year, COUNT(*) AS n FROM people GROUP BY year"
    with years(tmp_path, sf.Person("who", 2, 2)) as asked:
        told = asked.explain(ALONE, spend=0.5)
        (step,) = told.steps
        assert (step.share, step.sensitivity, step.event["weight"]) == (1.0, 1, "65536")
        part, counted = asked.explain(beside, spend=0.5).steps
        assert part.deviation == pytest.approx(2 * (step.deviation or 0))
        assert (part.share, counted.share) == (0.25, 0.75)
        assert "which groups are shown: 25 % of the spend" in str(asked.explain(beside, spend=0.5))
        selection = KeySelection(Fraction(step.event["rho"]), Fraction(step.event["delta"]), 2, weighted=True)
        few, many = (selection.units_for(Fraction(1, 2), held) for held in (1, 2))
        assert few < many
        assert f"one of {few:,} people who are in no other group is shown half of the time" in told.notes[-1]
        assert f"one of {many:,} who are each in 2 or more" in told.notes[-1]
        assert f"a key of {few:,} people who hold no other" in told.keys
    (tmp_path / "rows").mkdir()
    with years(tmp_path / "rows", sf.Row()) as asked:
        assert "weight" not in asked.explain(ALONE, spend=0.5).steps[0].event
        assert "units is shown half of the time" in asked.explain(ALONE, spend=0.5).notes[-1]


def test_declared_keys_alone_are_refused_and_so_are_all_without_delta(tmp_path: Path) -> None:
    with session(tmp_path, ZCDP) as asked, pytest.raises(Refused, match="without an aggregate"):
        asked.ask("SELECT sex FROM people GROUP BY sex", spend=1)
    with years(tmp_path, sf.Row(), PURE) as asked, pytest.raises(Refused, match="delta > 0"):
        asked.ask("SELECT year, COUNT(*) FROM people GROUP BY year", spend=1)


def test_a_count_that_selects_has_a_bar_that_knows_it(tmp_path: Path) -> None:
    with years(tmp_path, sf.Person("who", 2, 2)) as asked:
        answer = asked.ask("SELECT year, COUNT(DISTINCT who) AS n FROM people GROUP BY year", spend=1)
        sure = answer.interval(1 - 1e-8)  # one of three bars at 95 % misses in one run of seven
        assert all(low <= 1000 <= high for row in sure for low, high in row.values())
        told = asked.explain("SELECT year, COUNT(DISTINCT who) AS n FROM people GROUP BY year", spend=1)
        assert told.expected_error["n"] is None, "near the threshold it is wider, on one side"
        with pytest.raises(Refused, match="depends"):
            asked.spend_for("SELECT year, COUNT(DISTINCT who) AS n FROM people GROUP BY year", error=10)
        assert [step.event["mechanism"] for step in told.steps] == ["key_threshold"]
