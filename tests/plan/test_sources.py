"""Sources: what their columns are, which are refused, and where everybody has one row."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pytest

from sfumato.errors import Refused
from sfumato.plan.expressions import Column, Number
from sfumato.plan.lattice import Lattice
from sfumato.plan.sources import (
    Computed,
    Folded,
    Kept,
    Lookup,
    OnUnit,
    PerUnit,
    Rows,
    Taken,
    comparable,
    derive,
    number_between,
    unit_of,
)
from sfumato.schema.columns import Category, Float, Identifier, Int, Text
from sfumato.schema.others import Lookup as Public
from sfumato.schema.others import Table
from sfumato.schema.table import Schema
from sfumato.schema.unit import Person, Row

PERSON = Person("who", 5, 2)
SCHEMA = Schema(
    "people",
    PERSON,
    {"age": Int(0, 9), "code": Text(), "who": Identifier()},
    {"codes": Public("codes.csv", "key", {"name": Category(["a"]), "size": Float(0, 1)})},
    {"visits": Table("visits.csv", {"day": Int(1, 7)})},
)
ROWS = Schema("people", Row(), {"age": Int(0, 9), "code": Text()}, SCHEMA.lookups)
DAYS = PerUnit("visits", None, (Folded("days", "sum", Column("day"), Lattice(1, 7, 0)),), 5)
NAMED = Lookup("people", "codes", "code", (Taken("name", "name"),), False)


def folded(how: Any, lattice: Lattice) -> Any:
    return derive(PerUnit("visits", None, (Folded("it", how, Column("day"), lattice),), 5), SCHEMA).columns["it"]


def test_columns_follow_from_the_nodes() -> None:
    assert dict(derive("visits", SCHEMA).columns) == {"day": Int(1, 7)}
    assert list(derive(NAMED, SCHEMA).columns) == ["age", "code", "who", "name"]
    assert dict(derive(Rows(NAMED, None, (Computed("n", Column("name"), Category(["a"])),)), SCHEMA).columns) == {
        "n": Category(["a"])
    }
    joined = OnUnit("people", DAYS, (Taken("d", "days"),), True, 5, 1)
    assert derive(joined, SCHEMA).columns["d"] == Int(0, 35)
    assert list(derive(NAMED, ROWS).columns) == ["age", "code", "name"]


def test_a_source_is_worked_out_for_the_schema_that_is_asked_about() -> None:
    """The same object under several descriptions: what was found of one says nothing about another."""
    renamed = Rows("people", None, (Computed("years", Column("age"), Int(0, 9)),))
    other = Schema("people", Row(), {"age": Text(), "code": Text()})
    assert derive(renamed, SCHEMA) is derive(renamed, SCHEMA), "once"
    for _ in range(2):
        with pytest.raises(Refused, match="not what it is declared as"):
            derive(renamed, other)
        with pytest.raises(Refused, match="no column"):
            derive(renamed, Schema("people", Row(), {"code": Text()}))
    assert derive(NAMED, SCHEMA).unit == PERSON
    assert derive(NAMED, ROWS).unit == Row()


def test_kept_sources_are_found_by_what_they_hold() -> None:
    def made(top: int) -> Kept:
        return Kept(Rows("people", None, (Computed("years", Column("age"), Int(0, top)),)))

    assert hash(made(9)) == hash(made(9))
    assert {made(9): 1}[made(9)] == 1
    assert {made(9), made(8), Kept(made(9)), Kept("people")} == {Kept("people"), Kept(made(9)), made(8), made(9)}
    assert len({made(9), made(8), Kept(made(9)), made(9)}) == 3


def test_folds_are_bounded_by_what_max_rows_rows_can_make() -> None:
    assert folded("count", Lattice(0, 1, 0)) == Int(0, 5)
    assert folded("sum", Lattice(-2, 3, 0)) == Int(-10, 15)
    assert folded("sum", Lattice(2, 3, -1)) == Float(0, Fraction(15, 2))
    assert folded("mean", Lattice(-2, 3, 0)) == Float(-2, 3)
    assert folded("least", Lattice(-2, 3, 0)) == folded("most", Lattice(-2, 3, 0)) == Int(-2, 3)
    assert folded("most", Lattice(-2, 3, 1)) == Float(-4, 6)


def test_bounds_that_cannot_be_declared_are_left_out() -> None:
    assert number_between(Fraction(3), Fraction(3), whole=True) == Int(3, 4)
    assert number_between(Fraction(0), Fraction(2**63), whole=True) == Float(0, 2**63)
    assert number_between(Fraction(0), Fraction(10) ** 200, whole=False) == Float()


def test_only_texts_and_whole_numbers_are_compared_with_keys() -> None:
    texts, whole = [Text(), Category(["a"]), Category([True, False])], [Int(), Category([1, 2])]
    assert all(comparable(a, b) for kinds in (texts, whole) for a in kinds for b in kinds)
    assert not any(comparable(a, b) or comparable(b, a) for a in texts for b in whole)
    assert not any(comparable(a, a) for a in (Float(), Identifier()))


def test_where_everybody_has_one_row_a_row_is_a_person() -> None:
    for one in (DAYS, Rows(DAYS, None, ()), Lookup(DAYS, "codes", "x", (), True), OnUnit(DAYS, DAYS, (), False, 1, 1)):
        assert unit_of(one, PERSON) == Row()
    joined = (OnUnit(DAYS, "people", (), True, 1, 5), OnUnit("people", DAYS, (), True, 5, 1))
    for many in ("people", NAMED, Rows("people", None, ()), *joined):
        assert unit_of(many, PERSON) == PERSON


@dataclass(frozen=True)
class Stranger:
    value: Any = None


ONE = Number(Fraction(1))


@pytest.mark.parametrize(
    ("source", "schema", "reason"),
    [
        ("elsewhere", SCHEMA, "another table"),
        ("codes", SCHEMA, "another table"),
        ("visits", ROWS, "another table"),
        (Stranger(), SCHEMA, "unknown Stranger"),
        (Rows(Stranger(), None, ()), SCHEMA, "unknown Stranger"),
        (Lookup("people", "visits", "code", (), True), SCHEMA, "not public"),
        (Lookup("people", "codes", "age", (), True), SCHEMA, "another kind"),
        (Lookup("people", "codes", "elsewhere", (), True), SCHEMA, "no column"),
        (Lookup("people", "codes", "code", (Taken("x", "elsewhere"),), True), SCHEMA, "no column"),
        (Lookup("people", "codes", "code", (Taken("AGE", "size"),), True), SCHEMA, "same name"),
        (OnUnit("people", "visits", (Taken("Who", "day"),), True, 5, 5), SCHEMA, "same name"),
        (Rows("people", None, (Computed("Who", ONE, Int(0, 1)),)), SCHEMA, "same name"),
        (PerUnit("people", None, (Folded("it", "median", ONE, Lattice(0, 1, 0)),), 5), SCHEMA, "unknown way"),
        (PerUnit("people", None, (Folded("it", "count", ONE, Lattice(0, 1, 0)),), 5), ROWS, "protects rows"),
        (OnUnit("people", "people", (), True, 5, 5), ROWS, "protects rows"),
    ],
)
def test_what_does_not_keep_the_unit_is_refused(source: Any, schema: Schema, reason: str) -> None:
    with pytest.raises(Refused, match=reason):
        derive(source, schema)
