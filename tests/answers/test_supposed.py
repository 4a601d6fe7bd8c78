"""Error bars of averages and quantiles before they are paid, for a group of about so many rows."""

import json
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.answers.rounding import bar, margin
from sfumato.errors import Refused, UsageError
from tests.entropy import SeededEntropy

Open = Callable[..., sf.Session]
Shell = Callable[..., tuple[int, str, str]]
ROWS = 2_000
CALLS = {
    "a": "AVG(income)",
    "v": "VARIANCE(income)",
    "d": "STDDEV(age)",
    "m": "MEDIAN(income)",
    "q": "QUANTILE(age, 0.9)",
    "c": "CDF(income, 40)",
    "r": "SUM(income) / COUNT(*)",
    "f": "AVG(income) / AVG(age)",
    "g": "MEDIAN(income) - AVG(income)",
}
MANY = ", ".join(f"{call} AS {name}" for name, call in CALLS.items())


@pytest.fixture
def evenly(open_crowd: Open) -> Callable[..., sf.Session]:
    """Values that lie evenly over the lower half of their bounds, one row a person."""

    def opened(delta: Decimal) -> sf.Session:
        places = [(place + 0.5) / ROWS for place in range(ROWS)]
        table = pa.table(
            {
                "user_id": list(range(ROWS)),
                "age": [int(17 + 36.5 * place) for place in places],
                "income": [100_000 * place for place in places],
            }
        )
        columns = {"age": sf.Int(17, 90), "income": sf.Float(0, 200_000), "wealth": sf.Float(private_bounds=0.3)}
        wealth = pa.array([1.0] * ROWS)
        return open_crowd(
            table.append_column("wealth", wealth),
            unit=sf.Person("user_id", max_rows=1),
            columns=columns,
            budget=sf.Budget(10**6, delta),
        )

    return opened


@pytest.mark.parametrize("delta", [Decimal(0), Decimal("1e-6")], ids=["epsilon", "rho"])
def test_what_is_told_is_about_what_comes(evenly: Callable[..., sf.Session], delta: Decimal) -> None:
    """The middle of the bars of 15 answers lies within 5 % of it for averages, within 40 % for the rest; but bars of
    quantiles grow by steps, from one to the next twice as long."""
    session = evenly(delta)
    session._entropy = SeededEntropy("supposed")
    for name, call in CALLS.items():
        question = f"SELECT {call} AS {name} FROM people"
        told = session.explain(question, spend=1, rows=ROWS)
        assert told.supposed == (name,)
        bars = []
        for _ in range(15):
            answer = session.ask(question, spend=1, fresh=True)
            bars.append(margin(answer.interval()[0][name], answer.rows[0][name]))
        typical = sorted(bars)[7]
        off = {"a": 1.05, "m": 2.1, "q": 2.1, "g": 2.1}.get(name, 1.4)
        assert typical / off < told.expected_error[name] < typical * off, (name, typical, told.expected_error[name])


def test_a_share_is_of_groups_with_as_many_rows_each(open_crowd: Open) -> None:
    """Of two groups of n rows: half the noise of their difference, over 2n."""
    session, by_sex = open_crowd(), "FROM people GROUP BY sex"
    one = session.explain(f"SELECT COUNT(*) AS n {by_sex}", spend=1).expected_error["n"]
    told = session.explain(f"SELECT sex, COUNT(*) / SUM(COUNT(*)) OVER () AS p {by_sex}", spend=1, rows=1000)
    assert told.supposed == ("p",)
    assert told.expected_error["p"] == pytest.approx(one * 2**0.5 / 4000, rel=0.1)
    assert "  p: ±0.00" in str(told)


def test_a_share_of_groups_that_are_to_be_found_is_unknown(open_crowd: Open) -> None:
    session = open_crowd(budget=sf.Budget(3, 1e-6))
    asked = "SELECT city, SUM(age) / SUM(SUM(age)) OVER () AS p, SUM(age) / COUNT(age) AS r FROM people GROUP BY city"
    told = session.explain(asked, spend=1, rows=10_000)
    assert told.supposed == ("r",)


def test_a_formula_of_what_is_unknown_is_unknown(evenly: Callable[..., sf.Session]) -> None:
    session = evenly(Decimal(0))
    for made in ("AVG(wealth) / COUNT(*)", "AVG(income) / AVG(wealth)"):
        assert session.explain(f"SELECT {made} AS f FROM people", spend=1, rows=1000).expected_error == {"f": None}


def test_more_rows_or_more_spend_make_it_smaller(evenly: Callable[..., sf.Session]) -> None:
    session = evenly(Decimal(0))
    for name, call in CALLS.items():
        question = f"SELECT {call} AS {name} FROM people"
        found = [session.explain(question, spend=1, rows=rows).expected_error[name] for rows in (10**3, 10**5, 10**9)]
        assert found == sorted(found, reverse=True)
        assert found[0] > found[1]
        few, much = (session.explain(question, spend=spend, rows=10**4).expected_error[name] for spend in (0.1, 2))
        assert few > much


def test_a_group_that_says_nothing_is_as_unsure_as_its_bounds(evenly: Callable[..., sf.Session]) -> None:
    told = evenly(Decimal(0)).explain(f"SELECT {MANY} FROM people", spend=0.001, rows=1).expected_error
    assert told["a"] == 150_000
    assert told["c"] == 1


