"""The builder means what its SQL means, and no part of it reaches into another."""

import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.answers import builder as building
from sfumato.answers.builder import Builder
from sfumato.answers.explain import explain
from sfumato.errors import Refused, SfumatoError, UsageError
from sfumato.ledger.terms import Amount
from sfumato.plan.expressions import AllOf, Condition
from sfumato.query import sql_parts
from sfumato.query.sql import LONGEST, parse
from sfumato.query.sql_parts import Part, read_part, written_name
from tests.query import grammar
from tests.query.asking import walk

Open = Callable[..., sf.Session]


class Explaining:
    """Explains questions about the schema with a column of every kind."""

    def explain(self, question: str, *, spend: Any = None, rows: Any = None) -> Any:
        walked = walk(question)
        sql = ";\n".join(walked.sql)
        return explain(question, walked.certified, walked.draft.columns, sql, Amount(1, 0), walked.bound.after)

    ask: Any = None
    spend_for: Any = None


def query(table: str = "people") -> Builder:
    return Builder(Explaining(), table)


# ---- what it means


def test_the_agreed_chain() -> None:
    made = query().where("age >= 30").group_by("sex").count("n").mean("income")
    assert made.sql() == str(made) == "SELECT sex, COUNT(*) AS n, AVG(income) FROM people WHERE age >= 30 GROUP BY sex"


def test_every_aggregate_and_clause() -> None:
    made = (
        query()
        .where("age > 1 AND age < 9")
        .where("sex = 'f' OR sex = 'm'")
        .where("NOT income BETWEEN 1 AND 2")
        .group_by("grade", '"Two Words"')
        .count()
        .count_values("zip", "zips")
        .count_if("age > 30", "old")
        .sum("income - age", "the sum")
        .mean("income")
        .variance("income", "order")
        .stddev("age")
        .aggregate("AVG(income / 12)", "monthly")
        .having("zips > 0 OR monthly > 1")
        .having("COUNT(*) > 2")
        .order_by("monthly", descending=True)
        .order_by("grade")
        .limit(5, offset=2)
    )
    assert made.sql() == (
        'SELECT grade, "Two Words", COUNT(*), COUNT(zip) AS zips, '
        'COUNT_IF(age > 30) AS old, SUM(income - age) AS "the sum", AVG(income), '
        "VARIANCE(income) AS order, STDDEV(age), AVG(income / 12) AS monthly FROM people "
        "WHERE age > 1 AND age < 9 AND (sex = 'f' OR sex = 'm') AND NOT income BETWEEN 1 AND 2 "
        'GROUP BY grade, "Two Words" HAVING (zips > 0 OR monthly > 1) AND COUNT(*) > 2 '
        "ORDER BY monthly DESC, grade LIMIT 5 OFFSET 2"
    ).replace("AS order", f"AS {written_name('order', 'a name')}")
    assert walk(made.sql()).plan.digest() == made.explain(spend=0.5).digest


def test_rows_that_meet_a_condition_are_those_of_a_filter() -> None:
    made = query().count_if("age > 3 OR sex = 'f'", "n")
    same = query().aggregate("COUNT(*) FILTER (WHERE age > 3 OR sex = 'f')", "n")
    assert made.explain().digest == same.explain().digest
    for odd in ("age > 3) + COUNT(*", "age > 3, 1", "age > 3) FILTER (WHERE sex = 'f'", "age", ""):
        with pytest.raises(Refused):
            query().count_if(odd)


