"""Private quantiles: positions on a public line, chosen for their rank.

The line has `cells` of rows. Rows of a cell are thought to be spread evenly over it, so a position inside a cell has a
part of them below it. The middle level is chosen first; it cuts line and rows in two, and each part goes on with the
levels on its side. Beside each position two more are chosen whose rank lies `reach` below and above: the error bar.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, isqrt, log

import numpy as np
import numpy.typing as npt

from sfumato.kernel.choice import Exponential, PermuteAndFlip
from sfumato.kernel.cost import Currency
from sfumato.kernel.entropy import Entropy
from sfumato.kernel.mechanisms import Event

Numbers = npt.NDArray[np.int64]

FEWEST_POSITIONS = 1 << 15
MOST_ROWS = 1 << 32
MOST_LEVELS = 127
FINEST_LEVEL = 10_000
SHARE_OF_BARS = Fraction(1, 10)
BAR_ERROR = Fraction(1, 100)  # error bars fail with at most this probability
ROOTS = 1 << 64


@dataclass(frozen=True, slots=True)
class Cells:
    """How many rows lie in each cell; cells without rows are left out, the others are in order."""

    places: Numbers
    counts: Numbers

    def dense(self, size: int) -> Numbers:
        """A count for every cell, also for those without rows."""
        counts = np.zeros(size, dtype=np.int64)
        counts[self.places] = self.counts
        return counts

    def fit(self, size: int) -> bool:
        """Whether these are cells from 0 to size - 1, each once, upwards, with rows and not too many in all."""
        places, counts = self.places, self.counts
        if not (places.dtype == counts.dtype == np.int64 and len(places) == len(counts)):
            return False
        if len(places) == 0:
            return True
        inside = places[0] >= 0 and places[-1] < size and (np.diff(places) >= 1).all()
        return bool(inside and counts.min() >= 1 and counts.sum() <= MOST_ROWS)


@dataclass(frozen=True, slots=True)
class Node:
    """One level in the order of choosing: the levels that enclose it and, by their numbers, who chose those."""

    level: Fraction
    depth: int
    below: Fraction
    above: Fraction
    left: int | None
    right: int | None

    @property
    def inside(self) -> Fraction:
        """The level among the rows between the enclosing ones."""
        return (self.level - self.below) / (self.above - self.below)

    @property
    def slope(self) -> Fraction:
        """How far one row can move the distance from the wanted rank."""
        return max(self.inside, 1 - self.inside)


@dataclass(frozen=True, slots=True)
class RankChoice:
    """Chooses (position, low, high) for every level.

    Claim: epsilon()-DP and rho()-zCDP when a unit adds or removes at most `rows` rows in all cells of all groups.
    Proof: docs/proofs/quantiles.md (after Smith 2011; Kaplan, Schnapp, Stemmer 2022).
    """

    levels: tuple[Fraction, ...]
    cells: int
    rows: int
    estimates: tuple[Fraction, ...]  # the ε of each depth
    bars: tuple[Fraction, ...]  # the ε of each of the two error bars at each depth
    flip: bool = False  # estimates by permute-and-flip, which errs less at the same ε and costs more in zCDP

    def __post_init__(self) -> None:
        levels = self.levels
        if not 1 <= len(levels) <= MOST_LEVELS or list(levels) != sorted(set(levels)):
            raise ValueError("levels are given upwards, each once")
        if levels[0] < 0 or levels[-1] > 1 or any(FINEST_LEVEL % level.denominator for level in levels):
            raise ValueError(f"levels lie between 0 and 1, in steps of 1/{FINEST_LEVEL}")
        depths = len(levels).bit_length()
        if len(self.estimates) != depths or len(self.bars) != depths or min(*self.estimates, *self.bars) <= 0:
            raise ValueError("every depth has its own epsilon")

    @classmethod
    def for_share(
        cls, share: Fraction, currency: Currency, levels: tuple[Fraction, ...], cells: int, rows: int
    ) -> "RankChoice":
        """The share divided evenly over the depths, a part of it for error bars."""
        depths = len(levels).bit_length()
        estimate, bar = (1 - SHARE_OF_BARS) * share / depths, SHARE_OF_BARS * share / depths / 2
        if currency == "rho":
            estimate, bar = root_below(8 * estimate), root_below(8 * bar)
        return cls(levels, cells, rows, (estimate,) * depths, (bar,) * depths, flip=currency == "epsilon")

    def epsilon(self) -> Fraction:
        return sum(self.estimates) + 2 * sum(self.bars, Fraction(0))

    def rho(self) -> Fraction:
        estimates, bars = (sum(epsilon**2 for epsilon in part) for part in (self.estimates, self.bars))
        return Fraction(estimates) / (2 if self.flip else 8) + Fraction(bars) / 4

    def event(self) -> Event:
        return {
            "mechanism": "rank_choice",
            "levels": ", ".join(map(str, self.levels)),
            "rows": str(self.rows),
            "estimates": ", ".join(map(str, self.estimates)),
            "bars": ", ".join(map(str, self.bars)),
            "choice": "permute_and_flip" if self.flip else "exponential",
        }

    @property
    def parts(self) -> int:
        """Positions to a cell."""
        return max(1, FEWEST_POSITIONS // self.cells)

    @property
    def positions(self) -> int:
        return self.cells * self.parts + 1

    def nodes(self) -> tuple[Node, ...]:
        """One for every level, in the order of the levels."""
        found: dict[int, Node] = {}

        def visit(first: int, last: int, depth: int, left: int | None, right: int | None) -> None:
            if first > last:
                return
            middle = (first + last + 1) // 2
            below = Fraction(0) if left is None else self.levels[left]
            above = Fraction(1) if right is None else self.levels[right]
            found[middle] = Node(self.levels[middle], depth, below, above, left, right)
            visit(first, middle - 1, depth + 1, left, middle)
            visit(middle + 1, last, depth + 1, middle, right)

        visit(0, len(self.levels) - 1, 0, None, None)
        return tuple(found[place] for place in range(len(self.levels)))

    def error(self, node: Node | None) -> int:
        """The rank of the chosen position misses by at most so many rows, but for BAR_ERROR."""
        return 0 if node is None else self._enclosing(node) + self._miss(self.estimates[node.depth], node.slope)

    def reach(self, node: Node) -> int:
        """How many rows away the bar's wanted rank lies: what the enclosing levels and the bar itself may miss by."""
        return self._enclosing(node) + self._miss(self.bars[node.depth], node.slope)

    def margin(self, node: Node) -> int:
        """At level 0 and 1 every place beyond the last row is as good: so many rows further in, few are left out."""
        if node.level not in (0, 1):
            return 0
        return ceil(2 * self.rows * node.slope / self.estimates[node.depth] * Fraction(log(self.positions)))

    def _enclosing(self, node: Node) -> int:
        nodes = self.nodes()
        return max(self.error(None if place is None else nodes[place]) for place in (node.left, node.right))

    def _miss(self, epsilon: Fraction, slope: Fraction) -> int:
        # P(rank misses by r) <= positions · exp(-ε r / (2 · slope · rows)); one such event a depth and side.
        failure = BAR_ERROR / (2 * (len(self.estimates) + 1))
        return ceil(2 * slope * self.rows / epsilon * Fraction(log(self.positions / failure)))

    def draw(self, cells: Cells, entropy: Entropy) -> tuple[int, ...]:
        """(position, low, high) for every level, one after the other.

        Needs: cells that fit.
        """
        line = _Line.of(cells, self.cells, self.parts)
        nodes, chosen = self.nodes(), [(0, 0, 0)] * len(self.levels)
        for place in sorted(range(len(nodes)), key=lambda place: nodes[place].depth):
            node = nodes[place]
            start = 0 if node.left is None else chosen[node.left][0]
            end = self.positions - 1 if node.right is None else chosen[node.right][0]
            piece = line.between(start, end)
            inward, reach = self.margin(node) if node.level == 0 else -self.margin(node), self.reach(node)
            estimate, bar = self.estimates[node.depth], self.bars[node.depth]
            chosen[place] = (
                self._choose(piece, node, estimate, inward, entropy, flip=self.flip),
                self._choose(piece, node, bar, -reach, entropy),
                self._choose(piece, node, bar, reach, entropy),
            )
        return tuple(position for triple in chosen for position in triple)

    def _choose(
        self, piece: "_Line", node: Node, epsilon: Fraction, shift: int, entropy: Entropy, *, flip: bool = False
    ) -> int:
        """A position whose rank in the piece is near the node's level plus `shift` rows.

        Claim: with every row more or less in the piece the log-probability of a choice moves by at most ε/rows.
        """
        level, parts = node.inside, self.parts
        below = piece.ranks - piece.ranks[0]
        wanted = level.numerator * int(below[-1]) + level.denominator * parts * shift
        scores = -np.abs(level.denominator * below - wanted)
        slope = max(level.numerator, level.denominator - level.numerator)
        sensitivity = Fraction(slope * parts * self.rows)
        if flip:
            every = np.repeat(scores, piece.alike)
            return int(piece.starts[0]) + PermuteAndFlip(epsilon, sensitivity).draw(every, entropy)
        run = Exponential(epsilon, sensitivity).draw(scores, entropy, piece.alike)
        return int(piece.starts[run]) + entropy.below(int(piece.alike[run]))


