"""Learners under attack: a lone person with the rare class, in the table or not, and how sure a model is of their cell.

Learners draw here from an envelope that nobody guards, on tables made up for it; what they pay is theirs to reckon.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.audit.subject import Subject
from sfumato.engines.arrange import look
from sfumato.engines.duckdb.dialect import DUCKDB
from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.engines.sql.counting import emit
from sfumato.kernel.certify import Certified, certify
from sfumato.kernel.cost import Cost
from sfumato.kernel.entropy import Entropy
from sfumato.kernel.gate import Found, Receipt, Release, release
from sfumato.learn import Additive, Tree
from sfumato.learn.learner import Learner
from sfumato.learn.task import Task, task_of
from sfumato.plan.nodes import Plan
from sfumato.schema.columns import Category
from sfumato.schema.table import Schema
from sfumato.schema.unit import Row

CROWD, CELLS = 60, ("a", "b", "c", "d")
SCHEMA = Schema("t", Row(), {"x": Category(CELLS), "y": Category(["no", "yes"])})
SEED = "0123456789abcdef" * 2
RUNS = {"tree": 400, "additive": 240}
TOO_MUCH = 30


@dataclass
class Unguarded:
    """An envelope of a table of our own: every plan is certified and released, and nobody adds up what it costs."""

    price: Cost
    entropy: Entropy
    table: "Counted"
    seed: str = SEED

    def ask(self, plan: Plan, *, round_: int) -> Release:
        return self.ask_all([plan], round_=round_)[0]

    def ask_all(self, plans: Sequence[Plan], *, round_: int) -> list[Release]:  # noqa: ARG002 - each run draws once
        made = []
        for plan in plans:
            certified, found = self.table.of(plan, self.price.currency)
            made.append(release(certified, Receipt(0, certified.digest), found, self.entropy))
        return made


@dataclass
class Counted:
    """What an engine counts in a table, each plan once."""

    engine: DuckDBEngine
    known: dict[Plan, tuple[Certified, Found]] = field(default_factory=dict)

    def of(self, plan: Plan, currency: Any) -> tuple[Certified, Found]:
        if plan not in self.known:
            certified = certify(plan, SCHEMA, currency)
            sql = [emit(counting, SCHEMA, DUCKDB) for counting in certified.countings]
            self.known[plan] = certified, look(self.engine, certified.countings, sql)
        return self.known[plan]


def people(lone: bool) -> pa.Table:
    """A crowd that says no, spread over cells; and, or not, one person alone in a cell who says yes."""
    cells = [CELLS[place % 3] for place in range(CROWD)]
    answers = ["no"] * CROWD
    return pa.table({"x": [*cells, "d"] if lone else cells, "y": [*answers, "yes"] if lone else answers})


Fit = Callable[[Learner, Task, Any], Any]


def sure(fit: Fit, learner: Learner, lone: bool, count: int, price: Fraction, entropy: Entropy) -> Any:
    """How sure each of so many models is that somebody in the lone person's cell says yes."""
    learner.set_params(spend=price)
    task = task_of(SCHEMA, "epsilon", target="y")
    engine = DuckDBEngine(people(lone), SCHEMA)
    try:
        envelope: Any = Unguarded(Cost("epsilon", price), entropy, Counted(engine))
        cell = np.array([[CELLS.index("d")]])
        return np.array([float(fit(learner, task, envelope).probabilities(cell)[0, 1]) for _ in range(count)])
    finally:
        engine.close()


def honest(learner: Learner, task: Task, envelope: Any) -> Any:
    fitted, _ = learner._learnt(task, envelope, _silent)
    return fitted


def _silent(share: float, what: str) -> None:
    """Nobody waits for it."""


def _unpaid(learner: Learner, task: Task, envelope: Any) -> Any:
    """Every part of the schedule takes many times its share, as if nobody added up what is drawn."""
    return honest(learner, task, replace(envelope, price=Cost("epsilon", TOO_MUCH * envelope.price.amount)))


def _drawn(fit: Fit, learner: Learner) -> Callable[[Any, int, Fraction, Entropy], Any]:
    return lambda lone, count, price, entropy: sure(fit, learner, lone, count, price, entropy)


def subjects() -> list[Subject]:
    """How much a model gives one person away: a guess whether they are in gains at most tanh(ε/2)."""
    tree, additive = Tree("y", depth=1), Additive("y")
    return [
        Subject("learn.tree, a lone person more", (False, True), _drawn(honest, tree), draws=RUNS["tree"]),
        Subject(
            "learn.additive, a lone person more",
            (False, True),
            _drawn(honest, additive),
            price=Fraction(1, 2),
            draws=RUNS["additive"],
        ),
    ]


def twins() -> list[Subject]:
    """Learners that pay for a thirtieth of what they draw."""
    tree, additive = subjects()
    return [
        replace(tree, name="a tree that draws thirty times what it pays", draw=_drawn(_unpaid, Tree("y", depth=1))),
        replace(
            additive, name="additive scores that draw thirty times what they pay", draw=_drawn(_unpaid, Additive("y"))
        ),
    ]
