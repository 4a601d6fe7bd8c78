"""Synthetic tables: pairs of columns that matter most, chosen and measured privately, and rows that agree with them.

First every column by itself; then a tree of pairs, each the one that is farthest from what independent columns would
be; then, where the spend allows it, further pairs, each the one that is farthest from the rows drawn so far.
"""

from collections.abc import Mapping, Sequence
from datetime import date
from fractions import Fraction
from math import ceil, log10
from os import PathLike
from pathlib import Path
from typing import Any

from sfumato.envelope import Envelope
from sfumato.kernel.cost import Cost
from sfumato.learn.asking import held_in_file
from sfumato.learn.bins import EPOCH
from sfumato.learn.learner import Learner, Told
from sfumato.learn.model import Parameter
from sfumato.learn.schedule import SURE, Template
from sfumato.learn.shown.notes import MOSTLY, notes_on
from sfumato.learn.synthesis.cleaning import WHOLE, Measured
from sfumato.learn.synthesis.comparison import Comparison, compared
from sfumato.learn.synthesis.likeness import POINTS, Ends, Likeness
from sfumato.learn.synthesis.measuring import Rounds, drawn
from sfumato.learn.synthesis.pairs import (
    Division,
    any_choice,
    further_for,
    measurable,
    offered,
    one_plan,
    pair_plan,
    worth,
)
from sfumato.learn.synthesis.sampling import sampled, written_rows
from sfumato.learn.task import Task, task_of
from sfumato.schema.budget import Budget, Spend
from sfumato.schema.columns import Date, Declared, Float, Int
from sfumato.schema.numbers import GivenNumber
from sfumato.session import Session

POINT_BYTES = 14  # of the weight of one, in the file of a model


class Synthetic(Learner[Task]):
    """Rows that nobody is: a table with the declared columns, alike in every column and in the pairs that matter most.

    For trying things out and for passing on. Whoever knows the question asks it, or fits a model for it: that is more
    exact at the same price.
    """

    learner = "synthetic"
    supervised = False

    def __init__(
        self,
        *,
        spend: GivenNumber | Spend | None = None,
        columns: Sequence[str] | Mapping[str, Declared] | None = None,
        max_rows: int | None = None,
        expected_rows: int | None = None,
        ledger: str | PathLike[str] | None = None,
        budget: Budget | None = None,
    ) -> None:
        self.spend = spend
        self.columns = columns
        self.max_rows = max_rows
        self.expected_rows = expected_rows
        self.ledger = ledger
        self.budget = budget

    def sample(self, n: int | None = None, seed: int | None = None) -> Any:
        """Rows as an Arrow table with the declared columns and types; by default as many as there are, by noisy count,
        but at most ten million, and of more than 20 columns 200 million values.

        The same model gives the same rows; with another seed, others of the same likeness. It costs nothing.
        """
        return sampled(self._known(), n, seed)

    def write(self, path: str | PathLike[str], n: int | None = None, seed: int | None = None) -> None:
        """Write rows as .parquet or .csv, marked as synthetic: see docs/reference/learn.md."""
        written_rows(self._known(), Path(path), n, seed)

    def compared_in(
        self,
        session: Session,
        *,
        spend: GivenNumber | Spend | None,
        columns: Sequence[str] | None = None,
        fresh: bool = False,
    ) -> Comparison:
        """Ask for the rows of single columns once more, for a charge of its own, and put the synthetic ones beside."""
        return compared(self._known(), session, spend=spend, columns=columns, fresh=fresh)

    def _task(self, session: Session) -> Task:
        currency = session.price(self.spend).currency
        return task_of(session.schema, currency, target="", columns=self.columns, **self._rows(session))

    def _settings(self, task: Task, price: Cost) -> dict[str, Parameter]:  # noqa: ARG002
        division = self._division(task, task.expected_rows)
        further = None if task.expected_rows is None else division.further
        return {"expected_rows": task.expected_rows, "pairs": division.edges, "further": further}

    def _room(self, task: Task, price: Cost) -> int:  # noqa: ARG002
        """Of all cells, of the largest pairs that a tree may have, and of the weights of points."""
        sizes = [one.size for one in task.columns]
        pairs = sorted((one * other for one, other in _sizes(task)), reverse=True)[: len(sizes)]
        return POINTS * POINT_BYTES + ceil(sum(map(_bytes, (*sizes, *pairs))))

    def _division(self, task: Task, rows: int | None) -> Division:
        """By declarations and the spend, and by so many rows."""
        further = 0 if rows is None else further_for(worth(self.epsilon, rows, task))
        return Division.of(len(task.columns), measurable([one.size for one in task.columns]), further)

    def _templates(self, task: Task, price: Cost) -> list[Template]:
        division, sizes = self._division(task, task.expected_rows), [one.size for one in task.columns]
        widest = one_plan(task, sizes.index(max(sizes)), price.amount * division.one)
        found = [Template("rows by cell, a table a column", widest, len(sizes), sum(sizes))]
        if not division.measured:
            return found
        more = "" if task.expected_rows is not None else "; more, at smaller parts, if the noisy number of rows allows"
        if division.choosing:
            choice = any_choice(task, offered(task), price.amount * division.choice)
            found.append(Template(f"a choice of two columns to measure together{more}", choice, division.measured))
        pairs = sorted((one * other for one, other in _sizes(task)), reverse=True)
        largest = pair_plan(task, offered(task)[0], price.amount * division.pair)
        what = f"rows by cell of two columns, a table a pair{more}"
        return [*found, Template(what, largest, division.measured, sum(pairs[: division.measured]))]

    def _learnt(self, task: Task, envelope: Envelope, told: Told) -> tuple[Likeness, tuple[str, ...]]:
        rounds = Rounds(task, envelope, told)
        columns = rounds.columns(self._division(task, None).one)
        division = self._division(task, columns.rows if task.expected_rows is None else task.expected_rows)
        made = drawn(rounds, division, columns)
        fitted = Likeness(
            columns.rows,
            held_in_file(columns.rows_noise),
            tuple(_ends(task.schema.columns[one.name]) for one in task.features),
            tuple(tuple(one.tolist()) for one in made.ones),
            (*made.tree, *(pair for pair in made.measured.pairs if pair not in made.tree)),
            tuple(tuple(table.ravel().tolist()) for table in made.tree.values()),
            tuple(made.weights.tolist()),
        )
        return fitted, (*notes_on(fitted), *_ruled(made.measured), *_alone(fitted, task))


