"""Additive: scores that add up over columns, learnt together: class tables first, then residuals, column by column.

Every residual table asks with all that is known so far: by how much does the class exceed its probability in each cell
of a column? The scores are whole numbers and their probability is picked from a public list, so that what a row adds
depends on that row alone, in every engine.

Of several classes each is told from all others, by residuals of its own. A target that is a number is learnt likewise,
in its own units: `boosting`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import zip_longest
from os import PathLike

import numpy as np

from sfumato.envelope import Envelope
from sfumato.kernel.cost import Cost
from sfumato.learn.either import Either
from sfumato.learn.learner import Told
from sfumato.learn.model import Curves, Parameter, Scores, nested
from sfumato.learn.numeric import NumberTask
from sfumato.learn.schedule import Template
from sfumato.learn.scores import boosting
from sfumato.learn.scores.bayes import class_tables, class_template, room_of_scores, scores
from sfumato.learn.scores.evidence import STEPS, Evidence, Floats, Whole, evidence, kernel, rounded, sigmoid, strongest
from sfumato.learn.shown.notes import notes_on
from sfumato.learn.task import Task, sums_of
from sfumato.plan.expressions import Arithmetic, Column, Cross, Expression, Grid, Number, Pick, RangeKey
from sfumato.plan.lattice import Lattice
from sfumato.plan.nodes import CellSum, Plan
from sfumato.plan.sources import Computed, Rows
from sfumato.schema.budget import Budget, Spend
from sfumato.schema.columns import Declared, Float, Int
from sfumato.schema.numbers import GivenNumber

SIDES = 2  # a class, and all others
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


class Additive(Either):
    """The learner to begin with, of classes or of a number: as good as a regression on bins, column by column.

    Of more than two classes residuals divide the price among the classes, and a tree is often as good or better.
    """

    learner = "additive"

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
        if isinstance(task, NumberTask):
            return {"expected_rows": task.expected_rows, **boosting.settings()}
        chosen = _setting(price, len(_wanted(task)))
        return {
            "expected_rows": task.expected_rows,
            "prior": str(chosen.prior),
            "passes": chosen.passes,
            "variance": chosen.variance,
            "keep": chosen.keep,
        }

    def _room(self, task: Task, price: Cost) -> int:  # noqa: ARG002
        return room_of_scores(task)

    def _templates(self, task: Task, price: Cost) -> list[Template]:
        if isinstance(task, NumberTask):
            return boosting.templates(task, price)
        wanted, sizes = _wanted(task), [one.size for one in task.columns]
        chosen = _setting(price, len(wanted))
        times = chosen.passes * len(sizes) * len(wanted)
        share = price.amount * (1 - chosen.prior) / times
        plan = residual_plan(task, _State.full(task), sizes.index(max(sizes)), share, wanted[-1])
        what = (
            f"residuals by cell{'' if len(wanted) == 1 else ', a table a class'}, in steps of 1/256; columns that say "
            "little are left out, and the others get their part"
        )
        return [
            class_template(task, price.amount * chosen.prior),
            Template(what, plan, times, chosen.passes * sum(sizes) * len(wanted)),
        ]

    def _learnt(self, task: Task, envelope: Envelope, told: Told) -> tuple[Scores | Curves, tuple[str, ...]]:
        if isinstance(task, NumberTask):
            curves = boosting.learnt(task, envelope, told)
            return curves, notes_on(curves)
        wanted, amount = _wanted(task), envelope.price.amount
        chosen = _setting(envelope.price, len(wanted))
        told(0.0, "class tables")
        tables, noise = class_tables(task, envelope, amount * chosen.prior, round_=0)
        cells = [one.feature.cells for one in task.columns]
        found = [evidence(tables, cells, noise, one) for one in wanted]
        kept = _kept(found, chosen.keep)
        states = [_State.after(each, cells, own, noise, chosen.variance) for each, own in zip(found, kept, strict=True)]
        share = amount * (1 - chosen.prior) / (chosen.passes * sum(map(len, kept)))
        deviation = task.deviation(residual_plan(task, states[0], 0, share, wanted[0]))  # of every column and class
        turns = list(zip_longest(*(own * chosen.passes for own in kept)))
        for round_, places in enumerate(turns, start=1):
            asked = [
                (state, place, one)
                for state, place, one in zip(states, places, wanted, strict=True)
                if place is not None
            ]
            told(round_ / (len(turns) + 1), f"residuals of {_named(task, [place for _, place, _ in asked])}")
            plans = [residual_plan(task, state, place, share, one) for state, place, one in asked]
            for (state, place, _), release in zip(asked, envelope.ask_all(plans, round_=round_), strict=True):
                state.learn(place, sums_of(release), deviation)
        fitted = _scores(states, scores(found[-1:], None, tables, noise))
        return fitted, notes_on(fitted)


def _setting(price: Cost, told_apart: int = 1) -> Setting:
    """By what each of the classes that are told from all others has of the price."""
    return FEW if price.currency == "epsilon" and price.amount / told_apart <= SMALL_SPEND else MANY


def _wanted(task: Task) -> range:
    """The classes that are told from all others: of two the second, of several each."""
    return range(1, SIDES) if len(task.classes) == SIDES else range(len(task.classes))


def _kept(found: Sequence[Evidence], part: float) -> list[list[int]]:
    """Of each class the columns by which it is told apart, the strongest first: those that carry so large a part of
    what all columns say of all classes. What is rare, or like all others, costs little.
    """
    columns = len(found[0].weights)
    kept: list[list[int]] = [[] for _ in found]
    for both in strongest(np.concatenate([each.carried() for each in found]), part):
        kept[both // columns].append(both % columns)
    return kept


def _named(task: Task, places: Sequence[int]) -> str:
    return ", ".join(dict.fromkeys(task.columns[place].feature.name for place in places))


def _scores(states: "Sequence[_State]", before: Scores) -> Scores:
    """Weights of every class but the first: of two those that were learnt, of several what is more than the first's.

    What was learnt of several is log(p/(1 - p)) of each, of which log(p) is wanted: that moves 1 - p times as far, with
    the share of the class in all rows for p. Of two classes these would be the same weights again.
    """
    if len(states) == 1:
        (one,) = states
        intercept, weights, errors = (one.intercept,), [each[:, None] for each in one.weights], one.errors
        return Scores(
            intercept, nested(weights), nested([rounded(each)[:, None] for each in errors]), before.rows, before.noise
        )
    (first, own), *others = [(each, 1 - float(sigmoid(each.intercept / STEPS))) for each in states]
    usual = [float(np.log1p(-far)) for _, far in ((first, own), *others)]
    columns = range(len(first.weights))
    moved = [
        np.column_stack([far * each.weights[place] - own * first.weights[place] for each, far in others])
        for place in columns
    ]
    errors = [
        np.column_stack([np.hypot(far * each.errors[place], own * first.errors[place]) for each, far in others])
        for place in columns
    ]
    return Scores(
        tuple(round(STEPS * (each - usual[0])) for each in usual[1:]),
        nested([np.rint(each).astype(np.int64) for each in moved]),
        nested([rounded(each) for each in errors]),
        before.rows,
        before.noise,
    )


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


def residual_plan(task: Task, state: _State, place: int, share: Fraction, wanted: int = 1) -> Plan:
    """By how much, in 256ths, a class exceeds its probability, summed in every cell of a column.

    Claim: a row adds at most 256 in size, whatever the weights are: the lattice clamps last.
    """
    score, residual = task.unused("score"), task.unused("residual")
    column, target = task.columns[place], task.target
    total: Expression = Number(Fraction(state.intercept))
    for other, weights in enumerate(state.weights):
        if weights.any():
            picked = Pick(task.cell_key(other), tuple(int(weight) for weight in weights))
            total = Arithmetic("+", total, picked)
    cell = Computed(column.feature.name, Column(column.feature.name), Int(0, column.size - 1))
    is_it = Pick(task.class_key, tuple(int(one == wanted) for one in range(len(task.classes))))
    side = Computed(target, Column(target) if len(task.classes) == SIDES else is_it, Int(0, SIDES - 1))
    scored = Rows(task.source, None, (Computed(score, total, Float(-FARTHEST_SCORE, FARTHEST_SCORE)), cell, side))
    grid = Grid(Column(score), Fraction(-REACH * STEP), Fraction(REACH * STEP), 2 * REACH)
    numbers = [STEPS * of - probability for of in range(SIDES) for probability in PROBABILITIES]
    value = Pick(Cross((RangeKey(Column(target), 0, SIDES - 1), grid)), tuple(numbers))
    source = Rows(scored, None, (Computed(residual, value, Int(-STEPS, STEPS)), cell))
    return task.plan((), CellSum(task.cell_key(place), Column(residual), Lattice(-STEPS, STEPS, 0)), share, source)
