"""How trees grow: level by level, all nodes of all trees in one plan, each question chosen privately; then the leaves.

Every level costs once: a row has one node of one tree, so nodes are groups. No rule stops a node: what is not worth it
is taken back afterwards, by the noisy numbers of leaves.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import floor, log2

from sfumato.envelope import Envelope
from sfumato.errors import Refused
from sfumato.kernel.cost import Cost
from sfumato.learn.evaluation import tables_of
from sfumato.learn.learner import Told
from sfumato.learn.model import SHARES, Branches, Node
from sfumato.learn.schedule import Template
from sfumato.learn.task import Counts, Task, cells_of, crossed
from sfumato.learn.trees.descending import Front, alone, below, passed, whole
from sfumato.learn.trees.questions import Asked, Orders, likeliest_last, questions, to_plan
from sfumato.plan.expressions import Case, Column, Number, OneOf, RangeKey, UnitPart
from sfumato.plan.nodes import Choose, Histogram, Measure, MechanismName, Plan
from sfumato.plan.sources import Computed, Kept, Rows, Source

MOST_DEPTH, USUAL_DEPTH = 8, 4
ROWS_OF_A_LEAF = 300  # times ε: with fewer, one level less
FEW_FOR_TWO = 500  # times ε: with fewer, one level is enough
ENOUGH_TO_SORT = 10**4  # times ε
GROWTH = Fraction(7, 5)
SORTING = Fraction(1, 10)


@dataclass(frozen=True, slots=True)
class Growth:
    """How deep, and how the price is divided; by declarations, parameters and the spend alone."""

    depth: int
    leaves: Fraction  # of what sorting leaves
    sorting: bool
    trees: int = 1

    @property
    def levels(self) -> tuple[Fraction, ...]:
        """The part of the price of each level: deeper ones have fewer rows a node, and get more."""
        weights = [GROWTH**level for level in range(self.depth)]
        rest = self.grown * (1 - self.leaves)
        return tuple(rest * weight / sum(weights) for weight in weights)

    @property
    def grown(self) -> Fraction:
        return 1 - SORTING if self.sorting else Fraction(1)


def depth_for(epsilon: Fraction, expected_rows: int | None) -> int:
    """So deep that leaves have enough rows; one level where there are few in all."""
    if expected_rows is None:
        return USUAL_DEPTH
    worth = epsilon * expected_rows
    if worth < FEW_FOR_TWO:
        return 1
    return max(2, min(MOST_DEPTH, floor(log2(worth / ROWS_OF_A_LEAF))))


@dataclass(frozen=True, slots=True)
class Level:
    """Rows with the cells of their columns, their class, and the number of their node; a single root has no number."""

    task: Task
    source: Source
    nodes: int
    numbered: bool

    @property
    def node(self) -> RangeKey | None:
        return RangeKey(Column(_node(self.task)), 0, self.nodes - 1) if self.numbered else None

    def below(self, chosen: Sequence[Asked]) -> "Level":
        """The same rows one level down, by what their nodes ask."""
        front = Front(_node(self.task), tuple(chosen), self.numbered)
        return Level(self.task, Kept(below(self.source, [front], self.task)), front.size_below, numbered=True)


def root(task: Task, trees: int = 1, salt: int = 0, seen: Sequence[Sequence[bool]] = ()) -> Level:
    """One root a tree; the units of a forest are divided among its trees. What a tree does not see is all in cell 0."""
    if trees == 1:
        return Level(task, task.source, 1, numbered=False)
    name = _node(task)
    coded = Rows(task.schema.table, task.where, (*task.coded, Computed(name, UnitPart(salt, trees), whole(trees))))
    *columns, classes = passed(task)
    shown = [
        _hidden(one, Column(name), [tree for tree in range(len(seen)) if not seen[tree][place]])
        for place, one in enumerate(columns)
    ]
    source = Kept(Rows(coded, None, (*shown, classes, Computed(name, Column(name), whole(trees)))))
    return Level(task, source, trees, numbered=True)


def _hidden(column: Computed, tree: Column, hidden: Sequence[int]) -> Computed:
    """A column that is 0 in some trees."""
    if not hidden:
        return column
    among = OneOf(tree, tuple(Number(Fraction(one)) for one in hidden))
    return Computed(column.name, Case(((among, Number(Fraction(0))),), column.value), column.declared)


def _node(task: Task) -> str:
    return task.unused("node")


def sorted_columns(task: Task) -> list[int]:
    return [place for place, one in enumerate(task.columns) if not one.feature.cells.ordered and one.size > 3]


def sort_plans(task: Task, price: Cost) -> dict[int, Plan]:
    """Tables of rows by cell and class, of columns whose values have no order."""
    places = sorted_columns(task)
    return {place: task.class_table(place, price.amount * SORTING / len(places)) for place in places}


def choice(task: Task, asked: Sequence[Asked]) -> Choose:
    """One of these questions: the same choice at all levels."""
    tables = tuple(task.cell_key(place) for place in range(len(task.columns)))
    return Choose(tables, task.class_key, to_plan(asked, task))


def choice_plan(task: Task, level: Level, offered: Choose, share: Fraction) -> Plan:
    """Which question divides the rows of each node best."""
    mechanism: MechanismName = "permute_and_flip" if task.currency == "epsilon" else "exponential"
    measure = Measure(offered, mechanism, share)
    keys = () if level.node is None else (level.node,)
    return Plan(level.source, task.unit, None, keys, (measure,), caps=task.caps)


def leaf_plan(level: Level, share: Fraction) -> Plan:
    """How many rows of each class are in each leaf."""
    node = level.node
    if node is None:
        raise TypeError("leaves lie below a root")
    return level.task.plan((), Histogram(crossed(node, level.task.class_key)), share, level.source)


Roots = Callable[[Task], Level]


@lru_cache(maxsize=2)  # of a task they are asked for whether they fit, and for its schedule
def templates(task: Task, price: Cost, growth: Growth, roots: Roots) -> tuple[Template, ...]:
    """Plans as large as any that may be drawn, whatever the nodes will ask."""
    found = list[Template]()
    if growth.sorting:
        plans = sort_plans(task, price)
        largest = max(plans, key=lambda place: task.columns[place].size)
        numbers = len(task.classes) * sum(task.columns[place].size for place in plans)
        found.append(Template("rows by listed value and class", plans[largest], len(plans), numbers))
    ranked = sorted_columns(task) if growth.sorting else []
    if ranked:
        task = task.ranked({place: tuple(range(task.columns[place].size)) for place in ranked})
    asked, level = questions(task, ranked), roots(task)
    offered = choice(task, asked)
    for share in growth.levels:
        plan = choice_plan(task, level, offered, price.amount * share)
        found.append(Template(f"a question for each of {level.nodes} nodes", plan))
        level = level.below(widest(asked, task, level.nodes))
    leaves = leaf_plan(level, price.amount * growth.grown * growth.leaves)
    return *found, Template("rows by leaf and class", leaves)


def widest(asked: Sequence[Asked], task: Task, nodes: int) -> list[Asked]:
    """Of what so many nodes may ask, what takes most work to follow: all columns, by a cut and by a value each.

    First come cuts of many listed values, which are numbered anew for it; and a value soon, since cuts alone are less.
    """
    kinds: dict[tuple[int, bool], Asked] = {}
    for one in asked:
        kinds.setdefault((one.column, alone(one, task)), one)
    anew = {column: task.columns[column].size for column in sorted_columns(task)}
    each = sorted(kinds.values(), key=lambda one: (alone(one, task), -anew.get(one.column, 0)))
    each.insert(1, each.pop())
    return [each[node % len(each)] for node in range(nodes)]


def fullest(asked: Sequence[Asked], task: Task, depth: int, trees: int) -> Branches:
    """Trees of which nothing is taken back: no others are more work to evaluate."""
    shares = (SHARES // len(task.classes),) * len(task.classes)
    nodes = list[Node]()
    for level in range(depth):
        for one in widest(asked, task, 1 << level):
            below_it = 2 * len(nodes)
            nodes.append(Node(one.column, one.right, (below_it + 1, below_it + 2), (), 0, shares))
    nodes += [Node(-1, (), (), (), 0, shares)] * (1 << depth)
    return Branches((tuple(nodes),) * trees)


def fits(task: Task, price: Cost, growth: Growth, roots: Roots) -> bool:
    """Whether all plans of so deep a tree, the last two are the largest, and of its evaluation can be certified."""
    asked = questions(task, sorted_columns(task) if growth.sorting else ())
    try:
        plans = [template.plan for template in templates(task, price, growth, roots)[-2:]]
        plans += tables_of(fullest(asked, task, growth.depth, roots(task).nodes), task, price.amount)
        for plan in plans:
            task.certified(plan)
    except Refused:
        return False
    return True


@dataclass(frozen=True, slots=True)
class Grown:
    """What every node of every level asks, and the noisy rows of each class in every leaf.

    `orders`: how the cells of some columns were numbered; what a tree did not see was numbered 0.
    """

    levels: tuple[tuple[Asked, ...], ...]
    leaves: Counts
    noise: float
    orders: Orders


def grow(
    task: Task,
    envelope: Envelope,
    price: Cost,
    growth: Growth,
    roots: Roots,
    told: Told,
    *,
    begin: int = 0,
    rising: bool = False,
) -> Grown:
    """For a price, which is what of the envelope is left for it, from a round on. `rising`: classes have an order."""
    orders = dict[int, tuple[int, ...]]()
    rounds = growth.depth + 1 + growth.sorting
    if growth.sorting:
        told(0.0, "listed values by class")
        plans = sort_plans(task, price)
        deviation = task.deviation(next(iter(plans.values())))  # of all: they cost the same
        for place, release in zip(plans, envelope.ask_all(list(plans.values()), round_=begin), strict=True):
            table = cells_of(release).reshape(task.columns[place].size, len(task.classes))
            orders[place] = likeliest_last(table, deviation, rising=rising)
        task = task.ranked(orders)
    asked, level, chosen = questions(task, orders), roots(task), list[tuple[Asked, ...]]()
    offered = choice(task, asked)
    for round_, share in enumerate(growth.levels, start=begin + 1):
        told((rounds - growth.depth - 1 + len(chosen)) / rounds, f"level {len(chosen) + 1}")
        release = envelope.ask(choice_plan(task, level, offered, price.amount * share), round_=round_)
        chosen.append(tuple(asked[place] for (place,) in release.values if isinstance(place, int)))
        level = level.below(chosen[-1])
    told(1 - 1 / rounds, "leaves")
    share = price.amount * growth.grown * growth.leaves
    release = envelope.ask(leaf_plan(level, share), round_=begin + growth.depth + 1)
    leaves = cells_of(release).reshape(level.nodes, len(task.classes))
    named = tuple(tuple(one.unranked(orders) for one in nodes) for nodes in chosen)
    return Grown(named, leaves, task.deviation(task.class_table(0, share)), orders)  # of any table of that share
