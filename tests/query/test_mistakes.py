"""Common mistakes: each is refused with its own reason and the nearest thing that works, never with a parser's word."""

import re

import pytest
from sqlglot import exp

from sfumato.errors import Refused
from sfumato.query.sql import parse
from sfumato.query.sql_hints import AGGREGATES, ROW_FUNCTIONS, WORKS
from sfumato.query.sql_instead import FUNCTIONS_INSTEAD, KINDS, PARTS, Instead
from tests.query.asking import JOINED, walk
from tests.query.cases import outcome

# What is written, what the message has to say, and what the hint.
SELECTED = [
    ("*", "SELECT * is not supported: rows never leave", "SELECT COUNT(*), AVG(x)"),
    ("people.*", "rows never leave", "GROUP BY key"),
    ("CASE WHEN COUNT(*) > 3 THEN 1 END", "computing with answers", "Select COUNT(*)"),
    ("COUNT(*) > 3", "a condition on answers", "HAVING"),
    ("NOT COUNT(*) > 3", "a condition on answers", "HAVING"),
    ("SUM(age) WITHIN GROUP (ORDER BY sex)", "WITHIN GROUP", "Write QUANTILE(x, 0.9), MEDIAN(x) or MODE(x), or"),
    ("COUNT(DISTINCT age, sex) FILTER (WHERE age > 30)", "this FILTER", "put the condition into CASE"),
    ("MODE() WITHIN GROUP (ORDER BY sex, age)", "WITHIN GROUP", "Write QUANTILE(x, 0.9)"),
    ("SUM(CAST(age AS FLOAT))", "a cast is not supported: it can fail", "Leave it out: age."),
    ("SUM(age::INT)", "a cast", "ROUND(age) and FLOOR(age) are whole"),
    ("TRY_CAST(age AS INT)", "a cast", "Leave it out: age."),
    ("AVG(DISTINCT age)", "AVG(DISTINCT …)", "Write AVG(age); COUNT(DISTINCT age)"),
    ("SUM(DISTINCT age, income)", "SUM(DISTINCT …)", "Write SUM(x)"),
    ("SUM(age > 30)", "a condition as a value", "Write SUM(CASE WHEN age > 30 THEN 1 ELSE 0 END)."),
    ("AVG((age > 30))", "a condition as a value", "Write AVG(CASE WHEN age > 30 THEN 1 ELSE 0 END)."),
    ("COUNT(age > 30)", "a condition as a value", "Write COUNT(CASE WHEN age > 30 THEN 1 END)."),
    ("SUM(age > 30 AND sex = 'f')", "a condition as a value", "WHEN age > 30 AND sex = 'f' THEN"),
    ("SUM(NOT age > 30)", "a condition as a value", "WHEN NOT age > 30 THEN"),
    ("SUM(zip LIKE '8%')", "a condition as a value", "WHEN zip LIKE '8%' THEN"),
    ("SUM(STARTS_WITH(zip, '8'))", "a condition as a value", "WHEN STARTS_WITH(zip, '8') THEN"),
    ("SUMIF(age, 30)", "an aggregate with a condition (SUMIF)", "SUM(CASE WHEN condition THEN x ELSE 0 END)"),
    ("QUANTILE(age)", "a call has too few arguments", "Write it like"),
    ("SUM(age, income)", "a call has too many arguments", "Write it like"),
    ("QUANTILE(0.9, age)", "age here is not supported: a constant is needed", "Write 30"),
    ("PERCENTILE(age, 90)", "this quantile", "from 0 to 1"),
    ("HISTOGRAM(age)", "HISTOGRAM cannot be asked like this", "HISTOGRAM(x, 10)"),
    ("HISTOGRAM(age, 1, 2)", "HISTOGRAM cannot be asked like this", "HISTOGRAM(x, 10)"),
    ("CDF(age)", "CDF cannot be asked like this", "CDF(x, 10)"),
    ("COUNT(DISTINCT zip, sex)", "COUNT(DISTINCT …) of several", "COUNT(DISTINCT zip || '/' || sex)"),
    ("COUNT(DISTINCT *)", "COUNT(DISTINCT *)", "Write COUNT(DISTINCT x)."),
    ("COUNT()", "an empty bracket", "COUNT(*)"),
    ("COUNT(zip, sex)", "COUNT of several", "COUNT(x)"),
    ("COUNT(people.*)", "COUNT of a table", "Write COUNT(*)"),
    ("AVG(*)", "AVG(*) is not supported", "AVG(x)"),
    ("MAX(age, income)", "this form of MAX", "MAX(x)"),
    ("FLOOR(age, 1)", "this form of FLOOR", "FLOOR(x)"),
    ("SUM(COUNT(*))", "COUNT(*) inside SUM", "Select COUNT(*) and compute with the answer yourself"),
    ("SUM(MYFUNC(AVG(age)))", "computing with answers", "Select AVG(age)"),
    ("SUM(HISTOGRAM(age, 3))", "HISTOGRAM(age, 3) inside SUM", "Select HISTOGRAM(age, 3)"),
    ("MYFUNC(age)", "there is no function MYFUNC.", "Functions of a row: ABS, ROUND"),
    ("SUM(MYFUNC(age))", "there is no function MYFUNC.", "COALESCE"),
    ("MEDAIN(age)", 'there is no function MEDAIN. Did you mean "MEDIAN"?', "Functions of a row"),
    ("COUTN(age)", 'Did you mean "COUNT"?', "Functions of a row"),
    ("SUM(FLOR(age))", 'Did you mean "FLOOR"?', "Functions of a row"),
    ("1", "1 here is not supported", "Ask for COUNT(*)"),
    ("TRUE", "TRUE here", "Ask for COUNT(*)"),
    ("ABS(1)", "ABS(1) here", "Ask for COUNT(*)"),
    ("1 + 1", "1 + 1 here", "Ask for COUNT(*)"),
    ("'age'", "a text in quotes here", "double ones"),
    ("NULL", "NULL here", "x IS NULL"),
    ("SUM(age) OVER (PARTITION BY sex)", "a window (OVER)", "GROUP BY adds up groups"),
    ("AVG(APPROX_TOP_K(age, 3))", "a list of the most frequent values (APPROX_TOP_K)", "LIMIT 3"),
    ("age[1]", "age[1] is not supported", "What works"),
    ("MODE(zip)", "MODE(zip) has no public list of values", "SELECT zip, COUNT(*) AS n … GROUP BY zip"),
    ("MODE(income)", "MODE(income) has no public list of values", "HISTOGRAM"),
    ("AVG(LN(income))", "AVG(LN(income)) has no bounds: LN has none", "Write LN(GREATEST(income, 1))."),
    ("AVG(EXP(income))", "on the declared range of its argument", "Write EXP(LEAST(income, 100))."),
    ("AVG(LENGTH(zip))", "on the declared range of its argument", "Write LEAST(LENGTH(zip), 100)."),
    ("AVG(LN(wealth))", "has no bounds.", "wealth = {"),
    ("SUM(CASE WHEN sex = 'f' THEN wealth END)", "has no bounds.", "wealth = {"),
    ("AVG(YEAR(seen))", "has no bounds.", 'seen = { type = "date"'),
    ("AVG(grade)", "has no bounds: grade is a category.", "grade = {"),
    ("AVG(zip)", '"zip" is a text, but this needs a number', "COUNT(DISTINCT zip)"),
    ("MEDIAN(born)", '"born" is a date, but this needs a number', "DATE_DIFF('day', DATE '2020-01-01', born)"),
    ("ENTROPY(age)", "this measure of shape (ENTROPY)", "HISTOGRAM"),
    ("SUM(SAFE_DIVIDE(age, grade))", "a division by what may be 0 (SAFE_DIVIDE)", "Write x / NULLIF(y, 0)"),
    ("SAFE_DIVIDE(SUM(age), COUNT(*))", "a division by what may be 0 (SAFE_DIVIDE)", "Write x / NULLIF(y, 0)"),
    ("DIV0(SUM(age), COUNT(*))", "a division by what may be 0 (DIV0)", "COALESCE(x / y, 0) is 0 there"),
]
MET = [
    ("TRUE", "a constant as a condition", "Leave it out"),
    ("1", "a constant as a condition", "Leave it out"),
    ("sex", "sex alone as a condition", "Compare it: sex = true, sex = 'yes'"),
    ("NOT member", "member alone as a condition", "member = true"),
    ("UPPER(zip)", "a value as a condition", "Compare it: UPPER(zip) > 0"),
    ("(age + 1)", "a value as a condition", "Compare it"),
    ("BIN(age, 3)", "a value as a condition", "Compare it"),
    ("age = NULL", "comparing with NULL is not supported: nothing equals NULL", "Write age IS NULL."),
    ("NULL <> age", "comparing with NULL", "Write age IS NOT NULL."),
    ("age IN (1, NULL)", "NULL here", "x IS NULL"),
    ("age IN (1 + 1)", "1 + 1 here is not supported: a constant is needed", "Write 30"),
    ("age IN (income)", "income here", "Write 30"),
    ("age IN (SELECT age FROM people)", "a sub-query here", "Ask it first"),
    ("EXISTS (SELECT 1 FROM people)", "EXISTS", "join one row per person"),
    ("age > (SELECT AVG(age) FROM people)", "an answer without noise", "Ask it first"),
    ("age > AVG(age)", "AVG(age) in WHERE", "Ask for AVG(age) first"),
    ("COUNT(*) > 3", "COUNT(*) in WHERE", "HAVING"),
    ("member IS TRUE", "IS TRUE", "Write member = true."),
    ("member IS NOT FALSE", "IS FALSE", "Write member = false."),
    ("seen > DATE '2024-01-31' - INTERVAL 30 DAY", "INTERVAL", "DATE_DIFF('day', d, DATE '2024-01-31') <= 30"),
    ("zip SIMILAR TO '8%'", "a regular expression", "LIKE"),
    ("REGEXP_MATCHES(zip, '8')", "a regular expression (REGEXP_MATCHES)", "STARTS_WITH"),
    ("zip LIKE '!%' ESCAPE '!'", "ESCAPE", "CONTAINS"),
    ("(age, sex) = (3, 'f')", "a row of several values", "Write a = 1 AND b = 2."),
    ("age ^ 2 > 1", "this operator between numbers", "POWER(x, 2)"),
    ("age > ?", "a placeholder", "Write the value itself"),
    ("age > @x", "a variable", "Write the value itself"),
    ("[age] > 3", "a square bracket", "double quotes"),
    ("age IS DISTINCT FROM 2", "comparing NULL as a value", "x <> y OR x IS NULL"),
    ("seen > CURRENT_DATE", "the day of today (CURRENT_DATE)", "DATE '2024-01-31'"),
    ("seen > NOW()", "the day of today (NOW)", "DATE '2024-01-31'"),
    ("people.ag > 3", 'there is no column "ag". Did you mean "age"?', "The columns are"),
    ("people.age.x > 3", "a name of three parts", "table.column"),
    ("age = '30'", '"age" is a number, but it is compared with a text', "numbers with numbers"),
    ("'a' = 1", "a number stands here, but it is compared with a text", "numbers with numbers"),
    ("seen + 3 > 1", '"seen" is a date, but this needs a number', "DATE_DIFF('day', DATE '2020-01-01', seen)"),
]
WHOLE = [
    ("SELECT COUNT(*) FROM main.people", "tables have plain names", "Ask FROM people."),
    ("SELECT COUNT(*) FROM read_csv('x.csv')", "a file or a function after FROM", "the table's name in the policy"),
    ("SELECT COUNT(*) FROM people TABLESAMPLE (10 PERCENT)", "a sample", "all rows count"),
    ("SELECT DISTINCT sex FROM people", "SELECT DISTINCT is not supported: rows never leave", "GROUP BY x"),
    ("SELECT COUNT(*) FROM people FETCH FIRST 5 ROWS ONLY", "FETCH", "Write LIMIT 5."),
    ("SELECT COUNT(*) FROM people FETCH NEXT ROW ONLY", "FETCH", "Write LIMIT 10."),
    ("SELECT COUNT(*) FROM people LIMIT 10 PERCENT", "this LIMIT", "Write LIMIT 10."),
    ("SELECT COUNT(*) FROM people GROUP BY (sex, age)", "a bracket here", "GROUP BY a, b"),
    ("SELECT COUNT(*) FROM people GROUP BY age > 3", "a condition as a value", "CASE WHEN age > 3 THEN 1 ELSE 0 END"),
    ("SELECT COUNT(*) FROM people GROUP BY COUNT(*)", "GROUP BY COUNT(*)", "Group by columns"),
    ("SELECT COUNT(*) FROM people GROUP BY 'sex'", "a text in quotes here", "double ones"),
    ("SELECT COUNT(*) FROM people GROUP BY CUBE (sex)", "CUBE", "GROUP BY ROLLUP (a, b) adds"),
    ("SELECT COUNT(*) FROM people GROUP BY GROUPING SETS ((sex), ())", "GROUPING SETS", "GROUP BY ROLLUP (a, b)"),
    ("SELECT TOP 5 sex, COUNT(*) FROM people GROUP BY sex", "TOP 5", "end with LIMIT 5."),
    ("SELECT TOP (12) sex, COUNT(*) FROM people GROUP BY sex", "TOP 12", "end with LIMIT 12."),
    ("SELECT COUNT(*) FROM people GROUP BY sex WITH TOTALS", "WITH TOTALS", "Ask without GROUP BY"),
    ("SELECT COUNT(*) FROM people UNION SELECT COUNT(*) FROM people", "UNION", "Ask each part by itself"),
    ("SELECT COUNT(*) FROM people INTERSECT SELECT COUNT(*) FROM people", "INTERSECT", "AND in WHERE"),
    ("SELECT COUNT(*) AS n FROM people ORDER BY age / 2", "ORDER BY age / 2 is not supported", "Sort by n"),
    ("SELECT COUNT(*) AS n FROM people ORDER BY SUM(age)", "SUM(age), which is not in the answer", "Select it too"),
    ("SELECT COUNT(*) AS n FROM people HAVING age > 3", "age is not a column of the answer", "WHERE"),
    ("SELECT COUNT(*) AS total FROM people ORDER BY totl", 'Did you mean "total"?', "The answer has total"),
    ("SELECT HISTOGRAM(age, 3) AS h FROM people HAVING h > 3", '"h" is a list, but HAVING compares', "another column"),
    (
        "SELECT HISTOGRAM(age, 3) AS h FROM people ORDER BY h",
        "a list, but lists have no order",
        "another column",
    ),
    ("SELECT COUNT(*) INTO t FROM people", "INTO", "Leave it out"),
    ("SELECT COUNT(*) FROM people LATERAL VIEW explode(x) t", "LATERAL", "a table of its own"),
    (
        "SELECT COUNT(*) FROM people AS p JOIN visits AS v USING (who) WHERE p.ag > 3",
        'there is no column "p.ag". Did you mean "p.age"?',
        "The columns are",
    ),
]
ALL = [
    *((f"SELECT {text} FROM people", message, hint) for text, message, hint in SELECTED),
    *((f"SELECT COUNT(*) FROM people WHERE {text}", message, hint) for text, message, hint in MET),
    *WHOLE,
]
CLASSES = {name.upper() for name, kind in vars(exp).items() if isinstance(kind, type) and issubclass(kind, exp.Expr)}
TABLES: list[Instead] = [*FUNCTIONS_INSTEAD, *KINDS.values(), *PARTS.values()]


