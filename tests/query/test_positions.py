"""A refusal says where: the part between « and » is the one that it is about."""

import copy
import re
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import Refused, SfumatoError
from sfumato.query.sql import parse
from tests.query.asking import COLUMNS, JOINED, SCHEMA, walk
from tests.query.cases import read_cases, schema_for
from tests.query.grammar import mutated, sentence

COUNT = "SELECT COUNT(*) FROM people"


def refused(question: str, schema: Any = SCHEMA) -> Refused:
    with pytest.raises(Refused) as caught:
        walk(question, schema=schema)
    return caught.value


def marked(error: Refused) -> str:
    if error.at is None:
        return error.question
    start, end = error.at
    return f"{error.question[:start]}«{error.question[start:end]}»{error.question[end:]}"


# ---- what the gate for SQL refuses


@pytest.mark.parametrize(
    "question",
    [
        "SELECT «SUM(age) OVER (PARTITION BY sex)» FROM people",
        "SELECT «FOO(age, sex)» FROM people",
        "SELECT SUM(«FOO(age)» + 1) FROM people",
        f"{COUNT} WHERE «AVG(age)» > 3",
        f"{COUNT} WHERE «age»",
        f"{COUNT} WHERE age > 1 AND NOT «sex» AND sex = 'f'",
        f"{COUNT} WHERE age > 1 AND sex = («NOT age»)",
        f"{COUNT} WHERE age IN («-sex»)",
        f"{COUNT} WHERE «age + 1»",
        f"{COUNT} WHERE «(age + 1) * 2»",
        f"{COUNT} WHERE born > «CURRENT_DATE»",
        f"{COUNT} WHERE age > 1 AND «true»",
        f"{COUNT} WHERE age = «?»",
        f"{COUNT} WHERE sex = «NULL»",
        f"{COUNT} WHERE age IN («sex»)",
        f"{COUNT} WHERE age > («SELECT MAX(age) FROM people»)",
        f"{COUNT} WHERE age > («SELECT DISTINCT age FROM people»)",
        f"{COUNT} WHERE «zips.age» > 1",
        f"{COUNT} WHERE age > «'1'»::INT",
        f"{COUNT} WHERE «CASE WHEN age > 1 THEN NULL ELSE 2 END» = 2",
        "SELECT «DISTINCT» COUNT(*) FROM people",
        "SELECT «*» FROM people",
        "SELECT QUANTILE(age, «2») FROM people",
        "SELECT HISTOGRAM(age, «0») FROM people",
        f"{COUNT} GROUP BY «2»",
        f"{COUNT} GROUP BY sex LIMIT «1.5»",
        f"{COUNT} HAVING «SUM(age)» > 1",
        f"{COUNT} ORDER BY «age»",
        f"{COUNT} TABLESAMPLE («10» PERCENT)",
        "SELECT COUNT(*) FROM «range(10)»",
        "SELECT COUNT(*) FROM «(people, people)»",
        "SELECT COUNT(*) FROM («SELECT age FROM people LIMIT 3»)",
        "SELECT COUNT(*) FROM (SELECT age FROM «range(10)»)",
        "SELECT SUM(«FOO(`it's`)») FROM people",
        "SELECT COUNT(*) AS `--x` FROM people WHERE age > 1 AND «sex»",
        "SELECT «TOP 5» sex, COUNT(*) FROM people GROUP BY sex",
        "SELECT DISTINCT «TOP (5)» sex, COUNT(*) FROM people GROUP BY sex",
        "SELECT QUANTILE(age, «level =>» 0.5) FROM people",
        "SELECT «WITH DIFFERENTIAL_PRIVACY» COUNT(*) FROM people",
        "SELECT «WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 1, delta = 1e-5)» COUNT(*) FROM people",
    ],
)
def test_the_part_that_cannot_be_read(question: str) -> None:
    error = refused(question.replace("«", "").replace("»", ""))
    assert marked(error) == question


@pytest.mark.parametrize(
    "question",
    [
        "SELECT COUNT(*) FROM people GROUP HAVING «n» > 1",
        "SELECT COUNT(*) FROM people WHERE «age > > 3»",
        "what is the average «age»?",
        "SELECT (1 «FROM» people",
        "",
        ";",
    ],
)
def test_the_word_at_which_the_parser_stopped(question: str) -> None:
    error = refused(question.replace("«", "").replace("»", ""))
    assert marked(error) == question


# ---- what the schema refuses


