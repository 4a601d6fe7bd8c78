"""A model as SQL that any engine with CASE reads: flat, one branch a cell or leaf. What is missing has the last cell.

Nested CASEs would take some engines quadratic time to plan.
"""

from collections.abc import Iterator, Sequence

from sfumato.learn.bins import Feature, Line, Listed
from sfumato.learn.evidence import STEPS
from sfumato.learn.model import SHARES, Branches, Model, Node, Scores
from sfumato.schema.columns import CategoryValue, plain_text

LARGEST = "1.7976931348623157e308"  # NaN and infinity are not below it, and count as missing


def as_sql(model: Model, table: str | None) -> str:
    """A SELECT of all rows of a table, each with its class and the probability of every class."""
    source = name(model.paid.table if table is None else table)
    match model.fitted:
        case Scores() as scores:
            columns, shares = _scores(model, scores), _softmax(len(model.classes))
        case Branches() as branches:
            columns, shares = _votes(model, branches)
    named = [_share(place) for place in range(len(model.classes))]
    listed = ", ".join(f"{each} AS {one}" for each, one in zip(shares, named, strict=True))
    whens = [
        f"WHEN {' AND '.join(f'{one} >= {other}' for other in named if other != one)} THEN {literal(value)}"
        for one, value in zip(named, model.classes[:-1], strict=False)
    ]
    shown = [
        f"{one} AS {name(f'probability_{plain_text(value)}')}" for one, value in zip(named, model.classes, strict=True)
    ]
    return (
        f"SELECT people.*, CASE {' '.join(whens)} ELSE {literal(model.classes[-1])} END AS prediction,\n"
        f"  {', '.join(shown)}\n"
        f"FROM (SELECT people.*, {listed}\n"
        "FROM (SELECT people.*,\n  " + ",\n  ".join(columns) + f"\nFROM {source} AS people) AS people) AS people\n"
    )


def name(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def literal(value: CategoryValue) -> str:
    return str(value) if type(value) is int else "'" + plain_text(value).replace("'", "''") + "'"


def _share(place: int) -> str:
    return f"sfumato_share_{place}"


def _read(feature: Feature) -> str:
    """A column as its cells name it: of true and false, which engines write otherwise, the text."""
    cells = feature.cells
    texts = isinstance(cells, Listed) and type(cells.values[0]) is bool
    return f"CAST({name(feature.name)} AS VARCHAR)" if texts else name(feature.name)


def _edge(line: Line, cut: float) -> str:
    if line.kind == "day":
        return f"DATE '{line.shown(cut)}'"
    return str(int(cut)) if cut.is_integer() and abs(cut) < 2**53 else repr(cut)


def _known(feature: Feature, line: Line) -> str:
    return f"{_read(feature)} IS NOT NULL" if line.kind == "day" else f"{_read(feature)} <= {LARGEST}"


# ---- sums of scores


def _scores(model: Model, fitted: Scores) -> list[str]:
    """The score of every class but the first, whose score is 0."""
    found = []
    for place, intercept in enumerate(fitted.intercept):
        terms = [
            _picked(feature, [row[place] for row in weights])
            for feature, weights in zip(model.features, fitted.weights, strict=True)
        ]
        found.append(f"{intercept}\n    + " + "\n    + ".join(terms) + f" AS sfumato_score_{place + 1}")
    return found


def _picked(feature: Feature, numbers: Sequence[int]) -> str:
    """The number of a row's cell, as one flat CASE."""
    read = _read(feature)
    match feature.cells:
        case Listed(values=values):
            whens = [f"WHEN {literal(value)} THEN {number}" for value, number in zip(values, numbers, strict=False)]
            return f"CASE {read} {' '.join(whens)} ELSE {numbers[-1]} END"
        case Line(cuts=cuts) as line:
            edges = [_edge(line, cut) for cut in cuts]
            whens = [f"WHEN {read} < {edge} THEN {number}" for edge, number in zip(edges, numbers, strict=False)]
            return (
                f"CASE {' '.join([*whens, f'WHEN {_known(feature, line)} THEN {numbers[-2]}'])} ELSE {numbers[-1]} END"
            )


def _softmax(classes: int) -> list[str]:
    """Divided by the power of the class itself: no power is too large, and equal scores have equal shares."""
    scores = ["0", *(f"sfumato_score_{place}" for place in range(1, classes))]
    return [
        "1.0 / ("
        + " + ".join("1" if other == own else f"EXP(({other} - {own}) / {float(STEPS)})" for other in scores)
        + ")"
        for own in scores
    ]


# ---- trees


def _votes(model: Model, fitted: Branches) -> tuple[list[str], list[str]]:
    """The share of every class but the last in the leaf of each tree; the last has the rest."""
    many = len(model.classes)
    columns = [
        f"{_leaf(model, nodes, place)} AS sfumato_tree_{number}_{place}"
        for number, nodes in enumerate(fitted.trees)
        for place in range(many - 1)
    ]
    whole = SHARES * len(fitted.trees)
    sums = [
        " + ".join(f"sfumato_tree_{tree}_{place}" for tree in range(len(fitted.trees))) for place in range(many - 1)
    ]
    shares = [f"({added}) / {float(whole)}" for added in sums]
    return columns, [*shares, f"({whole} - ({' + '.join(sums)})) / {float(whole)}"]


def _leaf(model: Model, nodes: Sequence[Node], place: int) -> str:
    """A flat CASE with one branch a leaf, leaves to the left first.

    A row that comes to a branch was in none of those before it; so a branch need not say where its leaf lies to the
    right of a question: who lies to the left is gone.
    """
    *before, (_, last) = _paths(model, nodes, 0, ())
    if not before:
        return str(nodes[last].shares[place])
    whens = [f"WHEN {' AND '.join(lefts) or 'TRUE'} THEN {nodes[leaf].shares[place]}" for lefts, leaf in before]
    return (
        f"CASE\n    {chr(10).join(whens).replace(chr(10), chr(10) + '    ')}\n    ELSE {nodes[last].shares[place]} END"
    )


def _paths(
    model: Model, nodes: Sequence[Node], number: int, lefts: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], int]]:
    node = nodes[number]
    if not node.children:
        yield lefts, number
        return
    yield from _paths(model, nodes, node.children[0], (*lefts, left_of(model.features[node.column], node.right)))
    yield from _paths(model, nodes, node.children[1], lefts)


def left_of(feature: Feature, right: tuple[int, ...]) -> str:
    """True for rows whose cell is not in `right`; false or NULL for all others."""
    read, size = _read(feature), feature.size
    match feature.cells:
        case Line(cuts=cuts) as line if right == tuple(range(right[0], size)) and right[0] > 0:
            return f"{read} < {_edge(line, cuts[right[0] - 1])}" if right[0] <= len(cuts) else _known(feature, line)
        case Listed(values=values) if size - 1 in right:
            left = [literal(value) for cell, value in enumerate(values) if cell not in right]
            return f"{read} IN ({', '.join(left)})" if left else "FALSE"
        case Listed(values=values):
            gone = ", ".join(literal(value) for cell, value in enumerate(values) if cell in right)
            return f"({read} IS NULL OR {read} NOT IN ({gone}))"
        case _:
            return f"{_picked(feature, [int(cell in right) for cell in range(size)])} = 0"
