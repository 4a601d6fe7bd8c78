"""What error bars do not cover, in sentences that follow from the plan; and the price in words."""

from collections.abc import Callable
from fractions import Fraction

import pytest

import sfumato as sf
from sfumato.accounting import membership_advantage, posterior
from sfumato.answers.notes import notes, price_in_words
from sfumato.ledger.terms import Amount, Terms
from sfumato.query.planned import planned
from sfumato.schema.table import Schema
from tests.query.asking import COLUMNS, EPSILON, walk

PERSON = sf.Person("user_id", max_rows=20, max_groups=3)


def said(question: str, unit: sf.Row | sf.Person | None = None) -> tuple[str, ...]:
    schema, price = Schema("people", unit or sf.Row(), COLUMNS), Terms(EPSILON).price(Fraction(1, 2))
    one = planned(question, schema, price)
    return notes(one.certified, one.columns, None, one.after.declared)


def test_a_count_of_rows_hides_nothing() -> None:
    assert said("SELECT COUNT(*) FROM people") == ()
    assert said("SELECT COUNT(age) FROM people WHERE income > 5") == ()


def test_every_clamped_column_is_named_with_its_bounds_once() -> None:
    assert said("SELECT SUM(income) AS s, AVG(income) AS a, STDDEV(income) AS d, COUNT(*) AS n FROM people") == (
        "s, a, d: a value of income below 0 counts as 0, one above 200,000 as 200,000; "
        "error bars do not cover what that changes.",
    )
    first, second = said("SELECT SUM(age) AS s, AVG(debt) AS a FROM people")
    assert first.startswith("s: a value of age below 0 counts as 0, one above 120 as 120;")
    assert second.startswith("a: a value of debt below -5,000 counts as -5,000, one above -10 as -10;")


def test_an_expression_is_named_by_its_columns() -> None:
    (note,) = said("SELECT SUM(income - 2 * age) AS s FROM people")
    assert note.startswith("s: a value of the expression of age, income below -240 counts as -240, one above 200,000")


@pytest.mark.parametrize("column", ["income", "age"])
def test_the_bounds_told_are_those_of_the_plan(column: str) -> None:
    """Other bounds, other sentences: nothing here is typed in by hand."""
    schema = Schema("people", sf.Row(), {column: sf.Int(-7, 13)})
    walked = walk(f"SELECT AVG({column}) AS a FROM people", schema=schema)
    (note,) = notes(walked.certified, walked.draft.columns)
    assert "below -7 counts as -7, one above 13 as 13" in note


def test_a_persons_limits_are_told() -> None:
    assert said("SELECT COUNT(*) FROM people", PERSON) == (
        "A person counts with at most 20 rows; error bars do not cover what is cut off beyond that.",
    )
    (one,) = said("SELECT COUNT(*) FROM people", sf.Person("user_id", max_rows=1))
    assert one.startswith("A person counts with at most 1 row;")
    rows, keys = said("SELECT sex, COUNT(*) FROM people GROUP BY sex", PERSON)
    assert rows.startswith("A person counts with at most 20 rows in at most 3 groups;")
    assert keys == "Not counted: rows whose sex is none of f, m."


@pytest.mark.parametrize(
    "call",
    [
        "SUM(CASE WHEN age > 30 THEN 1 ELSE 0 END)",
        "AVG(CASE WHEN sex = 'f' THEN CASE WHEN age < 9 THEN 2 END ELSE 1 END)",
        "SUM(MONTH(born))",
    ],
)
def test_bounds_that_nothing_can_exceed_are_not_told(call: str) -> None:
    assert said(f"SELECT {call} AS x FROM people") == ()
    assert (
        "a value of the expression of age" in said("SELECT SUM(CASE WHEN sex = 'f' THEN age END) AS x FROM people")[0]
    )


def test_of_people_no_rows_are_cut_off() -> None:
    assert said("SELECT COUNT(DISTINCT user_id) AS n FROM people", PERSON) == ()
    groups, _ = said("SELECT sex, COUNT(DISTINCT user_id) AS n FROM people GROUP BY sex", PERSON)
    assert groups == "A person counts in at most 3 groups; error bars do not cover what is cut off beyond that."
    both = said("SELECT COUNT(DISTINCT user_id) AS n, COUNT(*) AS rows FROM people", PERSON)
    assert both == ("A person counts with at most 20 rows; error bars do not cover what is cut off beyond that.",)


def test_keys_of_whole_numbers_say_their_range() -> None:
    assert said("SELECT COUNT(*) FROM people GROUP BY visit") == (
        "Not counted: rows whose visit is outside 1 to 1000.",
    )


@pytest.mark.parametrize(
    "key",
    [
        "MONTH(born)",
        "QUARTER(born)",
        "CASE WHEN age < 18 THEN 'young' WHEN age IS NULL THEN 'unknown' ELSE 'grown' END",
    ],
)
def test_keys_that_every_row_has_are_no_note(key: str) -> None:
    assert said(f"SELECT COUNT(*) FROM people GROUP BY {key}") == ()


