"""The gate for SQL: what never parses, limits on length and depth, and what rewording must not change."""

import logging
import random
from fractions import Fraction

import pytest
import sqlglot
from hypothesis import given
from hypothesis import strategies as st
from sqlglot import Parser, TokenType

from sfumato.errors import Refused, UsageError
from sfumato.plan.expressions import AllOf, AnyOf, Column, Comparison, Not, Number
from sfumato.query import sql
from sfumato.query.question import Question
from sfumato.query.sql import LONGEST, MOST_CALLS, parse
from sfumato.query.sql_expressions import DEEPEST
from tests.query.asking import walk
from tests.query.cases import read_cases, schema_for

COUNT = "SELECT COUNT(*) FROM people"
SCHEMAS = {case.question: schema_for(case.file) for case in read_cases() if case.question and not case.refused}
ACCEPTED = list(SCHEMAS)


def where(condition: str) -> str:
    return f"{COUNT} WHERE {condition}"


# ---- texts that are no questions


@pytest.mark.parametrize("text", [None, 42, b"SELECT COUNT(*) FROM people", ["SELECT"], 1.5])
def test_a_question_is_a_text(text: object) -> None:
    with pytest.raises(UsageError, match=f"a question is a text, not {type(text).__name__}"):
        parse(text)  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["", "  \n\t ", ";", ";;", "-- nothing", "/* nothing */", "/* nothing */ ;"])
def test_an_empty_text_is_refused(text: str) -> None:
    with pytest.raises(Refused, match=r"it is empty|it is not a SELECT|must be one statement"):
        parse(text)


@pytest.fixture(autouse=True)
def never_asked_before() -> None:
    """What was parsed once is remembered: here the parser is broken on purpose."""
    for kept in (sql._kept, sql._kept_long):
        kept.cache_clear()


def test_few_long_texts_are_kept() -> None:
    """A parsed question takes some hundred times the memory of its text."""
    long = " OR ".join(["age = 1"] * 100)
    for number in range(2 * 16):
        parse(f"{COUNT} WHERE age = {number}")
        parse(f"{COUNT} WHERE age = {number} OR {long}")
    assert sql._kept.cache_info().currsize == 32
    assert sql._kept_long.cache_info().currsize == 16


def test_whatever_the_tokenizer_raises_the_text_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(text: str) -> None:
        raise RuntimeError(f"secret parser state near {text}")

    monkeypatch.setattr(sql.PARSING, "tokenize", broken)
    with pytest.raises(Refused, match=r"^this is not a question in SQL: it cannot be read\.") as refused:
        parse(COUNT)
    assert refused.value.__suppress_context__


@pytest.mark.parametrize("error", [RecursionError("deep"), AttributeError("None"), MemoryError(), KeyError("x")])
def test_whatever_the_parser_raises_the_text_is_refused(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def broken(parser: object, tokens: object, text: str) -> None:
        raise error

    monkeypatch.setattr(Parser, "parse", broken)
    with pytest.raises(Refused, match=r"^this is not a question in SQL: it cannot be read\.") as refused:
        parse(COUNT)
    assert refused.value.__suppress_context__


@pytest.mark.parametrize(
    ("errors", "said"),
    [
        ([], "it ends too early"),
        ([{"highlight": "  "}], "it ends too early"),
        ([{"highlight": None}], "it ends too early"),
        ([{"highlight": "WHRE"}], "it stops making sense at 'WHRE'"),
        ([{"highlight": "x" * 500}], f"it stops making sense at '{'x' * 40}'"),
    ],
)
def test_a_parse_error_names_the_word_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch, errors: list[dict[str, object]], said: str
) -> None:
    def broken(parser: object, tokens: object, text: str) -> None:
        raise sqlglot.errors.ParseError("internal text", errors)

    monkeypatch.setattr(Parser, "parse", broken)
    with pytest.raises(Refused) as refused:
        parse(COUNT)
    assert refused.value.message == f"this is not a question in SQL: {said}."


