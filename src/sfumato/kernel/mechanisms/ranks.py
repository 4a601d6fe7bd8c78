"""Private quantiles: positions on a public line, chosen for their rank.

The line has `cells` of rows, and each cell has `parts`. The first row of a cell is put into the part in its middle, and
so on evenly (`_order`), so that many equal values can be cut in two anywhere and a further row moves no other. The
middle level is chosen first; it cuts line and rows in two, and each side goes on with its levels. Beside each position
two more are chosen whose rank lies `reach` below and above: the error bar.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from math import ceil, isqrt, log

import numpy as np
import numpy.typing as npt

from sfumato.kernel.cost import Currency
from sfumato.kernel.entropy import Entropy
from sfumato.kernel.mechanisms.additive import Event
from sfumato.kernel.mechanisms.choice import Exponential, PermuteAndFlip

Numbers = npt.NDArray[np.int64]

FEWEST_POSITIONS = 1 << 15
FEWEST_PARTS = 64
MOST_PARTS = 1 << 18
MOST_ROWS = 1 << 32
FARTHEST = 1 << 48  # rows; times FINEST_LEVEL they fit into 64 bits
MOST_LEVELS = 127
MOST_FLIPPED = 1 << 19
FINEST_LEVEL = 10_000
SHARE_OF_BARS = Fraction(1, 10)
BAR_ERROR = Fraction(1, 100)  # error bars fail with at most this probability
FAR_OUT = 0.01
ROOTS = 1 << 64
WORDS = 1 << 64


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
        return bool(inside and counts.min() >= 1 and counts.max() <= MOST_ROWS and counts.sum() <= MOST_ROWS)


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
    flip: bool = False  # one level alone by permute-and-flip, which errs less at the same ε and costs more in zCDP

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
        return cls(
            levels, cells, rows, (estimate,) * depths, (bar,) * depths, flip=currency == "epsilon" and depths == 1
        )

    def epsilon(self) -> Fraction:
        return sum(self.estimates) + 2 * sum(self.bars, Fraction(0))

    def rho(self) -> Fraction:
        estimates, bars = (sum(epsilon**2 for epsilon in part) for part in (self.estimates, self.bars))
        return Fraction(estimates) / (2 if self.flip else 8) + Fraction(bars) / 4

    def event(self) -> Event:
        return {
            "mechanism": "rank_flip" if self.flip else "rank_choice",
            "levels": ", ".join(map(str, self.levels)),
            "rows": str(self.rows),
            "estimates": ", ".join(map(str, self.estimates)),
            "bars": ", ".join(map(str, self.bars)),
        }

    @property
    def parts(self) -> int:
        """Parts of a cell, a power of two: so finely are equal values cut."""
        return max(FEWEST_PARTS, 1 << (FEWEST_POSITIONS // self.cells).bit_length() >> 1)

    @property
    def together(self) -> int:
        """Rows of a cell that are not cut apart: on the finest lines a few, so that many rows are looked at fast."""
        return max(1, self.cells * self.parts // MOST_PARTS)

    @property
    def positions(self) -> int:
        return self.cells * self.parts + 1

    @property
    def stride(self) -> int:
        """Permute-and-flip looks at every so many positions: with few candidates it errs less, and nothing is cut."""
        return max(1, min(self.parts, 1 << (self.positions // MOST_FLIPPED).bit_length()))

    def nodes(self) -> tuple[Node, ...]:
        """One for every level, in the order of the levels."""
        return _nodes(self.levels)

    def error(self, place: int | None) -> int:
        """The rank of the position chosen for a level misses by at most so many rows, but for BAR_ERROR."""
        return 0 if place is None else _errors(self)[place]

    def reach(self, place: int) -> int:
        """How many rows away the bar's wanted rank lies: what the enclosing levels and the bar itself may miss by."""
        node = self.nodes()[place]
        return min(self.enclosing(node) + self.miss(self.bars[node.depth], node.slope), FARTHEST)

    def inward(self, place: int) -> int:
        """At level 0 and 1 every place beyond the last row is as good: so many rows further in, few are left out.

        All empty places together are then chosen at most FAR_OUT as often as the one that holds the wanted row.
        """
        node = self.nodes()[place]
        if node.level not in (0, 1):
            return 0
        places = Fraction(log(self.positions // (self.stride if self.flip else 1) / FAR_OUT))
        rows = ceil(2 * self.rows * node.slope / self.estimates[node.depth] * places)
        return min(rows, FARTHEST) * (1 if node.level == 0 else -1)

    def slack(self, node: Node) -> int:
        """Rows of equal values that are lost in the noise of an estimate: fewer are not told apart."""
        return min(ceil(8 * self.rows * node.slope / self.estimates[node.depth]), FARTHEST)

    def enclosing(self, node: Node) -> int:
        return max(self.error(node.left), self.error(node.right))

    def miss(self, epsilon: Fraction, slope: Fraction) -> int:
        # P(rank misses by r) <= positions · exp(-ε r / (2 · slope · rows)); one such event a depth and side.
        failure = BAR_ERROR / (2 * (len(self.estimates) + 1))
        return ceil(2 * slope * self.rows / epsilon * Fraction(log((self.positions + 1) / failure)))

    def draw(self, cells: Cells, entropy: Entropy) -> tuple[int, ...]:
        """(position, low, high) for every level, one after the other.

        Needs: cells that fit.
        """
        line = _Line.of(cells, self.cells, self.parts, self.together)
        nodes, chosen = self.nodes(), [(0, 0, 0)] * len(self.levels)
        for place in sorted(range(len(nodes)), key=lambda place: nodes[place].depth):
            node = nodes[place]
            start = 0 if node.left is None else chosen[node.left][0]
            end = self.positions - 1
            if node.right is not None:  # the largest value's own rows lie below it
                end = min(end, chosen[node.right][0] + (nodes[node.right].level == 1))
            piece = line.between(start, end)
            estimate, bar, reach = self.estimates[node.depth], self.bars[node.depth], self.reach(place)
            candidates = self._blocks(piece) if self.flip else piece.candidates(cut=node.cuts)
            chosen[place] = (
                self._choose(candidates.beside_ties(self.slack(node)), node, estimate, self.inward(place), entropy),
                self._choose(piece.candidates(beyond=-1), node, bar, -reach, entropy),
                self._choose(piece.candidates(beyond=1), node, bar, reach, entropy),
            )
        return tuple(position for triple in chosen for position in triple)

    def _choose(self, candidates: "_Candidates", node: Node, epsilon: Fraction, shift: int, entropy: Entropy) -> int:
        """A position of a piece whose rank is near the node's level plus `shift` rows.

        Claim: with every row more or less in the piece the log-probability of a choice moves by at most ε/rows. Reads
        two words whatever the rows are (one a candidate where all are looked at), seldom another.
        Needs: |shift| <= FARTHEST, so that nothing overflows.
        """
        scores, alike = candidates.scores(node.inside, shift), candidates.alike
        slope = max(node.inside.numerator, node.inside.denominator - node.inside.numerator)
        sensitivity = Fraction(slope * self.rows)  # of rows times the denominator of the level
        if alike is None:
            return int(candidates.starts[PermuteAndFlip(epsilon, sensitivity).draw(scores, entropy)])
        run = Exponential(epsilon, sensitivity).draw(scores, entropy, alike)
        return int(candidates.starts[run]) + _below(int(alike[run]), entropy)

    def _blocks(self, line: "_Line") -> "_Candidates":
        """Blocks of `stride` positions, for permute-and-flip."""
        starts = np.arange(0, self.positions, self.stride)
        ranks = line.ranks[np.searchsorted(line.starts, starts, side="right") - 1]
        return _Candidates(starts, None, ranks, np.append(ranks[1:], ranks[-1]), int(ranks[-1]))


@dataclass(frozen=True, slots=True)
class _Candidates:
    """Where each run of candidates starts, how many it has (None: each is one), and between which ranks each lies."""

    starts: Numbers
    alike: Numbers | None
    low: Numbers
    high: Numbers
    rows: int  # in the piece
    beyond: int = 0  # -1, 1: the last candidate stands for all ranks below, above the piece

    def beside_ties(self, slack: int) -> "_Candidates":
        """A candidate with few rows stands for its own rank; one with many for all ranks but so many below the next."""
        return replace(self, high=np.maximum(self.low, self.high - slack))

    def scores(self, level: Fraction, shift: int) -> Numbers:
        """How far each lies from the wanted rank, in rows times the denominator of the level, below 0."""
        rows = self.rows
        wanted = level.numerator * rows + level.denominator * shift
        short, over = level.denominator * self.low - wanted, wanted - level.denominator * self.high
        scores = -np.maximum(np.maximum(short, over), 0)
        if self.beyond:
            scores[-1] = min(0, -wanted if self.beyond < 0 else wanted - level.denominator * rows)
        return np.asarray(scores)


@dataclass(frozen=True, slots=True)
class _Line:
    """Runs of neighbouring positions of the same rank: where each starts, how long it is, the rows below.

    The last position of every run but the last has rows between it and the next one.
    """

    starts: Numbers
    alike: Numbers
    ranks: Numbers

    @classmethod
    def of(cls, cells: Cells, size: int, parts: int, together: int = 1) -> "_Line":
        filled, rows = _fine(cells, parts, together)
        starts = np.concatenate([[0], filled + 1])
        ends = np.concatenate([filled, [size * parts]])
        return cls(starts, ends - starts + 1, np.concatenate([[0], np.cumsum(rows)]))

    def between(self, start: int, end: int) -> "_Line":
        """The positions from start to end, both included."""
        first = int(np.searchsorted(self.starts, start, side="right")) - 1
        last = int(np.searchsorted(self.starts, end, side="right"))
        starts, alike, ranks = (part[first:last].copy() for part in (self.starts, self.alike, self.ranks))
        alike[-1] = end - starts[-1] + 1
        alike[0] -= start - starts[0]
        starts[0] = start
        return _Line(starts, alike, ranks)

    def candidates(self, *, cut: bool = False, beyond: int = 0) -> _Candidates:
        """The positions of a piece, each from its own rank to the next one's; where they cut, at their own alone."""
        starts, alike, ranks = self.starts, self.alike, self.ranks - self.ranks[0]
        if cut:
            return _Candidates(starts, alike, ranks, ranks, int(ranks[-1]))
        last = starts + alike - 1
        rest = np.append(alike[:-1] - 1, alike[-1])
        kept = rest > 0
        extra = [starts[0] if beyond < 0 else last[-1]] if beyond else []
        nothing = [0] if beyond else []
        return _Candidates(
            np.concatenate([starts[kept], last[:-1], extra]).astype(np.int64),
            np.concatenate([rest[kept], np.ones(len(last) - 1 + len(extra), dtype=np.int64)]),
            np.concatenate([ranks[kept], ranks[:-1], nothing]).astype(np.int64),
            np.concatenate([ranks[kept], ranks[1:], nothing]).astype(np.int64),
            int(ranks[-1]),
            beyond,
        )


def _fine(cells: Cells, parts: int, together: int = 1) -> tuple[Numbers, Numbers]:
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
    return (np.array(reversed_bits, dtype=np.int64) + parts // 2) % parts


@lru_cache(maxsize=64)
def _nodes(levels: tuple[Fraction, ...]) -> tuple[Node, ...]:
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


@lru_cache(maxsize=64)
def _errors(choice: RankChoice) -> tuple[int, ...]:
    nodes, found = choice.nodes(), dict[int | None, int]({None: 0})
    for place in sorted(range(len(nodes)), key=lambda place: nodes[place].depth):
        node = nodes[place]
        missed = choice.miss(choice.estimates[node.depth], node.slope) + choice.slack(node) + abs(choice.inward(place))
        found[place] = max(found[node.left], found[node.right]) + missed
    return tuple(found[place] for place in range(len(nodes)))


def _below(bound: int, entropy: Entropy) -> int:
    """A uniform integer in [0, bound), from one word and seldom more (Lemire 2019)."""
    while True:
        place, rest = divmod(int(entropy.words(1)[0]) * bound, WORDS)
        if rest >= WORDS % bound:
            return place


def root_below(value: Fraction) -> Fraction:
    """The square root, rounded down to a multiple of 2^-64."""
    return Fraction(isqrt(value.numerator * ROOTS**2 // value.denominator), ROOTS)