def _ruled(measured: Measured) -> tuple[str, ...]:
    """Where noise rules cells of columns, or how two columns go together."""
    cells = sum(one.size for one in measured.ones)
    lost = sum(int((one < SURE * measured.one_noise).sum()) for one in measured.ones)
    ones = measured.shares()
    noisy = sum(measured.is_noise(pair, ones) for pair in measured.pairs)
    found = [f"Noise rules {lost:,} of {cells:,} cells of columns."] if lost > MOSTLY * cells else []
    if noisy > MOSTLY * len(measured.pairs):
        found.append(f"Noise rules {noisy} of {len(measured.pairs)} pairs: their columns are drawn as if independent.")
    return tuple(found)


def _alone(fitted: Likeness, task: Task) -> tuple[str, ...]:
    """Which columns could be measured with no other."""
    names = [task.features[place].name for place in fitted.alone]
    if not names or len(task.features) == 1:
        return ()
    return (f"With any other column these have too many cells, and are drawn by themselves: {', '.join(names)}.",)


def _bytes(cells: int) -> float:
    """Of so many whole numbers from 0 on that add up to 2^24: most where all are alike."""
    return cells * (2 + log10(1 + WHOLE / cells))


def _sizes(task: Task) -> list[tuple[int, int]]:
    sizes = [one.size for one in task.columns]
    return [(sizes[one], sizes[other]) for one, other in measurable(sizes)]


def _ends(declared: Declared) -> Ends | None:
    """The first and the last value that rows may have, of days counted from 1970-01-01."""
    match declared:
        case Int(lower=Fraction() as lower, upper=Fraction() as upper):
            return int(lower), int(upper)
        case Float(lower=Fraction() as lower, upper=Fraction() as upper):
            return float(lower), float(upper)
        case Date(lower=date() as first, upper=date() as last):
            return (first - EPOCH).days, (last - EPOCH).days
        case _:
            return None