@pytest.mark.parametrize(
    ("key", "note"),
    [
        ("CASE WHEN age < 18 THEN 'young' END", "Not counted: rows in which the expression of age is none of young."),
        ("BIN(age, 60)", "Not counted: rows in which the expression of age is outside 0 to 120."),
        ("YEAR(born)", "Not counted: rows in which the expression of born is outside 1920 to 2019."),
        ("grade", "Not counted: rows whose grade is none of 1, 2, 3."),
    ],
)
def test_rows_of_no_group_are_told_by_what_they_are_not(key: str, note: str) -> None:
    assert said(f"SELECT COUNT(*) FROM people GROUP BY {key}") == (note,)


@pytest.mark.parametrize(
    ("condition", "key", "note"),
    [
        ("visit < 3", "visit", "rows whose visit is outside 1 to 1000."),
        ("visit IN (3, 7)", "visit", "rows whose visit is outside 1 to 1000."),
        ("sex = 'f'", "sex", "rows whose sex is none of f, m."),
        ("visit < 3 AND sex = 'f'", "visit, grade", "rows whose visit is outside 1 to 1000."),
    ],
)
def test_what_a_condition_leaves_out_is_not_what_a_declaration_hides(condition: str, key: str, note: str) -> None:
    assert said(f"SELECT COUNT(*) FROM people WHERE {condition} GROUP BY {key}")[0] == f"Not counted: {note}"


def test_answers_and_explanations_tell_of_declarations(open_crowd: Callable[..., sf.Session]) -> None:
    session = open_crowd()
    question = "SELECT age, COUNT(*) AS n FROM people WHERE age < 20 GROUP BY age"
    for told in (session.ask(question, spend=1), session.explain(question, spend=1)):
        assert "Not counted: rows whose age is outside 17 to 90." in told.notes


@pytest.mark.parametrize(
    ("key", "note"),
    [
        ("born", "rows whose born is outside 2024-01-30 to 2024-03-05."),
        ("DATE_TRUNC('month', born)", "rows in which the expression of born is outside 2024-01-01 to 2024-03-01."),
        ("DATE_TRUNC('year', born)", "rows in which the expression of born is outside 2024-01-01 to 2024-01-01."),
        ("phase", "rows whose phase is none of 2024-01-01, 2024-06-01."),
        ("day", "rows whose day is none of 2024-01-01."),
    ],
)
def test_dates_are_told_from_the_first_to_the_last(key: str, note: str) -> None:
    phases, day = sf.Category(["2024-01-01", "2024-06-01"]), sf.Category(["2024-01-01"])
    columns = {"born": sf.Date("2024-01-30", "2024-03-05"), "phase": phases, "day": day}
    walked = walk(f"SELECT COUNT(*) FROM people GROUP BY {key}", schema=Schema("people", sf.Row(), columns))
    assert notes(walked.certified, walked.draft.columns) == (f"Not counted: {note}",)


def test_many_values_are_counted_and_not_listed() -> None:
    schema = Schema("people", sf.Row(), {"city": sf.Category([f"c{place}" for place in range(40)])})
    walked = walk("SELECT COUNT(*) FROM people GROUP BY city", schema=schema)
    assert notes(walked.certified, walked.draft.columns) == (
        "Not counted: rows whose city is none of the 40 values that are declared.",
    )


@pytest.mark.parametrize(
    "call", ["MEDIAN(age)", "QUANTILE(age, 0.1)", "MIN(age)", "HISTOGRAM(age, 11)", "CDF(age, 11)"]
)
def test_lines_of_cells_end_at_the_bounds(call: str) -> None:
    note, *end = said(f"SELECT {call} AS x FROM people")
    assert note.startswith("x: a value of age below 0 counts as 0, one above 120 as 120;")
    assert [one.startswith("x: how much smaller a value may be that was not found") for one in end] == (
        [True] if call.startswith("MIN") else []
    )
    note, *_ = said(f"SELECT {call} AS x FROM people".replace("age", "height"))
    assert note.startswith("x: a value of height below 0.5 counts as 0.5, one above 2.5 as 2.5;")


def test_a_mode_says_that_it_has_no_error_bar() -> None:
    (note,) = said("SELECT MODE(sex) AS x FROM people")
    assert note.startswith("x: a most frequent value has no error bar;")


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1, 3, 1000])
def test_the_price_promises_nothing_too_much(epsilon: float) -> None:
    words = price_in_words(Amount(epsilon, 0.0))
    low, high = (float(word) / 100 for word in words.replace(" %", "").rstrip(".").split() if word[:1].isdigit())
    least, most = posterior(Fraction(1, 2), epsilon)
    assert least - 0.001 <= low <= least
    assert most <= high <= most + 0.001


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 3])
def test_with_delta_the_price_is_that_of_the_best_guess(epsilon: float) -> None:
    words = price_in_words(Amount(epsilon, 1e-3))
    right = next(float(word) / 100 for word in words.split() if word[:1].isdigit())
    best = (1 + membership_advantage(epsilon, 1e-3)) / 2
    assert best <= right <= best + 0.001
