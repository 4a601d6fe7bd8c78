"""Every small table, with and without each unit, through the emitted SQL: how far can one unit move an answer?

The universe exceeds every bound by one: values below and above their bounds, one row and one group more than a person
may have, undeclared and NULL keys, rows without an id. Answers are laid out as `arrange` does it.

`worst_of_every_table` asks one question for thousands of tables at once: an extra declared key says which table a row
belongs to, and nobody is in two tables. `worst_of_corners` asks the question itself, table by table, about the few
tables where bounds are met.
"""

from __future__ import annotations

import importlib
import inspect
import re
import types
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations_with_replacement, product
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.engines.protocol import Engine, Query
from sfumato.kernel.certify import certify
from sfumato.plan.expressions import Arithmetic, Call, Case, Column, Comparison, Condition, Number, String
from sfumato.plan.lattice import Lattice
from sfumato.plan.nodes import (
    Aggregate,
    CentredSum,
    CountRows,
    CountValues,
    Key,
    ListedKey,
    Measure,
    Plan,
    RangeKey,
    Sum,
)
from sfumato.schema.columns import Category, Float, Int
from sfumato.schema.table import Schema
from sfumato.schema.unit import Person, Row, Unit
from tests.emitter import Emit, arrange, numbers_of, sql_of
from tests.reference import Reader, group_number

# In the order in which they build upon each other; the words of DuckDB before what is put together from them.
NAMES = ("sql.dialect", "sql.phrases", "duckdb.dialect", "sql.expressions", "sql.sources", "sql.counting")
EMITTER = [importlib.import_module(f"sfumato.engines.{name}") for name in NAMES]

Load = Callable[[Any, Schema], Engine]
Kind = dict[str, Any]  # one row, without its id
Vectors = np.ndarray[Any, np.dtype[np.int64]]  # (group, measure)

LETTERS, PAIR, DIGITS = ("a", "b", "c"), ("a", "b"), (1, 2)
KEYS: dict[str, tuple[Key, ...]] = {
    "no key": (),
    "one key": (ListedKey(Column("letter"), LETTERS),),
    "two keys": (ListedKey(Column("pair"), PAIR), ListedKey(Column("digit"), DIGITS)),
    "range key": (RangeKey(Column("level"), 0, 2),),
    "computed key": (
        RangeKey(
            Arithmetic(
                "*", Call("FLOOR", (Arithmetic("/", Column("level"), Number(Fraction(2))),)), Number(Fraction(2))
            ),
            0,
            1,
            Fraction(2),
        ),
    ),
    "key by case": (
        ListedKey(
            Case(((Comparison("=", Column("letter"), String("a")), String("first")),), Column("letter")),
            ("first", "b"),
        ),
    ),
}
KEY_VALUES: dict[str, list[Kind]] = {
    "no key": [{}],
    "one key": [{"letter": value} for value in (*LETTERS, "undeclared", None)],
    "two keys": [
        *({"pair": pair, "digit": digit} for pair, digit in product(PAIR, DIGITS)),
        {"pair": "undeclared", "digit": 1},
        {"pair": "a", "digit": 9},
        {"pair": None, "digit": 2},
    ],
    "range key": [{"level": value} for value in (0, 1, 2, 3, None)],
    "computed key": [{"level": value} for value in (0, 1, 2, 4, None)],
    "key by case": [{"letter": value} for value in ("a", "b", "c", "first", None)],
}
# Far outside every bound on both sides, inside, and missing.
VALUES: list[Kind] = [
    {"x": -9, "z": -np.inf},
    {"x": 9, "z": np.inf},
    {"x": None, "z": np.nan},
    {"x": 1, "z": 0.25},
]
ONLY_KEPT: Condition = Comparison("=", Column("kept"), Number(Fraction(1)))
AGGREGATES: dict[str, Aggregate] = {
    "COUNT(*)": CountRows(),
    "COUNT(x)": CountValues(Column("x")),
    "COUNT(z)": CountValues(Column("z")),
    "COUNT(kept)": CountValues(Column("kept")),
    "SUM above 0": Sum(Column("x"), Lattice(2, 5, 0)),
    "SUM below 0": Sum(Column("x"), Lattice(-5, -2, 0)),
    "SUM around 0, mostly above": Sum(Column("x"), Lattice(-2, 3, 0)),
    "SUM around 0, mostly below": Sum(Column("x"), Lattice(-3, 2, 0)),
    "SUM of reals": Sum(Column("z"), Lattice(-3, 5, -1)),
    "SUM of wide bounds": Sum(Column("z"), Lattice(-(2**30), 2**30, -20)),
    "centred, odd width": CentredSum(Column("x"), Lattice(2, 5, 0)),
    "centred, even width": CentredSum(Column("x"), Lattice(-2, 4, 0)),
    "centred reals": CentredSum(Column("z"), Lattice(-3, 5, -1)),
    "centred, wide bounds": CentredSum(Column("z"), Lattice(-(2**30), 2**30, -20)),
}
COLUMNS = {
    "letter": Category(LETTERS),
    "pair": Category(PAIR),
    "digit": Category(DIGITS),
    "level": Int(0, 2),
    "x": Int(-5, 5),
    "z": Float(-1.5, 2.5),
    "kept": Int(0, 1),
}
TYPES = {
    "who": pa.int64(),
    "letter": pa.string(),
    "pair": pa.string(),
    "digit": pa.int64(),
    "level": pa.int64(),
    "x": pa.int64(),
    "z": pa.float64(),
    "kept": pa.int64(),
    "tab": pa.int64(),
}


