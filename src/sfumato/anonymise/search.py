"""The best node of the lattice: by predictive tagging on paths (Flash), or by looking at every node."""

from collections.abc import Callable
from dataclasses import dataclass, field
from math import prod

import numpy as np
from numpy.typing import NDArray

from sfumato.anonymise.columns import Codes, Flags, Reals, added_up, renumbered, summed
from sfumato.anonymise.lattice import Groups, Node, Outcome, Problem, Rolling

Progress = Callable[[float], None]
UNKNOWN, ACCEPTED, REJECTED = 0, 1, -1
# Prices are sums of doubles: nearer than this they are equal, and the lower node wins.
TIE = 1e-12


@dataclass(slots=True)
class Best:
    """The best node so far and how many were looked at."""

    node: Node | None = None
    outcome: Outcome | None = None
    checks: int = 0
    price: float = field(default=np.inf)

    def see(self, node: Node, outcome: Outcome) -> None:
        if not outcome.accepted:
            return
        slack = TIE * max(1.0, abs(outcome.price))
        nearer = outcome.price < self.price - slack
        equal = abs(outcome.price - self.price) <= slack
        if self.node is None or nearer or (equal and (sum(node), node) < (sum(self.node), self.node)):
            self.node, self.outcome, self.price = node, outcome, outcome.price


def flash(problem: Problem, progress: Progress | None = None) -> Best:
    """The cheapest node that will do, looking at few of them.

    Claim: the same node as `exhaustive`. Paths from the bottom upwards are searched by halving; a node that will do
    tags everything above it, one that will not tags everything below, and nodes whose floor exceeds the best price are
    left out. Where suppression makes higher nodes cheaper or a criterion not monotone, every node that may still be
    cheaper is looked at afterwards.
    Proof: docs/proofs/anonymity-search.md (Kohlmayer et al. 2012).
    """
    shape, best = problem.shape, Best()
    status, seen = np.zeros(shape, dtype=np.int8), np.zeros(shape, dtype=np.bool_)
    floors = problem.floors()
    levels = np.indices(shape).sum(axis=0)
    order = np.lexsort((floors.ravel(), levels.ravel()))
    monotone, rolling = problem.want.monotone(problem.allowed), Rolling(problem)

    def look(node: Node) -> bool:
        """Whether the node passes everything that is monotone."""
        outcome = rolling.check(node)
        best.checks += 1
        best.see(node, outcome)
        seen[node] = True
        passes = not outcome.hopeless
        if passes:
            status[tuple(slice(level, None) for level in node)] = ACCEPTED
        else:
            status[tuple(slice(0, level + 1) for level in node)] = REJECTED
        return passes

    while True:
        ceiling = best.price * (1 + TIE) + TIE
        open_nodes = (status == UNKNOWN) & (floors <= ceiling)
        if not open_nodes.any():
            break
        start = order[np.argmax(open_nodes.ravel()[order])]
        path = _path(tuple(int(level) for level in np.unravel_index(start, shape)), status, floors, ceiling)
        low, high = 0, len(path) - 1
        while low <= high:
            middle = (low + high) // 2
            if look(path[middle]):
                high = middle - 1
            else:
                low = middle + 1
        if progress is not None:
            progress(float(np.mean(status != UNKNOWN)) * (0.5 if problem.allowed else 1))
    if problem.allowed or not monotone:
        _rest(rolling, best, (status == ACCEPTED) & ~seen, floors, progress)
    return best


def _path(start: Node, status: NDArray[np.int8], floors: Reals, ceiling: float) -> list[Node]:
    """Upwards from a node, each step to the undecided successor with the lowest floor."""
    path, node = [start], start
    while True:
        above = [
            (*node[:axis], level + 1, *node[axis + 1 :])
            for axis, level in enumerate(node)
            if level + 1 < status.shape[axis]
        ]
        above = [next_node for next_node in above if status[next_node] == UNKNOWN and floors[next_node] <= ceiling]
        if not above:
            return path
        node = min(above, key=lambda next_node: (floors[next_node], next_node))
        path.append(node)


def _rest(rolling: Rolling, best: Best, left: Flags, floors: Reals, progress: Progress | None) -> None:
    """Look at what passed the monotone part, cheapest floor first, until no floor is below the best price."""
    places = np.flatnonzero(left)
    places = places[np.argsort(floors.ravel()[places], kind="stable")]
    for number, place in enumerate(places):
        if floors.ravel()[place] > best.price * (1 + TIE) + TIE:
            break
        node = tuple(int(level) for level in np.unravel_index(place, left.shape))
        best.checks += 1
        best.see(node, rolling.check(node))
        if progress is not None and number % 16 == 0:
            progress(0.5 + 0.5 * number / len(places))


