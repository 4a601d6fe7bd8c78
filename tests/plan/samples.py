"""Plans of every kind: no two alike, and every kind of node in one of them."""

from fractions import Fraction
from typing import Any

from sfumato.plan.caps import Caps
from sfumato.plan.expressions import (
    AllOf,
    AnyOf,
    Arithmetic,
    Call,
    Case,
    Column,
    Comparison,
    Cross,
    Day,
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
from sfumato.plan.lattice import Lattice
from sfumato.plan.nodes import (
    BetweenEnds,
    CellSum,
    CentredSum,
    Choose,
    CountCut,
    CountDistinct,
    CountPeople,
    CountRows,
    CountValues,
    Cumulative,
    Gap,
    Grid,
    Histogram,
    ListedKey,
    Magnitudes,
    Measure,
    MostFrequent,
    OpenKey,
    Plan,
    Quantiles,
    Question,
    RangeKey,
    Selection,
    Sum,
    UnboundedSum,
)
from sfumato.plan.sources import Computed, Folded, Kept, Lookup, OnUnit, PerUnit, Rows, Taken
from sfumato.schema.columns import Category, Float, Int, Text
from sfumato.schema.unit import Person, Row

AGE, ONE = Column("age"), Number(Fraction(1))
LATTICE = Lattice(0, 5, -1)
TEST = Comparison("=", AGE, ONE)
GRID = Grid(AGE, Fraction(0), Fraction(5), 9)
AROUND, ONE_STEP = Grid(AGE, Fraction(-5), Fraction(5), 8), Fraction(1)
MADE = Computed("a", AGE, Int(0, 1))
SIDES = ListedKey(AGE, (1, 2))
HALVES = Question(0, (0, 1))


def plan(**changes: Any) -> Plan:
    parts: dict[str, Any] = {
        "table": "people",
        "unit": Row(),
        "where": None,
        "keys": (),
        "measures": (Measure(CountRows(), "laplace", Fraction(1)),),
    }
    return Plan(**{**parts, **changes})


def plan_of(*aggregates: Any, how: Any = "laplace", **changes: Any) -> Plan:
    """One that asks for these aggregates, or counts rows."""
    return plan(measures=tuple(Measure(each, how, Fraction(1)) for each in aggregates or (CountRows(),)), **changes)


def measured(aggregate: Any, mechanism: Any = "laplace", share: Any = 1) -> dict[str, Any]:
    return {"measures": (Measure(aggregate, mechanism, Fraction(share)),)}


DIFFERENT: list[dict[str, Any]] = [
    {},
    {"table": "peoples"},
    {"table": Rows("people", None, (MADE,))},
    {"table": Rows("people", TEST, (MADE,))},
    {"table": Rows("people", None, (Computed("b", AGE, Int(0, 1)),))},
    {"table": Rows("people", None, (Computed("a", AGE, Int(0, 2)),))},
    {"table": Rows("people", None, (Computed("a", AGE, Float()),))},
    {"table": Rows("people", None, (Computed("a", AGE, Text()),))},
    {"table": Rows("people", None, (Computed("a", AGE, Category(["1"])),))},
    {"table": Rows("people", None, (Computed("a", AGE, Category([1])),))},
    {"table": Lookup("people", "codes", "code", (), True)},
    {"table": Lookup("people", "codes", "code", (), False)},
    {"table": Lookup("people", "codes", "code", (Taken("a", "b"),), True)},
    {"table": Lookup("people", "codes", "code", (Taken("b", "a"),), True)},
    {"table": PerUnit("people", None, (Folded("a", "sum", AGE, LATTICE),), 2)},
    {"table": PerUnit("people", None, (Folded("a", "mean", AGE, LATTICE),), 2)},
    {"table": PerUnit("people", TEST, (Folded("a", "mean", AGE, LATTICE),), 2)},
    {"table": Kept("people")},
    {"table": Kept(Rows("people", None, (MADE,)))},
    {"table": Rows(Kept("people"), None, (MADE,))},
    {"table": OnUnit("people", "visits", (), True, 2, 2)},
    {"table": OnUnit("visits", "people", (), True, 2, 2)},
    {"table": OnUnit("people", "visits", (), False, 2, 2)},
    {"unit": Person("user_id", 1)},
    {"unit": Person("user_id", 2)},
    {"unit": Person("user_id", 2, 2)},
    {"unit": Person("id", 1)},
    {"keys": (ListedKey(AGE, ("1", "2")),)},
    {"keys": (ListedKey(AGE, (1, 2)),)},
    {"keys": (ListedKey(AGE, (True, False)),)},
    {"keys": (ListedKey(AGE, ("2", "1")),)},
    {"keys": (ListedKey(AGE, ("1,2",)),)},
    {"keys": (RangeKey(AGE, 1, 2),)},
    {"keys": (RangeKey(AGE, 1, 3),)},
    {"keys": (RangeKey(AGE, 0, 3),)},
    {"keys": (RangeKey(AGE, 0, 3, Fraction(2)),)},
    {"keys": (RangeKey(AGE, 0, 3, Fraction(2), Fraction(1)),)},
    {"keys": (RangeKey(Negative(AGE), 0, 3),)},
    {"measures": ()},
    measured(CountRows(), "gaussian"),
    measured(CountRows(), share=2),
    measured(CountRows(), share=Fraction(1, 2)),
    {"measures": (Measure(CountRows(), "laplace", Fraction(1)),) * 2},
    measured(CountValues(AGE)),
    measured(CountValues(Column("Age"))),
    measured(Sum(AGE, LATTICE)),
    measured(CentredSum(AGE, LATTICE)),
    measured(Sum(AGE, Lattice(0, 5, 0))),
    measured(Sum(AGE, Lattice(0, 6, -1))),
    measured(Sum(AGE, Lattice(-1, 5, -1))),
    measured(Sum(Negative(AGE), LATTICE)),
    *({"measures": (Measure(Sum(Arithmetic(op, AGE, ONE), LATTICE), "laplace", Fraction(1)),)} for op in "+-*/"),
    measured(Sum(Arithmetic("-", ONE, AGE), LATTICE)),
    measured(CountDistinct(AGE)),
    measured(CountPeople()),
    measured(CountCut()),
    *(
        measured(kind(grid))
        for kind in (Histogram, Cumulative, MostFrequent)
        for grid in (GRID, Grid(AGE, Fraction(0), Fraction(5), 8))
    ),
    measured(Histogram(Grid(AGE, Fraction(1), Fraction(5), 9))),
    measured(Histogram(Grid(AGE, Fraction(0), Fraction(6), 9))),
    measured(Histogram(Grid(ONE, Fraction(0), Fraction(5), 9))),
    measured(Quantiles(GRID, (Fraction(1, 2),))),
    measured(Quantiles(GRID, (Fraction(1, 4), Fraction(1, 2)))),
    measured(MostFrequent(ListedKey(AGE, (1, 2)))),
    measured(UnboundedSum(Magnitudes(AGE, 0, 9), Fraction(1, 10))),
    measured(UnboundedSum(Magnitudes(AGE, 0, 9), Fraction(1, 5))),
    measured(UnboundedSum(Magnitudes(AGE, 0, 8), Fraction(1, 10))),
    measured(UnboundedSum(Magnitudes(AGE, -1, 9), Fraction(1, 10))),
    measured(UnboundedSum(Magnitudes(ONE, 0, 9), Fraction(1, 10))),
    measured(Histogram(Cross((GRID,)))),
    measured(Histogram(Cross((GRID, SIDES)))),
    measured(Histogram(Cross((SIDES, GRID)))),
    measured(Histogram(SIDES)),
    measured(CellSum(GRID, AGE, LATTICE)),
    measured(CellSum(SIDES, AGE, LATTICE)),
    measured(CellSum(GRID, ONE, LATTICE)),
    measured(CellSum(GRID, AGE, Lattice(0, 6, -1))),
    measured(Choose((SIDES,), GRID, (HALVES,))),
    measured(Choose((SIDES,), GRID, (HALVES,), "max")),
    measured(Choose((SIDES,), GRID, (HALVES, HALVES))),
    measured(Choose((SIDES,), GRID, (Question(0, (1, 0)),))),
    measured(Choose((SIDES, RangeKey(AGE, 0, 1)), GRID, (HALVES,))),
    measured(Choose((SIDES, RangeKey(AGE, 0, 1)), GRID, (Question(1, (0, 1)),))),
    measured(Choose((SIDES,), SIDES, (HALVES,))),
    measured(Choose((SIDES,), None, (Gap(0, (0, 1)),), "gap")),
    measured(Choose((SIDES,), None, (Gap(0, (1, 0)),), "gap")),
    measured(Choose((SIDES,), None, (Gap(0, (0, 1), 1),), "gap")),
    measured(BetweenEnds(AROUND, ONE_STEP, Fraction(1, 10), "bins", 2)),
    measured(BetweenEnds(AROUND, ONE_STEP, Fraction(1, 10), "bins", 3)),
    measured(BetweenEnds(AROUND, ONE_STEP, Fraction(1, 10), "totals", 2)),
    measured(BetweenEnds(AROUND, ONE_STEP, Fraction(1, 10), "moments")),
    measured(BetweenEnds(AROUND, ONE_STEP, Fraction(1, 5), "moments")),
    measured(BetweenEnds(AROUND, ONE_STEP / 2, Fraction(1, 10), "moments")),
    measured(BetweenEnds(Grid(AGE, Fraction(0), Fraction(5), 8), ONE_STEP, Fraction(1, 10), "moments")),
    {"caps": Caps(3, 2, 1)},
    {"caps": Caps(3, 2, 2)},
    {"caps": Caps(3, 1, 2)},
    {"caps": Caps(4, 1, 2)},
    {"keys": (OpenKey(AGE),)},
    {"keys": (OpenKey(Column("name")),)},
    {"selection": Selection(Fraction(1), Fraction(1, 2))},
    {"selection": Selection(Fraction(1, 2), Fraction(1, 2))},
    {"selection": Selection(Fraction(1), Fraction(1, 3))},
    {"selection": Selection(Fraction(1), Fraction(1, 2), by=0)},
    {"selection": Selection(Fraction(1), Fraction(1, 2), weighted=True)},
    {"where": TEST},
    {"where": Comparison("<", AGE, ONE)},
    {"where": Comparison("=", ONE, AGE)},
    {"where": Comparison("=", AGE, String("1"))},
    {"where": Comparison("=", AGE, String("1/1"))},
    {"where": Comparison("=", AGE, Column("1/1"))},
    {"where": Comparison("=", AGE, Number(Fraction(1, 2)))},
    {"where": Comparison("=", AGE, Negative(ONE))},
    {"where": Comparison("=", AGE, Day("2024-01-31"))},
    {"where": Comparison("=", AGE, String("2024-01-31"))},
    {"where": Comparison("=", AGE, Call("ABS", (ONE,)))},
    {"where": Comparison("=", AGE, Call("SIGN", (ONE,)))},
    {"where": Comparison("=", AGE, Call("LEAST", (ONE, AGE)))},
    {"where": Comparison("=", AGE, Call("LEAST", (AGE, ONE)))},
    {"where": Comparison("=", AGE, Case(((TEST, ONE),), None))},
    {"where": Comparison("=", AGE, Case(((TEST, ONE),), ONE))},
    {"where": Comparison("=", AGE, Case(((TEST, ONE), (TEST, ONE)), None))},
    {"where": Comparison("=", AGE, Pick(SIDES, (1, 2)))},
    {"where": Comparison("=", AGE, Pick(SIDES, (2, 1)))},
    {"where": Comparison("=", AGE, Pick(SIDES, (1, 2), 0))},
    {"where": Comparison("=", AGE, Pick(RangeKey(AGE, 1, 2), (1, 2)))},
    {"where": Comparison("=", AGE, UnitPart(1, 2))},
    {"where": Comparison("=", AGE, UnitPart(2, 2))},
    {"where": Comparison("=", AGE, UnitPart(1, 3))},
    {"where": Matches("like", AGE, "a%")},
    {"where": Matches("starts", AGE, "a%")},
    {"where": Matches("like", AGE, "a")},
    {"where": OneOf(AGE, (Day("2024-01-31"),))},
    {"where": OneOf(AGE, (ONE,))},
    {"where": OneOf(AGE, (ONE, String("x")))},
    {"where": IsNull(AGE)},
    {"where": Not(IsNull(AGE))},
    {"where": AllOf((TEST, IsNull(AGE)))},
    {"where": AnyOf((TEST, IsNull(AGE)))},
    {"where": AllOf((TEST,))},
    {"where": AnyOf((AllOf((TEST, IsNull(AGE))), TEST))},
    {"where": AllOf((AnyOf((TEST, IsNull(AGE))), TEST))},
]


def every_plan() -> list[Plan]:
    return [plan(**changes) for changes in DIFFERENT]
