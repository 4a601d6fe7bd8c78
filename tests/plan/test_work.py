"""What one row can make an engine do: copies are those of the SQL, and nothing above the budget is certified."""

import re
from fractions import Fraction
from typing import Any

import duckdb
import pytest

from sfumato.engines.duckdb.dialect import DUCKDB
from sfumato.engines.sql.expressions import Writer
from sfumato.engines.sql.phrases import SQL
from sfumato.errors import Refused
from sfumato.kernel.certify import certify
from sfumato.plan import work
from sfumato.plan.counting import countings
from sfumato.plan.expressions import (
    AllOf,
    AnyOf,
    Arithmetic,
    Call,
    Case,
    Column,
    Comparison,
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
from sfumato.plan.functions import FUNCTIONS
from sfumato.plan.lattice import Lattice
from sfumato.plan.nodes import (
    CellSum,
    CentredSum,
    Choose,
    CountDistinct,
    CountRows,
    CountValues,
    Cross,
    Grid,
    Histogram,
    ListedKey,
    Magnitudes,
    Measure,
    Plan,
    Question,
    RangeKey,
    Sum,
    UnboundedSum,
)
from sfumato.plan.sources import Computed, Folded, PerUnit, Rows
from sfumato.plan.work import MOST_NODES, MOST_WORK, NODE, Scale, Work, searched, total, work_of
from sfumato.schema.columns import Float, Int, Text
from sfumato.schema.table import Schema
from sfumato.schema.unit import Person, Row, Unit
from tests.emitter import emit

COLUMNS = {"mark": Float(), "whole": Int(0, 9), "note": Text(), "short": Text(longest=10)}
SCHEMA = Schema("people", Row(), COLUMNS)
MARK, WHOLE, NOTE = Column("mark"), Column("whole"), Column("note")


def number(value: Any) -> Number:
    return Number(Fraction(value))


def call(name: Any, *arguments: Any) -> Any:
    return Call(name, arguments)


# ---- copies: what is counted is what is written


def in_full(sql: str) -> str:
    """SQL in which every nullif(x, y) is the CASE that it stands for to an engine, so that x is there twice."""
    while (start := sql.find("nullif(")) >= 0:
        depth, place, comma = 0, start + len("nullif("), 0
        while depth >= 0:
            depth += {"(": 1, ")": -1}.get(sql[place], 0)
            if sql[place] == "," and depth == 0:
                comma = place
            place += 1
        first, second = sql[start + len("nullif(") : comma], sql[comma + 1 : place - 1]
        sql = f"{sql[:start]}CASE WHEN {first} = {second} THEN NULL ELSE {first} END{sql[place:]}"
    return sql


def written(sql: str, name: str) -> int:
    return len(re.findall(rf't\."{name}"', in_full(sql)))


class Marks(Scale):
    """Counts how often the column "mark" is counted, and nothing else."""

    def of(self, node: Any) -> Work:
        if node == MARK:
            return Work(1, 0)
        return total(copies * self.of(part) for copies, part in self._parts(node))


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("exponent", [2, -2])
def test_copies_of_arguments_are_those_of_the_sql(name: Any, exponent: int) -> None:
    function = FUNCTIONS[name]
    takes = function.taken(len(function.takes) + (2 if function.more else 0))
    assert takes is not None
    constants = {"digits": "1", "divisor": "3", "exponent": str(exponent)}
    marked = [constants.get(how, f"mark{place}") for place, how in enumerate(takes)]
    sql = in_full(SQL[name](DUCKDB, *marked))
    for place, copies in enumerate(function.copied(len(takes))):
        found = len(re.findall(rf"\bmark{place}\b", sql))
        assert found == copies or (name == "POWER" and exponent > 0 and found <= copies) or found == 0, sql
        assert found > 0 or takes[place] in (*constants, "unit")


REALS: dict[str, Expression] = {
    "a column": MARK,
    "a sum": Arithmetic("+", MARK, number(1)),
    "a divisor": Arithmetic("/", number(1), MARK),
    "a divisor of a divisor": Arithmetic("/", number(1), Arithmetic("/", number(1), MARK)),
    "a sign": Negative(MARK),
    "roots": call("SQRT", call("SQRT", call("SQRT", MARK))),
    "a root of a sum": call("SQRT", Arithmetic("*", MARK, MARK)),
    "logarithms": call("LN", call("LOG10", MARK)),
    "least": call("LEAST", MARK, Arithmetic("-", MARK, number(1)), number(2)),
    "a power": call("POWER", call("POWER", MARK, number(-1)), number(-2)),
    "rests": call("MOD", call("MOD", MARK, number(3)), number(2)),
    "nullif": call("NULLIF", call("NULLIF", MARK, number(1)), MARK),
    "coalesce": call("COALESCE", MARK, Arithmetic("+", MARK, MARK), number(0)),
    "a case": Case(((IsNull(MARK), MARK),), Arithmetic("+", MARK, number(1))),
    "cases": Case(((Not(IsNull(MARK)), Case(((Comparison("<", MARK, number(1)), MARK),), None)),), MARK),
    "conditions": Case(
        ((AllOf((OneOf(MARK, (number(1),)), AnyOf((Comparison("=", MARK, MARK), IsNull(MARK))))), number(1)),), None
    ),
    "picked by a cell": Pick(Grid(MARK, Fraction(0), Fraction(9), 3), (1, 2, 3)),
    "picked by a cell of a sum": Pick(Grid(Arithmetic("+", MARK, MARK), Fraction(0), Fraction(9), 3), (1, 2, 3), 4),
    "picked by a range": Pick(RangeKey(MARK, 0, 1), (1, 2)),
    "picked by a list": Pick(ListedKey(MARK, (1, 2)), (1, 2)),
    "picked by all": Pick(Cross((RangeKey(MARK, 0, 1), ListedKey(MARK, (1, 2)))), (1, 2, 3, 4)),
    "rounded": call("ROUND", call("ABS", call("FLOOR", MARK)), number(1)),
}


@pytest.mark.parametrize("what", REALS)
def test_an_expression_is_counted_as_often_as_it_is_written(what: str) -> None:
    value, marks, writer = REALS[what], Marks(SCHEMA), Writer(SCHEMA, DUCKDB)
    for sql, found in (
        (writer.value(value), marks.value(value)),
        (writer.condition(IsNull(value)), marks.of(IsNull(value))),
        (writer.on_lattice(value, Lattice(0, 9, -3)), work.ON_LATTICE * marks.of(value)),
    ):
        assert found.nodes == written(sql, "mark"), sql


ONE_ARGUMENT = [name for name, each in FUNCTIONS.items() if each.takes[0] == "number" and len(each.takes) == 1]
AWKWARD = ("nan", "inf", "-inf", "-1", "0", "-0.0", "1", "2.5", "1e308", "-1e308", "5e-324", None)


@pytest.mark.slow
def test_no_value_is_nan_and_none_is_lost_where_nan_is_made_null_only_where_it_can_be() -> None:
    """Every value of every function, alone and inside of another, against SQL that makes NaN NULL everywhere."""
    inner: list[Any] = [*REALS.values(), *(call(name, MARK) for name in ONE_ARGUMENT), WHOLE]
    inner += [call("POWER", MARK, number(each)) for each in ("1/2", -1, 3)] + [call("MOD", MARK, number("1/10"))]
    outer = [Negative, *((lambda value, name=name: call(name, value)) for name in ONE_ARGUMENT)]
    outer += [lambda value: call("COALESCE", value, number(5)), lambda value: call("LEAST", value, number(5))]
    nested_twice = [wrap(value) for value in inner for wrap in outer]
    with duckdb.connect(":memory:") as connection:
        connection.execute("CREATE TABLE people (mark DOUBLE, whole BIGINT)")
        connection.executemany("INSERT INTO people VALUES (CAST(? AS DOUBLE), 3)", [[each] for each in AWKWARD])
        for value in inner + nested_twice:
            lean, full = (writer(SCHEMA, DUCKDB).value(value) for writer in (Writer, Everywhere))
            sql = f"SELECT count(*) FROM people AS t WHERE {lean} IS DISTINCT FROM {full} OR isnan({lean})"
            assert connection.execute(sql).fetchall() == [(0,)], lean


class Everywhere(Writer):
    """Makes NaN NULL around every number."""

    def value(self, node: Expression) -> str:
        return f"nullif({self._double(node)}, CAST('NaN' AS DOUBLE))"

    def _as(self, node: Expression, kind: Any) -> str:
        return self.value(node) if kind == "number" else self._written(node)


LATTICE = Lattice(0, 9, 0)
GRID = Grid(MARK, Fraction(0), Fraction(9), 3)
MAGNITUDES = Magnitudes(MARK, -3, 9)
AGGREGATES: dict[str, Any] = {
    "values": CountValues(MARK),
    "sum": Sum(MARK, LATTICE),
    "centred": CentredSum(MARK, Lattice(0, 9, -3)),
    "distinct": CountDistinct(MARK),
    "grid": Histogram(GRID),
    "magnitudes": UnboundedSum(MAGNITUDES, Fraction(1, 10)),
    "crossed": Histogram(Cross((GRID, RangeKey(MARK, 0, 3), ListedKey(MARK, (1, 2))))),
    "sums in cells": CellSum(GRID, MARK, LATTICE),
    "tables": Choose((GRID, RangeKey(MARK, 0, 3)), ListedKey(MARK, (1, 2)), (Question(0, (0, 1, 1)),)),
}


@pytest.mark.parametrize("unit", [Row(), Person("who", 5, 2)], ids=["rows", "people"])
@pytest.mark.parametrize("what", AGGREGATES)
@pytest.mark.parametrize("key", [None, RangeKey(MARK, 0, 3), ListedKey(MARK, (1, 2))], ids=["none", "range", "list"])
def test_a_counting_is_counted_as_often_as_it_is_written(
    what: str, key: Any, unit: Unit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work, "Scale", Marks)
    schema = Schema("people", unit, COLUMNS)
    plan = Plan("people", unit, None, () if key is None else (key,), (measure(AGGREGATES[what]),))
    for counting in countings(plan):
        assert work_of(counting, schema, set()).nodes == written(emit(counting, schema), "mark")


def test_sources_are_counted_as_often_as_they_are_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "Scale", Marks)
    person = Person("who", 5, 2)
    schema = Schema("people", person, COLUMNS)
    rows = Rows("people", IsNull(MARK), (Computed("a", MARK, Float()), Computed("b", Negative(MARK), Float())))
    folds = (Folded("c", "sum", MARK, LATTICE), Folded("d", "count", MARK, LATTICE))
    for source, column in ((rows, "a"), (PerUnit("people", IsNull(MARK), folds, 5), "c")):
        (counting,) = countings(Plan(source, person, None, (), (measure(CountValues(Column(column))),)))
        assert work_of(counting, schema, set()).nodes == written(emit(counting, schema), "mark")


