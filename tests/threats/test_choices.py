"""Choices in several groups, through the emitted SQL: what all of them together tell of one person, and of one row.

The loss of a pair of tables is exact: scores come from the counts of the engine, chances from the law of the choice,
and groups are drawn independently, so that their losses add up.
"""

from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sfumato.audit.laws import exponential, flipped
from sfumato.engines.arrange import gather
from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.kernel.certify import certify
from sfumato.kernel.mechanisms.choice import Exponential, PermuteAndFlip
from sfumato.kernel.mechanisms.splits import QuestionChoice, scores
from sfumato.plan.counting import countings
from sfumato.plan.expressions import Column
from sfumato.plan.nodes import Choose, Measure, Plan, Question, RangeKey
from sfumato.schema.columns import Int
from sfumato.schema.table import Schema
from sfumato.schema.unit import Person, Row, Unit
from tests.emitter import Emit, emit
from tests.engines.brute_force import twin

NODES, TABLES, CROWD = 8, 12, 150
NODE, CLASS = RangeKey(Column("node"), 0, NODES - 1), RangeKey(Column("c"), 0, 1)
COLUMNS = {"node": Int(0, NODES - 1), "c": Int(0, 1), **{f"x{i}": Int(0, 1) for i in range(TABLES)}}
ASKED = Choose(
    tuple(RangeKey(Column(f"x{i}"), 0, 1) for i in range(TABLES)),
    CLASS,
    tuple(Question(i, (0, 1)) for i in range(TABLES)),
)
Table = list[dict[str, int]]
ROUNDED = 1 + 1e-9


def crowd() -> Table:
    """In every node many rows of one class, all in the first cell of every table, each of somebody else."""
    rows = [{"node": node, "c": 0, **{f"x{i}": 0 for i in range(TABLES)}} for node in range(NODES)] * CROWD
    return [{"who": place, **row} for place, row in enumerate(rows, start=1)]


def somebody(nodes: range) -> Table:
    """A row of the other class in each node, which the first table alone tells from the crowd."""
    return [{"who": 0, "node": node, "c": 1, "x0": 1, **{f"x{i}": 0 for i in range(1, TABLES)}} for node in nodes]


def lost(unit: Unit, currency: Any, nodes: range, write: Emit = emit, mechanism: QuestionChoice | None = None) -> float:
    """What the choices in all nodes tell of the person, as a part of what was certified."""
    schema = Schema("t", unit, COLUMNS)
    how, share = ("permute_and_flip", Fraction(1)) if currency == "epsilon" else ("exponential", Fraction(1, 8))
    plan = Plan("t", unit, None, (NODE,), (Measure(ASKED, how, share),))  # type: ignore[arg-type]
    certified = certify(plan, schema, currency)
    used = mechanism or certified.releases[0].mechanism
    assert isinstance(used, QuestionChoice)
    made, ratios = countings(plan), []
    found = []
    for rows in (crowd(), crowd() + somebody(nodes)):
        engine = DuckDBEngine(pa.Table.from_pylist(rows), schema)
        entries = gather(made, [engine.run(write(counting, schema)) for counting in made]).entries
        engine.close()
        found.append(scores(ASKED, [row[0] for row in entries]))  # type: ignore[misc]
    for without, with_person in zip(*found, strict=True):
        one, two = (_chances(used, group) for group in (without, with_person))
        ratios.append(np.log(two / one))
    if currency == "epsilon":
        return float(sum(abs(ratio).max() for ratio in ratios)) / float(certified.cost.amount)
    # Bounded range: a loss in an interval of length η is η²/8-zCDP.
    return float(sum((ratio.max() - ratio.min()) ** 2 / 8 for ratio in ratios) / float(certified.cost.amount))


def _chances(mechanism: QuestionChoice, group: Any) -> Any:
    rate = float(mechanism.law.rate)
    if isinstance(mechanism.law, Exponential):
        return np.array(list(exponential(rate, group.tolist()).values()))
    return flipped(np.exp(rate * (group - group.max())))


PEOPLE = [Person("who", 2, 2), Person("who", 2, 1), Person("who", 8, 8), Person("who", 9, 4), Person("who", 1)]


@pytest.mark.parametrize("currency", ["epsilon", "rho"])
@pytest.mark.parametrize("unit", PEOPLE, ids=str)
def test_all_choices_together_tell_no_more_of_a_person_than_is_paid_for(unit: Unit, currency: Any) -> None:
    assert 0.04 < lost(unit, currency, range(NODES)) <= ROUNDED


@pytest.mark.parametrize("currency", ["epsilon", "rho"])
def test_and_no_more_of_a_row(currency: Any) -> None:
    assert 0.5 < lost(Row(), currency, range(1)) <= ROUNDED


GROUPS_CHOSEN = "*names, str({})]), *ties(names)])"
SALTED = GROUPS_CHOSEN.format("counting.salt"), GROUPS_CHOSEN.format("counting.salt + (counting.table or 0)")


@pytest.mark.parametrize("currency", ["epsilon", "rho"])
def test_a_twin_with_a_salt_for_each_table_is_flagged(currency: Any) -> None:
    """Eight rows in eight nodes, of which two count: each table counts two others, and every node tells something."""
    unit = Person("who", 2, 2)
    assert lost(unit, currency, range(NODES)) <= ROUNDED
    assert lost(unit, currency, range(NODES), twin(SALTED)) > 1.3


@pytest.mark.parametrize("currency", ["epsilon", "rho"])
def test_a_twin_that_forgets_the_rows_of_a_person_is_flagged(currency: Any) -> None:
    """A rate for one row, where two count."""
    share = Fraction(1) if currency == "epsilon" else Fraction(1, 8)
    of_a_row = QuestionChoice.for_share(share, currency, 1, 1, ASKED)
    assert lost(Person("who", 2, 2), currency, range(NODES), mechanism=of_a_row) > 1.3


def test_a_twin_with_twice_the_rate_of_gini_is_flagged() -> None:
    flip = QuestionChoice.for_share(Fraction(1), "epsilon", 1, 1, ASKED)
    object.__setattr__(flip, "law", PermuteAndFlip(flip.law.epsilon, flip.law.sensitivity / 2, monotone=True))
    assert lost(Row(), "epsilon", range(1), mechanism=flip) > 1.3
