"""One contract for every engine, and the checks of it: whoever is handed over as a `Candidate` answers all of them.

Each check gives what it found wrong, so that a wrong twin (`tests.contract.wrong_leaves`) can be told from the right
engine by the same check: nothing found, or something.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from sfumato.engines.arrange import look_at_all
from sfumato.engines.protocol import Engine, Query
from sfumato.engines.sql.counting import emit
from sfumato.engines.sql.dialect import Dialect
from sfumato.engines.wordings import engine_failed
from sfumato.errors import EngineFailed
from sfumato.plan.caps import Caps
from sfumato.plan.counting import WHOLE_WEIGHT
from sfumato.plan.nodes import Plan
from sfumato.schema.columns import Float, Int
from sfumato.schema.table import Schema
from sfumato.schema.unit import Person, Row
from tests.contract import hostile_rows, leaves
from tests.contract.everything import TABLE, plans_about_everything
from tests.contract.random_tables import UNIT_ID, rows_of_one
from tests.emitter import arrange, numbers_of
from tests.engines import test_caps, test_cut, test_parts, test_weights
from tests.reference import Integers, evaluate

Change = Callable[[pa.Table], None]
STATE = Schema("people", Row(), {"n": Int(0, 9)})
SMALL_CAPS = (Caps(3, 2, 1), Caps(3, 2, 2))  # where groups alone decide, and where all rows of a person do
STATE_BEFORE, STATE_AFTER = pa.table({"n": [1, 2, 3]}), pa.table({"n": [1, 2, 3, 4]})


class Candidate(Protocol):
    """An engine to be tested, and how tables get in front of it."""

    name: str
    dialect: Dialect

    def load(self, table: Any, schema: Schema) -> Engine:
        """An engine on a table in memory (pandas or Arrow), wherever it puts it."""

    def changing(self, table: pa.Table, schema: Schema, folder: Path) -> tuple[Engine, Change] | None:
        """An engine on a table that somebody can change meanwhile, and how; None where nobody can."""


def integers(engine: Engine, plan: Plan, schema: Schema, dialect: Dialect) -> Integers:
    """Of a part of plain numbers one row for every declared group."""
    (found,) = engine.rows([Query(emit(numbers_of(plan), schema, dialect))], engine.version())
    return arrange(plan, found)


def emitter(dialect: Dialect) -> Callable[[Plan, Schema], str]:
    return lambda plan, schema: emit(numbers_of(plan), schema, dialect)


def _differ(engine: Engine, plan: Plan, schema: Schema, dialect: Dialect, expected: Integers) -> bool:
    try:
        return integers(engine, plan, schema, dialect) != expected
    except EngineFailed:
        return True


# ---- the integers of the reference interpreter


def wrong_about_everything(candidate: Candidate, dialect: Dialect | None = None) -> Iterator[Plan]:
    """Plans over the table with everything in it that do not give the integers of the reference."""
    engine, rows = candidate.load(TABLE, next(plans_about_everything())[1]), TABLE.to_pylist()
    try:
        for plan, schema in plans_about_everything():
            try:
                expected = evaluate(plan, schema, rows)
            except ValueError:
                continue  # max_groups binds
            if _differ(engine, plan, schema, dialect or candidate.dialect, expected):
                yield plan
    finally:
        engine.close()


def wrong_leaves(candidate: Candidate, dialect: Dialect | None = None) -> Iterator[Plan]:
    """Plans, of one leaf or a few each, that do not give the integers of the reference."""
    for schema, plans in leaves.plans():
        engine, rows = candidate.load(leaves.TABLE, schema), leaves.TABLE.to_pylist()
        try:
            for plan in plans:
                if _differ(engine, plan, schema, dialect or candidate.dialect, evaluate(plan, schema, rows)):
                    yield plan
        finally:
            engine.close()


def wrong_cells(candidate: Candidate, dialect: Dialect | None = None) -> Iterator[str]:
    """Questions about cells, different values and open keys whose entries are not those of the interpreter."""
    for question, claim, schema, data in test_parts.random_questions():
        engine = candidate.load(test_parts.table(data), schema)
        try:
            sql = [emit(made, schema, dialect or candidate.dialect) for made in claim.countings]
            (got,) = look_at_all(engine, [(claim.countings, sql)], engine.version())
            if test_parts.measured(got) != test_parts.interpreted(claim.plan, schema, data):
                yield question
        except EngineFailed:
            yield question
        finally:
            engine.close()


# ---- the choice of a person's groups


def shared_order(right: Dialect) -> Dialect:
    """The dialect with the one order that all engines can write: then all of them choose the same groups."""

    def order(values: Sequence[str]) -> str:
        parts = " || '|' || ".join(f"COALESCE('+' || {right.as_text(value)}, '-')" for value in values)
        return f"md5({parts})"

    return changed(right, order=order)


def first_by_shared_order(plan: Plan) -> Callable[[Any, Sequence[int]], list[int]]:
    """What the reference keeps of a person by that order."""
    assert isinstance(plan.unit, Person)
    salt, most = int(plan.digest()[:15], 16), plan.unit.max_groups

    def keep(person: Any, groups: Sequence[int]) -> list[int]:
        def order(group: int) -> tuple[str, int]:
            written = f"+{person}|+{group}|+{salt}"
            return hashlib.md5(written.encode(), usedforsecurity=False).hexdigest(), group

        return sorted(groups, key=order)[:most]

    return keep


def groups_kept_alone(
    candidate: Candidate, table: Mapping[str, Any], plan: Plan, schema: Schema, dialect: Dialect | None = None
) -> dict[Any, list[int]]:
    """Which groups each person is counted in when nobody else is there."""
    kept = {}
    for person in {value.as_py() for value in table[UNIT_ID]} - {None}:
        engine = candidate.load(rows_of_one(dict(table), person), schema)
        found = integers(engine, plan, schema, dialect or candidate.dialect)
        engine.close()
        kept[person] = [group for group, row in enumerate(found) if row[0]]
    return kept


# ---- how much of one person counts


def beyond_caps(candidate: Candidate, dialect: Dialect | None = None) -> Iterator[str]:
    """Kinds of counting in which the worst of all small people is not the certified one."""
    write, load = emitter(dialect or candidate.dialect), candidate.load
    for caps in SMALL_CAPS:
        worst = test_caps.worst(test_caps.moved(caps, write, load))
        yield from (f"{caps}: {name}" for name, claim in test_caps.claims(caps).items() if worst[name] != claim)
        if test_cut.most_cut(test_cut.counted(caps, write, load)) != caps.groups:
            yield f"{caps}: people of whom something is cut"
    for crowd in test_weights.CROWDS:
        weighed = test_weights.moved(test_weights.planned(2), crowd, test_weights.everybody(3), write, load)
        if max(sum(change**2 for change in changes) for changes in weighed) != WHOLE_WEIGHT**2:
            yield f"weights in a crowd of {len(crowd)}"


# ---- failures


def failing_rows(candidate: Candidate, dialect: Dialect | None = None) -> Iterator[tuple[str, Any]]:
    """Hostile rows, each alone and all together, on which a question fails, and the question."""
    for schema in hostile_rows.SCHEMAS:
        queries = {
            name: [emit(numbers_of(plan), schema, dialect or candidate.dialect) for plan in plans]
            for name, plans in hostile_rows.plans(schema).items()
        }
        for table in hostile_rows.tables(alone=schema.unit == Row()):
            engine = candidate.load(table, schema)
            for name, sql in queries.items():
                try:
                    engine.rows([Query(one) for one in sql], engine.version())
                except EngineFailed:
                    yield name, table.to_pylist()
            engine.close()


def telling_failures(candidate: Candidate) -> Iterator[str]:
    """Queries that do not fail with the one text, or after which the engine does not go on."""
    secret = "a secret"
    schema = Schema("people", Row(), {"n": Int(0, 9), "x": Float(0, 1)})
    engine = candidate.load(pa.table({"n": [1], "x": [0.5]}), schema)
    good = Query("SELECT COUNT(*) FROM people")
    version = engine.version()
    for sql in ("not SQL at all", f"SELECT CAST('{secret}' AS INTEGER) FROM people", "SELECT nothing FROM people"):
        try:
            engine.rows([good, Query(sql)], version)
            yield sql
        except EngineFailed as failure:
            if str(failure) != str(engine_failed()) or failure.__cause__ is not None or secret in repr(failure.args):
                yield sql
        if engine.rows([good], version) != [[(1,)]]:
            yield sql
    engine.close()
    try:
        engine.rows([good], version)
        yield "a closed engine answers"
    except EngineFailed:
        pass


# ---- one state


class Meanwhile(list[Query]):
    """Queries between the first two of which somebody does something."""

    def __init__(self, queries: Sequence[Query], do: Callable[[], None]) -> None:
        super().__init__(queries)
        self._do = do

    def __iter__(self) -> Iterator[Query]:
        for place, query in enumerate(super().__iter__()):
            if place == 1:
                self._do()
            yield query


def states_seen(candidate: Candidate, folder: Path) -> set[int] | None:
    """How many rows the queries of one call saw while somebody added one; nothing if the call failed."""
    opened = candidate.changing(STATE_BEFORE, STATE, folder)
    if opened is None:
        return None
    engine, change = opened
    try:
        version = engine.version()
        count = Query("SELECT COUNT(*) FROM people")
        found = engine.rows(Meanwhile([count] * 3, lambda: change(STATE_AFTER)), version)
        return {int(rows[0][0]) for rows in found}
    except EngineFailed:
        return set()
    finally:
        engine.close()


def answers_of_other_states(candidate: Candidate, folder: Path) -> Iterator[str]:
    """What is asked of a state that the engine has named, or never named, and is answered in another."""
    opened = candidate.changing(STATE_BEFORE, STATE, folder)
    engine, change = (candidate.load(STATE_BEFORE, STATE), None) if opened is None else opened
    versions = ["a state that nobody has named"]
    if change is not None:
        versions.append(engine.version())
        change(STATE_AFTER)
    engine.version()
    for version in versions:
        try:
            engine.rows([Query("SELECT COUNT(*) FROM people")], version)
            yield f"rows of {version}"
        except EngineFailed:
            pass
        try:
            with engine.kept("people", STATE, version):
                yield f"a copy of {version}"
        except EngineFailed:
            pass
    engine.close()


# ---- the rest of the protocol


def wrong_about_calls(candidate: Candidate) -> Iterator[str]:
    """What a call gives: as many results as queries, in their order; cells as an array of whole numbers."""
    engine = candidate.load(STATE_BEFORE, STATE)
    version = engine.version()
    if engine.rows([], version) != []:
        yield "no queries have results"
    cells = Query("SELECT n AS g, COUNT(*) AS m0 FROM people GROUP BY n", cells=True)
    numbers, one = engine.rows([cells, Query("SELECT 17")], version)
    if not isinstance(numbers, np.ndarray) or numbers.dtype != np.int64:
        yield "cells are no array"
    if sorted(map(tuple, np.asarray(numbers).tolist())) != [(1, 1), (2, 1), (3, 1)] or list(map(tuple, one)) != [(17,)]:
        yield "results are not in the order of the queries"
    if engine.version() != version:
        yield "a state has two names"
    if engine.shortest_tick < 5_000_000:
        yield "answers may leave before 5 ms"
    with engine.lane(None) as own, own.slot():
        if own is not engine or engine.one() is not engine:
            yield "an engine is not its own lane"
    with engine.kept("people", STATE, version) as name:
        if [tuple(row) for row in engine.rows([Query(f"SELECT COUNT(*) FROM {name}")], version)[0]] != [(3,)]:
            yield "what is kept is not the source"
    try:
        engine.rows([Query(f"SELECT COUNT(*) FROM {name}")], version)
        yield "what was kept stays"
    except EngineFailed:
        pass
    engine.close()


def changed(right: Dialect, **leaves: Any) -> Dialect:
    """A dialect with some leaves replaced."""
    made: Any = type("Changed", (type(right),), {})()
    for name, leaf in leaves.items():
        setattr(made, name, leaf)
    return made
