"""Names, types, keys and bounds: what binding finds out, and interval arithmetic against true values."""

from dataclasses import dataclass
from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.errors import Refused
from sfumato.plan.expressions import Arithmetic, Column, Expression, Matches, Negative, Number, String
from sfumato.plan.lattice import Lattice
from sfumato.plan.nodes import CountRows, ListedKey, OpenKey, RangeKey
from sfumato.query import bind_calls
from sfumato.query import bind_expressions as binding
from sfumato.query.bind import BoundAggregate, bind
from sfumato.query.bind_expressions import Range
from sfumato.query.question import Question, SelectedCall, SelectedKey
from sfumato.query.sql import parse
from sfumato.schema.table import Schema
from tests.query.asking import JOINED, RHO, SCHEMA, walk

# ---- interval arithmetic

BOUNDED = Schema(
    "people",
    sf.Row(),
    {
        "a": sf.Int(-3, 5),
        "b": sf.Int(2, 9),
        "c": sf.Float(Fraction(-1, 3), Fraction(7, 2)),
        "d": sf.Float(-8, Fraction(-1, 7)),
        "free": sf.Float(),
        "whole": sf.Int(),
    },
)
BOUNDS = {name: (column.lower, column.upper) for name, column in BOUNDED.columns.items() if name in "abcd"}
small = st.fractions(min_value=-20, max_value=20, max_denominator=12)


@pytest.mark.parametrize("group", ["", " GROUP BY visit"])
def test_a_name_that_is_a_columns_too_groups_by_the_column(group: str) -> None:
    text = f"SELECT MONTH(born) AS visit, COUNT(*) AS n FROM people{group}"
    with pytest.raises(Refused, match="GROUP BY visit means the column of that name") as refused:
        walk(text)
    assert "write the expression itself after GROUP BY" in str(refused.value)
    assert walk("SELECT MONTH(born) AS visit, COUNT(*) AS n FROM people GROUP BY MONTH(born)")
    assert walk("SELECT MONTH(born) AS m, COUNT(*) AS n FROM people GROUP BY m")


@pytest.mark.parametrize(
    ("condition", "written"),
    [("age = true", "age = 1"), ("age <> FALSE", "age = 0"), ("age IN (true)", "age = 1"), ("true = age", "age = 1")],
)
def test_a_number_is_not_true(condition: str, written: str) -> None:
    with pytest.raises(Refused, match=r"is a number, but it is compared with (true|false)") as refused:
        walk(f"SELECT COUNT(*) AS n FROM people WHERE {condition}")
    assert f"write {written}." in str(refused.value)


def test_a_text_that_is_made_of_an_undeclared_one_is_discovered() -> None:
    question = "SELECT COUNT(*) AS n FROM people GROUP BY LEFT(zip, 1)"
    with pytest.raises(Refused, match='the values of "left_zip" are not declared, and finding them needs a budget'):
        walk(question)
    (key,) = walk(question, budget=RHO).plan.keys
    assert isinstance(key, OpenKey)


def test_different_rows_of_a_sub_query_are_counted_otherwise() -> None:
    for name in ("", " AS x"):
        with pytest.raises(Refused, match="of rows that are alike it keeps one"):
            walk(f"SELECT COUNT(*) AS n FROM (SELECT DISTINCT user_id FROM people){name}")


def test_the_cure_for_lacking_bounds_is_of_the_column() -> None:
    with pytest.raises(Refused) as refused:
        walk("SELECT MAX(grade) AS m FROM people")
    assert str(refused.value) == (
        "MAX(grade) has no bounds: grade is a category.\n  Count one of its values: COUNT(CASE WHEN grade = 3 THEN 1 "
        'END); or let the owner declare a number: grade = { type = "int", lower = 1, upper = 3 }.'
    )
    for column, kind in (("children", "int"), ("wealth", "float")):
        with pytest.raises(Refused, match=f'{column} = {{ type = "{kind}", lower = 0'):
            walk(f"SELECT SUM({column}) AS s FROM people")


def expressions(leaves: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.builds(Negative, inner), st.builds(Arithmetic, st.sampled_from("+-*/"), inner, inner)
        ),
        max_leaves=8,
    )


bounded = expressions(st.one_of(st.builds(Number, small), st.builds(Column, st.sampled_from("abcd"))))


