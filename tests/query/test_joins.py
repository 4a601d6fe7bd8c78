"""The page on joins: its policy opens, its questions are answered rightly, its refusals are refused."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import sfumato as sf
from sfumato.errors import Refused
from sfumato.kernel.ceilings import MOST_PAIRS
from sfumato.query.sql import MOST_CALLS
from sfumato.query.sql_sources import MOST_LEVELS, MOST_TABLES
from tests.query.test_reference import blocks, page, table_rows

PEOPLE = [(1, 20, "f", "a"), (1, 20, "f", "a"), (2, 60, "m", "b"), (3, 40, "f", "z"), (4, 30, "m", "a")]
VISITS = [(1, 1, 10), (1, 2, 20), (1, 7, 5), (2, 3, 50), (2, 3, 50), (9, 1, 1)]
# By the question's first words that differ from every other's.
ANSWERS = {
    "SELECT name, COUNT(*) AS people": [{"name": "North", "people": 3}, {"name": "South", "people": 1}],
    "SELECT r.name, AVG(r.area)": [{"name": "North", "area": 3}, {"name": "South", "area": 7}],
    "SELECT sex, SUM(cost)": [{"sex": "f", "cost": 70}, {"sex": "m", "cost": 100}],
    "SELECT sex, COUNT(day)": [{"sex": "f", "visits": 6}, {"sex": "m", "visits": 2}],
    "SELECT sex, AVG(total)": [{"sex": "f", "spent": 30}, {"sex": "m", "spent": 100}],
    "SELECT visits, COUNT(*)": [{"visits": n, "people": {1: 1, 2: 1, 3: 1}.get(n, 0)} for n in range(51)],
    "SELECT COUNT(*) AS people_with_visits": [{"people_with_visits": 3}],
    "SELECT AVG(decade)": [{"mean": (2 + 2 + 4) / 3}],
    "WITH adults AS": [{"name": "North", "years": 16 / 3}, {"name": "South", "years": 42}],
}
PLENTY = 10**9


@pytest.fixture
def session(tmp_path: Path) -> Iterator[sf.Session]:
    (tmp_path / "people.toml").write_text(
        blocks("joins.md", "toml")[0].replace("epsilon = 3", f"epsilon = {100 * PLENTY}"), encoding="utf-8"
    )
    for name, head, rows in (
        ("people", "user_id,age,sex,region", PEOPLE),
        ("visits", "user_id,day,cost", VISITS),
        ("regions", "code,name,area", [("a", "North", 3), ("b", "South", 7), ("c", "South", 9)]),
    ):
        lines = [head, *(",".join(map(str, row)) for row in rows)]
        (tmp_path / f"{name}.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    with sf.open(tmp_path / "people.toml") as opened:
        yield opened


def test_the_questions_of_the_page_get_the_right_answers(session: sf.Session) -> None:
    questions = blocks("joins.md", "sql")
    assert len(questions) == len(ANSWERS)
    for question in questions:
        (expected,) = [rows for start, rows in ANSWERS.items() if question.startswith(start)]
        rows = session.ask(question, spend=PLENTY).rows
        assert [list(row) for row in rows] == [list(row) for row in expected]
        for row, right in zip(rows, expected, strict=True):
            assert row == pytest.approx(right, abs=1e-3), question  # its noise is some 1e-5, a wrong answer 1 away


def test_the_refusals_of_the_page_are_refused_with_the_nearest_thing_that_works(session: sf.Session) -> None:
    rows = list(table_rows("joins.md", "question | why, and what works"))
    assert len(rows) >= 20
    for question, _ in rows:
        with pytest.raises(Refused) as refused:
            session.ask(question.strip("`"), spend=1)
        assert refused.value.hint
    assert session.history() == []


def test_the_limits_of_the_page_are_those_of_the_code() -> None:
    assert dict(table_rows("joins.md", "what | at most")) == {
        "tables in a question, each as often as it is used": str(MOST_TABLES),
        "`JOIN` words in a question": str(MOST_CALLS),
        "sub-queries made of one another": str(MOST_LEVELS),
        "rows of one person that a join pairs, where both sides may have several": f"{MOST_PAIRS:,}",
    }


def test_the_links_lead_somewhere() -> None:
    assert "(../proofs/contribution-bounding.md)" in page("joins.md")
    assert "[joins](joins.md)" in page("sql.md")


FOLDED = "(SELECT user_id, SUM(cost) AS total FROM visits GROUP BY user_id) AS v"


def test_every_aggregate_works_on_sources(session: sf.Session) -> None:
    calls = "COUNT(DISTINCT user_id) AS people, COUNT(DISTINCT total) AS sums, MAX(total) AS most"
    (row,) = session.ask(f"SELECT {calls} FROM {FOLDED}", spend=PLENTY).rows
    assert (row["people"], row["sums"]) == (3, 3)
    assert 0 <= row["most"] <= 2500, "three people are too few for a quantile"
    joined = f"people AS p JOIN {FOLDED} ON p.user_id = v.user_id"
    calls = "COUNT(DISTINCT p.user_id) AS people, MEDIAN(v.total) AS middle"
    rows = session.ask(f"SELECT p.sex, {calls} FROM {joined} GROUP BY p.sex", spend=PLENTY).rows
    assert [(row["sex"], row["people"]) for row in rows] == [("f", 1), ("m", 1)]
    assert all(0 <= row["middle"] <= 2500 for row in rows)
    batch = session.ask_all([f"SELECT SUM(total) AS s FROM {FOLDED}", "SELECT COUNT(*) AS n FROM people"], spend=PLENTY)
    assert [answer.rows[0] for answer in batch] == [{"s": pytest.approx(136, abs=0.1)}, {"n": 5}]
