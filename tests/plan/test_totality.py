"""Nodes that cannot be made, and what is known of those that can: kinds, and the longest text they give."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import duckdb
import pytest

from sfumato.errors import Refused
from sfumato.plan.expressions import (
    LARGEST_END,
    LARGEST_NUMBER,
    LARGEST_PICKED,
    MOST_PICKED,
    MOST_UNIT_PARTS,
    AllOf,
    AnyOf,
    Arithmetic,
    Call,
    Case,
    Column,
    Comparison,
    Cross,
    Day,
    Expression,
    IsNull,
    Matches,
    Number,
    OneOf,
    Pick,
    String,
    UnitPart,
)
from sfumato.plan.functions import FUNCTIONS, LARGEST_POWER, MOST_DIGITS, MOST_SIGNS
from sfumato.plan.lattice import MOST_EXPONENT, Lattice
from sfumato.plan.nodes import Grid, ListedKey, Magnitudes, RangeKey
from sfumato.plan.sources import Computed, Lookup, OnUnit, Rows, Taken, derive
from sfumato.plan.totality import LONGEST_MADE, Derived, check_cells, known, longest
from sfumato.schema.columns import Category, Date, Float, Identifier, Int, Text
from sfumato.schema.others import Lookup as Public
from sfumato.schema.others import Table
from sfumato.schema.table import Schema
from sfumato.schema.unit import Person

NOTE, SEEN, X = Column("note"), Column("seen"), Column("x")
HALVES = RangeKey(X, 0, 1)
SCHEMA = Schema(
    "people",
    Person("who", 5, 2),
    {
        "note": Text(),
        "short": Text(longest=7),
        "kind": Category(["é", "abc"]),
        "flag": Category([True, False]),
        "code": Category([1, 22]),
        "x": Int(0, 9),
        "z": Float(),
        "seen": Date(),
        "name": Identifier(),
    },
    {"places": Public("places.csv", "key", {"place": Text(longest=30)})},
    {"visits": Table("visits.csv", {"goal": Text(longest=40)})},
)


def number(value: Any) -> Number:
    return Number(Fraction(value))


def call(name: Any, *arguments: Any) -> Any:
    return Call(name, arguments)


# ---- what cannot be made

UNMADE: dict[str, Callable[[], object]] = {
    "an unknown function": lambda: call("EVIL", X),
    "an argument too few": lambda: call("POWER", X),
    "an argument too many": lambda: call("ABS", X, X),
    "no argument": lambda: call("CONCAT"),
    "digits of a row": lambda: call("ROUND", X, X),
    "too many digits": lambda: call("ROUND", X, number(MOST_DIGITS + 1)),
    "too many digits before the point": lambda: call("ROUND", X, number(-MOST_DIGITS - 1)),
    "half a digit": lambda: call("ROUND", X, number("1/2")),
    "place 0": lambda: call("SUBSTRING", NOTE, number(0), number(1)),
    "a place far away": lambda: call("SUBSTRING", NOTE, number(MOST_SIGNS + 1), number(1)),
    "a negative length": lambda: call("LEFT", NOTE, number(-1)),
    "a length of a row": lambda: call("RIGHT", NOTE, X),
    "a length that is a text": lambda: call("RIGHT", NOTE, String("1")),
    "a divisor of 0": lambda: call("MOD", X, number(0)),
    "a divisor of a row": lambda: call("MOD", X, X),
    "an exponent of a row": lambda: call("POWER", X, X),
    "a large exponent": lambda: call("POWER", X, number(LARGEST_POWER + 1)),
    "a large negative exponent": lambda: call("POWER", X, number(-LARGEST_POWER - 1)),
    "replacing a row's text": lambda: call("REPLACE", NOTE, NOTE, String("a")),
    "replacing by a row's text": lambda: call("REPLACE", NOTE, String("a"), NOTE),
    "replacing nothing": lambda: call("REPLACE", NOTE, String(""), String("")),
    "replacing by what is longer": lambda: call("REPLACE", NOTE, String("a"), String("a" * 50)),
    "replacing by more bytes": lambda: call("REPLACE", NOTE, String("aa"), String("日")),
    "truncated to a row's text": lambda: call("DATE_TRUNC", NOTE, SEEN),
    "truncated to a century": lambda: call("DATE_TRUNC", String("century"), SEEN),
    "truncated in capitals": lambda: call("DATE_TRUNC", String("YEAR"), SEEN),
    "a distance in quarters": lambda: call("DATE_DIFF", String("quarter"), SEEN, SEEN),
    "an unknown sign": lambda: Arithmetic("%", X, X),  # type: ignore[arg-type]
    "SQL as a sign": lambda: Comparison("= 1 OR 1 =", X, X),  # type: ignore[arg-type]
    "an unknown match": lambda: Matches("glob", NOTE, "a"),  # type: ignore[arg-type]
    "a pattern with NUL": lambda: Matches("like", NOTE, "a\0"),
    "a case of nothing": lambda: Case((), X),
    "a branch of nothing": lambda: Case(((IsNull(X),),), X),  # type: ignore[arg-type]
    "all of nothing": lambda: AllOf(()),
    "any of nothing": lambda: AnyOf(()),
    "one of nothing": lambda: OneOf(X, ()),
    "one of the rows": lambda: OneOf(X, (X,)),  # type: ignore[arg-type]
    "a number that is a double": lambda: Number(0.5),  # type: ignore[arg-type]
    "a number above all doubles": lambda: Number(LARGEST_NUMBER * 2),
    "a number that would be 0": lambda: Number(1 / (LARGEST_NUMBER * 2)),
    "half a character": lambda: String("a\ud800"),
    "NUL": lambda: String("a\0b"),
    "a text that is a number": lambda: String(1),  # type: ignore[arg-type]
    "no day": lambda: Day("2024-02-30"),
    "a day written otherwise": lambda: Day("20240131"),
    "a day that is no text": lambda: Day(20240131),  # type: ignore[arg-type]
    "a key with half a character": lambda: ListedKey(NOTE, ("\ud800",)),
    "a key of a double": lambda: ListedKey(X, (0.5,)),  # type: ignore[arg-type]
    "a range beyond 64 bits": lambda: RangeKey(X, 0, LARGEST_END),
    "a range of halves": lambda: RangeKey(X, 0, 0.5),  # type: ignore[arg-type]
    "a range without steps": lambda: RangeKey(X, 0, 1, Fraction(0)),
    "a range of endless steps": lambda: RangeKey(X, 0, 1, LARGEST_NUMBER * 2),
    "a product of no lines": lambda: Cross(()),
    "a product of products": lambda: Cross((Cross((HALVES,)),)),  # type: ignore[arg-type]
    "a product with an empty line": lambda: Cross((HALVES, RangeKey(X, 1, 0))),
    "a product of too many cells": lambda: Cross((RangeKey(X, 1, 1 << 10), RangeKey(X, 1, (1 << 8) + 1))),
    "numbers for some cells": lambda: Pick(HALVES, (1,)),
    "numbers beyond all cells": lambda: Pick(HALVES, (1, 2, 3)),
    "numbers for no cell": lambda: Pick(RangeKey(X, 1, 0), ()),
    "too many numbers": lambda: Pick(RangeKey(X, 0, MOST_PICKED), (0,) * (MOST_PICKED + 1)),
    "a number that no double has": lambda: Pick(HALVES, (0, LARGEST_PICKED + 1)),
    "a missing number that no double has": lambda: Pick(HALVES, (0, 1), -LARGEST_PICKED - 1),
    "numbers that are doubles": lambda: Pick(HALVES, (0, 0.5)),  # type: ignore[arg-type]
    "numbers that are truths": lambda: Pick(HALVES, (0, True)),
    "a salt below 0": lambda: UnitPart(-1, 2),
    "a salt beyond 64 bits": lambda: UnitPart(LARGEST_END, 2),
    "a salt of the rows": lambda: UnitPart(X, 2),  # type: ignore[arg-type]
    "no part": lambda: UnitPart(0, 0),
    "too many parts": lambda: UnitPart(0, MOST_UNIT_PARTS + 1),
    "half a part": lambda: UnitPart(0, 0.5),  # type: ignore[arg-type]
    "a grid beyond doubles": lambda: Grid(X, Fraction(0), LARGEST_NUMBER * 2, 1),
    "a grid finer than doubles": lambda: Grid(X, Fraction(0), 1 / LARGEST_NUMBER, 1 << 18),
    "magnitudes beyond doubles": lambda: Magnitudes(X, MOST_EXPONENT + 1, 1),
    "magnitudes finer than doubles": lambda: Magnitudes(X, -MOST_EXPONENT - 1, 1),
    "a lattice beyond doubles": lambda: Lattice(0, 1, MOST_EXPONENT + 1),
    "a lattice finer than doubles": lambda: Lattice(0, 1, -MOST_EXPONENT - 1),
}


@pytest.mark.parametrize("what", UNMADE)
def test_a_node_that_some_engine_could_not_write_cannot_be_made(what: str) -> None:
    with pytest.raises(ValueError):
        UNMADE[what]()


def test_a_column_has_a_name() -> None:
    with pytest.raises(TypeError):
        Column(1)  # type: ignore[arg-type]


def test_constants_at_their_limits_can_be_made() -> None:
    assert call("ROUND", X, number(-MOST_DIGITS))
    assert call("SUBSTRING", NOTE, number(1), number(MOST_SIGNS))
    assert call("LEFT", NOTE, number(0))
    assert call("POWER", X, number(-LARGEST_POWER))
    assert call("MOD", X, Number(1 / LARGEST_NUMBER))
    assert call("REPLACE", NOTE, String("日"), String("abc"))
    assert call("DATE_TRUNC", String("quarter"), SEEN)
    assert Number(-LARGEST_NUMBER)
    assert Pick(RangeKey(X, 1, MOST_PICKED), (LARGEST_PICKED,) * MOST_PICKED, -LARGEST_PICKED)
    assert UnitPart(LARGEST_END - 1, MOST_UNIT_PARTS)
    assert Cross((RangeKey(X, 1, 1 << 9), RangeKey(X, 1, 1 << 9))).size == 1 << 18


PICKED: dict[str, Any] = {
    "a cell of texts": Grid(NOTE, Fraction(0), Fraction(1), 2),
    "a range of days": RangeKey(SEEN, 0, 1),
    "a list of numbers for texts": ListedKey(NOTE, (1, 2)),
    "a list of texts for numbers": ListedKey(X, ("1", "2")),
    "a list of both": ListedKey(X, (1, "2")),
    "a value listed twice": ListedKey(NOTE, ("a", "a")),
    "an identifier": ListedKey(Column("name"), ("a", "b")),
    "a column that is not there": RangeKey(Column("gone"), 0, 1),
}


@pytest.mark.parametrize("what", PICKED)
def test_cells_that_some_row_would_make_fail_are_refused_wherever_they_stand(what: str) -> None:
    line = PICKED[what]
    for cells in (line, Cross((line,)), Cross((HALVES, line))):
        with pytest.raises(Refused):
            check_cells(cells, SCHEMA)
        with pytest.raises(Refused):
            known(Pick(cells, (0,) * cells.size), SCHEMA)
    check_cells(Cross((HALVES, ListedKey(Column("code"), (1, 2)))), SCHEMA)
    assert known(Pick(HALVES, (0, 1)), SCHEMA) == known(UnitPart(1, 2), SCHEMA) == known(number(1), SCHEMA)


# ---- what is known of the others


@pytest.mark.parametrize(
    ("value", "kind", "most"),
    [
        (NOTE, "text", 1000),
        (Column("kind"), "text", 3),
        (Column("flag"), "text", 5),
        (Column("code"), "number", None),
        (SEEN, "date", 0),
        (String("日本"), "text", 2),
        (call("UPPER", NOTE), "text", 1000),
        (call("LEFT", NOTE, number(2)), "text", 1000),
        (call("CONCAT", NOTE, String("-"), Column("short")), "text", 1008),
        (call("REPLACE", NOTE, String("ab"), String("")), "text", 1000),
        (call("REPLACE", Column("short"), String("日"), String("abc")), "text", 21),
        (call("REPLACE", Column("short"), String("日本"), String("abc")), "text", 10),
        (call("COALESCE", Column("short"), NOTE), "text", 1000),
        (call("NULLIF", Column("short"), NOTE), "text", 1000),
        (Case(((IsNull(X), Column("short")),), NOTE), "text", 1000),
        (call("LENGTH", NOTE), "number", 0),
        (call("DATE_TRUNC", String("year"), SEEN), "date", 0),
        (call("DATE_DIFF", String("day"), SEEN, Day("2024-01-31")), "number", 0),
    ],
)
def test_kinds_and_lengths_follow_from_the_parts(value: Expression, kind: Any, most: int | None) -> None:
    found = known(value, SCHEMA)
    assert found.kind == kind
    assert most is None or found == Derived(kind, most)


def test_every_function_that_gives_a_text_has_a_length() -> None:
    constants = {"place": number(1), "length": number(2), "constant": String("a")}
    for name, function in FUNCTIONS.items():
        if function.gives == "text":
            assert known(Call(name, tuple(constants.get(each, NOTE) for each in function.takes)), SCHEMA).longest >= 1


def test_capitals_are_as_many_characters_as_small_letters_in_all_of_unicode() -> None:
    """The bound of UPPER and LOWER: an engine that made SS of ß would need another."""
    every = "SELECT chr(CAST(i AS INTEGER)) AS sign FROM range(1, 1114112) AS t(i) WHERE i NOT BETWEEN 55296 AND 57343"
    most = "SELECT max(length(upper(sign))), max(length(lower(sign))), max(length(sign)) FROM "
    assert duckdb.execute(f"{most} ({every})").fetchall() == [(1, 1, 1)]
    pairs = "SELECT 'ß' || sign || 'İ' AS sign FROM"
    assert duckdb.execute(f"{most} ({pairs} ({every}))").fetchall() == [(3, 3, 3)]


def test_a_text_may_be_as_long_as_one_that_can_be_declared_and_no_longer() -> None:
    at_most = call("CONCAT", *[NOTE] * (LONGEST_MADE // 1000))
    assert known(at_most, SCHEMA).longest == LONGEST_MADE
    longer = call("CONCAT", at_most, String("a"))
    for value in (longer, call("LENGTH", longer), call("LEFT", longer, number(1)), Case(((IsNull(longer), X),), X)):
        with pytest.raises(Refused, match="more than 100000 characters"):
            known(value, SCHEMA)
    assert longest(longer, SCHEMA) == LONGEST_MADE + 1


def test_a_chain_of_doublings_is_looked_at_once_a_node() -> None:
    value: Expression = Column("short")
    for _ in range(60):
        value = call("CONCAT", value, value)
    assert longest(value, SCHEMA) == 7 << 60


# ---- lengths go through sources


def test_a_computed_text_is_as_long_as_what_it_is_made_of_whatever_it_is_declared_as() -> None:
    twice = call("CONCAT", NOTE, NOTE)
    for declared in (Text(), Text(longest=1), Category(["a"])):
        inner = Rows("people", None, (Computed("made", twice, declared),))
        outer = Rows(inner, None, (Computed("again", Column("made"), declared),))
        columns = derive(OnUnit("people", outer, (Taken("joined", "again"),), True, 5, 5), SCHEMA)
        assert known(Column("joined"), columns).longest == 2000
        assert known(Column("short"), columns).longest == 7


def test_a_looked_up_text_is_as_long_as_it_is_declared() -> None:
    columns = derive(Lookup("people", "places", "note", (Taken("where", "place"),), False), SCHEMA)
    assert known(Column("where"), columns).longest == 30
    assert known(Column("goal"), derive("visits", SCHEMA)).longest == 40


def test_growth_over_several_levels_is_refused_where_it_becomes_too_long() -> None:
    source: Any = "people"
    for _ in range(6):
        source = Rows(source, None, (Computed("note", call("CONCAT", NOTE, NOTE), Text()),))
    assert known(NOTE, derive(source, SCHEMA)).longest == 64_000
    with pytest.raises(Refused, match="more than 100000 characters"):
        derive(Rows(source, None, (Computed("note", call("CONCAT", NOTE, NOTE), Text()),)), SCHEMA)
