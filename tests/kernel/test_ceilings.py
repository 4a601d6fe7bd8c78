"""No plan counts more of a person than the owner allows: of each table, of a join, of its sides, in a fold."""

from dataclasses import astuple
from fractions import Fraction
from typing import Any

import pytest

from sfumato.errors import Refused, UsageError
from sfumato.kernel.ceilings import MOST_PAIRS
from sfumato.kernel.certify import certify
from sfumato.plan.caps import Caps
from sfumato.plan.expressions import Column, Number
from sfumato.plan.lattice import Lattice
from sfumato.plan.nodes import CountRows, Measure, Plan
from sfumato.plan.sources import Computed, Folded, Lookup, OnUnit, PerUnit, Rows, Source, Taken, table_caps
from sfumato.query.capping import OWNERS
from sfumato.schema.columns import Category, Int, Text
from sfumato.schema.others import Lookup as Public
from sfumato.schema.others import Table
from sfumato.schema.table import Schema
from sfumato.schema.unit import ONE_ROW_EACH, Person, Row, TableCaps
from tests.kernel.plans import measure

CHOL = Column("chol")
PATIENTS = Person("who", max_rows=2, max_groups=2, default_max_rows=1)
SCHEMA = Schema(
    "patients",
    PATIENTS,
    {"sex": Category(["f", "m"]), "place": Text()},
    {"places": Public("places.csv", "place", {"size": Int(0, 9)})},
    {
        "labs": Table(
            "labs.csv", {"chol": Int(0, 400)}, max_rows=513, max_groups=9, max_rows_per_group=50, default_max_rows=60
        ),
        "visits": Table("visits.csv", {"day": Int(1, 7)}),
        "steps": Table("steps.csv", {"step": Int(0, 1)}, max_rows=10**6),
    },
)
IT, SEX = Computed("it", CHOL, Int(0, 400)), Computed("it", Column("sex"), Category(["f", "m"]))
COUNTED = (Folded("n", "count", Number(Fraction(1)), Lattice(0, 1, 0)),)
FOLDED = PerUnit("labs", None, (Folded("mean", "mean", CHOL, Lattice(0, 400, 0)),), 513)


def joined(left: Source, right: Source, *rows: int) -> OnUnit:
    rows = rows or (table_caps(left, SCHEMA).max_rows, table_caps(right, SCHEMA).max_rows)
    return OnUnit(left, right, (), True, *rows)


@pytest.mark.parametrize(
    ("source", "caps"),
    [
        ("patients", (2, 2, 2, 1, 1)),
        ("visits", (2, 2, 2, 1, 1)),  # has none of its own
        ("labs", (513, 9, 50, 60, 9)),
        ("steps", (10**6, 1, 10**6, 10**6, 1)),
        (Rows("labs", None, (IT,)), (513, 9, 50, 60, 9)),
        (Lookup("patients", "places", "place", (Taken("size", "size"),), False), (2, 2, 2, 1, 1)),
        (FOLDED, (1, 1, 1, 1, 1)),
        (joined("patients", "labs"), (513, 9, 50, 60, 9)),
        (joined("labs", "patients"), (513, 9, 50, 60, 9)),
        (joined("patients", FOLDED), (2, 2, 2, 1, 1)),
        (joined(FOLDED, FOLDED), (1, 1, 1, 1, 1)),
        (joined(joined("patients", "visits"), "steps"), (10**6, 2, 10**6, 10**6, 1)),
    ],
)
def test_a_source_has_the_caps_of_its_tables_and_a_join_the_larger_ones(source: Source, caps: tuple[int, ...]) -> None:
    assert astuple(table_caps(source, SCHEMA)) == caps


def certified(source: Source, unit: Any = None, caps: Caps | None = None) -> int:
    """The rows of one person that count."""
    usual, own = OWNERS.of(source, SCHEMA)
    plan = Plan(source, unit or usual, None, (), (measure(),), caps=caps if unit or caps else own)
    return certify(plan, SCHEMA, "epsilon").releases[0].sensitivity.l1


def test_as_much_counts_as_a_table_allows_and_no_more() -> None:
    for table, rows in (("patients", 1), ("labs", 50), ("visits", 1), (joined("patients", "labs"), 50), (FOLDED, 1)):
        assert certified(table) == rows
    assert certified("labs", caps=Caps(513, 9, 50)) == 50  # there is one group
    assert certified("patients", caps=Caps(2, 2, 2)) == 2
    for table, caps in (
        ("patients", Caps(3, 2, 2)),
        ("visits", Caps(3, 1, 1)),
        ("labs", Caps(514, 9, 50)),
        ("labs", Caps(513, 10, 50)),
        ("labs", Caps(513, 9, 51)),
        (joined("patients", "labs"), Caps(514, 1, 1)),
        (joined("patients", FOLDED), Caps(3, 1, 1)),
    ):
        with pytest.raises(Refused, match="more of a person than the owner allows"):
            certified(table, caps=caps)
    with pytest.raises(Refused, match="more of a person than the owner allows"):
        certified("patients", Person("who", 3, 2))  # the limits that a plan has by itself are no others


@pytest.mark.parametrize(
    "source",
    [
        joined("patients", "labs", 3, 513),
        joined("patients", "labs", 2, 514),
        joined("labs", "patients", 513, 3),
        joined("patients", FOLDED, 2, 2),
        Rows(joined("patients", "visits", 2, 3), None, (SEX,)),
        PerUnit("patients", None, COUNTED, 3),
        PerUnit("labs", None, FOLDED.columns, 514),
        joined("patients", PerUnit("labs", None, FOLDED.columns, 514), 2, 1),
        joined(joined("patients", "visits", 3, 2), "visits", 2, 2),
        joined("visits", joined("patients", "visits", 3, 2), 2, 2),
        PerUnit(joined("patients", "visits", 3, 2), None, COUNTED, 2),
        Lookup(joined("patients", "visits", 3, 2), "places", "place", (), False),
    ],
)
def test_no_part_takes_more_rows_of_a_person_than_its_tables_allow(source: Source) -> None:
    with pytest.raises(Refused, match="in a part than the owner allows"):
        certified(source)


