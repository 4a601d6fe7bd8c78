"""How an additive model of a number is learnt: how it is spread, how many rows cells have, then residuals in passes.

Every residual table asks with all that is known so far: by how much, in sum, does the number exceed its prediction in
each cell of a column? Predictions are whole numbers, so that what a row adds depends on that row alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from sfumato.envelope import Envelope
from sfumato.kernel.cost import Cost
from sfumato.learn.asking import held_in_file
from sfumato.learn.learner import Told
from sfumato.learn.model import TO_AN_END, Curves, Parameter, Scores, nested
from sfumato.learn.numeric import NumberTask, spread_plan, sure_cells
from sfumato.learn.schedule import Template
from sfumato.learn.scores.evidence import Floats, Whole, kernel, strongest
from sfumato.learn.task import Counts, cells_of, sums_of
from sfumato.plan.expressions import Arithmetic, Column, Expression, Number, Pick
from sfumato.plan.lattice import Lattice
from sfumato.plan.nodes import CellSum, Histogram, Plan
from sfumato.plan.sources import Computed, Rows
from sfumato.schema.columns import Int

SPREAD, ROWS = Fraction(1, 10), Fraction(1, 10)  # of the price
PASS = (1 - SPREAD - ROWS) / 2  # each of two: of all columns, then of those that carry most
KEEP = 0.95
CELLS = 32  # of the target
NORMAL = (0.1587, 0.5, 0.8413)  # how much lies below one standard deviation less than the middle, it, and one more
VARIANCE = 0.1  # of what a cell adds, and of what all cells of a column add alike, as a part of the target's
FARTHEST_RESIDUAL = 2.0  # standard deviations of the target: what is farther counts as so far
FARTHEST = 1 << 20  # of a weight, in steps


def settings() -> dict[str, Parameter]:
    return {"spread": str(SPREAD), "rows": str(ROWS), "keep": KEEP, "variance": VARIANCE}


def row_plans(task: NumberTask, amount: Fraction) -> list[Plan]:
    """How many rows are in each cell of every column."""
    many = len(task.columns)
    return [task.plan((), Histogram(task.cell_key(place)), amount * ROWS / many) for place in range(many)]


def residual_plan(task: NumberTask, state: "_State", place: int, share: Fraction) -> Plan:
    """By how many steps the number exceeds its prediction, summed in every cell of a column.

    Claim: a row adds at most `state.reach` in size, whatever the weights are: the lattice clamps last.
    """
    residual, column = task.unused("residual"), task.columns[place]
    total: Expression = Number(Fraction(state.intercept))
    for other, weights in enumerate(state.weights):
        if weights.any():
            total = Arithmetic("+", total, Pick(task.cell_key(other), tuple(int(weight) for weight in weights)))
    exceeds = Computed(residual, Arithmetic("-", task.response.column, total), Int(-FARTHEST, FARTHEST))
    cell = Computed(column.feature.name, Column(column.feature.name), Int(0, column.size - 1))
    source = Rows(task.source, None, (exceeds, cell))
    sums = CellSum(task.cell_key(place), Column(residual), Lattice(-state.reach, state.reach, 0))
    return task.plan((), sums, share, source)


def templates(task: NumberTask, price: Cost) -> list[Template]:
    sizes = [one.size for one in task.columns]
    largest, many = sizes.index(max(sizes)), len(sizes)
    residuals = residual_plan(task, _State.full(task), largest, price.amount * PASS / many)
    what = (
        "residuals by cell, cut at two standard deviations of the target, so with less noise than here; the second "
        "time columns that say little are left out, and the others get their part"
    )
    return [
        Template("rows by part of the target's bounds", spread_plan(task, CELLS, price.amount * SPREAD)),
        Template("rows by cell, a table a column", row_plans(task, price.amount)[largest], many, sum(sizes)),
        Template(what, residuals, 2 * many, 2 * sum(sizes)),
    ]


def learnt(task: NumberTask, envelope: Envelope, told: Told) -> Curves:
    amount = envelope.price.amount
    plans = [spread_plan(task, CELLS, amount * SPREAD), *row_plans(task, amount)]
    told(0.0, "rows by cell")
    spread, *tables = map(cells_of, envelope.ask_all(plans, round_=0))
    noise = task.deviation(plans[1])  # of every column
    state = _State.after(task, _Spread.of(spread, task.deviation(plans[0])), tables, noise)
    columns, every = list(range(len(task.columns))), len(task.columns)
    for begin in (1, 1 + every):
        share = amount * PASS / len(columns)
        deviation = task.deviation(residual_plan(task, state, 0, share))  # of every column
        for round_, place in enumerate(columns, start=begin):
            told(round_ / (2 * every + 1), f"residuals of {task.columns[place].feature.name}")
            release = envelope.ask(residual_plan(task, state, place, share), round_=round_)
            state.learn(place, sums_of(release), deviation)
        columns = strongest(state.carried(), KEEP)
    sums = Scores(
        (state.intercept,),
        nested([weights[:, None] for weights in state.weights]),
        nested([_steps(np.sqrt(np.maximum(np.diag(one), 0)))[:, None] for one in state.spreads]),
        tuple(tuple(int(rows) for rows in table) for table in tables),
        (held_in_file(noise),) * len(tables),
    )
    return Curves(task.span, sums)


@dataclass(frozen=True, slots=True)
class _Spread:
    """The middle and the standard deviation of the target in steps, as far as the noise lets them be known.

    By quantiles, which a cell of noise far away hardly moves; residuals tell how far the mean is from the middle.
    """

    middle: int
    deviation: int

    @classmethod
    def of(cls, counts: Counts, noise: float) -> "_Spread":
        known = sure_cells(counts, noise)
        edges = np.linspace(-TO_AN_END, TO_AN_END, len(known) + 1)
        below = np.concatenate([[0.0], np.cumsum(known)]) / known.sum()
        low, middle, high = np.interp(NORMAL, below, edges)
        return cls(round(middle), max(round((high - low) / 2), TO_AN_END // CELLS))


@dataclass(slots=True)
class _State:
    """Weights in whole steps, what is not known of them, and how far a residual may reach. Grows by `learn` alone."""

    intercept: int
    weights: list[Whole]
    reach: int
    rows: list[Floats]
    spreads: list[Floats]
    variance: float

    @classmethod
    def full(cls, task: NumberTask) -> "_State":
        """As large as any: for the schedule."""
        return cls(
            0, [np.full(one.size, -TO_AN_END, dtype=np.int64) for one in task.columns], 2 * TO_AN_END, [], [], 0.0
        )

    @classmethod
    def after(cls, task: NumberTask, spread: _Spread, tables: Sequence[Counts], noise: float) -> "_State":
        """The middle alone; cells that are lost in noise have a few rows."""
        variance = float(spread.deviation) ** 2
        return cls(
            spread.middle,
            [np.zeros(one.size, dtype=np.int64) for one in task.columns],
            min(round(FARTHEST_RESIDUAL * spread.deviation), 2 * TO_AN_END),
            [np.maximum(table, 0.5 * noise) for table in tables],
            [kernel(one.feature.cells, VARIANCE * variance) + VARIANCE * variance for one in task.columns],
            variance,
        )

    def carried(self) -> Floats:
        """How much of the number's variance each column carries."""
        sums = [(rows * weights**2).sum() for rows, weights in zip(self.rows, self.weights, strict=True)]
        return np.array(sums) / (self.variance * max(float(self.rows[0].sum()), 1.0))

    def learn(self, place: int, residuals: Whole, deviation: float) -> None:
        """A Kalman step: a second table of a column averages with the first instead of adding noise."""
        rows, spread = self.rows[place], self.spreads[place]
        seen = rows[:, None] * spread
        gain = np.linalg.solve(seen * rows[None, :] + np.diag(deviation**2 + rows * self.variance), seen).T
        self.weights[place] = self.weights[place] + _steps(gain @ residuals)
        self.spreads[place] = spread - gain @ seen


def _steps(values: Floats) -> Whole:
    return np.rint(np.clip(values, -FARTHEST, FARTHEST)).astype(np.int64)
