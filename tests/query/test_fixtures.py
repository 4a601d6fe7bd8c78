"""Every question under tests/fixtures/sql becomes the plan, or meets the refusal, that is written below it."""

from collections.abc import Iterator

import duckdb
import pytest

import sfumato as sf
from sfumato.engines.sql.phrases import quoted
from sfumato.query.sql_parts import written_back
from tests.query.asking import COLUMNS, EPSILON, LOOKUPS, RHO, TABLES, walk
from tests.query.cases import Case, outcome, read_cases, schema_for

CASES = [case for case in read_cases() if case.question]
TYPES = {
    sf.Int: "BIGINT",
    sf.Float: "DOUBLE",
    sf.Date: "DATE",
    sf.Category: "VARCHAR",
    sf.Text: "VARCHAR",
    sf.Identifier: "VARCHAR",
}
EXTREMES = {
    "BIGINT": [2**63 - 1, -(2**63), 0, None],
    "DOUBLE": [float("nan"), float("-inf"), 1e308, None],
    "DATE": ["0001-01-01", "9999-12-31", "2000-02-29", None],
    "VARCHAR": ["f", "'", "", None],
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.file}:{case.line}")
def test_a_question_becomes_its_plan_or_its_refusal(case: Case) -> None:
    assert outcome(case.question, schema_for(case.file)) == case.expected


def test_what_is_written_back_becomes_the_same_plan() -> None:
    """A ledger keeps this text: planned again it must have the digest that was paid for, and show the same columns."""
    for case in (case for case in CASES if not case.refused):
        schema, written = schema_for(case.file), written_back(case.question)
        first, again = (walk(text, schema=schema, budget=RHO) for text in (case.question, written))
        assert first.certified.digest == again.certified.digest, written
        assert (first.draft, first.bound) == (again.draft, again.bound)
        assert "\n" not in written


def test_there_are_many_of_both_kinds_and_none_twice() -> None:
    assert sum(case.refused for case in CASES) >= 150
    assert sum(not case.refused for case in CASES) >= 90
    assert len({case.question for case in CASES}) == len(CASES)


@pytest.fixture(scope="module")
def database() -> Iterator[duckdb.DuckDBPyConnection]:
    """The tables of the schema with rows of extremes and a row of NULLs."""
    who = {"who": sf.Int()}
    tables = {"people": who | COLUMNS} | {name: who | dict(table.columns) for name, table in TABLES.items()}
    tables |= {name: lookup.all_columns for name, lookup in LOOKUPS.items()}
    with duckdb.connect(":memory:") as connection:
        for table, columns in tables.items():
            types = {name: "BIGINT" if name == "grade" else TYPES[type(column)] for name, column in columns.items()}
            made = ", ".join(f"{quoted(name)} {kind}" for name, kind in types.items())
            connection.execute(f"CREATE TABLE {table} ({made})")
            for i in range(4):
                row = [EXTREMES[kind][i] for kind in types.values()]
                connection.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)
        yield connection


@pytest.mark.slow
@pytest.mark.parametrize("budget", [EPSILON, RHO], ids=["epsilon", "rho"])
def test_every_plan_costs_the_spend_and_its_sql_runs_on_extreme_rows(
    database: duckdb.DuckDBPyConnection, budget: sf.Budget
) -> None:
    for case in CASES:
        if case.refused:
            continue
        walked = walk(case.question, schema=schema_for(case.file), budget=budget)
        # Roots of zCDP are rounded down, so a choice may cost a trifle less.
        assert 0 <= walked.price.amount - walked.certified.cost.amount < walked.price.amount / 10**12, case
        for counting, sql in zip(walked.certified.countings, walked.sql, strict=True):
            for row in database.execute(sql).fetchall():
                assert all(type(value) is int for value in row), case
                assert 0 <= row[0] < counting.groups * counting.size