@pytest.mark.parametrize(("question", "message", "hint"), ALL)
def test_a_mistake_has_its_own_reason_and_hint(question: str, message: str, hint: str) -> None:
    with pytest.raises(Refused) as refused:
        walk(question, schema=JOINED)
    assert message in refused.value.message
    assert hint in refused.value.hint
    words = set(re.findall(r"\b[A-Z]{2,}\b", refused.value.message)) & CLASSES
    known = {"NULL", "SELECT", "CASE", "GROUP", "LIMIT", *AGGREGATES, *ROW_FUNCTIONS}
    assert {word for word in words - known if word not in question.upper()} == set(), "a word of the parser"


def test_few_mistakes_get_the_whole_catalogue() -> None:
    catalogue = []
    for question, _, _ in ALL:
        with pytest.raises(Refused) as refused:
            walk(question, schema=JOINED)
        catalogue += [question] if refused.value.hint == WORKS else []
    assert catalogue == ["SELECT age[1] FROM people"]


@pytest.mark.parametrize("name", sorted({name for instead in FUNCTIONS_INSTEAD for name in instead.written}))
def test_a_function_of_the_table_is_refused_with_its_hint(name: str) -> None:
    nearest = {instead.nearest for instead in FUNCTIONS_INSTEAD if name in instead.written}
    hints = set()
    for given in ("(zip)", "(zip, 'a')", "('a', zip)", "()", "(zip, 'a', 'b')", "(age, 1, 2, 3)"):
        with pytest.raises(Refused) as refused:
            walk(f"SELECT COUNT({name}{given}) FROM people")
        hints.add(refused.value.hint)
    assert hints & nearest, hints