@pytest.mark.slow
@given(st.integers())
def test_the_same_question_in_text_and_in_steps_has_the_same_digest(seed: int) -> None:
    """Whatever the text refuses the steps refuse, and what they accept has one meaning."""
    choose = random.Random(seed)
    keys = [grammar.column(choose) for _ in range(choose.choice([0, 0, 1, 2]))]
    calls = [grammar.aggregate(choose) for _ in range(choose.randint(1, 3))]
    wheres = [grammar.condition(choose, 2) for _ in range(choose.choice([0, 1, 1, 2]))]
    named = [f'{call} AS "c {place}"' for place, call in enumerate(calls)]
    text = f"SELECT {', '.join([*keys, *named])} FROM people"
    joined = [f"({part})" if " OR " in part else part for part in wheres]
    text += f" WHERE {' AND '.join(joined)}" if wheres else ""
    text += f" GROUP BY {', '.join(keys)}" if keys else ""

    def in_steps() -> str:
        made = query().group_by(*keys)
        for part in wheres:
            made = made.where(part)
        for place, call in enumerate(calls):
            made = made.aggregate(call, f"c {place}")
        return walk(made.sql()).plan.digest()

    found = [digest_or_none(lambda: walk(text).plan.digest()), digest_or_none(in_steps)]
    assert found[0] == found[1]


NUMBERS = st.sampled_from(["age", "income", "debt / 2", "-height", "(age - 3) * 2", '"Two Words"', "1.5"])
PLAIN_CONDITIONS = st.one_of(
    st.tuples(NUMBERS, st.sampled_from(["=", "<>", "!=", "<", ">="]), NUMBERS).map(" ".join),
    st.sampled_from(["sex = 'f'", "zip <> 'it''s'", "age IN (1, -2)", "wealth IS NOT NULL", "age NOT BETWEEN 1 AND 2"]),
)
CONDITIONS = st.recursive(
    PLAIN_CONDITIONS,
    lambda inner: st.one_of(
        inner.map(lambda part: f"NOT ({part})"),
        inner.map(lambda part: f"( {part}\n) /* a remark */"),
        st.lists(inner, min_size=2, max_size=3).map(lambda parts: " AND ".join(f"({part}\n)" for part in parts)),
        st.lists(PLAIN_CONDITIONS, min_size=2, max_size=3).map(" and ".join),
        st.lists(PLAIN_CONDITIONS, min_size=2, max_size=3).map(" OR ".join),
    ),
    max_leaves=4,
)
CALLS = st.sampled_from(
    ["COUNT(*)", "count(zip)", "SUM(income - age)", "AVG(debt)", "VARIANCE(age)", "STDDEV_POP(income)", "Sum(2 * age)"]
)


@pytest.mark.slow
@given(
    st.lists(CONDITIONS, max_size=3),
    st.lists(st.sampled_from(["sex", "GRADE", "member", '"order"']), max_size=2, unique=True),
    st.lists(CALLS, min_size=1, max_size=3),
)
def test_accepted_questions_in_text_and_in_steps_have_the_same_digest(
    conditions: list[str], keys: list[str], calls: list[str]
) -> None:
    loose = [" or " in read_part(part, "a condition").text.lower() for part in conditions]
    joined = [f"({part}\n)" if either else f"{part}\n" for part, either in zip(conditions, loose, strict=True)]
    named = [f"{call} AS c{place}" for place, call in enumerate(calls)]
    text = f"SELECT {', '.join([*keys, *named])} FROM people"
    text += f" WHERE {' AND '.join(joined)}" if joined else ""
    text += f" GROUP BY {', '.join(keys)}" if keys else ""
    made = query().group_by(*keys)
    for part in conditions:
        made = made.where(part)
    for place, call in enumerate(calls):
        made = made.aggregate(call, f"c{place}")
    written = parse(made.sql())
    assert (written.keys, written.selected) == (parse(text).keys, parse(text).selected)
    assert flat(written.where) == flat(parse(text).where)
    if len(conditions) < 2 or not any(part.startswith("(") for part in conditions):
        assert walk(made.sql()).plan.digest() == walk(text).plan.digest()


def flat(condition: Condition | None) -> tuple[Condition, ...]:
    """The operands of AND, brackets around AND taken away: the steps join a bracket and its neighbours."""
    if isinstance(condition, AllOf):
        return tuple(part for operand in condition.operands for part in flat(operand))
    return () if condition is None else (condition,)