@st.composite
def rows(draw: st.DrawFn) -> dict[str, Fraction]:
    """A value inside its bounds for every column, often at one of them."""
    row = {}
    for name, (lower, upper) in BOUNDS.items():
        inside = st.integers(int(lower), int(upper)).map(Fraction) if name in "ab" else st.fractions(lower, upper)
        row[name] = draw(st.one_of(st.sampled_from([lower, upper]), inside))
    return row


def value(node: Expression, row: dict[str, Fraction]) -> Fraction:
    match node:
        case Number(value=number):
            return number
        case Column(name=name):
            return row[name]
        case Negative(operand=operand):
            return -value(operand, row)
        case Arithmetic(operator=operator, left=left, right=right):
            one, other = value(left, row), value(right, row)
            return {"+": one + other, "-": one - other, "*": one * other, "/": one / other if other else one}[operator]
    raise AssertionError(node)


def bounds_of(node: Expression) -> Range:
    """What is known of an expression; divisions by something that may be 0 are left out of the examples."""
    try:
        return binding.value_range(node, "SUM(x)", BOUNDED)
    except Refused:
        assume(False)
    raise AssertionError


@given(bounded, rows())
def test_every_value_lies_within_the_bounds_that_were_found(node: Expression, row: dict[str, Fraction]) -> None:
    found = bounds_of(node)
    assert found.bounds is not None
    true = value(node, row)
    assert found.bounds[0] <= true <= found.bounds[1]
    assert not found.whole or true.denominator == 1


@given(bounded)
def test_the_lattice_holds_the_bounds_and_is_fine(node: Expression) -> None:
    found = bounds_of(node)
    assert found.bounds is not None
    lower, upper = found.bounds
    lattice = Lattice.covering(lower, upper, whole=found.whole)
    assert lattice.lower * lattice.step <= lower
    assert upper <= lattice.upper * lattice.step
    assert max(abs(lattice.lower), abs(lattice.upper)) < 1 << 31
    if max(abs(lower), abs(upper)) > Fraction(1, 10**30) and not found.whole:
        # Twice as fine would not fit, or only just.
        assert max(abs(lower), abs(upper)) / lattice.step >= 1 << 29


def test_a_broken_rule_of_intervals_would_be_noticed() -> None:
    """Lower times lower and upper times upper, the classic mistake, loses -3 · 5."""
    lower, upper = Fraction(-3), Fraction(5)
    both = Range((lower, upper))
    assert not lower * lower <= lower * upper <= upper * upper
    assert binding._combine("*", both, both, "x").bounds == (lower * upper, upper * upper)


@given(expressions(st.builds(Column, st.sampled_from(["free", "whole"]))))
def test_no_bounds_in_no_bounds_out(node: Expression) -> None:
    found = binding.value_range(node, "SUM(x)", BOUNDED)
    assert found.bounds is None


@pytest.mark.parametrize("node", [String("a"), Arithmetic("+", String("a"), Number(Fraction(1)))])
def test_texts_are_never_added_up(node: Expression) -> None:
    with pytest.raises(Refused, match="adds up texts"):
        binding.value_range(node, "SUM(x)", BOUNDED)


# ---- names


def test_a_name_in_the_wrong_case_means_the_only_column_like_it() -> None:
    assert walk("SELECT SUM(AGE) FROM people").plan == walk("SELECT SUM(age) FROM people").plan


TWINS = Schema("t", sf.Row(), {"Age": sf.Int(0, 5), "AGE": sf.Int(0, 9), "sex": sf.Category(["f", "m"])})


@pytest.mark.parametrize(("name", "upper"), [("Age", 5), ("AGE", 9)])
def test_columns_that_differ_in_case_are_told_apart_by_case(name: str, upper: int) -> None:
    assert bind(parse(f"SELECT COUNT(*) FROM t GROUP BY {name}"), TWINS).keys == (RangeKey(Column(name), 0, upper),)
    with pytest.raises(Refused, match='no column "age"'):
        bind(parse("SELECT SUM(age) FROM t"), TWINS)


def test_other_scripts_fold_too() -> None:
    schema = Schema("Straße", sf.Row(), {"GRÖSSE": sf.Int(0, 250)})
    bound = bind(parse('SELECT "größe", COUNT(*) FROM "STRASSE" GROUP BY "Größe"'), schema)
    assert bound.keys == (RangeKey(Column("GRÖSSE"), 0, 250),)


def test_a_near_miss_is_pointed_out() -> None:
    with pytest.raises(Refused, match='no column "incme"') as refused:
        walk("SELECT SUM(incme) FROM people")
    assert 'Did you mean "income"?' in refused.value.message


