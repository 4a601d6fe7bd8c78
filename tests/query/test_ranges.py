"""Every function's range against true values: all that the reference computes lies within, and on the grid."""

from datetime import date
from fractions import Fraction
from itertools import product
from math import isfinite, isinf
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.errors import Refused
from sfumato.plan.expressions import Arithmetic, Case, Column, Expression, Negative, Number
from sfumato.plan.functions import FUNCTIONS
from sfumato.plan.nodes import ListedKey, RangeKey
from sfumato.query import ranges
from sfumato.query.bind_dates import starts, truncated
from sfumato.query.bind_expressions import bind_value, value_range
from sfumato.query.bind_keys import bind_key
from sfumato.query.function_ranges import range_of
from sfumato.query.ranges import WHOLE, Grid, Range, constant
from sfumato.query.sql import parse
from sfumato.schema.table import Schema
from tests.contract.random_plans import calls, cases
from tests.functions import MEANING
from tests.reference import Reader, group_number

SCHEMA = Schema(
    "people",
    sf.Row(),
    {
        "a": sf.Int(-3, 5),
        "b": sf.Int(2, 9),
        "c": sf.Float(Fraction(-1, 2), Fraction(7, 2)),
        "d": sf.Float(-8, Fraction(-1, 4)),
        "e": sf.Float(0, 100),
        "free": sf.Float(),
        "note": sf.Text(),
        "kind": sf.Category(["x", "Yy", " z "]),
        "day": sf.Date("1999-12-30", "2001-02-03"),
        "seen": sf.Date(),
    },
)
READER = Reader(SCHEMA)

plain = st.one_of(
    st.builds(Column, st.sampled_from("abcde")),
    st.builds(Number, st.sampled_from([Fraction(n) for n in ("-2", "-1/2", "0", "1/10", "1", "3", "10")])),
)
days = st.builds(Column, st.sampled_from(["day", "seen"]))
texts = st.builds(Column, st.sampled_from(["note", "kind"]))
tests = st.sampled_from([parse(f"SELECT COUNT(*) FROM t WHERE {c}").where for c in ("a > 0", "c < 1", "d < b - 9")])
numbers: st.SearchStrategy[Expression] = st.recursive(
    plain,
    lambda inner: st.one_of(
        st.builds(Negative, inner),
        st.builds(Arithmetic, st.sampled_from("+-*/"), inner, inner),
        calls("number", inner, texts, days),
        cases(inner, tests),
    ),
    max_leaves=5,
)


@st.composite
def rows(draw: st.DrawFn) -> dict[str, Any]:
    """A value inside its bounds for every column, often at one of them, or none at all."""
    row: dict[str, Any] = {}
    for name in "abcde":
        declared = SCHEMA.columns[name]
        assert isinstance(declared, sf.Int | sf.Float)
        low, high = float(declared.lower or 0), float(declared.upper or 0)
        inside = st.integers(int(low), int(high)) if name in "ab" else st.floats(low, high)
        ends = [int(low), int(high)] if name in "ab" else [low, high]
        row[name] = draw(st.one_of(st.sampled_from([*ends, None]), inside))
    row["free"] = draw(st.sampled_from([None, -1e300, 5.5]))
    row["note"], row["kind"] = draw(st.sampled_from([None, "", "long " * 9])), draw(st.sampled_from([None, "x", "Yy"]))
    row["day"] = draw(st.one_of(st.none(), st.dates(date(1999, 12, 30), date(2001, 2, 3))))
    row["seen"] = draw(st.one_of(st.none(), st.dates()))
    return row


def close(one: float, other: Fraction) -> float:
    return 1e-9 * max(1.0, abs(one), abs(float(other)))


@pytest.mark.slow
@settings(max_examples=1500)
@given(numbers, rows())
def test_every_value_lies_within_the_range_and_on_the_grid(node: Expression, row: dict[str, Any]) -> None:
    try:
        found = value_range(node, "SUM(x)", SCHEMA)
    except Refused:
        return
    value = READER.value(node, row)
    if value is None:
        return
    assert isinstance(value, int | float)
    low, high = found.low, found.high
    if isinf(value):
        assert low is None or high is None or max(abs(low), abs(high)) > 10**300
        return
    if low is not None:
        assert value >= float(low) - close(value, low), found
    if high is not None:
        assert value <= float(high) + close(value, high), found
    if found.grid is not None and found.bounds is not None and abs(value) < 10**6:
        step = found.grid.step
        away = Fraction(value) - found.grid.offset
        if step == 0:
            assert abs(away) <= close(value, Fraction(0))
        elif step > Fraction(1, 1000):
            assert abs(away / step - round(away / step)) * step <= close(value, step), found


