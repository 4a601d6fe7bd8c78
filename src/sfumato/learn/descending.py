"""Rows on their way down a tree: the number of each row's node one level further, as an expression of a plan.

Few picks, however many nodes there are: engines plan every number that they are told.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate

from sfumato.learn.bins import Listed
from sfumato.learn.questions import Asked
from sfumato.learn.task import Task
from sfumato.plan.expressions import (
    AnyOf,
    Arithmetic,
    Case,
    Column,
    Comparison,
    Condition,
    Expression,
    Number,
    Pick,
    RangeKey,
)
from sfumato.plan.sources import Computed, Rows, Source
from sfumato.schema.columns import Int

MANY = 16  # nodes from which on it is cheaper to look first which column a node asks about
NONE = -1  # what no cell is


@dataclass(frozen=True, slots=True)
class Front:
    """The nodes of one tree at one level: the column that numbers them, and what each asks; a leaf asks nothing.

    The children of the nodes are numbered one after the other; a leaf goes on as one node.
    """

    name: str
    asked: tuple[Asked | None, ...]
    numbered: bool  # else it is the root alone, and there is no column yet

    @property
    def node(self) -> RangeKey | None:
        return RangeKey(Column(self.name), 0, len(self.asked) - 1) if self.numbered else None

    @property
    def first(self) -> tuple[int, ...]:
        """Where the children of each node begin."""
        return tuple(accumulate((1 if one is None else 2 for one in self.asked[:-1]), initial=0))

    @property
    def size_below(self) -> int:
        return sum(1 if one is None else 2 for one in self.asked)

    def by_node(self, numbers: Sequence[int]) -> Expression:
        return Number(Fraction(numbers[0])) if self.node is None else Pick(self.node, tuple(numbers))

    def below(self, side: Expression) -> Expression:
        """The number of the child to a side, 0 or 1."""
        if self.node is None:
            return side
        if None not in self.asked:
            return Arithmetic("+", Arithmetic("*", Column(self.name), Number(Fraction(2))), side)
        return Arithmetic("+", Pick(self.node, self.first), side)


def passed(task: Task) -> list[Computed]:
    """The columns of a task as they are, the class last."""
    sizes = [(one.feature.name, one.size) for one in task.columns] + [(task.target, len(task.classes))]
    return [Computed(name, Column(name), whole(size)) for name, size in sizes]


def whole(many: int) -> Int:
    """Whole numbers from 0 on, so many of them; two at least, as a declaration has it."""
    return Int(0, max(1, many - 1))


def below(source: Source, fronts: Sequence[Front], task: Task) -> Rows:
    """The same rows with their nodes one level down, in every tree."""
    kept = passed(task)
    nodes = [Computed(one.name, Column(one.name), whole(len(one.asked))) for one in fronts if one.numbered]
    wide = [(front, _Looks.of(front)) for front in fronts if len(front.asked) >= MANY and any(front.asked)]
    if wide:
        source = Rows(source, None, (*kept, *nodes, *(looks.asked(front, task) for front, looks in wide)))
        source = Rows(source, None, (*kept, *nodes, *(looks.value(front, task) for front, looks in wide)))
    through = {front.name: looks for front, looks in wide}
    made = []
    for front in fronts:
        if front.name in through:
            side = through[front.name].side(front, task)
        else:
            side = _sides(front, task)
        made.append(Computed(front.name, front.below(side), whole(front.size_below)))
    return Rows(source, None, (*kept, *made))


def alone(one: Asked, task: Task) -> bool:
    """Whether it asks for one listed value against the rest, and not for all beyond a cut of their numbers."""
    return len(one.right) == 1 and isinstance(task.columns[one.column].feature.cells, Listed)


def _cut(one: Asked, task: Task) -> int:
    return task.columns[one.column].size - len(one.right) - 1


def _when(conditions: Sequence[Condition]) -> Expression:
    """1 where one of them holds."""
    if not conditions:
        return Number(Fraction(0))
    either = conditions[0] if len(conditions) == 1 else AnyOf(tuple(conditions))
    return Case(((either, Number(Fraction(1))),), Number(Fraction(0)))


def _sides(front: Front, task: Task) -> Expression:
    """Column by column what the nodes ask of it: a value, or a cut. A node that does not, asks for what no cell is."""
    conditions: list[Condition] = []
    for place in sorted({one.column for one in front.asked if one is not None}):
        own = [one if one is not None and one.column == place else None for one in front.asked]
        values = [one.right[0] if one is not None and alone(one, task) else NONE for one in own]
        if max(values) > NONE:
            conditions.append(Comparison("=", task.cell_key(place).expression, front.by_node(values)))
        size = task.columns[place].size
        cuts = [_cut(one, task) if one is not None and not alone(one, task) else size for one in own]
        if min(cuts) < size:
            conditions.append(Comparison(">", task.cell_key(place).expression, front.by_node(cuts)))
    return _when(conditions)


@dataclass(frozen=True, slots=True)
class _Looks:
    """Which columns nodes look at, and which of these each node."""

    columns: tuple[int, ...]
    of_node: tuple[int, ...]

    @classmethod
    def of(cls, front: Front) -> "_Looks":
        columns = tuple(dict.fromkeys(one.column for one in front.asked if one is not None))
        return cls(columns, tuple(0 if one is None else columns.index(one.column) for one in front.asked))

    def asked(self, front: Front, task: Task) -> Computed:
        return Computed(task.unused(f"asked_{front.name}"), front.by_node(self.of_node), whole(len(self.columns)))

    def value(self, front: Front, task: Task) -> Computed:
        seen = [task.cell_key(place).expression for place in self.columns]
        asked = Column(task.unused(f"asked_{front.name}"))
        branches = tuple(
            (Comparison("=", asked, Number(Fraction(number))), one) for number, one in enumerate(seen[:-1])
        )
        largest = max(task.columns[place].size for place in self.columns)
        value = Case(branches, seen[-1]) if branches else seen[-1]
        return Computed(task.unused(f"value_{front.name}"), value, whole(largest))

    def side(self, front: Front, task: Task) -> Expression:
        value = Column(task.unused(f"value_{front.name}"))
        largest = max(one.size for one in task.columns)
        values = [one.right[0] if one is not None and alone(one, task) else NONE for one in front.asked]
        cuts = [_cut(one, task) if one is not None and not alone(one, task) else largest for one in front.asked]
        conditions: list[Condition] = []
        if max(values) > NONE:
            conditions.append(Comparison("=", value, front.by_node(values)))
        if min(cuts) < largest:
            conditions.append(Comparison(">", value, front.by_node(cuts)))
        return _when(conditions)