@pytest.mark.parametrize(
    "question",
    [
        "SELECT «sexx», COUNT(*) AS n FROM people GROUP BY sex",
        'SELECT «"sexx"», COUNT(*) AS n FROM people GROUP BY sex',
        "SELECT sex, AVG(«sex») AS a FROM people GROUP BY sex",
        "SELECT sex, «AVG(wealth)» AS a FROM people GROUP BY sex",
        "SELECT sex, «SUM(age / (age - 1))» FROM people GROUP BY sex",
        "SELECT name, COUNT(*) FROM people GROUP BY «name»",
        "SELECT COUNT(*) FROM people GROUP BY «income»",
        "SELECT COUNT(*) FROM people GROUP BY sex, «sex»",
        "SELECT «age», COUNT(*) FROM people GROUP BY sex",
        "SELECT COUNT(*) AS n, «SUM(age)» AS n FROM people",
        f"{COUNT} WHERE age > 3 AND «sex > 'f'»",
        f"{COUNT} WHERE age > 3 AND «sex IN ('f', 'x')» AND age > 1",
        f"{COUNT} WHERE «zip BETWEEN '1' AND '2'»",
        "SELECT SUM(«CASE age WHEN 'a' THEN 1 END») FROM people",
        f"{COUNT} WHERE age > 3 OR «agee» < 3",
        f"{COUNT} WHERE YEAR(«sex») = 3",
        f"{COUNT} WHERE (age > 3 AND «born = 3»)",
        "SELECT COUNT(*) FROM «poeple»",
        "/* é 🎈 */ SELECT SUM(«agee») FROM people -- agee",
        "SELECT SUM(«`it's`») FROM people",
        'SELECT SUM(«`a"b`») FROM people',
        "SELECT COUNT(*) AS `--x` FROM people WHERE «nosuch» = 1",
        "SELECT COUNT(*) AS `/* x` FROM people WHERE age > 1 AND «`*/`» = 1",
        "SELECT SUM(age),\n  SUM(«agee»)\nFROM people",
    ],
)
def test_the_part_that_does_not_fit_the_schema(question: str) -> None:
    assert marked(refused(question.replace("«", "").replace("»", ""))) == question


@pytest.mark.parametrize(
    "question",
    [
        "SELECT COUNT(*) FROM people AS p JOIN «poeple AS q» USING (who)",
        "SELECT COUNT(*) FROM people AS p JOIN «visits AS v ON p.age = v.day»",
        "SELECT COUNT(*) FROM people AS p JOIN «zips AS z ON p.zip = z.state»",
        "SELECT SUM(«q.agee») FROM (SELECT age FROM people) AS q",
        "SELECT SUM(x) FROM (SELECT «agee» AS x FROM people) AS q",
        "SELECT SUM(x) FROM (SELECT who, MAX(age) AS x, «sex» FROM people GROUP BY who) AS q",
        "SELECT SUM(x) FROM (SELECT «who AS me», MAX(age) AS x FROM people GROUP BY who) AS q",
    ],
)
def test_the_part_of_a_join_or_a_sub_query(question: str) -> None:
    text = question.replace("«", "").replace("»", "")
    assert marked(refused(text, JOINED)) == question


# ---- all of them


def test_every_place_lies_in_its_question_and_most_refusals_have_one() -> None:
    placed = 0
    cases = [case for case in read_cases() if case.refused]
    for case in cases:
        error = refused(case.question, schema_for(case.file))
        assert error.question == case.question
        assert error.about == ()
        if error.at is not None:
            start, end = error.at
            assert 0 <= start < end <= len(case.question), case.question
            assert case.question[start:end].strip() == case.question[start:end], case.question
            placed += 1
    assert placed > 0.7 * len(cases)


def test_what_is_about_the_whole_question_has_no_place() -> None:
    for question in (f"{COUNT} UNION SELECT 1", "SELECT COUNT(*)", "SELECT sex FROM people GROUP BY sex"):
        assert refused(question).at is None


def test_what_nobody_has_typed_has_no_place() -> None:
    """The parser puts a * before a bare FROM and says it stands at the first sign, where here no word is."""
    assert refused(" FROM people").at is None
    assert refused("-- a remark\nFROM people WHERE age = 1").at is None


ODD_NAMES = ["`it's`", "`--x`", "`/* x`", '`a"b`', "`a``b`", "`people`", "`age`", '"a`b"', '"--"']


def test_whatever_is_typed_is_explained_or_refused_at_a_place_in_it(tmp_path: Path) -> None:
    choose = Random("steady")
    settings: dict[str, Any] = {"unit": sf.Row(), "budget": sf.Budget(1), "table": "people"}
    table = pa.table({name: pa.array([None], pa.string()) for name in COLUMNS})
    told: Counter[str] = Counter()
    with sf.protect(table, columns=COLUMNS, ledger=tmp_path / "people.ledger", **settings) as session:
        for _ in range(800):
            text = sentence(choose)
            for _ in range(choose.randrange(4)):
                text = choose.choice([text.replace(" ", f" {choose.choice(ODD_NAMES)} ", 1), mutated(text, choose)])
                text = re.sub(r"\bage\b", choose.choice(["age", *ODD_NAMES]), text)
            try:
                session.explain(text, spend=0.1)
                told["explained"] += 1
            except SfumatoError as error:
                start, end = getattr(error, "at", None) or (0, 1)
                assert 0 <= start < end <= max(1, len(text)), text
                told["placed" if getattr(error, "at", None) else "refused"] += 1
    assert min(told["explained"], told["placed"], told["refused"]) > 10, told


def test_a_place_outlives_copying_and_the_cache() -> None:
    question = "SELECT SUM(agee) FROM people"
    first, second = refused(question), refused(question)
    assert first.at == second.at == (11, 15)
    again = copy.deepcopy(first)
    assert (again.at, again.question, str(again)) == (first.at, question, str(first))


def test_reading_alone_says_where_too() -> None:
    with pytest.raises(Refused) as caught:
        parse(f"{COUNT} WHERE age")
    assert caught.value.at == (34, 37)
