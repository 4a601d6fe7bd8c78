"""Caps of a person (rows, groups, rows in a group) in every kind of counting, over every small person.

Each person's rows lie in groups of their own, so that one question shows what each would move. A person has up to one
row, one group and one row in a group more than every cap allows. Of other engines `check_engine` asks the same.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sfumato.engines.arrange import look
from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.errors import Refused
from sfumato.kernel.certify import certify
from sfumato.kernel.mechanisms.protocol import CellCounts, CellSums, Weighed
from sfumato.kernel.mechanisms.splits import MOVED, scores
from sfumato.plan.caps import Caps
from sfumato.plan.counting import countings
from sfumato.plan.expressions import Column, Negative
from sfumato.plan.lattice import Lattice
from sfumato.plan.nodes import (
    Aggregate,
    CellSum,
    CentredSum,
    Choose,
    CountDistinct,
    CountPeople,
    CountRows,
    CountValues,
    Cross,
    Gap,
    Grid,
    Histogram,
    ListedKey,
    Magnitudes,
    Measure,
    Plan,
    Question,
    RangeKey,
    Sum,
    UnboundedSum,
)
from sfumato.schema.columns import Category, Int
from sfumato.schema.table import Schema
from sfumato.schema.unit import Person, Row
from tests.emitter import Emit, emit
from tests.engines.brute_force import Load, twin
from tests.reference import thinned

LETTERS = ("a", "b", "c")
VALUES = (0, 5, 9, None)  # of three cells, and nothing
LATTICE = Lattice(0, 9, 0)
LINE = Grid(Column("x"), Fraction(0), Fraction(9), 3)
SIZES = Magnitudes(Column("x"), 0, 4)
ODD = ListedKey(Column("x"), (0, 5))  # 9 is in none of its cells
AGGREGATES: dict[str, Aggregate] = {
    "rows": CountRows(),
    "values": CountValues(Column("x")),
    "sum": Sum(Column("x"), LATTICE),
    "centred sum": CentredSum(Column("x"), LATTICE),
    "people": CountPeople(),
    "cells": Histogram(LINE),
    "distinct": CountDistinct(Column("x")),
    "magnitudes": UnboundedSum(SIZES, Fraction(1, 10)),
    "crossed": Histogram(Cross((RangeKey(Column("x"), 5, 9), LINE))),
    "sums": CellSum(LINE, Column("x"), LATTICE),
    "sums below 0": CellSum(LINE, Negative(Column("x")), Lattice(-9, 5, 0)),
    "first table": Choose((LINE,), ODD, (Question(0, (0, 1, 1)),)),
    "second table": Choose((ODD,), None, (Gap(0, (1, 1)),), "gap"),
}
ALL_CAPS = [
    Caps(rows, groups, each)
    for rows, groups, each in product((1, 2, 3), (1, 2, 3), (1, 2, 3))
    if groups <= rows and each <= rows
]
MOST_ROWS = 4
OF_SIZES = [len(SIZES.edges) + (bisect_left(SIZES.edges, value) + 1 if value else 0) for value in (0, 5, 9)]

Kind = tuple[str, int | None]
Vector = dict[tuple[str, int], int]


@lru_cache
def people() -> tuple[tuple[Kind, ...], ...]:
    kinds = tuple(product(LETTERS, VALUES))
    small = [person for count in (1, 2, 3) for person in combinations_with_replacement(kinds, count)]
    few = tuple(product(LETTERS, (5, 9)))
    large = list(combinations_with_replacement(few, MOST_ROWS))
    return (*small, *large)


def schema_for(many: int) -> Schema:
    return Schema(
        "t", Person("who", 9, 9), {"x": Int(0, 9), "letter": Category(LETTERS), "copy": Int(0, max(1, many - 1))}
    )


def measures() -> tuple[Measure, ...]:
    return tuple(
        Measure(aggregate, "permute_and_flip" if isinstance(aggregate, Choose) else "laplace", Fraction(1))
        for aggregate in AGGREGATES.values()
    )


@lru_cache(maxsize=4)
def moved(caps: Caps, write: Emit = emit, load: Load = DuckDBEngine) -> list[dict[str, Vector]]:
    """For each person and aggregate what they add to each (letter, cell)."""
    everybody = people()
    schema = schema_for(len(everybody))
    keys = (RangeKey(Column("copy"), 0, len(everybody) - 1), ListedKey(Column("letter"), LETTERS))
    plan = Plan("t", schema.unit, None, keys, measures(), caps=caps)
    rows = [(copy, letter, value) for copy, person in enumerate(everybody) for letter, value in person]
    columns = {
        "who": [row[0] for row in rows],
        "copy": [row[0] for row in rows],
        "letter": [row[1] for row in rows],
        "x": pa.array([row[2] for row in rows], pa.int64()),
    }
    engine, made = load(pa.table(columns), schema), countings(plan)
    try:
        entries = look(engine, made, [write(counting, schema) for counting in made]).entries
    finally:
        engine.close()
    found: list[dict[str, Vector]] = [{name: {} for name in AGGREGATES} for _ in everybody]
    for number, row in enumerate(entries):
        copy, letter = divmod(number, len(LETTERS))
        for name, entry in zip(AGGREGATES, row, strict=True):
            found[copy][name] |= {(LETTERS[letter], place): count for place, count in _numbers(entry) if count}
    return found


def _numbers(entry: Any) -> list[tuple[int, int]]:
    match entry:
        case CellCounts(places=places, counts=counts) | Weighed(cells=CellCounts(places=places, counts=counts)):
            return list(zip(places.tolist(), counts.tolist(), strict=True))
        case CellSums(places=places, sums=sums):
            return list(zip(places.tolist(), sums, strict=True))
        case (CellCounts() as table,):
            return _numbers(table)
        case _:
            return [(0, entry)]


def claims(caps: Caps) -> dict[str, tuple[int, int]]:
    """L1 and L2 squared, as certified for the same question without the key that tells people apart."""
    schema = schema_for(1)
    plan = Plan("t", schema.unit, None, (ListedKey(Column("letter"), LETTERS),), measures(), caps=caps)
    releases = certify(plan, schema, "epsilon").releases
    return {
        name: (release.sensitivity.l1, release.sensitivity.l2_squared)
        for name, release in zip(AGGREGATES, releases, strict=True)
    }


def worst(found: list[dict[str, Vector]]) -> dict[str, tuple[int, int]]:
    return {
        name: (
            max(sum(map(abs, person[name].values())) for person in found),
            max(sum(count**2 for count in person[name].values()) for person in found),
        )
        for name in AGGREGATES
    }


@pytest.mark.parametrize("caps", ALL_CAPS, ids=str)
def test_the_worst_person_is_the_certified_one(caps: Caps) -> None:
    assert worst(moved(caps)) == claims(caps)


@pytest.mark.parametrize("caps", ALL_CAPS, ids=str)
def test_groups_and_rows_of_a_person_are_decided_once(caps: Caps) -> None:
    assert_decided_once(caps, moved(caps))


def assert_decided_once(caps: Caps, everybody: list[dict[str, Vector]]) -> None:
    """Cells, different values and sizes count in the groups that rows count in, and no more than these."""
    for rows, found in zip(people(), everybody, strict=True):
        held = Counter(letter for letter, _ in rows)
        most = {letter: count for (letter, _), count in found["rows"].items()}
        assert len(most) == min(len(held), caps.groups)
        within = sum(min(held[letter], caps.rows_per_group) for letter in most) <= caps.rows
        each = caps.rows_per_group if within else min(caps.rows_per_group, caps.rows // len(most))
        assert most == {letter: min(held[letter], each) for letter in most}
        assert {letter for letter, _ in found["people"]} == set(most)
        for letter, allowed in most.items():
            values = Counter(value for own, value in rows if own == letter and value is not None)
            cells = Counter(dict.fromkeys(range(3), 0))
            for value, count in values.items():
                cells[min(value // 3, 2)] += count
            assert found["distinct"].get((letter, 0), 0) == min(len(values), allowed)
            assert [found["cells"].get((letter, place), 0) for place in range(3)] in thinnings(cells, allowed)
            sizes = [found["magnitudes"].get((letter, place), 0) for place in OF_SIZES]
            assert sizes in thinnings(
                dict(zip(range(3), (values[value] for value in VALUES[:3]), strict=True)), allowed
            )
            shown = {place: count for (own, place), count in found["cells"].items() if own == letter}
            assert sum(found["crossed"].get((letter, place), 0) for place in range(15)) <= allowed
            sums = {place: total for (own, place), total in found["sums below 0"].items() if own == letter}
            assert all(-9 * shown[place] <= total < 0 for place, total in sums.items())


def thinnings(cells: Mapping[int, int], most: int) -> list[list[int]]:
    """What may count of a person's rows in three cells."""
    counts = [cells.get(place, 0) for place in range(3)]
    return [thinned(counts, most, start) for start in range(max(1, sum(counts)))]


