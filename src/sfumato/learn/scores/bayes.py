"""Naive Bayes: one table of rows by cell and class for every column, all in one round; the rest is reckoning."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from os import PathLike

import numpy as np

from sfumato.envelope import Envelope
from sfumato.kernel.cost import Cost
from sfumato.learn.asking import held_in_file
from sfumato.learn.classifier import Classifier
from sfumato.learn.learner import Told
from sfumato.learn.model import Parameter, Scores, nested
from sfumato.learn.schedule import Template
from sfumato.learn.scores.evidence import Evidence, Whole, evidence, rounded, sigmoid
from sfumato.learn.shown.notes import notes_on
from sfumato.learn.task import Counts, Task, cells_of
from sfumato.plan.nodes import Plan
from sfumato.schema.budget import Budget, Spend
from sfumato.schema.columns import Declared
from sfumato.schema.numbers import GivenNumber

# In a file: "-9999,999,", of a number "-2097152,2097152,", and "-1099511627776," with brackets.
WEIGHT_BYTES, NUMBER_BYTES, ROW_BYTES = 10, 18, 24


class NaiveBayes(Classifier):
    """Scores that add up over columns, each learnt by itself: the best there is at a small spend.

    Columns that repeat each other are counted twice, so its probabilities are too sure; `Additive` corrects that.
    """

    learner = "bayes"

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

    def _settings(self, task: Task, price: Cost) -> dict[str, Parameter]:  # noqa: ARG002
        return {"expected_rows": task.expected_rows}

    def _room(self, task: Task, price: Cost) -> int:  # noqa: ARG002
        return room_of_scores(task)

    def _templates(self, task: Task, price: Cost) -> list[Template]:
        return [class_template(task, price.amount)]

    def _learnt(self, task: Task, envelope: Envelope, told: Told) -> tuple[Scores, tuple[str, ...]]:
        told(0.0, "class tables")
        tables, noise = class_tables(task, envelope, envelope.price.amount, round_=0)
        found = [_evidence(tables, noise, task, wanted) for wanted in range(1, len(task.classes))]
        first = _evidence(tables, noise, task, 0) if len(task.classes) > 2 else None
        fitted = scores(found, first, tables, noise)
        return fitted, notes_on(fitted)


def room_of_scores(task: Task) -> int:
    """Bytes of weights with their errors, and of rows, in the file of a model; without classes, of a number."""
    weights = WEIGHT_BYTES * (len(task.classes) - 1) if task.classes else NUMBER_BYTES
    return sum(one.size for one in task.columns) * (weights + ROW_BYTES)


def class_template(task: Task, share: Fraction) -> Template:
    largest = max(range(len(task.columns)), key=lambda place: task.columns[place].size)
    numbers = len(task.classes) * sum(one.size for one in task.columns)
    plan = task.class_table(largest, share / len(task.columns))
    return Template("rows by cell and class, a table a column", plan, len(task.columns), numbers)


def class_plans(task: Task, share: Fraction) -> tuple[Plan, ...]:
    """The rows by cell and class of every column, each at an equal part."""
    return tuple(task.class_table(place, share / len(task.columns)) for place in range(len(task.columns)))


def class_tables(task: Task, envelope: Envelope, share: Fraction, *, round_: int) -> tuple[list[Counts], list[float]]:
    """What these plans were released as, and the standard deviations of their noise."""
    plans = class_plans(task, share)
    shapes = [(one.size, len(task.classes)) for one in task.columns]
    releases = envelope.ask_all(plans, round_=round_)
    tables = [cells_of(release).reshape(shape) for release, shape in zip(releases, shapes, strict=True)]
    return tables, [task.deviation(plans[0])] * len(plans)


def _evidence(tables: list[Counts], noise: list[float], task: Task, wanted: int) -> Evidence:
    return evidence(tables, [one.feature.cells for one in task.columns], noise, wanted)


def scores(
    found: Sequence[Evidence], first: Evidence | None, tables: Sequence[Counts], noise: Sequence[float]
) -> Scores:
    """Weights of every class but the first.

    Of two classes the log-odds themselves. Of several the logarithm of how much likelier a class is in a cell than in
    all, less that of the first.
    """
    many = range(len(tables))
    if first is None:
        (one,) = found
        intercept = rounded(np.array([one.intercept]))
        weights = [rounded(one.weights[place])[:, None] for place in many]
    else:
        intercept = rounded(np.array([_log_share(each) - _log_share(first) for each in found]))
        weights = [
            rounded(np.column_stack([_likelier(each, place) - _likelier(first, place) for each in found]))
            for place in many
        ]
    errors = [rounded(np.column_stack([each.errors[place] for each in found])) for place in many]
    return Scores(
        tuple(int(one) for one in intercept),
        nested(weights),
        nested(errors),
        tuple(tuple(int(row) for row in _rows(table)) for table in tables),
        tuple(held_in_file(each * table.shape[1] ** 0.5) for each, table in zip(noise, tables, strict=True)),
    )


def _rows(table: Counts) -> Whole:
    return np.asarray(table.sum(axis=1), dtype=np.int64)


def _log_share(each: Evidence) -> float:
    return float(np.log(sigmoid(each.intercept)))


def _likelier(each: Evidence, place: int) -> np.ndarray:
    return np.asarray(np.log(sigmoid(each.intercept + each.weights[place]) / sigmoid(each.intercept)))