def test_the_parser_keeps_its_opinions_to_itself(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        for text in ("VACUUM people", "CALL something('secret')", "SHOW secret", "SELECT secret(*) FROM (", COUNT):
            try:
                parse(text)
            except Refused:
                continue
    assert caplog.records == []


# ---- limits


def test_the_longest_question_is_still_read() -> None:
    assert parse(COUNT + " " * (LONGEST - len(COUNT))) == parse(COUNT)
    with pytest.raises(Refused, match=r"^the question has 10001 characters; 10000 are allowed\."):
        parse(COUNT + " " * (LONGEST + 1 - len(COUNT)))


@pytest.mark.parametrize("opening", ["(", "[", "{", "CASE ", "NOT ", "- ", "+ ", "~ ", "NOT (", "-(", "f("])
def test_nesting_is_measured_before_parsing(monkeypatch: pytest.MonkeyPatch, opening: str) -> None:
    def reached(parser: object, tokens: object, text: str) -> None:
        raise AssertionError("the parser saw a deep text")

    monkeypatch.setattr(Parser, "parse", reached)
    with pytest.raises(Refused, match=rf"nested more than ({DEEPEST}|{MOST_CALLS}) (levels )?deep"):
        parse(where(opening * (DEEPEST + 1)))


@pytest.mark.parametrize(
    "condition",
    [
        "age > 1 AND " + "NOT " * DEEPEST + "age > 1",
        "NOT " * DEEPEST + "age > 1",
        "age > " + "- " * DEEPEST + "age",
        "+".join(["age"] * (DEEPEST + 2)) + " > 1",
        " / ".join(["age"] * 1000) + " > 1",
    ],
)
def test_a_tree_deeper_than_its_brackets_is_refused(condition: str) -> None:
    with pytest.raises(Refused, match=rf"^the question is nested more than {DEEPEST} levels deep\."):
        parse(where(condition))


@pytest.mark.parametrize(
    ("question", "said"),
    [
        (COUNT + " JOIN visits USING (who)" * 5, "the question has more than 4 joins"),
        (COUNT + " STRAIGHT_JOIN visits" * 5, "the question has more than 4 joins"),
        (where(" AND ".join(["seen > '2024-01-31'::date"] * 5)), "the question has more than 4 casts"),
        (f"SELECT SUM({'f(' * 4}age{')' * 4}) FROM people", "calls of unknown functions are nested more than 4 deep"),
    ],
)
def test_each_limit_has_its_own_words(question: str, said: str) -> None:
    with pytest.raises(Refused, match=said):
        parse(question)


def test_a_name_with_join_in_it_is_no_join() -> None:
    assert parse(where(" AND ".join(["join_date > 1 AND joined > 2 AND \"JOIN\" = 3 AND zip = 'join'"] * 5)))
    assert parse(where(" AND ".join(["seen > '2024-01-31'::date"] * 4)))


def test_what_lies_within_the_limits_is_read() -> None:
    assert parse(where("(" * 15 + "age > 1" + ")" * 15)) == parse(where("age > 1"))
    assert parse(where("((age > 1))" + " AND ((age > 1))" * 100))
    # Signs start anew after each other word.
    assert parse(where(" AND ".join(["NOT age > - 1"] * 100)))


@pytest.mark.parametrize(("word", "kind"), [("AND", AllOf), ("OR", AnyOf)])
def test_a_long_chain_is_flat_and_in_order(word: str, kind: type) -> None:
    condition = parse(where(f" {word} ".join(f"age={i}" for i in range(500)))).where
    assert condition == kind(tuple(Comparison("=", Column("age"), Number(Fraction(i))) for i in range(500)))


def test_not_binds_before_and_and_and_before_or() -> None:
    one, two, three = (Comparison("=", Column("age"), Number(Fraction(i))) for i in (1, 2, 3))
    assert parse(where("NOT age=1 AND age=2 OR age=3")).where == AnyOf((AllOf((Not(one), two)), three))
    assert parse(where("age=3 OR NOT age=1 AND age=2")).where == AnyOf((three, AllOf((Not(one), two))))


# ---- equal questions


def reworded(question: str, choose: random.Random) -> str:
    """The same words with other blanks, remarks and capitals."""
    blanks = [" ", "\n", "\t", "  ", " /* by the way */ ", " -- so it is\n", "\r\n"]
    words = []
    for token in sqlglot.tokenize(question):
        word = question[token.start : token.end + 1]
        literal = token.token_type in (TokenType.STRING, TokenType.IDENTIFIER)
        words.append(word if literal else choose.choice([word, word.upper(), word.lower(), word.title()]))
    return "".join(word + choose.choice(blanks) for word in words)


@given(st.sampled_from(ACCEPTED), st.integers(0, 10**9))
def test_blanks_remarks_and_capitals_change_nothing(question: str, seed: int) -> None:
    other = reworded(question, random.Random(seed))
    schema = SCHEMAS[question]
    assert walk(other, schema=schema).certified.digest == walk(question, schema=schema).certified.digest
    assert walk(other, schema=schema).certified.cost == walk(question, schema=schema).certified.cost


@given(st.sampled_from([question for question in ACCEPTED if question.endswith("FROM people")]))
def test_a_name_for_the_table_changes_nothing(question: str) -> None:
    schema = SCHEMAS[question]
    assert walk(f"{question} AS q", schema=schema).certified.digest == walk(question, schema=schema).certified.digest


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("SELECT sex, COUNT(*) FROM people GROUP BY sex", "SELECT p.SEX s, COUNT(*) c FROM People p GROUP BY P.Sex"),
        ("SELECT COUNT(*) FROM people WHERE age >= 30", "SELECT COUNT(*) FROM people WHERE (age) >= 30.00"),
        ("SELECT COUNT(*) FROM people WHERE age <> 3e1", 'SELECT COUNT(*) FROM "people" WHERE "Age" != +30'),
        ("SELECT COUNT(*) FROM people WHERE age NOT IN (1)", "SELECT COUNT(*) FROM people WHERE NOT age IN (1)"),
        ("SELECT COUNT(*) AS a, COUNT(*) AS b FROM people", COUNT),
        ("SELECT COUNT(*), sex FROM people GROUP BY sex", "SELECT sex, COUNT(*) FROM people GROUP BY sex"),
    ],
)
def test_equal_questions_have_equal_digests(one: str, other: str) -> None:
    assert walk(one).certified.digest == walk(other).certified.digest


