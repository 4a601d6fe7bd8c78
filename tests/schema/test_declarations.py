"""What owners declare: columns, unit, budget and table; a value that exists is valid."""

import copy
import dataclasses
import pickle
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

from sfumato.errors import UsageError
from sfumato.schema.budget import Budget, Spend
from sfumato.schema.columns import LARGEST_INT, Category, Date, Float, Identifier, Int, Text
from sfumato.schema.given import LONGEST_NAME
from sfumato.schema.limits import Limits
from sfumato.schema.others import Lookup, Table
from sfumato.schema.table import Schema
from sfumato.schema.unit import MOST_ROWS, Person, Row

# ---- tables beside -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["table", "lookup"])
def test_what_a_table_beside_declares_cannot_be_changed_later(kind: str) -> None:
    """What was worked out of a declaration is kept, and nobody works it out again."""
    columns: dict[str, Any] = {"day": Int(1, 7)}
    one = Table("visits.csv", columns, max_rows=3) if kind == "table" else Lookup("zips.csv", "zip", columns)
    columns["cost"] = Int(0, 9)
    assert dict(one.columns) == {"day": Int(1, 7)}
    with pytest.raises(TypeError):
        one.columns["cost"] = Int(0, 9)  # type: ignore[index]
    for again in (copy.copy(one), copy.deepcopy(one), pickle.loads(pickle.dumps(one))):  # noqa: S301 - its own
        assert again == one
        assert (again.source, dict(again.columns)) == (one.source, dict(one.columns))


# ---- columns -----------------------------------------------------------------------------------------------


def test_bounds() -> None:
    assert (Int(17, 90).lower, Int(17, 90).upper) == (Fraction(17), Fraction(90))
    assert (Int().lower, Int().upper) == (None, None)
    assert (Float().lower, Float().upper) == (None, None)
    assert (Float(0.1, 0.3).lower, Float(0.1, 0.3).upper) == (Fraction(1, 10), Fraction(3, 10))
    assert Float(Decimal("-1.5"), 2).lower == Fraction(-3, 2)
    assert Int(-LARGEST_INT, LARGEST_INT).upper == LARGEST_INT
    assert Int(1, 2) == Int(1, 2)
    assert Int(1, 2) != Float(1, 2)


@pytest.mark.parametrize(
    ("kind", "lower", "upper", "message"),
    [
        (Int, 2, 1, "not below"),
        (Int, 1, 1, "not below"),
        (Float, 0.3, 0.1, "not below"),
        (Float, None, 1, "(missing)"),
        (Float, 0, None, "(missing)"),
        (Int, 0, None, "(missing)"),
        (Int, 0.5, 2, "whole number"),
        (Int, True, 2, "whole number"),
        (Int, 0, LARGEST_INT + 1, "between"),
        (Int, -LARGEST_INT - 1, 0, "between"),
        (Float, 0, float("nan"), "finite"),
        (Float, 0, float("inf"), "finite"),
        (Float, 0, "1", "number"),
        (Float, 0, 1e300, "between"),
    ],
)
def test_wrong_bounds_are_refused(kind: Any, lower: Any, upper: Any, message: str) -> None:
    with pytest.raises(UsageError) as refused:
        kind(lower, upper)
    assert message in refused.value.message


def test_categories() -> None:
    assert Category(["a", "b"]).values == ("a", "b")
    assert Category((1, 2)).values == (1, 2)
    assert Category([True, False]).values == (True, False)
    assert Category([""]).values == ("",)
    assert len(Category([str(i) for i in range(100_000)]).values) == 100_000


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([], "at least one"),
        ("abc", "a list, not one text"),
        (["a", 1], "all texts"),
        ([1, True], "all texts"),
        ([1.5, 2.5], "all texts"),
        ([None], "all texts"),
        (["a\0b"], "ordinary characters"),
        (["a", "b", "a"], "'a' is listed twice"),
        ([1, 2, 1], "'1' is listed twice"),
    ],
)
def test_wrong_categories_are_refused(values: Any, message: str) -> None:
    with pytest.raises(UsageError) as refused:
        Category(values)
    assert message in refused.value.message


# ---- unit --------------------------------------------------------------------------------------------------


