"""Kinds of fitted models as files hold them: of each how it is read, and what of it has to agree with the rest.

Whoever adds a kind adds its name, its learners and its reader.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import Any

from sfumato.learn.bins import Feature, Line, Listed, Span
from sfumato.learn.files.likeness_file import likeness_in
from sfumato.learn.files.shapes import MOST_WEIGHT, cells, items, parts, row, table, whole
from sfumato.learn.linear.coefficients import FINE, MOST_STEPS, Coefficients
from sfumato.learn.linear.matrices import Correlations, Directions
from sfumato.learn.model import SHARES, SIDE, TO_AN_END, Branches, Centres, Curves, Fitted, Heights, Node, Scores
from sfumato.learn.synthesis.likeness import Likeness
from sfumato.plan.expressions import MOST_PICKED
from sfumato.schema.columns import CategoryValue

MOST_LEVELS = 32  # of a tree
MOST_NODES = 1 << 12  # of a tree
MOST_CELLS = MOST_PICKED + 1  # of a column: what a plan can pick, and what is missing
MOST_CENTRES = 1 << 10


@dataclass(frozen=True, slots=True)
class Around:
    """What a file says around a fitted model."""

    target: str
    classes: tuple[CategoryValue, ...]
    features: tuple[Feature, ...]

    @property
    def sizes(self) -> list[int]:
        return [feature.size for feature in self.features]


Reader = Callable[[Any, Around], Fitted]


def fitted_of(said: Any, learner: str, around: Around) -> Fitted:
    """A fitted model of the kind of its learner, or ValueError."""
    kind = said.get("kind")
    if (
        kind not in (LEARNERS[learner], OF_NUMBERS.get(learner, LEARNERS[learner]))
        or not around.features
        or max(around.sizes) > MOST_CELLS
    ):
        raise ValueError
    return READERS[kind]({name: each for name, each in said.items() if name != "kind"}, around)


def _classified(around: Around) -> None:
    """Classifiers have a target, two classes or more of one type, and columns in cells."""
    classes = around.classes
    several = 2 <= len(set(classes)) == len(classes) <= MOST_PICKED
    if not around.target or not several or len(set(map(type, classes))) > 1:
        raise ValueError
    if any(isinstance(feature.cells, Span) for feature in around.features):
        raise ValueError


# ---- sums of scores


def _scores(said: Any, around: Around) -> Scores:
    _classified(around)
    return _sums(said, around, len(around.classes))


def _curves(said: Any, around: Around) -> Curves:
    """A number has bounds, and no classes."""
    given = parts(said, *(field.name for field in fields(Curves)))
    return Curves(_bounds(given["target"], around), _sums(given["sums"], around, 2))


def _bounds(said: Any, around: Around) -> Span:
    """Those of a number that is predicted from columns in cells."""
    target = cells(said)
    in_cells = not any(isinstance(feature.cells, Span) for feature in around.features)
    if not (isinstance(target, Span) and in_cells and around.target and not around.classes) or target.kind == "day":
        raise ValueError
    return target


def _sums(said: Any, around: Around, classes: int) -> Scores:
    given = parts(said, *(field.name for field in fields(Scores)))
    found = Scores(
        row(given["intercept"]),
        items(given["weights"], table),
        items(given["errors"], table),
        table(given["rows"]),
        row(given["noise"]),
    )
    if not _adds_up(found, around.sizes, classes):
        raise ValueError
    return found


def _adds_up(fitted: Scores, sizes: list[int], classes: int) -> bool:
    """Whether there is a number for every cell and class."""
    tables = (fitted.weights, fitted.errors)
    return (
        len(fitted.intercept) == classes - 1
        and len(fitted.noise) == len(sizes)
        and all([len(column) for column in table] == sizes for table in (*tables, fitted.rows))
        and all(len(row) == classes - 1 for table in tables for column in table for row in column)
        and all(abs(one) <= MOST_WEIGHT for table in tables for column in table for row in column for one in row)
        and all(abs(one) <= MOST_WEIGHT for one in fitted.intercept)
    )


# ---- trees


def _trees(said: Any, around: Around) -> Branches:
    _classified(around)
    found = Branches(items(parts(said, "trees")["trees"], lambda nodes: items(nodes, _node)))
    if not found.trees or not all(_is_tree(nodes, around.sizes, len(around.classes)) for nodes in found.trees):
        raise ValueError
    return found


def _heights(said: Any, around: Around) -> Heights:
    given = parts(said, *(field.name for field in fields(Heights)))
    found = Heights(_bounds(given["target"], around), row(given["groups"]), items(given["nodes"], _node))
    inside = all(abs(group) <= TO_AN_END for group in found.groups)
    if not (inside and _is_tree(found.nodes, around.sizes, len(found.groups))):
        raise ValueError
    return found


def _node(said: Any) -> Node:
    given = parts(said, *(field.name for field in fields(Node)))
    lists = {name: row(given[name]) for name in ("right", "children", "counts", "shares")}
    return Node(column=whole(given["column"]), noise=whole(given["noise"]), **lists)


def _is_tree(nodes: tuple[Node, ...], sizes: list[int], classes: int) -> bool:
    """Whether every node has its classes or groups, asks about cells that are there, and has one parent, before it."""
    children = [child for node in nodes for child in node.children]
    if not 0 < len(nodes) <= MOST_NODES or sorted(children) != list(range(1, len(nodes))):
        return False
    levels = {0: 0}
    for number, node in enumerate(nodes):
        levels |= dict.fromkeys(
            node.children, levels.get(number, MOST_LEVELS) + 1
        )  # who comes before its parent has none
    return (
        max(levels.values()) <= MOST_LEVELS
        and all(len(node.counts) == len(node.shares) == classes for node in nodes)
        and all(min(node.shares) >= 0 and sum(node.shares) == SHARES for node in nodes)
        and all(_asks(node, sizes) for node in nodes)
    )


def _asks(node: Node, sizes: list[int]) -> bool:
    if not node.children:
        return node.column == -1 and not node.right
    known = len(node.children) == 2 and 0 <= node.column < len(sizes) and len(node.right) > 0
    rising = all(one < other for one, other in pairwise(node.right))
    return known and rising and node.right[0] >= 0 and node.right[-1] < sizes[node.column]


# ---- numbers


def _unclassified(around: Around) -> None:
    """Without classes, and without cells."""
    if around.classes or any(isinstance(feature.cells, Line) for feature in around.features):
        raise ValueError


def _coefficients(said: Any, around: Around) -> Coefficients:
    _unclassified(around)
    given = parts(said, *(field.name for field in fields(Coefficients)))
    target = cells(given["target"])
    if not around.target or not isinstance(target, Span):
        raise ValueError
    rows, noise = whole(given["rows"]), whole(given["noise"])
    found = Coefficients(
        target, row(given["intercept"]), items(given["slopes"], table), table(given["means"]), rows, noise
    )
    widths = [_width(feature) for feature in around.features]
    every = [found.intercept, *(slope for slopes in found.slopes for slope in slopes)]
    if not (
        [len(slopes) for slopes in found.slopes] == [len(means) for means in found.means] == widths
        and all(len(one) == 2 and abs(one[0]) <= MOST_STEPS and 0 <= one[1] <= MOST_STEPS for one in every)
        and all(abs(mean) <= FINE for means in found.means for mean in means)
    ):
        raise ValueError
    return found


def _centres(said: Any, around: Around) -> Centres:
    given = parts(said, *(field.name for field in fields(Centres)))
    found = Centres(table(given["centres"]), table(given["errors"]), row(given["rows"]), whole(given["noise"]))
    shaped = not around.target and not around.classes and all(isinstance(one.cells, Span) for one in around.features)
    if not shaped or not _is_around(found, len(around.features)):
        raise ValueError
    return found


def _width(feature: Feature) -> int:
    return len(feature.cells.values) if isinstance(feature.cells, Listed) else 1


def _correlations(said: Any, around: Around) -> Correlations:
    many = _numbers(around)
    given = parts(said, *(field.name for field in fields(Correlations)))
    means, deviations = row(given["means"]), row(given["deviations"])
    matrix, errors = table(given["matrix"]), table(given["errors"])
    shaped = len(means) == len(deviations) == many and all(map(_shaped(many, many), (matrix, errors)))
    if not shaped or not _within(means, deviations, *matrix, *errors):
        raise ValueError
    return Correlations(matrix, errors, means, deviations, whole(given["rows"]), whole(given["noise"]))


def _directions(said: Any, around: Around) -> Directions:
    many = _numbers(around)
    given = parts(said, *(field.name for field in fields(Directions)))
    shares, means = row(given["shares"]), row(given["means"])
    directions, errors = table(given["directions"]), table(given["errors"])
    shaped = 1 <= len(shares) <= many == len(means) and all(map(_shaped(len(shares), many), (directions, errors)))
    if not shaped or not _within(shares, means, *directions, *errors):
        raise ValueError
    return Directions(directions, errors, shares, means, whole(given["rows"]), whole(given["noise"]))


def _numbers(around: Around) -> int:
    """How many columns there are: numbers between bounds, and no target."""
    _unclassified(around)
    if around.target or not all(isinstance(feature.cells, Span) for feature in around.features):
        raise ValueError
    return len(around.features)


def _shaped(rows: int, columns: int) -> Callable[[tuple[tuple[int, ...], ...]], bool]:
    return lambda found: len(found) == rows and all(len(row) == columns for row in found)


def _within(*rows: tuple[int, ...]) -> bool:
    """Whether all are from -1 to 1, in steps of 2^-30; a standard deviation may be a little more."""
    return all(abs(one) <= 2 * FINE for row in rows for one in row)


def _is_around(found: Centres, columns: int) -> bool:
    """Whether every centre lies within the bounds of all columns."""
    sizes = {len(found.centres), len(found.errors), len(found.rows)}
    return (
        len(sizes) == 1
        and 1 <= len(found.rows) <= MOST_CENTRES
        and all(len(one) == columns for one in (*found.centres, *found.errors))
        and all(abs(one) <= SIDE for centre in found.centres for one in centre)
        and all(0 <= one <= MOST_WEIGHT for errors in found.errors for one in errors)
        and all(abs(one) <= MOST_WEIGHT for one in found.rows)
        and 0 <= found.noise <= MOST_WEIGHT
    )


# ---- synthetic rows


def _likeness(said: Any, around: Around) -> Likeness:
    if around.target or around.classes:
        raise ValueError
    return likeness_in(said, around.features)


KIND: Mapping[type, str] = {
    Scores: "scores",
    Curves: "curves",
    Branches: "trees",
    Heights: "heights",
    Coefficients: "coefficients",
    Correlations: "correlations",
    Directions: "directions",
    Centres: "centres",
    Likeness: "likeness",
}
LEARNERS: Mapping[str, str] = {
    "bayes": "scores",
    "additive": "scores",
    "tree": "trees",
    "forest": "trees",
    "linear": "coefficients",
    "correlation": "correlations",
    "components": "directions",
    "clusters": "centres",
    "synthetic": "likeness",
}
OF_NUMBERS: Mapping[str, str] = {"additive": "curves", "tree": "heights"}  # where the target is a number
READERS: Mapping[str, Reader] = {
    "scores": _scores,
    "curves": _curves,
    "trees": _trees,
    "heights": _heights,
    "coefficients": _coefficients,
    "correlations": _correlations,
    "directions": _directions,
    "centres": _centres,
    "likeness": _likeness,
}
