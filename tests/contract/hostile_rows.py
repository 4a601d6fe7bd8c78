"""Rows that make careless SQL fail, and questions that would tell by failing whether such a row is there."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from fractions import Fraction
from itertools import product
from typing import Any

import pyarrow as pa

from sfumato.kernel.cost import Cost
from sfumato.plan.counting import Counting, countings
from sfumato.plan.expressions import Call, Column, Expression, Number, Pick, String, UnitPart
from sfumato.plan.functions import FUNCTIONS, TRUNCATIONS, UNITS
from sfumato.plan.lattice import Lattice
from sfumato.plan.nodes import (
    Aggregate,
    CellSum,
    CentredSum,
    Choose,
    CountValues,
    Cross,
    Gap,
    Grid,
    Histogram,
    ListedKey,
    Measure,
    Plan,
    Question,
    RangeKey,
    Sum,
)
from sfumato.query.allocate import allocate
from sfumato.query.bind import bind
from sfumato.query.rewrite import rewrite
from sfumato.query.sql import parse
from sfumato.schema.columns import Category, Date, Float, Int, Text
from sfumato.schema.table import Schema
from sfumato.schema.unit import Person, Row

COLUMNS = {
    "real": Float(-2, 3.5),
    "wide": Float(-1e99, 1e99),
    "found": Float(private_bounds=0.1),
    "whole": Int(-(2**62), 2**62),
    "number": Int(private_bounds=0.1),
    "note": Text(),
    "seen": Date(),
    "kind": Category(("a", "b")),
}
SCHEMAS = (Schema("people", Row(), COLUMNS), Schema("people", Person("who", 3, 2), COLUMNS))
REALS = [1.7976931348623157e308, -1.7976931348623157e308, 5e-324, 0.0, -0.0, float("inf"), float("-inf"), float("nan")]
WHOLES = [2**63 - 1, -(2**63), -1, 0, 2**53 + 1, None]
TEXTS = ["", "'", "\\", "%", '"', "x" * 1000, "🙂", "1e400", "2024-02-30", "NaN", "-", "--", "${a}", None]
DAYS = [date(1, 1, 1), date(9999, 12, 31), date(2000, 2, 29), None]
TYPES = {
    **dict.fromkeys(("real", "wide", "found"), pa.float64()),
    **dict.fromkeys(("whole", "number", "who"), pa.int64()),
    **dict.fromkeys(("note", "kind"), pa.string()),
    "seen": pa.date32(),
}
QUESTIONS = (
    "SELECT HISTOGRAM(real, 7), MEDIAN(whole), CDF(wide, 5) FROM people",
    "SELECT SUM(found), SUM(number) FROM people",
    "SELECT kind, AVG(real), VARIANCE(wide), COUNT(DISTINCT whole), COUNT(DISTINCT real) FROM people GROUP BY kind",
    "SELECT COUNT(DISTINCT note), COUNT(DISTINCT seen) FROM people WHERE note LIKE '%\\%' OR real / whole > wide",
)
CONSTANTS: dict[str, tuple[Expression, ...]] = {
    "digits": tuple(Number(Fraction(n)) for n in (-15, 0, 15)),
    "place": (Number(Fraction(10_000)),),
    "length": (Number(Fraction(0)), Number(Fraction(10_000))),
    "divisor": (Number(Fraction(-3)), Number(Fraction(1, 10**9))),
    "exponent": tuple(Number(Fraction(n)) for n in ("-10", "-1/2", "0", "1/3", "10")),
    "constant": (String("'"),),
    "truncation": tuple(map(String, TRUNCATIONS)),
    "unit": tuple(map(String, UNITS)),
}
WIDE = Lattice.covering(Fraction(-(10**90)), Fraction(10**90), whole=False)
OF_KIND = {"number": ("wide", "whole"), "text": ("note",), "date": ("seen",)}


CELLS = (
    Grid(Column("wide"), Fraction(-1), Fraction(10) ** 99, 3),
    Grid(Column("whole"), Fraction(-5), Fraction(5), 3),
    RangeKey(Column("whole"), 2**63 - 3, 2**63 - 1),
    RangeKey(Column("whole"), -(2**63), -(2**63) + 2),
    RangeKey(Call("FLOOR", (Column("wide"),)), -1, 1),
    ListedKey(Column("kind"), ("a", "b", "c")),
    ListedKey(Column("whole"), (-1, 0, 2**53 + 1)),
    ListedKey(Column("note"), ("", "'", "1e400")),
)
PICKED = (
    *(Pick(cells, (-(2**53), 7, 2**53)) for cells in CELLS),
    *(UnitPart(2**63 - 1, parts) for parts in (1, 65536)),
)
CROSSED = Cross(CELLS[:4])
NUMBERED = (
    Histogram(CROSSED),
    CellSum(CROSSED, Column("wide"), WIDE),
    CellSum(CELLS[0], PICKED[2], Lattice(-4, 7, -1)),
    Choose(CELLS, CELLS[5], tuple(Question(place, (0, 1, 2)) for place in range(len(CELLS)))),
    Choose((CROSSED,), None, (Gap(0, (1,) * 81),), "gap"),
)


def rows() -> list[dict[str, Any]]:
    """As many as the longest list; the others begin again."""
    return [
        {
            **dict.fromkeys(("real", "wide", "found"), REALS[i % len(REALS)]),
            **dict.fromkeys(("whole", "number"), WHOLES[i % len(WHOLES)]),
            "note": TEXTS[i],
            "seen": DAYS[i % len(DAYS)],
            "kind": ("a", "b", "c", None)[i % 4],
            "who": None if i == 5 else i // 4,
        }
        for i in range(len(TEXTS))
    ]


def tables(*, alone: bool) -> Iterator[pa.Table]:
    """All of them, none, and each alone."""
    for chosen in (rows(), [], *([row] for row in rows() if alone)):
        yield pa.table({name: pa.array([row[name] for row in chosen], kind) for name, kind in TYPES.items()})


def plans(schema: Schema) -> dict[str, list[Plan]]:
    """By what they are about, so that a failure tells it."""
    found = {name: [_plan(schema, *_calls(name))] for name in FUNCTIONS}
    found["picked"] = [_plan(schema, *PICKED)]
    found["cells"] = list(countings(Plan("people", schema.unit, None, (), tuple(map(_measure, NUMBERED)))))  # type: ignore[arg-type]
    found |= {question: _countings(question, schema) for question in QUESTIONS}
    for value in (Column("whole"), Call("FLOOR", (Column("wide"),))):
        key = RangeKey(value, -3, 3)
        found[f"by {value}"] = [replace(_plan(schema, Column("real")), keys=(key,))]
    return found


def _calls(name: Any) -> Iterator[Call]:
    function = FUNCTIONS[name]
    kinds = [kind for kind in OF_KIND if kind == function.gives] if "same" in function.takes else ["number"]
    for same in kinds or list(OF_KIND):
        takes = [same if each == "same" else each for each in function.takes]
        if function.more:
            takes.append(takes[-1])
        choices = [CONSTANTS.get(each) or tuple(map(Column, OF_KIND[each])) for each in takes]
        yield from (Call(name, given) for given in product(*choices))


def _plan(schema: Schema, *values: Expression) -> Plan:
    aggregates: list[Aggregate] = []
    for value in values:
        aggregates.append(CountValues(value))
        if not isinstance(value, Call) or FUNCTIONS[value.name].gives == "number":
            aggregates += [Sum(value, Lattice(-4, 7, -1)), CentredSum(value, WIDE)]
    return Plan("people", schema.unit, None, (), tuple(map(_measure, aggregates)))


def _measure(aggregate: Aggregate) -> Measure:
    return Measure(aggregate, "laplace", Fraction(1))


def _countings(question: str, schema: Schema) -> list[Counting]:
    bound = bind(parse(question), schema)
    plan = allocate(bound, rewrite(bound), schema, Cost("epsilon", Fraction(1)))
    return list(countings(plan))
