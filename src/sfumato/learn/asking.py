"""What all plans of a learner have in common: whose rows of which table count, and what they are paid in.

Everything here follows from declarations and parameters; no row is near.
"""

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import out_of_range, unknown_column
from sfumato.kernel.certify import Certified, certify
from sfumato.kernel.cost import Currency
from sfumato.kernel.gate import Release
from sfumato.kernel.mechanisms.additive import Additive
from sfumato.kernel.widths import deviation
from sfumato.learn.bins import Feature
from sfumato.learn.files.shapes import MOST_WEIGHT
from sfumato.learn.wordings import (
    column_twice,
    columns_not_list,
    learner_too_large,
    no_columns_to_learn,
    target_among_columns,
)
from sfumato.plan.caps import Caps
from sfumato.plan.expressions import LARGEST_GRID, Comparison, Condition, Cross, Key, LineOfCells, Number, UnitPart
from sfumato.plan.nodes import Aggregate, Measure, MechanismName, Plan
from sfumato.plan.sources import Kept, Source
from sfumato.query.capping import AskedCaps
from sfumato.schema.columns import CategoryValue, Declared
from sfumato.schema.numbers import GivenNumber, exact, whole
from sfumato.schema.table import MOST_EXPECTED, Schema
from sfumato.schema.unit import Person, Unit

Counts = NDArray[np.int64]

MOST_SUM = 1 << 53
PARTS, SALT = 1000, 20_170_517  # of units that may be held out


@dataclass(frozen=True, slots=True, eq=False)
class Asking(ABC):
    """A table, and what is to be learnt from it. Equal to itself alone.

    `target` is "" where nothing is to be predicted, and without declared values it has no `classes`.
    """

    schema: Schema
    currency: Currency
    target: str
    classes: tuple[CategoryValue, ...]
    unit: Unit  # whose rows count, and how many usually
    caps: Caps | None
    expected_rows: int | None
    where: Condition | None

    @property
    @abstractmethod
    def source(self) -> Kept:
        """Every row as small whole numbers. All plans are about these."""

    @property
    @abstractmethod
    def features(self) -> tuple[Feature, ...]:
        """The columns to learn from, as a model knows them."""

    @property
    def extents(self) -> dict[str, int | str]:
        """Of every column the number of its cells, or its bounds, as a schedule shows it."""
        return {one.name: one.cells.extent for one in self.features}

    def plan(self, keys: Sequence[Key], aggregate: Aggregate, share: Fraction, source: Source | None = None) -> Plan:
        mechanism: MechanismName = "laplace" if self.currency == "epsilon" else "gaussian"
        measure = Measure(aggregate, mechanism, share)
        rows = self.source if source is None else source
        return Plan(rows, self.unit, None, tuple(keys), (measure,), caps=self.caps)

    def unused(self, name: str) -> str:
        """A name that no column has."""
        known = {each.casefold() for each in self.schema.columns}
        while name in known:
            name += "_"
        return name

    def certified(self, plan: Plan) -> Certified:
        """What a plan costs and how noisy it is, or a refusal. What is drawn is certified anew, by the envelope."""
        return _certified(plan, self)

    def deviation(self, plan: Plan) -> float:
        """The standard deviation of the noise on each number of a plan that adds noise."""
        mechanism = self.certified(plan).releases[0].mechanism
        if not isinstance(mechanism, Additive):
            raise TypeError("a choice has no standard deviation")
        return deviation(mechanism.law)

    def says(self) -> dict[str, Any]:
        """What a purpose says of it: all that decides on plans, cells as a digest."""
        cells = json.dumps([_plain(one) for one in self.features], separators=(",", ":"))
        return {
            "target": self.target,
            "classes": list(self.classes),
            "columns": [one.name for one in self.features],
            "cells": hashlib.sha256(cells.encode()).hexdigest(),
            **({"usual": [self.unit.max_rows, self.unit.max_groups]} if isinstance(self.unit, Person) else {}),
            **({"caps": [self.caps.rows, self.caps.groups, self.caps.rows_per_group]} if self.caps else {}),
        }


@lru_cache(maxsize=16)  # plans of a schedule are asked for whether they fit, and what their noise is
def _certified(plan: Plan, task: Asking) -> Certified:
    return certify(plan, task.schema, task.currency)


def _plain(feature: Feature) -> list[Any]:
    return [feature.name, *(getattr(feature.cells, part) for part in feature.cells.__slots__)]


# ---- what tasks are made of


def rows_of(
    schema: Schema, max_rows: int | None, holdout: GivenNumber | None, *, held_out: bool = False
) -> tuple[Unit, Caps | None, Condition | None]:
    """Whose rows count, how many, and which: of a hold-out the units that are kept, or those `held_out`."""
    unit, caps = AskedCaps(max_rows=max_rows).of(schema.table, schema)
    return unit, caps, None if holdout is None else held(share_of(holdout), out=held_out)


def expected(rows: int | None) -> int | None:
    return None if rows is None else whole(rows, "expected_rows", least=1, most=MOST_EXPECTED)


def share_of(holdout: GivenNumber) -> Fraction:
    """The share of units that is held out, in thousandths."""
    share = exact(holdout, "holdout")
    if not (0 < share < 1 and (share * PARTS).denominator == 1):
        raise out_of_range("holdout", f"1/{PARTS}", f"1 - 1/{PARTS}", "that")
    return share


def held(share: Fraction, *, out: bool) -> Condition:
    """Whether a unit is held out, or is not: by its id and a public salt, so that no unit is on both sides."""
    return Comparison("<" if out else ">=", UnitPart(SALT, PARTS), Number(share * PARTS))


def chosen(columns: object, target: str, schema: Schema, usual: Callable[[Declared], bool]) -> list[str]:
    """The columns that were named; else all that are `usual` and not the target."""
    if columns is None:
        found = [name for name, declared in schema.columns.items() if name != target and usual(declared)]
        if not found:
            raise no_columns_to_learn(target)
        return found
    if isinstance(columns, str) or not isinstance(columns, Sequence | Mapping):
        raise columns_not_list()
    found = [str(name) for name in columns if not (isinstance(columns, Mapping) and name == target)]
    for place, name in enumerate(found):
        if target and name == target:
            raise target_among_columns(target)
        if name in found[:place]:
            raise column_twice(name)
        if name not in schema.columns:
            raise unknown_column(name, schema.visible)
    if not found:
        raise no_columns_to_learn(target)
    return found


def crossed(*lines: LineOfCells) -> Cross:
    """The cells of several lines together, or a refusal where they are more than a plan may have."""
    many = prod(line.size for line in lines)
    if many > LARGEST_GRID:
        raise learner_too_large(f"{many:,} cells in one table, of which there may be {LARGEST_GRID:,}")
    return Cross(lines)


def cells_of(release: Release) -> Counts:
    """The noisy numbers of rows in cells, of a release with one group and one measure.

    Noise may be of any size. What no file holds counts as the most that one does, so that sums of cells fit 64 bits.
    """
    return _within(release, MOST_WEIGHT)


def sums_of(release: Release) -> Counts:
    """Noisy sums in cells, or one sum, likewise; what doubles do not hold counts as the most that they do."""
    return _within(release, MOST_SUM)


def _within(release: Release, most: int) -> Counts:
    told = np.atleast_1d(np.array(release.values[0][0], dtype=object))
    return np.asarray(np.clip(told, -most, most).astype(np.int64))


def held_in_file(number: float) -> int:
    """A noisy number, or the size of noise, as a whole number that files hold."""
    return round(max(-MOST_WEIGHT, min(MOST_WEIGHT, number)))