@pytest.mark.parametrize(
    ("source", "refused"),
    [
        (joined("labs", "labs", 64, 64), False),
        (joined("labs", "labs", 64, 65), True),
        (joined("labs", "labs", 2, 513), False),
        (joined("labs", "steps"), True),
        (joined("patients", "steps"), True),  # two rows of each of a million
        (joined("patients", "steps", 1, 10**6), False),  # as many pairs as steps
        (joined(FOLDED, "steps"), False),
        (joined("steps", FOLDED), False),
        (joined("steps", FOLDED, 10**6, 1), False),
        (joined(joined("patients", "labs"), "labs"), True),
        (joined(joined("patients", "labs"), FOLDED), False),
        (PerUnit(joined("labs", "steps"), None, FOLDED.columns, 513), True),
        (Rows(joined("labs", "steps"), None, (IT,)), True),
    ],
)
def test_a_join_of_many_rows_of_a_person_is_refused_with_the_cure(source: Source, refused: bool) -> None:
    assert MOST_PAIRS == 4096
    if not refused:
        assert certified(source) >= 1
        return
    with pytest.raises(Refused, match="one person could slow it down") as error:
        certified(source)
    assert "GROUP BY id" in error.value.hint
    assert "lower max_rows" in error.value.hint


def test_without_an_id_there_is_nobody_to_cap() -> None:
    plan = Plan("t", Row(), None, (), (Measure(CountRows(), "laplace", measure().share),), caps=Caps(1, 1, 1))
    with pytest.raises(Refused, match="where nobody has an id"):
        certify(plan, Schema("t", Row(), {"x": Int(0, 9)}), "epsilon")
    with pytest.raises(TypeError, match="nobody's rows are capped"):
        Schema("t", Row(), {"x": Int(0, 9)}).caps_of("t")


@pytest.mark.parametrize("rows", [0, -1, True, 1.0, "2", None])
def test_a_part_takes_a_whole_number_of_rows(rows: Any) -> None:
    for make in (
        lambda: PerUnit("labs", None, FOLDED.columns, rows),
        lambda: OnUnit("labs", "labs", (), True, rows, 1),
        lambda: OnUnit("labs", "labs", (), True, 1, rows),
    ):
        with pytest.raises(ValueError, match="whole number of rows"):
            make()


# ---- what is declared


@pytest.mark.parametrize(
    ("declared", "caps"),
    [
        ({"max_rows": 20}, (20, 1, 20, 20, 1)),
        ({"max_rows": 20, "max_groups": 5}, (20, 5, 20, 20, 5)),
        ({"max_rows": 20, "max_groups": 5, "default_max_rows": 3}, (20, 5, 20, 3, 3)),
        ({"max_rows": 20, "max_groups": 5, "default_max_groups": 2}, (20, 5, 20, 20, 2)),
        ({"max_rows": 20, "max_rows_per_group": 4}, (20, 1, 4, 20, 1)),
    ],
)
def test_what_is_not_declared_is_as_much_as_is_allowed(declared: dict[str, int], caps: tuple[int, ...]) -> None:
    assert Person("who", **declared).caps == Table("t.csv", {"x": Int()}, **declared).caps == TableCaps(*caps)


@pytest.mark.parametrize(
    ("declared", "said"),
    [
        ({"max_rows": 2, "max_groups": 3}, "max_rows=2 is below max_groups=3"),
        ({"max_rows": 2, "max_rows_per_group": 3}, "max_rows_per_group=3 is above max_rows=2"),
        ({"max_rows": 2, "default_max_rows": 3}, "default_max_rows=3 is above max_rows=2"),
        ({"max_rows": 2, "default_max_groups": 2}, "default_max_groups=2 is above max_groups=1"),
        (
            {"max_rows": 5, "max_groups": 3, "default_max_rows": 2, "default_max_groups": 3},
            "default_max_rows=2 is below default_max_groups=3",
        ),
        ({"max_rows": 0}, "max_rows must lie between 1 and"),
        ({"max_rows": 10**9 + 1}, "max_rows must lie between 1 and"),
        ({"max_rows": 2, "max_rows_per_group": 0}, "max_rows_per_group must lie between 1 and"),
        ({"max_rows": 2, "default_max_rows": 1.5}, "default_max_rows must be a whole number"),
        ({"max_rows": 2, "default_max_groups": "1"}, "default_max_groups must be a whole number"),
        ({"max_rows": 2, "max_groups": True}, "max_groups must be a whole number"),
    ],
)
def test_caps_that_cannot_be_are_refused_in_words(declared: dict[str, Any], said: str) -> None:
    for make in (lambda: Person("who", **declared), lambda: Table("t.csv", {"x": Int()}, **declared)):
        with pytest.raises(UsageError, match=said) as error:
            make()
        assert error.value.hint


def test_caps_of_a_table_begin_with_its_rows() -> None:
    with pytest.raises(UsageError, match="a table has default_max_rows and no max_rows"):
        Table("t.csv", {"x": Int()}, default_max_rows=3)
    assert Table("t.csv", {"x": Int()}).caps is None
    assert ONE_ROW_EACH.beside(TableCaps(4, 3, 2, 3, 3)) == TableCaps(4, 3, 2, 3, 3)