# ---- the budget


def measure(aggregate: Any) -> Measure:
    return Measure(aggregate, "laplace", Fraction(1))


def plan_of(*aggregates: Any, where: Any = None, table: Any = "people") -> Plan:
    return Plan(table, Row(), where, (), tuple(map(measure, aggregates or (CountRows(),))))


def nested(name: Any, value: Any, depth: int) -> Any:
    for _ in range(depth):
        value = call(name, value, number(7)) if name == "NULLIF" else call(name, value)
    return value


JOINED = call("CONCAT", *[NOTE] * 16)
UPPERS = nested("UPPER", JOINED, 6)
TOO_MUCH: dict[str, Plan] = {
    "roots of numbers": plan_of(where=IsNull(nested("SQRT", WHOLE, 12))),
    "nullif": plan_of(where=IsNull(nested("NULLIF", WHOLE, 12))),
    "roots of a length": plan_of(where=IsNull(nested("SQRT", call("LENGTH", nested("UPPER", JOINED, 5)), 4))),
    "capitals": plan_of(where=Comparison("=", nested("UPPER", JOINED, 20), String("a"))),
    "capitals of a sub-query": plan_of(
        where=Comparison("=", nested("LOWER", Column("m"), 18), String("a")),
        table=Rows("people", None, (Computed("m", JOINED, Text(longest=16_000)),)),
    ),
    "capitals in a sub-query": plan_of(
        CountValues(Column("m")),
        table=Rows("people", None, (Computed("m", nested("LOWER", JOINED, 18), Text(longest=16_000)),)),
    ),
    "each of two values": plan_of(CountValues(UPPERS), CountValues(call("TRIM", UPPERS))),
    "each of two countings": plan_of(CountDistinct(UPPERS), CountDistinct(call("TRIM", UPPERS))),
    "patterns": plan_of(where=AnyOf(tuple(Matches("like", NOTE, f"%______{i}_______a") for i in range(20)))),
    "a pattern on a long text": plan_of(where=Matches("like", JOINED, "%_______________a")),
    "texts in texts": plan_of(where=AnyOf(tuple(Comparison("=", JOINED, String(str(i))) for i in range(20)))),
}