def broken(name: str) -> Any:
    """Rules of intervals as they are often got wrong."""
    return {
        "ABS": lambda given: Range(tuple(sorted(abs(end) for end in given[0].bounds))),
        "POWER": lambda given: Range(tuple(sorted(end ** int(given[1].bounds[0]) for end in given[0].bounds))),
        "COALESCE": lambda given: given[0],
        "MOD": lambda given: Range((Fraction(0), given[1].bounds[1])),
    }[name]


@pytest.mark.parametrize(
    ("name", "node", "row"),
    [
        ("ABS", "ABS(a)", {"a": 0}),
        ("POWER", "POWER(a, 2)", {"a": 0}),
        ("COALESCE", "COALESCE(a, b)", {"a": None, "b": 9}),
        ("MOD", "MOD(a, 2)", {"a": -3}),
    ],
)
def test_a_broken_rule_would_be_noticed(name: str, node: str, row: dict[str, Any]) -> None:
    call = bound(node)
    value = READER.value(call, row)
    given = tuple(value_range(argument, "x", SCHEMA) for argument in call.arguments)  # type: ignore[union-attr]
    wrong, right = broken(name)(given), range_of(name, given)
    assert not wrong.bounds[0] <= value <= wrong.bounds[1]
    assert right.bounds[0] <= value <= right.bounds[1]


def bound(text: str) -> Expression:
    return bind_value(parse(f"SELECT SUM({text}) FROM people").selected[0].call.value, SCHEMA)  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("LEAST(GREATEST(free, 0), 1000)", 0, 1000),
        ("GREATEST(LEAST(free, 10), -10)", -10, 10),
        ("LEAST(LENGTH(note), 20)", 0, 20),
        ("LEAST(ABS(free), 5)", 0, 5),
        ("GREATEST(LEAST(COALESCE(free, 0), 1), 0)", 0, 1),
        ("CASE WHEN a > 0 THEN 1 ELSE 0 END", 0, 1),
        ("SIGN(free)", -1, 1),
        ("MOD(free, 5)", -5, 5),
        ("DATE_DIFF('day', day, '2001-02-03')", 0, 401),
        ("DATE_DIFF('year', DATE_TRUNC('year', day), day)", 0 - 2, 2),
        ("YEAR(CASE WHEN a > 0 THEN day ELSE '2010-05-05' END)", 1999, 2010),
        ("YEAR(NULLIF(COALESCE(day, '1990-01-01'), '2000-01-01'))", 1990, 2001),
    ],
)
def test_ranges_worth_knowing(text: str, low: int, high: int) -> None:
    assert value_range(bound(text), text, SCHEMA).bounds == (low, high)


@pytest.mark.parametrize(
    "text",
    [
        "free",
        "LEAST(free, 5)",
        "SQRT(free)",
        "EXP(free)",
        "LN(e)",
        "POWER(free, 2)",
        "POWER(e, -0.5)",
        "POWER(d, 0.5)",
        "SQRT(d)",
        "EXP(e * 10)",
        "YEAR(seen)",
        "DATE_DIFF('day', day, seen)",
        "POWER(a, -2)",
        "1 / free",
        "LENGTH(note)",
        "POWER(POWER(POWER(e, 10), 10), 10)",
        "LN(POWER(POWER(e + 1, 10), 10))",
        "YEAR(COALESCE(day, seen))",
        "free / a",
    ],
)
def test_where_no_bounds_follow_there_are_none(text: str) -> None:
    assert value_range(bound(text), text, SCHEMA).bounds is None


def test_a_small_exponential_and_a_wide_one() -> None:
    small = ranges.exponential(Range((Fraction(-(10**6)), Fraction(1))))
    assert small.bounds is not None
    assert small.bounds[0] == 0
    assert isfinite(float(small.bounds[1]))


def test_grids() -> None:
    half = Fraction(1, 2)
    assert ranges.add(constant(half), Range(None, WHOLE)).grid == Grid(half, Fraction(1))
    assert ranges.times(Range(None, WHOLE), Range(None, Grid(half, Fraction(1)))).grid is None
    assert ranges.hull((constant(Fraction(1)), constant(Fraction(4)))).grid == Grid(Fraction(1), Fraction(3))
    assert ranges.hull((constant(half), Range(None))).grid is None
    assert ranges.rounded(Range(None, Grid(Fraction(0), Fraction(10))), Fraction(1), round).grid == Grid(
        Fraction(0), Fraction(10)
    )


def test_every_function_has_a_meaning_and_all_are_known() -> None:
    assert set(MEANING) | {"COALESCE", "NULLIF"} == set(FUNCTIONS)


# ---- keys


