"""All combinations of levels of the quasi-identifiers, and what each of them would do to the table."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np

from sfumato.anonymise.columns import Coded, Codes, Flags, Reals, added_up, combined, renumbered, summed
from sfumato.anonymise.counts import counted
from sfumato.anonymise.criteria import SLACK, Sensitive, Wanted, distances, failing
from sfumato.anonymise.hierarchies import Levels

Node = tuple[int, ...]
# A table is worth keeping when it is so much smaller than the one it came from.
SHRUNK = 0.7
MOST_TABLES = 200
METRICS = ("loss", "discernibility", "class_size")


@dataclass(frozen=True, slots=True)
class Outcome:
    """One node: whether it will do, the rows it suppresses, and its price by the metric of the search.

    hopeless: it fails a criterion that every node below fails too.
    """

    accepted: bool
    hopeless: bool
    suppressed: int
    price: float


@dataclass(frozen=True, slots=True)
class Groups:
    """The groups of a node: their sizes, and the values of the sensitive columns in them, jointly coded."""

    sizes: Reals
    of_pair: Codes
    codes: Codes
    counts: Reals


@dataclass(frozen=True, slots=True)
class Problem:
    """A table without repetitions: its distinct rows of quasi-identifiers, how often each occurs, and what is wanted.

    pair_row, pair_code, pair_count: the distinct rows again, with the joint code of the sensitive values beside them.
    joint: for each sensitive column, its own code for each joint code.
    generalised: the loss of every node if nothing were suppressed. wholes: each sensitive column in the whole table.
    """

    levels: tuple[Levels, ...]
    rows: tuple[Codes, ...]
    counts: Reals
    pair_row: Codes
    pair_code: Codes
    pair_count: Reals
    joint: tuple[Codes, ...]
    sensitive: tuple[Sensitive, ...]
    want: Wanted
    allowed: int
    metric: str
    total: float
    generalised: Reals
    wholes: tuple[Reals, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(levels.height for levels in self.levels)

    @property
    def nodes(self) -> int:
        return prod(self.shape)

    def floors(self) -> Reals:
        """A lower bound of the price of every node: suppression adds to the loss; other metrics have no bound."""
        return self.generalised if self.metric == "loss" else np.zeros(self.shape)

    def group(self, node: Node) -> tuple[Codes, int]:
        """The group of each distinct row, and how many groups there are."""
        labels = [levels.tables[level][row] for levels, row, level in zip(self.levels, self.rows, node, strict=True)]
        sizes = [len(levels.labels[level]) for levels, level in zip(self.levels, node, strict=True)]
        return combined(labels, sizes)

    def check(self, node: Node) -> Outcome:
        """Group the rows, suppress groups that fail, and price the rest."""
        return self.grouped(node, *self.group(node))

    def grouped(self, node: Node, of_row: Codes, count: int) -> Outcome:
        """The outcome of a node whose groups are known."""
        sizes = summed(of_row, self.counts, count)

        def lost(bad: Flags) -> float:
            gone = bad[of_row]
            weights = self.counts[gone]
            spared = np.full(len(weights), float(len(self.levels)))
            for levels, row, level in zip(self.levels, self.rows, node, strict=True):
                spared -= levels.loss[level][levels.tables[level][row[gone]]]
            return float((spared * weights).sum())

        pairs = (of_row[self.pair_row], self.pair_code, self.pair_count) if self.sensitive else _NOTHING
        return self.judge(node, Groups(sizes, *pairs), lost)

    def judge(self, node: Node, groups: Groups, lost: Callable[[Flags], float]) -> Outcome:
        """`lost` gives the loss that suppressing some groups adds to that of generalising them."""
        bad = groups.sizes < self.want.k
        suppressed = float(groups.sizes[bad].sum())
        if suppressed > self.allowed or suppressed >= self.total:
            return Outcome(False, True, int(suppressed), np.inf)
        if not self.want.plain:
            bad |= self.undiverse(groups, self.wholes)
            suppressed = float(groups.sizes[bad].sum())
            if suppressed > self.allowed or suppressed >= self.total:
                hopeless = self.want.monotone(self.allowed) or self._far_beyond_suppression(groups)
                return Outcome(False, hopeless, int(suppressed), np.inf)
            if suppressed and self.want.t is not None and self._far_from_the_rest(groups, bad):
                return Outcome(False, False, int(suppressed), np.inf)
        return Outcome(True, False, int(suppressed), self._price(node, groups.sizes, bad, lost))

    def rolled_up(self, of_row: Codes, count: int) -> "Problem":
        """The same problem with one row for each group, good for every node above the one that made these groups."""
        some = np.zeros(count, dtype=np.int64)
        some[of_row] = np.arange(len(of_row))
        counts = summed(of_row, self.counts, count)
        rows = tuple(row[some] for row in self.rows)
        if not self.sensitive:
            return replace(self, rows=rows, counts=counts)
        codes = len(self.joint[0])
        keys, pair_count = added_up(of_row[self.pair_row] * codes + self.pair_code, self.pair_count, count * codes)
        pair_row, pair_code = np.divmod(keys, codes)
        return replace(self, rows=rows, counts=counts, pair_row=pair_row, pair_code=pair_code, pair_count=pair_count)

    def failing_groups(self, of_row: Codes, count: int) -> Flags:
        """The groups that are suppressed at a node that will do."""
        sizes = summed(of_row, self.counts, count)
        bad = sizes < self.want.k
        if not self.want.plain:
            groups = Groups(sizes, of_row[self.pair_row], self.pair_code, self.pair_count)
            bad |= self.undiverse(groups, self.wholes)
        return bad

    def undiverse(self, groups: Groups, wholes: Sequence[Reals]) -> Flags:
        """Which groups lack diversity or closeness in any sensitive column."""
        bad = np.zeros(len(groups.sizes), dtype=np.bool_)
        for column, codes, overall in zip(self.sensitive, self.joint, wholes, strict=True):
            shape = (len(groups.sizes), column.size)
            found = counted(groups.of_pair, codes[groups.codes], groups.counts, shape)
            bad |= failing(self.want, column, found, overall)
        return bad

    def _far_beyond_suppression(self, groups: Groups) -> bool:
        """Whether groups lie so far beyond t that no finer ones could, with as many rows suppressed as allowed.

        Claim: if so, no node below is accepted. Proof: docs/proofs/anonymity-search.md, lemma 4.
        """
        if self.want.t is None:
            return False
        most = self.allowed * (1 - self.want.t) + SLACK * self.total
        for column, codes, overall in zip(self.sensitive, self.joint, self.wholes, strict=True):
            shape = (len(groups.sizes), column.size)
            found = counted(groups.of_pair, codes[groups.codes], groups.counts, shape)
            beyond = np.maximum(distances(found, overall, column) - self.want.t, 0)
            if float(beyond @ groups.sizes) > most:
                return True
        return False

    def _far_from_the_rest(self, groups: Groups, bad: Flags) -> bool:
        """Suppression moves the whole: whether a kept group is too far from what is released."""
        kept = ~bad[groups.of_pair]
        wholes = [
            summed(codes[groups.codes[kept]], groups.counts[kept], column.size)
            for codes, column in zip(self.joint, self.sensitive, strict=True)
        ]
        return bool(np.any(self.undiverse(groups, wholes) & ~bad))

    def _price(self, node: Node, sizes: Reals, bad: Flags, lost: Callable[[Flags], float]) -> float:
        gone = float(sizes[bad].sum())
        match self.metric:
            case "discernibility":
                return float((sizes[~bad] ** 2).sum() + gone * self.total)
            case "class_size":
                return (self.total - gone) / float(np.count_nonzero(~bad))
            case _:
                added = lost(bad) / (self.total * len(self.levels)) if gone else 0.0
                return float(self.generalised[node]) + added


_NOTHING = (np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0))


def problem(
    levels: Sequence[Levels],
    sensitive: Sequence[tuple[Coded, Sensitive]],
    want: Wanted,
    *,
    allowed: int,
    metric: str,
) -> tuple[Problem, Codes]:
    """The table without repetitions, and for each row of the table its place in it."""
    place, count = combined([level.column.codes for level in levels], [level.column.size for level in levels])
    first = np.zeros(count, dtype=np.int64)
    first[place[::-1]] = np.arange(len(place))[::-1]
    rows = tuple(level.column.codes[first] for level in levels)
    counts = np.bincount(place, minlength=count).astype(np.float64)
    pair_row, pair_code, pair_count = _NOTHING
    joint: tuple[Codes, ...] = ()
    if sensitive and not want.plain:
        code, codes = combined([column.codes for column, _ in sensitive], [column.size for column, _ in sensitive])
        some = np.zeros(codes, dtype=np.int64)
        some[code] = np.arange(len(code))
        joint = tuple(column.codes[some] for column, _ in sensitive)
        pair, pairs = renumbered(place * codes + code)
        anywhere = np.zeros(pairs, dtype=np.int64)
        anywhere[pair] = np.arange(len(pair))
        pair_row, pair_code = place[anywhere], code[anywhere]
        pair_count = np.bincount(pair, minlength=pairs).astype(np.float64)
    columns = tuple(about for _, about in sensitive) if joint else ()
    wholes = tuple(
        summed(codes[pair_code], pair_count, column.size) for codes, column in zip(joint, columns, strict=True)
    )
    found = Problem(
        levels=tuple(levels),
        rows=rows,
        counts=counts,
        pair_row=pair_row,
        pair_code=pair_code,
        pair_count=pair_count,
        joint=joint,
        sensitive=columns,
        want=want,
        allowed=allowed,
        metric=metric,
        total=float(len(place)),
        generalised=_generalised(levels, rows, counts),
        wholes=wholes,
    )
    return found, place


def _generalised(levels: Sequence[Levels], rows: Sequence[Codes], counts: Reals) -> Reals:
    """The mean loss of a cell at every node: a sum over the columns, as each depends on its own level only."""
    shape = [level.height for level in levels]
    losses = np.zeros(shape)
    for axis, (level, row) in enumerate(zip(levels, rows, strict=True)):
        weights = summed(row, counts, level.column.size)
        means = [float((loss[table] * weights).sum()) for table, loss in zip(level.tables, level.loss, strict=True)]
        losses += np.reshape(means, [-1 if place == axis else 1 for place in range(len(shape))])
    return np.asarray(losses / (counts.sum() * len(levels)), dtype=np.float64)


class Rolling:
    """Checks nodes one after another, each from the smallest rolled-up table that lies below it."""

    def __init__(self, problem: Problem) -> None:
        self._tables = [problem]
        self._nodes = np.zeros((1, len(problem.levels)), dtype=np.int64)

    def check(self, node: Node) -> Outcome:
        below = np.flatnonzero((self._nodes <= node).all(axis=1))
        table = min((self._tables[place] for place in below), key=lambda problem: len(problem.counts))
        of_row, count = table.group(node)
        if count <= SHRUNK * len(table.counts) and len(self._tables) < MOST_TABLES:
            self._tables.append(table.rolled_up(of_row, count))
            self._nodes = np.vstack([self._nodes, node])
        return table.grouped(node, of_row, count)
