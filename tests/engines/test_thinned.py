"""People with more rows in cells than count: which of these do, and that they are like all of them."""

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sfumato.engines.arrange import look
from sfumato.engines.duckdb.dialect import DUCKDB
from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.engines.sql.counting import emit
from sfumato.engines.sql.dialect import Dialect
from sfumato.engines.sql.phrases import part_of_rows
from sfumato.plan.counting import countings
from sfumato.plan.expressions import Column
from sfumato.plan.nodes import Aggregate, Grid, Histogram, Magnitudes, Measure, Plan, RangeKey, UnboundedSum
from sfumato.schema.columns import Int
from sfumato.schema.table import Schema
from sfumato.schema.unit import Person, Row
from tests.contract.check_engine import changed

TWO, TEN = (Grid(Column("x"), Fraction(0), Fraction(10), size) for size in (2, 10))
PEOPLE = 3_000
FROM_THE_FIRST = changed(DUCKDB, one_of=lambda _, many: f"({many} - {many})")
BY_WHO_ELSE_IS_THERE = changed(
    DUCKDB, one_of=lambda values, many: DUCKDB.one_of([*values, "(SELECT COUNT(*) FROM pairs)"], many)
)


def found(
    aggregate: Aggregate, rows: dict[str, Any], most: int, *, alone: bool = False, dialect: Dialect = DUCKDB
) -> list[Any]:
    """What is counted of all people, or of each of them."""
    unit = Person("who", most, 1)
    schema = Schema("t", unit, {"x": Int(private_bounds=0.33), "copy": Int(0, PEOPLE - 1)})
    keys = (RangeKey(Column("copy"), 0, PEOPLE - 1),) if alone else ()
    plan = Plan("t", unit, None, keys, (Measure(aggregate, "laplace", Fraction(1)),))
    engine = DuckDBEngine(pa.table({**rows, "copy": rows["who"]}), schema)
    try:
        sql = [emit(counting, schema, dialect) for counting in countings(plan)]
        return [entry for (entry,) in look(engine, countings(plan), sql).entries]
    finally:
        engine.close()


def of_everybody(values: list[int], people: int = PEOPLE) -> dict[str, Any]:
    return {"who": np.repeat(np.arange(people), len(values)), "x": np.tile(values, people)}


def deviations(counts: np.ndarray[Any, Any], chances: list[float], many: int) -> float:
    """The largest of all cells, of draws with these chances."""
    expected = np.array(chances)
    return float(np.max(np.abs(counts - many * expected) / np.sqrt(many * expected * (1 - expected))))


@pytest.mark.parametrize(
    ("line", "values", "chances"),
    [(TWO, [1, 7, 7, 7], [1 / 4, 3 / 4]), (TEN, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9], [1 / 10] * 10)],
    ids=["one in four", "ten different"],
)
def test_a_row_counts_as_often_as_any_other(line: Grid, values: list[int], chances: list[float]) -> None:
    (counted,) = found(Histogram(line), of_everybody(values), 1)
    assert counted.counts.sum() == PEOPLE
    assert deviations(counted.dense(line.size), chances, PEOPLE) < 6
    (broken,) = found(Histogram(line), of_everybody(values), 1, dialect=FROM_THE_FIRST)
    assert deviations(broken.dense(line.size), chances, PEOPLE) > 6


def test_a_person_is_thinned_by_their_own_rows_alone() -> None:
    rows = of_everybody([1, 7, 7, 7], 40)
    few = {name: column[rows["who"] < 20] for name, column in rows.items()}
    for dialect, right in ((DUCKDB, True), (BY_WHO_ELSE_IS_THERE, False)):
        all_of_them = found(Histogram(TWO), rows, 1, alone=True, dialect=dialect)
        some_of_them = found(Histogram(TWO), few, 1, alone=True, dialect=dialect)
        same = [all_of_them[who].places.tolist() == some_of_them[who].places.tolist() for who in range(20)]
        assert all(same) == right


@pytest.mark.parametrize("most", [1, 7, 100])
def test_below_every_cell_count_as_many_of_a_persons_rows_as_their_part(most: int) -> None:
    values = np.random.default_rng(3).lognormal(4, 1.5, 9_999).astype(int).clip(0, 999)
    line = Grid(Column("x"), Fraction(0), Fraction(1000), 1000)
    (counted,) = found(Histogram(line), {"who": np.zeros(len(values), int), "x": values}, most)
    kept = np.cumsum(counted.dense(1000))
    assert kept[-1] == most
    part = most / len(values) * np.cumsum(np.bincount(values, minlength=1000))
    assert np.max(np.abs(kept - part)) < 1


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("most", [1, 3, 10])
def test_sum_and_count_of_people_with_many_rows_are_of_the_same_rows(most: int, sign: int) -> None:
    """Before, each cell kept as many rows as any other, and sums were clipped to edges: means were far too small."""
    values = sign * np.random.default_rng(5).lognormal(3, 1.2, (PEOPLE, 40)).astype(int)
    rows = {"who": np.repeat(np.arange(PEOPLE), 40), "x": values.ravel()}
    (entry,) = found(UnboundedSum(Magnitudes(Column("x"), 0, 62), Fraction(1, 3)), rows, most)
    count, total = int(entry.cells.counts.sum()), sum(entry.sums)
    assert count == most * PEOPLE
    error = values.std(axis=1).mean() / np.sqrt(PEOPLE)  # at most, as of one row each
    assert abs(total / count - values.mean()) < 6 * error + 1  # and what is rounded towards 0
    assert abs(values.mean()) > 20 * error


def test_a_part_of_very_many_rows_is_exact_in_64_bits() -> None:
    """Multiplied at once they would overflow, and the question would fail because of one person's rows."""
    names = ("most", "total", "upto", "start")
    rows = [
        (most, total, upto, start)
        for most, total in product((1, 1000, 2**30 - 1), (2**17 + 1, 2**34, 2**46 - 1))
        for upto, start in product((0, 1, total // 3, total), (0, total - 1))
    ]
    table = pa.table({name: [row[place] for row in rows] for place, name in enumerate(names)})
    engine = DuckDBEngine(table, Schema("t", Row(), dict.fromkeys(names, Int())))
    got = engine.run(f"SELECT {', '.join(names)}, {part_of_rows('upto', DUCKDB)} FROM t")
    engine.close()
    assert len(got) == len(rows)
    assert all(part == (most * upto + start) // total for most, total, upto, start, part in got)
