"""Cells, different values, people and open keys: what an engine finds, and how far one unit can move it.

Tables are small and random, of values at and beyond every edge; each is asked with and without each of its units.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import floor, inf, isnan, nan
from random import Random
from typing import Any

import pyarrow as pa
import pytest

from sfumato.audit.replay import integers_of
from sfumato.engines.arrange import look
from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.kernel.certify import Certified
from sfumato.kernel.cost import Cost
from sfumato.kernel.gate import Found
from sfumato.kernel.mechanisms.protocol import CellCounts
from sfumato.plan.counting import countings, weights
from sfumato.plan.nodes import CountDistinct, CountRows, CountValues, Grid, OpenKey, Plan, Sum
from sfumato.query.planned import planned
from sfumato.schema.columns import Category, Float, Int, Text
from sfumato.schema.table import Schema
from sfumato.schema.unit import Person, Row, Unit
from tests.emitter import emit
from tests.engines.brute_force import Emit, twin
from tests.marks import one_in
from tests.reference import Reader, _place, group_number

COLUMNS = {"x": Float(-2, 5), "n": Int(0, 9), "g": Category(["a", "b"]), "free": Text()}
XS = [-inf, -9.0, -2.0, -1.999999, 0.25, 1.5, 4.999999, 5.0, 1e308, inf, nan, None]
NS = [-(2**62), -1, 0, 3, 5, 9, 10, 2**62, None]
GS, FREE = ["a", "b", "undeclared", None], ["red", "blue", "", "red ", None]
UNITS = (Row(), Person("who", max_rows=3, max_groups=2), Person("who", max_rows=1))
QUESTIONS = (
    "SELECT MEDIAN(x), MIN(n) FROM t",
    "SELECT g, HISTOGRAM(x, 4), MODE(n) FROM t GROUP BY g",
    "SELECT CDF(n, 5), MODE(g), COUNT(*) FROM t WHERE n <> 3 OR x IS NULL",
    "SELECT g, COUNT(DISTINCT n), COUNT(DISTINCT x) FROM t GROUP BY g",
    "SELECT COUNT(DISTINCT free) FROM t",
)
PEOPLE = "SELECT g, COUNT(DISTINCT who), SUM(n) FROM t GROUP BY g"
OPEN = (
    "SELECT free, COUNT(*), SUM(n) FROM t GROUP BY free",
    "SELECT free, g, QUANTILE(x, 0.25), COUNT(DISTINCT n) FROM t GROUP BY free, g",
)


def rows(choose: Random, count: int) -> list[dict[str, Any]]:
    return [
        {
            "x": choose.choice(XS),
            "n": choose.choice(NS),
            "g": choose.choice(GS),
            "free": choose.choice(FREE),
            "who": choose.choice([1, 1, 1, 2, 3, None]),
        }
        for _ in range(count)
    ]


def table(found: list[dict[str, Any]]) -> pa.Table:
    types = {"x": pa.float64(), "n": pa.int64(), "g": pa.string(), "free": pa.string(), "who": pa.int64()}
    return pa.table({name: pa.array([row[name] for row in found], kind) for name, kind in types.items()})


def certified(question: str, unit: Unit, *, opened: bool = False) -> tuple[Certified, Schema]:
    schema = Schema("t", unit, COLUMNS)
    price = Cost("rho" if opened else "epsilon", Fraction(1))
    return planned(question, schema, price, Fraction(1, 1000)).certified, schema


def found(plan: Plan, schema: Schema, data: list[dict[str, Any]], write: Emit = emit) -> Found:
    engine = DuckDBEngine(table(data), schema)
    try:
        return look(engine, countings(plan), [write(counting, schema) for counting in countings(plan)])
    finally:
        engine.close()


def without_each(data: list[dict[str, Any]], unit: Unit) -> Iterator[list[dict[str, Any]]]:
    if isinstance(unit, Row):
        yield from ([row for place, row in enumerate(data) if place != gone] for gone in range(len(data)))
    else:
        yield from ([row for row in data if row["who"] != gone] for gone in (1, 2, 3))


def worst(question: str, unit: Unit, write: Emit = emit, tables: int = 4) -> float:
    """The largest change by one unit, as a part of what is certified."""
    choose, largest = Random(question), 0.0
    claim, schema = certified(question, unit)
    bounds = [one.sensitivity.l1 for one in claim.releases]
    for size in [7, 9, 12, *[10] * tables][:tables]:
        data = rows(choose, size)
        whole = integers_of(claim.plan, found(claim.plan, schema, data, write).entries)
        for fewer in without_each(data, unit):
            less = integers_of(claim.plan, found(claim.plan, schema, fewer, write).entries)
            for one, other, bound in zip(whole, less, bounds, strict=True):
                moved = sum(abs(a - b) for a, b in zip(one, other, strict=True))
                largest = max(largest, moved / bound)
    return largest


@pytest.mark.parametrize(("unit", "question"), one_in(2, product(UNITS, QUESTIONS)))
def test_no_unit_moves_more_than_is_certified(question: str, unit: Unit) -> None:
    assert 0 < worst(question, unit) <= 1


@pytest.mark.parametrize("unit", UNITS[1:], ids=str)
def test_a_person_is_counted_in_no_more_than_max_groups(unit: Unit) -> None:
    assert 0 < worst(PEOPLE, unit, tables=20) <= 1


@pytest.mark.parametrize(
    ("question", "right", "wrong"),
    [
        (QUESTIONS[0], "CASE WHEN total > most THEN {to} - {before} ", "CASE WHEN FALSE THEN 0 "),
        (
            QUESTIONS[4],
            "SELECT DISTINCT {groups}, c FROM lines WHERE place <= most",
            "SELECT DISTINCT {groups}, c FROM lines",
        ),
        (PEOPLE, " WHERE rank <= {caps.groups}", ""),
    ],
    ids=["rows in a cell", "different values of a person", "groups of a person"],
)
def test_a_twin_that_does_not_bound_is_flagged(question: str, right: str, wrong: str) -> None:
    assert worst(question, Person("who", max_rows=1), twin((right, wrong)), tables=12) > 1


# ---- what is found


def cell(grid: Grid, value: float | None) -> int | None:
    if value is None or isnan(value):
        return None
    if value <= grid.lower or value >= grid.upper:
        return 0 if value <= grid.lower else grid.size - 1
    return min(floor((Fraction(value) - grid.lower) / grid.width), grid.size - 1)


@pytest.mark.parametrize(
    ("question", "name"), [("SELECT HISTOGRAM(x, 7) FROM t", "x"), ("SELECT CDF(n, 4) FROM t", "n")]
)
def test_each_row_is_counted_in_its_cell(question: str, name: str) -> None:
    claim, schema = certified(question, Row())
    grid = claim.plan.measures[0].aggregate.cells  # type: ignore[union-attr]
    data = rows(Random(7), 300)
    ((counted,),) = found(claim.plan, schema, data).entries
    expected = Counter(cell(grid, row[name]) for row in data)
    del expected[None]
    assert dict(zip(counted.places.tolist(), counted.counts.tolist(), strict=True)) == dict(sorted(expected.items()))  # type: ignore[union-attr]


@pytest.mark.parametrize("lower", [0.0, 0.1, -3.7, 1e-9, 1e9])
def test_values_at_the_edges_of_cells_count_once_and_in_range(lower: float) -> None:
    schema = Schema("t", Row(), {"x": Float(lower, lower + 0.3)})
    plan = planned("SELECT HISTOGRAM(x, 3) FROM t", schema, Cost("epsilon", Fraction(1))).certified.plan
    edges = [lower + i * 0.1 for i in range(-1, 5)]
    near = [value + side * abs(value) * 2.0**-52 for value in edges for side in (-1, 0, 1)]
    engine = DuckDBEngine(pa.table({"x": near}), schema)
    ((counted,),) = look(engine, countings(plan), [emit(counting, schema) for counting in countings(plan)]).entries
    engine.close()
    assert counted.fit(3)  # type: ignore[union-attr]
    assert counted.counts.sum() == len(near)  # type: ignore[union-attr]


def test_different_values_and_people_are_counted() -> None:
    unit = Person("who", max_rows=1000, max_groups=2)
    claim, schema = certified("SELECT g, COUNT(DISTINCT n), COUNT(DISTINCT who) FROM t GROUP BY g", unit)
    data = rows(Random(3), 200)
    entries = found(claim.plan, schema, data).entries
    kept = [row for row in data if row["who"] is not None]
    assert list(entries) == [
        (
            len({row["n"] for row in kept if row["g"] == letter and row["n"] is not None}),
            len({row["who"] for row in kept if row["g"] == letter}),
        )
        for letter in "ab"
    ]


@pytest.mark.parametrize("question", OPEN)
@pytest.mark.parametrize("weighted", [False, True])
def test_open_keys_come_with_the_number_of_their_units_or_their_weight(question: str, weighted: bool) -> None:
    data = rows(Random(5), 120)
    for unit, who in ((Row(), None), (Person("who", max_rows=1000, max_groups=100), "who")):
        claim, schema = certified(question, unit, opened=True)
        assert claim.plan.selection is not None
        assert claim.plan.selection.weighted == (who is not None)
        chosen = replace(claim.plan.selection, weighted=weighted and who is not None)
        got = found(replace(claim.plan, selection=chosen), schema, data)
        kept = [row for row in data if row["free"] is not None and (who is None or row[who] is not None)]
        grouped = "GROUP BY free, g" in question
        units: dict[Any, set[Any]] = {}
        for place, row in enumerate(kept):
            group = (row["free"], "ab".index(row["g"])) if grouped and row["g"] in ("a", "b") else (row["free"], 0)
            if not grouped or row["g"] in ("a", "b"):
                units.setdefault(group, set()).add(place if who is None else row[who])
        assert got.groups is not None
        assert got.units is not None
        held = Counter(one for own in units.values() for one in own)
        each = {one: weights(100)[many - 1] if chosen.weighted else 1 for one, many in held.items()}
        expected = {group: sum(each[one] for one in own) for group, own in units.items()}
        assert dict(zip(got.groups, got.units.tolist(), strict=True)) == expected


def test_of_open_keys_a_person_holds_max_groups() -> None:
    claim, schema = certified(OPEN[0], Person("who", max_rows=3, max_groups=2), opened=True)
    data = [{"x": 1.0, "n": 1, "g": "a", "free": f"key {i}", "who": 1} for i in range(50)]
    got = found(claim.plan, schema, data)
    assert got.units is not None
    assert got.units.tolist() == [weights(2)[1]] * 2
    assert sum(row[0] for row in got.entries) <= 3  # type: ignore[misc]


def test_an_open_key_that_is_missing_is_nobodys() -> None:
    claim, schema = certified(OPEN[0], Row(), opened=True)
    got = found(claim.plan, schema, [{"x": 1.0, "n": 1, "g": "a", "free": None, "who": 1}])
    assert got == Found([], [], got.units)


def test_every_statement_of_a_question_is_one_counting() -> None:
    claim, _ = certified("SELECT MEDIAN(x), MAX(x), COUNT(*), HISTOGRAM(x, 3), COUNT(DISTINCT n) FROM t", Row())
    made = [(counting.kind, counting.measures) for counting in claim.countings]
    assert made == [("numbers", (1,)), ("cells", (0,)), ("cells", (2,)), ("distinct", (3,))]


# ---- random plans against the plain-Python interpreter

CALLS = (
    "COUNT(*)",
    "COUNT(x)",
    "COUNT(DISTINCT n)",
    "COUNT(DISTINCT free)",
    "COUNT(DISTINCT x + n)",
    "HISTOGRAM(x * 2, 5)",
    "HISTOGRAM(n, 3)",
    "CDF(n - x, 7)",
    "MEDIAN(n)",
    "QUANTILE(x, 0.3)",
    "MODE(g)",
    "MODE(n % 4)",
    "SUM(n)",
)
WHERE = (
    "",
    " WHERE n > 2",
    " WHERE x IS NOT NULL AND g = 'a'",
    " WHERE NOT (n < 5 OR x > 1)",
    " WHERE free IN ('red', '')",
)
KEYS = ((), ("g",), ("free",), ("BIN(n, 5)",), ("free", "g"), ("g", "n % 3"))


def interpreted(plan: Plan, schema: Schema, data: list[dict[str, Any]]) -> dict[Any, list[Any]]:
    """Group → what each measure counts, and of open keys the number of units or their weight.

    Needs: nobody has more rows or groups than allowed.
    """
    reader = Reader(schema)
    declared = replace(plan, keys=tuple(key for key in plan.keys if not isinstance(key, OpenKey)))
    opened = [key.expression for key in plan.keys if isinstance(key, OpenKey)]
    members: dict[Any, list[dict[str, Any]]] = {}
    if not opened:
        members = {(number,): [] for number in range(plan.groups)}
    for row in data:
        number, values = group_number(declared, row, reader), [reader.value(key, row) for key in opened]
        wanted = plan.where is None or reader.truth(plan.where, row) is True
        known = not isinstance(plan.unit, Person) or row["who"] is not None
        if number is not None and None not in values and wanted and known:
            members.setdefault((*values, number), []).append(row)
    counted = {group: [_counted(m.aggregate, reader, held) for m in plan.measures] for group, held in members.items()}
    return {group: [*row, *_units(plan, members, group)] for group, row in counted.items()}


def _units(plan: Plan, members: dict[Any, list[dict[str, Any]]], group: Any) -> list[int]:
    if not plan.open or isinstance(plan.unit, Row):
        return [len(members[group])] if plan.open else []
    people = {key: {row["who"] for row in held} for key, held in members.items()}
    keys = Counter(one for own in people.values() for one in own)
    weighted = plan.selection is not None and plan.selection.weighted
    return [sum(weights(plan.capped.groups)[keys[one] - 1] if weighted else 1 for one in people[group])]


def _counted(aggregate: Any, reader: Reader, held: list[dict[str, Any]]) -> Any:
    match aggregate:
        case CountRows():
            return len(held)
        case CountValues(value=value):
            return sum(reader.value(value, row) is not None for row in held)
        case CountDistinct(value=value):
            return len({reader.value(value, row) for row in held} - {None})
        case Sum(value=value, lattice=lattice):
            return sum(reader.on_lattice(value, lattice, row) or 0 for row in held)
        case _ if isinstance(aggregate.cells, Grid):
            places = Counter(cell(aggregate.cells, reader.value(aggregate.cells.value, row)) for row in held)  # type: ignore[arg-type]
        case _:
            places = Counter(_place(aggregate.cells, reader.value(aggregate.cells.expression, row)) for row in held)
    return {place: count for place, count in sorted(places.items(), key=str) if place is not None}


def _shown(entry: Any) -> Any:
    if isinstance(entry, CellCounts):
        return dict(zip(entry.places.tolist(), entry.counts.tolist(), strict=True))
    return entry


def measured(got: Found) -> dict[Any, list[Any]]:
    """Group → what each measure counted, as `interpreted` gives it."""
    if got.groups is None or got.units is None:
        return {(place,): [_shown(entry) for entry in row] for place, row in enumerate(got.entries)}
    found = zip(got.groups, got.entries, got.units.tolist(), strict=True)
    return {group: [*(_shown(entry) for entry in row), units] for group, row, units in found}


def random_questions() -> Iterator[tuple[str, Certified, Schema, list[dict[str, Any]]]]:
    """For `check_engine`: questions, what was certified, and rows, of which nobody has too many."""
    choose = Random(11)
    for _ in range(60):
        keys = choose.choice(KEYS)
        calls = choose.sample(CALLS, choose.randint(1, 4))
        selected = ", ".join([*keys, *(f"{call} AS c{i}" for i, call in enumerate(calls))])
        question = f"SELECT {selected} FROM t{choose.choice(WHERE)}" + (f" GROUP BY {', '.join(keys)}" if keys else "")
        unit = choose.choice([Row(), Person("who", max_rows=10_000, max_groups=1000)])
        claim, schema = certified(question, unit, opened="free" in keys)
        yield question, claim, schema, rows(choose, choose.choice([0, 1, 8, 40]))
