"""Several small tables of the same people and a public one, and random sources over them."""

from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.plan.expressions import Arithmetic, Column, Comparison, Condition, Expression, IsNull, Negative, Number
from sfumato.plan.lattice import Lattice
from sfumato.plan.nodes import CentredSum, CountRows, CountValues, Key, ListedKey, Measure, Plan, RangeKey, Sum
from sfumato.plan.sources import (
    Computed,
    Folded,
    Lookup,
    OnUnit,
    PerUnit,
    Rows,
    Source,
    Taken,
    comparable,
    derive,
    number_between,
    table_caps,
)
from sfumato.schema.columns import Category, Declared, Float, Int, Text
from sfumato.schema.others import Lookup as Public
from sfumato.schema.others import Table
from sfumato.schema.table import Schema
from sfumato.schema.unit import Person, Row, Unit
from tests.emitter import arrange, emit, sql_of

LETTERS = ("a", "b", "c")
TYPES = {"who": pa.int64(), "letter": pa.string(), "x": pa.int64(), "z": pa.float64(), "day": pa.int64(),
         "cost": pa.float64()}  # fmt: skip
PEOPLE: dict[str, Declared] = {"letter": Category(LETTERS), "x": Int(-2, 3), "z": Float(-1, 2.5)}
VISITS: dict[str, Declared] = {"day": Int(0, 2), "cost": Float(-1, 4), "x": Int(0, 1)}
LETTER_ROWS = [{"key": "a", "kind": "low", "weight": 0.5}, {"key": "b", "kind": "high", "weight": None}]
DAY_ROWS = [{"day": day, "kind": kind} for day, kind in ((0, "low"), (1, "odd"), (9, "high"))]
PUBLIC_ROWS = {"letters": LETTER_ROWS, "days": DAY_ROWS}
KINDS = Category(["low", "high"])
LOOKUPS = {
    "letters": Public(pa.Table.from_pylist(LETTER_ROWS), "key", {"kind": KINDS, "weight": Float(0, 1)}),
    "days": Public(pa.Table.from_pylist(DAY_ROWS), "day", {"day": Int(), "kind": KINDS}),
}
NAN, INF = float("nan"), float("inf")


def frame(rows: list[dict[str, Any]], columns: dict[str, Declared]) -> pa.Table:
    return pa.table({name: pa.array([row[name] for row in rows], TYPES[name]) for name in ("who", *columns)})


def schema_of(unit: Unit, visits: Any = None) -> Schema:
    tables = {"visits": Table(visits, VISITS)} if isinstance(unit, Person) else {}
    return Schema("people", unit, PEOPLE, LOOKUPS, tables)


@contextmanager
def opened(tables: dict[str, list[dict[str, Any]]]) -> Iterator[DuckDBEngine]:
    """An engine on the tables; plans of every unit can be run on it."""
    schema = schema_of(Person("who", 1, 1), frame(tables["visits"], VISITS))
    engine = DuckDBEngine(frame(tables["people"], PEOPLE), schema)
    try:
        yield engine
    finally:
        engine.close()


def run(engine: DuckDBEngine, plan: Plan, emitter: Any = emit) -> list[tuple[int, ...]]:
    return arrange(plan, engine.run(sql_of(plan, schema_of(plan.unit), emitter)))


# ---- random tables and sources

ids = st.sampled_from([1, 1, 2, 3, None])
reals = st.sampled_from([-INF, -1.0, -0.3, 0.25, 1.0, 2.5, 7.0, INF, NAN, None])
people = st.fixed_dictionaries(
    {
        "who": ids,
        "letter": st.sampled_from([*LETTERS, "z", None]),
        "x": st.sampled_from([-9, -2, 0, 1, 3, 9, None]),
        "z": reals,
    }
)
visits = st.fixed_dictionaries(
    {"who": ids, "day": st.sampled_from([0, 1, 2, 5, None]), "cost": reals, "x": st.sampled_from([0, 1, 7, None])}
)
tables = st.fixed_dictionaries({"people": st.lists(people, max_size=7), "visits": st.lists(visits, max_size=7)}).map(
    lambda found: found | PUBLIC_ROWS
)


def _numbers(schema: Schema) -> list[Expression]:
    return [Column(name) for name, kind in schema.columns.items() if isinstance(kind, Int | Float)]