@pytest.mark.parametrize(
    "other",
    [
        where("age > 1"),
        where("age > 2"),
        where("age >= 1"),
        where("zip = 'a'"),
        where("zip = 'A'"),
        where("zip = 'a '"),
        "SELECT COUNT(age) FROM people",
        "SELECT SUM(age) FROM people",
        "SELECT AVG(age) FROM people",
        "SELECT COUNT(*) FROM people GROUP BY sex",
        "SELECT COUNT(*) FROM people GROUP BY grade",
        "SELECT COUNT(*) FROM people GROUP BY sex, grade",
        "SELECT COUNT(*) FROM people GROUP BY grade, sex",
    ],
)
def test_other_questions_have_other_digests(other: str) -> None:
    questions = [COUNT, *test_other_questions_have_other_digests.pytestmark[0].args[1]]
    same = [question for question in questions if walk(question).plan.digest() == walk(other).plan.digest()]
    assert same == [other]


@given(st.sampled_from(ACCEPTED))
def test_parsing_is_deterministic(question: str) -> None:
    first = parse(question)
    assert isinstance(first, Question)
    assert parse(question) == first
    assert hash(parse(question)) == hash(first)


# ---- once broken


def test_a_number_of_thousands_of_digits_is_refused() -> None:
    with pytest.raises(Refused):
        walk(where(f"age > 1.{'0' * 5000}1"))


