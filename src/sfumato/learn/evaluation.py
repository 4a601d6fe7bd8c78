"""How good a model is on private rows: a question of its own, paid like any other, with error bars.

Two tables are measured: rows by predicted and true class, and of two classes rows by 32 steps of the score and class.
All else follows from them. Error bars come from the law of the noise, drawn with public coins around what was released.
"""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.answers.notes import price_in_words
from sfumato.learn.files.file import as_json
from sfumato.learn.model import Classifying, Model
from sfumato.learn.noise import Noise
from sfumato.learn.schedule import Schedule, Template, explained
from sfumato.learn.task import Counts, Task, cells_of, crossed, task_of
from sfumato.learn.walking import CELLS, walked
from sfumato.learn.wordings import classes_differ, features_differ
from sfumato.plan.nodes import Histogram, Plan
from sfumato.plan.sources import Kept
from sfumato.plots.fragment import text_fragment
from sfumato.plots.roc import roc
from sfumato.schema.budget import Spend
from sfumato.schema.columns import CategoryValue
from sfumato.schema.numbers import GivenNumber
from sfumato.schema.unit import Person
from sfumato.session import Session
from sfumato.simulate import Simulator
from sfumato.visible import visible_lines

Floats = NDArray[np.float64]
MEASURED = ("rows by predicted class and class", f"rows by {CELLS} steps of the score and class")
Pair = tuple[float, float]

VERSION = 1
SURE = 3
ON_ALL = (
    "Measured on all rows, those that the model was fitted on among them: on others it will be worse. "
    "Fit with holdout=0.2 to put a fifth of the people aside."
)


@dataclass(frozen=True, slots=True)
class Evaluation:
    """How good a model is on private rows, as far as the noise lets it be known.

    `confusion`: noisy rows by predicted class and class. `accuracy` and, of two classes, `auc` with their intervals.
    """

    classes: tuple[CategoryValue, ...]
    confusion: tuple[tuple[int, ...], ...]
    accuracy: float | None
    accuracy_interval: Pair
    auc: float | None
    auc_interval: Pair | None
    roc: tuple[tuple[float, float, float, float], ...]  # false alarms, hits, and the band of these
    calibration: tuple[tuple[float, float, float, float], ...]  # what was predicted, what was so, and its interval
    confidence: float
    cost: Any
    words: str
    receipt: int
    notes: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """What `sfumato evaluate --format json` prints."""
        return {
            "classes": list(self.classes),
            "confusion": [list(row) for row in self.confusion],
            "accuracy": self.accuracy,
            "accuracy_interval": list(self.accuracy_interval),
            "auc": self.auc,
            "auc_interval": None if self.auc_interval is None else list(self.auc_interval),
            "roc": [list(point) for point in self.roc],
            "calibration": [list(point) for point in self.calibration],
            "confidence": self.confidence,
            "cost": {"epsilon": self.cost.epsilon, "delta": self.cost.delta},
            "receipt": self.receipt,
            "notes": list(self.notes),
        }

    def plot(self) -> Any:
        """A Plotly figure of the ROC curve with its band; of several classes there is none."""
        return roc(self.roc, auc=self.auc)

    def __str__(self) -> str:
        lines = [_said("Accuracy", self.accuracy, self.accuracy_interval)]
        if self.auc_interval is not None:
            lines.append(_said("AUC", self.auc, self.auc_interval))
        lines.append("Rows by prediction, then class (noisy): ")
        for value, row in zip(self.classes, self.confusion, strict=True):
            told = ", ".join(f"{other}: {count:,}" for other, count in zip(self.classes, row, strict=True))
            lines.append(f"  predicted {value}: {told}")
        lines += [f"± at {100 * self.confidence:g} %, for the noise.", f"Cost {self.cost}. {self.words}", *self.notes]
        return visible_lines("\n".join(lines))

    def _repr_html_(self) -> str:
        return text_fragment(str(self))


