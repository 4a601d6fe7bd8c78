"""A fitted model: whole numbers that follow from releases, what they were paid with, and how a row is scored.

Nothing in it is of the training rows but what was released: no row, no number of rows, no score on them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.learn.bins import Codes, Feature, Span
from sfumato.learn.linear.coefficients import Coefficients
from sfumato.learn.linear.matrices import Correlations, Directions
from sfumato.learn.scores.evidence import STEPS
from sfumato.learn.synthesis.likeness import Likeness
from sfumato.schema.columns import CategoryValue

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Scores:
    """A sum over columns: for every cell a weight for every class but the first, in steps of 1/256.

    `errors` are standard errors of weights; `rows` the noisy numbers of rows in cells, and `noise` the standard
    deviation of these.
    """

    intercept: tuple[int, ...]
    weights: tuple[tuple[tuple[int, ...], ...], ...]
    errors: tuple[tuple[tuple[int, ...], ...], ...]
    rows: tuple[tuple[int, ...], ...]
    noise: tuple[int, ...]

    def probabilities(self, codes: Codes) -> Floats:
        score = np.zeros((len(codes), len(self.intercept) + 1), dtype=np.int64)
        score[:, 1:] = self.intercept
        for place, weights in enumerate(self.weights):
            score[:, 1:] += np.array(weights, dtype=np.int64)[codes[:, place]]
        raised = np.exp((score - score.max(axis=1, keepdims=True)) / STEPS)
        return np.asarray(raised / raised.sum(axis=1, keepdims=True), dtype=np.float64)


TO_AN_END = 1 << 12  # steps from the middle of the bounds of a number to each of them


@dataclass(frozen=True, slots=True)
class Curves:
    """A sum over columns that predicts a number, beyond whose bounds it is as at them.

    `sums`: as of two classes, but in steps of 2^-12 of half of what the bounds of the target are apart, from the middle
    of these.
    """

    target: Span
    sums: Scores

    def predictions(self, codes: Codes) -> Floats:
        total = np.full(len(codes), self.sums.intercept[0], dtype=np.int64)
        for place, weights in enumerate(self.sums.weights):
            total += np.array(weights, dtype=np.int64)[codes[:, place], 0]
        return np.asarray(self.target.middle + self.target.reach * np.clip(total / TO_AN_END, -1, 1))


SHARES = 1 << 16  # of a probability of a leaf


@dataclass(frozen=True, slots=True)
class Node:
    """A question about a column, whose cells in `right` lead to the second of `children`; a leaf has no children.

    `counts` are the noisy rows of each class, `noise` the standard deviation of each, `shares` probabilities.
    """

    column: int
    right: tuple[int, ...]
    children: tuple[int, ...]
    counts: tuple[int, ...]
    noise: int
    shares: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Branches:
    """Trees whose probabilities are averaged; the nodes of each, its root first."""

    trees: tuple[tuple[Node, ...], ...]

    def probabilities(self, codes: Codes) -> Floats:
        total = sum((_leaves(nodes, codes) for nodes in self.trees), np.zeros((len(codes), self.classes)))
        return np.asarray(total / (SHARES * len(self.trees)), dtype=np.float64)

    @property
    def classes(self) -> int:
        return len(self.trees[0][0].shares)


@dataclass(frozen=True, slots=True)
class Heights:
    """A tree that predicts a number: the mean of the target in a leaf, by which groups of it its rows are in.

    `groups`: the middle of each, in steps of 2^-12 of half of what the bounds of the target are apart, from the middle
    of these. `nodes`: of a tree that tells the groups apart, its root first.
    """

    target: Span
    groups: tuple[int, ...]
    nodes: tuple[Node, ...]

    def predictions(self, codes: Codes) -> Floats:
        heights = np.array([self.height(node) for node in self.nodes])[_places(self.nodes, codes)]
        return np.asarray(self.target.middle + self.target.reach * (heights / TO_AN_END))

    def height(self, node: Node) -> int:
        """The mean of a node in whole steps, halves up."""
        total = sum(share * group for share, group in zip(node.shares, self.groups, strict=True))
        return (2 * total + SHARES) // (2 * SHARES)


def _leaves(nodes: Sequence[Node], codes: Codes) -> Floats:
    """The shares of the leaf of every row."""
    return np.array([node.shares for node in nodes], dtype=np.float64)[_places(nodes, codes)]


def _places(nodes: Sequence[Node], codes: Codes) -> NDArray[np.int64]:
    """The leaf of every row: all rows go down one level at a time."""
    widest = max([0, *(cell for node in nodes for cell in node.right)]) + 1
    right = np.zeros((len(nodes), widest + 1), dtype=np.int64)
    children = np.zeros((len(nodes), 2), dtype=np.int64)
    for number, node in enumerate(nodes):
        right[number, list(node.right)] = 1
        children[number] = node.children or (number, number)
    columns = np.array([max(node.column, 0) for node in nodes], dtype=np.int64)
    place, rows = np.zeros(len(codes), dtype=np.int64), np.arange(len(codes))
    for _ in range(depth(nodes)):
        cells = np.minimum(codes[rows, columns[place]], widest)
        place = children[place, right[place, cells]]
    return place


def depth(nodes: Sequence[Node], number: int = 0) -> int:
    """How many questions a row is asked at most."""
    return max((1 + depth(nodes, child) for child in nodes[number].children), default=0)


@dataclass(frozen=True, slots=True)
class Paid:
    """What a model cost and whom it protects, for ever."""

    table: str
    unit: str
    epsilon: str
    delta: str
    currency: str
    price: str
    analyst: str
    receipt: int
    envelope: str
    when: str


@dataclass(frozen=True, slots=True)
class Stage:
    """A line of the schedule: how often what was measured, at which part of the price, with how much noise."""

    what: str
    times: int
    share: float
    rule: str
    mechanism: str
    noise: float | None
    cells: int


SIDE = 127  # steps from the middle of a column to each of its bounds, in which centres are told


@dataclass(frozen=True, slots=True)
class Centres:
    """Centres of clusters in whole steps of their columns, and the standard deviations of these in 256ths of a step.

    `rows` are the noisy numbers of rows that are nearest to each, and `noise` the standard deviation of these.
    """

    centres: tuple[tuple[int, ...], ...]
    errors: tuple[tuple[int, ...], ...]
    rows: tuple[int, ...]
    noise: int


Classifying = Scores | Branches  # what tells classes apart
Numbering = Curves | Heights  # what predicts a number from cells
Fitted = Classifying | Numbering | Coefficients | Correlations | Directions | Centres | Likeness
Parameter = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Model:
    """All that a file of a model holds. Without anything to predict the target is ""; only classifiers have classes."""

    learner: str
    version: int
    target: str
    classes: tuple[CategoryValue, ...]
    features: tuple[Feature, ...]
    parameters: Mapping[str, Parameter]
    fitted: Fitted
    paid: Paid
    schedule: tuple[Stage, ...]
    notes: tuple[str, ...]

    @property
    def classifying(self) -> Classifying:
        """Needs: a model of a classifier."""
        if not isinstance(self.fitted, Classifying):
            raise TypeError("it tells no classes apart")
        return self.fitted


def nested(values: Sequence[NDArray[np.int64]]) -> tuple[tuple[tuple[int, ...], ...], ...]:
    """Arrays as tuples of whole numbers."""
    return tuple(tuple(tuple(int(one) for one in row) for row in array) for array in values)