@pytest.mark.parametrize("star", ["* EXCLUDE (age)", "* EXCEPT (age)", "* REPLACE (1 AS age)", "* RENAME (age AS b)"])
def test_a_star_with_conditions_is_not_taken_for_a_plain_one(star: str) -> None:
    with pytest.raises(Refused):
        parse(f"SELECT COUNT({star}) FROM people")


def test_group_by_nothing_is_refused() -> None:
    with pytest.raises(Refused):
        parse(f"{COUNT} GROUP BY")


def test_in_nothing_is_refused() -> None:
    with pytest.raises(Refused):
        parse(where("age IN ()"))


@pytest.mark.parametrize("name", ["\ud800", "a\x1b[31mb", "a\nb", "a\0b", "\u202e"])
def test_a_name_of_control_characters_is_refused(name: str) -> None:
    with pytest.raises(Refused):
        parse(f'SELECT COUNT(*) AS "{name}" FROM people')


def test_a_remark_after_the_semicolon_changes_nothing() -> None:
    assert parse(f"{COUNT}; -- that is all") == parse(COUNT)


def test_nesting_up_to_the_limit_is_read() -> None:
    assert parse(where("(" * (DEEPEST - 2) + "age > 1" + ")" * (DEEPEST - 2))) == parse(where("age > 1"))


@pytest.mark.parametrize("chain", [".age", " -> age"])
def test_a_chain_that_would_exhaust_the_stack_is_refused(chain: str) -> None:
    with pytest.raises(Refused) as refused:
        parse(f"SELECT SUM(age{chain * 1200}) FROM people")
    assert refused.value.__suppress_context__


@pytest.mark.parametrize("question", ["SELECT COUNT(*) AS @ n FROM people", "SELECT COUNT(*) AS @n FROM people"])
def test_only_a_plain_name_is_a_name(question: str) -> None:
    with pytest.raises(Refused):
        parse(question)


# ---- functions


@pytest.mark.parametrize(
    ("opening", "closing"),
    [
        ("CASE ", " WHEN 1 THEN 1 WHEN 2 THEN 2 WHEN 3 THEN 3 END"),
        ("CASE WHEN ", " BETWEEN 1 AND 2 THEN 1 ELSE 0 END"),
    ],
)
def test_what_would_be_written_out_a_million_times_is_refused(opening: str, closing: str) -> None:
    question = f"SELECT SUM({opening * 14}age{closing * 14}) AS s FROM people"
    for text in (question, f"{question} ORDER BY SUM({opening * 14}age{closing * 14})"):
        with pytest.raises(Refused, match="expands to more than 5,000 terms"):
            parse(text)
    with pytest.raises(Refused, match="expands to more than 5,000 terms"):
        parse(f"SELECT COUNT(*) AS n FROM people HAVING {opening * 14}n{closing * 14} = 1")
    assert parse(f"SELECT SUM({opening * 5}age{closing * 5}) FROM people")


@pytest.mark.parametrize(
    ("opening", "closing"), [("1 / (", ")"), ("LEAST(", ", 1)"), ("SQRT(", ")"), ("NULLIF(", ", 1)"), ("MOD(", ", 3)")]
)
def test_what_an_engine_would_evaluate_thousands_of_times_is_refused(opening: str, closing: str) -> None:
    """Each level is there twice to an engine, also where the text of its SQL holds it once."""
    with pytest.raises(Refused, match="repeat themselves too often"):
        walk(f"SELECT COUNT({opening * 14}age{closing * 14}) FROM people")
    assert walk(f"SELECT COUNT({opening * 5}age{closing * 5}) FROM people")