@dataclass(frozen=True)
class Shape:
    """What is asked, apart from the aggregates: all of them are asked at once."""

    unit: Unit
    keys: str
    where: bool

    def __str__(self) -> str:
        unit = "row" if isinstance(self.unit, Row) else f"person {self.unit.max_rows}x{self.unit.max_groups}"
        return f"{unit}, {self.keys}{', WHERE' if self.where else ''}"

    @property
    def schema(self) -> Schema:
        return Schema("people", self.unit, COLUMNS)

    @property
    def plan(self) -> Plan:
        measures = tuple(Measure(aggregate, "laplace", Fraction(1)) for aggregate in AGGREGATES.values())
        return Plan("people", self.unit, ONLY_KEPT if self.where else None, KEYS[self.keys], measures)

    @property
    def most_rows(self) -> int:
        """One more than one unit may have."""
        return self.unit.max_rows + 1 if isinstance(self.unit, Person) else 3

    @property
    def kinds(self) -> list[Kind]:
        """The different rows there can be. With WHERE there are three times as many, so the less telling ones go."""
        if not self.where:
            values = VALUES if self.most_rows * len(KEY_VALUES[self.keys]) <= 20 else VALUES[:3]
            return [{**key, **value, "kept": 1} for key, value in product(KEY_VALUES[self.keys], values)]
        values = VALUES[:3] if self.most_rows <= 3 else VALUES[:2]
        places = KEY_VALUES[self.keys][:4]
        return [{**key, **value, "kept": kept} for key, value, kept in product(places, values, (1, 0, None))]

    def counts(self, kind: Kind) -> bool:
        """Whether a row of this kind may have any effect at all."""
        declared = group_number(self.plan, kind, Reader(self.schema)) is not None
        return declared and (kind["kept"] == 1 or not self.where)


@dataclass(frozen=True)
class Worst:
    """The largest change one unit made, by measure, the most groups it was seen in, and the largest change made by a
    unit none of whose rows should count."""

    l1: list[int]
    l2_squared: list[int]
    groups: int
    uncounted: int
    tables: int

    def joined(self, other: Worst) -> Worst:
        return Worst(
            [max(pair) for pair in zip(self.l1, other.l1, strict=True)],
            [max(pair) for pair in zip(self.l2_squared, other.l2_squared, strict=True)],
            max(self.groups, other.groups),
            max(self.uncounted, other.uncounted),
            self.tables + other.tables,
        )

    def breaches(self, shape: Shape) -> list[str]:
        """The aggregates that moved further than certified; whether a person reached too many groups; whether a row
        counted that has no declared key, no id, or fails the condition."""
        found = [
            name
            for name, bound, l1, l2_squared in zip(AGGREGATES, bounds(shape), self.l1, self.l2_squared, strict=True)
            if l1 > bound or l2_squared > bound**2
        ]
        most_groups = shape.unit.max_groups if isinstance(shape.unit, Person) else 1
        found += ["groups"] if self.groups > most_groups else []
        return found + (["uncounted"] if self.uncounted else [])


