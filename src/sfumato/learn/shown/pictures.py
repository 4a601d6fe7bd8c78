"""What a model learnt, in lines of text and in figures: curves of columns, trees; others have rooms of their own."""

from collections.abc import Callable, Sequence
from functools import partial
from math import log10
from typing import Any

from sfumato.learn.bins import Feature, Line, shown
from sfumato.learn.linear.coefficients import Coefficients
from sfumato.learn.linear.matrices import Correlations, Directions
from sfumato.learn.model import SHARES, TO_AN_END, Branches, Centres, Curves, Heights, Model, Node, Scores, depth
from sfumato.learn.scores.evidence import STEPS
from sfumato.learn.shown.mapped import axes_of, centre_lines, map_figure
from sfumato.learn.shown.marginals import marginal_figure, pairs_told
from sfumato.learn.shown.notes import lost
from sfumato.learn.shown.number_pictures import (
    coefficients_figure,
    correlations_figure,
    directions_figure,
    told_of_coefficients,
    told_of_correlations,
    told_of_directions,
)
from sfumato.learn.synthesis.likeness import Likeness
from sfumato.learn.wordings import no_such_part
from sfumato.plots.curves import curve
from sfumato.plots.trees import Drawn, tree

MOST_CURVES, MOST_TREES, MOST_LINES = 40, 5, 80
WHOLE = "whole"  # of what is drawn in one piece


def described(model: Model) -> list[str]:
    """A model in a few lines of text."""
    match model.fitted:
        case Scores() as fitted:
            told = [_told(model, fitted, place, STEPS) for place in ordered(fitted)]
            return told if len(model.classes) == 2 else [f"{_towards(model)}; other classes are in the file", *told]
        case Curves(target=target, sums=fitted):
            unit = TO_AN_END / target.reach
            usual = shown(target.middle + fitted.intercept[0] / unit, "real")
            added = [_told(model, fitted, place, unit) for place in ordered(fitted)]
            return [f"{model.target}: about {usual}, to which columns add", *added]
        case Branches(trees=trees):
            if len(trees) > 1:
                return [
                    f"tree {number}: {len(nodes)} nodes, depth {depth(nodes)}" for number, nodes in enumerate(trees)
                ]
            return _few(_indented(model, trees[0], 0, "", partial(_class, model)))
        case Heights() as heights:
            return _few(_indented(model, heights.nodes, 0, "", partial(_height, heights)))
        case Coefficients() as fitted:
            return told_of_coefficients(model, fitted)
        case Correlations() as fitted:
            return told_of_correlations(model, fitted)
        case Directions() as fitted:
            return told_of_directions(model, fitted)
        case Centres() as centres:
            return centre_lines(model, centres)
        case Likeness() as likeness:
            return pairs_told(model, likeness)


def parts(model: Model) -> list[tuple[str | int, str]]:
    """What is drawn of a model, each with its sentence."""
    match model.fitted:
        case Scores() as fitted:
            places = ordered(fitted)[:MOST_CURVES]
            names = [model.features[place].name for place in places]
            return [(name, f"{name}: what it adds to the {_towards(model)}, ±2 standard errors") for name in names]
        case Curves(sums=fitted):
            names = [model.features[place].name for place in ordered(fitted)[:MOST_CURVES]]
            return [(name, f"{name}: what it adds to {model.target}, ±2 standard errors") for name in names]
        case Heights():
            return [(0, "noisy means and rows; grey where noise rules; no to the left, yes to the right")]
        case Branches(trees=trees):
            told = "noisy rows of each class; grey where noise rules; no to the left, yes to the right"
            return [(number, told) for number in range(min(len(trees), MOST_TREES))]
        case Coefficients():
            return [(WHOLE, "what each column adds, with its interval at 95 %; grey where that reaches over 0")]
        case Correlations():
            return [(WHOLE, "how columns vary together, ± the standard deviation of the noise")]
        case Directions():
            return [(WHOLE, "how much of each column is in a component, ± the standard deviation of the noise")]
        case Centres() as centres:
            told = "centres with two standard deviations of their noise; grey where noise rules; no row is drawn"
            return [(axes_of(model, centres), told)]
        case Likeness():
            names = [feature.name for feature in model.features[:MOST_CURVES]]
            return [(name, f"{name}: rows of the synthetic table by cell") for name in names]


def figure(model: Model, part: str | int | None) -> Any:
    """A part of a model that `parts` names, or the first."""
    match model.fitted:
        case Scores() as fitted:
            return column_figure(model, fitted, part, STEPS, _towards(model))
        case Curves(target=target, sums=fitted):
            return column_figure(model, fitted, part, TO_AN_END / target.reach, model.target)
        case Branches(trees=trees):
            number = _number(part, len(trees))
            title = f"{model.target}: tree {number}" if len(trees) > 1 else model.target
            return tree([_drawn(model, node) for node in trees[number]], title=title)
        case Heights() as heights:
            return tree(
                [_raised(model, heights, node) for node in heights.nodes[_number(part, 1) :]], title=model.target
            )
        case Centres() as centres:
            return map_figure(model, centres, part)
        case Likeness() as likeness:
            return marginal_figure(model, likeness, part)
        case _ if part not in (None, WHOLE):
            raise no_such_part(str(part), (WHOLE,))
        case Coefficients() as fitted:
            return coefficients_figure(model, fitted)
        case Correlations() as fitted:
            return correlations_figure(model, fitted)
        case Directions() as fitted:
            return directions_figure(model, fitted)


