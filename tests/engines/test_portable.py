"""Forms of SQL that all engines read alike give the integers of the shorter ones that DuckDB would take."""

import re
from datetime import date
from fractions import Fraction
from itertools import product

import duckdb
import pyarrow as pa
import pytest

from sfumato.engines.duckdb.dialect import DUCKDB
from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.engines.sql import counting, phrases, sources
from sfumato.plan.nodes import CountRows, Measure, Plan
from sfumato.plan.sources import OnUnit, Taken
from sfumato.schema.columns import Int
from sfumato.schema.table import Schema
from sfumato.schema.unit import Person
from tests.contract import hostile_rows, leaves
from tests.contract.check_engine import changed
from tests.contract.everything import plans_about_everything
from tests.emitter import emit, numbers_of
from tests.engines.several import schema_of
from tests.engines.test_relations import SOURCES, plans_about


def written() -> list[str]:
    found = [emit(plan, schema) for plan, schema in plans_about_everything()]
    found += [emit(plan, schema) for schema, plans in leaves.plans() for plan in plans]
    found += [
        emit(plan, schema)
        for schema in hostile_rows.SCHEMAS
        for plans in hostile_rows.plans(schema).values()
        for plan in plans
    ]
    return found + [emit(plan, schema_of(plan.unit)) for source in SOURCES for plan in plans_about(source)]


WRITTEN = written()


def closing(sql: str, start: int) -> int:
    """The place after the bracket that closes the one at `start`."""
    depth = 0
    for place in range(start, len(sql)):
        depth += {"(": 1, ")": -1}.get(sql[place], 0)
        if depth == 0:
            return place + 1
    raise ValueError("a bracket stays open")


def without_texts(sql: str) -> str:
    return re.sub(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"", "x", sql)


def test_every_sub_query_has_a_name_and_no_rank_is_a_condition_of_its_own() -> None:
    seen = 0
    for sql in map(without_texts, WRITTEN):
        assert "QUALIFY" not in sql
        for found in re.finditer(r"(?:FROM|JOIN) (?=\()", sql):
            assert sql[closing(sql, found.end()) :].startswith(" AS "), sql
            seen += 1
    assert seen > 100


def test_no_aggregate_needs_a_guard_around_it() -> None:
    """What is added up is a name, or a choice between names: nothing in it can fail."""
    for sql in map(without_texts, WRITTEN):
        for found in re.finditer(r"\b(?:SUM|MIN|MAX|sum_no_overflow)(?=\()", sql):
            argument = sql[found.end() : closing(sql, found.end())]
            assert "CAST(x" not in argument
            assert " / " not in argument


def test_what_breaks_ties_says_where_null_is() -> None:
    for sql in map(without_texts, WRITTEN):
        for found in re.finditer(r"ORDER BY hash(?=\()", sql):
            rest = sql[closing(sql, found.end()) :].partition(") AS")[0]
            assert rest == "" or all(tie.endswith(" NULLS FIRST") for tie in rest.removeprefix(", ").split(", "))


@pytest.mark.parametrize("default", ["NULLS_FIRST", "NULLS_LAST"])
def test_rows_whose_hashes_tie_are_chosen_alike_wherever_an_engine_puts_null(default: str) -> None:
    schema = Schema("people", Person("who", 2, 1), {"n": Int(0, 9), "sfumato_rank": Int(0, 9)})
    source = OnUnit("people", "people", (Taken("m", "n"),), True, 2, 2)
    sql = sources.write_source(source, schema, changed(DUCKDB, order=lambda _: "0"))
    with duckdb.connect(":memory:") as connection:
        connection.execute(f"SET default_null_order = '{default}'")
        connection.execute('CREATE TABLE people (who INTEGER, n INTEGER, "sfumato_rank" INTEGER)')
        connection.execute("INSERT INTO people VALUES (1, 5, 1), (1, NULL, 2), (1, 3, NULL), (2, 1, 1)")
        found = connection.execute(f"SELECT n, m FROM {sql} AS t WHERE who = 1 ORDER BY ALL NULLS FIRST").fetchall()
    assert found == [(None, None), (None, 3), (3, None), (3, 3)]


