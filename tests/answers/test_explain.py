"""What an explanation says, and that it says it without looking at anything."""

import json
from html import escape
from math import ceil

import pytest

import sfumato as sf
from sfumato.answers.explain import Explanation, explain
from sfumato.kernel.widths import error
from sfumato.ledger.terms import Amount
from sfumato.schema.table import Schema
from tests.query.asking import COLUMNS, EPSILON, RHO, walk

QUESTION = "SELECT sex, COUNT(*) AS n, SUM(income) AS s, AVG(age) AS a, COUNT(age) AS m FROM people GROUP BY sex"


def explained(question: str = QUESTION, budget: sf.Budget = EPSILON, unit: object = None) -> Explanation:
    schema = Schema("people", unit or sf.Row(), COLUMNS)  # type: ignore[arg-type]
    walked = walk(question, schema=schema, budget=budget)
    return explain(
        question, walked.certified, walked.draft.columns, ";\n".join(walked.sql), Amount(0.5, 0.0), walked.bound.after
    )


def test_every_release_says_what_how_far_and_why() -> None:
    steps = explained().steps
    assert [step.measures for step in steps] == [
        "number of rows (for n)",
        "sum of clamped values (for s)",
        "sum of clamped values around the centre of their bounds (for a)",
        "number of values (for a, m)",
    ]
    assert [step.sensitivity for step in steps] == [1, 200_000, 60, 1]
    assert steps[1].rule == "one row adds at most max(|0|, |200,000|) = 200,000 to one group"
    assert steps[2].rule == "one row adds at most half of what 0 and 120 are apart = 60 to one group"
    assert sum(step.share for step in steps) == pytest.approx(1)
    assert {step.event["mechanism"] for step in steps} == {"discrete_laplace"}


def test_a_person_counts_with_all_rows() -> None:
    told = explained(unit=sf.Person("user_id", max_rows=20, max_groups=2))
    assert told.unit == "person (user_id: at most 20 rows in 2 groups)"
    assert [step.sensitivity for step in told.steps] == [20, 20 * 200_000, 1200, 20]
    assert told.steps[0].rule == "one person adds at most 20 rows, each at most 1"


@pytest.mark.parametrize("budget", [EPSILON, RHO], ids=["epsilon", "rho"])
def test_the_expected_error_is_that_of_the_noise(budget: sf.Budget) -> None:
    told = explained(budget=budget)
    walked = walk(QUESTION, budget=budget)
    rows, income = (error(walked.certified.releases[i].mechanism.law, 0.95) for i in (0, 1))
    assert told.expected_error["n"] == rows
    assert told.expected_error["s"] == income / 2**13
    assert told.expected_error["a"] is None
    assert list(told.expected_error) == ["n", "s", "a", "m"]


def test_noise_is_told_in_units_of_the_column() -> None:
    """A sum of incomes up to 200,000 is noisy by hundreds of thousands, not by billions of steps of 2^-13."""
    told = explained("SELECT SUM(income) AS s FROM people")
    deviation = told.steps[0].deviation
    assert deviation == pytest.approx(200_000 / 0.5 * 2**0.5, rel=1e-6)
    assert "    sensitivity 200,000: one row" in str(told)
    assert f"standard deviation {deviation:,.0f}" in str(told)
    assert f"  s: ±{ceil(told.expected_error['s']):,}\n" in str(told)
    assert "steps of" not in str(told)


def test_a_most_frequent_value_has_no_error_bar() -> None:
    lines = str(explained("SELECT MODE(sex) AS m, AVG(age) AS a FROM people")).splitlines()
    assert "  m: none" in lines
    assert "  a: depends on the answer" in lines


def test_a_notebook_shows_the_same_words() -> None:
    told = explained("SELECT COUNT(*) AS n FROM people WHERE age < 30")
    assert f"<pre>{escape(str(told))}</pre>" in told._repr_html_()
    assert "age &lt; 30" in told._repr_html_()


def test_what_people_read() -> None:
    lines = str(explained()).splitlines()
    assert lines[:6] == [
        f"Question: {QUESTION}",
        "Protects: one row",
        "Costs:    epsilon 0.5",
        "          Someone who starts at even odds that a person is in the data ends, after this answer, between "
        "37.7 % and 62.3 %.",
        "Groups:   2, all declared; empty ones get noise too",
        "Releases:",
    ]
    assert "  number of rows (for n): 25 % of the spend" in lines
    assert "    sensitivity 1: one row adds at most 1 to one group" in lines
    assert any("discrete laplace noise, standard deviation 11.3" in line for line in lines)
    assert "Error bars (95 %):" in lines
    assert "  a: depends on the answer" in lines
    assert lines[-1].startswith("SQL:      866 characters")
    assert explained().as_text(sql=True).endswith(walk(QUESTION).sql)


def test_what_json_prints() -> None:
    content = json.loads(json.dumps(explained().to_dict()))
    assert list(content) == [
        "question",
        "unit",
        "groups",
        "keys",
        "cost",
        "price",
        "refused",
        "steps",
        "expected_error",
        "confidence",
        "rows",
        "supposed",
        "supposing",
        "notes",
        "cheaper",
        "without_delta",
        "sql",
        "digest",
    ]
    assert content["digest"] == walk(QUESTION).certified.digest
    assert content["groups"] == 2
    assert {"measures", "sensitivity", "rule", "share", "event"} <= set(content["steps"][0])


def test_without_keys_there_is_one_group() -> None:
    assert explained("SELECT COUNT(*) FROM people").groups == 1
