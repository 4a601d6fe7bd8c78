"""How like the rows a synthetic table is, column by column: a question of its own, paid like any other.

The tables of single columns are asked once more, with noise of their own, and stand beside the synthetic ones.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sfumato.answers.notes import price_in_words
from sfumato.learn.files.file import as_json
from sfumato.learn.model import Model
from sfumato.learn.synthesis.cleaning import rows_in
from sfumato.learn.synthesis.pairs import EXPECTED_OF_NOISE, one_plan
from sfumato.learn.synthesis.sampling import likeness_of
from sfumato.learn.task import Task, cells_of, task_of
from sfumato.learn.wordings import features_differ, no_such_part
from sfumato.plots.fragment import text_fragment
from sfumato.plots.marginals import marginals
from sfumato.plots.page import Figure
from sfumato.schema.budget import Spend
from sfumato.schema.numbers import GivenNumber
from sfumato.schema.unit import Person
from sfumato.session import Session
from sfumato.visible import visible_lines

VERSION = 1


@dataclass(frozen=True, slots=True)
class Compared:
    """A column: of each cell the rows of the synthetic table, and the noisy rows of the private one.

    `distance` is the share of rows that are in other cells, `by_noise` what of it noise alone would make.
    """

    name: str
    labels: tuple[str, ...]
    synthetic: tuple[int, ...]
    private: tuple[int, ...]
    noise: float
    distance: float
    by_noise: float

    def __str__(self) -> str:
        return f"{self.name}: {100 * self.distance:.1f} % of rows elsewhere (noise alone: {100 * self.by_noise:.1f} %)"


@dataclass(frozen=True, slots=True)
class Comparison:
    """Synthetic columns beside private counts of the real ones."""

    columns: tuple[Compared, ...]
    cost: Any
    words: str
    receipt: int

    def to_dict(self) -> dict[str, Any]:
        """What `sfumato synth --compare --format json` prints of it."""
        told = [{name: getattr(one, name) for name in Compared.__slots__} for one in self.columns]
        cost = {"epsilon": self.cost.epsilon, "delta": self.cost.delta}
        return {"columns": told, "cost": cost, "receipt": self.receipt}

    def plot(self, column: str | None = None) -> Any:
        """A Plotly figure of a column, by default of the one that differs most beyond noise."""
        known = {one.name: one for one in self.columns}
        if column is not None and column not in known:
            raise no_such_part(column, known)
        one = max(self.columns, key=lambda each: each.distance - each.by_noise) if column is None else known[column]
        return marginals(one.labels, one.synthetic, title=one.name, private=one.private, noise=one.noise)

    def figures(self) -> list[Figure]:
        """All columns, for the card of the model: model.card_.to_html(path, drawn=comparison.figures())."""
        return [Figure(self.plot(one.name), str(one)) for one in self.columns]

    def __str__(self) -> str:
        lines = ["Synthetic rows beside a private count:", *(f"  {one}" for one in self.columns)]
        return visible_lines("\n".join([*lines, f"Cost {self.cost}. {self.words}"]))

    def _repr_html_(self) -> str:
        return text_fragment(str(self))


def compared(
    model: Model, session: Session, *, spend: GivenNumber | Spend | None, columns: Sequence[str] | None, fresh: bool
) -> Comparison:
    """Count the rows of the columns that are named, or of all, and put the synthetic ones beside them."""
    fitted = likeness_of(model)
    task = _task(model, session, columns)
    share = session.price(spend).amount / len(task.columns)
    plans = [one_plan(task, place, share) for place in range(len(task.columns))]
    with session.envelope(_purpose(model, task), spend=spend, fresh=fresh) as envelope:
        tables = [cells_of(release) for release in envelope.ask_all(plans, round_=0)]
    known = dict(zip([feature.name for feature in model.features], fitted.shares(model.paid.envelope), strict=True))
    rows, noise, found = rows_in(tables), task.deviation(plans[0]), []
    for feature, table in zip(task.features, tables, strict=True):
        shares = known[feature.name]
        distance = min(1.0, float(np.abs(table / rows - shares).sum() / 2))
        by_noise = min(1.0, EXPECTED_OF_NOISE * noise * feature.size / rows / 2)
        labels = tuple(feature.cells.label(cell) for cell in range(feature.size))
        synthetic = tuple(round(rows * float(each)) for each in shares)
        counted = tuple(int(count) for count in table)
        found.append(Compared(feature.name, labels, synthetic, counted, noise, distance, by_noise))
    return Comparison(tuple(found), envelope.cost, price_in_words(envelope.cost), envelope.receipt)


def _task(model: Model, session: Session, columns: Sequence[str] | None) -> Task:
    """The same columns and rows of a person, declared alike."""
    expected, rows = (model.parameters.get(name) for name in ("expected_rows", "max_rows"))
    known = {feature.name: feature for feature in model.features}
    for name in columns or ():
        if name not in known:
            raise no_such_part(str(name), known)
    task = task_of(
        session.schema,
        session.price(1).currency,
        target="",
        columns=list(known) if columns is None else columns,
        max_rows=rows if isinstance(rows, int) and isinstance(session.schema.unit, Person) else None,
        expected_rows=expected if isinstance(expected, int) else None,
    )
    for feature in task.features:
        if feature != known[feature.name]:
            raise features_differ(feature.name)
    return task


def _purpose(model: Model, task: Task) -> str:
    digest = hashlib.sha256(as_json(model).encode()).hexdigest()
    said = {"compare": model.learner, "version": VERSION, "model": digest, **task.says()}
    return json.dumps(said, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
