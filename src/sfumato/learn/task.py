"""What is to be learnt: the columns, classes and caps of a session's table, as the plans of a learner need them.

Everything here follows from declarations and parameters; no row is near.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import identifier_used, out_of_range, unknown_column
from sfumato.kernel.certify import certify
from sfumato.kernel.cost import Currency
from sfumato.kernel.gate import Release
from sfumato.kernel.mechanisms.additive import Additive
from sfumato.kernel.widths import deviation
from sfumato.learn.bins import MOST_SINGLE, Binned, binned
from sfumato.learn.wordings import (
    column_twice,
    columns_not_list,
    no_columns_to_learn,
    one_class,
    target_among_columns,
    target_missing,
    target_unusable,
)
from sfumato.plan.caps import Caps
from sfumato.plan.expressions import (
    Column,
    Comparison,
    Condition,
    Cross,
    Key,
    ListedKey,
    Number,
    Pick,
    RangeKey,
    UnitPart,
)
from sfumato.plan.nodes import Aggregate, Histogram, Measure, MechanismName, Plan
from sfumato.plan.sources import Computed, Kept, Rows, Source
from sfumato.query.capping import AskedCaps
from sfumato.schema.columns import Category, CategoryValue, Identifier, Int, Text
from sfumato.schema.numbers import GivenNumber, exact, whole
from sfumato.schema.table import Schema
from sfumato.schema.unit import Unit

Counts = NDArray[np.int64]

PARTS, SALT = 1000, 20_170_517  # of units that may be held out


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """Columns to learn from, and the classes to tell apart. Equal to itself alone."""

    schema: Schema
    currency: Currency
    target: str
    classes: tuple[CategoryValue, ...]
    columns: tuple[Binned, ...]
    unit: Unit  # whose rows count, and how many usually
    caps: Caps | None
    expected_rows: int | None
    where: Condition | None = None
    renumbered: Kept | None = None  # rows whose cells have other numbers by now

    @property
    def source(self) -> Kept:
        """Every row as small whole numbers: the cells of its columns, and its class. All plans are about these."""
        return self.renumbered or Kept(Rows(self.schema.table, self.where, self.coded))

    @property
    def coded(self) -> tuple[Computed, ...]:
        cells = [Computed(one.feature.name, one.code, Int(0, one.size - 1)) for one in self.columns]
        numbered = Pick(self._declared_classes, tuple(range(len(self.classes))))
        return (*cells, Computed(self.target, numbered, Int(0, len(self.classes) - 1)))

    @property
    def class_key(self) -> RangeKey:
        return RangeKey(Column(self.target), 0, len(self.classes) - 1)

    def cell_key(self, place: int) -> RangeKey:
        return RangeKey(Column(self.columns[place].feature.name), 0, self.columns[place].size - 1)

    def plan(self, keys: Sequence[Key], aggregate: Aggregate, share: Fraction, source: Source | None = None) -> Plan:
        mechanism: MechanismName = "laplace" if self.currency == "epsilon" else "gaussian"
        measure = Measure(aggregate, mechanism, share)
        rows = self.source if source is None else source
        return Plan(rows, self.unit, None, tuple(keys), (measure,), caps=self.caps)

    def ranked(self, orders: Mapping[int, tuple[int, ...]]) -> "Task":
        """The same task, with the cells of some columns of listed values numbered by their place in an order."""
        columns, made = list(self.columns), [Computed(one.name, Column(one.name), one.declared) for one in self.coded]
        for place, order in orders.items():
            code = columns[place].code
            if not isinstance(code, Pick):
                raise TypeError("listed values are picked")
            *ranks, missing = (order.index(cell) for cell in range(columns[place].size))
            columns[place] = replace(columns[place], code=Pick(code.cells, tuple(ranks), missing))
            made[place] = replace(made[place], value=Pick(self.cell_key(place), (*ranks, missing)))
        return replace(self, columns=tuple(columns), renumbered=Kept(Rows(self.source, None, tuple(made))))

    def unused(self, name: str) -> str:
        """A name that no column has."""
        known = {each.casefold() for each in self.schema.columns}
        while name in known:
            name += "_"
        return name

    @property
    def _declared_classes(self) -> Key:
        """Rows of no declared class are in none."""
        if isinstance(self.schema.columns[self.target], Category):
            return ListedKey(Column(self.target), self.classes)
        return RangeKey(Column(self.target), int(self.classes[0]), int(self.classes[-1]))

    def class_table(self, place: int, share: Fraction) -> Plan:
        """How many rows of each class are in each cell of a column. Cells and no groups: a person may be in several."""
        return self.plan((), Histogram(Cross((self.cell_key(place), self.class_key))), share)

    def deviation(self, plan: Plan) -> float:
        """The standard deviation of the noise on each number of a plan that adds noise."""
        mechanism = certify(plan, self.schema, self.currency).releases[0].mechanism
        if not isinstance(mechanism, Additive):
            raise TypeError("a choice has no standard deviation")
        return deviation(mechanism.law)

    def says(self) -> dict[str, Any]:
        """What a purpose says of it: all that decides on plans, bins as a digest."""
        cells = json.dumps([_plain(one) for one in self.columns], separators=(",", ":"))
        return {
            "target": self.target,
            "classes": list(self.classes),
            "columns": [one.feature.name for one in self.columns],
            "cells": hashlib.sha256(cells.encode()).hexdigest(),
            **({"caps": [self.caps.rows, self.caps.groups, self.caps.rows_per_group]} if self.caps else {}),
        }


def task_of(
    schema: Schema,
    currency: Currency,
    *,
    target: object,
    columns: object = None,
    max_rows: int | None = None,
    expected_rows: int | None = None,
    holdout: GivenNumber | None = None,
    held_out: bool = False,
) -> Task:
    """The task, or a refusal before anything is paid. Of a hold-out the units that are kept, or those `held_out`."""
    if target is None:
        raise target_missing()
    name = str(target)
    classes = _classes(name, schema)
    chosen = _chosen(columns, name, schema)
    if expected_rows is not None:
        expected_rows = whole(expected_rows, "expected_rows", least=1)
    bins = tuple(binned(one, schema.columns[one], expected_rows) for one in chosen)
    unit, caps = AskedCaps(max_rows=max_rows).of(schema.table, schema)
    where = None if holdout is None else held(share_of(holdout), out=held_out)
    return Task(schema, currency, name, classes, bins, unit, caps, expected_rows, where)


def share_of(holdout: GivenNumber) -> Fraction:
    """The share of units that is held out, in thousandths."""
    share = exact(holdout, "holdout")
    if not (0 < share < 1 and (share * PARTS).denominator == 1):
        raise out_of_range("holdout", f"1/{PARTS}", f"1 - 1/{PARTS}", "that")
    return share


def held(share: Fraction, *, out: bool) -> Condition:
    """Whether a unit is held out, or is not: by its id and a public salt, so that no unit is on both sides."""
    return Comparison("<" if out else ">=", UnitPart(SALT, PARTS), Number(share * PARTS))


def cells_of(release: Release) -> Counts:
    """The noisy integers of cells, of a release with one group and one measure."""
    return np.array(release.values[0][0], dtype=np.int64)


def _classes(name: str, schema: Schema) -> tuple[CategoryValue, ...]:
    if name not in schema.columns:
        raise unknown_column(name, schema.visible)
    match schema.columns[name]:
        case Category(values=values):
            found: tuple[CategoryValue, ...] = values
        case Int(lower=Fraction() as lower, upper=Fraction() as upper) if upper - lower < MOST_SINGLE:
            found = tuple(range(int(lower), int(upper) + 1))
        case Identifier():
            raise identifier_used(name)
        case _:
            raise target_unusable(name)
    if len(found) < 2:
        raise one_class(name)
    return found


def _chosen(columns: object, target: str, schema: Schema) -> list[str]:
    """The columns that were named; else all but texts, identifiers and the target."""
    if columns is None:
        chosen = [
            name
            for name, declared in schema.columns.items()
            if name != target and not isinstance(declared, Text | Identifier)
        ]
        if not chosen:
            raise no_columns_to_learn(target)
        return chosen
    if isinstance(columns, str) or not isinstance(columns, Sequence | Mapping):
        raise columns_not_list()
    chosen = [str(name) for name in columns if not (isinstance(columns, Mapping) and name == target)]
    for place, name in enumerate(chosen):
        if name == target:
            raise target_among_columns(target)
        if name in chosen[:place]:
            raise column_twice(name)
        if name not in schema.columns:
            raise unknown_column(name, schema.visible)
    if not chosen:
        raise no_columns_to_learn(target)
    return chosen


def _plain(column: Binned) -> list[Any]:
    cells = column.feature.cells
    return [column.feature.name, *(getattr(cells, part) for part in cells.__slots__)]