def exhaustive(problem: Problem, progress: Progress | None = None) -> Best:
    """The cheapest node that will do, having looked at every node.

    Claim: optimal, whatever the criterion and the metric. Groups of a node are rolled up from those of a finer node,
    never counted anew: nodes high up cost next to nothing.
    """
    best = Best()
    suffixes = _suffixes(problem)
    widest = prod(len(levels.labels[0]) for levels in problem.levels) * max(len(part[0]) for part in suffixes)
    if widest >= 1 << 62:  # keys would not fit into 64 bits
        for node in np.ndindex(problem.shape):
            best.checks += 1
            best.see(node, problem.check(node))
            if progress is not None:
                progress(best.checks / problem.nodes)
        return best
    if problem.sensitive:
        counts, suffix = problem.pair_count, np.arange(len(problem.pair_row))
    else:
        counts, suffix = problem.counts, np.arange(len(problem.counts))
    _descend(problem, suffixes, best, (), (np.zeros(len(counts), dtype=np.int64), 1), suffix, counts, progress)
    return best


Suffix = tuple[Codes, Codes, int]


def _suffixes(problem: Problem) -> list[Suffix]:
    """For each attribute: of every distinct end of a row from there on, its first value, and the end that follows it.

    What follows the last attribute is the joint sensitive value.
    """
    if problem.sensitive:
        following = problem.pair_code
        columns = [row[problem.pair_row] for row in problem.rows]
    else:
        following = np.zeros(len(problem.counts), dtype=np.int64)
        columns = list(problem.rows)
    count = int(following.max()) + 1
    parts: list[Suffix] = []
    for position, column in reversed(list(enumerate(columns))):
        if position == 0:
            parts.append((column, following, count))
            break
        place, number = renumbered(column * count + following)
        some = np.zeros(number, dtype=np.int64)
        some[place] = np.arange(len(place))
        parts.append((column[some], following[some], count))
        following, count = place, number
    return parts[::-1]


def _descend(
    problem: Problem,
    suffixes: list[Suffix],
    best: Best,
    chosen: Node,
    before: tuple[Codes, int],
    suffix: Codes,
    counts: Reals,
    progress: Progress | None,
) -> None:
    """Try every level of the next attribute; `before` numbers the labels of the attributes before it."""
    axis, (prefix, prefixes) = len(chosen), before
    levels = problem.levels[axis]
    first, following, ends = suffixes[axis]
    label, end = first[suffix], following[suffix]
    for level, table in enumerate(levels.tables):
        if level:
            up = np.zeros(len(levels.labels[level - 1]), dtype=np.int64)
            up[levels.tables[level - 1]] = table
            label = up[label]
        width = len(levels.labels[level])
        if level == 0:  # nothing has merged yet
            labelled = prefix * width + label
        else:
            keys, counts = added_up((prefix * width + label) * ends + end, counts, prefixes * width * ends)
            # Division by one number is fast; np.divmod is not.
            labelled = keys // ends
            end = keys - labelled * ends
            prefix = labelled // width
            label = labelled - prefix * width
        node = (*chosen, level)
        if len(node) < len(problem.levels):
            _descend(problem, suffixes, best, node, (labelled, prefixes * width), end, counts, progress)
        else:
            best.checks += 1
            best.see(node, _judged(problem, node, labelled, end, counts))
    if progress is not None and axis == len(problem.levels) - 2:
        progress(best.checks / problem.nodes)


def _judged(problem: Problem, node: Node, keys: Codes, sensitive: Codes, counts: Reals) -> Outcome:
    if not problem.sensitive:
        groups, owner = Groups(counts, sensitive[:0], sensitive[:0], counts[:0]), keys
    else:
        place, number = renumbered(keys)
        owner = np.zeros(number, dtype=np.int64)
        owner[place] = keys
        sizes = summed(place, counts, number)
        groups = Groups(sizes, place, sensitive, counts)

    def lost(bad: Flags) -> float:
        rest = owner[bad]
        spared = np.full(len(rest), float(len(problem.levels)))
        for levels, level in zip(reversed(problem.levels), reversed(node), strict=True):
            rest, label = np.divmod(rest, len(levels.labels[level]))
            spared -= levels.loss[level][label]
        return float((spared * groups.sizes[bad]).sum())

    return problem.judge(node, groups, lost)
