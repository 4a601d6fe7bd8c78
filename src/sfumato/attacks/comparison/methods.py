"""What each method publishes, and how its publication answers a question."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.anonymise import (
    AnonymisedTable,
    additive_noise,
    microaggregation,
    mondrian,
    multiplicative_noise,
    risk,
    rotation,
    swapping,
)
from sfumato.attacks.comparison.setting import Floats, Question, Setting, Strings
from sfumato.attacks.cover import bounds_of
from sfumato.attacks.matrices import matrix
from sfumato.attacks.staging import session_on
from sfumato.learn import Tree
from sfumato.schema.columns import Category, Declared, Float
from sfumato.schema.numbers import exact_positive
from sfumato.session import Session

# Standard deviations of a column, or of a logarithm.
NOISE, FACTOR = 0.5, 0.15
SWAPPED = 0.3
# Grids: at most two columns, and cells a side by the rule of Qardaji, Yang and Li (2013) for n people.
GRID_COLUMNS, FEWEST, MOST, CONSTANT = 2, 4, 24, 10
# The part of the budget that goes to the questions; the rest pays for the secrets, in a coarse grid.
FOR_QUESTIONS = Fraction(7, 10)
TARGET = "secret"

Answer = Callable[[Question], float]


@dataclass(frozen=True, slots=True)
class Publication:
    """What leaves the house. `kind` says how it can be read; `rows` are in the order of the original.

    rows: a number a record and column, quasi-identifiers then the value; None where no records are published.
    risk: the marketer's, by the usual measure. low, high: the interval of each quasi-identifier, where they were
    generalised. counts: of a grid, with its edges. guess: what a model that answers no counts says of each person.
    """

    method: str
    kind: str
    level: str
    answer: Answer | None
    risk: float | None = None
    rows: Floats | None = None
    low: Floats | None = None
    high: Floats | None = None
    epsilon: float | None = None
    counts: Floats | None = None
    edges: tuple[Floats, ...] = ()
    secrets: tuple[str, ...] = ()
    guess: Callable[[Floats], Strings] | None = None


def publications(setting: Setting, epsilons: tuple[float, ...]) -> list[Callable[[], Publication]]:
    """Every method on the same table, each to be published when its turn comes."""
    table = setting.table.select([*setting.quasi, setting.value, setting.sensitive])
    numbers, seed = [*setting.quasi, setting.value], setting.seed

    def perturbed(method: str, kind: str, level: str, release: AnonymisedTable) -> Publication:
        return _records(method, kind, level, release.to_arrow(), setting)

    def averaged() -> Publication:
        means = microaggregation(table, setting.quasi, k=setting.k)
        return perturbed("micro-aggregation", "records", f"k = {means.k}", means)

    return [
        lambda: _records("names removed", "records", "none", table, setting),
        lambda: _generalised(setting),
        averaged,
        lambda: perturbed(
            "swapping",
            "records",
            f"{SWAPPED:.0%} of the rows",
            swapping(table, setting.quasi, share=SWAPPED, seed=seed),
        ),
        lambda: perturbed(
            "additive noise",
            "noisy",
            f"{NOISE:g} standard deviations",
            additive_noise(table, numbers, scale=NOISE, seed=seed),
        ),
        lambda: perturbed(
            "multiplicative noise",
            "factors",
            f"{FACTOR:.0%} of the value",
            multiplicative_noise(table, numbers, scale=FACTOR, seed=seed),
        ),
        lambda: perturbed("rotation", "rotated", "a secret rotation", rotation(table, numbers, seed=seed)),
        *(partial(_private, setting, epsilon) for epsilon in epsilons),
        *(partial(_model, setting, epsilon) for epsilon in epsilons),
    ]


def _records(method: str, kind: str, level: str, table: pa.Table, setting: Setting) -> Publication:
    rows, known = matrix(table, [*setting.quasi, setting.value], "released"), len(setting.quasi)
    exposed = risk(table, setting.quasi).marketer
    return Publication(method, kind, level, lambda question: question.count(rows[:, :known]), rows=rows, risk=exposed)


def _generalised(setting: Setting) -> Publication:
    released = mondrian(setting.table.select(setting.quasi), setting.quasi, k=setting.k)
    ends = [bounds_of([str(text) for text in released.to_arrow()[name].to_pylist()]) for name in setting.quasi]
    low, high = (np.stack([end[side] for end in ends], axis=1) for side in (0, 1))
    return Publication(
        "k-anonymity",
        "classes",
        f"k = {released.k}",
        lambda question: float(question.widened(setting.unit).spread(low, high + setting.unit).sum()),
        risk=risk(released.to_arrow(), setting.quasi).marketer,
        low=low,
        high=high,
    )


def _private(setting: Setting, epsilon: float) -> Publication:
    """Two histograms through one session: a fine one answers every question, a coarse one has the secrets.

    The number of people and the ranges of columns are public, as a policy declares them.
    """
    price = exact_positive(epsilon, "epsilon")
    for_questions = FOR_QUESTIONS * price
    side = int(np.clip(np.sqrt(setting.table.num_rows * float(for_questions) / CONSTANT), FEWEST, MOST))
    fine, coarse = _edges(setting, side), _edges(setting, FEWEST)
    secrets = setting.possible
    columns: dict[str, Declared] = {"secret": Category(list(secrets))}
    data: dict[str, Any] = {"secret": setting.secrets.tolist()}
    for name, edges in (("fine", fine), ("coarse", coarse)):
        for at, edge in enumerate(edges):
            columns[f"{name}{at}"] = Category(list(range(len(edge) - 1)))
            data[f"{name}{at}"] = np.searchsorted(edge, setting.known[:, at], side="right") - 1
    with session_on(pa.table(data), columns, epsilon) as session:
        totals = _histogram(session, [f"fine{at}" for at in range(len(fine))], columns, for_questions)
        keys = [*(f"coarse{at}" for at in range(len(coarse))), "secret"]
        counts = _histogram(session, keys, columns, price - for_questions)
    low, high = _cells(fine)

    def count(question: Question) -> float:
        box = question.widened(setting.unit)
        return float(Question(box.low[: len(fine)], box.high[: len(fine)]).spread(low, high) @ totals.reshape(-1))

    return Publication(
        "differential privacy",
        "counts",
        f"epsilon = {epsilon:g}",
        count,
        epsilon=epsilon,
        counts=counts,
        edges=coarse,
        secrets=secrets,
    )


def _model(setting: Setting, epsilon: float) -> Publication:
    """A tree that tells the secret from what the register knows: published, and asked about everybody."""
    columns: dict[str, Declared] = {TARGET: Category(list(setting.possible))}
    data: dict[str, Any] = {TARGET: setting.secrets.tolist()}
    for at, column in enumerate(setting.known.T):
        low, high = float(np.floor(setting.low[at])), float(np.ceil(setting.high[at]) + 1)
        columns[f"known{at}"] = Float(low, high)
        data[f"known{at}"] = column
    table = pa.table(data)
    with session_on(table, columns, epsilon) as session:
        model = Tree(TARGET, spend=exact_positive(epsilon, "epsilon"), expected_rows=table.num_rows).fit(session)

    def guess(known: Floats) -> Strings:
        asked = pa.table({f"known{at}": column for at, column in enumerate(known.T)})
        return np.asarray(model.predict(asked), dtype=np.str_)

    return Publication("a private model", "model", f"epsilon = {epsilon:g}", None, epsilon=epsilon, guess=guess)


def _edges(setting: Setting, side: int) -> tuple[Floats, ...]:
    """The ends of the cells; whole numbers are never split."""
    found = []
    for least, most, unit in list(zip(setting.low, setting.high, setting.unit, strict=True))[:GRID_COLUMNS]:
        low, high = np.floor(least), np.ceil(most) + 1
        found.append(np.unique(np.rint(np.linspace(low, high, side + 1))) if unit else np.linspace(low, high, side + 1))
    return tuple(found)


def _histogram(session: Session, keys: list[str], columns: dict[str, Declared], spend: Fraction) -> Floats:
    values = [list(column.values) for column in (columns[key] for key in keys) if isinstance(column, Category)]
    names = ", ".join(keys)
    sql = f"SELECT {names}, COUNT(*) AS n FROM data GROUP BY {names}"  # noqa: S608
    counts = np.zeros([len(each) for each in values])
    for row in session.ask(sql, spend=spend).rows:
        counts[tuple(each.index(row[key]) for each, key in zip(values, keys, strict=True))] = row["n"]
    return counts


def _cells(edges: tuple[Floats, ...]) -> tuple[Floats, Floats]:
    """The lower and the upper corner of every cell, in the order of a flat histogram."""
    lows = np.meshgrid(*(edge[:-1] for edge in edges), indexing="ij")
    highs = np.meshgrid(*(edge[1:] for edge in edges), indexing="ij")
    return np.stack([low.reshape(-1) for low in lows], axis=1), np.stack([high.reshape(-1) for high in highs], axis=1)