@pytest.mark.parametrize("instead", TABLES, ids=lambda one: one.what)
def test_the_tables_are_sentences(instead: Instead) -> None:
    assert instead.nearest.endswith((".", "…"))
    assert instead.nearest[0].isupper()
    assert not instead.reason.endswith(".")
    assert instead.written


def test_what_is_too_long_or_not_printable_is_not_repeated() -> None:
    for text in (" + ".join(["age"] * 25), "zip = '\x1b[31m' AND age"):
        with pytest.raises(Refused) as refused:
            parse(f"SELECT SUM({text} > 30) FROM people")
        assert refused.value.hint == "Write SUM(CASE WHEN … THEN 1 ELSE 0 END)."


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("MEAN(age)", "AVG(age)"),
        ("Average(age)", "AVG(age)"),
        ("VAR(age)", "VARIANCE(age)"),
        ("STD(age)", "STDDEV(age)"),
        ("COUNT_DISTINCT(zip)", "COUNT(DISTINCT zip)"),
        ("APPROX_COUNT_DISTINCT(zip)", "COUNT(DISTINCT zip)"),
        ("PERCENTILE(age, 0.9)", "QUANTILE(age, 0.9)"),
        ("PERCENTILE_CONT(age, 0.9)", "QUANTILE(age, 0.9)"),
        ("QUANTILE_DISC(age, 0.9)", "QUANTILE(age, 0.9)"),
        ("APPROX_PERCENTILE(age, 0.9)", "QUANTILE(age, 0.9)"),
        ("(COUNT(*))", "COUNT(*)"),
    ],
)
def test_another_name_of_an_aggregate_means_the_same(one: str, other: str) -> None:
    for question in ("SELECT {} FROM people", "SELECT sex, {} FROM people GROUP BY sex HAVING {} > 3"):
        assert parse(question.replace("{}", one)) == parse(question.replace("{}", other))


