"""Additive: scores that add up over columns, learnt together: class tables first, then residuals, column by column.

Every residual table asks with all that is known so far: by how much does the class exceed its probability in each cell
of a column? The scores are whole numbers and their probability is picked from a public list, so that what a row adds
depends on that row alone, in every engine.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from os import PathLike

import numpy as np

from sfumato.envelope import Envelope
from sfumato.kernel.cost import Cost
from sfumato.learn.bayes import class_tables, class_template, scores
from sfumato.learn.evidence import STEPS, Evidence, Floats, Whole, evidence, kernel, rounded, sigmoid
from sfumato.learn.learner import Learner, Told
from sfumato.learn.model import Parameter, Scores, nested
from sfumato.learn.notes import notes_on
from sfumato.learn.schedule import Template
from sfumato.learn.task import Task, cells_of
from sfumato.learn.wordings import two_classes_only
from sfumato.plan.expressions import Arithmetic, Column, Cross, Expression, Grid, Number, Pick
from sfumato.plan.lattice import Lattice
from sfumato.plan.nodes import CellSum, Plan
from sfumato.plan.sources import Computed, Rows
from sfumato.schema.budget import Budget, Spend
from sfumato.schema.columns import Declared, Float, Int
from sfumato.schema.numbers import GivenNumber

CLASSES = 2
REACH, STEP = 96, 16  # of the list of probabilities: so many steps of so many 256ths to both sides
PROBABILITIES = tuple(round(STEPS / (1 + np.exp(-(place + 0.5) * STEP / STEPS))) for place in range(-REACH, REACH))
FARTHEST_SCORE = 10**6
FARTHEST_STEP = 3.0
START = 0.5  # columns repeat each other: so much of what each says by itself is taken at first
CERTAINTY = 0.6  # of the slope that is expected of a cell
SMALL_SPEND = Fraction(1, 2)


@dataclass(frozen=True, slots=True)
class Setting:
    """How the price is divided and how far is believed; frozen, and chosen by currency and spend alone."""

    prior: Fraction
    passes: int
    variance: float
    keep: float


MANY = Setting(Fraction(2, 5), 2, 0.2, 0.95)
FEW = Setting(Fraction(3, 5), 1, 0.1, 0.85)


class Additive(Learner):
    """The classifier to begin with: as good as logistic regression on bins, to be read column by column."""

    learner = "additive"
    many_classes = False

    def __init__(
        self,
        target: str | None = None,
        *,
        spend: GivenNumber | Spend | None = None,
        columns: Sequence[str] | Mapping[str, Declared] | None = None,
        max_rows: int | None = None,
        expected_rows: int | None = None,
        holdout: GivenNumber | None = None,
        ledger: str | PathLike[str] | None = None,
        budget: Budget | None = None,
    ) -> None:
        self.target = target
        self.spend = spend
        self.columns = columns
        self.max_rows = max_rows
        self.expected_rows = expected_rows
        self.holdout = holdout
        self.ledger = ledger
        self.budget = budget

    def _settings(self, task: Task, price: Cost) -> dict[str, Parameter]:
        if len(task.classes) != CLASSES:
            raise two_classes_only("Additive", len(task.classes))
        chosen = _setting(price)
        return {
            "expected_rows": task.expected_rows,
            "prior": str(chosen.prior),
            "passes": chosen.passes,
            "variance": chosen.variance,
            "keep": chosen.keep,
        }

    def _templates(self, task: Task, price: Cost) -> list[Template]:
        chosen, sizes = _setting(price), [one.size for one in task.columns]
        times = chosen.passes * len(sizes)
        share = price.amount * (1 - chosen.prior) / times
        plan = residual_plan(task, _State.full(task), sizes.index(max(sizes)), share)
        what = (
            "residuals by cell, in steps of 1/256; columns that say little are left out, and the others get their part"
        )
        return [
            class_template(task, price.amount * chosen.prior),
            Template(what, plan, times, chosen.passes * sum(sizes)),
        ]

    def _learnt(self, task: Task, envelope: Envelope, told: Told) -> tuple[Scores, tuple[str, ...]]:
        chosen, amount = _setting(envelope.price), envelope.price.amount
        told(0.0, "class tables")
        tables, noise = class_tables(task, envelope, amount * chosen.prior, round_=0)
        cells = [one.feature.cells for one in task.columns]
        found = evidence(tables, cells, noise, wanted=1)
        kept = _kept(found, chosen.keep)
        state = _State.after(found, cells, kept, noise, chosen.variance)
        share = amount * (1 - chosen.prior) / (chosen.passes * len(kept))
        deviation = task.deviation(residual_plan(task, state, kept[0], share))  # of every column
        asked = [place for _ in range(chosen.passes) for place in kept]
        for round_, place in enumerate(asked, start=1):
            told(round_ / (len(asked) + 1), f"residuals of {task.columns[place].feature.name}")
            release = envelope.ask(residual_plan(task, state, place, share), round_=round_)
            state.learn(place, cells_of(release), deviation)
        before = scores([found], None, tables, noise)
        fitted = Scores(
            (state.intercept,),
            nested([weights[:, None] for weights in state.weights]),
            nested([rounded(errors)[:, None] for errors in state.errors]),
            before.rows,
            before.noise,
        )
        return fitted, notes_on(fitted)


def _setting(price: Cost) -> Setting:
    return FEW if price.currency == "epsilon" and price.amount <= SMALL_SPEND else MANY


def _kept(found: Evidence, part: float) -> list[int]:
    """The columns that carry so large a part of the evidence, the strongest first."""
    carried = np.round(found.carried(), 9)
    order = np.argsort(-carried, kind="stable")
    if carried.sum() <= 0:
        return [int(place) for place in order]
    reached = np.cumsum(carried[order]) / carried.sum()
    return [int(place) for place in order[: int(np.searchsorted(reached, part)) + 1]]


@dataclass(slots=True)
class _State:
    """Weights as whole numbers of 1/256, and what is not known of them. Grows by `learn` alone."""

    intercept: int
    weights: list[Whole]
    errors: list[Floats]
    slopes: list[Floats] = field(default_factory=list)
    spreads: dict[int, Floats] = field(default_factory=dict)

    @classmethod
    def full(cls, task: Task) -> "_State":
        """As large as any: for the schedule."""
        return cls(0, [np.full(one.size, -STEPS, dtype=np.int64) for one in task.columns], [])

    @classmethod
    def after(
        cls, found: Evidence, cells: Sequence[object], kept: Sequence[int], noise: Sequence[float], variance: float
    ) -> "_State":
        """What class tables say, half believed; the slope of each cell is that of its rows, cautiously."""
        slopes = []
        for weights, rows, deviation in zip(found.weights, found.rows, noise, strict=True):
            share = sigmoid(found.intercept + weights)
            slopes.append(CERTAINTY * np.maximum(rows, 0.5 * deviation) * np.clip(share * (1 - share), 0.01, 0.25))
        return cls(
            int(rounded(np.array(found.intercept))),
            [rounded(START * weights) for weights in found.weights],
            list(found.errors),
            slopes,
            {place: kernel(cells[place], variance) for place in kept},  # type: ignore[arg-type]
        )

    def learn(self, place: int, residuals: Whole, deviation: float) -> None:
        """A Kalman step: a second table of a column averages with the first instead of adding noise."""
        slope, spread = self.slopes[place], self.spreads[place]
        seen = slope[:, None] * spread
        gain = np.linalg.solve(seen * slope[None, :] + np.eye(len(slope)) * (deviation / STEPS) ** 2, seen).T
        step = np.clip(gain @ (residuals / STEPS), -FARTHEST_STEP, FARTHEST_STEP)
        self.weights[place] = self.weights[place] + rounded(step)
        self.spreads[place] = spread - gain @ seen
        self.errors[place] = np.sqrt(np.maximum(np.diag(self.spreads[place]), 0))


def residual_plan(task: Task, state: _State, place: int, share: Fraction) -> Plan:
    """By how much, in 256ths, the second class exceeds its probability, summed in every cell of a column.

    Claim: a row adds at most 256 in size, whatever the weights are: the lattice clamps last.
    """
    score, residual = task.unused("score"), task.unused("residual")
    column, target = task.columns[place], task.target
    total: Expression = Number(Fraction(state.intercept))
    for other, weights in enumerate(state.weights):
        if weights.any():
            picked = Pick(task.cell_key(other), tuple(int(weight) for weight in weights))
            total = Arithmetic("+", total, picked)
    codes = {name: Int(0, size - 1) for name, size in ((column.feature.name, column.size), (target, CLASSES))}
    passed = [Computed(name, Column(name), declared) for name, declared in codes.items()]
    scored = Rows(task.source, None, (Computed(score, total, Float(-FARTHEST_SCORE, FARTHEST_SCORE)), *passed))
    grid = Grid(Column(score), Fraction(-REACH * STEP), Fraction(REACH * STEP), 2 * REACH)
    numbers = [STEPS * of - probability for of in range(CLASSES) for probability in PROBABILITIES]
    value = Pick(Cross((task.class_key, grid)), tuple(numbers))
    source = Rows(scored, None, (Computed(residual, value, Int(-STEPS, STEPS)), passed[0]))
    return task.plan((), CellSum(task.cell_key(place), Column(residual), Lattice(-STEPS, STEPS, 0)), share, source)