def evaluated(
    model: Model,
    session: Session,
    *,
    spend: GivenNumber | Spend | None,
    confidence: float = 0.95,
    fresh: bool = False,
) -> Evaluation:
    """Measure a model on the rows that it was not fitted on, or on all if none were held out."""
    task = _task(model, session)
    price = session.price(spend)
    plans = tables_of(model.classifying, task, price.amount)
    with session.envelope(_purpose(model, task), spend=spend, fresh=fresh) as envelope:
        releases = envelope.ask_all(plans, round_=0)
    many, noises = len(model.classes), [Noise.of(plan, task) for plan in plans]
    confusion = cells_of(releases[0]).reshape(many, many)
    made = Simulator(int(envelope.seed, 16))
    right = estimate(accuracy, confusion, noises[0].scenes(made, "confusion", many * many), confidence)
    scored = None if many > 2 else cells_of(releases[1]).reshape(CELLS, 2)
    found = _Scored.of(scored, noises[-1].scenes(made, "score", 2 * CELLS), confidence) if scored is not None else NONE
    lost = confusion.sum() < SURE * noises[0].deviation * many
    notes = (*(() if model.parameters.get("holdout") else (ON_ALL,)), *found.notes)
    notes += ("Noise: the number of rows is lost in it. Spend more.",) if lost else ()
    return Evaluation(
        model.classes,
        tuple(tuple(int(count) for count in row) for row in confusion),
        None if lost else right[0],
        (0.0, 1.0) if lost else right[1],
        None if lost else found.auc,
        None if scored is None else (0.0, 1.0) if lost else found.interval,
        () if lost else found.roc,
        () if lost else found.calibration,
        confidence,
        envelope.cost,
        price_in_words(envelope.cost),
        envelope.receipt,
        notes,
    )


def explained_evaluation(model: Model, session: Session, *, spend: GivenNumber | Spend | None) -> Schedule:
    """What evaluating would measure, before anything is paid or looked at; or a refusal, if it would be refused."""
    task = _task(model, session)
    plans = tables_of(model.classifying, task, session.price(spend).amount)
    templates = [Template(what, plan) for what, plan in zip(MEASURED, plans, strict=False)]
    settings = {"model": model.learner, "rows": "those held out" if model.parameters.get("holdout") else "all"}
    return explained(session, task, "evaluation", spend, templates, settings, _purpose(model, task))


def _task(model: Model, session: Session) -> Task:
    """The same columns, classes and rows of a person, declared alike; and the units that were held out."""
    expected, holdout, rows = (model.parameters.get(name) for name in ("expected_rows", "holdout", "max_rows"))
    task = task_of(
        session.schema,
        session.price(1).currency,
        target=model.target,
        columns=[feature.name for feature in model.features],
        max_rows=rows if isinstance(rows, int) and isinstance(session.schema.unit, Person) else None,
        expected_rows=int(expected) if isinstance(expected, int) else None,
        holdout=None if holdout is None else Fraction(str(holdout)),
        held_out=True,
    )
    if task.classes != model.classes:
        raise classes_differ(model.target)
    for one, feature in zip(task.columns, model.features, strict=True):
        if one.feature != feature:
            raise features_differ(feature.name)
    return task


def tables_of(fitted: Classifying, task: Task, amount: Fraction) -> list[Plan]:
    """A quarter for the table of four numbers, the rest for that of 64; of several classes there is but one."""
    found = walked(fitted, task)
    source = Kept(found.source)
    if found.score is None:
        return [task.plan((), Histogram(crossed(found.predicted, task.class_key)), amount, source)]
    lines = {found.predicted: amount / 4, found.score: amount * 3 / 4}
    return [task.plan((), Histogram(crossed(line, task.class_key)), share, source) for line, share in lines.items()]


