"""A fitted model as an expression of a plan: what it predicts of every row, and in which of 32 steps its score lies.

Whole numbers alone: sums of public weights, or the leaves of trees, picked from lists.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import exp

from sfumato.learn.model import SHARES, Branches, Classifying, Node, Scores
from sfumato.learn.scores.evidence import STEPS
from sfumato.learn.task import Task
from sfumato.learn.trees.descending import asks, passed, whole
from sfumato.learn.trees.questions import Asked, Orders, orders_in
from sfumato.plan.expressions import (
    AllOf,
    Arithmetic,
    Case,
    Column,
    Comparison,
    Condition,
    Expression,
    Grid,
    Number,
    Pick,
    RangeKey,
)
from sfumato.plan.sources import Computed, Rows, Source
from sfumato.schema.columns import Float, Int

CELLS = 32  # of a score
REACH = 4  # of log-odds, to both sides
FARTHEST = 10**6


@dataclass(frozen=True, slots=True)
class Walked:
    """Rows with the class that a model predicts, the class they have, and of two classes the step of the score."""

    source: Rows
    predicted: RangeKey
    score: RangeKey | None


def walked(fitted: Classifying, task: Task) -> Walked:
    many = len(task.classes)
    match fitted:
        case Scores() as scores:
            source, columns = _added(scores, task)
            shares: list[Expression] = [Number(Fraction(0)), *columns]
            step = _grid(columns[0]) if many == 2 else None
        case Branches() as branches:
            source, shares = _climbed(branches, task)
            step = _of_share(shares[1], len(branches.trees)) if many == 2 else None
    predicted, score = task.unused("predicted"), task.unused("step")
    made = [Computed(predicted, _first_of_largest(shares), Int(0, many - 1))]
    made += [] if step is None else [Computed(score, step, Int(0, CELLS - 1))]
    classes = Computed(task.target, Column(task.target), Int(0, many - 1))
    return Walked(
        Rows(source, None, (*made, classes)),
        RangeKey(Column(predicted), 0, many - 1),
        None if step is None else RangeKey(Column(score), 0, CELLS - 1),
    )


def _first_of_largest(shares: list[Expression]) -> Expression:
    """The number of the class with the largest share, the first of equals, as `predict` has it."""
    branches: list[tuple[Condition, Expression]] = []
    for place, own in enumerate(shares[:-1]):
        above = tuple(Comparison(">=", own, other) for other in shares[place + 1 :])
        branches.append((above[0] if len(above) == 1 else AllOf(above), Number(Fraction(place))))
    return Case(tuple(branches), Number(Fraction(len(shares) - 1)))


# ---- sums of scores


def _added(fitted: Scores, task: Task) -> tuple[Source, list[Expression]]:
    names = [task.unused(f"score{place}") for place in range(len(fitted.intercept))]
    made = []
    for place, name in enumerate(names):
        total: Expression = Number(Fraction(fitted.intercept[place]))
        for column, weights in enumerate(fitted.weights):
            numbers = tuple(row[place] for row in weights)
            if any(numbers):
                total = Arithmetic("+", total, Pick(task.cell_key(column), numbers))
        made.append(Computed(name, total, Float(-FARTHEST, FARTHEST)))
    classes = Computed(task.target, Column(task.target), Int(0, len(task.classes) - 1))
    return Rows(task.source, None, (*made, classes)), [Column(name) for name in names]


def _grid(score: Expression) -> Expression:
    return Pick(Grid(score, Fraction(-REACH * STEPS), Fraction(REACH * STEPS), CELLS), tuple(range(CELLS)))


# ---- trees


def _climbed(fitted: Branches, task: Task) -> tuple[Source, list[Expression]]:
    """Every row's leaf of every tree, then what each leaf says of each class."""
    questions = [_asked(node) for nodes in fitted.trees for node in nodes]
    orders = orders_in([one for one in questions if one is not None], task)
    task = task.ranked(orders)
    leaves = [_leaves(nodes) for nodes in fitted.trees]
    found = [
        Computed(task.unused(f"leaf{tree}"), _leaf(nodes, 0, own, orders, task), whole(len(own)))
        for tree, (nodes, own) in enumerate(zip(fitted.trees, leaves, strict=True))
    ]
    # Of two classes the first has at least half where the other has at most half.
    two, most = len(task.classes) == 2, SHARES * len(fitted.trees)
    half: list[Expression] = [Number(Fraction(most, 2))] if two else []
    parts, made = list[Computed](), list[Computed]()
    for place in range(len(half), len(task.classes)):
        total: Expression = Number(Fraction(0))
        for tree, (nodes, own) in enumerate(zip(fitted.trees, leaves, strict=True)):
            says = Pick(
                RangeKey(Column(found[tree].name), 0, len(own) - 1), tuple(nodes[one].shares[place] for one in own)
            )
            parts.append(Computed(task.unused(f"share{place}_{tree}"), says, Int(0, SHARES)))
            total = Arithmetic("+", total, Column(parts[-1].name))
        made.append(Computed(task.unused(f"share{place}"), total, Int(0, most)))
    classes = passed(task)[-1]
    source = Rows(Rows(Rows(task.source, None, (*found, classes)), None, (*parts, classes)), None, (*made, classes))
    return source, [*half, *(Column(one.name) for one in made)]


def _leaves(nodes: Sequence[Node]) -> dict[int, int]:
    """Of every leaf its place among all leaves."""
    own = [number for number, node in enumerate(nodes) if not node.children]
    return {number: place for place, number in enumerate(own)}


def _leaf(nodes: Sequence[Node], number: int, leaves: Mapping[int, int], orders: Orders, task: Task) -> Expression:
    """The place of a row's leaf among all leaves, by the questions from a node on."""
    node, asked = nodes[number], _asked(nodes[number])
    if asked is None:
        return Number(Fraction(leaves[number]))
    left, right = (_leaf(nodes, child, leaves, orders, task) for child in node.children)
    return Case(((asks(asked.ranked(orders), task), right),), left)


def _asked(node: Node) -> Asked | None:
    return Asked(node.column, node.right) if node.children else None


def _of_share(share: Expression, trees: int) -> Expression:
    """The step of a share, by cuts that are whole parts of it."""
    branches = tuple(
        (Comparison("<", share, Number(Fraction(cut))), Number(Fraction(place)))
        for place, cut in enumerate(cuts_of_shares(trees))
    )
    return Case(branches, Number(Fraction(CELLS - 1)))


def cuts_of_shares(trees: int) -> list[int]:
    """Where the steps of a score begin, the first left out, as shares that trees add up to."""
    odds = (REACH * (2 * place / CELLS - 1) for place in range(1, CELLS))
    return [round(SHARES * trees / (1 + exp(-one))) for one in odds]
