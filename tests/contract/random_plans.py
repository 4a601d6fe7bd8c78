"""Random plans about `random_tables`, with every expression, condition and aggregate, for `check_engine` to ask."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from sfumato.plan.expressions import (
    AllOf,
    AnyOf,
    Arithmetic,
    Call,
    Case,
    Column,
    Comparison,
    Condition,
    Day,
    Expression,
    IsNull,
    Matches,
    Negative,
    Not,
    Number,
    OneOf,
    Pick,
    String,
    UnitPart,
)
from sfumato.plan.functions import FUNCTIONS, TRUNCATIONS, UNITS
from sfumato.plan.lattice import Lattice
from sfumato.plan.nodes import (
    CentredSum,
    CountRows,
    CountValues,
    Cross,
    Grid,
    Key,
    ListedKey,
    Measure,
    Plan,
    RangeKey,
    Sum,
)
from sfumato.query.bind_expressions import bind_value
from sfumato.query.bind_keys import bind_key
from sfumato.query.sql import parse
from sfumato.schema.table import Schema
from sfumato.schema.unit import Person, Row
from tests.contract.random_tables import AWKWARD, COLUMNS, DATES, NUMBERED, NUMBERS, SCHEMA, TEXTS, UNIT_ID
from tests.reference import evaluate

REPEATABLE = settings(
    derandomize=True, database=None, deadline=None, max_examples=50, suppress_health_check=[HealthCheck.too_slow]
)


@st.composite
def literals(draw: st.DrawFn) -> Number:
    choices = [
        *(Fraction(value) for value in (0, 1, -1, 3, 10, 2**31, 2**53, -(2**53) - 1, 2**63 - 1, 2**63, -(2**64))),
        *(Fraction(text) for text in ("1/10", "5/2", "-7/2", "1/3")),
        Fraction(10) ** 100,
    ]
    return Number(draw(st.sampled_from(choices)))


ARGUMENTS: dict[str, st.SearchStrategy[Expression]] = {
    "digits": st.sampled_from([-15, -2, 0, 1, 3, 15]).map(lambda n: Number(Fraction(n))),
    "place": st.sampled_from([1, 2, 4, 10_000]).map(lambda n: Number(Fraction(n))),
    "length": st.sampled_from([0, 1, 3, 10_000]).map(lambda n: Number(Fraction(n))),
    "divisor": st.sampled_from(["1", "-3", "5/2", "1/10", "-1000000"]).map(lambda n: Number(Fraction(n))),
    "exponent": st.sampled_from(["0", "1", "2", "3", "-1", "-2", "1/2", "-5/2", "10"]).map(
        lambda n: Number(Fraction(n))
    ),
    "truncation": st.sampled_from(TRUNCATIONS).map(String),
    "unit": st.sampled_from(UNITS).map(String),
}
PATTERNS = (
    "%_a_n",
    "%t__",
    "%(_[",
    "_%._",
    "%",
    "_",
    "plain",
    "%a%",
    "p_a%n",
    "%__",
    "",
    "\\%",
    "it's",
    "%%i",
    "日_",
    "100%",
    "N%L",
    "%\\",
    "P",
)
# libm and the engine may differ in the last bit of these.
INEXACT = {"LN", "LOG10", "EXP", "POWER"}


def _listed(values: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(values, min_size=1, max_size=3).map(tuple)


def calls(gives: str, numbers: Any, texts: Any, dates: Any) -> st.SearchStrategy[Expression]:
    """Every function that gives a number, a text or a date, with arguments of the right kinds."""
    kinds = {"number": numbers, "text": texts, "date": dates}
    found: list[st.SearchStrategy[Expression]] = []
    for name, function in FUNCTIONS.items():
        if function.gives not in (gives, "same"):
            continue
        if name == "REPLACE":
            changes = st.sampled_from([("a", "b"), ("pl", ""), ("日", "it"), ("本", "é")])
            found.append(st.builds(lambda text, pair: Call("REPLACE", (text, *map(String, pair))), texts, changes))
            continue
        takes = [*function.takes, function.takes[-1]] if function.more else list(function.takes)
        arguments = [kinds[gives] if each == "same" else {**kinds, **ARGUMENTS}[each] for each in takes]
        found.append(st.tuples(*arguments).map(lambda given, name=name: Call(name, given)))
    return st.one_of(found)


def cases(values: st.SearchStrategy[Expression], tests: st.SearchStrategy[Condition]) -> st.SearchStrategy[Expression]:
    return st.builds(Case, _listed(st.tuples(tests, values)), st.one_of(st.none(), values))


plain_numbers = st.one_of(st.sampled_from([Column(name) for name in NUMBERS]), literals())
plain_texts = st.one_of(
    st.sampled_from([Column(name) for name in TEXTS]),
    st.builds(String, st.sampled_from([*AWKWARD, "true", "false", "undeclared"])),
)
plain_dates = st.one_of(
    st.sampled_from([Column(name) for name in DATES]),
    st.sampled_from([Day("2000-02-29"), Day("0001-01-01"), Day("9999-12-31")]),
)
ORDERS = ["=", "<>", "<", "<=", ">", ">="]
tests = st.one_of(
    st.builds(Comparison, st.sampled_from(ORDERS), plain_numbers, plain_numbers),
    st.builds(Comparison, st.sampled_from(["=", "<>"]), plain_texts, plain_texts),
    st.builds(IsNull, plain_numbers),
)
dates: st.SearchStrategy[Expression] = st.one_of(
    plain_dates,
    calls("date", plain_numbers, plain_texts, plain_dates),
    cases(plain_dates, tests),
)
textual: st.SearchStrategy[Expression] = st.recursive(
    plain_texts,
    lambda inner: st.one_of(calls("text", plain_numbers, inner, plain_dates), cases(inner, tests)),
    max_leaves=3,
)
PLACES = (
    ListedKey(Column("kind"), AWKWARD[:9]),
    ListedKey(Column("code"), NUMBERED),
    RangeKey(Column("small"), -2, 3),
    RangeKey(Column("free"), 2**62, 2**62 + 2),
    Grid(Column("large"), Fraction(-(10**6)), Fraction(10**12), 5),
)


@st.composite
def picks(draw: st.DrawFn, inner: st.SearchStrategy[Expression]) -> Pick:
    grids = st.builds(lambda value, size: Grid(value, Fraction(-7), Fraction(9), size), inner, st.integers(1, 6))
    lines = draw(st.lists(st.one_of(st.sampled_from(PLACES), grids), min_size=1, max_size=2))
    cells = lines[0] if len(lines) == 1 else Cross(tuple(lines))
    numbers = [(7919 * place) % 41 - 20 for place in range(cells.size)]
    return Pick(cells, tuple(numbers), draw(st.sampled_from([None, 0, -(2**53)])))


numeric: st.SearchStrategy[Expression] = st.recursive(
    st.one_of(plain_numbers, st.builds(UnitPart, st.integers(0, 9), st.integers(1, 9))),
    lambda inner: st.one_of(
        picks(inner),
        st.builds(Negative, inner),
        st.builds(Arithmetic, st.sampled_from(["+", "-", "*", "/"]), inner, inner),
        calls("number", inner, textual, dates),
        cases(inner, tests),
    ),
    max_leaves=4,
)


conditions: st.SearchStrategy[Condition] = st.recursive(
    st.one_of(
        st.builds(Comparison, st.sampled_from(ORDERS), numeric, numeric),
        st.builds(Comparison, st.sampled_from(["=", "<>"]), textual, textual),
        st.builds(Comparison, st.sampled_from(ORDERS), dates, dates),
        st.builds(OneOf, numeric, _listed(literals())),
        st.builds(OneOf, textual, _listed(st.builds(String, st.sampled_from(AWKWARD)))),
        st.builds(OneOf, dates, _listed(st.just(Day("2000-02-29")))),
        st.builds(Matches, st.sampled_from(["like", "starts", "ends", "contains"]), textual, st.sampled_from(PATTERNS)),
        st.builds(IsNull, st.one_of(numeric, textual, dates)),
    ),
    lambda inner: st.one_of(st.builds(Not, inner), st.builds(AllOf, _listed(inner)), st.builds(AnyOf, _listed(inner))),
    max_leaves=4,
)

lattices = st.one_of(
    st.sampled_from(
        [
            Lattice(-5, 10, 0),
            Lattice(2, 5, 0),
            Lattice(-5, -2, 0),
            Lattice(0, 7, -1),
            Lattice(-(2**31) + 1, 2**31 - 1, -29),
            Lattice.covering(Fraction(-(2**40)), Fraction(2**40), whole=True),
            Lattice.covering(Fraction(-1, 3), Fraction(1, 7), whole=False),
            Lattice.covering(Fraction(-(10**90)), Fraction(10**90), whole=False),
        ]
    ),
    st.builds(lambda low, width, exponent: Lattice(low, low + width, exponent), st.integers(-20, 20), st.integers(1, 9),
              st.integers(-3, 3)),
)  # fmt: skip

aggregates = st.one_of(
    st.just(CountRows()),
    st.builds(CountValues, st.one_of(numeric, textual, dates)),
    st.builds(Sum, numeric, lattices),
    st.builds(CentredSum, numeric, lattices),
)

KEYS: tuple[Key, ...] = (
    ListedKey(Column("kind"), AWKWARD[:9]),
    ListedKey(Column("code"), NUMBERED),
    ListedKey(Column("flag"), (True, False)),
    RangeKey(Column("small"), -2, 3),
    RangeKey(Column("free"), 2**62, 2**62 + 2),
    RangeKey(Column("whole"), -5, 10),
    *(
        bind_key(bind_value(parse(f"SELECT COUNT(*) FROM people GROUP BY {key}").keys[0], SCHEMA), SCHEMA)
        for key in (
            "BIN(whole, 4)",
            "BIN(real, 0.1)",
            "ROUND(large, -11)",
            "3 + BIN(whole - 3, 5)",
            "whole % 3",
            "SIGN(wide)",
            "FLOOR(ABS(real))",
            "GREATEST(LEAST(free, 3), -1)",
            "CASE WHEN real > 0 THEN 1 WHEN whole > 0 THEN 7 WHEN small > 1 THEN -2 END",
            "CASE WHEN note LIKE '%l%' THEN kind ELSE 'else' END",
            "COALESCE(flag, 'unknown')",
            "UPPER(CASE WHEN whole > 3 THEN 'plain' ELSE 'it''s' END)",
            "born",
            "DATE_TRUNC('week', born)",
            "DATE_TRUNC('month', born)",
            "YEAR(born)",
            "DAYOFWEEK(seen)",
            "WEEK(seen)",
            "DATE_DIFF('month', born, '2000-01-01')",
        )
    ),
)
units = st.sampled_from(
    [Row(), Person(UNIT_ID, 1, 1), Person(UNIT_ID, 3, 2), Person(UNIT_ID, 5, 3), Person(UNIT_ID, 4, 4)]
)


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    measures = tuple(
        Measure(aggregate, "laplace", Fraction(1)) for aggregate in draw(st.lists(aggregates, min_size=1, max_size=3))
    )
    keys = tuple(draw(st.lists(st.sampled_from(KEYS), max_size=2, unique=True)))
    return Plan("people", draw(units), draw(st.one_of(st.none(), conditions)), keys, measures)


def schema_for(unit: Row | Person) -> Schema:
    return Schema("people", unit, COLUMNS)


def groups_of_each_person(plan: Plan, rows: list[dict[str, Any]]) -> dict[Any, int]:
    """How many groups each person has without any bound."""
    count_rows = Measure(CountRows(), "laplace", Fraction(1))
    unbounded = replace(plan, unit=Person(UNIT_ID, 10**6, 10**6), measures=(count_rows,))
    schema = schema_for(unbounded.unit)
    people = {row[UNIT_ID] for row in rows} - {None}
    return {
        person: sum(
            count > 0 for (count,) in evaluate(unbounded, schema, [row for row in rows if row[UNIT_ID] == person])
        )
        for person in people
    }
