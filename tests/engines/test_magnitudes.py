"""Cells of magnitudes through the emitted SQL: what a row becomes, and how far one person can move counts and sums."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations_with_replacement
from math import inf, nan
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sfumato.engines import arrange
from sfumato.engines.duckdb.dialect import DUCKDB
from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.engines.sql import counting
from sfumato.errors import SfumatoError
from sfumato.kernel.mechanisms.found_bounds import clamped
from sfumato.kernel.mechanisms.protocol import MOST_COUNTED_ROWS, Weighed
from sfumato.plan.counting import countings
from sfumato.plan.expressions import Arithmetic, Column, Number
from sfumato.plan.nodes import Grid, ListedKey, Magnitudes, Measure, Plan, Quantiles, RangeKey, UnboundedSum
from sfumato.schema.columns import Category, Float, Int
from sfumato.schema.table import Schema
from sfumato.schema.unit import Person, Row, Unit
from tests.kernel.laws import mutant
from tests.reference import part_of_sum, thinned

WHOLE, REAL = Magnitudes(Column("n"), 0, 62), Magnitudes(Column("x"), -30, 90)
TENTH = Fraction(1, 10)


def cells_of(
    cells: Magnitudes, table: dict[str, Any], unit: Unit, keys: tuple[Any, ...] = (), emitter: Any = counting
) -> list[Weighed]:
    columns: dict[str, Any] = {"n": Int(private_bounds=0.1), "x": Float(private_bounds=0.1)}
    columns |= {"copy": Int(0, 10**6), "letter": Category(["a", "b"])}
    kinds = {"n": pa.int64(), "x": pa.float64(), "copy": pa.int64(), "letter": pa.string(), "who": pa.int64()}
    rows = len(next(iter(table.values())))
    content = pa.table({name: pa.array(table.get(name, [None] * rows), kind) for name, kind in kinds.items()})
    schema = Schema("t", unit, columns)
    plan = Plan("t", unit, None, keys, (Measure(UnboundedSum(cells, TENTH), "laplace", Fraction(1)),))
    engine, made = DuckDBEngine(content, schema), countings(plan)
    try:
        found = arrange.gather(made, [engine.run(emitter.emit(counting, schema, DUCKDB)) for counting in made]).entries
    finally:
        engine.close()
    return [row[0] for row in found]  # type: ignore[misc]


def expected(cells: Magnitudes, value: float | None) -> tuple[int, int] | None:
    """The cell and the steps of one value, in plain Python."""
    if value is None or value != value:
        return None
    most, middle = 1 << cells.octaves, len(cells.edges)
    steps = most if value == inf else -most if value == -inf else round(Fraction(value) / cells.step)
    steps = max(-most, min(most, steps))
    size = next(j + 1 for j, edge in enumerate(cells.edges) if abs(steps) <= edge) if steps else 0
    return middle + (size if steps > 0 else -size), steps


EDGY = sorted({value for edge in WHOLE.edges for value in (edge - 1, edge, edge + 1)})
INTEGERS = [*EDGY, *(-value for value in EDGY), 2**62, 2**62 + 1, -(2**63), 2**63 - 1, None]
FLOATS = [
    0.0,
    -0.0,
    1.0,
    -1.5,
    90.5,
    1e-12,
    2.0**-30,
    3 * 2.0**-31,
    1e300,
    -1e300,
    inf,
    -inf,
    nan,
    None,
    5e-324,
    12345.678,
]


@pytest.mark.parametrize(("cells", "name", "values"), [(WHOLE, "n", INTEGERS), (REAL, "x", FLOATS)])
def test_every_value_falls_into_its_cell(cells: Magnitudes, name: str, values: list[Any]) -> None:
    keys = (RangeKey(Column("copy"), 0, len(values) - 1),)
    found = cells_of(cells, {name: values, "copy": list(range(len(values)))}, Row(), keys)
    for value, entry in zip(values, found, strict=True):
        assert entry.fit(cells.edges)
        wanted = expected(cells, value)
        seen = list(zip(entry.cells.places.tolist(), entry.sums, strict=True))
        if wanted is None or abs(wanted[1]) < 1 << 40:
            assert seen == ([] if wanted is None else [wanted]), value
        else:  # the logarithm is rounded: a size just above an edge may be taken for the edge
            ((place, total),) = seen
            assert abs(place - wanted[0]) <= 1
            assert total == pytest.approx(wanted[1], rel=1e-12)


@pytest.mark.parametrize("large", [2**62, -(2**62)])
@pytest.mark.parametrize("cells", [WHOLE, REAL], ids=["whole", "real"])
def test_many_rows_of_the_largest_magnitude_are_bounded_and_do_not_fail(cells: Magnitudes, large: int) -> None:
    """max_rows times the largest edge does not fit 64 bits: a failure would tell of the one person."""
    name, value = ("n", large) if cells is WHOLE else ("x", large * 2.0**20)
    (entry,) = cells_of(cells, {name: [value] * 9, "who": [1] * 9}, Person("who", max_rows=4, max_groups=4))
    assert entry.cells.counts.tolist() == [4]
    assert [abs(total) for total in entry.sums] == [4 * cells.edges[-1]]


def test_an_expression_has_magnitudes_too() -> None:
    cells = Magnitudes(Arithmetic("*", Column("x"), Number(Fraction(-2))), -30, 90)
    (entry,) = cells_of(cells, {"x": [1.5, 1.5, 4.0, None]}, Row())
    assert entry.cells.counts.tolist() == [1, 2]
    assert [total * cells.step for total in entry.sums] == [-8, -6]


def test_too_many_rows_to_add_up_are_refused() -> None:
    plan = Plan("t", Row(), None, (), (Measure(UnboundedSum(WHOLE, TENTH), "laplace", Fraction(1)),))
    with pytest.raises(SfumatoError, match="could not finish"):
        arrange.gather(countings(plan), [[(3, 5, None)]])


@pytest.mark.parametrize("shape", [list, lambda rows: np.array(rows, dtype=np.int64)], ids=["rows", "array"])
def test_too_many_rows_in_cells_are_refused(shape: Any) -> None:
    median = Quantiles(Grid(Column("x"), Fraction(0), Fraction(4), 4), (Fraction(1, 2),))
    plan = Plan("t", Row(), None, (), (Measure(median, "exponential", Fraction(1)),))
    with pytest.raises(SfumatoError, match="could not finish"):
        arrange.gather(countings(plan), [shape([(0, MOST_COUNTED_ROWS), (3, 1)])])
    ((entry,),) = arrange.gather(countings(plan), [shape([(3, 1), (0, MOST_COUNTED_ROWS - 1)])]).entries
    assert entry.counts.tolist() == [MOST_COUNTED_ROWS - 1, 1]  # type: ignore[union-attr]


def test_a_cell_that_comes_twice_is_added_up() -> None:
    plan = Plan("t", Row(), None, (), (Measure(UnboundedSum(WHOLE, TENTH), "laplace", Fraction(1)),))
    ((entry,),) = arrange.gather(countings(plan), [[(250, 5, 5), (250, 2, 2)]]).entries
    assert entry == Weighed(entry.cells, (7,))  # type: ignore[union-attr]
    assert entry.cells.counts.tolist() == [7]  # type: ignore[union-attr]


# ---- one person, every small table

SMALL = Magnitudes(Column("n"), 0, 3)  # sizes up to 8
KINDS = [(letter, value) for letter in ("a", "b") for value in (-9, -7, 0, 1, 8, None)]  # two in one cell
LETTERS = ListedKey(Column("letter"), ("a", "b"))


PEOPLE = [person for count in range(1, 5) for person in combinations_with_replacement(KINDS, count)]


def found_of_everybody(most_rows: int, emitter: Any = counting) -> list[list[Weighed]]:
    """What each person adds to both letters: an extra key tells people apart."""
    table: dict[str, list[Any]] = {"copy": [], "letter": [], "n": [], "who": []}
    for copy, person in enumerate(PEOPLE):
        for letter, value in person:
            for name, cell in (("copy", copy), ("letter", letter), ("n", value), ("who", copy)):
                table[name].append(cell)
    unit = Person("who", max_rows=most_rows, max_groups=min(2, most_rows))
    found = cells_of(SMALL, table, unit, (RangeKey(Column("copy"), 0, len(PEOPLE) - 1), LETTERS), emitter)
    return [found[2 * copy : 2 * copy + 2] for copy in range(len(PEOPLE))]


def worst_moves(most_rows: int, emitter: Any = counting) -> tuple[float, float]:
    """How far a person moves all counts, and all clamped sums at the worst bounds, over what is certified."""
    counts = sums = 0.0
    bounds = [(low, high) for low in (0, *(-edge for edge in SMALL.edges)) for high in (0, *SMALL.edges)][1:]
    for groups in found_of_everybody(most_rows, emitter):
        counts = max(counts, sum(int(group.cells.counts.sum()) for group in groups) / most_rows)
        for low, high in bounds:
            moved = sum(abs(clamped(group, low, high, SMALL.edges)) for group in groups)
            sums = max(sums, moved / (most_rows * max(-low, high)))
    return counts, sums


@pytest.mark.parametrize("most_rows", [1, 2, 3])
def test_a_person_moves_counts_and_sums_by_what_is_certified_and_no_more(most_rows: int) -> None:
    assert worst_moves(most_rows) == (1, 1)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("CASE WHEN total > most THEN {to} - {before} ", "CASE WHEN FALSE THEN 0 "),
        ("CASE WHEN total > most THEN {to} - {before} ELSE n END", "least(n, most)"),
        ('dialect.sum_huge(_part_of_sum("s1", "n", dialect))', 'dialect.sum_huge("s1")'),
    ],
)
def test_an_emitter_that_forgets_a_limit_is_caught(old: str, new: str) -> None:
    assert max(worst_moves(2, mutant(counting, old, new))) > 1


def wrongly_thinned(most_rows: int, emitter: Any = counting) -> list[Any]:
    """People of whose rows others count than every so manieth, or whose sums are not of these."""
    wrong = []
    for person, groups in zip(PEOPLE, found_of_everybody(most_rows, emitter), strict=True):
        letters = [letter for letter in ("a", "b") if any(own == letter for own, _ in person)]
        kept = letters if most_rows > 1 else [("a", "b")[i] for i, group in enumerate(groups) if group.sums]
        most = most_rows // max(1, len(kept)) if len(person) > most_rows else most_rows
        for letter, group in zip(("a", "b"), groups, strict=True):
            held = {}
            for own, value in person:
                if own == letter in kept and value is not None:
                    place, steps = expected(SMALL, value) or (0, 0)
                    rows, total = held.get(place, (0, 0))
                    held[place] = rows + 1, total + steps
            cells = sorted(held.items())
            counts = [rows for _, (rows, _) in cells]
            allowed = [
                [
                    (place, many, part_of_sum(total, rows, many))
                    for (place, (rows, total)), many in zip(cells, thinned(counts, most, start), strict=True)
                    if many
                ]
                for start in range(max(1, sum(counts)))
            ]
            seen = zip(group.cells.places.tolist(), group.cells.counts.tolist(), group.sums, strict=True)
            if list(seen) not in allowed:
                wrong.append((person, letter))
    return wrong


@pytest.mark.parametrize("most_rows", [1, 2, 3])
def test_of_too_many_rows_every_so_manieth_counts_and_the_sum_is_of_these(most_rows: int) -> None:
    assert wrongly_thinned(most_rows) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('("upto", "(upto - n)")', '("upto", "(upto - 1)")'),
        ("ORDER BY c ROWS UNBOUNDED PRECEDING", "ORDER BY c ROWS 1 PRECEDING"),
        ("CASE WHEN {count} > most THEN {whole} * most + {rest} ", "CASE WHEN {count} > most THEN {whole} * most "),
    ],
)
def test_twins_that_thin_otherwise_are_told_apart(old: str, new: str) -> None:
    assert wrongly_thinned(2, mutant(counting, old, new))
