"""Weights of people by how many keys they hold: how far one person moves the sums of a key, through the emitted SQL.

Every person with up to one key more than count, with one or two rows in each, comes to every small crowd and goes.
"""

from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import pyarrow as pa
import pytest

from sfumato.engines.arrange import gather, look
from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.engines.sql import counting as emitting
from sfumato.errors import EngineFailed
from sfumato.kernel.certify import certify
from sfumato.plan.caps import Caps
from sfumato.plan.counting import MOST_TOLD_APART, WHOLE_WEIGHT, weights
from sfumato.plan.expressions import Column
from sfumato.plan.nodes import CountRows, Grid, Histogram, ListedKey, Measure, OpenKey, Plan, Selection
from sfumato.schema.columns import Category, Int, Text
from sfumato.schema.table import Schema
from sfumato.schema.unit import Person
from tests.emitter import Emit, emit
from tests.engines.brute_force import Load, twin

TOWNS = ("Bonn", "Köln", "Ulm", "Kiel")
SCHEMA = Schema("t", Person("who", 9, 9), {"town": Text(), "sex": Category(["f", "m"]), "x": Int(0, 9)})
ONE_KEY, TWO_KEYS = (OpenKey(Column("town")),), (OpenKey(Column("town")), ListedKey(Column("sex"), ("f", "m")))
COUNTED = Measure(CountRows(), "gaussian", Fraction(1))
CELLS = Measure(Histogram(Grid(Column("x"), Fraction(0), Fraction(9), 3)), "gaussian", Fraction(1))

Held = tuple[tuple[str, str | None], ...]  # the town and sex of each row of somebody
CROWDS: tuple[dict[int, Held], ...] = (
    {},
    {1: (("Bonn", "f"),)},
    {1: tuple((town, "m") for town in TOWNS), 2: (("Ulm", "f"), ("Ulm", "m"), ("Kiel", "f"))},
)


def planned(groups: int, keys: Any = ONE_KEY, measures: tuple[Measure, ...] = (COUNTED,)) -> Plan:
    selection = Selection(Fraction(1), Fraction(1, 100), weighted=True)
    return Plan("t", SCHEMA.unit, None, keys, measures, selection, Caps(9, groups, 9))


def sums(plan: Plan, people: dict[int, Held], write: Emit = emit, load: Load = DuckDBEngine) -> dict[Any, int]:
    """The sum of weights on each key."""
    rows = [(who, *held) for who, own in people.items() for held in own]
    columns = {
        "who": pa.array([row[0] for row in rows], pa.int64()),
        "town": pa.array([row[1] for row in rows], pa.string()),
        "sex": pa.array([row[2] for row in rows], pa.string()),
        "x": pa.array([5] * len(rows), pa.int64()),
    }
    made = certify(plan, SCHEMA, "rho").countings
    engine = load(pa.table(columns), SCHEMA)
    try:
        found = look(engine, made, [write(counting, SCHEMA) for counting in made])
    finally:
        engine.close()
    assert found.groups is not None
    assert found.units is not None
    return dict(zip(found.groups, found.units.tolist(), strict=True))


def moved(
    plan: Plan, crowd: dict[int, Held], people: Sequence[Held], write: Emit = emit, load: Load = DuckDBEngine
) -> list[list[int]]:
    """What each of these people adds to every key of a crowd; what others add stays."""
    less, found = sums(plan, crowd, write, load), []
    for person in people:
        more = sums(plan, {**crowd, 7: person}, write, load)
        assert less.keys() <= more.keys()
        found.append([change for key in more if (change := more[key] - less.get(key, 0))])
    return found


def everybody(most: int) -> list[Held]:
    """Who hold up to so many towns, with one row in each or with two in the first."""
    held = [TOWNS[:many] for many in range(1, most + 1)]
    return [tuple((town, "f") for town in (*towns[:more], *towns)) for towns in held for more in (0, 1)]


