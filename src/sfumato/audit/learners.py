"""Learners under attack: a lone person with the rare class, in the table or not, and how sure a model is of their cell;
or far from all others, and what is predicted there, how two numbers vary together, how many are in their cluster.

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
from sfumato.learn import Additive, Clusters, Correlation, Linear, Synthetic, Tree
from sfumato.learn.clustering.centres import nearest
from sfumato.learn.learner import Learner
from sfumato.learn.linear.moments import STEPS
from sfumato.learn.model import SIDE
from sfumato.learn.numeric import number_task
from sfumato.learn.scaled import scaled_task
from sfumato.learn.synthesis.likeness import Likeness
from sfumato.learn.task import task_of
from sfumato.plan.nodes import Plan
from sfumato.schema.columns import Category, Float, Int
from sfumato.schema.table import Schema
from sfumato.schema.unit import Row

CROWD, CELLS = 60, ("a", "b", "c", "d")
SCHEMA = Schema("t", Row(), {"x": Category(CELLS), "y": Category(["no", "yes"])})
NUMBERS, NEAR, FAR = Schema("t", Row(), {"z": Int(0, 100)}), 10, 90
HEIGHTS = Schema("t", Row(), {"x": Category(CELLS), "z": Int(0, 100)})
PLANE = Schema("t", Row(), {"x": Float(-1, 1), "z": Float(-1, 1)})
WIDER = Schema("t", Row(), {**SCHEMA.columns, "z": Category(["same", "other"])})
SEED = "0123456789abcdef" * 2
RUNS = {"tree": 400, "additive": 240, "linear": 400, "correlation": 400, "clusters": 240, "synthetic": 160}
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
    schema: Schema = SCHEMA
    known: dict[Plan, tuple[Certified, Found]] = field(default_factory=dict)

    def of(self, plan: Plan, currency: Any) -> tuple[Certified, Found]:
        if plan not in self.known:
            certified = certify(plan, self.schema, currency)
            sql = [emit(counting, self.schema, DUCKDB) for counting in certified.countings]
            self.known[plan] = certified, look(self.engine, certified.countings, sql)
        return self.known[plan]


def people(lone: bool) -> pa.Table:
    """A crowd that says no, spread over cells; and, or not, one person alone in a cell who says yes."""
    cells = [CELLS[place % 3] for place in range(CROWD)]
    answers = ["no"] * CROWD
    return pa.table({"x": [*cells, "d"] if lone else cells, "y": [*answers, "yes"] if lone else answers})


Fit = Callable[[Learner[Any], Any, Any], Any]


def sure(fit: Fit, learner: Learner[Any], lone: bool, count: int, price: Fraction, entropy: Entropy) -> Any:
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


def near(fit: Fit, learner: Learner[Any], lone: bool, count: int, price: Fraction, entropy: Entropy) -> Any:
    """How many rows each of so many models says are in the cluster at the place of a lone person, far from a crowd; if
    it is the crowd's own cluster, how many are missing there.
    """
    learner.set_params(spend=price)
    task = scaled_task(NUMBERS, "epsilon", steps=SIDE)
    engine = DuckDBEngine(pa.table({"z": [NEAR] * CROWD + [FAR] * lone}), NUMBERS)
    try:
        envelope: Any = Unguarded(Cost("epsilon", price), entropy, Counted(engine, NUMBERS))
        place = np.array([[round(SIDE * (FAR / 50 - 1))]])
        made = [fit(learner, task, envelope) for _ in range(count)]
        found = [one.rows[nearest(place, np.array(one.centres))[0]] for one in made]
        return np.array([float(min(rows, CROWD - rows)) for rows in found])
    finally:
        engine.close()


def high(fit: Fit, learner: Learner[Any], lone: bool, count: int, price: Fraction, entropy: Entropy) -> Any:
    """Which number each of so many models predicts in the cell of a lone person, whose number is far from a crowd's."""
    learner.set_params(spend=price)
    task = number_task(HEIGHTS, "epsilon", target="z")
    rows = pa.table({"x": people(lone).column("x"), "z": [NEAR] * CROWD + [FAR] * lone})
    engine = DuckDBEngine(rows, HEIGHTS)
    try:
        envelope: Any = Unguarded(Cost("epsilon", price), entropy, Counted(engine, HEIGHTS))
        cell = np.array([[CELLS.index("d")]])
        return np.array([float(fit(learner, task, envelope).predictions(cell)[0]) for _ in range(count)])
    finally:
        engine.close()


