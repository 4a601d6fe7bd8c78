"""Groups that a condition on their key leaves out: the list of groups and the filter of rows agree."""

import tracemalloc
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import Refused
from sfumato.plan.nodes import ListedKey, RangeKey
from sfumato.schema.table import Schema
from tests.query.asking import COLUMNS, RHO, walk
from tests.reference import evaluate

BIG = 2**53
FEW_DAYS = Schema(
    "people",
    sf.Row(),
    COLUMNS
    | {
        "born": sf.Date("2000-02-01", "2000-03-31"),
        "big": sf.Int(BIG - 3, BIG + 5),
        "wide": sf.Int(-(10**12), 10**12),
        "widest": sf.Int(-(2**62), 2**62),
    },
)

# A condition, the key, and whether it shrinks the answer.
CONDITIONS = [
    ("age = 30", "age", True),
    ("30 >= age", "age", True),
    ("age IN (13, 14, 15)", "age", True),
    ("age IN (13, 40, 500)", "age", True),
    ("age BETWEEN 13 AND 19", "age", True),
    ("age > 17.5 AND (age < 21 AND sex = 'f')", "age", True),
    ("age > 100 AND age IS NOT NULL AND income > 3", "age", True),
    ("sex = 'f'", "sex", True),
    ("sex IN ('f')", "sex", True),
    ("grade IN (1, 3)", "grade", True),
    ("grade >= 2", "grade", True),
    ("member = true", "member", True),
    ("born >= '2000-03-30'", "born", True),
    ("born BETWEEN DATE '2000-02-28' AND '2000-03-01'", "born", True),
    ("born IN ('2000-02-28', '2000-02-29', '2001-02-28')", "born", True),
    ("age >= -5 AND age <= -(-3)", "age", True),
    ("-1 < age AND age IN (-1, 2, 3) AND age IN (3, 4, -7)", "age", True),
    ("age IN (30, 30.5, 31, 40)", "age", True),
    ("age <= 12.99999999999999999999", "age", True),
    ("age < 13.00000000000000000001", "age", True),
    ("9007199254740993 >= big AND big > 9007199254740990.0", "big", True),
    ("big = 9007199254740993", "big", True),
    ("big IN (9007199254740993, 9007199254740991)", "big", True),
    ("big IN (9007199254740993, 0.5)", "big", True),
    ("big >= -9007199254740993.5 AND big < 9007199254740992.5", "big", True),
    ("age <> 30", "age", False),
    ("NOT age = 30", "age", False),
    ("age = 30 OR age = 40", "age", False),
    ("age = 30 OR income > 3", "age", False),
    ("age + 0 = 30", "age", False),
    ("age = street", "age", False),
    ("zip LIKE 'a%'", "sex", False),
    ("sex <> 'f'", "sex", False),
]


@pytest.mark.parametrize(("condition", "key", "shrinks"), CONDITIONS)
def test_the_groups_left_are_those_whose_rows_may_be(condition: str, key: str, shrinks: bool) -> None:
    """The reference interpreter decides, on a row for every value of the key and nothing else against it."""
    plain = walk(f"SELECT {key}, COUNT(*) FROM people GROUP BY {key}", schema=FEW_DAYS).plan
    asked = walk(f"SELECT {key}, COUNT(*) FROM people WHERE {condition} GROUP BY {key}", schema=FEW_DAYS).plan
    assert asked.where is not None, "rows are filtered all the same"
    (before,), (after,) = plain.keys, asked.keys
    assert isinstance(before, ListedKey | RangeKey)
    assert isinstance(after, ListedKey | RangeKey)
    rest: dict[str, Any] = {"age": 18, "sex": "f", "income": 10.0, "zip": "abc", "street": 30, "big": BIG}
    rows = [rest | {key: value} for value in before.values]
    counts = evaluate(replace(asked, keys=plain.keys), FEW_DAYS, rows)
    meeting = tuple(value for value, (count,) in zip(before.values, counts, strict=True) if count)
    assert after.values == (meeting if shrinks else before.values)


