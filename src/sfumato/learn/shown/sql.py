"""A model as SQL that any engine with CASE reads: flat, one branch a cell or leaf. What is missing has the last cell.

Nested CASEs would take some engines quadratic time to plan.
"""

from collections.abc import Iterable, Iterator, Sequence

from sfumato.learn.bins import Feature, Span, shown
from sfumato.learn.clustering.nearest import Keys
from sfumato.learn.linear.coefficients import FINE, Coefficients
from sfumato.learn.linear.matrices import Correlations, Directions
from sfumato.learn.model import SHARES, SIDE, TO_AN_END, Branches, Centres, Curves, Heights, Model, Node, Scores
from sfumato.learn.scaled import span
from sfumato.learn.scores.evidence import STEPS
from sfumato.learn.shown.sql_cells import left_of, less, literal, name, picked, read_of, rounded
from sfumato.learn.synthesis.likeness import Likeness
from sfumato.learn.wordings import no_sql, nothing_in_sql, sql_too_large
from sfumato.schema.columns import plain_text

MOST_CHARACTERS = 100 * 10**6
AT_ONCE = 32  # numbers that are added in one pair of brackets
TOP, COMMA, LINE, PLUS = "sfumato_top", ",\n  ", "\n    ", "\n    + "


def as_sql(model: Model, table: str | None) -> str:
    """A SELECT of all rows of a table, each with what the model says of it."""
    source = name(model.paid.table if table is None else table)
    match model.fitted:
        case Scores() as scores:
            return _classified(model, source, *_softmax(model, scores))
        case Branches() as branches:
            return _classified(model, source, *_votes(model, branches))
        case Curves() as curves:
            return _summed(model, source, curves)
        case Heights() as heights:
            return _reached(model, source, heights)
        case Coefficients() as coefficients:
            return _predicted(model, source, coefficients)
        case Directions() as directions:
            return _along(model, source, directions)
        case Correlations():
            raise no_sql(model.learner)
        case Centres() as centres:
            return _nearest(model, centres, source)
        case Likeness():
            raise nothing_in_sql("a synthetic table")


def _classified(
    model: Model, source: str, steps: Iterable[Iterable[str]], ranks: Sequence[str], shares: Sequence[str]
) -> str:
    """Each row with its class, the first whose rank is the greatest, and the probability of every class.

    `steps`: columns that are added one after the other, each of those before. Nothing is said of two classes together:
    the text grows with their number and not with its square.
    """
    whens = [
        f"WHEN {rank} = {TOP} THEN {literal(value)}" for rank, value in zip(ranks, model.classes[:-1], strict=False)
    ]
    named = [
        f"{share} AS {name(f'probability_{plain_text(value)}')}"
        for share, value in zip(shares, model.classes, strict=True)
    ]
    return (
        f"SELECT people.*, CASE {joined(' ', whens)} ELSE {literal(model.classes[-1])} END AS prediction,\n"
        f"  {joined(', ', named)}\n"
        f"FROM ({_stepwise(source, steps)}) AS people\n"
    )


def _stepwise(source: str, steps: Iterable[Iterable[str]]) -> str:
    """The rows with all these columns."""
    begun, *more = steps
    inner = f"SELECT people.*,\n  {joined(COMMA, begun)}\nFROM {source} AS people"
    for step in more:
        inner = f"SELECT people.*,\n  {joined(COMMA, step)}\nFROM ({inner}) AS people"
    return inner