def test_functions_may_stand_inside_each_other_deeply() -> None:
    assert parse(f"SELECT SUM({'ABS(' * 25}age{')' * 25}) FROM people")
    assert parse(f"SELECT SUM({'CASE WHEN age = 1 THEN ' * 25}age{' END' * 25}) FROM people")
    with pytest.raises(Refused, match="nested more than"):
        parse(f"SELECT SUM({'ABS(' * 31}age{')' * 31}) FROM people")


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("SELECT YEAR(born), COUNT(*) FROM people GROUP BY 1", ["year_born", "count"]),
        ("SELECT EXTRACT(month FROM born), COUNT(*) FROM people GROUP BY 1", ["month_born", "count"]),
        ("SELECT BIN(age, 5), COUNT(*) FROM people GROUP BY 1", ["bin_age", "count"]),
        ("SELECT (age + 1), COUNT(*) FROM people GROUP BY 1", ["key", "count"]),
        ("SELECT -age, COUNT(*) FROM people GROUP BY 1", ["key", "count"]),
        ("SELECT IF(age > 3, 1, 2), COUNT(*) FROM people GROUP BY 1", ["case_age", "count"]),
        ("SELECT CASE WHEN age > grade THEN 1 END, COUNT(*) FROM people GROUP BY 1", ["case", "count"]),
    ],
)
def test_a_computed_key_gets_a_name(question: str, names: list[str]) -> None:
    assert [item.name for item in parse(question).selected] == names


def test_a_key_in_other_words_is_another_key() -> None:
    for order in ("BIN(age, 5)", "CASE WHEN sex = 'F' THEN 1 END", "CASE WHEN sex = 'f' THEN 1 ELSE 2 END", "ABS(age)"):
        with pytest.raises(Refused, match="only what the answer shows"):
            parse(f"SELECT CASE WHEN sex = 'f' THEN 1 END AS k, COUNT(*) FROM people GROUP BY k ORDER BY {order}")
    same = "CASE WHEN SEX = 'f' THEN 1 END"
    assert parse(f"SELECT CASE WHEN sex = 'f' THEN 1 END AS k, COUNT(*) FROM people GROUP BY k ORDER BY {same}")
    with pytest.raises(Refused, match="only what the answer shows"):
        parse("SELECT sex, COUNT(*) FROM people GROUP BY sex ORDER BY UPPER(sex)")


def test_what_cannot_be_read_is_no_key() -> None:
    with pytest.raises(Refused, match="this form of FLOOR"):
        parse("SELECT BIN(age, 10) AS b, COUNT(*) FROM people GROUP BY b HAVING FLOOR(b, 1) > 3")


def test_the_last_date_of_a_difference_may_be_a_column_or_a_date() -> None:
    for last in ("seen", "SEEN", "people.seen", "DATE '2024-01-31'", "'2024-01-31'", "COALESCE(seen, born)"):
        assert walk(where(f"DATE_DIFF('day', born, {last}) > 3"))


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("PERCENTILE_CONT(1e999999999) WITHIN GROUP (ORDER BY age DESC)", "this number"),
        ("PERCENTILE_CONT(1e-50) WITHIN GROUP (ORDER BY age DESC)", "this quantile"),
        ("PERCENTILE_CONT(0.9, income) WITHIN GROUP (ORDER BY age)", "PERCENTILE_CONT cannot be asked like this"),
        ("SUM(BIN(age, 5) FILTER (WHERE age > 3))", "this FILTER"),
        ("BIN(age, 5) FILTER (WHERE age > 3)", "this FILTER"),
    ],
)
def test_what_stands_beside_an_aggregate_is_not_dropped(asked: str, told: str) -> None:
    with pytest.raises(Refused, match=told):
        parse(f"SELECT {asked} AS a FROM people")


def test_levels_from_the_other_end_are_exact() -> None:
    falling = parse("SELECT PERCENTILE_CONT(0.0001) WITHIN GROUP (ORDER BY age DESC) AS a FROM people")
    assert falling.selected == parse("SELECT QUANTILE(age, 0.9999) AS a FROM people").selected
