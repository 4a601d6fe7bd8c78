"""C8: fresh noise means a charge, and no charge means the same bytes, for every shape of question."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf

COLUMNS: dict[str, Any] = {
    "age": sf.Int(0, 99),
    "town": sf.Text(),
    "sex": sf.Category(["f", "m"]),
    "born": sf.Date("1920-01-01", "2020-01-01"),
}
SHAPES = [
    ("SELECT COUNT(*) AS n FROM people", "select  count( * ) AS many from PEOPLE -- please"),
    (
        "SELECT sex, AVG(age), VARIANCE(age) FROM people GROUP BY sex",
        "SELECT sex AS s, AVG(p.age) AS a, VARIANCE(age) FROM people p GROUP BY 1",
    ),
    (
        "SELECT MEDIAN(age), MAX(age), MODE(sex) FROM people",
        "SELECT median(AGE) m, max(age), mode(sex) FROM people ORDER BY 1",
    ),
    (
        "SELECT HISTOGRAM(age, 4), CDF(age, 4) FROM people",
        "SELECT histogram(age, 4) h, cdf((age), 4) c FROM people LIMIT 1",
    ),
    (
        "SELECT town, COUNT(DISTINCT age) FROM people GROUP BY town",
        "SELECT COUNT(DISTINCT age) AS d, town FROM people GROUP BY town ORDER BY town",
    ),
    (
        "SELECT BIN(age, 10) AS b, COUNT(*) FROM people GROUP BY b",
        "SELECT FLOOR(age / 10) * 10 AS b, COUNT(*) FROM people GROUP BY 1",
    ),
    (
        "SELECT SUM(CASE WHEN age > 30 THEN 1 ELSE 0 END) FROM people WHERE YEAR(born) > 1950",
        "SELECT SUM(CASE WHEN (age > 30) THEN 1 ELSE 0 END) AS s FROM people WHERE (YEAR(born) > 1950)",
    ),
    (
        "WITH old AS (SELECT age FROM people WHERE age > 60) SELECT COUNT(*) FROM old",
        "WITH old AS (SELECT age FROM people WHERE age > 60) SELECT COUNT(*) AS n FROM old",
    ),
]


def table(more: int = 0) -> pa.Table:
    count = 600 + more
    return pa.table(
        {
            "age": [i % 90 for i in range(count)],
            "town": ["Ulm" if i % 3 else "Bonn" for i in range(count)],
            "sex": ["fm"[i % 2] for i in range(count)],
            "born": [f"{1920 + i % 90}-05-01" for i in range(count)],
        }
    )


def opened(path: Path, analyst: str = "research") -> sf.Session:
    return sf.protect(
        path, table="people", unit=sf.Row(), columns=COLUMNS, budget=sf.Budget(1000, 1e-3), analyst=analyst
    )


def numbers(answer: sf.Answer) -> list[str]:
    """What was released, whatever the columns are called and however they are ordered."""
    bars = [[json.dumps(pair) for pair in row.values()] for row in answer.interval()]
    return sorted(json.dumps(sorted(json.dumps(value) for value in row.values())) for row in answer.rows) + sorted(
        json.dumps(sorted(row)) for row in bars
    )


@pytest.mark.parametrize(("question", "reworded"), SHAPES, ids=[shape[0][:40] for shape in SHAPES])
def test_c8_no_charge_and_the_same_bytes_or_a_charge_and_fresh_noise(
    tmp_path: Path, question: str, reworded: str
) -> None:
    path = tmp_path / "people.parquet"
    pq.write_table(table(), path)
    with opened(path) as session:
        first = session.ask(question, spend=1)
        told = {json.dumps([session.ask(question, spend=1).rows, first.interval()]) for _ in range(50)}
        assert told == {json.dumps([first.rows, first.interval()])}
        assert numbers(session.ask(reworded, spend=1)) == numbers(first)
        assert len(session.history()) == 1, "fifty times and reworded, nothing was charged"
        session.ask(question, spend=1, fresh=True)
        session.ask(question, spend=2)
        assert len(session.history()) == 3
    with opened(path, "press") as other:
        assert not other.ask(question, spend=1).cached
        assert len(other._ledger.history()) == 4, "another analyst pays"
    pq.write_table(table(more=1), path)
    with opened(path) as later:
        assert not later.ask(question, spend=1).cached
        assert len(later._ledger.history()) == 5, "other data is another question"
