"""OpenDP #2945: a group of at most k rows was said to change by at most k rows; if all are replaced it is 2k.

Rule: the neighbouring relation is explicit. Ours adds or removes one unit; replacing one is two steps, and costs two.
"""

from fractions import Fraction

import pyarrow as pa

import sfumato as sf
from sfumato.kernel.certify import certify
from sfumato.plan.expressions import Column
from sfumato.plan.lattice import Lattice
from sfumato.plan.nodes import CountRows, ListedKey, Sum
from sfumato.schema.table import Schema
from tests.museum.room import bounds_of, integers, plan_of

UNIT = sf.Person("who", 3, 1)
SCHEMA = Schema("people", UNIT, {"x": sf.Int(-10, 10), "k": sf.Category(["a", "b"])})
PLAN = plan_of(
    CountRows(), Sum(Column("x"), Lattice(-10, 10, 0)), unit=UNIT, keys=(ListedKey(Column("k"), ("a", "b")),)
)


def distance(left: list[dict[str, object]], right: list[dict[str, object]]) -> list[int]:
    """How far apart two tables are in each measure."""
    kinds = pa.schema({"who": pa.int64(), "x": pa.int64(), "k": pa.string()})
    one, other = (integers(PLAN, SCHEMA, pa.Table.from_pylist(rows, kinds)) for rows in (left, right))
    changes = [[abs(a - b) for a, b in zip(*groups, strict=True)] for groups in zip(one, other, strict=True)]
    return [sum(column) for column in zip(*changes, strict=True)]


def rows(value: int, key: str) -> list[dict[str, object]]:
    return [{"who": 1, "x": value, "k": key}] * 3


def test_adding_or_removing_a_person_is_what_is_certified() -> None:
    assert distance(rows(10, "a"), []) == bounds_of(PLAN, SCHEMA) == [3, 30]
    assert distance(rows(-10, "b"), []) == [3, 30]


def test_replacing_a_person_is_twice_that_and_never_more() -> None:
    assert distance(rows(10, "a"), rows(-10, "b")) == [6, 60]
    assert distance(rows(10, "a"), rows(-10, "a")) == [0, 60]


def test_every_release_says_whom_it_protects_and_how() -> None:
    certified = certify(PLAN, SCHEMA, "epsilon")
    assert str(certified.plan.unit) == "person (who: at most 3 rows in 1 group)"
    assert all(release.sensitivity.rule.startswith("one person adds") for release in certified.releases)
    loss = sum(
        (
            Fraction(moved) / release.mechanism.law.scale
            for moved, release in zip([6, 60], certified.releases, strict=True)
        ),
        Fraction(0),
    )
    assert loss == 2 * certified.cost.amount