def test_identifiers_are_not_offered() -> None:
    schema = Schema("t", sf.Row(), {"age": sf.Int(0, 9), "name": sf.Identifier(), "zip": sf.Text()})
    with pytest.raises(Refused) as refused:
        bind(parse("SELECT SUM(nam) FROM t"), schema)
    assert str(refused.value) == 'there is no column "nam".\n  The columns are age, zip.'


# ---- keys


def test_every_declared_key_is_counted_before_any_list_is_made() -> None:
    huge = Schema("t", sf.Row(), {"a": sf.Int(0, 10**18), "b": sf.Int(-(10**18), 10**18)})
    with pytest.raises(Refused, match="groups; 100000 are allowed"):
        bind(parse("SELECT COUNT(*) FROM t GROUP BY a, b"), huge)


def test_the_largest_number_of_groups_is_allowed() -> None:
    schema = Schema("t", sf.Row(), {"a": sf.Int(1, 100_000), "b": sf.Int(0, 100_000)})
    assert bind(parse("SELECT COUNT(*) FROM t GROUP BY a"), schema).keys == (RangeKey(Column("a"), 1, 100_000),)
    with pytest.raises(Refused, match="the question has 100001 groups"):
        bind(parse("SELECT COUNT(*) FROM t GROUP BY b"), schema)


def test_keys_keep_the_order_of_the_declaration() -> None:
    schema = Schema("t", sf.Row(), {"k": sf.Category(["z", "a", "m"])})
    assert bind(parse("SELECT COUNT(*) FROM t GROUP BY k"), schema).keys == (ListedKey(Column("k"), ("z", "a", "m")),)


# ---- closed sets


@dataclass(frozen=True)
class Foreign:
    name: str = "x"


def test_what_is_foreign_stops_the_walk() -> None:
    for step in (binding.bind_value, binding.bind_condition):
        with pytest.raises(AssertionError):
            step(Foreign(), SCHEMA)
    with pytest.raises(AssertionError):
        bind_calls.bind_call(SelectedCall("n", Foreign(), "FOREIGN(x)"), SCHEMA)  # type: ignore[arg-type]


def test_what_is_foreign_in_the_select_list_is_no_aggregate() -> None:
    with pytest.raises(Refused, match="a question without an aggregate"):
        bind(Question("people", (SelectedKey("sex", Column("sex")),), None, (Column("sex"),)), SCHEMA)
    question = Question("people", (Foreign(), SelectedCall("n", CountRows(), "COUNT(*)")), None, ())  # type: ignore[arg-type]
    assert bind(question, SCHEMA).selected == (BoundAggregate("n", CountRows()),)


# ---- once broken


def test_a_key_that_differs_in_case_from_the_grouping_column_is_refused() -> None:
    with pytest.raises(Refused):
        bind(parse('SELECT "AGE", COUNT(*) FROM t GROUP BY "Age"'), TWINS)


@pytest.mark.parametrize(
    "call", ["SUM(age * 1e100 * 1e100 * 1e100 * 1e100)", "AVG(age * 1e100 / 1e-100 / 1e-100 * 9e9)"]
)
def test_bounds_beyond_a_double_are_refused(call: str) -> None:
    with pytest.raises(Refused):
        walk(f"SELECT {call} FROM people")


@pytest.mark.parametrize("call", ["MEDIAN({})", "HISTOGRAM({}, 3)", "CDF({}, 3)"])
def test_cells_smaller_than_doubles_are_refused(call: str) -> None:
    with pytest.raises(Refused, match="too small for cells"):
        walk(f"SELECT {call.format('height * 1e-100 * 1e-100 * 1e-100')} FROM people")


@pytest.mark.parametrize("factors", ["1e100 * 1e100 * 1e100 * 1e100", "1e-100 * 1e-100 * 1e-100 * 1e-100"])
def test_keys_of_a_size_that_doubles_do_not_have_are_refused(factors: str) -> None:
    with pytest.raises(Refused, match="no public list"):
        walk(f"SELECT COUNT(*) FROM people GROUP BY age * {factors}")


# ---- texts and patterns that one row would pay for


