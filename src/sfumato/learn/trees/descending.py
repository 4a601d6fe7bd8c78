"""Rows on their way down a tree: the number of each row's node one level further, as an expression of a plan.

Few picks, however many nodes there are: engines plan every number that they are told.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from sfumato.learn.bins import Listed
from sfumato.learn.task import Task
from sfumato.learn.trees.questions import Asked
from sfumato.plan.expressions import (
    AllOf,
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
from sfumato.plan.work import LISTED
from sfumato.schema.columns import Int

NONE = -1  # what no cell is


@dataclass(frozen=True, slots=True)
class Front:
    """The nodes of one tree at one level: the column that numbers them, and what each asks; a leaf asks nothing.

    Who goes to the left, or is in a leaf, keeps the number; who goes to the right has as many more as there are nodes.
    """

    name: str
    asked: tuple[Asked | None, ...]
    numbered: bool  # else it is the root alone, and there is no column yet

    @property
    def node(self) -> RangeKey | None:
        return RangeKey(Column(self.name), 0, len(self.asked) - 1) if self.numbered else None

    @property
    def size_below(self) -> int:
        return 2 * len(self.asked)

    def by_node(self, numbers: Sequence[int]) -> Expression:
        return Number(Fraction(numbers[0])) if self.node is None else Pick(self.node, tuple(numbers))

    def below(self, right: Sequence[Condition]) -> Expression:
        """The number of the child, the right one where any of these conditions holds."""
        same: Expression = Column(self.name) if self.numbered else Number(Fraction(0))
        if not right:
            return same
        either, more = right[0] if len(right) == 1 else AnyOf(tuple(right)), Number(Fraction(len(self.asked)))
        return Case(((either, Arithmetic("+", same, more) if self.numbered else more),), same)


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
    wide = [(front, _Looks.of(front)) for front in fronts if front.numbered and any(front.asked)]
    if not look_first([front for front, _ in wide], task, len(kept) + len(nodes)):
        wide = []
    if wide:
        source = Rows(source, None, (*kept, *nodes, *(looks.asked(front, task) for front, looks in wide)))
        source = Rows(source, None, (*kept, *nodes, *(looks.value(front, task) for front, looks in wide)))
    through = {front.name: looks for front, looks in wide}
    made = []
    for front in fronts:
        right = through[front.name].right(front, task) if front.name in through else _right(front, task)
        made.append(Computed(front.name, front.below(right), whole(front.size_below)))
    return Rows(source, None, (*kept, *made))


def look_first(fronts: Sequence[Front], task: Task, passed_on: int) -> bool:
    """Whether it is less to look first which column a node asks about, in two steps that pass all else on.

    By the operators that `plan.work` counts, so that with fewer nodes and columns neither way is more.
    """
    first, by_node = 2 * passed_on, 0
    for front in fronts:
        asked, listed = [one for one in front.asked if one is not None], len(front.asked) // LISTED
        columns, kinds = len({one.column for one in asked}), len({alone(one, task) for one in asked})
        first += listed + 5 + max(1, 4 * columns - 2) + kinds * (listed + 7) + kinds - 1
        by_node += 7 * len(asked) + (len(asked) > 1)
    return first < by_node


def alone(one: Asked, task: Task) -> bool:
    """Whether it asks for one listed value against the rest, and not for all beyond a cut of their numbers."""
    return len(one.right) == 1 and isinstance(task.columns[one.column].feature.cells, Listed)


def _cut(one: Asked, task: Task) -> int:
    return task.columns[one.column].size - len(one.right) - 1


def asks(one: Asked, task: Task) -> Condition:
    """Whether a row goes to the right: it has a value, or is beyond a cut."""
    cell, single = task.cell_key(one.column).expression, alone(one, task)
    return Comparison("=" if single else ">", cell, Number(Fraction(one.right[0] if single else _cut(one, task))))


def _right(front: Front, task: Task) -> list[Condition]:
    """Node by node what it asks."""
    return [
        AllOf((Comparison("=", Column(front.name), Number(Fraction(number))), asks(one, task)))
        if front.numbered
        else asks(one, task)
        for number, one in enumerate(front.asked)
        if one is not None
    ]


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

    def right(self, front: Front, task: Task) -> list[Condition]:
        """A node that asks for no value, asks for what no cell is; and for a cut likewise."""
        value = Column(task.unused(f"value_{front.name}"))
        largest = max(one.size for one in task.columns)
        values = [one.right[0] if one is not None and alone(one, task) else NONE for one in front.asked]
        cuts = [_cut(one, task) if one is not None and not alone(one, task) else largest for one in front.asked]
        conditions: list[Condition] = []
        if max(values) > NONE:
            conditions.append(Comparison("=", value, front.by_node(values)))
        if min(cuts) < largest:
            conditions.append(Comparison(">", value, front.by_node(cuts)))
        return conditions
