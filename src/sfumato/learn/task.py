"""What is to be learnt in cells: the public bins and classes of a session's table, as the plans of a learner need them.

Everything here follows from declarations and parameters; no row is near.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from sfumato.errors import identifier_used, unknown_column
from sfumato.kernel.cost import Currency
from sfumato.learn.asking import Asking, chosen, expected, rows_of
from sfumato.learn.asking import Counts as Counts
from sfumato.learn.asking import cells_of as cells_of
from sfumato.learn.asking import crossed as crossed
from sfumato.learn.asking import share_of as share_of
from sfumato.learn.asking import sums_of as sums_of
from sfumato.learn.bins import MOST_SINGLE, Binned, Feature, binned
from sfumato.learn.wordings import one_class, target_missing, target_unusable, too_many_values
from sfumato.plan.expressions import MOST_PICKED, Column, Key, ListedKey, Pick, RangeKey
from sfumato.plan.nodes import Histogram, Plan
from sfumato.plan.sources import Computed, Kept, Rows
from sfumato.schema.columns import Category, CategoryValue, Declared, Identifier, Int, Text
from sfumato.schema.numbers import GivenNumber
from sfumato.schema.table import Schema


@dataclass(frozen=True, slots=True, eq=False)
class Task(Asking):
    """Columns in cells, and the classes to tell apart, or none. Equal to itself alone."""

    columns: tuple[Binned, ...]
    renumbered: Kept | None = None  # rows whose cells have other numbers by now

    @property
    def source(self) -> Kept:
        """Every row as small whole numbers: the cells of its columns, and its class. All plans are about these."""
        return self.renumbered or Kept(Rows(self.schema.table, self.where, self.coded))

    @property
    def features(self) -> tuple[Feature, ...]:
        return tuple(one.feature for one in self.columns)

    @property
    def coded(self) -> tuple[Computed, ...]:
        cells = tuple(Computed(one.feature.name, one.code, Int(0, one.size - 1)) for one in self.columns)
        if not self.classes:
            return cells
        numbered = Pick(self._declared_classes, tuple(range(len(self.classes))))
        return (*cells, Computed(self.target, numbered, Int(0, len(self.classes) - 1)))

    @property
    def class_key(self) -> RangeKey:
        """Needs: classes."""
        return RangeKey(Column(self.target), 0, len(self.classes) - 1)

    def cell_key(self, place: int) -> RangeKey:
        return RangeKey(Column(self.columns[place].feature.name), 0, self.columns[place].size - 1)

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

    @property
    def _declared_classes(self) -> Key:
        """Rows of no declared class are in none."""
        if isinstance(self.schema.columns[self.target], Category):
            return ListedKey(Column(self.target), self.classes)
        return RangeKey(Column(self.target), int(self.classes[0]), int(self.classes[-1]))

    def class_table(self, place: int, share: Fraction) -> Plan:
        """How many rows of each class are in each cell of a column. Cells and no groups: a person may be in several."""
        return self.plan((), Histogram(crossed(self.cell_key(place), self.class_key)), share)


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
    """The task, or a refusal before anything is paid. Of a hold-out the units that are kept, or those `held_out`.

    With the target "" there is none, and no classes: all columns are learnt from.
    """
    if target is None:
        raise target_missing()
    name = str(target)
    classes = _classes(name, schema) if name else ()
    named = chosen(columns, name, schema, has_cells)
    rows = expected(expected_rows)
    bins = tuple(binned(one, schema.columns[one], rows) for one in named)
    unit, caps, where = rows_of(schema, max_rows, holdout, held_out=held_out)
    return Task(schema, currency, name, classes, unit, caps, rows, where, bins)


def has_cells(declared: Declared) -> bool:
    return not isinstance(declared, Text | Identifier)


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
    if len(found) > MOST_PICKED:
        raise too_many_values(name, len(found), MOST_PICKED)
    return found