# ---- sums of scores


def ordered(fitted: Scores) -> list[int]:
    """Columns by how much they carry: those that matter come first."""
    carried = [
        sum(max(rows, 0) * max(abs(weight) for weight in weights) ** 2 for rows, weights in zip(*both, strict=True))
        for both in zip(fitted.rows, fitted.weights, strict=True)
    ]
    return sorted(range(len(carried)), key=lambda place: -carried[place])


def _towards(model: Model) -> str:
    first, second, *others = model.classes
    return f"log-odds of {second}" + (f" against {first}" if others else "")


def _told(model: Model, fitted: Scores, place: int, unit: float) -> str:
    feature, noise = model.features[place], fitted.noise[place]
    ruled = sum(lost(rows, noise) for rows in fitted.rows[place])
    weights = [row[0] for row in fitted.weights[place]]
    low, high = weights.index(min(weights)), weights.index(max(weights))
    ends = [f"{feature.cells.label(cell)} {weights[cell] / unit:+.{_places(unit)}f}" for cell in (low, high)]
    return f"{feature.name}: {ends[0]}, {ends[1]}" + (f"; noise rules {ruled} of {feature.size} cells" if ruled else "")


def _places(unit: float) -> int:
    """Digits behind the point, such that what is told is as exact as a part in a few hundred of the whole."""
    return max(0, min(12, round(log10(unit))))


def column_figure(model: Model, fitted: Scores, column: str | int | None, unit: float, to: str) -> Any:
    """What a column adds to it, in so many steps a unit."""
    names = [feature.name for feature in model.features]
    if column is not None and column not in names:
        raise no_such_part(str(column), names)
    place = ordered(fitted)[0] if column is None else names.index(str(column))
    feature, noise = model.features[place], fitted.noise[place]
    return curve(
        [feature.cells.label(cell) for cell in range(feature.size)],
        [row[0] / unit for row in fitted.weights[place]],
        [row[0] / unit for row in fitted.errors[place]],
        [lost(rows, noise) for rows in fitted.rows[place]],
        title=feature.name,
        to=to,
    )


# ---- trees


def asked(feature: Feature, right: Sequence[int]) -> str:
    """A question in words, to which yes leads to the right."""
    if isinstance(feature.cells, Line) and len(right) > 1:
        return f"{feature.name} ≥ {feature.cells.shown(feature.cells.cuts[right[0] - 1])} or missing"
    labels = [feature.cells.label(cell) for cell in right]
    return f"{feature.name} = {labels[0]}" if len(labels) == 1 else f"{feature.name} in {', '.join(labels)}"


def _few(lines: list[str]) -> list[str]:
    return lines[:MOST_LINES] + ([f"… and {len(lines) - MOST_LINES} more"] if len(lines) > MOST_LINES else [])


def _indented(model: Model, nodes: Sequence[Node], number: int, before: str, leaf: Callable[[Node], str]) -> list[str]:
    node = nodes[number]
    if not node.children:
        return [f"{before}{leaf(node)}"]
    question = asked(model.features[node.column], node.right)
    no, yes = (_indented(model, nodes, child, before + "  ", leaf) for child in node.children)
    return [f"{before}{question}?", f"{before} yes", *yes, f"{before} no", *no]


def _class(model: Model, node: Node) -> str:
    best = max(range(len(node.shares)), key=lambda place: node.shares[place])
    rows = ", ".join(f"{count:,}" for count in node.counts)
    return f"{model.classes[best]} ({100 * node.shares[best] / SHARES:.0f} %; about {rows} rows, ±{node.noise})"


def _height(fitted: Heights, node: Node) -> str:
    return f"{_mean(fitted, node)} (about {sum(node.counts):,} rows, ±{_noise(node)})"


def _mean(fitted: Heights, node: Node) -> str:
    target = fitted.target
    return f"{target.middle + target.reach * fitted.height(node) / TO_AN_END:.4g}"


def _noise(node: Node) -> int:
    """Of all rows of a node."""
    return round(node.noise * float(len(node.counts) ** 0.5))


def _number(part: str | int | None, many: int) -> int:
    """The number of one of so many trees, or a refusal; by default the first."""
    if not (part is None or part in range(many)):
        raise no_such_part(str(part), map(str, range(many)))
    return int(part or 0)


def _drawn(model: Model, node: Node) -> Drawn:
    best = max(range(len(node.shares)), key=lambda place: node.shares[place])
    text = asked(model.features[node.column], node.right) if node.children else str(model.classes[best])
    told = [f"{value}: {count:,}" for value, count in zip(model.classes, node.counts, strict=True)]
    hover = f"{text}; {'; '.join(told)}; ±{node.noise} each"
    return Drawn(text, hover, lost(sum(node.counts), _noise(node)), 1 - node.shares[0] / SHARES, node.children)


def _raised(model: Model, fitted: Heights, node: Node) -> Drawn:
    mean = _mean(fitted, node)
    text = asked(model.features[node.column], node.right) if node.children else mean
    hover = f"{text}; {model.target}: {mean} on average; about {sum(node.counts):,} rows, ±{_noise(node)}"
    high = (fitted.height(node) / TO_AN_END + 1) / 2
    return Drawn(text, hover, lost(sum(node.counts), _noise(node)), high, node.children)
