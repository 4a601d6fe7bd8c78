"""People of whom something is cut off: each counts once in each group they are counted in, in no more than G.

Every person of up to four rows in each of four groups, under every small cap, through the emitted SQL.
"""

from fractions import Fraction
from functools import lru_cache
from itertools import product

import pyarrow as pa
import pytest

from sfumato.engines.arrange import look
from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.errors import Refused
from sfumato.kernel.certify import certify
from sfumato.plan.caps import Caps
from sfumato.plan.counting import countings
from sfumato.plan.expressions import Column
from sfumato.plan.lattice import Lattice
from sfumato.plan.nodes import CountCut, CountRows, ListedKey, Measure, OpenKey, Plan, RangeKey, Selection
from sfumato.plan.sources import Folded, PerUnit
from sfumato.schema.columns import Category, Int, Text
from sfumato.schema.table import Schema
from sfumato.schema.unit import Person, Row, UpTo
from tests.emitter import Emit, emit
from tests.engines.brute_force import Load, twin

LETTERS = ("a", "b", "c", "d")
MOST = 3
ALL_CAPS = [
    Caps(rows, groups, each)
    for rows, groups, each in product((1, 2, 3, 5), (1, 2, 3), (1, 2, 3))
    if groups <= rows and each <= rows
]
LISTED = ListedKey(Column("letter"), LETTERS)
MEASURES = tuple(Measure(aggregate, "laplace", Fraction(1)) for aggregate in (CountRows(), CountCut()))


@lru_cache
def people() -> tuple[tuple[int, ...], ...]:
    """How many rows each has in each group."""
    return tuple(person for person in product(range(MOST + 1), repeat=len(LETTERS)) if any(person))


def schema_for(many: int) -> Schema:
    return Schema("t", Person("who", 9, 9), {"letter": Category(LETTERS), "copy": Int(0, max(1, many - 1))})


Counts = list[list[tuple[int, int]]]


def counted(caps: Caps, write: Emit = emit, load: Load = DuckDBEngine) -> Counts:
    """For each person and group: how many rows count, and whether the person counts as one of whom something is cut."""
    everybody = people()
    schema = schema_for(len(everybody))
    keys = (RangeKey(Column("copy"), 0, len(everybody) - 1), LISTED)
    plan = Plan("t", schema.unit, None, keys, MEASURES, caps=caps)
    rows = [
        (copy, letter)
        for copy, person in enumerate(everybody)
        for letter, many in zip(LETTERS, person, strict=True)
        for _ in range(many)
    ]
    columns = {name: [row[place] for row in rows] for place, name in enumerate(("who", "letter"))}
    engine, made = load(pa.table({**columns, "copy": columns["who"]}), schema), countings(plan)
    try:
        entries = look(engine, made, [write(counting, schema) for counting in made]).entries
    finally:
        engine.close()
    size = len(LETTERS)
    return [[(int(a), int(b)) for a, b in entries[place : place + size]] for place in range(0, len(entries), size)]


@pytest.mark.parametrize("caps", ALL_CAPS, ids=str)
def test_a_person_counts_once_where_they_count_and_something_is_missing(caps: Caps) -> None:
    assert_cut_once(caps, counted(caps))


def assert_cut_once(caps: Caps, everybody: Counts) -> None:
    for person, groups in zip(people(), everybody, strict=True):
        held = sum(many > 0 for many in person)
        for many, (rows, cut) in zip(person, groups, strict=True):
            missing = rows > 0 and (rows < many or held > caps.groups)
            assert cut == missing
        assert sum(cut for _, cut in groups) <= caps.groups
        # Nothing is said of somebody whom no cap binds, and something of everybody else.
        bound = sum(rows for rows, _ in groups) < sum(person)
        assert bool(sum(cut for _, cut in groups)) == bound


@pytest.mark.parametrize("caps", ALL_CAPS, ids=str)
def test_the_worst_person_is_the_certified_one(caps: Caps) -> None:
    schema = schema_for(1)
    plan = Plan("t", schema.unit, None, (LISTED,), MEASURES, caps=caps)
    sensitivity = certify(plan, schema, "epsilon").releases[1].sensitivity
    assert (sensitivity.l1, sensitivity.l2_squared) == (caps.groups, caps.groups)
    assert most_cut(counted(caps)) == caps.groups


def most_cut(everybody: Counts) -> int:
    """In how many groups somebody counts as one of whom something is cut."""
    return max(sum(cut for _, cut in groups) for groups in everybody)


TWINS = {
    "rows that are cut off": ("THEN 1 ELSE 0 END", "THEN n ELSE 0 END"),
    "in all groups": (" WHERE rank <= {caps.groups}", ""),
}


@pytest.mark.parametrize("name", TWINS)
def test_a_twin_that_counts_more_is_flagged(name: str) -> None:
    caps = Caps(2, 2, 1)
    assert most_cut(counted(caps, twin(TWINS[name]))) > caps.groups


def test_the_noise_is_that_of_counting_people() -> None:
    schema = Schema("t", Person("who", 9, 9), {"letter": Category(LETTERS), "town": Text()})
    for currency, mechanism in (("epsilon", "laplace"), ("rho", "gaussian")):
        plan = Plan("t", schema.unit, None, (LISTED,), (Measure(CountCut(), mechanism, Fraction(1)),))
        assert certify(plan, schema, currency).releases[0].sensitivity.l2_squared == 4
    keys = (OpenKey(Column("town")),)
    opened = Plan(
        "t",
        schema.unit,
        None,
        keys,
        (Measure(CountCut(), "gaussian", Fraction(1)),),
        Selection(Fraction(1), Fraction(1, 100)),
    )
    assert certify(opened, schema, "rho").releases[0].sensitivity.l1 == 9
    sql = emit(countings(opened)[0], schema)
    assert "held > 9" in sql


@pytest.mark.parametrize("unit", [Row(), UpTo(3)], ids=str)
def test_where_nobody_is_known_nobody_is_cut_off(unit: Row | UpTo) -> None:
    schema = Schema("t", unit, {"letter": Category(LETTERS)})
    with pytest.raises(Refused, match="does not tell them apart"):
        certify(Plan("t", unit, None, (), (MEASURES[1],)), schema, "epsilon")


def test_where_everybody_has_one_row_nobody_is_cut_off() -> None:
    schema = Schema("t", Person("who", 3), {"x": Int(0, 9)})
    folded = PerUnit("t", None, (Folded("x", "sum", Column("x"), Lattice(0, 9, 0)),), 3)
    with pytest.raises(Refused, match="everybody has one row"):
        certify(Plan(folded, schema.unit, None, (), (MEASURES[1],)), schema, "epsilon")


def test_the_sql_of_other_questions_is_as_it_was() -> None:
    schema = schema_for(1)
    plan = Plan("t", schema.unit, None, (LISTED,), MEASURES[:1], caps=Caps(5, 2, 3))
    assert "held" not in emit(countings(plan)[0], schema)