def digest_or_none(make: Callable[[], str]) -> str | None:
    try:
        return make()
    except Refused:
        return None


def test_most_of_these_questions_are_accepted() -> None:
    """Else the check above would compare refusals only."""
    accepted = 0
    for seed in range(300):
        choose = random.Random(seed)
        part = grammar.condition(choose, 2)
        accepted += digest_or_none(lambda part=part: walk(query().where(part).count().sql()).plan.digest()) is not None
    assert accepted > 60


def test_a_question_asked_in_text_is_free_in_steps(open_crowd: Open) -> None:
    session = open_crowd()
    first = session.ask("select sex, count(*) as people from people where age>=30 group by sex", spend=0.5)
    second = session.query().where("age >= 30").group_by("sex").count("n").ask(spend=0.5)
    assert (first.cached, second.cached) == (False, True)
    assert [row["n"] for row in second.rows] == [row["people"] for row in first.rows]
    assert session.query().count().ask(spend=0.1, fresh=True, request="r").cached is False
    assert session.query().count().ask(spend=0.1, fresh=True, request="r").cached is True
    assert len(session.history()) == 2


def test_steps_explain_and_name_a_spend(open_crowd: Open) -> None:
    session = open_crowd()
    counted = session.query().count("n").mean("age", "a")
    spend = counted.spend_for(error=20, column="n")
    assert spend == session.spend_for(counted.sql(), error=20, column="n")
    assert counted.explain(spend=spend).expected_error["n"] <= 20
    with pytest.raises(UsageError, match="spend"):
        counted.ask()


def test_each_step_is_a_new_builder(open_crowd: Open) -> None:
    start = open_crowd().query()
    counted = start.count("n")
    grouped = counted.group_by("sex")
    assert counted.sql() == "SELECT COUNT(*) AS n FROM people"
    assert "GROUP BY sex" in grouped.sql()
    with pytest.raises(UsageError, match="asks for no number"):
        start.sql()
    with pytest.raises(AttributeError):
        counted._limit = "LIMIT 5"  # type: ignore[misc]
    assert "Session" not in repr(counted)


@pytest.mark.parametrize("table", ["order", "two words", 'a"b', "select", "Ä", "x;--", "true", "date"])
def test_tables_and_names_of_every_spelling(table: str) -> None:
    read = parse(Builder(Explaining(), table).count(table).sql())
    assert (read.table, read.selected[0].name) == (table, table)


# ---- what it refuses

REACHING = [
    "1 = 1) OR (2 = 2",
    "age > 1) OR (1 = 1",
    "age > 1 GROUP BY sex",
    "age > 1 LIMIT 5",
    "age > 1; SELECT 1",
    "age > 1 FROM other",
    "age > 1 /*",
    "age > 1) --",
    "age > 1) UNION SELECT (1",
    "age > 1 UNION SELECT 1",
    "age > 1, age < 2",
    "(SELECT 1)",
    "EXISTS (SELECT 1)",
    "age IN (SELECT age FROM people)",
    "age > (SELECT MAX(age) FROM people)",
    "age",
    "COUNT(*) > 1",
    "age AS b",
    "",
    " ",
    "--",
    ")",
    "(",
    "'",
    '"',
    "age = 1 AND",
]


@pytest.mark.parametrize("text", REACHING)
def test_no_part_reaches_beyond_itself(text: str) -> None:
    steps: list[Callable[[str], Builder]] = [
        query().where,
        lambda part: query().where("age > 1").where(part),
        lambda part: query().count("n").group_by(part),
        lambda part: query().aggregate(part, "n"),
        lambda part: query().aggregate(f"SUM({part})", "n"),
        lambda part: query().sum(part, "n"),
    ]
    for step in steps:
        if text == "age" and step in (steps[2], *steps[-2:]):
            continue  # a column alone is a key and a value
        with pytest.raises(Refused):
            step(text)
    if text not in ("age", "COUNT(*) > 1"):
        for after in (query().count("n").having, query().count("n").order_by):
            with pytest.raises(Refused):
                after(text).sql()