def test_group_by_all_names_every_key() -> None:
    question = "SELECT sex, BIN(age, 10) AS b, COUNT(*) FROM people GROUP BY "
    assert parse(question + "ALL") == parse(question + "sex, BIN(age, 10)")
    assert parse("SELECT COUNT(*) FROM people GROUP BY ALL") == parse("SELECT COUNT(*) FROM people")


def test_what_is_advised_works() -> None:
    for advised in ("LN(GREATEST(income, 1))", "LOG10(GREATEST(income, 1))", "POWER(GREATEST(income, 1), 2)"):
        assert walk(f"SELECT AVG({advised}) FROM people")
    for advised in ("EXP(LEAST(income, 100))", "LEAST(LENGTH(zip), 100)", "DATE_DIFF('day', DATE '2020-01-01', born)"):
        assert walk(f"SELECT AVG({advised}), MEDIAN({advised}) FROM people")
    for advised in ("SUM(age) / NULLIF(COUNT(*), 0)", "SUM(age) / COUNT(*)", "COALESCE(SUM(age) / COUNT(*), 0)"):
        assert walk(f"SELECT {advised} FROM people")
    for advised in ("COUNT(CASE WHEN age > 30 THEN 1 END)", "SUM(CASE WHEN age > 30 THEN 1 ELSE 0 END)"):
        assert walk(f"SELECT {advised} FROM people")


def test_every_name_that_is_suggested_works() -> None:
    for name in (*AGGREGATES, *ROW_FUNCTIONS):
        for call in (f"{name}(age)", f"{name}(age, 0.5)", f"{name}(age, 5)", f"{name}(age > 1, 2, 3)", f"{name}(zip)"):
            assert "there is no function" not in outcome(f"SELECT {call} FROM people")
