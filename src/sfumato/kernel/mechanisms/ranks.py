"""Private quantiles: positions on a public line, chosen for their rank.

The middle level is chosen first; it cuts line and rows in two, and each side goes on with its levels. Beside each
position two more are chosen whose rank lies some rows below and above: the error bar. How many rows that are, and the
like, is asked of `kernel.widths` and not believed: whatever it says, the price is the same.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from sfumato.errors import plan_refused
from sfumato.kernel.cost import Currency, rho_of_pure, root_below
from sfumato.kernel.entropy import Entropy
from sfumato.kernel.mechanisms.choice import Exponential, PermuteAndFlip
from sfumato.kernel.mechanisms.protocol import Added, CellCounts, Event, Released
from sfumato.kernel.mechanisms.rank_lines import Candidates, Line, Node, nodes_of
from sfumato.kernel.widths import RankWidths
from sfumato.schema.allow import Family

FEWEST_POSITIONS = 1 << 15
FEWEST_PARTS = 64
MOST_PARTS = 1 << 18
FARTHEST = 1 << 48  # rows; times FINEST_LEVEL they fit into 64 bits
MOST_LEVELS = 127
MOST_FLIPPED = 1 << 19
FINEST_LEVEL = 10_000
SHARE_OF_BARS = Fraction(1, 10)
WORDS = 1 << 64


@dataclass(frozen=True, slots=True)
class RankChoice:
    """Chooses (position, low, high) for every level, in every group.

    Claim: l1·(Σ estimates + 2 Σ bars)-DP when a unit has at most l1 rows in all groups; and
    l2_squared·(Σ estimates² + 2 Σ bars²)/8-zCDP when the squares of the rows that it has in each group add up to at
    most l2_squared (a flip counts as any mechanism of its ε). Both whatever `kernel.widths` says.
    Proof: docs/proofs/quantiles.md (after Smith 2011; Kaplan, Schnapp, Stemmer 2022).
    """

    levels: tuple[Fraction, ...]
    cells: int
    l1: int
    l2_squared: int
    estimates: tuple[Fraction, ...]  # what one row costs at each depth, as ε
    bars: tuple[Fraction, ...]  # the same, of each of the two error bars
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
        cls,
        share: Fraction,
        currency: Currency,
        l1: int,
        l2_squared: int,
        levels: tuple[Fraction, ...],
        cells: int,
    ) -> "RankChoice":
        """The share divided evenly over the depths, a part of it for error bars."""
        depths = len(levels).bit_length()
        estimate, bar = (1 - SHARE_OF_BARS) * share / depths, SHARE_OF_BARS * share / depths / 2
        if currency == "epsilon":
            estimate, bar = estimate / l1, bar / l1
        else:
            estimate, bar = root_below(8 * estimate / l2_squared), root_below(8 * bar / l2_squared)
        flip = currency == "epsilon" and depths == 1
        return cls(levels, cells, l1, l2_squared, (estimate,) * depths, (bar,) * depths, flip=flip)

    @property
    def family(self) -> Family:
        return "ranks"

    def cost(self, currency: Currency) -> Fraction:
        if currency == "epsilon":
            return self.l1 * (sum(self.estimates, Fraction(0)) + 2 * sum(self.bars, Fraction(0)))
        one = Fraction(1)
        estimates, bars = (
            self.l2_squared * sum((Exponential(epsilon, one).rho() for epsilon in part), Fraction(0))
            for part in (self.estimates, self.bars)
        )
        if self.flip:
            estimates = rho_of_pure(self.l1 * self.estimates[0])
        return estimates + 2 * bars

    def event(self) -> Event:
        """With the ε that l1 rows in one group cost; where groups share the rows, with the square that tells so."""
        shared = {} if self.l2_squared == self.l1**2 else {"rows_squared": str(self.l2_squared)}
        return {
            "mechanism": "rank_flip" if self.flip else "rank_choice",
            "levels": ", ".join(map(str, self.levels)),
            "rows": str(self.l1),
            **shared,
            "estimates": ", ".join(str(self.l1 * epsilon) for epsilon in self.estimates),
            "bars": ", ".join(str(self.l1 * epsilon) for epsilon in self.bars),
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
        return RankWidths(self.nodes(), self.estimates, self.bars, self.positions, self.positions // stride)

    def draw(self, entries: Sequence[Added], entropy: Entropy) -> list[Released]:
        return [self.choose(entry, entropy) for entry in entries if isinstance(entry, CellCounts)]

    def choose(self, cells: CellCounts, entropy: Entropy) -> tuple[int, ...]:
        """(position, low, high) for every level of one group, one after the other.

        Needs: cells that fit.
        """
        line, widths = Line.of(cells, self.cells, self.parts, self.together), self.widths
        nodes, chosen = self.nodes(), [(0, 0, 0)] * len(self.levels)
        for place in sorted(range(len(nodes)), key=lambda place: nodes[place].depth):
            node = nodes[place]
            start = 0 if node.left is None else chosen[node.left][0]
            end = self.positions - 1
            if node.right is not None:  # the largest value's own rows lie below it
                end = min(end, chosen[node.right][0] + (nodes[node.right].level == 1))
            piece = line.between(start, end)
            estimate, bar = self.estimates[node.depth], self.bars[node.depth]
            inward, reach, slack = (safe(rows) for rows in widths.rows_of(place))
            candidates = self._blocks(piece) if self.flip else piece.candidates(cut=node.cuts)
            chosen[place] = (
                self._choose(candidates.beside_ties(max(slack, 0)), node, estimate, inward, entropy),
                self._choose(piece.candidates(beyond=-1), node, bar, -reach, entropy),
                self._choose(piece.candidates(beyond=1), node, bar, reach, entropy),
            )
        return tuple(position for triple in chosen for position in triple)

    def _choose(self, candidates: Candidates, node: Node, epsilon: Fraction, shift: int, entropy: Entropy) -> int:
        """A position of a piece whose rank is near the node's level plus `shift` rows.

        Claim: with every row more or less in the piece the log-probability of a choice moves by at most ε, for every
        shift and slack. Reads two words whatever the rows are (one a candidate where all are looked at), seldom more.
        Needs: |shift| <= FARTHEST, so that nothing overflows.
        """
        scores, alike = candidates.scores(node.inside, shift), candidates.alike
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