def joined(between: str, parts: Iterable[str]) -> str:
    """A text of parts, made one after the other: a small file may say what would be a text of gigabytes."""
    found, left = list[str](), MOST_CHARACTERS
    for part in parts:
        left -= len(part) + len(between)
        if left < 0:
            raise sql_too_large(MOST_CHARACTERS // 10**6)
        found.append(part)
    return between.join(found)


def _greatest(numbers: Sequence[str]) -> str:
    """Of two numbers in words that every engine knows."""
    if len(numbers) == 2:
        one, other = numbers
        return f"CASE WHEN {other} > {one} THEN {other} ELSE {one} END"
    return f"GREATEST({joined(', ', numbers)})"


def _sum(numbers: Sequence[str]) -> str:
    """In parts of a few: engines read only so many operators inside of each other."""
    while len(numbers) > AT_ONCE:
        parts = [numbers[begin : begin + AT_ONCE] for begin in range(0, len(numbers), AT_ONCE)]
        numbers = [f"({' + '.join(part)})" for part in parts]
    return joined(" + ", numbers)


# ---- sums of scores


def _scores(model: Model, fitted: Scores) -> Iterator[str]:
    """The score of every class but the first, whose score is 0."""
    for place, intercept in enumerate(fitted.intercept):
        terms = (
            picked(feature, [row[place] for row in weights])
            for feature, weights in zip(model.features, fitted.weights, strict=True)
        )
        yield f"{intercept}\n    + {joined(PLUS, terms)} AS sfumato_score_{place + 1}"


def _summed(model: Model, source: str, fitted: Curves) -> str:
    """Each row with the number that is predicted of it, within the bounds of the target."""
    (total,) = _scores(model, fitted.sums)
    low, high, middle, reach = (
        repr(number) for number in (fitted.target.lower, fitted.target.upper, fitted.target.middle, fitted.target.reach)
    )
    score = "sfumato_score_1"
    inside = f"{middle} + {reach} * ({score} / {float(TO_AN_END)})"
    return (
        f"SELECT people.*, CASE WHEN {score} < -{TO_AN_END} THEN {low} WHEN {score} > {TO_AN_END} THEN {high} "
        f"ELSE {inside} END AS prediction\n"
        f"FROM (SELECT people.*,\n  {total}\nFROM {source} AS people) AS people\n"
    )


def _softmax(model: Model, fitted: Scores) -> tuple[list[Iterable[str]], list[str], list[str]]:
    """Powers of what scores are below the greatest: none is too large, and equal scores have equal shares."""
    many = range(len(model.classes))
    scores = ["0", *(f"sfumato_score_{place}" for place in many[1:])]
    powers = [f"sfumato_power_{place}" for place in many]
    raised = [
        f"EXP(({score} - {TOP}) / {float(STEPS)}) AS {power}" for score, power in zip(scores, powers, strict=True)
    ]
    steps = [_scores(model, fitted), [f"{_greatest(scores)} AS {TOP}"], raised, [f"{_sum(powers)} AS sfumato_powers"]]
    return steps, scores, [f"{power} / sfumato_powers" for power in powers]


# ---- trees


def _votes(model: Model, fitted: Branches) -> tuple[list[Iterable[str]], list[str], list[str]]:
    """The shares of every class but the last in the leaf of each tree, and their sums; the last has the rest."""
    trees, places = range(len(fitted.trees)), range(len(model.classes) - 1)
    leaves = (
        f"{_leaf(model, nodes, [node.shares[place] for node in nodes])} AS sfumato_tree_{number}_{place}"
        for number, nodes in enumerate(fitted.trees)
        for place in places
    )
    votes, whole = [f"sfumato_votes_{place}" for place in range(len(model.classes))], SHARES * len(fitted.trees)
    sums = [f"{_sum([f'sfumato_tree_{tree}_{place}' for tree in trees])} AS {votes[place]}" for place in places]
    rest, top = f"{whole} - ({_sum(votes[:-1])}) AS {votes[-1]}", f"{_greatest(votes)} AS {TOP}"
    return [leaves, sums, [rest], [top]], votes, [f"{each} / {float(whole)}" for each in votes]


def _reached(model: Model, source: str, fitted: Heights) -> str:
    """Each row with the number that its leaf says."""
    leaf = _leaf(model, fitted.nodes, [fitted.height(node) for node in fitted.nodes])
    middle, reach = repr(fitted.target.middle), repr(fitted.target.reach)
    return (
        f"SELECT people.*, {middle} + {reach} * (sfumato_leaf / {float(TO_AN_END)}) AS prediction\n"
        f"FROM (SELECT people.*,\n  {leaf} AS sfumato_leaf\nFROM {source} AS people) AS people\n"
    )


def _leaf(model: Model, nodes: Sequence[Node], numbers: Sequence[int]) -> str:
    """The number of a row's leaf: a flat CASE with one branch a leaf, leaves to the left first.

    A row that comes to a branch was in none of those before it; so a branch need not say where its leaf lies to the
    right of a question: who lies to the left is gone.
    """
    last = 0
    while nodes[last].children:
        last = nodes[last].children[1]
    if not last:
        return str(numbers[last])
    paths = _paths(model, nodes, 0, ())
    whens = (f"WHEN {joined(' AND ', lefts) or 'TRUE'} THEN {numbers[leaf]}" for lefts, leaf in paths if leaf != last)
    return f"CASE\n    {joined(LINE, whens)}\n    ELSE {numbers[last]} END"


def _paths(
    model: Model, nodes: Sequence[Node], number: int, lefts: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], int]]:
    node = nodes[number]
    if not node.children:
        yield lefts, number
        return
    yield from _paths(model, nodes, node.children[0], (*lefts, left_of(model.features[node.column], node.right)))
    yield from _paths(model, nodes, node.children[1], lefts)


# ---- sums of numbers


def _predicted(model: Model, source: str, fitted: Coefficients) -> str:
    """Each row with the number that is predicted of it, within the bounds of the target."""
    terms = [_real(fitted.intercept[0] / FINE)]
    for feature, slopes, usual in zip(model.features, fitted.slopes, fitted.usual, strict=True):
        numbers = [slope[0] / FINE for slope in slopes]
        if isinstance(feature.cells, Span):
            terms.append(_scaled(feature, feature.cells, numbers[0], usual))
        else:
            terms.append(picked(feature, [*map(_real, numbers), _real(usual)]))
    total, target = "sfumato_sum", fitted.target
    low, high = _real(target.lower), _real(target.upper)
    inside = f"{_real(target.middle)} + {_real(target.reach)} * {total}"
    clipped = f"CASE WHEN {total} < -1 THEN {low} WHEN {total} > 1 THEN {high} ELSE {inside} END"
    return (
        f"SELECT people.*, {clipped} AS prediction\n"
        "FROM (SELECT people.*,\n  " + joined(PLUS, terms) + f" AS {total}\nFROM {source} AS people) AS people\n"
    )