def test_a_share_of_a_centred_sum_is_what_it_was_and_fits_64_bits() -> None:
    share = counting._part_of_sum("s0", "c0", DUCKDB)
    rows = 2**32
    sums = [0, 1, -1, 7, -7, 10**9 + 7, -(10**12) - 1, 2**62 + 3, -(2**62) - 3, 2**63 - 1, -(2**63) + 1]
    cases = list(product(sums, [1, 2, 3, 1000, 10**9 + 1, rows], [1, 2, 3, 999, 10**9]))
    columns = dict(zip(("s0", "c0", "most"), zip(*cases, strict=True), strict=True))
    table = pa.table({name: pa.array(column, pa.int64()) for name, column in columns.items()})
    with duckdb.connect(":memory:") as connection:
        connection.register("cases", table)
        found = [row[0] for row in connection.execute(f"SELECT {share} FROM cases").fetchall()]
    assert found == [int(Fraction(s * most, c)) if c > most else s for s, c, most in cases]


def test_which_of_a_persons_rows_count_fits_64_bits() -> None:
    totals = [1, 2, 7, 65_535, 65_536, 65_537, 10**9 + 1, 2**33 + 1, 10**10, 2**46 - 1]
    cases = [
        (total, upto, upto - below, most, start)
        for total, most in product(totals, [1, 2, 3, 65_536, 10**9])
        for upto in {1, total // 3 + 1, total - total // 65_537, total}
        for below in {0, upto // 2, upto - 1}
        for start in {0, total // 2, total - 1}
    ]
    columns = dict(zip(("total", "upto", "n", "most", "start"), zip(*cases, strict=True), strict=True))
    table = pa.table({name: pa.array(column, pa.int64()) for name, column in columns.items()})
    with duckdb.connect(":memory:") as connection:
        connection.register("cases", table)
        found = [row[0] for row in connection.execute(f"SELECT {counting._thinned(DUCKDB)} FROM cases").fetchall()]
    assert found == [
        (most * upto + start) // total - (most * (upto - n) + start) // total if total > most else n
        for total, upto, n, most, start in cases
    ]


def test_months_and_years_between_two_days_are_those_of_the_engine() -> None:
    days = [
        date(1, 1, 1),
        date(1999, 12, 31),
        date(2000, 1, 1),
        date(2000, 2, 29),
        date(2023, 3, 1),
        date(9999, 12, 31),
    ]
    pairs = list(product([*days, None], repeat=2))
    table = pa.table({"a": pa.array([one for one, _ in pairs]), "b": pa.array([other for _, other in pairs])})
    with duckdb.connect(":memory:") as connection:
        connection.register("days", table)
        for unit in ("day", "month", "year"):
            ours = phrases.SQL["DATE_DIFF"](DUCKDB, unit, "a", "b")
            rows = connection.execute(f"SELECT {ours}, date_diff('{unit}', a, b) FROM days").fetchall()
            assert [one for one, _ in rows] == [other for _, other in rows]


def test_groups_that_tie_are_chosen_by_their_number() -> None:
    schema = Schema("people", Person("who", 9, 2), {"n": Int(0, 9)})
    key = leaves.RangeKey(leaves.Column("n"), 0, 9)
    plan = Plan("people", schema.unit, None, (key,), (Measure(CountRows(), "laplace", Fraction(1)),))
    engine = DuckDBEngine(pa.table({"who": [1] * 5, "n": [8, 3, 5, 3, 1]}), schema)
    found = engine.run(counting.emit(numbers_of(plan), schema, changed(DUCKDB, order=lambda _: "0")))
    engine.close()
    assert sorted(found) == [(1, 1), (3, 2)]
