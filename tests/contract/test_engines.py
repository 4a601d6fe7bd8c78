"""Every engine keeps the contract, and a wrong twin of it is told apart."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.engines.duckdb.dialect import DUCKDB
from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.engines.duckdb.tables import Sighting
from sfumato.engines.protocol import Engine, Query
from sfumato.errors import EngineFailed
from sfumato.plan.caps import Caps
from sfumato.plan.expressions import Column
from sfumato.plan.lattice import Lattice
from sfumato.plan.nodes import CentredSum, CountRows, CountValues, Key, Measure, Plan, Sum
from sfumato.schema.table import Schema
from sfumato.schema.unit import Person, Row
from tests.contract import check_engine
from tests.contract.check_engine import (
    SMALL_CAPS,
    STATE,
    STATE_AFTER,
    STATE_BEFORE,
    Candidate,
    Change,
    Meanwhile,
    changed,
    integers,
)
from tests.contract.engines import ENGINES, DuckDB, DuckDBInPlace
from tests.contract.everything import AGGREGATES
from tests.contract.random_plans import KEYS, REPEATABLE, groups_of_each_person, plans, schema_for
from tests.contract.random_tables import COLUMNS, UNIT_ID, crowded_tables, frame_of, rows_of, tables
from tests.contract.wrong_leaves import wrong
from tests.engines import test_caps, test_cut, test_weights
from tests.engines.brute_force import Shape, twin, worst_of_every_table
from tests.marks import one_in
from tests.reference import evaluate

EVERY = pytest.mark.parametrize("candidate", ENGINES, ids=lambda candidate: candidate.name)
# Where it takes long the first stays in make test.
AND_LATER = pytest.mark.parametrize("candidate", one_in(len(ENGINES), ENGINES), ids=lambda candidate: candidate.name)
FIRST, IN_PLACE = DuckDB(), DuckDBInPlace()
WRONG = wrong(FIRST.dialect)
SHAPES = (
    Shape(Row(), "two keys", where=False),
    Shape(Person("who", 2, 1), "one key", where=False),
    Shape(Person("who", 2, 2), "no key", where=True),
)


# ---- the integers of the reference interpreter


@AND_LATER
def test_a_table_with_everything_in_it_gives_the_integers_of_the_reference(candidate: Candidate) -> None:
    assert list(check_engine.wrong_about_everything(candidate)) == []


@EVERY
def test_each_leaf_gives_the_integers_of_the_reference(candidate: Candidate) -> None:
    assert list(check_engine.wrong_leaves(candidate)) == []


@AND_LATER
def test_cells_different_values_and_open_keys_are_those_of_the_interpreter(candidate: Candidate) -> None:
    assert list(check_engine.wrong_cells(candidate)) == []


@AND_LATER
@REPEATABLE
@given(table=tables(), plans=st.lists(plans(), min_size=3, max_size=6))
def test_random_plans_give_the_integers_of_the_reference(
    candidate: Candidate, table: dict[str, Any], plans: list[Plan]
) -> None:
    rows = rows_of(table)
    engine = candidate.load(frame_of(table), schema_for(Person(UNIT_ID, 1, 1)))
    for plan in plans:
        wide_enough = plan
        if isinstance(plan.unit, Person):
            # Where max_groups binds the engine's own hash decides; the next tests look there.
            needed = max(groups_of_each_person(plan, rows).values(), default=1)
            wide_enough = replace(
                plan, unit=Person(UNIT_ID, max(plan.unit.max_rows, needed), max(plan.unit.max_groups, needed))
            )
        schema = schema_for(wide_enough.unit)
        assert integers(engine, wide_enough, schema, candidate.dialect) == evaluate(wide_enough, schema, rows)
    engine.close()


@EVERY
@pytest.mark.parametrize("unit", [Row(), Person(UNIT_ID, 3, 2)], ids=["row", "person"])
@pytest.mark.parametrize("keys", [(), KEYS[:1], KEYS[1:3]], ids=["no key", "one key", "two keys"])
def test_an_empty_table_gives_a_zero_in_every_declared_group(
    candidate: Candidate, unit: Row | Person, keys: tuple[Key, ...]
) -> None:
    plan = Plan("people", unit, None, keys, tuple(Measure(each, "laplace", Fraction(1)) for each in AGGREGATES))
    nothing = pa.table({name: pa.array([], pa.int64()) for name in (UNIT_ID, *COLUMNS)})
    engine = candidate.load(nothing, schema_for(unit))
    assert integers(engine, plan, schema_for(unit), candidate.dialect) == [(0,) * len(AGGREGATES)] * plan.groups
    engine.close()


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_leaf_is_told_apart(name: str) -> None:
    checks = (check_engine.wrong_leaves, check_engine.wrong_about_everything, check_engine.wrong_cells)
    assert any(True for check in checks for _ in check(FIRST, WRONG[name]))


# ---- the choice of a person's groups

CROWDED = settings(REPEATABLE, max_examples=15)
CHOICES = given(
    table=crowded_tables(),
    keys=st.sampled_from([KEYS[:1], KEYS[0:3:2], (KEYS[2], KEYS[0])]),
    limits=st.sampled_from([(1, 1), (3, 2), (5, 2), (2, 1), (3, 3)]),
)
CHOSEN = (
    CountRows(),
    CountValues(Column("real")),
    Sum(Column("whole"), Lattice(-5, 10, 0)),
    CentredSum(Column("real"), Lattice(-4, 7, -1)),
)


def crowded(table: dict[str, Any], keys: tuple[Key, ...], limits: tuple[int, int]) -> tuple[Plan, Schema]:
    unit = Person(UNIT_ID, *limits)
    plan = Plan("people", unit, None, keys, tuple(Measure(each, "laplace", Fraction(1)) for each in CHOSEN))
    return plan, Schema("people", unit, {name: COLUMNS[name] for name in table if name != UNIT_ID})


@EVERY
@CROWDED
@CHOICES
def test_where_max_groups_binds_each_person_keeps_that_many_groups_and_chooses_them_alone(
    candidate: Candidate, table: dict[str, Any], keys: tuple[Key, ...], limits: tuple[int, int]
) -> None:
    plan, schema = crowded(table, keys, limits)
    engine, rows = candidate.load(pa.table(table), schema), rows_of(table)
    together = integers(engine, plan, schema, candidate.dialect)
    engine.close()
    kept = check_engine.groups_kept_alone(candidate, table, plan, schema)
    for person, count in groups_of_each_person(plan, rows).items():
        assert len(kept[person]) == min(limits[1], count)
    assert together == evaluate(plan, schema, rows, keep=lambda person, _: kept[person])


@EVERY
@CROWDED
@CHOICES
def test_with_the_shared_order_an_engine_chooses_the_groups_that_all_choose(
    candidate: Candidate, table: dict[str, Any], keys: tuple[Key, ...], limits: tuple[int, int]
) -> None:
    plan, schema = crowded(table, keys, limits)
    engine = candidate.load(pa.table(table), schema)
    found = integers(engine, plan, schema, check_engine.shared_order(candidate.dialect))
    engine.close()
    assert found == evaluate(plan, schema, rows_of(table), keep=check_engine.first_by_shared_order(plan))


def test_groups_chosen_by_who_else_is_there_are_told_apart() -> None:
    """The twin: one person more, and everybody else counts in other groups."""

    def order(values: Sequence[str]) -> str:
        return f"hash({', '.join(values)}, (SELECT COUNT(*) FROM pairs))"

    kinds = list(KEYS[0].values)
    table = {
        UNIT_ID: pa.array(["ann"] * len(kinds) + ["bob", "bob"]),
        "kind": pa.array([*kinds, *kinds[:2]]),
        "flag": pa.array([True] * (len(kinds) + 2)),
        "whole": pa.array([1] * (len(kinds) + 2)),
        "real": pa.array([1.0] * (len(kinds) + 2)),
    }
    plan, schema = crowded(table, KEYS[:1], (5, 2))
    for dialect, right in ((FIRST.dialect, True), (changed(FIRST.dialect, order=order), False)):
        engine = FIRST.load(pa.table(table), schema)
        together = integers(engine, plan, schema, dialect)
        engine.close()
        kept = check_engine.groups_kept_alone(FIRST, table, plan, schema, dialect)
        alone = evaluate(plan, schema, rows_of(table), keep=lambda person, _, kept=kept: kept[person])
        assert (together == alone) == right


# ---- how far one unit moves an answer


@EVERY
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_no_unit_moves_an_answer_further_than_certified(candidate: Candidate, shape: Shape) -> None:
    worst = worst_of_every_table(shape, check_engine.emitter(candidate.dialect), candidate.load)
    assert worst.breaches(shape) == []
    assert worst.tables > 100


def test_a_twin_that_moves_further_is_flagged() -> None:
    unbounded = twin(("SELECT {columns}, {most} AS most", "SELECT {columns}, CAST(1000000000 AS BIGINT) AS most"))
    assert worst_of_every_table(SHAPES[1], unbounded, FIRST.load).breaches(SHAPES[1])


@AND_LATER
def test_no_person_counts_for_more_than_the_caps_in_any_kind_of_counting(candidate: Candidate) -> None:
    assert list(check_engine.beyond_caps(candidate)) == []


@AND_LATER
@pytest.mark.parametrize("caps", SMALL_CAPS, ids=str)
def test_what_counts_of_a_person_is_decided_once_for_all_kinds_of_counting(candidate: Candidate, caps: Caps) -> None:
    write = check_engine.emitter(candidate.dialect)
    test_caps.assert_decided_once(caps, test_caps.moved(caps, write, candidate.load))
    test_cut.assert_cut_once(caps, test_cut.counted(caps, write, candidate.load))


@AND_LATER
def test_the_weights_of_a_person_are_those_of_how_many_keys_they_hold(candidate: Candidate) -> None:
    people, write = test_weights.everybody(3), check_engine.emitter(candidate.dialect)
    moves = test_weights.moved(test_weights.planned(2), test_weights.CROWDS[2], people, write, candidate.load)
    test_weights.assert_no_longer_than_one_whole(2, people, moves)


@pytest.mark.parametrize(
    ("leaf", "kinds"),
    [
        ({"quotient": lambda number, divisor: f"CAST(ceil({number} / {divisor}) AS BIGINT)"}, {"rows", "cells"}),
        ({"edge": lambda edges, place: str(edges[0])}, {"weights"}),
    ],
    ids=["quotients rounded up", "the first edge everywhere"],
)
def test_a_leaf_that_lets_somebody_count_for_more_is_told_apart(leaf: dict[str, Any], kinds: set[str]) -> None:
    found = " ".join(check_engine.beyond_caps(FIRST, changed(FIRST.dialect, **leaf)))
    assert all(kind in found for kind in kinds)


# ---- failures


@AND_LATER
def test_no_row_makes_a_question_fail(candidate: Candidate) -> None:
    assert list(check_engine.failing_rows(candidate)) == []


@pytest.mark.parametrize(
    "leaf",
    [
        {"to_big": lambda real: f"CAST({real} AS BIGINT)"},
        {"position": lambda value, listed: DUCKDB.position(f"({value})", listed).replace("TRY_CAST", "CAST")},
    ],
    ids=lambda leaf: next(iter(leaf)),
)
def test_a_leaf_that_fails_on_a_row_is_told_apart(leaf: dict[str, Any]) -> None:
    assert any(True for _ in check_engine.failing_rows(FIRST, changed(FIRST.dialect, **leaf)))


@EVERY
def test_failures_say_one_thing_and_the_engine_goes_on(candidate: Candidate) -> None:
    assert list(check_engine.telling_failures(candidate)) == []


class Telling(DuckDBEngine):
    """The twin: its own words for failures."""

    def rows(self, queries: Any, version: str) -> Any:
        try:
            return [self._connection.execute(query.sql).fetchall() for query in queries]
        except Exception as error:
            raise EngineFailed(str(error)) from error


def test_an_engine_that_tells_why_it_failed_is_told_apart() -> None:
    assert any(True for _ in check_engine.telling_failures(Loaded(Telling)))


# ---- one state


@EVERY
def test_one_call_sees_one_state(candidate: Candidate, tmp_path: Path) -> None:
    seen = check_engine.states_seen(candidate, tmp_path)
    assert seen is None or seen in (set(), {STATE_BEFORE.num_rows})


class TwoStates(DuckDBEngine):
    """The twin: files are looked at for each query anew."""

    def _seen(self, version: str) -> list[Any]:
        return []


class Loaded(DuckDBInPlace):
    def __init__(self, kind: type[DuckDBEngine]) -> None:
        self.kind = kind

    def load(self, table: Any, schema: Schema) -> DuckDBEngine:
        return self.kind(table, schema)

    def changing(self, table: pa.Table, schema: Schema, folder: Path) -> tuple[DuckDBEngine, Change] | None:
        found = super().changing(table, schema, folder)
        assert found is not None
        found[0].close()
        return self.kind(folder / "people.parquet", schema), found[1]


def test_an_engine_that_sees_two_states_is_told_apart(tmp_path: Path) -> None:
    assert check_engine.states_seen(Loaded(TwoStates), tmp_path) == {STATE_BEFORE.num_rows, STATE_AFTER.num_rows}


def test_a_state_that_was_not_named_is_not_answered_and_a_new_name_is_enough(tmp_path: Path) -> None:
    engine, change = IN_PLACE.changing(STATE_BEFORE, STATE, tmp_path)
    count = [Query("SELECT COUNT(*) FROM people")]
    version = engine.version()
    change(STATE_AFTER)
    with pytest.raises(EngineFailed):
        engine.rows(count, version)
    with pytest.raises(EngineFailed), engine.kept("people", STATE, version):
        pytest.fail("kept what was not named")
    version = engine.version()
    assert engine.rows(count, version) == [[(STATE_AFTER.num_rows,)]]
    (tmp_path / "people.parquet").unlink()
    with pytest.raises(EngineFailed):
        engine.rows(count, version)
    engine.close()


@EVERY
def test_what_is_asked_of_one_state_is_not_answered_in_another(candidate: Candidate, tmp_path: Path) -> None:
    assert list(check_engine.answers_of_other_states(candidate, tmp_path)) == []


class NamedLast(DuckDBEngine):
    """The twin: whoever names a state last decides which one is looked at."""

    def _seen(self, version: str) -> list[Sighting]:
        return super()._seen(self.version())


def test_an_engine_that_looks_at_what_was_named_last_is_told_apart(tmp_path: Path) -> None:
    assert len(list(check_engine.answers_of_other_states(Loaded(NamedLast), tmp_path))) == 4


@pytest.mark.parametrize("version", [None, "the owner's name"])
@pytest.mark.parametrize("named", [True, False])
def test_a_file_that_is_put_back_while_an_engine_looks_is_noticed(
    tmp_path: Path, named: bool, version: str | None
) -> None:
    """Also where somebody else names the state of before again; and a name of the owner's says nothing of files."""
    opened, _ = IN_PLACE.changing(STATE_BEFORE, STATE, tmp_path)
    opened.close()
    path, other, aside = (tmp_path / f"{name}.parquet" for name in ("people", "other", "aside"))
    pyarrow.parquet.write_table(STATE_AFTER, other)
    engine = DuckDBEngine(path, STATE, version=version)

    def replace() -> None:
        path.rename(aside)
        other.rename(path)
        if named:
            engine.version()
        path.rename(other)
        aside.rename(path)
        if named:
            engine.version()

    before = engine.version()
    with pytest.raises(EngineFailed):
        engine.rows(Meanwhile([Query("SELECT COUNT(*) FROM people")] * 2, replace), before)
    assert engine.version() == before, "what was asked before stays free"
    assert engine.rows([Query("SELECT COUNT(*) FROM people")], before) == [[(STATE_BEFORE.num_rows,)]]
    engine.close()


# ---- the rest of the protocol


@EVERY
def test_a_call_gives_what_the_protocol_says(candidate: Candidate) -> None:
    assert list(check_engine.wrong_about_calls(candidate)) == []


@EVERY
def test_an_engine_is_one_to_the_type_checker_too(candidate: Candidate) -> None:
    engine: Engine = candidate.load(STATE_BEFORE, STATE)
    assert engine.dialect is candidate.dialect
    engine.close()


def test_what_is_kept_is_the_rows_of_the_source_and_goes_with_the_engine() -> None:
    schema = Schema("people", Person("who", 2, 1), {"n": STATE.columns["n"]})
    engine = FIRST.load(pa.table({"who": [1, 1, 2], "n": [1, 2, 3]}), schema)
    version = engine.version()
    with engine.kept("people", schema, version) as first, engine.kept("people", schema, version) as second:
        assert first != second
        engine.rows([Query(f"SELECT who, n FROM {first}")], version)
        engine.close()
