"""Certified means total: what `certify` accepts fails on no row, and plans that could are refused.

Plans are made by hand and at random, with parts of every kind in every place. They run on a table of awkward rows and
on each of these rows alone. The check ends with a broken twin: without it, questions that fail are found.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import duckdb
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from sfumato.engines.duckdb.dialect import DUCKDB
from sfumato.engines.sql.expressions import Writer
from sfumato.errors import Refused
from sfumato.kernel.certify import certify
from sfumato.plan.counting import countings
from sfumato.plan.expressions import (
    AllOf,
    Arithmetic,
    Call,
    Case,
    Column,
    Comparison,
    Condition,
    Day,
    Expression,
    IsNull,
    Matches,
    Negative,
    Not,
    Number,
    OneOf,
    String,
)
from sfumato.plan.functions import FUNCTIONS, TRUNCATIONS, UNITS
from sfumato.plan.lattice import Lattice
from sfumato.plan.nodes import (
    CentredSum,
    CountDistinct,
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
)
from sfumato.plan.sources import Computed, Folded, Lookup, PerUnit, Rows
from sfumato.plan.totality import known
from sfumato.schema.columns import Category, Date, Float, Identifier, Int, Text
from sfumato.schema.others import Lookup as Public
from sfumato.schema.table import Schema
from sfumato.schema.unit import Person, Row
from tests.emitter import emit
from tests.kernel.plans import schema
from tests.plan.samples import every_plan, plan_of

NOTE, SEEN, X, Z, KIND, CODE = (Column(name) for name in ("note", "seen", "x", "z", "kind", "code"))
ONE, TEXT, DAY = Number(Fraction(1)), String("1"), Day("2024-01-31")
COLUMNS = {
    "note": Text(),
    "kind": Category(["a", "b"]),
    "seen": Date(),
    "x": Int(0, 9),
    "z": Float(0, 1),
    "code": Category([1, 2]),
}
LOOKUPS = {"codes": Public("codes.csv", "code", {"code": Category([1, 2]), "size": Float(0, 1)})}
SCHEMA = Schema("people", Row(), COLUMNS, LOOKUPS)
PERSON = Person("who", 3, 2)
PEOPLE = Schema("people", PERSON, COLUMNS, LOOKUPS)
UNIT_STEP = Lattice(0, 1, 0)
GRID, SIZES = Grid(NOTE, Fraction(0), Fraction(1), 4), Magnitudes(SEEN, 0, 9)


def valued(value: Any) -> Plan:
    return plan_of(CountValues(value))


def call(name: Any, *arguments: Any) -> Any:
    return Call(name, arguments)


def computed(value: Any, declared: Any) -> Plan:
    return plan_of(table=Rows("people", None, (Computed("made", value, declared),)))


def folded(how: Any, value: Any) -> Plan:
    return plan_of(table=PerUnit("people", None, (Folded("made", how, value, UNIT_STEP),), 3), unit=PERSON)


def unmade(name: Any, *arguments: Any) -> Any:
    """A call as it would be if it did not check itself."""
    found = object.__new__(Call)
    object.__setattr__(found, "name", name)
    object.__setattr__(found, "arguments", arguments)
    return found


def grown(times: int) -> Any:
    value: Expression = NOTE
    for _ in range(times):
        value = call("CONCAT", *[value] * 10)
    return value


OTHER_KIND, TWO_KINDS = "another kind than it takes", "values of two kinds"
REFUSED: dict[str, tuple[Plan, str]] = {
    "arithmetic with a text": (valued(Arithmetic("+", NOTE, ONE)), OTHER_KIND),
    "arithmetic with a date": (valued(Arithmetic("-", SEEN, DAY)), OTHER_KIND),
    "minus a text": (valued(Negative(NOTE)), OTHER_KIND),
    "a function of numbers with a text": (valued(call("SQRT", NOTE)), OTHER_KIND),
    "the second of several numbers is a text": (valued(call("LEAST", X, NOTE)), OTHER_KIND),
    "a function of texts with a number": (valued(call("UPPER", X)), OTHER_KIND),
    "texts put together with a number": (valued(call("CONCAT", NOTE, X)), OTHER_KIND),
    "the year of a text": (valued(call("YEAR", NOTE)), OTHER_KIND),
    "the distance of two texts": (valued(call("DATE_DIFF", String("day"), NOTE, SEEN)), OTHER_KIND),
    "the first of a date and a text": (valued(call("COALESCE", SEEN, NOTE)), "of one kind or of another"),
    "not a number, a text": (valued(call("NULLIF", X, NOTE)), "of one kind or of another"),
    "a number or a text": (valued(Case(((IsNull(X), X),), NOTE)), "of one kind or of another"),
    "branches of two kinds": (valued(Case(((IsNull(X), SEEN), (IsNull(Z), NOTE)), None)), "of one kind or of another"),
    "a text compared with a number": (plan_of(where=Comparison("=", NOTE, ONE)), TWO_KINDS),
    "a date compared with a text": (plan_of(where=Comparison("<", SEEN, TEXT)), TWO_KINDS),
    "texts in an order": (plan_of(where=Comparison("<", NOTE, TEXT)), "texts in an order"),
    "a text among numbers": (plan_of(where=OneOf(NOTE, (ONE,))), TWO_KINDS),
    "a number among numbers and texts": (plan_of(where=OneOf(X, (ONE, TEXT))), TWO_KINDS),
    "a pattern of a number": (plan_of(where=Matches("like", X, "1%")), OTHER_KIND),
    "deep in a condition": (plan_of(where=Not(AllOf((IsNull(X), Comparison("=", NOTE, SEEN))))), TWO_KINDS),
    "in the condition of a branch": (valued(Case(((Comparison("=", NOTE, ONE), X),), None)), TWO_KINDS),
    "the sum of texts": (plan_of(Sum(NOTE, UNIT_STEP)), "no number"),
    "the centred sum of dates": (plan_of(CentredSum(SEEN, UNIT_STEP)), "no number"),
    "a histogram of texts": (plan_of(Histogram(GRID)), "no number"),
    "running totals of texts": (plan_of(Cumulative(GRID)), "no number"),
    "quantiles of texts": (plan_of(Quantiles(GRID, (Fraction(1, 2),)), how="exponential"), "no number"),
    "a sum of dates without bounds": (plan_of(UnboundedSum(SIZES, Fraction(1, 10))), "no number"),
    "texts in a range": (plan_of(keys=(RangeKey(NOTE, 0, 1),)), "no number"),
    "the most frequent text of a range": (plan_of(MostFrequent(RangeKey(NOTE, 0, 1)), how="permute_and_flip"), "no nu"),
    "a list of texts for numbers": (plan_of(keys=(ListedKey(X, ("a",)),)), "values of another kind"),
    "a list of numbers for texts": (plan_of(keys=(ListedKey(NOTE, (1,)),)), "values of another kind"),
    "the most frequent of a list with repeats": (
        plan_of(MostFrequent(ListedKey(KIND, ("a", "a"))), how="permute_and_flip"),
        "twice",
    ),
    "the count of what fails": (plan_of(CountDistinct(call("YEAR", NOTE))), OTHER_KIND),
    "real numbers to be found": (plan_of(keys=(OpenKey(Z),)), "are texts"),
    "an expression to be found": (plan_of(keys=(OpenKey(call("UPPER", NOTE)),)), "unknown OpenKey"),
    "a text declared as a number": (computed(NOTE, Int()), "not what it is declared as"),
    "a whole number declared as a real one": (computed(X, Float()), "not what it is declared as"),
    "a computed number declared as a category": (computed(Negative(X), Category([1])), "not what it is declared as"),
    "a computed text declared as a date": (computed(call("UPPER", NOTE), Date()), "not what it is declared as"),
    "a computed text declared as an id": (computed(call("UPPER", NOTE), Identifier()), "not what it is declared as"),
    "what fails inside a source": (computed(call("ABS", NOTE), Float()), OTHER_KIND),
    "a condition inside a source": (
        plan_of(table=Rows("people", Comparison("=", NOTE, ONE), (Computed("x", X, Int()),))),
        TWO_KINDS,
    ),
    "a key looked up that is no key": (plan_of(table=Lookup("people", "codes", "note", (), True)), "another kind"),
    "the sum of a person's texts": (folded("sum", NOTE), "no numbers"),
    "the least of a person's dates": (folded("least", SEEN), "no numbers"),
    "the count of what fails for a person": (folded("count", call("SQRT", NOTE)), OTHER_KIND),
    "a text a thousand times as long": (valued(call("LENGTH", grown(3))), "more than 100000 characters"),
    "a text that is long in a condition": (plan_of(where=Matches("like", grown(3), "a")), "more than 100000"),
    "a text whose length nobody knows": (
        valued(unmade("REPLACE", NOTE, String("a"), NOTE)),
        "of a length that nobody knows",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_could_fail_on_a_row_or_grow_is_refused(what: str) -> None:
    plan, reason = REFUSED[what]
    with pytest.raises(Refused, match=reason):
        certify(plan, SCHEMA if plan.unit == Row() else PEOPLE, "epsilon")


def test_a_plan_of_any_kind_is_certified_or_refused_and_nothing_else() -> None:
    kept = refused = 0
    for plan in every_plan():
        try:
            certify(plan, schema(plan.unit), "epsilon")
            kept += 1
        except Refused:
            refused += 1
    assert min(kept, refused) > 20


def test_keys_that_are_found_are_texts_whole_numbers_or_days_of_a_column() -> None:
    for key, kept in ((NOTE, True), (SEEN, True), (X, True), (KIND, True), (Z, False)):
        plan = Plan("people", Row(), None, (OpenKey(key),), (Measure(CountRows(), "gaussian", Fraction(1)),),
                    Selection(Fraction(1), Fraction(1, 10**6)))  # fmt: skip
        if kept:
            assert certify(plan, SCHEMA, "rho")
        else:
            with pytest.raises(Refused, match="are texts"):
                certify(plan, SCHEMA, "rho")


# ---- awkward rows

ROWS: tuple[tuple[Any, ...], ...] = (
    ("year", "a", "2024-01-31", 1, "0.5", 1),
    ("x", "b", "0001-01-01", 2**63 - 1, "'inf'", 2),
    ("1", None, "9999-12-31", -(2**63), "'-inf'", 3),
    ("2024-01-31", "a", None, 0, "'nan'", None),
    ("", "", "1999-12-31", None, "-0.0", -1),
    ("ß日'İ" * 250, "b", "2000-02-29", -1, "1e308", 1),
    (None, "a", "2020-12-31", 9, "5e-324", 2),
    ("  nan ", "b", "1582-10-15", 10**18, None, 1),
)


def connect() -> duckdb.DuckDBPyConnection:
    """The rows together as "people", and each alone as "people0" and so on, typed as `duckdb.canonical` does."""
    connection = duckdb.connect(":memory:", config={"threads": 1})
    tables = {"people": ROWS, "nobody": ()} | {f"people{place}": (row,) for place, row in enumerate(ROWS)}
    for name, rows in tables.items():
        connection.execute(
            f"CREATE TABLE {name} (note VARCHAR, kind VARCHAR, seen DATE, x BIGINT, z DOUBLE, code BIGINT)"
        )
        for note, kind, seen, x, z, code in rows:
            real = "NULL" if z is None else f"CAST({z} AS DOUBLE)"
            connection.execute(f"INSERT INTO {name} VALUES (?, ?, ?, ?, {real}, ?)", [note, kind, seen, x, code])
    return connection


TABLES = ("people", "nobody", *(f"people{place}" for place in range(len(ROWS))))


def failing(connection: duckdb.DuckDBPyConnection, plan: Plan) -> list[str]:
    """The tables on which a counting of the plan fails."""
    found = []
    for counting in countings(plan):
        sql = emit(counting, SCHEMA)
        for table in TABLES:
            try:
                connection.execute(sql.replace('FROM "people"', f'FROM "{table}"')).fetchall()
            except duckdb.Error:
                found.append(table)
    return found


# ---- random plans: of the right kind mostly, of any kind now and then

CONSTANTS = {
    "digits": st.integers(-15, 15).map(lambda n: Number(Fraction(n))),
    "place": st.sampled_from([1, 3, 10_000]).map(lambda n: Number(Fraction(n))),
    "length": st.sampled_from([0, 2, 10_000]).map(lambda n: Number(Fraction(n))),
    "divisor": st.sampled_from(["3", "-1/10", "1e300", "1e-300"]).map(lambda n: Number(Fraction(n))),
    "exponent": st.sampled_from(["10", "-10", "1/2", "-5/2", "0"]).map(lambda n: Number(Fraction(n))),
    "truncation": st.sampled_from(TRUNCATIONS).map(String),
    "unit": st.sampled_from(UNITS).map(String),
}
PLAIN: dict[str, tuple[Any, ...]] = {
    "number": (X, Z, CODE, ONE, Number(Fraction(10) ** 300), Number(Fraction(-(2**63) + 1)), Number(Fraction(1, 3))),
    "text": (NOTE, KIND, TEXT, String("'"), String("日")),
    "date": (SEEN, DAY, Day("0001-01-01"), Day("9999-12-31")),
}
KINDS = tuple(PLAIN)
REPLACED = (("a", ""), ("日", "abc"), ("ß", "ss"))


@st.composite
def values(draw: st.DrawFn, kind: str, depth: int) -> Expression:
    if draw(st.integers(0, 19)) == 0:
        kind = draw(st.sampled_from(KINDS))
    forms = ["plain"] if depth == 0 else ["plain", "call", "call", "call", "case"]
    forms += ["arithmetic", "negative"] if depth and kind == "number" else []
    match draw(st.sampled_from(forms)):
        case "call":
            return draw(calls(kind, depth - 1))
        case "case":
            when = draw(conditions(depth - 1))
            otherwise = draw(st.one_of(st.none(), values(kind, depth - 1)))
            return Case(((when, draw(values(kind, depth - 1))),), otherwise)
        case "arithmetic":
            sides = draw(values("number", depth - 1)), draw(values("number", depth - 1))
            return Arithmetic(draw(st.sampled_from(("+", "-", "*", "/"))), *sides)
        case "negative":
            return Negative(draw(values("number", depth - 1)))
        case _:
            return draw(st.sampled_from(PLAIN[kind]))


@st.composite
def calls(draw: st.DrawFn, kind: str, depth: int) -> Expression:
    name = draw(st.sampled_from([name for name, each in FUNCTIONS.items() if each.gives in (kind, "same")]))
    if name == "REPLACE":
        return Call(name, (draw(values("text", depth)), *map(String, draw(st.sampled_from(REPLACED)))))
    function = FUNCTIONS[name]
    takes = [*function.takes, *function.takes[-1:] * (draw(st.integers(0, 2)) if function.more else 0)]
    given = [
        draw(CONSTANTS[each]) if each in CONSTANTS else draw(values(kind if each == "same" else each, depth))
        for each in takes
    ]
    return Call(name, tuple(given))


@st.composite
def conditions(draw: st.DrawFn, depth: int) -> Condition:
    kind = draw(st.sampled_from(KINDS))
    value = draw(values(kind, depth))
    match draw(st.sampled_from(("compare", "compare", "one of", "match", "null", "not"))):
        case "compare":
            signs = ("=", "<>") if kind == "text" else ("=", "<>", "<", "<=", ">", ">=")
            return Comparison(draw(st.sampled_from(signs)), value, draw(values(kind, depth)))
        case "one of":
            choices = draw(st.sampled_from((PLAIN[kind][-2:], PLAIN[kind][-1:], (ONE, TEXT))))
            return OneOf(value, tuple(each for each in choices if not isinstance(each, Column)))
        case "match":
            way = draw(st.sampled_from(("like", "starts", "ends", "contains")))
            return Matches(way, draw(values("text", depth)), draw(st.sampled_from(("%_a%", "(", "", "%ß_"))))
        case "not":
            return Not(IsNull(value))
        case _:
            return IsNull(value)


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    value, number = draw(values(draw(st.sampled_from(KINDS)), 2)), draw(values("number", 2))
    lattice = draw(st.sampled_from((Lattice(-5, 9, 0), Lattice(-7, 7, -3), Lattice(-(2**31) + 1, 2**31 - 1, 900))))
    grid = Grid(number, Fraction(-1), Fraction(9), 7)
    aggregate: Any = draw(st.sampled_from((
        CountRows(), CountValues(value), CountDistinct(value), Sum(number, lattice), CentredSum(number, lattice),
        Histogram(grid), UnboundedSum(Magnitudes(number, -30, 90), Fraction(1, 10)),
    )))  # fmt: skip
    key: Any = draw(st.sampled_from((
        None, None, RangeKey(number, -3, 9, Fraction(1, 4), Fraction(1, 3)), ListedKey(KIND, ("a", "'")),
        ListedKey(CODE, (1, 2)), RangeKey(X, 2**62, 2**62 + 3), ListedKey(value, ("a", "1", "true")),
    )))  # fmt: skip
    where = draw(st.one_of(st.none(), conditions(2)))
    table: Any = "people"
    if draw(st.booleans()):
        made = (Computed("note", draw(values("text", 1)), Text()), Computed("z", draw(values("number", 1)), Float()))
        kept = tuple(Computed(name, Column(name), COLUMNS[name]) for name in ("kind", "seen", "x", "code"))
        if not any(isinstance(column.value, Column) for column in made):
            table = Rows("people", draw(st.one_of(st.none(), conditions(1))), (*made, *kept))
    return plan_of(aggregate, where=where, keys=() if key is None else (key,), table=table)


def certified(plan: Plan) -> bool:
    try:
        certify(plan, SCHEMA, "epsilon")
    except Refused:
        return False
    return True


QUIET = settings(
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


def search(accepted: Callable[[Plan], bool], tries: int) -> tuple[int, int, list[tuple[Plan, list[str]]]]:
    """How many random plans are accepted and refused, and those of the accepted that fail on some table."""
    counts, failed = [0, 0], []
    connection = connect()

    @settings(QUIET, max_examples=tries)
    @given(plans())
    def look(plan: Plan) -> None:
        kept = accepted(plan)
        counts[not kept] += 1
        if kept and (tables := failing(connection, plan)):
            failed.append((plan, tables))

    look()
    connection.close()
    return counts[0], counts[1], failed


@pytest.mark.slow
def test_what_is_certified_fails_on_no_row_and_no_table() -> None:
    kept, refused, failed = search(certified, 150)
    assert failed == []
    assert kept > 40
    assert refused > 20


@pytest.mark.slow
def test_without_the_check_questions_that_depend_on_single_rows_are_found() -> None:
    """The broken twin: what is refused is run all the same (a source that is refused is not even written)."""
    _, _, failed = search(lambda plan: plan.table == "people" and not certified(plan), 100)
    assert any(0 < len(set(tables)) < len(TABLES) for _, tables in failed), "it answers or fails by the rows"


@pytest.mark.slow
def test_no_text_is_longer_than_is_known_of_it() -> None:
    connection, reached = connect(), []

    @settings(QUIET, max_examples=150)
    @given(values("text", 3))
    def look(value: Expression) -> None:
        try:
            found = known(value, SCHEMA)
        except Refused:
            return
        if found.kind == "text":
            written = f"SELECT coalesce(max(length({Writer(SCHEMA, DUCKDB).value(value)})), 0) FROM people AS t"
            ((longest,),) = connection.execute(written).fetchall()
            assert longest <= found.longest
            reached.append(longest == found.longest)

    look()
    connection.close()
    assert sum(reached) > 20, "the bound is met"


def test_truncating_to_a_text_of_the_row_would_answer_or_fail_by_the_row() -> None:
    """Why a call checks its constants: the plan cannot be made, and this is what it would do.

    The emitter would not do it either: it writes a unit as a text of its own, and fails whoever is there.
    """
    plan = valued(unmade("DATE_TRUNC", NOTE, SEEN))
    with connect() as connection:
        fails = {}
        for table in ("people0", "people1"):
            try:
                connection.execute(f"SELECT date_trunc(note, seen) FROM {table}").fetchall()
                fails[table] = False
            except duckdb.Error:
                fails[table] = True
        tables = failing(connection, plan)
    assert fails == {"people0": False, "people1": True}
    assert {"people0", "people1"} <= set(tables)
    with pytest.raises(ValueError, match="constant of DATE_TRUNC"):
        call("DATE_TRUNC", NOTE, SEEN)


def test_replacing_by_longer_texts_would_grow_without_end() -> None:
    value: Any = NOTE
    for _ in range(5):
        value = unmade("REPLACE", value, String("a"), String("a" * 50))
    with pytest.raises(Refused, match="more than 100000 characters"):
        certify(valued(value), SCHEMA, "epsilon")
    with pytest.raises(ValueError, match="no longer"):
        call("REPLACE", NOTE, String("a"), String("a" * 50))