@dataclass(frozen=True, slots=True)
class _Line:
    """Runs of neighbouring positions of the same rank, in `parts` of a row: where each starts, how long it is."""

    starts: Numbers
    alike: Numbers
    ranks: Numbers

    @classmethod
    def of(cls, cells: Cells, size: int, parts: int) -> "_Line":
        inner = np.arange(1, parts, dtype=np.int64)
        first = cells.places * parts
        before = (np.cumsum(cells.counts) - cells.counts) * parts
        # A run from the end of one cell with rows to the start of the next, and the positions inside each such cell.
        gaps = np.concatenate([[0], first + parts]), np.concatenate([first, [size * parts]])
        ends = np.concatenate([[0], before + cells.counts * parts])
        inside = first[:, None] + inner, before[:, None] + cells.counts[:, None] * inner
        starts = np.concatenate([gaps[0], inside[0].ravel()])
        order = np.argsort(starts, kind="stable")
        alike = np.concatenate([gaps[1] - gaps[0] + 1, np.ones(inside[0].size, dtype=np.int64)])
        ranks = np.concatenate([ends, inside[1].ravel()])
        return cls(starts[order], alike[order], ranks[order])

    def between(self, start: int, end: int) -> "_Line":
        """The positions from start to end, both included."""
        first = int(np.searchsorted(self.starts, start, side="right")) - 1
        last = int(np.searchsorted(self.starts, end, side="right"))
        starts, alike, ranks = (part[first:last].copy() for part in (self.starts, self.alike, self.ranks))
        alike[-1] = end - starts[-1] + 1
        alike[0] -= start - starts[0]
        starts[0] = start
        return _Line(starts, alike, ranks)


def root_below(value: Fraction) -> Fraction:
    """The square root, rounded down to a multiple of 2^-64."""
    return Fraction(isqrt(value.numerator * ROOTS**2 // value.denominator), ROOTS)
