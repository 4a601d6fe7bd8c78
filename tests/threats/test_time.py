"""C3, the clock: a scan reads the same blocks of the same rows, whether one person is there or not.

The work is counted, not timed: DuckDB's own profile of a query says how many rows and blocks each scan gave. What the
clock itself tells is measured by `python -m benchmarks timing`.
"""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sfumato.engines.duckdb import engine
from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.plan.expressions import AllOf, Column, Comparison, Condition, Number, OneOf, String
from sfumato.plan.lattice import Lattice
from sfumato.plan.nodes import CountRows, ListedKey, Measure, Plan, Sum
from sfumato.plan.sources import Computed, Folded, OnUnit, PerUnit, Rows, Source
from sfumato.schema.columns import Category, Float, Int, Text
from sfumato.schema.table import Schema
from sfumato.schema.unit import Person, Row, Unit
from tests.emitter import emit, sql_of
from tests.engines.brute_force import twin
from tests.engines.stores import stored_as

ROWS = 300_000  # three blocks of a DuckDB table
COLUMNS = {"age": Int(0, 120), "income": Float(0, 10**5), "name": Text(), "sex": Category(["f", "m"])}
OLD = Comparison(">", Column("age"), Number(Fraction(100)))
NAMED = Comparison("=", Column("name"), String("zzz"))
LISTED = OneOf(Column("name"), (String("zzz"), String("zzzz")))
FORMS = ["memory", "parquet", "duckdb"]  # how the others are kept once they are loaded is as in memory


def tables() -> tuple[pa.Table, pa.Table]:
    """One outlier, and the same table without that row."""
    generator = np.random.default_rng(5)
    names = [f"a{i:06}" for i in range(ROWS)]
    columns = {
        "who": np.arange(ROWS),
        "age": generator.integers(20, 90, ROWS),
        "income": generator.uniform(0, 10**5, ROWS),
        "name": names,
        "sex": ["f", "m"] * (ROWS // 2),
    }
    columns["age"][7], names[7] = 119, "zzz"
    full = pa.table(columns)
    return full, pa.concat_tables([full.slice(0, 7), full.slice(8), full.slice(8, 1)]).combine_chunks()


def scans(opened: DuckDBEngine, sql: str) -> list[tuple[str, int, str]]:
    """Name, rows given and blocks read of every scan."""
    [(_, profile)] = opened.run(f"EXPLAIN (ANALYZE, FORMAT JSON) {sql}")
    found = []

    def walk(node: dict[str, Any]) -> None:
        if node["type"] == "TABLE_SCAN":  # of the table itself, not of the groups found in it
            found.append((node["type"], node["intermediate_rows"], node["extra_info"].get("Row Groups Scanned", "")))
        for child in node.get("children", []):
            walk(child)

    for root in json.loads(profile)["operator"]:
        walk(root)
    return found


def work(
    folder: Path, form: str, unit: Unit, where: Condition | None, source: Source = "people", emitter: Any = emit
) -> list[list[tuple[str, int, str]]]:
    schema = Schema("people", unit, COLUMNS)
    measures = tuple(
        Measure(aggregate, "laplace", Fraction(1))
        for aggregate in (CountRows(), Sum(Column("income"), Lattice(0, 10**5, 0)))
    )
    plan = Plan(source, unit, where, (ListedKey(Column("sex"), ("f", "m")),), measures)
    done = []
    for number, table in enumerate(tables()):
        opened = DuckDBEngine(stored_as(form, table, folder, f"people{number}"), schema)
        done.append(scans(opened, sql_of(plan, schema, emitter)))
        opened.close()
    return done


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("unit", [Row(), Person("who", 2, 1)], ids=["row", "person"])
@pytest.mark.parametrize(
    "where",
    [
        pytest.param(OLD, id="old"),
        pytest.param(NAMED, id="named", marks=pytest.mark.exhaustive),
        pytest.param(LISTED, id="listed", marks=pytest.mark.exhaustive),
        pytest.param(AllOf((OLD, NAMED)), id="both"),
    ],
)
def test_one_outlier_changes_nothing_about_what_is_read(
    tmp_path: Path, form: str, unit: Unit, where: Condition
) -> None:
    first, second = work(tmp_path, form, unit, where)
    assert first == second
    assert ROWS in [rows for _, rows, _ in first]


@pytest.mark.parametrize("form", FORMS)
def test_filters_inside_the_scan_are_caught(tmp_path: Path, form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The twin: DuckDB's own way, which skips blocks of rows where nobody fits."""
    monkeypatch.setattr(engine, "DISTRUSTED", "statistics_propagation")
    first, second = work(tmp_path, form, Row(), OLD)
    assert first != second


# ---- joins: only the outlier passes the condition of one side

NEEDED = tuple(Computed(name, Column(name), COLUMNS[name]) for name in ("income", "sex"))
OUTLIER = Rows("people", OLD, NEEDED)
JOINS: dict[str, Source] = {
    "few on the right": OnUnit("people", OUTLIER, (), True, 2, 2),
    "few on the left": OnUnit(OUTLIER, "people", (), True, 2, 2),
    "few on the left, all kept": OnUnit(OUTLIER, "people", (), False, 2, 2),
    "few on the right, one row each": OnUnit(
        "people", PerUnit("people", OLD, (Folded("n", "count", Column("age"), Lattice(0, 1, 0)),), 2), (), True, 2, 1
    ),
}


@pytest.mark.parametrize("name", JOINS)
def test_both_sides_of_a_join_are_read_whether_or_not_one_has_rows(tmp_path: Path, name: str) -> None:
    first, second = work(tmp_path, "memory", Person("who", 2, 1), None, JOINS[name])
    assert first == second
    assert [rows for _, rows, _ in first].count(ROWS) == 2


def test_an_inner_join_is_caught(tmp_path: Path) -> None:
    """The twin: DuckDB does not read the left where the right has no row."""
    inner = twin(("CASE WHEN other.{key} IS NULL THEN FALSE ELSE TRUE END", "other.{key} IS NOT NULL"))
    first, second = work(tmp_path, "memory", Person("who", 2, 1), None, JOINS["few on the right, one row each"], inner)
    assert first != second