EMPTY = [0] * 6
BASES = [EMPTY, [300, 0, 300, 0, 300, 0], [0, 300, 300, 0, 1, 2], [1, 1, 1, 1, 1, 1]]


@pytest.mark.parametrize("caps", ALL_CAPS, ids=str)
def test_scores_in_all_groups_move_by_no_more_than_the_rows_of_a_person_do(caps: Caps) -> None:
    """Whoever else is there: what a person adds to a table is what it has more."""
    l1, l2_squared = claims(caps)["first table"]
    for name, bases in (("first table", BASES), ("second table", [base[:2] for base in BASES])):
        asked = AGGREGATES[name]
        assert isinstance(asked, Choose)
        most, monotone = MOVED[asked.score]
        reached = 0
        added = [
            [[person[name].get((letter, place), 0) for place in range(len(bases[0]))] for letter in LETTERS]
            for person in moved(caps)
        ]
        for base in bases:
            alone = scores(asked, [(_counted(base),)])
            tables = [(_counted([a + b for a, b in zip(base, own, strict=True)]),) for one in added for own in one]
            change = scores(asked, tables).reshape(len(added), len(LETTERS), -1) - alone
            assert not monotone or (change <= 0).all()
            sizes = abs(change).max(axis=2)
            assert (sizes.sum(axis=1) <= l1 * most).all()
            assert ((sizes**2).sum(axis=1) <= l2_squared * most**2).all()
            reached = max(reached, int(sizes.sum(axis=1).max()))
        assert reached > 0.9 * l1 * most