def together(fit: Fit, learner: Learner[Any], lone: bool, count: int, price: Fraction, entropy: Entropy) -> Any:
    """How steep a line, or how strong a correlation, each of so many models has through a crowd in the middle and a
    lone person in a corner.
    """
    learner.set_params(spend=price)
    task = scaled_task(PLANE, "epsilon", steps=STEPS, target=learner.target)
    engine = DuckDBEngine(pa.table({name: [0.0] * CROWD + [1.0] * lone for name in PLANE.columns}), PLANE)
    try:
        envelope: Any = Unguarded(Cost("epsilon", price), entropy, Counted(engine, PLANE))
        made = [fit(learner, task, envelope) for _ in range(count)]
        return np.array([float(one.slopes[0][0][0] if learner.supervised else one.matrix[0][1]) for one in made])
    finally:
        engine.close()


def honest(learner: Learner[Any], task: Any, envelope: Any) -> Any:
    fitted, _ = learner._learnt(task, envelope, _silent)
    return fitted


def _silent(share: float, what: str) -> None:
    """Nobody waits for it."""


def _unpaid(learner: Learner[Any], task: Any, envelope: Any) -> Any:
    """Every part of the schedule takes many times its share, as if nobody added up what is drawn."""
    return honest(learner, task, replace(envelope, price=Cost("epsilon", TOO_MUCH * envelope.price.amount)))


Told = Callable[[Fit, Learner[Any], bool, int, Fraction, Entropy], Any]


def _drawn(fit: Fit, learner: Learner[Any], told: Told = sure) -> Callable[[Any, int, Fraction, Entropy], Any]:
    return lambda lone, count, price, entropy: told(fit, learner, lone, count, price, entropy)


# ---- synthetic rows


def in_their_cell(fit: Fit, learner: Learner[Any], lone: bool, count: int, price: Fraction, entropy: Entropy) -> Any:
    """Which share of each of so many synthetic tables has the lone person's two values."""
    learner.set_params(spend=price)
    task = task_of(WIDER, "epsilon", target="")
    engine = DuckDBEngine(people(lone).append_column("z", pa.array(["same"] * (CROWD + lone))), WIDER)
    try:
        envelope: Any = Unguarded(Cost("epsilon", price), entropy, Counted(engine, WIDER))
        return np.array([_share(fit(learner, task, envelope)) for _ in range(count)])
    finally:
        engine.close()


def _share(fitted: Likeness) -> float:
    codes, weights = fitted.points(SEED), np.array(fitted.weights, dtype=np.float64)
    return float(weights[(codes[:, 0] == CELLS.index("d")) & (codes[:, 1] == 1)].sum() / weights.sum())


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
        Subject(
            "learn.additive of a number, a lone person more",
            (False, True),
            _drawn(honest, Additive("z"), high),
            draws=RUNS["additive"],
        ),
        Subject(
            "learn.tree of a number, a lone person more",
            (False, True),
            _drawn(honest, Tree("z", depth=1), high),
            draws=RUNS["additive"],
        ),
        Subject(
            "learn.linear, a lone person more",
            (False, True),
            _drawn(honest, Linear("z"), together),
            draws=RUNS["linear"],
        ),
        Subject(
            "learn.correlation, a lone person more",
            (False, True),
            _drawn(honest, Correlation(), together),
            draws=RUNS["correlation"],
        ),
        Subject(
            "learn.clusters, a lone person more",
            (False, True),
            _drawn(honest, Clusters(2), near),
            draws=RUNS["clusters"],
        ),
        Subject(
            "learn.synthetic, a lone person more",
            (False, True),
            _drawn(honest, Synthetic(), in_their_cell),
            draws=RUNS["synthetic"],
        ),
    ]


def twins() -> list[Subject]:
    """Learners that pay for a thirtieth of what they draw."""
    unpaid: dict[str, Callable[[Any, int, Fraction, Entropy], Any]] = {
        "a tree that draws": _drawn(_unpaid, Tree("y", depth=1)),
        "additive scores that draw": _drawn(_unpaid, Additive("y")),
        "an additive number that draws": _drawn(_unpaid, Additive("z"), high),
        "a tree of a number that draws": _drawn(_unpaid, Tree("z", depth=1), high),
        "a line that draws": _drawn(_unpaid, Linear("z"), together),
        "correlations that draw": _drawn(_unpaid, Correlation(), together),
        "clusters that draw": _drawn(_unpaid, Clusters(2), near),
        "synthetic rows that draw": _drawn(_unpaid, Synthetic(), in_their_cell),
    }
    return [
        replace(
            subject, name=f"{name} thirty times what {'it pays' if name.endswith('draws') else 'they pay'}", draw=draw
        )
        for subject, (name, draw) in zip(subjects(), unpaid.items(), strict=True)
    ]
