"""What a model learnt, in lines of text and in figures: curves of columns, and trees."""

from collections.abc import Sequence
from typing import Any

from sfumato.learn.bins import Feature, Line
from sfumato.learn.evidence import STEPS
from sfumato.learn.model import SHARES, Branches, Model, Node, Scores, depth
from sfumato.learn.notes import lost
from sfumato.learn.wordings import no_such_part
from sfumato.plots.curves import curve
from sfumato.plots.trees import Drawn, tree

MOST_CURVES, MOST_TREES, MOST_LINES = 40, 5, 80


def described(model: Model) -> list[str]:
    """A model in a few lines of text."""
    match model.fitted:
        case Scores() as fitted:
            return [_told(model, fitted, place) for place in ordered(fitted)]
        case Branches(trees=trees):
            if len(trees) > 1:
                return [
                    f"tree {number}: {len(nodes)} nodes, depth {depth(nodes)}" for number, nodes in enumerate(trees)
                ]
            lines = list(_indented(model, trees[0], 0, ""))
            return lines[:MOST_LINES] + ([f"… and {len(lines) - MOST_LINES} more"] if len(lines) > MOST_LINES else [])


def parts(model: Model) -> list[tuple[str | int, str]]:
    """What is drawn of a model, each with its sentence."""
    match model.fitted:
        case Scores() as fitted:
            places = ordered(fitted)[:MOST_CURVES]
            names = [model.features[place].name for place in places]
            return [(name, f"{name}: what it adds to the log-odds, ±2 standard errors") for name in names]
        case Branches(trees=trees):
            told = "noisy rows of each class; grey where noise rules; no to the left, yes to the right"
            return [(number, told) for number in range(min(len(trees), MOST_TREES))]


# ---- sums of scores


def ordered(fitted: Scores) -> list[int]:
    """Columns by how much they carry: those that matter come first."""
    carried = [
        sum(max(rows, 0) * max(abs(weight) for weight in weights) ** 2 for rows, weights in zip(*both, strict=True))
        for both in zip(fitted.rows, fitted.weights, strict=True)
    ]
    return sorted(range(len(carried)), key=lambda place: -carried[place])


def _told(model: Model, fitted: Scores, place: int) -> str:
    feature, noise = model.features[place], fitted.noise[place]
    ruled = sum(lost(rows, noise) for rows in fitted.rows[place])
    weights = [row[0] for row in fitted.weights[place]]
    low, high = weights.index(min(weights)), weights.index(max(weights))
    ends = [f"{feature.cells.label(cell)} {weights[cell] / STEPS:+.2f}" for cell in (low, high)]
    return f"{feature.name}: {ends[0]}, {ends[1]}" + (f"; noise rules {ruled} of {feature.size} cells" if ruled else "")


def column_figure(model: Model, column: str | int | None) -> Any:
    fitted = model.fitted
    names = [feature.name for feature in model.features]
    if not isinstance(fitted, Scores) or (column is not None and column not in names):
        raise no_such_part(str(column), names)
    place = ordered(fitted)[0] if column is None else names.index(str(column))
    feature, noise = model.features[place], fitted.noise[place]
    return curve(
        [feature.cells.label(cell) for cell in range(feature.size)],
        [row[0] / STEPS for row in fitted.weights[place]],
        [row[0] / STEPS for row in fitted.errors[place]],
        [lost(rows, noise) for rows in fitted.rows[place]],
        title=feature.name,
        towards=str(model.classes[1]),
    )


# ---- trees


def asked(feature: Feature, right: Sequence[int]) -> str:
    """A question in words, to which yes leads to the right."""
    if isinstance(feature.cells, Line) and len(right) > 1:
        return f"{feature.name} ≥ {feature.cells.shown(feature.cells.cuts[right[0] - 1])} or missing"
    labels = [feature.cells.label(cell) for cell in right]
    return f"{feature.name} = {labels[0]}" if len(labels) == 1 else f"{feature.name} in {', '.join(labels)}"


def _indented(model: Model, nodes: Sequence[Node], number: int, before: str) -> list[str]:
    node = nodes[number]
    if not node.children:
        return [f"{before}{_class(model, node)}"]
    question = asked(model.features[node.column], node.right)
    no, yes = (_indented(model, nodes, child, before + "  ") for child in node.children)
    return [f"{before}{question}?", f"{before} yes", *yes, f"{before} no", *no]


def _class(model: Model, node: Node) -> str:
    best = max(range(len(node.shares)), key=lambda place: node.shares[place])
    rows = ", ".join(f"{count:,}" for count in node.counts)
    return f"{model.classes[best]} ({100 * node.shares[best] / SHARES:.0f} %; about {rows} rows, ±{node.noise})"


def tree_figure(model: Model, number: str | int | None) -> Any:
    fitted = model.fitted
    if not isinstance(fitted, Branches) or not (number is None or number in range(len(fitted.trees))):
        raise no_such_part(str(number), map(str, range(len(fitted.trees))) if isinstance(fitted, Branches) else ())
    place = int(number or 0)
    title = f"{model.target}: tree {place}" if len(fitted.trees) > 1 else model.target
    return tree([_drawn(model, node) for node in fitted.trees[place]], title=title)


def _drawn(model: Model, node: Node) -> Drawn:
    best = max(range(len(node.shares)), key=lambda place: node.shares[place])
    text = asked(model.features[node.column], node.right) if node.children else str(model.classes[best])
    told = [f"{value}: {count:,}" for value, count in zip(model.classes, node.counts, strict=True)]
    hover = f"{text}; {'; '.join(told)}; ±{node.noise} each"
    grey = lost(sum(node.counts), round(node.noise * len(node.counts) ** 0.5))
    return Drawn(text, hover, grey, 1 - node.shares[0] / SHARES, node.children)