def test_counts_that_are_shown_from_a_threshold_on(open_crowd: Open) -> None:
    session = open_crowd(budget=sf.Budget(3, 1e-6))
    question = "SELECT city, COUNT(*) AS n, COUNT(DISTINCT user_id) AS people FROM people GROUP BY city"
    told = [session.explain(question, spend=1, rows=rows) for rows in (1, 10, 10**6)]
    assert all(set(each.supposed) <= {"n", "people"} for each in told)
    assert told[0].supposed != ()
    for name in told[0].supposed:
        assert told[0].expected_error[name] == told[1].expected_error[name] > 0


def test_nothing_is_told_of_bounds_that_are_to_be_found_and_of_modes(evenly: Callable[..., sf.Session]) -> None:
    session = evenly(Decimal(0))
    calls = "SUM(wealth) AS s, AVG(wealth) AS a, MEDIAN(wealth) AS m, STDDEV(wealth) AS d, MODE(age) AS o"
    told = session.explain(f"SELECT {calls} FROM people", spend=1, rows=100)
    assert set(told.expected_error.values()) == {None}
    assert told.supposed == ()
    assert "your guess" not in str(told)
    assert told.to_dict()["supposing"] == ""


def test_what_was_clipped_is_supposed_to_be_nothing(open_crowd: Open) -> None:
    session = open_crowd()
    question = "SELECT COUNT(*) AS n, SUM(income) AS s, AVG(age) AS a FROM people"
    told = session.explain(question, spend=1, rows=1000, clipped=True)
    assert told.supposed == ("n", "s", "a")
    bare = session.explain(question, spend=1, rows=1000)
    assert bare.supposed == ("a",)
    for name, error in bare.expected_error.items():
        assert told.expected_error[name] > error


def test_words_and_json_say_whose_guess_it_is(open_crowd: Open) -> None:
    question = "SELECT sex, COUNT(*) AS n, AVG(age) AS a FROM people GROUP BY sex"
    told = open_crowd().explain(question, spend=0.5, rows=1000)
    text = str(told)
    assert f"  n: ±{bar(told.expected_error['n'])}\n" in text
    assert f"  a: ±{bar(told.expected_error['a'])} if a group has about 1,000 rows\n" in text
    assert "That a group has about 1,000 rows is your guess, and no data was looked at" in text
    said = json.loads(json.dumps(told.to_dict()))
    assert (said["rows"], said["supposed"]) == (1000, ["a"])
    assert said["supposing"] in text
    without = open_crowd().explain(question, spend=0.5)
    assert (without.rows, without.supposed, without.expected_error["a"]) == (None, (), None)
    assert without.expected_error["n"] == told.expected_error["n"]


@pytest.mark.parametrize("rows", [0, -1, 1.5, "1000", True, 10**10])
def test_rows_are_a_whole_number(open_crowd: Open, rows: Any) -> None:
    session = open_crowd()
    for ask in (
        lambda: session.explain("SELECT AVG(age) AS a FROM people", spend=1, rows=rows),
        lambda: session.spend_for("SELECT AVG(age) AS a FROM people", error=1, rows=rows),
    ):
        with pytest.raises(UsageError, match="rows must"):
            ask()


@pytest.mark.parametrize("delta", [Decimal(0), Decimal("1e-6")], ids=["epsilon", "rho"])
@pytest.mark.parametrize("name", ["a", "m", "d", "r"])
def test_a_spend_is_named_for_an_error(evenly: Callable[..., sf.Session], delta: Decimal, name: str) -> None:
    session = evenly(delta)
    question = f"SELECT {MANY} FROM people"
    wanted = 1.01 * session.explain(question, spend=2, rows=ROWS).expected_error[name]
    spend = session.spend_for(question, error=wanted, column=name, rows=ROWS)
    assert 1 < spend <= 2, "a median's bar grows by steps"
    assert session.explain(question, spend=spend, rows=ROWS).expected_error[name] <= wanted
    less = Decimal(repr(spend)) * Decimal("0.985")
    assert session.explain(question, spend=less, rows=ROWS).expected_error[name] > wanted
    with pytest.raises(Refused, match="depends on the answer"):
        session.spend_for(question, error=wanted, column=name)
    with pytest.raises(Refused, match="depends on the answer"):
        session.spend_for("SELECT AVG(wealth) AS a FROM people", error=1, rows=ROWS)


def test_steps_take_rows_too(open_crowd: Open) -> None:
    session = open_crowd()
    steps, text = session.query().mean("age", "a"), "SELECT AVG(age) AS a FROM people"
    assert steps.explain(spend=1, rows=100).expected_error == session.explain(text, spend=1, rows=100).expected_error
    assert steps.spend_for(error=5, rows=100) == session.spend_for(text, error=5, rows=100)


def test_the_shell_takes_rows(shell: Shell, policy: Path) -> None:
    question = "SELECT AVG(age) AS a FROM people"
    code, out, _ = shell("explain", policy, question, "--spend=0.5", "--rows=1000")
    assert code == 0
    assert "if a group has about 1,000 rows" in out
    code, out, err = shell("ask", policy, question, "--error=5", "--rows=400")
    assert (code, err) == (0, "")
    assert "for ±5 at 95 %, if a group has about 400 rows." in out
    code, _, err = shell("ask", policy, question, "--spend=0.5", "--rows=400")
    assert code == 2
    assert "--rows says how many rows a group has about" in err
    code, _, err = shell("explain", policy, question, "--error=5")
    assert code == 3
    assert "--rows 1000" in err