@st.composite
def values(draw: st.DrawFn, schema: Schema) -> Expression:
    """A number of a row: a column, or a little arithmetic."""
    literal = Number(draw(st.sampled_from([Fraction(0), Fraction(1), Fraction(-3, 2), Fraction(5)])))
    plain = [*_numbers(schema), literal]
    first, second = draw(st.sampled_from(plain)), draw(st.sampled_from(plain))
    computed = [Arithmetic(operator, first, second) for operator in ("+", "-", "*", "/")]
    return draw(st.sampled_from([first, first, Negative(first), *computed]))


@st.composite
def conditions(draw: st.DrawFn, schema: Schema) -> Condition | None:
    value = draw(values(schema))
    sign = draw(st.sampled_from(["=", "<>", "<", ">="]))
    return draw(st.sampled_from([None, IsNull(value), Comparison(sign, value, Number(Fraction(1)))]))


lattices = st.sampled_from([Lattice(-2, 3, 0), Lattice(0, 1, 0), Lattice(-4, 7, -1), Lattice(-5, -2, 0)])


@st.composite
def sources(draw: st.DrawFn, unit: Unit, depth: int = 3) -> Source:
    schema = schema_of(unit)
    kinds = ["table"] if depth == 0 else ["table", "rows", "rows", "lookup"]
    kinds += ["per unit", "on unit"] if depth and isinstance(unit, Person) else []
    kind = draw(st.sampled_from(kinds))
    if kind == "table":
        return draw(st.sampled_from(["people", *schema.tables]))
    inner = draw(sources(unit, depth - 1))
    columns = derive(inner, schema)
    match kind:
        case "rows":
            kept = draw(st.lists(st.sampled_from(list(columns.columns)), max_size=3, unique=True))
            made = [Computed(name, Column(name), columns.columns[name]) for name in kept]
            kinds_of = st.sampled_from([number_between(Fraction(-2), Fraction(3), whole=True), Float(-2, 3), Float()])
            value = draw(values(columns))
            declared = columns.columns[value.name] if isinstance(value, Column) else draw(kinds_of)
            made.append(Computed(f"made{depth}", value, declared))
            return Rows(inner, draw(conditions(columns)), tuple(made))
        case "lookup":
            table = draw(st.sampled_from(list(LOOKUPS)))
            key = LOOKUPS[table].key_column
            matching = [name for name, declared in columns.columns.items() if comparable(declared, key)]
            if not matching:
                return inner
            taken = tuple(Taken(f"{table}{depth}_{name}", name) for name in LOOKUPS[table].columns)
            return Lookup(inner, table, draw(st.sampled_from(matching)), taken, draw(st.booleans()))
        case "per unit":
            hows = draw(st.lists(st.sampled_from(["count", "sum", "mean", "least", "most"]), min_size=1, max_size=3))
            folded = [
                Folded(f"{how}{depth}_{i}", how, draw(values(columns)), draw(lattices)) for i, how in enumerate(hows)
            ]
            return PerUnit(inner, draw(conditions(columns)), tuple(folded), draw(rows_of(inner, schema)))
        case _:
            right = draw(sources(unit, depth - 1))
            taken = tuple(Taken(f"other{depth}_{name}", name) for name in derive(right, schema).columns)
            rows = (draw(rows_of(side, schema)) for side in (inner, right))
            return OnUnit(inner, right, taken, draw(st.booleans()), *rows)


def rows_of(source: Source, schema: Schema) -> st.SearchStrategy[int]:
    """As many as the owner allows, or fewer."""
    most = table_caps(source, schema).max_rows
    return st.sampled_from([most, max(1, most - 1)])


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    """Never more than three groups, so that max_groups does not bind and the engine's hash decides nothing."""
    unit = draw(st.sampled_from([Person("who", 4, 3), Person("who", 3, 3), Person("who", 60, 3), Row()]))
    source = draw(sources(unit))
    columns = derive(source, schema_of(unit))
    keys: list[tuple[Key, ...]] = [()]
    for name, declared in columns.columns.items():
        if isinstance(declared, Category):
            keys.append((ListedKey(Column(name), declared.values),))
        elif isinstance(declared, Int):
            keys.append((RangeKey(Column(name), 0, 2),))
    texts = [Column(name) for name, kind in columns.columns.items() if isinstance(kind, Text | Category)]
    aggregates = [CountRows(), CountValues(draw(st.sampled_from([draw(values(columns)), *texts])))]
    aggregates += [kind(draw(values(columns)), draw(lattices)) for kind in (Sum, CentredSum)]
    measures = tuple(Measure(aggregate, "laplace", Fraction(1)) for aggregate in aggregates)
    return Plan(source, unit, draw(conditions(columns)), draw(st.sampled_from(keys)), measures)
