"""Learners under attack: a lone person who is like nobody, in the table or not, and whoever sees all that was drawn.

The guess is the best there is: how much likelier everything that a learner has drawn is of the table with them than of
the one without. A model follows from what was drawn and from public coins, so no guess from a model is better.

Learners draw here from an envelope that nobody guards, on tables made up for it; what they pay is theirs to reckon.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.audit.likelihoods import favours
from sfumato.audit.subject import Subject
from sfumato.engines.arrange import look
from sfumato.engines.duckdb.dialect import DUCKDB
from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.engines.sql.counting import emit
from sfumato.kernel.certify import Certified, certify
from sfumato.kernel.cost import Cost, Currency
from sfumato.kernel.entropy import Entropy
from sfumato.kernel.gate import Found, Receipt, Release, release
from sfumato.learn import Additive, Clusters, Correlation, Forest, Linear, NaiveBayes, Synthetic, Tree
from sfumato.learn.learner import Learner
from sfumato.learn.linear.moments import STEPS
from sfumato.learn.model import SIDE
from sfumato.learn.numeric import number_task
from sfumato.learn.scaled import scaled_task
from sfumato.learn.task import task_of
from sfumato.plan.nodes import Plan
from sfumato.schema.columns import Category, Declared, Float, Identifier, Int
from sfumato.schema.table import Schema
from sfumato.schema.unit import Person, Row

CROWD, CELLS = 60, ("a", "b", "c", "d")
NEAR, FAR = 10, 90
SEED = "0123456789abcdef" * 2
Columns = Mapping[str, list[Any]]


# ---- tables with a lone person, and without


@dataclass(frozen=True)
class Scene:
    """A crowd, somebody who is like nobody in it, and what is to be learnt."""

    schema: Schema
    crowd: Columns
    lone: Columns
    task: Callable[[Schema, Currency], Any]

    def table(self, lone: bool) -> pa.Table:
        return pa.table({name: [*cells, *(self.lone[name] if lone else [])] for name, cells in self.crowd.items()})


LETTERS = [CELLS[place % 3] for place in range(CROWD)]
ANSWERS: dict[str, Declared] = {"x": Category(CELLS), "y": Category(["no", "yes"])}
PEOPLE = {"x": LETTERS, "y": ["no"] * CROWD}
PLANE = Schema("t", Row(), {"x": Float(-1, 1), "z": Float(-1, 1)})
MIDDLE, CORNER = ({name: [place] * many for name in PLANE.columns} for place, many in ((0.0, CROWD), (1.0, 1)))

# One person alone in a cell says yes.
SURE = Scene(Schema("t", Row(), ANSWERS), PEOPLE, {"x": ["d"], "y": ["yes"]}, partial(task_of, target="y"))
TWICE = Scene(  # with two rows
    Schema("t", Person("id", max_rows=2), {"id": Identifier(), **ANSWERS}),
    {"id": [row // 2 for row in range(CROWD)], **PEOPLE},
    {"id": [CROWD, CROWD], "x": ["d", "d"], "y": ["yes", "yes"]},
    partial(task_of, target="y"),
)
HIGH = Scene(  # whose number is far from a crowd's
    Schema("t", Row(), {"x": Category(CELLS), "z": Int(0, 100)}),
    {"x": LETTERS, "z": [NEAR] * CROWD},
    {"x": ["d"], "z": [FAR]},
    partial(number_task, target="z"),
)
STEEP = Scene(PLANE, MIDDLE, CORNER, partial(scaled_task, steps=STEPS, target="z"))
TOGETHER = Scene(PLANE, MIDDLE, CORNER, partial(scaled_task, steps=STEPS))
AWAY = Scene(
    Schema("t", Row(), {"z": Int(0, 100)}), {"z": [NEAR] * CROWD}, {"z": [FAR]}, partial(scaled_task, steps=SIDE)
)
UNLIKE = Scene(  # by two of three columns
    Schema("t", Row(), {**ANSWERS, "z": Category(["same", "other"])}),
    {**PEOPLE, "z": ["same"] * CROWD},
    {"x": ["d"], "y": ["yes"], "z": ["same"]},
    partial(task_of, target=""),
)


# ---- drawing, and guessing from what was drawn


@dataclass
class Counted:
    """What an engine counts in both tables, each plan once."""

    scene: Scene
    currency: Currency
    engines: tuple[DuckDBEngine, DuckDBEngine]
    known: dict[Plan, tuple[Certified, tuple[Found, Found]]] = field(default_factory=dict)

    def of(self, plan: Plan) -> tuple[Certified, tuple[Found, Found]]:
        if plan not in self.known:
            certified = certify(plan, self.scene.schema, self.currency)
            sql = [emit(counting, self.scene.schema, DUCKDB) for counting in certified.countings]
            without, among = (look(engine, certified.countings, sql) for engine in self.engines)
            self.known[plan] = certified, (without, among)
        return self.known[plan]


@dataclass
class Unguarded:
    """An envelope of tables of our own: every plan is certified and released, and nobody adds up what it costs.

    `favoured`: by how much, as a logarithm, all that was drawn favours that the lone person is in.
    """

    price: Cost
    entropy: Entropy
    counted: Counted
    lone: bool
    seed: str = SEED
    favoured: float = 0.0

    def ask(self, plan: Plan, *, round_: int) -> Release:
        return self.ask_all([plan], round_=round_)[0]

    def ask_all(self, plans: Sequence[Plan], *, round_: int) -> list[Release]:  # noqa: ARG002 - each run draws once
        made = []
        for plan in plans:
            certified, found = self.counted.of(plan)
            drawn = release(certified, Receipt(0, certified.digest), found[self.lone], self.entropy)
            self.favoured += favours(certified, drawn, found[True], found[False])
            made.append(drawn)
        return made


@dataclass(frozen=True)
class Attacked:
    """A learner, where it is attacked, and how often. `times`: its twin takes so many times what it pays."""

    name: str
    learner: Learner[Any]
    scene: Scene
    runs: int
    price: Fraction = Fraction(1)
    currency: Currency = "epsilon"
    times: int = 4

    def subject(self, times: int = 1) -> Subject:
        name = f"learn.{self.name}, a lone person more"
        return Subject(
            name if times == 1 else f"{name}, and {times} times what is paid is drawn",
            (False, True),
            partial(self._drawn, times),
            price=self.price,
            in_rho=self.currency == "rho",
            draws=self.runs,
        )

    def _drawn(self, times: int, lone: bool, count: int, price: Fraction, entropy: Entropy) -> Any:
        """How much what each of so many fits has drawn favours that the person is in."""
        learner, scene = self.learner.set_params(spend=price), self.scene
        without, among = (DuckDBEngine(scene.table(one), scene.schema) for one in (False, True))
        try:
            task, counted = scene.task(scene.schema, self.currency), Counted(scene, self.currency, (without, among))
            envelopes = [Unguarded(Cost(self.currency, times * price), entropy, counted, lone) for _ in range(count)]
            for envelope in envelopes:
                learner._learnt(task, envelope, _silent)  # type: ignore[arg-type] # it asks, and that is all
            return np.array([envelope.favoured for envelope in envelopes])
        finally:
            without.close()
            among.close()


def _silent(share: float, what: str) -> None:
    """Nobody waits for it."""


RHO = Fraction(1, 8)
# So many runs that a twin is missed less often than once in ten thousand times.
ATTACKED = (
    Attacked("tree", Tree("y", depth=1), SURE, 800),
    Attacked("tree, unit person", Tree("y", depth=1), TWICE, 800),
    Attacked("forest", Forest("y", depth=1, trees=2), SURE, 300, times=10),
    Attacked("bayes", NaiveBayes("y"), SURE, 400),
    Attacked("bayes, zCDP", NaiveBayes("y"), SURE, 400, price=RHO, currency="rho", times=10),
    Attacked("additive", Additive("y"), SURE, 500, price=Fraction(2)),
    Attacked("additive of a number", Additive("z"), HIGH, 200, times=8),
    Attacked("tree of a number", Tree("z", depth=1), HIGH, 200, times=8),
    Attacked("linear", Linear("z"), STEEP, 240, times=8),
    Attacked("correlation", Correlation(), TOGETHER, 240, times=8),
    Attacked("clusters", Clusters(2), AWAY, 200, times=10),
    Attacked("synthetic", Synthetic(), UNLIKE, 120, times=10),
)


def subjects() -> list[Subject]:
    """How much all that a learner draws gives one person away: a guess whether they are in gains at most tanh(ε/2)."""
    return [one.subject() for one in ATTACKED]


def twins() -> list[Subject]:
    """Learners that pay for a part of what they draw, as if nobody added it up."""
    return [one.subject(one.times) for one in ATTACKED]