def bounds(shape: Shape) -> list[int]:
    """What the kernel certifies for each aggregate."""
    return [release.sensitivity.l1 for release in certify(shape.plan, shape.schema, "epsilon").releases]


def _worst(differences: Vectors, uncounted: Sequence[bool]) -> Worst:
    """Of an array (pair of tables, group, measure); `uncounted` marks the pairs that must not differ."""
    sizes = np.abs(differences)
    return Worst(
        sizes.sum(axis=1).max(axis=0).tolist(),
        (sizes.astype(np.uint64) ** 2).sum(axis=1).max(axis=0).tolist(),
        int((sizes.max(axis=2) > 0).sum(axis=1).max()),
        int(sizes[np.array(uncounted, dtype=bool)].max(initial=0)),
        len(sizes),
    )


# ---- all small tables in one question


def worst_of_every_table(shape: Shape, emit: Emit, load: Load = DuckDBEngine) -> Worst:
    kinds = shape.kinds
    choices = [
        choice
        for size in range(shape.most_rows + 1)
        for choice in combinations_with_replacement(range(len(kinds)), size)
    ]
    place = {choice: number for number, choice in enumerate(choices)}
    if isinstance(shape.unit, Row):
        tables = [[(None, kinds[kind]) for kind in choice] for choice in choices]
        pairs = [
            (
                place[choice],
                place[choice[:position] + choice[position + 1 :]],
                not shape.counts(kinds[choice[position]]),
            )
            for choice in choices
            for position in range(len(choice))
        ]
    else:
        others = _others(shape)
        tables = [
            [*((0, kinds[kind]) for kind in choice), *others[i % len(others)]] for i, choice in enumerate(choices)
        ]
        tables += others
        pairs = [
            (i, len(choices) + i % len(others), not any(shape.counts(kinds[kind]) for kind in choice))
            for i, choice in enumerate(choices)
        ]
    answers = _answer_all(shape, emit, tables, load)
    with_unit, without, uncounted = (list(side) for side in zip(*pairs, strict=True))
    return _worst(answers[with_unit] - answers[without], uncounted)


def _others(shape: Shape) -> list[list[tuple[int | None, Kind]]]:
    """Companies the person may be in: nobody, a modest one, an excessive one, somebody without an id.

    None of them has groups to choose from: ids differ from table to table, and with them the choice.
    """
    first, last = shape.kinds[0], shape.kinds[-1]
    return [
        [],
        [(1, first), (2, last)],
        [(1, first)] * (shape.most_rows + 1),
        [(None, first), (2, last), (2, last)],
    ]


def _answer_all(shape: Shape, emit: Emit, tables: Sequence[Sequence[tuple[int | None, Kind]]], load: Load) -> Vectors:
    """The plan's integers for every table: an array (table, group, measure)."""
    plan = shape.plan
    numbered = replace(plan, keys=(RangeKey(Column("tab"), 0, len(tables) - 1), *plan.keys))
    schema = Schema("people", shape.unit, {**COLUMNS, "tab": Int(0, len(tables))})
    rows = [
        {**kind, "tab": tab, "who": None if who is None else 4 * tab + who}
        for tab, table in enumerate(tables)
        for who, kind in table
    ]
    engine = load(_arrow(rows), schema)
    answers = np.zeros((len(tables) * plan.groups, len(plan.measures)), dtype=np.int64)
    (found,) = engine.rows([Query(sql_of(numbered, schema, emit))], engine.version())
    engine.close()
    answers[[row[0] for row in found]] = np.array([row[1:] for row in found], dtype=np.int64)
    return answers.reshape(len(tables), plan.groups, len(plan.measures))