@pytest.mark.parametrize(
    "text", ["income FROM other", "income), COUNT(*", "DISTINCT income", "income) OVER (", "*", "income, 1"]
)
def test_no_value_reaches_beyond_its_call(text: str) -> None:
    for step in (query().sum, query().mean, query().variance, query().stddev, query().count_values):
        with pytest.raises(Refused):
            step(text)


@pytest.mark.parametrize(
    "text", ["COUNT(*) OVER ()", "COUNT(*), SUM(age)", "COUNT(*) + sex", "sex", "1", "*", "COUNT(*) n"]
)
def test_an_aggregate_is_one_call(text: str) -> None:
    with pytest.raises(Refused):
        query().aggregate(text, "n")
    with pytest.raises(Refused):
        query().aggregate(text)


@pytest.mark.parametrize("text", ["n DESC", "n, n", "n ASC", "n NULLS FIRST", "1; 2"])
def test_an_order_is_one_column(text: str) -> None:
    with pytest.raises(Refused):
        query().count("n").order_by(text)


@pytest.mark.parametrize("name", ["n FROM other --", 'n" FROM other --', "n, SUM(age) AS m", "'", "n)"])
def test_a_name_is_only_a_name(name: str) -> None:
    read = parse(query().count(name).sql())
    assert [item.name for item in read.selected] == [name]


@pytest.mark.parametrize("value", [None, 5, b"age", ["age"]])
def test_parts_are_texts(value: Any) -> None:
    for step in (query().where, query().group_by, query().sum, query().aggregate, query().having, query().order_by):
        with pytest.raises(UsageError, match="is a text, not"):
            step(value)
    with pytest.raises(UsageError, match="a name is a text"):
        query().count(5)  # type: ignore[arg-type]


@pytest.mark.parametrize("rows", [-1, 1.5, "5", True, 10**9])
def test_limits_are_whole(rows: Any) -> None:
    for options in ({"rows": rows}, {"rows": 1, "offset": rows}):
        with pytest.raises(UsageError):
            query().limit(**options)


def test_long_and_deep_parts_are_refused() -> None:
    for part in ("1 = 1 OR " * LONGEST + "1 = 1", "(" * 5000 + "age = 1" + ")" * 5000, "age > " + "-" * 5000 + "1"):
        with pytest.raises(Refused):
            query().where(part)


def test_a_parser_that_runs_out_of_stack_is_a_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    def endless(text: str) -> None:
        raise RecursionError

    monkeypatch.setattr(sql_parts, "one_statement", endless)
    with pytest.raises(Refused, match="nest"):
        read_part("age = 1", "a condition")


def test_parts_that_mean_something_else_together_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second lock, behind a first one that is broken on purpose."""
    careless = {"where": "age > 1 OR sex = 'f'", "key": "sex, grade", "call": "COUNT(*), SUM(age) AS s"}
    monkeypatch.setattr(building, "read_part", lambda text, what: Part(text, False))
    with pytest.raises(Refused, match="something else together"):
        query().where(careless["where"]).where("age < 9").count("n").sql()
    with pytest.raises(Refused, match="'sex, grade' is not a column"):
        query().count("n").group_by(careless["key"])
    with pytest.raises(Refused, match="is not an aggregate"):
        query().aggregate(careless["call"])


@given(st.text(max_size=30), st.text(max_size=30))
def test_any_text_is_one_part_or_refused(one: str, two: str) -> None:
    for text in (one, f"age = '{one}' {two}", f"age {one} (1 {two})"):
        try:
            made = query().where("age > 5").where(text).count("n").sql()
        except SfumatoError:
            continue
        assert len(parse(made).selected) == 1
        assert parse(made).keys == ()


def test_the_schema_still_decides() -> None:
    with pytest.raises(Refused, match="identifier"):
        query().where("name = 'x'").count("n").explain(spend=1)
