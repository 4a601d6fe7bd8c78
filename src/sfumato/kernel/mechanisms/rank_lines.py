"""The public line on which quantiles are chosen: its levels, its rows, and the positions that may be chosen.

The line has cells of rows, and each cell has parts. The first row of a cell is put into the part in its middle, and so
on evenly (`_order`), so that many equal values can be cut in two anywhere and a further row moves no other.
Proof: docs/proofs/quantiles.md
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

import numpy as np

from sfumato.kernel.mechanisms.protocol import CellCounts, Numbers


@dataclass(frozen=True, slots=True)
class Node:
    """One level in the order of choosing: the levels that enclose it and, by their numbers, who chose those."""

    level: Fraction
    depth: int
    below: Fraction
    above: Fraction
    left: int | None
    right: int | None
    leaf: bool

    @property
    def cuts(self) -> bool:
        """Whether levels on both sides go on from its rank: the smallest and the largest have none beyond them."""
        return not self.leaf and self.level not in (0, 1)

    @property
    def inside(self) -> Fraction:
        """The level among the rows between the enclosing ones."""
        return (self.level - self.below) / (self.above - self.below)

    @property
    def slope(self) -> Fraction:
        """How far one row can move the distance from the wanted rank."""
        return max(self.inside, 1 - self.inside)


@dataclass(frozen=True, slots=True)
class Candidates:
    """Where each run of candidates starts, how many it has (None: each is one), and between which ranks each lies."""

    starts: Numbers
    alike: Numbers | None
    low: Numbers
    high: Numbers
    rows: int  # in the piece

    def beside_ties(self, slack: int) -> "Candidates":
        """A candidate with few rows stands for its own rank; one with many for all ranks but so many below the next."""
        return replace(self, high=np.maximum(self.low, self.high - slack))

    def scores(self, level: Fraction, shift: int) -> Numbers:
        """How far each lies from the wanted rank, in rows times the denominator of the level, below 0."""
        wanted = level.numerator * self.rows + level.denominator * shift
        short, over = level.denominator * self.low - wanted, wanted - level.denominator * self.high
        return np.asarray(-np.maximum(np.maximum(short, over), 0))


@dataclass(frozen=True, slots=True)
class Line:
    """Runs of neighbouring positions of the same rank: where each starts, how long it is, the rows below.

    The last position of every run but the last has rows between it and the next one.
    """

    starts: Numbers
    alike: Numbers
    ranks: Numbers

    @classmethod
    def of(cls, cells: CellCounts, size: int, parts: int, together: int = 1) -> "Line":
        filled, rows = _fine(cells, parts, together)
        starts = np.concatenate([[0], filled + 1])
        ends = np.concatenate([filled, [size * parts]])
        return cls(starts, ends - starts + 1, np.concatenate([[0], np.cumsum(rows)]))

    def between(self, start: int, end: int) -> "Line":
        """The positions from start to end, both included."""
        first = int(np.searchsorted(self.starts, start, side="right")) - 1
        last = int(np.searchsorted(self.starts, end, side="right"))
        starts, alike, ranks = (part[first:last].copy() for part in (self.starts, self.alike, self.ranks))
        alike[-1] = end - starts[-1] + 1
        alike[0] -= start - starts[0]
        starts[0] = start
        return Line(starts, alike, ranks)

    def candidates(self, *, cut: bool = False) -> Candidates:
        """The positions of a piece, each from its own rank to the next one's; where they cut, at their own alone."""
        starts, alike, ranks = self.starts, self.alike, self.ranks - self.ranks[0]
        if cut:
            return Candidates(starts, alike, ranks, ranks, int(ranks[-1]))
        last = starts + alike - 1
        rest = np.append(alike[:-1] - 1, alike[-1])
        kept = rest > 0
        return Candidates(
            np.concatenate([starts[kept], last[:-1]]),
            np.concatenate([rest[kept], np.ones(len(last) - 1, dtype=np.int64)]),
            np.concatenate([ranks[kept], ranks[:-1]]),
            np.concatenate([ranks[kept], ranks[1:]]),
            int(ranks[-1]),
        )


def _fine(cells: CellCounts, parts: int, together: int = 1) -> tuple[Numbers, Numbers]:
    """The parts that hold rows, upwards, and how many each holds; so many rows of a cell are put together.

    Claim: a row more in a cell is a row more in one part of it and changes no other.
    """
    order = _order(parts)
    bundles = -(-cells.counts // together)
    heavy = bundles >= parts
    places, counts, many = cells.places[~heavy], cells.counts[~heavy], bundles[~heavy]
    number = np.arange(many.sum(), dtype=np.int64) - np.repeat(np.cumsum(many) - many, many)
    light = np.repeat(places * parts, many) + order[number]
    few = np.minimum(np.repeat(counts, many) - number * together, together)
    whole, left = np.divmod(cells.counts[heavy, None], together)
    each, rest = np.divmod(whole, parts)
    turn = np.arange(parts)
    full = together * (each + (turn < rest)) + left * (turn == rest)
    filled = np.concatenate([light, (cells.places[heavy, None] * parts + order).ravel()])
    rows = np.concatenate([few, full.ravel()])
    upwards = np.argsort(filled)
    return filled[upwards], rows[upwards]


@lru_cache(maxsize=16)
def _order(parts: int) -> Numbers:
    """Which part of a cell gets its first row, its second and so on: the middle, then evenly (van der Corput)."""
    bits = parts.bit_length() - 1
    reversed_bits = [int(f"{number:0{bits}b}"[::-1], 2) for number in range(parts)]
    kept: Numbers = (np.array(reversed_bits, dtype=np.int64) + parts // 2) % parts
    kept.setflags(write=False)
    return kept


@lru_cache(maxsize=64)
def nodes_of(levels: tuple[Fraction, ...]) -> tuple[Node, ...]:
    """One for every level, in the order of the levels."""
    found: dict[int, Node] = {}

    def visit(first: int, last: int, depth: int, left: int | None, right: int | None) -> None:
        if first > last:
            return
        middle = (first + last + 1) // 2
        below = Fraction(0) if left is None else levels[left]
        above = Fraction(1) if right is None else levels[right]
        found[middle] = Node(levels[middle], depth, below, above, left, right, leaf=first == last)
        visit(first, middle - 1, depth + 1, left, middle)
        visit(middle + 1, last, depth + 1, middle, right)

    visit(0, len(levels) - 1, 0, None, None)
    return tuple(found[place] for place in range(len(levels)))
