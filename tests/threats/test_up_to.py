"""A unit without an id: at most k rows of a person, wherever they lie, move nothing further than certified.

Every small person comes into every small company, all in one question: a key tells the tables apart.
"""

from collections import Counter
from fractions import Fraction
from itertools import combinations_with_replacement, product
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.engines.arrange import gather
from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.errors import Refused, UsageError
from sfumato.kernel.certify import Certified, certify
from sfumato.kernel.mechanisms.protocol import CellCounts, Weighed
from sfumato.plan.caps import Caps
from sfumato.plan.counting import countings
from sfumato.plan.expressions import Column
from sfumato.plan.lattice import Lattice
from sfumato.plan.nodes import (
    Aggregate,
    CentredSum,
    CountDistinct,
    CountPeople,
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
from sfumato.schema.table import Schema
from tests.emitter import Emit, emit
from tests.engines.brute_force import twin

LETTERS = ("a", "b")
X = Column("x")
LATTICE, LINE = Lattice(-2, 9, 0), Grid(X, Fraction(0), Fraction(9), 3)
AGGREGATES: dict[str, Aggregate] = {
    "rows": CountRows(),
    "values": CountValues(X),
    "sum": Sum(X, LATTICE),
    "centred sum": CentredSum(X, LATTICE),
    "cells": Histogram(LINE),
    "distinct": CountDistinct(X),
    "magnitudes": UnboundedSum(Magnitudes(X, 0, 4), Fraction(1, 10)),
}
KINDS = tuple(product(LETTERS, (-50, 0, 5, 50, None)))
COMPANIES = ((), (KINDS[1], KINDS[3]), (KINDS[3],) * 4)
COLUMNS = {"x": sf.Int(-2, 9), "letter": sf.Category(LETTERS), "table": sf.Int(0, 10**6)}
Moved = dict[str, tuple[int, int]]


def measures() -> tuple[Measure, ...]:
    return tuple(Measure(aggregate, "laplace", Fraction(1)) for aggregate in AGGREGATES.values())


def certified(k: int, *more: Measure, **parts: Any) -> Certified:
    schema = Schema("t", sf.UpTo(k), COLUMNS)
    keys = parts.pop("keys", (ListedKey(Column("letter"), LETTERS),))
    plan = Plan("t", schema.unit, None, keys, more or measures(), **parts)
    return certify(plan, schema, "rho" if "selection" in parts else "epsilon")


def claims(k: int) -> Moved:
    releases = certified(k).releases
    return {
        name: (release.sensitivity.l1, release.sensitivity.l2_squared)
        for name, release in zip(AGGREGATES, releases, strict=True)
    }


def worst(k: int, rows: int, write: Emit = emit) -> Moved:
    """The largest changes, in both norms, that so many rows of one person make together."""
    people = [(), *combinations_with_replacement(KINDS, rows)]
    tables = [(*company, *person) for company in COMPANIES for person in people]
    schema = Schema("t", sf.UpTo(k), COLUMNS)
    keys = (RangeKey(Column("table"), 0, len(tables) - 1), ListedKey(Column("letter"), LETTERS))
    plan = Plan("t", schema.unit, None, keys, measures())
    held = [(number, *kind) for number, table in enumerate(tables) for kind in table]
    columns = {name: [row[place] for row in held] for place, name in enumerate(("table", "letter", "x"))}
    engine = DuckDBEngine(pa.table({**columns, "x": pa.array(columns["x"], pa.int64())}), schema)
    try:
        made = countings(plan)
        entries = gather(made, [engine.run(write(counting, schema)) for counting in made]).entries
    finally:
        engine.close()
    vectors = [_vectors(entries[number : number + len(LETTERS)]) for number in range(0, len(entries), len(LETTERS))]
    found = dict.fromkeys(AGGREGATES, (0, 0))
    for number, vector in enumerate(vectors):
        alone = vectors[number - number % len(people)]
        for name in AGGREGATES:
            changes = [abs(vector[name][place] - alone[name][place]) for place in {*vector[name], *alone[name]}]
            l1, l2_squared = found[name]
            found[name] = max(l1, sum(changes)), max(l2_squared, sum(change**2 for change in changes))
    return found


def _vectors(groups: Any) -> dict[str, Counter[tuple[int, int]]]:
    vectors: dict[str, Counter[tuple[int, int]]] = {name: Counter() for name in AGGREGATES}
    for group, row in enumerate(groups):
        for name, entry in zip(AGGREGATES, row, strict=True):
            match entry:
                case CellCounts(places=places, counts=counts) | Weighed(cells=CellCounts(places=places, counts=counts)):
                    vectors[name].update({(group, int(p)): int(c) for p, c in zip(places, counts, strict=True)})
                case _:
                    vectors[name][group, 0] = entry
    return vectors


@pytest.mark.parametrize("k", [1, 2, 3])
def test_k_rows_at_once_move_a_question_by_what_is_certified(k: int) -> None:
    """Both norms are reached: all k rows may lie in one group, and in one cell; different values differ."""
    claimed = claims(k)
    most = {"rows": 1, "values": 1, "sum": 9, "centred sum": 6, "cells": 1, "distinct": 1, "magnitudes": 1}
    assert claimed == {name: (k * c, (k * c) ** 2) for name, c in most.items()}
    found = worst(k, k)
    assert found == claimed


def test_who_has_more_rows_is_not_protected_by_the_promise() -> None:
    """Nothing is cut off: that is what every answer says."""
    found, claimed = worst(2, 3), claims(2)
    assert all(found[name][0] > claimed[name][0] for name in AGGREGATES)


TWICE = ('            return "COUNT(*)"', '            return "2 * COUNT(*)"')


def test_a_twin_whose_rows_count_twice_is_flagged() -> None:
    found, claimed = worst(2, 2, twin(TWICE)), claims(2)
    assert found["rows"][0] > claimed["rows"][0]
    assert found["cells"][0] > claimed["cells"][0]


def test_a_twin_that_protects_k_rows_like_one_is_flagged() -> None:
    found, one = worst(2, 2), claims(1)
    assert all(found[name][0] > one[name][0] and found[name][1] > one[name][1] for name in AGGREGATES)


def test_mechanisms_are_made_for_k_rows() -> None:
    """Choices, ranks and running totals; in ρ too, where L2 is k and not √k."""
    choices = (
        Measure(Quantiles(LINE, (Fraction(1, 2),)), "exponential", Fraction(1)),
        Measure(MostFrequent(ListedKey(Column("letter"), LETTERS)), "permute_and_flip", Fraction(1)),
        Measure(Cumulative(LINE), "laplace", Fraction(1)),
    )
    for of_three, of_one in zip(certified(3, *choices).releases, certified(1, *choices).releases, strict=True):
        assert of_three.sensitivity.l1 == 3 * of_one.sensitivity.l1
        assert of_three.sensitivity.l2_squared == 9 * of_one.sensitivity.l2_squared
    assert certified(3).plan.capped == Caps(3, 2, 3)
    assert (Caps(3, 2, 3).l1, Caps(3, 2, 3).l2_squared) == (3, 9)


def test_what_needs_people_is_not_certified() -> None:
    with pytest.raises(Refused, match="does not tell them apart"):
        certified(3, Measure(CountPeople(), "laplace", Fraction(1)))
    with pytest.raises(Refused, match="knows nobody"):
        certified(
            3,
            Measure(CountRows(), "gaussian", Fraction(1)),
            keys=(OpenKey(Column("letter")),),
            selection=Selection(Fraction(1), Fraction(1, 100)),
        )
    with pytest.raises(Refused, match="nobody has an id"):
        certified(3, caps=Caps(1, 1, 1))


# ---- through a session

POLICY = """
[data]
source = "rides.csv"
[unit]
kind = "up to"
rows = 36
[budget]
epsilon = 1000
delta = 1e-6
[columns]
km = { type = "int", lower = 0, upper = 50 }
town = { type = "text" }
card = { type = "identifier" }
zone = { type = "category", values = ["a", "b"] }
"""


def rides(folder: Path, *change: str) -> sf.Session:
    if not (folder / "rides.csv").exists():
        rows = "".join(f"{ride % 50},here,{ride},{'ab'[ride % 2]}\n" for ride in range(2000))
        (folder / "rides.csv").write_text("km,town,card,zone\n" + rows)
    (folder / "rides.toml").write_text(POLICY.replace(*change) if change else POLICY)
    return sf.open(folder / "rides.toml")


COUNT = "SELECT COUNT(*) AS n FROM rides"
FOLDED = "(SELECT card, COUNT(*) AS k FROM rides GROUP BY card) AS v"


def test_every_answer_says_what_it_promises(tmp_path: Path) -> None:
    with rides(tmp_path) as session:
        answer = session.ask(COUNT, spend=1)
        assert answer.unit == "person, if nobody has more than 36 rows"
        assert "Protects one person, if nobody has more than 36 rows." in str(answer)
        assert answer.to_dict()["unit"] == answer.unit
        assert "if nobody has more than 36 rows" in answer.to_html()
        assert "if nobody has more than 36 rows; of somebody with more nothing is cut off." in answer.notes[-1]
        told = session.explain(COUNT, spend=1)
        assert "Protects: one person, if nobody has more than 36 rows" in str(told)
        assert told.steps[0].sensitivity == 36
        assert "36 rows, each adds at most 1, and all may lie in one group" in told.steps[0].rule
        assert told.cheaper == ()
        (again,) = session.recall(answer.receipt)
        assert (again.unit, again.notes, again.rows) == (answer.unit, answer.notes, answer.rows)
        half = session.explain("SELECT zone, SUM(km) AS km FROM rides GROUP BY zone", spend=1)
        assert half.steps[0].sensitivity == 36 * 50


def test_s7_the_number_of_rows_is_kept_with_the_ledger(tmp_path: Path) -> None:
    rides(tmp_path).close()
    declared, others = 'kind = "up to"\nrows = 36', ('kind = "row"', 'id = "card"\nmax_rows = 36')
    for unit in (*others, *(f'kind = "up to"\nrows = {rows}' for rows in (35, 37))):
        with pytest.raises(UsageError, match="the ledger was opened for"):
            rides(tmp_path, declared, unit)
    rides(tmp_path).close()


@pytest.mark.parametrize(
    ("question", "given", "said", "cure"),
    [
        ("SELECT town, COUNT(*) AS n FROM rides GROUP BY town", {}, "does not say whose its rows are", "Declare"),
        ("SELECT COUNT(DISTINCT card) AS n FROM rides", {}, "would count people", "COUNT(*) counts rows"),
        ("SELECT COUNT(DISTINCT CARD) AS n FROM rides AS r", {}, "would count people", "COUNT(*) counts rows"),
        (COUNT, {"max_rows": 1}, "does not say whose its rows are", "Leave max_rows"),
        (COUNT, {"max_groups": 1}, "does not say whose its rows are", "Leave max_groups"),
        (
            f"SELECT COUNT(*) AS n FROM {FOLDED}",
            {},
            "without noise",
            "whose",
        ),
        ("SELECT COUNT(*) AS n FROM rides JOIN rides AS r ON rides.card = r.card", {}, "whose a row is", "lookups"),
    ],
)
def test_what_needs_people_is_refused_with_the_cure(
    tmp_path: Path, question: str, given: dict[str, int], said: str, cure: str
) -> None:
    with rides(tmp_path) as session:
        with pytest.raises((Refused, UsageError), match=said) as error:
            session.ask(question, spend=1, **given)
        assert cure in error.value.hint
        assert session.history() == []


def test_further_tables_need_an_id(tmp_path: Path) -> None:
    tables = {"other": sf.Table("other.csv", {"x": sf.Int()})}
    with pytest.raises(UsageError, match="the unit has no id"):
        Schema("t", sf.UpTo(3), {"x": sf.Int()}, tables=tables)


@pytest.mark.parametrize("rows", [0, -1, 1.5, "3", True, None, 10**9 + 1])
def test_so_many_rows_nobody_has(rows: Any) -> None:
    with pytest.raises(UsageError, match="rows must"):
        sf.UpTo(rows)


def test_a_script_repeats_the_unit(tmp_path: Path) -> None:
    table, ledger = pa.table({"x": [1, 2, 3]}), tmp_path / "t.ledger"
    columns, budget = {"x": sf.Int(0, 9)}, sf.Budget(9)
    with sf.protect(table, table="t", unit=sf.UpTo(2), columns=columns, budget=budget, ledger=ledger) as session:
        assert "unit=sf.UpTo(rows=2)," in session.ask("SELECT COUNT(*) AS n FROM t", spend=1).script()
