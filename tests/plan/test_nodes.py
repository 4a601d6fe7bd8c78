"""Plans: frozen, counted, and written out without ambiguity."""

import dataclasses
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sfumato.plan import expressions, nodes, sources
from sfumato.plan.caps import Caps
from sfumato.plan.expressions import (
    AllOf,
    AnyOf,
    Arithmetic,
    Call,
    Case,
    Column,
    Comparison,
    Day,
    IsNull,
    Matches,
    Negative,
    Not,
    Number,
    OneOf,
    String,
    parts,
)
from sfumato.plan.lattice import Lattice
from sfumato.plan.nodes import (
    PLAN_LANGUAGE,
    CentredSum,
    CountDistinct,
    CountPeople,
    CountRows,
    CountValues,
    Cumulative,
    Grid,
    Histogram,
    ListedKey,
    Magnitudes,
    Measure,
    MostFrequent,
    OpenKey,
    Plan,
    Quantiles,
    RangeKey,
    Selection,
    Sum,
    UnboundedSum,
    _plain,
)
from sfumato.plan.sources import Computed, Folded, Lookup, OnUnit, PerUnit, Rows, Taken
from sfumato.schema.columns import Category, Float, Int, Text
from sfumato.schema.unit import Person, Row

AGE, ONE = Column("age"), Number(Fraction(1))
LATTICE = Lattice(0, 5, -1)
TEST = Comparison("=", AGE, ONE)
GRID = Grid(AGE, Fraction(0), Fraction(5), 9)
MADE = Computed("a", AGE, Int(0, 1))


def plan(**changes: Any) -> Plan:
    parts: dict[str, Any] = {
        "table": "people",
        "unit": Row(),
        "where": None,
        "keys": (),
        "measures": (Measure(CountRows(), "laplace", Fraction(1)),),
    }
    return Plan(**{**parts, **changes})


def test_groups() -> None:
    assert plan().groups == 1
    assert plan(keys=(ListedKey(AGE, ("a", "b", "c")),)).groups == 3
    assert plan(keys=(ListedKey(AGE, ("a", "b", "c")), RangeKey(AGE, -2, 4))).groups == 21
    assert tuple(RangeKey(AGE, -1, 2).values) == (-1, 0, 1, 2)
    assert plan(keys=(RangeKey(AGE, 3, 2),)).groups == 0
    assert plan(keys=(RangeKey(AGE, 1, 1 << 62),)).groups == 1 << 62, "counted, not listed"


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
    {"table": PerUnit("people", None, (Folded("a", "sum", AGE, LATTICE),))},
    {"table": PerUnit("people", None, (Folded("a", "mean", AGE, LATTICE),))},
    {"table": PerUnit("people", TEST, (Folded("a", "mean", AGE, LATTICE),))},
    {"table": OnUnit("people", "visits", (), True)},
    {"table": OnUnit("visits", "people", (), True)},
    {"table": OnUnit("people", "visits", (), False)},
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
    {"caps": Caps(3, 2, 1)},
    {"caps": Caps(3, 2, 2)},
    {"caps": Caps(3, 1, 2)},
    {"caps": Caps(4, 1, 2)},
    {"keys": (OpenKey(AGE),)},
    {"keys": (OpenKey(Column("name")),)},
    {"selection": Selection(Fraction(1), Fraction(1, 2))},
    {"selection": Selection(Fraction(1, 2), Fraction(1, 2))},
    {"selection": Selection(Fraction(1), Fraction(1, 3))},
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


def test_every_difference_shows_in_the_digest() -> None:
    digests = {plan(**changes).digest() for changes in DIFFERENT}
    assert len(digests) == len(DIFFERENT)
    assert all(len(digest) == 64 and int(digest, 16) >= 0 for digest in digests)


def test_equal_plans_have_equal_digests() -> None:
    for changes in DIFFERENT:
        assert plan(**changes).digest() == plan(**changes).digest()


def test_the_list_of_differences_leaves_no_node_out() -> None:
    """A new kind of node, or a new field, belongs into DIFFERENT."""
    seen: set[type] = set()

    def walk(value: object) -> None:
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            seen.add(type(value))
            for field in dataclasses.fields(value):
                walk(getattr(value, field.name))
        elif isinstance(value, tuple):
            for item in value:
                walk(item)

    for changes in DIFFERENT:
        walk(plan(**changes))
    known = {
        kind
        for module in (nodes, expressions, sources)
        for kind in vars(module).values()
        if isinstance(kind, type) and dataclasses.is_dataclass(kind) and kind.__module__.startswith("sfumato.plan")
    }
    assert known <= seen


TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=6)
VALUES = st.one_of(TEXTS, st.integers(-5, 5), st.booleans())
FRACTIONS = st.fractions(-5, 5, max_denominator=5)
EXPRESSIONS = st.recursive(
    st.one_of(TEXTS.map(Column), FRACTIONS.map(Number), TEXTS.map(String)),
    lambda inner: st.one_of(inner.map(Negative), st.builds(Arithmetic, st.sampled_from("+-*/"), inner, inner)),
    max_leaves=4,
)
KEYS = st.one_of(
    st.builds(ListedKey, TEXTS.map(Column), st.lists(VALUES, max_size=3).map(tuple)),
    st.builds(RangeKey, TEXTS.map(Column), st.integers(-5, 5), st.integers(-5, 5)),
)
PLANS = st.builds(
    plan,
    table=TEXTS,
    where=st.none() | EXPRESSIONS.map(IsNull),
    keys=st.lists(KEYS, max_size=2).map(tuple),
    measures=st.lists(st.builds(Measure, EXPRESSIONS.map(CountValues), st.just("laplace"), FRACTIONS), max_size=2).map(
        tuple
    ),
)


def written(value: object) -> str:
    """A plan with the type of every part: what the digest must tell apart. 1 == True in Python, not here."""
    return repr(value)


@settings(deadline=None, derandomize=True, max_examples=100, suppress_health_check=[HealthCheck.too_slow])
@given(PLANS, PLANS)
def test_digests_are_equal_exactly_when_plans_are(one: Plan, two: Plan) -> None:
    assert (one.digest() == two.digest()) is (written(one) == written(two))


def test_shares_a_hair_apart_are_told_apart() -> None:
    """A double would not tell them apart."""
    shares = Fraction(1, 3), Fraction(1, 3) + Fraction(1, 10**30)
    assert len({plan(measures=(Measure(CountRows(), "laplace", share),)).digest() for share in shares}) == 2


@pytest.mark.parametrize("share", [0.5, float("nan"), None.__class__, b"x", [1]])
def test_what_has_no_place_in_a_plan_has_no_digest(share: Any) -> None:
    with pytest.raises(TypeError, match="no place"):
        plan(measures=(Measure(CountRows(), "laplace", share),)).digest()


@pytest.mark.parametrize(
    "make",
    [
        lambda: Day("20240131"),
        lambda: Matches("like", Column("city"), "%" * 17),
        lambda: Magnitudes(Column("age"), 0, 0),
        lambda: Magnitudes(Column("age"), 0, 91),
        lambda: UnboundedSum(Magnitudes(Column("age"), 0, 8), Fraction(1)),
        lambda: Grid(Column("age"), Fraction(1), Fraction(1), 8),
        lambda: Grid(Column("age"), Fraction(0), Fraction(1), (1 << 18) + 1),
    ],
)
def test_a_node_that_exists_is_valid(make: Any) -> None:
    with pytest.raises(ValueError, match=r"written|short|octaves|not all of it|runs from"):
        make()


def test_nodes_are_frozen() -> None:
    for node in (plan(), AGE, TEST, Measure(CountRows(), "laplace", Fraction(1)), LATTICE):
        name = dataclasses.fields(node)[0].name
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(node, name, None)
        assert hash(node) == hash(dataclasses.replace(node))


# ---- what is stored outlives the package


@dataclasses.dataclass(frozen=True, slots=True)
class Later:
    """A node as it might be one day, with a field more."""

    value: int
    more: Fraction = Fraction(1)


def test_a_field_that_is_added_later_changes_no_digest_while_it_is_at_its_default() -> None:
    assert _plain(Later(7)) == {"node": "Later", "value": 7}
    assert _plain(Later(7, Fraction(2))) == {"node": "Later", "value": 7, "more": "2/1"}
    assert _plain(Later(7, 1)) == {"node": "Later", "value": 7, "more": 1}  # type: ignore[arg-type]


def test_another_language_has_other_digests(monkeypatch: pytest.MonkeyPatch) -> None:
    before = plan().digest()
    monkeypatch.setattr("sfumato.plan.nodes.PLAN_LANGUAGE", PLAN_LANGUAGE + 1)
    assert plan().digest() != before


def test_a_digest_is_the_one_that_ledgers_keep() -> None:
    """If this fails, every stored answer is lost: count PLAN_LANGUAGE on, and say so in the CHANGELOG."""
    kept = Plan("people", Person("user_id", 2), None, (), (Measure(CountRows(), "laplace", Fraction(1, 2)),))
    assert PLAN_LANGUAGE == 2
    assert kept.digest() == "162dfd65c761b81302cdbc54437978478fe73579943a7f619d9caf2694d9d3c1"


def test_an_expression_shows_all_its_branches() -> None:
    case = Case(((TEST, Column("then")),), Column("otherwise"))
    assert {Column("then"), Column("otherwise")} <= set(parts(case))
    assert Column("then") in parts(Case(((TEST, Column("then")),), None))
