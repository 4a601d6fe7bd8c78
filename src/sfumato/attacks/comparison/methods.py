"""What each method publishes, and how its publication answers a question."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.anonymise import (
    additive_noise,
    microaggregation,
    mondrian,
    multiplicative_noise,
    risk,
    rotation,
    swapping,
)
from sfumato.attacks.comparison.setting import Floats, Question, Setting
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
Strings = NDArray[np.str_]


@dataclass(frozen=True, slots=True)
class Publication:
    """What leaves the house. `kind` says how it can be read; `rows` are in the order of the original.

    rows: a number a record and column, quasi-identifiers then the value; None where no records are published.
    risk: the marketer's, by the usual measure. low, high: the interval of each quasi-identifier, where they were
    generalised. counts: of a grid, with its edges. guesses: of a model that answers no counts.
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
    guesses: Strings | None = None


def publications(setting: Setting, epsilons: tuple[float, ...]) -> list[Publication]:
    """Every method on the same table."""
    table, quasi, seed = (
        setting.table.select([*setting.quasi, setting.value, setting.sensitive]),
        setting.quasi,
        setting.seed,
    )
    numbers = [*quasi, setting.value]
    added = additive_noise(table, numbers, scale=NOISE, seed=seed)
    factors = multiplicative_noise(table, numbers, scale=FACTOR, seed=seed)
    means = microaggregation(table, quasi, k=setting.k)
    swapped = swapping(table, quasi, share=SWAPPED, seed=seed)
    return [
        _records("names removed", "records", "none", table, setting),
        _generalised(setting),
        _records("micro-aggregation", "records", f"k = {means.k}", means.to_arrow(), setting),
        _records("swapping", "records", f"{SWAPPED:.0%} of the rows", swapped.to_arrow(), setting),
        _records("additive noise", "noisy", f"{NOISE:g} standard deviations", added.to_arrow(), setting),
        _records("multiplicative noise", "factors", f"{FACTOR:.0%} of the value", factors.to_arrow(), setting),
        _records("rotation", "rotated", "a secret rotation", rotation(table, numbers, seed=seed).to_arrow(), setting),
        *(_private(setting, epsilon) for epsilon in epsilons),
        *(_model(setting, epsilon) for epsilon in epsilons),
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
    secrets = tuple(sorted(set(setting.secrets.tolist())))
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
    columns: dict[str, Declared] = {TARGET: Category(sorted(set(setting.secrets.tolist())))}
    data: dict[str, Any] = {TARGET: setting.secrets.tolist()}
    for at, column in enumerate(setting.known.T):
        columns[f"known{at}"] = Float(float(np.floor(column.min())), float(np.ceil(column.max()) + 1))
        data[f"known{at}"] = column
    table = pa.table(data)
    with session_on(table, columns, epsilon) as session:
        model = Tree(TARGET, spend=exact_positive(epsilon, "epsilon"), expected_rows=table.num_rows).fit(session)
    guesses = np.asarray(model.predict(table), dtype=np.str_)
    return Publication("a private model", "model", f"epsilon = {epsilon:g}", None, epsilon=epsilon, guesses=guesses)


def _edges(setting: Setting, side: int) -> tuple[Floats, ...]:
    """The ends of the cells; whole numbers are never split."""
    found = []
    for column, unit in list(zip(setting.known.T, setting.unit, strict=True))[:GRID_COLUMNS]:
        low, high = np.floor(column.min()), np.ceil(column.max()) + 1
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