def _counted(dense: list[int]) -> CellCounts:
    counts = np.array(dense, dtype=np.int64)
    return CellCounts(np.flatnonzero(counts), counts[np.flatnonzero(counts)])


RULES: dict[str, tuple[Caps, list[tuple[str, str]]]] = {
    "rows of a group not capped": (
        Caps(3, 2, 1),
        [("most = _big(caps.rows_per_group, dialect)", "most = _big(caps.rows, dialect)")],
    ),
    "groups not capped": (Caps(3, 1, 3), [(" WHERE rank <= {caps.groups}", "")]),
    "cells look at all groups": (
        Caps(3, 1, 3),
        [("if _groups_bind(counting) or not caps.always:", "if False:")],
    ),
    "cells not capped": (
        Caps(2, 2, 1),
        [
            (
                'chosen = f"SELECT DISTINCT {groups}, c FROM lines WHERE place <= most"',
                'chosen = f"SELECT DISTINCT {groups}, c FROM lines"',
            )
        ],
    ),
    "rows of cells not thinned": (
        Caps(3, 1, 3),
        [("CASE WHEN total > most THEN {to} - {before}", "CASE WHEN FALSE THEN 0")],
    ),
    "rows of a cell by itself": (
        Caps(3, 1, 3),
        [("CASE WHEN total > most THEN {to} - {before} ELSE n END", "least(n, most)")],
    ),
    "thinned from nowhere": (Caps(3, 1, 3), [("{to} - {before}", "{to}")]),
    "a salt for each counting": (
        Caps(3, 1, 3),
        [
            (
                "*names, str(counting.salt)]), *ties(names)])",
                "*names, str(counting.salt + len(counting.counted) + counting.size)]), *ties(names)])",
            )
        ],
    ),
}


@pytest.mark.parametrize("name", RULES)
def test_a_twin_that_forgets_a_cap_is_flagged(name: str) -> None:
    caps, changes = RULES[name]
    found = moved(caps, twin(*changes))
    exceeded = [one for one, claim in zip(worst(found).values(), claims(caps).values(), strict=True) if one > claim]
    differ = any(
        {letter for letter, _ in person["rows"]} < {letter for letter, _ in (*person["cells"], *person["rows"])}
        for person in found
    )
    assert exceeded or differ


@pytest.mark.parametrize(
    ("rows", "groups", "each"), [(0, 1, 1), (1, 0, 1), (1, 1, 0), (2, 3, 1), (2, 1, 3), (True, 1, 1), (2, 1.0, 1)]
)
def test_caps_that_are_none(rows: Any, groups: Any, each: Any) -> None:
    with pytest.raises(ValueError, match="caps"):
        Caps(rows, groups, each)


@pytest.mark.parametrize("caps", ALL_CAPS, ids=str)
def test_both_norms_are_those_of_the_worst_division(caps: Caps) -> None:
    divisions = [
        parts for parts in product(range(caps.rows_per_group + 1), repeat=caps.groups) if sum(parts) <= caps.rows
    ]
    assert caps.l1 == max(map(sum, divisions))
    assert caps.l2_squared == max(sum(part**2 for part in parts) for parts in divisions)


def test_caps_above_the_owners_or_of_rows_are_refused() -> None:
    schema = Schema("t", Person("who", 3, 2), {"x": Int(0, 9)})
    plan = Plan("t", schema.unit, None, (), (Measure(CountRows(), "laplace", Fraction(1)),))
    assert certify(replace(plan, caps=Caps(3, 2, 1)), schema, "epsilon").releases[0].sensitivity.l1 == 1
    for caps in (Caps(4, 2, 1), Caps(3, 3, 1)):
        with pytest.raises(Refused, match="more of a person than the owner allows"):
            certify(replace(plan, caps=caps), schema, "epsilon")
    rows = Schema("t", Row(), {"x": Int(0, 9)})
    with pytest.raises(Refused, match="nobody has an id"):
        certify(replace(plan, unit=Row(), caps=Caps(1, 1, 1)), rows, "epsilon")