@pytest.mark.parametrize(
    ("value", "fits"),
    [
        ("CONCAT(long, 'a')", False),
        ("CONCAT(half, half)", True),
        ("CONCAT(half, half, 'a')", False),
        ("REPLACE(long, 'ab', 'cd')", True),
        ("REPLACE(long, 'é', 'ee')", False),
        ("REPLACE(half, 'é', 'ee')", True),
    ],
)
def test_texts_of_declared_lengths_are_put_together_up_to_a_length(value: str, fits: bool) -> None:
    schema = Schema("people", sf.Row(), {"long": sf.Text(longest=100_000), "half": sf.Text(longest=50_000)})
    if fits:
        bind(parse(f"SELECT COUNT({value}) AS n FROM people"), schema)
    else:
        with pytest.raises(Refused, match="at most 100000 characters together"):
            bind(parse(f"SELECT COUNT({value}) AS n FROM people"), schema)


CONCATS = "SELECT zip, CONCAT(zip, zip, zip, zip, zip) AS five, SUBSTRING(zip, 1, 2) AS part FROM people"


@pytest.mark.parametrize(
    ("value", "fits"),
    [
        ("CONCAT(five, five, five, zip)", True),
        ("CONCAT(five, five, five, zip, zip)", False),
        ("CONCAT(CASE WHEN zip = 'a' THEN five ELSE zip END, UPPER(five), LEFT(five, 2), zip)", True),
        ("CONCAT(CASE WHEN zip = 'a' THEN five ELSE zip END, UPPER(five), LEFT(five, 2), zip, part)", False),
    ],
)
def test_texts_of_sub_queries_count_too(value: str, fits: bool) -> None:
    """One row could otherwise hold a million times the text of another: memory and time would tell of it."""
    question = f"SELECT COUNT(*) AS n FROM ({CONCATS}) AS t WHERE {value} <> 'x'"
    if fits:
        bind(parse(question), SCHEMA)
    else:
        with pytest.raises(Refused, match="16 texts in all"):
            bind(parse(question), SCHEMA)


def test_texts_of_a_joined_sub_query_count_too() -> None:
    question = (
        f"SELECT COUNT(*) AS n FROM ({CONCATS}) AS t LEFT JOIN zips ON t.zip = zips.zip "
        "WHERE CONCAT(five, five, five, state, state) <> 'x'"
    )
    with pytest.raises(Refused, match="16 texts in all"):
        bind(parse(question), JOINED)
    bind(parse(question.replace(", state, state", ", state")), JOINED)


@pytest.mark.parametrize(
    ("pattern", "fits"),
    [("%a" * 16, True), ("%a" * 17, False), ("%a_" * 2, False), ("a" * 200, True), ("a" * 201, False)],
)
def test_patterns_are_short(pattern: str, fits: bool) -> None:
    question = f"SELECT COUNT(*) AS n FROM people WHERE zip LIKE '{pattern}'"
    if fits:
        parse(question)
    else:
        with pytest.raises(Refused, match="200 characters, 16 of them"):
            parse(question)
        with pytest.raises(ValueError, match="pattern"):
            Matches("like", Column("zip"), pattern)


# ---- constants beside a public list


@pytest.mark.parametrize(
    ("condition", "said"),
    [
        ("sex = 'F'", '"sex" has no value \'F\'. Did you mean "f"?'),
        ("'Fem' = sex", "\"sex\" has no value 'Fem'."),
        ("sex IN ('f', 'x')", "\"sex\" has no value 'x'."),
        ("sex NOT IN ('f', 'x')", "\"sex\" has no value 'x'."),
        ("grade = 4", "\"grade\" has no value '4'."),
        ("grade IN (1, 1.5)", "\"grade\" has no value '1.5'."),
        ("member = 'yes'", "\"member\" has no value 'yes'."),
        ("CASE sex WHEN 'n' THEN 1 ELSE 0 END = 1", "\"sex\" has no value 'n'."),
    ],
)
def test_a_value_that_a_category_cannot_have_is_refused(condition: str, said: str) -> None:
    with pytest.raises(Refused) as refused:
        walk(f"SELECT COUNT(*) FROM people WHERE {condition}")
    assert refused.value.message == said
    assert "declared values are" in refused.value.hint


@pytest.mark.parametrize(
    "condition",
    [
        *("sex = 'f'", "sex <> 'x'", "sex IN ('m')", "grade = 2.0", "grade < 9", "member = true", "member = 'false'"),
        *("zip = 'x'", "zip IN ('x', 'y')", "age = 999", "sex LIKE 'x%'", "UPPER(sex) = 'F'", "sex = zip"),
    ],
)
def test_a_value_that_it_can_have_and_other_columns_are_not(condition: str) -> None:
    assert walk(f"SELECT COUNT(*) FROM people WHERE {condition}")