def _purpose(model: Model, task: Task) -> str:
    digest = hashlib.sha256(as_json(model).encode()).hexdigest()
    said = {"evaluate": model.learner, "version": VERSION, "model": digest, **task.says()}
    return json.dumps(said, sort_keys=True, separators=(",", ":"), ensure_ascii=True)


# ---- what noise makes of a number


Statistic = Callable[[Floats], Floats]


def estimate(statistic: Statistic, table: Counts, scenes: Floats, confidence: float) -> tuple[float, Pair]:
    """A number of a noisy table, and how far the noise may have moved it: as far as noise moves it once more."""
    (value,) = statistic(table.astype(np.float64)[None])
    moved = statistic(table.astype(np.float64)[None] + scenes.reshape(len(scenes), *table.shape)) - value
    low, high = np.quantile(moved, [(1 - confidence) / 2, (1 + confidence) / 2])
    ends = np.clip([value - high, value - low], 0, 1)
    return float(np.clip(value, 0, 1)), (float(ends[0]), float(ends[1]))


def _ratio(part: Floats, whole: Floats) -> Floats:
    return np.asarray(part / np.where(np.abs(whole) < 1, 1, whole))


def accuracy(tables: Floats) -> Floats:
    return _ratio(np.trace(tables, axis1=1, axis2=2), tables.sum(axis=(1, 2)))


def auc_of(tables: Floats) -> Floats:
    """How often a row of the second class has the higher step; equal steps count half."""
    no, yes = tables[:, :, 0], tables[:, :, 1]
    below = np.cumsum(no, axis=1) - no
    return _ratio((yes * (below + no / 2)).sum(axis=1), no.sum(axis=1) * yes.sum(axis=1))


@dataclass(frozen=True, slots=True)
class _Scored:
    """All that follows from rows by step of the score and class."""

    auc: float | None
    interval: Pair | None
    roc: tuple[tuple[float, float, float, float], ...]
    calibration: tuple[tuple[float, float, float, float], ...]
    notes: tuple[str, ...]

    @classmethod
    def of(cls, table: Counts, scenes: Floats, confidence: float) -> "_Scored":
        auc, interval = estimate(auc_of, table, scenes, confidence)
        points, steps = [(0.0, 0.0, 0.0, 0.0)], []
        counts = table.astype(np.float64)
        totals = np.maximum(counts.sum(axis=0), 1)
        for cut in range(CELLS - 1, -1, -1):
            hits, band = estimate(partial(_hits, cut=cut), table, scenes, confidence)
            points.append((float(np.clip(counts[cut:, 0].sum() / totals[0], 0, 1)), hits, *band))
        for step in range(CELLS):
            rows = counts[step].sum()
            if rows > SURE * 2**0.5 * scenes.std():
                share, ends = estimate(partial(_share, step=step), table, scenes, confidence)
                steps.append((_middle(step), share, *ends))
        tied = float(np.clip((counts[:, 0] * counts[:, 1]).sum() / (2 * totals[0] * totals[1]), 0, 1))
        note = (
            f"Scores are rounded to {CELLS} steps; equal ones count half. Unrounded, the AUC may differ by {tied:.2g}."
        )
        return cls(auc, interval, tuple(points), tuple(steps), (note,))


NONE = _Scored(None, None, (), (), ())


def _hits(tables: Floats, cut: int) -> Floats:
    return _ratio(tables[:, cut:, 1].sum(axis=1), tables[:, :, 1].sum(axis=1))


def _share(tables: Floats, step: int) -> Floats:
    return _ratio(tables[:, step, 1], tables[:, step].sum(axis=1))


def _middle(step: int) -> float:
    """The probability in the middle of a step."""
    odds = 8 * (step + 0.5) / CELLS - 4
    return float(1 / (1 + np.exp(-odds)))


def _said(what: str, value: float | None, interval: Sequence[float]) -> str:
    if value is None:
        return f"{what}: lost in the noise"
    return f"{what}: {value:.3f} ({interval[0]:.3f} to {interval[1]:.3f})"