def test_nothing_left_is_refused_and_costs_nothing() -> None:
    with pytest.raises(Refused, match="none of the declared values of age meets it"):
        walk("SELECT age, COUNT(*) FROM people WHERE age > 500 GROUP BY age")


@pytest.mark.parametrize("column", ["wide", "widest"])
@pytest.mark.parametrize(
    ("condition", "left"),
    [
        ("{0} BETWEEN 0 AND 9", tuple(range(10))),
        ("{0} > -3 AND {0} < 0.5", (-2, -1, 0)),
        ("{0} IN (-7, 99999, 12, 10000000000000000000, 3) AND {0} < 1000", (-7, 3, 12)),
    ],
)
def test_of_a_range_without_end_a_few_are_found_by_its_ends(column: str, condition: str, left: tuple[int, ...]) -> None:
    """10¹² values were listed first: 3.6 GB for a question that costs nothing."""
    asked = f"SELECT {column}, COUNT(*) FROM people WHERE {condition.format(column)} GROUP BY {column}"
    tracemalloc.start()
    (key,) = walk(asked, schema=FEW_DAYS).plan.keys
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert isinstance(key, ListedKey | RangeKey)
    assert key.values == left
    assert most < 10_000_000


@pytest.mark.parametrize("column", ["wide", "widest"])
def test_too_many_left_are_refused_by_their_number(column: str) -> None:
    with pytest.raises(Refused, match="groups; 100000 are allowed"):
        walk(f"SELECT {column}, COUNT(*) FROM people WHERE {column} > 3 GROUP BY {column}", schema=FEW_DAYS)
    with pytest.raises(Refused, match=f"none of the declared values of {column}"):
        walk(f"SELECT {column}, COUNT(*) FROM people WHERE {column} > 1e30 GROUP BY {column}", schema=FEW_DAYS)


def test_fewer_groups_count_for_caps_and_for_what_fits() -> None:
    """A person in at most three groups moves one only, where one is left; and 121 × 36,524 groups would be too many."""
    wide = walk("SELECT age, born, COUNT(*) FROM people WHERE age = 7 AND born = '2000-01-01' GROUP BY age, born")
    assert wide.plan.groups == 1


def test_texts_made_of_texts_are_discovered(tmp_path: Path) -> None:
    table = pa.table({"zip": [f"{place % 3}{place:05d}" for place in range(3000)], "n": [1] * 3000})
    columns = {"zip": sf.Text(), "n": sf.Int(0, 1)}
    budget = sf.Budget(100, 1e-6)
    with sf.protect(table, table="t", unit=sf.Row(), columns=columns, budget=budget, ledger=tmp_path / "l") as session:
        answer = session.ask("SELECT LEFT(zip, 1) AS z, COUNT(*) AS n FROM t GROUP BY z", spend=20)
        assert [row["z"] for row in answer.rows] == ["0", "1", "2"]
        two = session.ask(
            "SELECT UPPER(LEFT(t.zip, 1)), SUM(n) AS s FROM t WHERE n > 0 GROUP BY UPPER(LEFT(zip, 1))", spend=20
        )
        assert len(two.rows) == 3
        assert all(900 < row["s"] < 1100 for row in two.rows)


def test_a_made_key_is_the_column_of_a_sub_query() -> None:
    """The same plan but for names, so that nothing new is trusted."""
    short = walk("SELECT LEFT(zip, 1) AS z, COUNT(*) FROM people GROUP BY z", budget=RHO).certified
    long = walk("SELECT z, COUNT(*) FROM (SELECT *, LEFT(zip, 1) AS z FROM people) GROUP BY z", budget=RHO).certified
    assert short.cost == long.cost
    assert [one.sensitivity for one in short.releases] == [one.sensitivity for one in long.releases]


@pytest.mark.parametrize("asked", ["COUNT(left_zip)", "COUNT(left_zip) * 2", "left_zip, COUNT(*)"])
def test_nobody_can_name_the_column_of_a_made_key(asked: str) -> None:
    with pytest.raises(Refused, match='no column "left_zip"'):
        walk(f"SELECT LEFT(zip, 1) AS z, {asked} FROM people GROUP BY z", budget=RHO)
