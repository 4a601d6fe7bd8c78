"""A decision tree (ID3 with noise in the right places): questions chosen privately, leaves counted with noise."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from os import PathLike

import numpy as np

from sfumato.envelope import Envelope
from sfumato.kernel.cost import Cost
from sfumato.learn.asking import held_in_file
from sfumato.learn.bins import FEW_ROWS
from sfumato.learn.either import Either
from sfumato.learn.learner import Told
from sfumato.learn.model import SHARES, Branches, Heights, Node, Parameter
from sfumato.learn.numeric import NumberTask
from sfumato.learn.schedule import Template
from sfumato.learn.scores.evidence import Floats, Whole
from sfumato.learn.shown.notes import notes_on
from sfumato.learn.task import Counts, Task
from sfumato.learn.trees import grading
from sfumato.learn.trees.growing import (
    ENOUGH_TO_SORT,
    MOST_DEPTH,
    Growth,
    Roots,
    depth_for,
    fits,
    grow,
    root,
    sorted_columns,
    templates,
)
from sfumato.learn.trees.questions import Asked, Orders
from sfumato.learn.wordings import too_deep
from sfumato.schema.budget import Budget, Spend
from sfumato.schema.columns import Declared
from sfumato.schema.numbers import GivenNumber, exact, whole

NODE_BYTES, CLASS_BYTES, CELL_BYTES = 100, 22, 5  # names with brackets, "-1099511627776,65536,", and "4096,"
LEAVES, LEAVES_OF_FEW = Fraction(1, 4), Fraction(7, 20)
SHRUNK = 2.0  # standard deviations of noise that a leaf's parent counts for


class Tree(Either):
    """A decision tree of classes or of a number: simple to read, and exact about what it does not know.

    depth: by default as deep as the spend and the expected rows allow. min_samples, min_gain: what has fewer rows, or
    makes the classes less pure, is taken back afterwards, by noisy numbers: that costs nothing.
    """

    learner = "tree"

    def __init__(
        self,
        target: str | None = None,
        *,
        spend: GivenNumber | Spend | None = None,
        columns: Sequence[str] | Mapping[str, Declared] | None = None,
        depth: int | None = None,
        min_samples: int = 0,
        min_gain: float = 0.0,
        max_rows: int | None = None,
        expected_rows: int | None = None,
        holdout: GivenNumber | None = None,
        ledger: str | PathLike[str] | None = None,
        budget: Budget | None = None,
    ) -> None:
        self.target = target
        self.spend = spend
        self.columns = columns
        self.depth = depth
        self.min_samples = min_samples
        self.min_gain = min_gain
        self.max_rows = max_rows
        self.expected_rows = expected_rows
        self.holdout = holdout
        self.ledger = ledger
        self.budget = budget

    def _settings(self, task: Task, price: Cost) -> dict[str, Parameter]:
        growth = self._growth(task, price)
        pruning = Pruning.of(self.min_samples, self.min_gain)
        return {
            "expected_rows": task.expected_rows,
            "depth": growth.depth,
            "leaves": str(growth.leaves),
            "sorting": growth.sorting,
            "min_samples": pruning.min_samples,
            "min_gain": pruning.min_gain,
            **(grading.settings() if isinstance(task, NumberTask) else {}),
        }

    def _room(self, task: Task, price: Cost) -> int:
        return room_of_trees(task, self._growth(task, price).depth, len(task.classes) or grading.GROUPS)

    def _growth(self, task: Task, price: Cost) -> Growth:
        if isinstance(task, NumberTask):
            task, price = grading.template(task), grading.rest(price)
        return growth_for(self.epsilon, task, price, self.depth, root)

    def _templates(self, task: Task, price: Cost) -> list[Template]:
        growth = self._growth(task, price)
        if isinstance(task, NumberTask):
            return grading.all_templates(task, price, growth)
        return list(templates(task, price, growth, root))

    def _learnt(self, task: Task, envelope: Envelope, told: Told) -> tuple[Branches | Heights, tuple[str, ...]]:
        growth, pruning = self._growth(task, envelope.price), Pruning.of(self.min_samples, self.min_gain)
        fitted: Branches | Heights
        if isinstance(task, NumberTask):
            groups, told_apart, grown = grading.learnt(task, envelope, growth, told)
            nodes = grown_tree(grown.levels, grown.leaves, grown.noise, pruning, possible(told_apart))
            fitted = Heights(task.span, groups.middles, nodes)
        else:
            grown = grow(task, envelope, envelope.price, growth, root, told)
            fitted = Branches((grown_tree(grown.levels, grown.leaves, grown.noise, pruning, possible(task)),))
        return fitted, notes_on(fitted)


def room_of_trees(task: Task, depth: int, classes: int, trees: int = 1) -> int:
    """Bytes of nodes in the file of a model, all as deep as they may be; what leaves do not ask is not said."""
    leaves = trees << depth
    asked = CELL_BYTES * max(one.size for one in task.columns)
    return 2 * leaves * (NODE_BYTES + CLASS_BYTES * classes) + leaves * asked


def growth_for(epsilon: Fraction, task: Task, price: Cost, depth: int | None, roots: Roots, trees: int = 1) -> Growth:
    """By declarations and the spend; a depth that was asked for is taken, or refused. Plans may be only so large."""
    rows = None if task.expected_rows is None else task.expected_rows // trees
    few = rows is not None and rows < FEW_ROWS
    # Listed values are sorted by tables of all rows, whatever their tree; in pure ε these cost a forest too much.
    told = rows if task.currency == "epsilon" else task.expected_rows
    sorting = told is not None and epsilon * told > ENOUGH_TO_SORT and bool(sorted_columns(task))
    leaves = LEAVES_OF_FEW if few else LEAVES
    wanted = depth_for(epsilon, rows) if depth is None else whole(depth, "depth", least=1, most=MOST_DEPTH)
    found = _deepest(Growth(wanted, leaves, sorting), task, price, roots)
    if depth is not None and found.depth < wanted:
        raise too_deep(wanted, found.depth)
    return found


@lru_cache(maxsize=4)  # of a task that is fitted it is asked for its settings, its schedule and its draws
def _deepest(growth: Growth, task: Task, price: Cost, roots: Roots) -> Growth:
    while growth.depth > 1 and not fits(task, price, growth, roots):
        growth = replace(growth, depth=growth.depth - 1)
    return growth


@dataclass(frozen=True, slots=True)
class Pruning:
    """What is not worth a question."""

    min_samples: int
    min_gain: float

    @classmethod
    def of(cls, min_samples: int, min_gain: GivenNumber) -> "Pruning":
        return cls(whole(min_samples, "min_samples", least=0), float(exact(min_gain, "min_gain")))


Possible = tuple[frozenset[int], ...]


@dataclass(slots=True)
class _Sketch:
    """A node while its tree is put together."""

    asked: Asked | None
    children: "list[_Sketch]"
    counts: Floats
    leaves: int
    shares: Floats


def grown_tree(
    levels: Sequence[Sequence[Asked]], leaves: Counts, noise: float, pruning: Pruning, cells: Possible, tree: int = 0
) -> tuple[Node, ...]:
    """The nodes of one tree, its root first: counts added up from the leaves, shares shrunk towards their parents'.

    `cells`: which of them rows of the tree can be in, for every column.
    """
    top = _sketched(levels, leaves, 0, tree, cells)
    _shared(top, None, noise)
    _pruned(top, pruning)
    nodes: list[Node] = []
    _numbered(top, noise, nodes)
    return tuple(nodes)


def possible(task: Task, hidden: Sequence[bool] = (), orders: Orders | None = None) -> Possible:
    """All cells of every column; what a tree does not see is all in the cell that was numbered 0."""
    first = {place: order[0] for place, order in (orders or {}).items()}
    sizes = [one.size for one in task.columns]
    return tuple(
        frozenset((first.get(place, 0),)) if hidden and hidden[place] else frozenset(range(size))
        for place, size in enumerate(sizes)
    )


def _sketched(levels: Sequence[Sequence[Asked]], leaves: Counts, level: int, place: int, cells: Possible) -> _Sketch:
    """A question that nodes above have answered is none: no row goes to its other side, all there is noise."""
    if level == len(levels):
        return _Sketch(None, [], leaves[place].astype(np.float64), 1, np.zeros(leaves.shape[1]))
    asked = levels[level][place]
    right = cells[asked.column] & frozenset(asked.right)
    sides = [cells[asked.column] - right, right]
    below = [
        _sketched(levels, leaves, level + 1, child, (*cells[: asked.column], own, *cells[asked.column + 1 :]))
        for child, own in zip((place, place + len(levels[level])), sides, strict=True)
        if own
    ]
    if len(below) == 1:
        return below[0]
    counts = below[0].counts + below[1].counts
    return _Sketch(asked, below, counts, below[0].leaves + below[1].leaves, np.zeros(leaves.shape[1]))


def _shared(node: _Sketch, parent: Floats | None, noise: float) -> None:
    """p = (counts + 2·sd·√leaves · p of the parent) / (rows + 2·sd·√leaves), negative counts as 0."""
    counts = np.maximum(node.counts, 0)
    before = np.full(len(counts), 1 / len(counts)) if parent is None else parent
    weight = SHRUNK * noise * np.sqrt(node.leaves)
    whole = counts.sum() + weight  # nothing where there is neither a row nor noise
    node.shares = (counts + weight * before) / whole if whole > 0 else before
    for child in node.children:
        _shared(child, node.shares, noise)


def _pruned(node: _Sketch, pruning: Pruning) -> None:
    """From the leaves up: a question is taken back if a side has too few rows, or if it makes no difference."""
    for child in node.children:
        _pruned(child, pruning)
    if node.children and not any(child.children for child in node.children):
        few = min(float(child.counts.sum()) for child in node.children) < pruning.min_samples
        first, second = (_rounded(child.shares) for child in node.children)
        same = np.array_equal(first, second)
        if few or same or _gain(node) < pruning.min_gain:
            node.asked, node.children = None, []


def _gain(node: _Sketch) -> float:
    """By how much a question lowers the impurity (Gini) of its rows, as their shares say."""

    def impurity(one: _Sketch) -> float:
        return 1 - float((one.shares**2).sum())

    rows = [max(float(child.counts.sum()), 0.0) for child in node.children]
    if sum(rows) <= 0:
        return 0.0
    return impurity(node) - sum(row * impurity(child) for row, child in zip(rows, node.children, strict=True)) / sum(
        rows
    )


def _rounded(shares: Floats) -> Whole:
    """Whole parts of 65536 that add up to it: what rounding leaves goes to the largest."""
    parts = np.floor(shares * SHARES).astype(np.int64)
    parts[int(np.argmax(shares))] += SHARES - int(parts.sum())
    return parts


def _numbered(node: _Sketch, noise: float, nodes: list[Node]) -> int:
    number = len(nodes)
    made = Node(
        -1 if node.asked is None else node.asked.column,
        () if node.asked is None else node.asked.right,
        (),
        tuple(held_in_file(float(count)) for count in node.counts),
        held_in_file(noise * node.leaves**0.5),
        tuple(int(share) for share in _rounded(node.shares)),
    )
    nodes.append(made)
    children = tuple(_numbered(child, noise, nodes) for child in node.children)
    nodes[number] = replace(made, children=children)
    return number