@pytest.mark.parametrize("what", TOO_MUCH)
def test_certify_refuses_what_one_row_could_be_told_by(what: str) -> None:
    with pytest.raises(Refused, match="long texts" if "nul" not in what and "numbers" not in what else "written out"):
        certify(TOO_MUCH[what], SCHEMA, "epsilon")


@pytest.mark.parametrize("what", [what for what in TOO_MUCH if "numbers" not in what and "nullif" not in what])
def test_the_same_of_short_texts_may_be_asked(what: str) -> None:
    short = Schema("people", Row(), {**COLUMNS, "note": Text(longest=10)})
    assert certify(TOO_MUCH[what], short, "epsilon")


def test_half_of_it_may_be_asked() -> None:
    assert certify(plan_of(CountValues(UPPERS)), SCHEMA, "epsilon")
    assert certify(plan_of(CountDistinct(UPPERS)), SCHEMA, "epsilon")
    assert certify(plan_of(where=IsNull(nested("SQRT", WHOLE, 8))), SCHEMA, "epsilon")
    assert certify(plan_of(where=IsNull(nested("NULLIF", WHOLE, 8))), SCHEMA, "epsilon")


def test_a_plan_exactly_at_the_budget_is_certified_and_one_above_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = plan_of(Sum(WHOLE, LATTICE), where=Matches("like", NOTE, "%a%"))
    (counting,) = countings(plan)
    found = work_of(counting, SCHEMA, set())
    monkeypatch.setattr(work, "MOST_NODES", found.nodes)
    monkeypatch.setattr(work, "MOST_WORK", found.row)
    assert certify(plan, SCHEMA, "epsilon")
    for name, most in (("MOST_NODES", found.nodes), ("MOST_WORK", found.row)):
        with monkeypatch.context() as less:
            less.setattr(work, name, most - 1)
            with pytest.raises(Refused):
                certify(plan, SCHEMA, "epsilon")


