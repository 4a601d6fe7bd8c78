"""How a tree of a number is learnt: how the number is spread, then its groups told apart as a tree does with classes.

Groups have about as many rows each, by noisy counts. What a leaf predicts is the mean of their middles, weighed by the
shares of its rows: a table of few groups knows that better than a sum and a count of the same price.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

import numpy as np

from sfumato.envelope import Envelope
from sfumato.kernel.cost import Cost
from sfumato.learn.learner import Told
from sfumato.learn.model import TO_AN_END, Parameter
from sfumato.learn.numeric import NumberTask, spread_plan, sure_cells
from sfumato.learn.schedule import Template
from sfumato.learn.task import Counts, Task, cells_of
from sfumato.learn.trees.growing import Grown, Growth, grow, root, templates
from sfumato.plan.expressions import Column, Grid, Pick
from sfumato.plan.sources import Computed, Kept, Rows
from sfumato.schema.columns import Int

SPREAD = Fraction(1, 10)  # of the price
CELLS, GROUPS = 32, 6  # of the target
PARTS = (1 / 6, 1 / 2, 5 / 6)  # of a group, of which its middle is made


def settings() -> dict[str, Parameter]:
    return {"spread": str(SPREAD), "groups": GROUPS}


def rest(price: Cost) -> Cost:
    """What the tree itself may cost."""
    return Cost(price.currency, price.amount * (1 - SPREAD))


@dataclass(frozen=True, slots=True)
class Groups:
    """Of every cell of the target the group that it is in, and of every group its middle in steps."""

    of_cells: tuple[int, ...]
    middles: tuple[int, ...]

    @classmethod
    def of(cls, counts: Counts, noise: float) -> "Groups":
        """As many rows each as noise lets be known. A middle is the mean of three quantiles, which a cell of noise that
        is far away hardly moves.
        """
        known = sure_cells(counts, noise)
        below = np.concatenate([[0.0], np.cumsum(known) / known.sum()])
        edges = np.linspace(-TO_AN_END, TO_AN_END, len(known) + 1)
        cells = (np.arange(CELLS) + 0.5) * 2 * TO_AN_END / CELLS - TO_AN_END
        own = np.minimum((GROUPS * np.interp(cells, edges, below)).astype(np.int64), GROUPS - 1)
        parts = (np.arange(GROUPS)[:, None] + np.array(PARTS)) / GROUPS
        middles = np.interp(parts, below, edges).mean(axis=1)
        return cls(tuple(own.tolist()), tuple(round(float(one)) for one in middles))

    @classmethod
    def even(cls) -> "Groups":
        """As large as any: for the schedule."""
        return cls.of(np.ones(CELLS, dtype=np.int64), 0.0)


def grouped(task: NumberTask, groups: Groups) -> Task:
    """The same rows, with the groups of the target as classes."""
    cells = tuple(Computed(one.name, Column(one.name), one.declared) for one in task.coded)
    grid = Grid(task.response.column, Fraction(-TO_AN_END), Fraction(TO_AN_END), CELLS)
    group = Computed(task.target, Pick(grid, groups.of_cells), Int(0, GROUPS - 1))
    rows = Kept(Rows(task.source, None, (*cells, group)))
    known = task.schema, task.currency, task.target, tuple(range(GROUPS)), task.unit, task.caps
    return Task(*known, task.expected_rows, task.where, task.columns, rows)


@lru_cache(maxsize=4)  # of a task that is fitted it is asked for its settings, its schedule and its draws
def template(task: NumberTask) -> Task:
    return grouped(task, Groups.even())


def all_templates(task: NumberTask, price: Cost, growth: Growth) -> list[Template]:
    spread = Template("rows by part of the target's bounds", spread_plan(task, CELLS, price.amount * SPREAD))
    grown = templates(template(task), rest(price), growth, root)
    return [spread, *(replace(one, what=one.what.replace("class", "group of the target")) for one in grown)]


def learnt(task: NumberTask, envelope: Envelope, growth: Growth, told: Told) -> tuple[Groups, Task, Grown]:
    told(0.0, "how the target is spread")
    plan = spread_plan(task, CELLS, envelope.price.amount * SPREAD)
    groups = Groups.of(cells_of(envelope.ask(plan, round_=0)), task.deviation(plan))
    told_apart = grouped(task, groups)
    left = rest(envelope.price)
    return groups, told_apart, grow(told_apart, envelope, left, growth, root, told, begin=1, rising=True)
