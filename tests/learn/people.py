"""A made-up table with every kind of column a learner takes, and sessions on it."""

from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import sfumato as sf
from sfumato.simulate import Simulator

CITIES = ["Vinci", "Urbino", "Siena", "Pisa", "Lucca"]
COLUMNS: dict[str, Any] = {
    "age": sf.Int(17, 90),
    "kids": sf.Int(0, 5),
    "wealth": sf.Float(0, 100_000),
    "mood": sf.Float(-1, 1),
    "debt": sf.Int(0, 5000),
    "city": sf.Category(CITIES),
    "grade": sf.Category([1, 2, 3]),
    "member": sf.Category([True, False]),
    "since": sf.Date("2000-01-01", "2024-12-31"),
    "y": sf.Category(["no", "yes"]),
}
FEATURES = [name for name in COLUMNS if name != "y"]
LEARNERS = (sf.learn.NaiveBayes, sf.learn.Additive, sf.learn.Tree, sf.learn.Forest)  # that tell classes apart
NUMBERS = ["age", "mood", "wealth", "since"]


class AdditiveOfNumber(sf.learn.Additive):
    """Of a number, unless another target is named."""


class TreeOfNumber(sf.learn.Tree):
    """Likewise."""


class AdditiveOfSeveral(sf.learn.Additive):
    """Of three classes, unless another target is named."""


class BayesOfSeveral(sf.learn.NaiveBayes):
    """Likewise."""


class TreeOfSeveral(sf.learn.Tree):
    """Likewise."""


OF_SEVERAL = (AdditiveOfSeveral, BayesOfSeveral, TreeOfSeveral)
# That have no classes.
OF_NUMBERS = (
    AdditiveOfNumber, TreeOfNumber, sf.learn.Linear, sf.learn.Correlation, sf.learn.Components, sf.learn.Clusters,
)  # fmt: skip

TARGETS = {AdditiveOfNumber: "mood", TreeOfNumber: "mood", **dict.fromkeys(OF_SEVERAL, "grade")}


def people(count: int, seed: int = 7, *, holes: bool = True) -> pa.Table:
    """Who is older, richer and from Siena says yes more often; a few cells are missing, beyond bounds or not listed."""
    stream = Simulator(seed).stream("people")
    age = stream.integers(17, 90, count)
    kids, grade = stream.integers(0, 5, count), stream.integers(1, 3, count)
    wealth = np.exp(8 + 1.5 * stream.normal(count))
    mood, debt = 0.4 * stream.normal(count), stream.integers(0, 5000, count) * stream.integers(0, 1, count)
    city, member = stream.integers(0, len(CITIES) - 1, count), stream.integers(0, 1, count)
    since = stream.integers(0, 9000, count)
    score = 0.05 * (age - 50) + 0.8 * (city == 2) + 0.4 * np.log(wealth / 3000) - 0.3 * (grade == 2) + 0.5 * member
    yes = stream.uniform(count) < 1 / (1 + np.exp(-score))
    table: dict[str, list[Any]] = {
        "id": [row // 2 for row in range(count)],
        "age": age.tolist(),
        "kids": kids.tolist(),
        "wealth": wealth.tolist(),
        "mood": mood.tolist(),
        "debt": debt.tolist(),
        "city": [CITIES[place] for place in city],
        "grade": grade.tolist(),
        "member": [bool(one) for one in member],
        "since": [date(2000, 1, 1) + timedelta(days=int(day)) for day in since],
        "y": ["yes" if one else "no" for one in yes],
    }
    if holes:
        for place, name in enumerate(FEATURES):
            for row in range(3 + place, count, 23):
                table[name][row] = None
        for row, wrong in ((1, "Roma"), (9, "siena")):
            if row < count:
                table["city"][row] = wrong
        for row in range(5, count, 97):
            table["age"][row], table["wealth"][row], table["mood"][row] = 140, -3.0, float("nan")
            table["y"][row] = None
    return pa.table(table)


def opened(folder: Path, table: Any = None, *, unit: Any = None, epsilon: Any = 10, delta: Any = 0, **more: Any) -> Any:
    """A session on it; a person has two rows."""
    return sf.protect(
        people(600) if table is None else table,
        **{
            "table": "people",
            "unit": sf.Row() if unit is None else unit,
            "columns": COLUMNS,
            "budget": sf.Budget(epsilon, delta),
            "ledger": folder / "people.ledger",
            **more,
        },
    )


def learner(kind: Any, spend: Any = 1, **more: Any) -> Any:
    """One of each kind, small enough for a small table."""
    given: dict[str, Any] = {"spend": spend}
    if kind.supervised:
        given |= {"target": TARGETS.get(kind, "y")}
    if kind in (sf.learn.Correlation, sf.learn.Components):
        given |= {"columns": NUMBERS}
    if issubclass(kind, sf.learn.Linear):
        given |= {"target": "age", "columns": ["mood", "wealth", "since", "city", "member"]}
    if kind is sf.learn.Clusters:
        given |= {"k": 3}
    if kind is sf.learn.Synthetic:
        given |= {"columns": ["age", "kids", "city", "member", "y"]}
    if issubclass(kind, sf.learn.Tree):
        given |= {"depth": 3}
    if kind is sf.learn.Forest:
        given |= {"depth": 2, "trees": 3, "expected_rows": 10**6}
    return kind(**(given | more))
