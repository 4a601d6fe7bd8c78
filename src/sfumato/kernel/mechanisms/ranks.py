"""Private quantiles: positions on a public line, chosen for their rank.

The middle level is chosen first; it cuts line and rows in two, and each side goes on with its levels. When all are
chosen, rows are counted between cuts around them, with noise: from that the error bars come. How far inward an end is
sought, which numbers are round, and the like, is asked of `kernel.widths` and not believed: whatever it says, the price
is the same.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from sfumato.errors import plan_refused
from sfumato.kernel.cost import Currency, rho_of_pure, root_below
from sfumato.kernel.entropy import Entropy
from sfumato.kernel.mechanisms.additive import DiscreteGaussian, DiscreteLaplace, Law
from sfumato.kernel.mechanisms.choice import Exponential, PermuteAndFlip
from sfumato.kernel.mechanisms.protocol import Added, CellCounts, Event, Numbers, Released
from sfumato.kernel.mechanisms.rank_bars import balanced, counts_between, cuts_of, distances, measuring, step_of
from sfumato.kernel.mechanisms.rank_lines import Candidates, Line, Node, nodes_of
from sfumato.kernel.widths import RankWidths, cost_of_odd, round_cells
from sfumato.schema.allow import Family

FEWEST_POSITIONS = 1 << 15
FEWEST_PARTS = 64
MOST_PARTS = 1 << 18
FARTHEST = 1 << 48  # rows; times FINEST_LEVEL they fit into 64 bits
MOST_LEVELS = 127
MOST_FLIPPED = 1 << 19
FINEST_LEVEL = 10_000
SHARE_OF_BARS = {"rho": Fraction(1, 10), "epsilon": Fraction(1, 4)}
HALF = Fraction(1, 2)
WORDS = 1 << 64


@dataclass(frozen=True, slots=True)
class RankChoice:
    """Chooses a position for every level, and counts rows around them with noise, in every group.

    Claim: l1·(Σ estimates + bars)-DP when a unit has at most l1 rows in all groups and bars are of Laplace noise; and
    l2_squared·(Σ estimates²/8 + bars)-zCDP when the squares of the rows that it has in each group add up to at most
    l2_squared and bars are `gaussian` (a flip, and Laplace noise, count as any mechanism of their ε). Both whatever
    `kernel.widths` says, and wherever the cuts of bars lie.
    Proof: docs/proofs/quantiles.md (after Smith 2011; Kaplan, Schnapp, Stemmer 2022).
    """

    levels: tuple[Fraction, ...]
    cells: int
    l1: int
    l2_squared: int
    estimates: tuple[Fraction, ...]  # what one row costs at each depth, as ε
    bars: Fraction  # what one row costs in the counts around: ε, or ρ of a row squared
    gaussian: bool = False
    flip: bool = False  # one level alone by permute-and-flip, which errs less at the same ε and costs more in zCDP
    line: tuple[Fraction, Fraction] | None = None  # its start and the width of a cell, where round numbers are likelier

    def __post_init__(self) -> None:
        levels = self.levels
        if not 1 <= len(levels) <= MOST_LEVELS or list(levels) != sorted(set(levels)):
            raise ValueError("levels are given upwards, each once")
        if levels[0] < 0 or levels[-1] > 1 or any(FINEST_LEVEL % level.denominator for level in levels):
            raise ValueError(f"levels lie between 0 and 1, in steps of 1/{FINEST_LEVEL}")
        depths = len(levels).bit_length()
        if len(self.estimates) != depths or min(*self.estimates, self.bars) <= 0:
            raise ValueError("every depth has its own epsilon")

    @classmethod
    def for_share(
        cls,
        share: Fraction,
        currency: Currency,
        l1: int,
        l2_squared: int,
        levels: tuple[Fraction, ...],
        cells: int,
        line: tuple[Fraction, Fraction] | None = None,
    ) -> "RankChoice":
        """A part of the share for error bars, the rest divided evenly over the depths."""
        depths, bars = len(levels).bit_length(), SHARE_OF_BARS[currency] * share
        estimate, gaussian = (share - bars) / depths, currency == "rho"
        if gaussian:
            estimate, bars = root_below(8 * estimate / l2_squared), bars / l2_squared
        else:
            estimate, bars = estimate / l1, bars / l1
        flip = currency == "epsilon" and depths == 1
        return cls(levels, cells, l1, l2_squared, (estimate,) * depths, bars, gaussian, flip, line if flip else None)

    @property
    def family(self) -> Family:
        return "ranks"

    def cost(self, currency: Currency) -> Fraction:
        if currency == "epsilon":
            if self.gaussian:
                raise plan_refused("Gaussian noise is not paid in epsilon")
            return self.l1 * (sum(self.estimates, Fraction(0)) + self.bars)
        one = Fraction(1)
        estimates = self.l2_squared * sum((Exponential(each, one).rho() for each in self.estimates), Fraction(0))
        if self.flip:
            estimates = rho_of_pure(self.l1 * self.estimates[0])
        return estimates + (self.l2_squared * self.bars if self.gaussian else rho_of_pure(self.l1 * self.bars))

    def event(self) -> Event:
        """With the ε that l1 rows in one group cost; where groups share the rows, with the square that tells so."""
        shared = {} if self.l2_squared == self.l1**2 else {"rows_squared": str(self.l2_squared)}
        around = ("counts_rho", self.l2_squared) if self.gaussian else ("counts", self.l1)
        return {
            "mechanism": "rank_flip" if self.flip else "rank_choice",
            "levels": ", ".join(map(str, self.levels)),
            "rows": str(self.l1),
            **shared,
            "estimates": ", ".join(str(self.l1 * epsilon) for epsilon in self.estimates),
            around[0]: str(around[1] * self.bars),
        }

    def check(self, entry: Added) -> None:
        if not isinstance(entry, CellCounts) or not entry.fit(self.cells):
            raise plan_refused("the engine answered with something else than cells")

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
        return nodes_of(self.levels)

    @property
    def widths(self) -> RankWidths:
        """How far the rank of a choice may miss, and what follows from that: not believed."""
        stride = self.stride if self.flip else 1
        return RankWidths(self.nodes(), self.estimates, self.positions // stride)

    @property
    def tilt(self) -> Fraction:
        """How far the levels lie from the middle."""
        return max(abs(level - HALF) for level in self.levels)

    def cuts(self, positions: Sequence[int]) -> tuple[int, ...]:
        """Between which cells rows are counted when these positions were released."""
        chosen = tuple(min(position // self.parts, self.cells - 1) for position in positions)
        return cuts_of(chosen, self.cells, step_of(len(self.levels), gaussian=self.gaussian))

    def counted(self, positions: Sequence[int]) -> int:
        """How many numbers are released besides these positions."""
        size = len(self.cuts(positions)) + 1
        return len(balanced(size, self.tilt)) if self.gaussian else size

    @property
    def _most_counted(self) -> int:
        """No more numbers than that are released besides positions."""
        step = step_of(len(self.levels), gaussian=self.gaussian)
        return 2 * len(self.levels) * len(distances(self.cells, step)) + 2

    def noise(self, cuts: tuple[int, ...]) -> Law:
        """Of the answers about these cuts."""
        return self._measured(np.zeros(len(cuts) + 1, dtype=np.int64))[1]

    def draw(self, entries: Sequence[Added], entropy: Entropy) -> list[Released]:
        return [self.choose(entry, entropy) for entry in entries if isinstance(entry, CellCounts)]

    def choose(self, cells: CellCounts, entropy: Entropy) -> tuple[int, ...]:
        """A position for every level of one group, then the noisy counts around them.

        Needs: cells that fit.
        """
        positions = self._positions(cells, entropy)
        cuts = self.cuts(positions)
        answers, law = self._measured(counts_between(cells, cuts))
        noise = law.draw(self._most_counted, entropy).tolist()  # as many whatever was chosen
        return *positions, *(answer + drawn for answer, drawn in zip(answers.tolist(), noise, strict=False))

    def _measured(self, counts: Numbers) -> tuple[Numbers, Law]:
        """What is told of the rows between cuts, and the law of its noise.

        Claim: costs `bars` a row, or a row squared. Needs: fewer than 2^32 rows, so that nothing overflows.
        """
        if not self.gaussian:
            return counts, DiscreteLaplace.for_epsilon(self.bars, 1)
        matrix, squared = measuring(len(counts), self.tilt)
        return matrix @ counts, DiscreteGaussian.for_rho(self.bars, l2_squared=squared)

    def _positions(self, cells: CellCounts, entropy: Entropy) -> tuple[int, ...]:
        line, widths = Line.of(cells, self.cells, self.parts, self.together), self.widths
        nodes, chosen = self.nodes(), [0] * len(self.levels)
        for place in sorted(range(len(nodes)), key=lambda place: nodes[place].depth):
            node = nodes[place]
            start = 0 if node.left is None else chosen[node.left]
            end = self.positions - 1
            if node.right is not None:  # the largest value's own rows lie below it
                end = min(end, chosen[node.right] + (nodes[node.right].level == 1))
            piece = line.between(start, end)
            inward, slack = (safe(rows) for rows in widths.rows_of(place))
            candidates = self._blocks(piece) if self.flip else piece.candidates(cut=node.cuts)
            candidates = candidates.beside_ties(max(slack, 0))
            scores = candidates.scores(node.inside, inward)
            if self.flip:
                scores = scores - self.costs(node)
            chosen[place] = self._choose(candidates, scores, node, self.estimates[node.depth], entropy)
        return tuple(chosen)

    def costs(self, node: Node) -> Numbers:
        """Of blocks, in their scores: as much for each whose cell has no round number, where the line tells of any.

        Claim: from 0 to FARTHEST, so that nothing overflows; the same for all tables.
        """
        cells = np.arange(0, self.positions, self.stride) // self.parts
        places = () if self.line is None or node.level in (0, 1) else round_cells(*self.line, self.cells)
        if not len(places):
            return 0 * cells
        cost = safe(cost_of_odd(node.inside, self.estimates[node.depth], len(places), self.cells))
        return np.where(np.isin(cells, places), 0, max(cost, 0))

    def _choose(self, candidates: Candidates, scores: Numbers, node: Node, epsilon: Fraction, entropy: Entropy) -> int:
        """A position of a piece by its score: how far its rank is from the node's level plus a shift, and its cost.

        Claim: with every row more or less in the piece the log-probability of a choice moves by at most ε, for every
        shift, slack and cost. Reads two words whatever the rows are (one a candidate where all are looked at), seldom
        more.
        """
        alike = candidates.alike
        slope = max(node.inside.numerator, node.inside.denominator - node.inside.numerator)
        sensitivity = Fraction(slope)  # of a row, times the denominator of the level
        if alike is None:
            return int(candidates.starts[PermuteAndFlip(epsilon, sensitivity).draw(scores, entropy)])
        run = Exponential(epsilon, sensitivity).draw(scores, entropy, alike)
        return int(candidates.starts[run]) + _below(int(alike[run]), entropy)

    def _blocks(self, line: Line) -> Candidates:
        """Blocks of `stride` positions, for permute-and-flip."""
        starts = np.arange(0, self.positions, self.stride)
        ranks = line.ranks[np.searchsorted(line.starts, starts, side="right") - 1]
        return Candidates(starts, None, ranks, np.append(ranks[1:], ranks[-1]), int(ranks[-1]))


def safe(rows: object) -> int:
    """A number of rows that was worked out for accuracy: a whole number and not too far, whatever was said.

    Claim: |rows| <= FARTHEST, so that no score overflows; it is one number for all tables.
    """
    return min(max(rows, -FARTHEST), FARTHEST) if type(rows) is int else 0


def _below(bound: int, entropy: Entropy) -> int:
    """A uniform integer in [0, bound), from one word and seldom more (Lemire 2019)."""
    while True:
        place, rest = divmod(int(entropy.words(1)[0]) * bound, WORDS)
        if rest >= WORDS % bound:
            return place