def _along(model: Model, source: str, fitted: Directions) -> str:
    """Each row with its place along every direction."""
    return f"SELECT people.*,\n  {joined(COMMA, _places(model, fitted))}\nFROM {source} AS people\n"


def _places(model: Model, fitted: Directions) -> Iterator[str]:
    for number, direction in enumerate(fitted.directions, start=1):
        start = -sum(part * mean for part, mean in zip(direction, fitted.means, strict=True)) / FINE**2
        terms = [_real(start)]
        for feature, part, mean in zip(model.features, direction, fitted.means, strict=True):
            if isinstance(feature.cells, Span):
                terms.append(_scaled(feature, feature.cells, part / FINE, part * mean / FINE**2))
        yield f"{joined(PLUS, terms)} AS component_{number}"


def _scaled(feature: Feature, span: Span, slope: float, missing: float) -> str:
    """A slope times the place of a number between its bounds, from -1 to 1; beyond them it is as at them."""
    if span.kind == "day":
        read = f"CAST({read_of(feature)} AS DATE)"
        low, high = (f"DATE '{shown(end, span.kind)}'" for end in (span.lower, span.upper))
        place, below, above = f"({read} - {low}) / {_real(span.reach)} - 1", f"{read} < {low}", f"{read} > {high}"
    else:
        read, low, high = read_of(feature), _real(span.lower), _real(span.upper)
        place = f"({rounded(read, span)} - {_real(span.middle)}) / {_real(span.reach)}"
        below, above = f"{read} < {low}", f"{less(read)} < {_real(-span.upper)}"
    return (
        f"CASE WHEN {read} >= {low} AND {read} <= {high} THEN {_real(slope)} * ({place}) "
        f"WHEN {below} THEN {_real(-slope)} WHEN {above} THEN {_real(slope)} ELSE {_real(missing)} END"
    )


def _real(number: float) -> str:
    """Every digit of a double, as SQL writes one."""
    digits = repr(number)
    return f"({digits if 'e' in digits else f'{digits}e0'})"


# ---- clusters


def _nearest(model: Model, fitted: Centres, source: str) -> str:
    """Each row with the place of the nearest centre, by keys as in `learn.nearest`; -1 where a number is missing."""
    scaled = [f"{_in_steps(feature)} AS sfumato_scaled_{place}" for place, feature in enumerate(model.features)]
    floors = [f"FLOOR(sfumato_scaled_{place} + 0.5) AS sfumato_floor_{place}" for place in range(len(scaled))]
    steps = [f"{_step(place)} AS sfumato_step_{place}" for place in range(len(scaled))]
    keys = Keys(fitted.centres, SIDE)
    listed = [_key(*keys.key(place)) for place in range(keys.many)]
    key = listed[0] if keys.many == 1 else f"GREATEST(\n  {joined(COMMA, listed)})"
    known = " AND ".join(f"sfumato_step_{place} IS NOT NULL" for place in range(len(scaled)))
    return (
        f"SELECT people.*, CASE WHEN {known} THEN {keys.many - 1} - MOD({key}, {keys.many}) ELSE -1 END AS cluster\n"
        f"FROM ({_stepwise(source, [scaled, floors, steps])}) AS people\n"
    )


def _in_steps(feature: Feature) -> str:
    """A number in steps from the middle of its bounds, before it is rounded; NULL where it is missing."""
    cells = span(feature)
    read = f"CAST({name(feature.name)} AS DATE) - DATE '1970-01-01'" if cells.kind == "day" else name(feature.name)
    value = f"CAST({read} AS DOUBLE PRECISION)"
    lower, upper, middle, factor = map(_double, (cells.lower, cells.upper, cells.middle, cells.factor(SIDE)))
    inside = f"({rounded(value, cells)} - {middle}) * {factor}"
    return (
        f"CASE WHEN {value} < {lower} THEN -{SIDE} WHEN {value} <= {upper} AND {value} >= {lower} THEN {inside} "
        f"WHEN {less(value)} < {_double(-cells.upper)} THEN {SIDE} END"
    )


def _double(number: float) -> str:
    """With an exponent: without one, some engines would reckon in decimal digits."""
    return f"CAST({number!r}{'' if 'e' in repr(number) else 'e0'} AS DOUBLE PRECISION)"


def _step(place: int) -> str:
    """Rounded, halves to the even number: FLOOR(x + 0.5) is that or one more."""
    scaled, floor = f"sfumato_scaled_{place}", f"sfumato_floor_{place}"
    above = f"{floor} - {scaled} > 0.5 OR ({floor} - {scaled} = 0.5 AND MOD(CAST({floor} AS INTEGER), 2) <> 0)"
    return f"CAST(CASE WHEN {above} THEN {floor} - 1 ELSE {floor} END AS BIGINT)"


def _key(factors: Sequence[int], constant: int) -> str:
    terms = [f"{factor} * sfumato_step_{place}" for place, factor in enumerate(factors) if factor]
    return " + ".join([str(constant), *terms]).replace("+ -", "- ")