KEYS = [
    "BIN(a, 2)",
    "BIN(c, 0.1)",
    "ROUND(e, -1)",
    "1 + BIN(b - 1, 3)",
    "FLOOR(c) * 2 + 0.5",
    "b % 4",
    "SIGN(free)",
    "CASE WHEN a > 0 THEN 3 WHEN c > 0 THEN -7 END",
    "CASE WHEN a > 0 THEN 0.5 ELSE 2 END",
    "CASE WHEN a > 0 THEN kind ELSE 'else' END",
    "UPPER(kind)",
    "TRIM(LOWER(kind))",
    "LEFT(kind, 1)",
    "RIGHT(kind, 2)",
    "SUBSTRING(kind, 2, 2)",
    "REPLACE(kind, 'Y', '')",
    "NULLIF(kind, 'x')",
    "COALESCE(kind, 'none')",
    "day",
    "YEAR(day)",
    "DATE_TRUNC('year', day)",
    "DATE_TRUNC('quarter', day)",
    "DATE_TRUNC('month', day)",
    "DATE_TRUNC('week', day)",
    "ISODOW(seen)",
    "DATE_DIFF('month', day, '2001-02-03')",
]


@pytest.mark.slow
@pytest.mark.parametrize("text", KEYS)
@settings(max_examples=60)
@given(row=rows())
def test_every_row_within_the_bounds_finds_its_key(text: str, row: dict[str, Any]) -> None:
    expression = bind_value(parse(f"SELECT COUNT(*) FROM people GROUP BY {text}").keys[0], SCHEMA)
    key = bind_key(expression, SCHEMA)
    assert len(set(key.values)) == key.size
    value = READER.value(expression, row)
    place = group_number(PlanOf((key,)), row, READER)  # type: ignore[arg-type]
    assert (place is None) == (value is None)
    if place is not None and not isinstance(value, str | date):
        assert value == pytest.approx(key.values[place])
    elif place is not None:
        assert str(value) == key.values[place]


class PlanOf:
    """As much of a plan as is looked at."""

    def __init__(self, keys: tuple[ListedKey | RangeKey, ...]) -> None:
        self.keys = keys


def test_categories_that_are_not_ascii_are_changed_by_the_engine_alone() -> None:
    schema = Schema("t", sf.Row(), {"k": sf.Category(["straße"]), "g": sf.Category([1, 2])})
    with pytest.raises(Refused, match="has no public list of values"):
        bind_key(bind_value(parse("SELECT COUNT(*) FROM t GROUP BY UPPER(k)").keys[0], schema), schema)
    key = bind_key(bind_value(parse("SELECT COUNT(*) FROM t GROUP BY COALESCE(g, 9)").keys[0], schema), schema)
    assert key == ListedKey(key.expression, (1, 2, 9))


def test_a_key_beyond_exact_doubles_is_refused() -> None:
    with pytest.raises(Refused, match="has no public list of values"):
        bind_key(bind_value(parse("SELECT COUNT(*) FROM t GROUP BY a + 1e20").keys[0], SCHEMA), SCHEMA)


def test_days_are_counted_before_they_are_listed() -> None:
    schema = Schema("t", sf.Row(), {"d": sf.Date("0001-01-01", "9999-12-31")})
    for text in ("d", "DATE_TRUNC('week', d)"):
        with pytest.raises(Refused, match="groups; 100000 are allowed"):
            bind_key(bind_value(parse(f"SELECT COUNT(*) FROM t GROUP BY {text}").keys[0], schema), schema)
    years = bind_key(bind_value(parse("SELECT COUNT(*) FROM t GROUP BY DATE_TRUNC('year', d)").keys[0], schema), schema)
    assert years.size == 9999


@given(st.dates(), st.dates(), st.sampled_from(["year", "quarter", "month", "week"]))
def test_the_starts_are_all_and_no_more(one: date, other: date, unit: str) -> None:
    first, last = min(one, other), max(one, other)
    if (last - first).days > 4000:
        last = min(last, date.fromordinal(first.toordinal() + 4000))
    listed = list(starts((first, last), unit))
    every = {truncated(date.fromordinal(n), unit) for n in range(first.toordinal(), last.toordinal() + 1)}
    assert listed == sorted(every)


def test_case_of_every_kind_keeps_its_kind() -> None:
    for value, key in product(("1", "'a'", "day"), ("CASE WHEN a > 0 THEN {} END", "COALESCE({}, {})")):
        node = bind_value(parse(f"SELECT COUNT({key.format(value, value)}) FROM t").selected[0].call.value, SCHEMA)  # type: ignore[union-attr]
        assert isinstance(node, Case) or node.name == "COALESCE"  # type: ignore[union-attr]