@pytest.mark.parametrize("groups", [2, 3])
@pytest.mark.parametrize("crowd", CROWDS, ids=len)
def test_the_weights_of_a_person_are_no_longer_than_one_whole(crowd: dict[int, Held], groups: int) -> None:
    people = everybody(groups + 1)
    assert_no_longer_than_one_whole(groups, people, moved(planned(groups), crowd, people))


def assert_no_longer_than_one_whole(groups: int, people: list[Held], moves: list[list[int]]) -> None:
    for person, changes in zip(people, moves, strict=True):
        keys = min(len(dict(person)), groups)
        assert changes == [weights(groups)[keys - 1]] * keys
        assert 0 < sum(change**2 for change in changes) <= WHOLE_WEIGHT**2


def test_declared_groups_count_among_the_keys_of_a_person() -> None:
    plan = planned(3, TWO_KEYS)
    person = (("Bonn", "f"), ("Bonn", "m"), ("Bonn", None), ("Ulm", "other"))
    few, many = moved(plan, CROWDS[2], [person, tuple(product(TOWNS, "fm"))])
    assert few == [weights(3)[1]] * 2
    assert many == [weights(3)[2]] * 3


def test_keys_alone_and_keys_beside_cells_have_the_same_weights() -> None:
    person = (("Bonn", "f"), ("Ulm", "f"))
    for measures in ((), (CELLS,), (CELLS, COUNTED)):
        assert moved(planned(5, measures=measures), CROWDS[1], [person]) == [[weights(5)[1]] * 2]


def test_who_holds_more_than_are_told_apart_counts_as_if_they_held_all() -> None:
    schema = Schema("t", Person("who", 10**6, 10**6), {"town": Text()})
    for groups, held, weight in ((300, 256, 4096), (300, 257, 3783), (300, 301, 3783), (256, 257, 4096)):
        plan = Plan("t", schema.unit, None, ONE_KEY, (), planned(2).selection, Caps(10**6, groups, 1))
        (counting,) = certify(plan, schema, "rho").countings
        assert len(counting.weights) == min(groups, MOST_TOLD_APART + 1)
        engine = DuckDBEngine(pa.table({"who": [1] * held, "town": [str(i) for i in range(held)]}), schema)
        found = gather((counting,), [engine.run(emit(counting, schema))])
        engine.close()
        assert found.units is not None
        assert found.units.tolist() == [weight] * min(held, groups)


TWINS = {
    "a whole weight for every key": ("least(held, {len(counting.weights)})", "1"),
    "rows and not people": ("{dialect.sum_big(weight)}", "{dialect.sum_big(f'n * {weight}')}"),
    "the place of a key and not their number": ("least(held, {len(counting.weights)})", "rank"),
    "groups not capped": (" WHERE rank <= {caps.groups}", ""),
}


@pytest.mark.parametrize("name", TWINS)
def test_a_twin_of_the_weights_is_flagged(name: str) -> None:
    found = moved(planned(2), CROWDS[1], everybody(3), twin(TWINS[name]))
    assert max(sum(change**2 for change in changes) for changes in found) > WHOLE_WEIGHT**2


@pytest.mark.parametrize("groups", [1, 2, 3, 5, 100, 255, 256, 257, 5000, 10**9])
def test_no_number_of_keys_has_longer_weights(groups: int) -> None:
    each = weights(groups)
    assert list(each) == sorted(each, reverse=True)
    assert each[0] == WHOLE_WEIGHT
    assert min(each) > 0
    for keys in {*range(1, min(groups, 5000) + 1), groups}:
        assert keys * each[min(keys, len(each)) - 1] ** 2 <= WHOLE_WEIGHT**2
        if keys <= min(groups, MOST_TOLD_APART):
            assert keys * (each[keys - 1] + 1) ** 2 > WHOLE_WEIGHT**2


def test_of_more_people_than_add_up_there_is_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    assert emitting.MOST_WEIGHED * WHOLE_WEIGHT < 2**62
    monkeypatch.setattr(emitting, "MOST_WEIGHED", 1)
    assert sums(planned(2), CROWDS[1])
    with pytest.raises(EngineFailed):
        sums(planned(2), CROWDS[2])