def test_countings_of_a_plan_are_weighed_together(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = plan_of(CountDistinct(UPPERS), CountDistinct(call("TRIM", UPPERS)))
    one, other = (work_of(counting, SCHEMA, set()) for counting in countings(plan))
    for name, most in (("MOST_NODES", one.nodes + other.nodes), ("MOST_WORK", one.row + other.row)):
        with monkeypatch.context() as allowed:
            allowed.setattr(work, "MOST_WORK", 2 * (one.row + other.row))
            allowed.setattr(work, name, most)
            assert certify(plan, SCHEMA, "epsilon")
            allowed.setattr(work, name, most - 1)
            with pytest.raises(Refused):
                certify(plan, SCHEMA, "epsilon")


def test_a_balanced_ladder_grows_with_its_leaves() -> None:
    """NaN is made NULL once, at the leaves; made NULL at every level, twice the leaves were four times the SQL."""

    def ladder(low: int, high: int) -> Expression:
        middle = (low + high) // 2
        if high - low == 1:
            return number(low)
        return Case(((Comparison("<", MARK, number(middle)), ladder(low, middle)),), ladder(middle, high))

    sizes = [len(in_full(Writer(SCHEMA, DUCKDB).value(ladder(0, leaves)))) for leaves in (32, 64, 128)]
    assert sizes[2] < 2.2 * sizes[1] < 4.9 * sizes[0]
    assert certify(plan_of(Sum(ladder(0, 32), LATTICE)), SCHEMA, "epsilon")


def test_shared_nodes_are_weighed_once_however_often_they_stand_there() -> None:
    value: Expression = MARK
    for _ in range(200):
        value = Arithmetic("+", value, value)
    assert Scale(SCHEMA).of(value).nodes > 2**200


def test_lists_and_parts_of_units_have_their_price() -> None:
    scale = Scale(SCHEMA)
    short, long = (Pick(RangeKey(WHOLE, 1, size), (0,) * size) for size in (4, 4000))
    assert scale.of(long).nodes - scale.of(short).nodes == 3996 // work.LISTED
    with pytest.raises(Refused, match="written out"):
        certify(plan_of(CountValues(long)), SCHEMA, "epsilon")
    long_text, short_text = (Pick(ListedKey(text, ("a", "b")), (1, 2)) for text in (NOTE, Column("short")))
    assert scale.of(long_text).row - scale.of(short_text).row == work.GROUPED * 990
    part, person = UnitPart(1, 2), Scale(Schema("people", Person("who", 2), COLUMNS))
    assert person.of(part) == Work(work.PART_OF_ID, work.PART_OF_ID * NODE)
    operators = work.PART_OF_ID + len(COLUMNS) * work.PART_OF_COLUMN
    assert scale.of(part) == Work(operators, operators * NODE + work.HASHED * 1010 + 3 * (1000 + 1010))


def test_parts_of_units_hold_no_more_operators_than_they_are_charged_for() -> None:
    for unit in (Row(), Person("who", 2)):
        schema = Schema("people", unit, COLUMNS)
        sql = Writer(schema, DUCKDB).value(UnitPart(1, 2))
        operators = len(re.findall(r"[a-zA-Z_]+\(|\|\||%|\*", sql))
        assert 0 < operators <= Scale(schema).of(UnitPart(1, 2)).nodes


def test_prices_are_those_of_characters() -> None:
    scale = Scale(SCHEMA)
    for name in ("UPPER", "LOWER", "TRIM", "LENGTH"):
        value = call(name, NOTE)
        assert scale.of(value) == Work(2, 2 * NODE + 1000 * FUNCTIONS[name].price)
        assert scale.of(call(name, Column("short"))).row == 2 * NODE + 10 * FUNCTIONS[name].price
    assert min(FUNCTIONS[name].price for name in ("UPPER", "LOWER")) >= 10, "measured: letters beyond ASCII"
    assert scale.of(call("CONCAT", NOTE, NOTE, NOTE)).row == 4 * NODE + FUNCTIONS["CONCAT"].price * (1 + 2 + 3) * 1000
    assert all(each.price for each in FUNCTIONS.values() if "text" in (*each.takes, each.gives))
    ways: Any = ("starts", "ends", "contains")
    assert {searched(Matches(way, NOTE, "%_")) for way in ways} == {work.SEARCHED}
    assert searched(Matches("like", NOTE, "a%")) == searched(Matches("like", NOTE, "_b")) == work.SEARCHED
    assert searched(Matches("like", NOTE, "_%b")) == work.TRIED
    with pytest.raises(ValueError, match="pattern"):
        Matches("like", NOTE, "_%" + "b" * 190 + "c%")
    assert searched(Matches("like", NOTE, "a%b_c")) == 3 * work.TRIED
    assert NODE * MOST_NODES < MOST_WORK