def test_units() -> None:
    assert str(Row()) == "row"
    assert Person("user_id", 20).max_groups == 1
    assert str(Person("user_id", 20, 5)) == "person (user_id: at most 20 rows in 5 groups)"
    assert Person("user_id", 5, 5).max_rows == 5
    assert Person("user_id", MOST_ROWS).max_rows == MOST_ROWS


@pytest.mark.parametrize(
    ("rows", "groups", "message"),
    [
        (0, 1, "max_rows must lie between 1"),
        (-1, 1, "max_rows must lie between 1"),
        (MOST_ROWS + 1, 1, "max_rows must lie between 1"),
        (1.5, 1, "max_rows must be a whole number"),
        (True, 1, "max_rows must be a whole number"),
        ("20", 1, "max_rows must be a whole number"),
        (5, 0, "max_groups must be 1 or more"),
        (5, 1.0, "max_groups must be a whole number"),
        (5, 6, "below max_groups=6"),
    ],
)
def test_wrong_units_are_refused(rows: Any, groups: Any, message: str) -> None:
    with pytest.raises(UsageError) as refused:
        Person("user_id", rows, groups)
    assert message in refused.value.message


# ---- budget ------------------------------------------------------------------------------------------------


def test_budgets() -> None:
    assert (Budget(3).epsilon, Budget(3).delta) == (Fraction(3), Fraction(0))
    assert Budget(0.1, 1e-6).delta == Fraction(1, 10**6)
    assert str(Budget(3)) == "epsilon 3"
    assert str(Budget(0.5, 1e-6)) == "epsilon 0.5, delta 1e-06"


@pytest.mark.parametrize(
    ("epsilon", "delta"),
    [(0, 0), (-1, 0), (float("nan"), 0), (True, 0), (1, -0.1), (1, 1), (1, 2), (1, True), ("1", 0)],
)
def test_wrong_budgets_are_refused(epsilon: Any, delta: Any) -> None:
    with pytest.raises(UsageError):
        Budget(epsilon, delta)


# ---- table -------------------------------------------------------------------------------------------------

COLUMNS = {"age": Int(17, 90), "name": Identifier(), "city": Text()}


def test_schema() -> None:
    columns = dict(COLUMNS)
    schema = Schema("people", Person("user_id", 1), columns)
    assert schema.visible == ["age", "city"]
    columns["late"] = Text()
    assert "late" not in schema.columns, "a schema keeps what it was given"
    assert isinstance(schema.columns, MappingProxyType)
    assert Schema("people", Person("name", 1), COLUMNS).visible == ["age", "city"]
    assert Schema("n" * LONGEST_NAME, Row(), {"größe 'x' \"y\"": Text()}).visible


@pytest.mark.parametrize(
    ("table", "unit", "columns", "message"),
    [
        ("people", Row(), {}, "no column is declared"),
        ("people", Row(), {"name": Identifier()}, "no column is declared"),
        ("", Row(), COLUMNS, "not a usable name"),
        ("a\nb", Row(), COLUMNS, "not a usable name"),
        ("n" * (LONGEST_NAME + 1), Row(), COLUMNS, "not a usable name"),
        (7, Row(), COLUMNS, "not a usable name"),
        ("people", Row(), {"": Text()}, "not a usable name"),
        ("people", Row(), {"a\0": Text()}, "not a usable name"),
        ("people", Row(), {7: Text()}, "not a usable name"),
        ("people", "user_id", COLUMNS, "unit cannot be of type str"),
        ("people", Row(), ["age"], "columns cannot be of type list"),
        ("people", Row(), {"age": int}, "declared as int"),
        ("people", Row(), {"age": "int"}, "declared as str"),
        ("people", Person("age", 1), COLUMNS, "ordinary column too"),
    ],
)
def test_wrong_schemas_are_refused(table: Any, unit: Any, columns: Any, message: str) -> None:
    with pytest.raises(UsageError) as refused:
        Schema(table, unit, columns)
    assert message in refused.value.message


def test_declarations_are_frozen() -> None:
    for value in (Int(1, 2), Float(1, 2), Category(["a"]), Person("u", 1), Budget(1), Schema("t", Row(), COLUMNS)):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(value, dataclasses.fields(value)[0].name, None)  # type: ignore[arg-type]