def _arrow(rows: Sequence[Kind]) -> pa.Table:
    return pa.table({name: pa.array([row.get(name) for row in rows], kind) for name, kind in TYPES.items()})


# ---- the question itself, table by table


def worst_of_corners(shape: Shape, emit: Emit) -> Worst:
    """Neighbours of the tables in which one unit meets its bounds; rows without an id may be that person's, too."""
    sql = sql_of(shape.plan, shape.schema, emit)
    base = [(1, kind) for kind in (shape.kinds[0], shape.kinds[-1])]
    corners = list(_corners(shape))
    tables: list[list[tuple[int | None, Kind]]] = [base, *(base + corner for corner in corners)]
    with duckdb.connect(":memory:", config={"threads": 1}) as connection:
        rows = [{**kind, "tab": tab, "who": who} for tab, table in enumerate(tables) for who, kind in table]
        connection.register("frame", _arrow(rows))
        connection.execute("CREATE TABLE everything AS SELECT * FROM frame; CREATE TABLE chosen AS SELECT 0 AS tab")
        columns = ", ".join(name for name in TYPES if name != "tab")
        connection.execute(
            f"CREATE VIEW people AS SELECT {columns} FROM everything WHERE tab = (SELECT tab FROM chosen)"
        )
        answers = []
        for tab in range(len(tables)):
            connection.execute("UPDATE chosen SET tab = ?", [tab])
            answers.append(arrange(shape.plan, connection.execute(sql).fetchall()))
    by_table = np.array(answers, dtype=np.int64)
    uncounted = [not any(who is not None and shape.counts(kind) for who, kind in corner) for corner in corners]
    return _worst(by_table[1:] - by_table[:1], uncounted)


def _corners(shape: Shape) -> Iterator[list[tuple[int | None, Kind]]]:
    kinds = [kind for kind in shape.kinds if kind["kept"] == 1]
    if isinstance(shape.unit, Row):
        yield from ([(1, kind)] for kind in shape.kinds[:: max(1, len(shape.kinds) // 12)] + kinds[:2])
        return
    rows, groups = shape.unit.max_rows, shape.unit.max_groups
    if not shape.plan.keys and not shape.where:
        # Without keys the SQL has another form: here all small tables are asked one by one.
        for size in range(1, rows + 2):
            yield from ([(0, kind) for kind in choice] for choice in combinations_with_replacement(kinds, size))
    for kind in (*kinds[:2], shape.kinds[-1]):
        yield from ([(0, kind)] * count for count in (rows, rows + 1))
    yield [*[(0, kinds[0])] * rows, (None, kinds[0])]
    yield [(None, kinds[0])]
    for value in kinds[:2]:
        own = {name: value[name] for name in ("x", "z", "kept")}
        places = [{**place, **own} for place in KEY_VALUES[shape.keys]][: groups + 1]
        yield [(0, place) for place in places]
        yield [(0, place) for place in places for _ in range(rows)]
        yield [(0, place) for place in (*places[:groups], places[0])]


def twin(*changes: tuple[str, str]) -> Emit:
    """The emitter with some of its text changed: a broken twin."""
    source = "\n".join(inspect.getsource(module) for module in EMITTER)
    source = re.sub(r"^from sfumato\.engines\.(?:sql|duckdb)\.\w+ import [^\n]*$", "", source, flags=re.MULTILINE)
    for right, wrong in changes:
        assert source.count(right) == 1, f"{right!r} occurs {source.count(right)} times in the emitter"
        source = source.replace(right, wrong)
    module = types.ModuleType("emit_twin")
    exec(compile(source, "<twin of the emitter>", "exec"), module.__dict__)  # noqa: S102
    return lambda asked, schema: module.emit(numbers_of(asked), schema, module.DUCKDB)
