"""What is to be learnt of a number: columns in cells, and the target in whole steps between its declared bounds.

A number beyond a bound counts as at it. A row without the number is left out.
"""

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from sfumato.kernel.cost import Currency
from sfumato.learn.asking import Counts, chosen, expected, rows_of
from sfumato.learn.bins import MOST_SINGLE, Span, binned
from sfumato.learn.model import TO_AN_END, Floats
from sfumato.learn.scaled import Scaled, scaled, span
from sfumato.learn.schedule import SURE
from sfumato.learn.task import Task, has_cells
from sfumato.plan.expressions import Column, Grid, IsNull, Not
from sfumato.plan.nodes import Histogram, Plan
from sfumato.plan.sources import Computed, Kept, Rows
from sfumato.schema.columns import Declared, Float, Int
from sfumato.schema.numbers import GivenNumber
from sfumato.schema.table import Schema


@dataclass(frozen=True, slots=True, eq=False)
class NumberTask(Task):
    """Columns in cells, and the number to predict, in steps to both sides of its middle."""

    response: Scaled = field(kw_only=True)

    @property
    def source(self) -> Kept:
        """Every row whose number is known, as small whole numbers."""
        made = (*self.coded, self.response.computed)
        rows = Rows(self.schema.table, self.where, made)
        passed = tuple(Computed(one.name, Column(one.name), one.declared) for one in made)
        return Kept(Rows(rows, Not(IsNull(self.response.column)), passed))

    @property
    def span(self) -> Span:
        return span(self.response.feature)

    def says(self) -> dict[str, Any]:
        return {**Task.says(self), "steps": TO_AN_END, "bounds": [self.span.lower, self.span.upper]}


def spread_plan(task: NumberTask, cells: int, share: Fraction) -> Plan:
    """How many rows have their number in each of so many equal parts of its bounds."""
    grid = Grid(task.response.column, Fraction(-TO_AN_END), Fraction(TO_AN_END), cells)
    return task.plan((), Histogram(grid), share)


def sure_cells(counts: Counts, noise: float) -> Floats:
    """The rows of cells that are not lost in noise. As long as these have not half of all, neighbours count together;
    if they never have, rows are anywhere. Needs: 2, 4, 8 … cells.
    """
    width = 1
    while width < len(counts):
        merged = counts.reshape(-1, width).sum(axis=1).astype(np.float64)
        sure = np.where(merged >= SURE * noise * width**0.5, merged, 0)
        if sure.sum() > max(0.0, counts.sum() / 2):
            return np.asarray(sure)
        width *= 2
    return np.ones(len(counts))


def is_number(declared: Declared | None) -> bool:
    """Whether a target is predicted as a number: with bounds, and with more values than classes may be."""
    match declared:
        case Float(lower=Fraction(), upper=Fraction()):
            return True
        case Int(lower=Fraction() as lower, upper=Fraction() as upper):
            return upper - lower >= MOST_SINGLE
        case _:
            return False


def number_task(
    schema: Schema,
    currency: Currency,
    *,
    target: str,
    columns: object = None,
    max_rows: int | None = None,
    expected_rows: int | None = None,
    holdout: GivenNumber | None = None,
) -> NumberTask:
    """The task, or a refusal before anything is paid. Needs: a target that `is_number`."""
    rows = expected(expected_rows)
    bins = tuple(binned(one, schema.columns[one], rows) for one in chosen(columns, target, schema, has_cells))
    unit, caps, where = rows_of(schema, max_rows, holdout)
    response = scaled(target, schema.columns[target], TO_AN_END)
    return NumberTask(schema, currency, target, (), unit, caps, rows, where, bins, response=response)