def test_a_person_counts_in_plain_integers() -> None:
    person = Person("user_id", np.int64(5), np.int64(2))  # type: ignore[arg-type]
    assert type(person.max_rows) is type(person.max_groups) is int


PRIVATE = np.array([987_654, 987_654])


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Person("", 1), "'' is not a usable name"),
        (lambda: Person(7, 1), "the id of a person cannot be of type int"),
        (lambda: Person(PRIVATE, 1), "the id of a person cannot be of type ndarray"),
        (lambda: Person("u", 10**5000), "max_rows must lie between 1 and 1000000000, not that"),
        (lambda: Person("u", 5, 10**5000), "max_groups must lie between"),
        (lambda: Int(-(10**5000), 0), "lower must lie between"),
        (lambda: Int(None, "x"), "upper must be a whole number, not 'x'"),
        (lambda: Int(PRIVATE, 5), "lower must be a whole number, not ndarray"),
        (lambda: Float(None, PRIVATE), "upper must be a number, not ndarray"),
        (lambda: Float("0", None), "lower must be a number, not '0'"),
        (lambda: Date(None, PRIVATE), "ndarray is not a date"),
        (lambda: Date(None, 5), "int is not a date"),
        (lambda: Date("2020-01-01"), "lower bound 2020-01-01 is not below upper bound (missing)"),
        (lambda: Category(7), "at least one value"),
        (lambda: Category([[1]]), "all texts"),
        (lambda: Category([10**5000]), "a whole number of a category must lie between"),
        (lambda: Category([PRIVATE, PRIVATE]), "all texts"),
        (lambda: Budget(PRIVATE), "epsilon must be a number, not ndarray"),
        (lambda: Budget(1, None), "delta must be a number, not NoneType"),
        (lambda: Spend(None), "spend must be a number, not NoneType"),
        (lambda: Spend(1, "x"), "delta must be a number, not 'x'"),
        (lambda: Limits(memory=PRIVATE), "no amount of memory"),
        (lambda: Limits(memory=10**5000), "no amount of memory"),
        (lambda: Limits(seconds="5"), "seconds must be a whole number"),
        (lambda: Table("x.csv", ["a"]), "columns cannot be of type list"),
        (lambda: Table("x.csv", {"a": int}), "declared as int"),
        (lambda: Lookup("x.csv", 7, {}), "the key of a lookup cannot be of type int"),
        (lambda: Lookup("x.csv", "", {}), "not a usable name"),
        (lambda: Lookup("x.csv", "zip", None), "columns cannot be of type NoneType"),
    ],
)
def test_whatever_is_given_a_declaration_says_what_is_wrong(build: Any, message: str) -> None:
    with pytest.raises(UsageError) as refused:
        build()
    assert message in refused.value.message
    assert refused.value.hint
    assert "987" not in str(refused.value), "no value of a table is shown"


# ---- dates


def test_dates_are_read_as_they_are_written() -> None:
    declared = Date("2020-01-01", date(2020, 12, 31))
    assert (declared.lower, declared.upper) == (date(2020, 1, 1), date(2020, 12, 31))
    assert (Date().lower, Date().upper) == (None, None)


@pytest.mark.parametrize(
    "lower",
    [
        "2020-1-1",
        "20200101",
        "2020-02-30",
        "",
        "2020-01-01T00:00:00",
        2020,
        True,
        datetime(2020, 1, 1),
        "２０２０-01-01",
    ],
)
def test_what_is_no_date_is_refused(lower: Any) -> None:
    with pytest.raises(UsageError, match="is not a date"):
        Date(lower, "2021-01-01")


@pytest.mark.parametrize(
    ("bounds", "cure"),
    [((3, 3), "leave out the column"), ((4, 3), "Swap or widen"), ((3, None), "Give both bounds, or none")],
)
def test_wrong_bounds_come_with_a_cure(bounds: Any, cure: str) -> None:
    with pytest.raises(UsageError) as refused:
        Int(*bounds)
    assert cure in refused.value.hint


@pytest.mark.parametrize(
    "bounds", [("2020-01-01", None), (None, "2020-01-01"), ("2020-01-02", "2020-01-01"), ("2020-01-01",) * 2]
)
def test_dates_have_both_bounds_in_order_or_none(bounds: Any) -> None:
    with pytest.raises(UsageError, match="is not below upper bound"):
        Date(*bounds)
