"""Ends of a column that nobody declared: both are chosen by rank, then rows are counted, or added up, between them.

Up to five rounds in one release, on the cells of a line: an anchor for each end, with surely many rows beyond, then the
ends themselves, with few; then noisy counts of the rows in bins between them, or below, between and above them with the
sums of deviations from the middle and of their squares. How many rows are sought, what an end costs, where bins begin
and what cells are worth is asked of `kernel.widths` and `kernel.lines` and not believed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np

from sfumato.errors import plan_refused
from sfumato.kernel.cost import Currency, root_below
from sfumato.kernel.entropy import Entropy
from sfumato.kernel.lines import Line
from sfumato.kernel.mechanisms.additive import Additive, DiscreteLaplace
from sfumato.kernel.mechanisms.choice import Exponential
from sfumato.kernel.mechanisms.found_bounds import FINE, MOST_SOUGHT, choose_edge
from sfumato.kernel.mechanisms.protocol import Added, CellCounts, Event, Numbers, Released
from sfumato.kernel.mechanisms.running import Strategy
from sfumato.kernel.widths import rows_at_anchor, rows_at_clamp
from sfumato.schema.allow import Family

Wanted = Literal["bins", "totals", "moments"]
# Of what finding ends costs: the anchors, the ends. Of what is left, where moments are wanted: counts, sum, squares.
SPLIT_OF_ENDS = Fraction(2, 5), Fraction(3, 5)
SPLIT_OF_MOMENTS = Fraction(1, 4), Fraction(1, 4), Fraction(1, 2)
MOST_AWAY = 1 << 14  # deviations are in parts of the half distance of the ends, so that squares of 2^32 rows add up
HALF_SQUARE = MOST_AWAY**2 // 2
PLACES = 4  # that are released: the edges of a low anchor, a low end, a high anchor and a high end


@dataclass(frozen=True, slots=True)
class FoundEnds:
    """Releases the places of anchors and ends among the edges of a line, the rows below the first bin, in each bin and
    above the last, and of moments the sum of deviations and that of squares less HALF_SQUARE; all of every group.

    `anchor` and `end` are what one row costs in each choice, as ε; `within` is the noise of the counts (of running
    totals: of a strategy's sums of them), `moments` that of the sums.
    Claim: costs as many times l1·(anchor + end) in ε, or l2_squared·(anchor² + end²)/8 in ρ, as there are ends to find,
    and what counts and sums do besides, when a unit has at most l1 rows in all groups and the squares of its rows in
    each group add up to at most l2_squared; whatever `kernel.widths` and `kernel.lines` say.
    Proof: docs/proofs/found-ends.md
    """

    line: Line
    l1: int
    l2_squared: int
    anchor: Fraction
    end: Fraction
    within: Additive
    moments: tuple[Additive, ...] = ()

    def __post_init__(self) -> None:
        counted = self.within.strategy
        most, squared = (1, 1) if counted is None else (counted.most, counted.spread_squared)
        noises = [(self.within, most, squared)]
        noises += [(one, most, most**2) for one, most in zip(self.moments, (MOST_AWAY, HALF_SQUARE), strict=False)]
        if any((one.l1, one.l2_squared) != (self.l1 * many, self.l2_squared * more) for one, many, more in noises):
            raise ValueError("all rounds are about the same rows")
        if min(self.anchor, self.end) <= 0 or (self.within.cells or 0) < 3 or len(self.moments) not in (0, 2):
            raise ValueError("every choice has a price, and rows are counted below, between and above the ends")

    @classmethod
    def for_share(
        cls,
        share: Fraction,
        currency: Currency,
        l1: int,
        l2_squared: int,
        line: Line,
        finding: Fraction,
        wanted: Wanted,
        bins: int,
    ) -> "FoundEnds":
        """`finding` is the part of the share that goes into finding the ends."""
        sides = 1 if line.one_sided else 2
        anchor, end = (finding * share * part / sides for part in SPLIT_OF_ENDS)
        if currency == "epsilon":
            anchor, end = anchor / l1, end / l1
        else:
            anchor, end = root_below(8 * anchor / l2_squared), root_below(8 * end / l2_squared)
        rest = (1 - finding) * share
        if wanted == "moments":
            counts, total, squares = (rest * part for part in SPLIT_OF_MOMENTS)
            sums = tuple(
                Additive.for_share(part, currency, l1 * most, l2_squared * most**2)
                for part, most in ((total, MOST_AWAY), (squares, HALF_SQUARE))
            )
            return cls(line, l1, l2_squared, anchor, end, Additive.for_share(counts, currency, l1, l2_squared, 3), sums)
        strategy = Strategy("tree" if currency == "epsilon" else "roots", bins + 2) if wanted == "totals" else None
        most, squared = (1, 1) if strategy is None else (strategy.most, strategy.spread_squared)
        counting = Additive.for_share(rest, currency, l1 * most, l2_squared * squared, bins + 2, strategy)
        return cls(line, l1, l2_squared, anchor, end, counting)

    @property
    def currency(self) -> Currency:
        return "epsilon" if isinstance(self.within.law, DiscreteLaplace) else "rho"

    @property
    def family(self) -> Family:
        return "found_bounds"

    @property
    def bins(self) -> int:
        return (self.within.cells or 0) - 2

    @property
    def edges(self) -> Numbers:
        """Claim: they rise from the beginning of the line to its end, whatever was said."""
        said = self.line.edges()
        if said.dtype != np.int64 or said[0] != 0 or said[-1] != self.line.size or (np.diff(said) < 1).any():
            raise plan_refused("the edges of a line rise from its beginning to its end")
        return said

    def cost(self, currency: Currency) -> Fraction:
        """Of all rounds: ε for permute-and-flip and Laplace noise, ρ for exponential choices and Gaussian noise."""
        if currency != self.currency:
            raise plan_refused(f"found ends with this noise are not paid in {currency}")
        if currency == "epsilon":
            choices = self.l1 * (self.anchor + self.end)
        else:
            one = Fraction(1)
            choices = sum((Exponential(each, one).rho() for each in (self.anchor, self.end)), Fraction(0))
            choices *= self.l2_squared
        added = sum((noise.cost(currency) for noise in (self.within, *self.moments)), Fraction(0))
        return (1 if self.line.one_sided else 2) * choices + added

    def event(self) -> Event:
        shared = {} if self.l2_squared == self.l1**2 else {"rows_squared": str(self.l2_squared)}
        return {"mechanism": "found_ends", "rows": str(self.l1), **shared, self.currency: str(self.cost(self.currency))}

    def check(self, entry: Added) -> None:
        if not isinstance(entry, CellCounts) or not entry.fit(self.line.size):
            raise plan_refused("the engine answered with something else than cells")

    def draw(self, entries: Sequence[Added], entropy: Entropy) -> list[Released]:
        return [self.find(entry, entropy) for entry in entries if isinstance(entry, CellCounts)]

    def find(self, entry: CellCounts, entropy: Entropy) -> tuple[int, ...]:
        """All rounds for one group. Needs: cells that fit."""
        low_anchor, low, high_anchor, high = self.ends(entry, entropy)
        # From here on each round uses the data again, and only the places just chosen decide how.
        counts = rows_between(entry, self.cuts(low, high), self.line.size)
        (noisy,) = self.within.draw([_cells(counts)], entropy)
        released = [low_anchor, low, high_anchor, high, *(noisy if isinstance(noisy, tuple) else (noisy,))]
        if self.moments:
            away = self._away(low, high, entry.places)
            sums = int((entry.counts * away).sum()), int((entry.counts * (away**2 - HALF_SQUARE)).sum())
            drawn = [int(noise.law.draw(1, entropy)[0]) for noise in self.moments]
            released += [total + noise for total, noise in zip(sums, drawn, strict=True)]
        return tuple(released)

    def ends(self, entry: CellCounts, entropy: Entropy) -> tuple[int, int, int, int]:
        """Edges of a low anchor, a low end, a high anchor and a high end, of which the low end lies below the high one.

        Claim: costs what the choices do. Where a line begins at 0 the low ones are 0 and cost nothing.
        """
        above = rows_above(entry, self.edges)
        cells, below = len(above) - 1, (above[0] - above)[::-1]
        sought, nothing = rows_at_anchor(self.anchor, cells), np.zeros(cells, dtype=np.int64)
        sides = [above] if self.line.one_sided else [below, above]
        first = [choose_edge(rows, 0, self.anchor, sought, nothing, self.currency, entropy) for rows in sides]
        high_anchor = first[-1] + 1
        low_anchor = 0 if self.line.one_sided else cells - 1 - first[0]
        sought, unit = rows_at_clamp(self.end), 2 * FINE / float(self.end)
        costs = [_within(said, cells, MOST_SOUGHT) for said in self.line.farther(low_anchor, high_anchor, unit)]
        last = [
            choose_edge(rows, start, self.end, sought, farther, self.currency, entropy)
            for rows, start, farther in zip(sides, first, costs[-len(sides) :], strict=True)
        ]
        low, high = 0 if self.line.one_sided else cells - 1 - last[0], last[-1] + 1
        return low_anchor, min(low, high - 1), high_anchor, max(high, low + 1)

    def _away(self, low: int, high: int, places: Numbers) -> Numbers:
        """How far cells lie from the middle of the ends, at most MOST_AWAY; those beyond as far as the ends."""
        first, last = self.edges[[low, high]].tolist()
        table = _within(self.line.deviations(low, high, MOST_AWAY), last - first, MOST_AWAY)
        inside = table[np.clip(places - first, 0, last - first - 1)]
        return np.where(places < first, -MOST_AWAY, np.where(places >= last, MOST_AWAY, inside))

    def cuts(self, low: int, high: int) -> Numbers:
        """The cells at which bins begin, and the last one's end."""
        if self.moments:
            return self.edges[[low, high]]
        return np.maximum.accumulate(_within(self.line.cuts(low, high, self.bins), self.bins + 1, self.line.size))


def rows_above(cells: CellCounts, edges: Numbers) -> Numbers:
    """How many rows lie in the cells from each edge on.

    Claim: one row more moves each of them by 0 or 1, and so it moves the rows below each edge.
    """
    below = np.concatenate([[0], np.cumsum(cells.counts)])
    return np.asarray(below[-1] - below[np.searchsorted(cells.places, edges)])


def rows_between(cells: CellCounts, cuts: Numbers, size: int) -> Numbers:
    """The rows below the first cut, from each to the next, and from the last on.

    Claim: a row is counted once. Needs: cuts that never fall, none above the size.
    """
    below = np.concatenate([[0], np.cumsum(cells.counts)])
    return np.diff(below[np.searchsorted(cells.places, np.concatenate([[0], cuts, [size]]))])


def _cells(counts: Numbers) -> CellCounts:
    places = np.flatnonzero(counts)
    return CellCounts(places, counts[places])


def _within(said: Numbers, count: int, most: int) -> Numbers:
    """Numbers that were worked out for accuracy: so many whole ones, none larger, whatever was said.

    Claim: they are the same for all tables, given what was released.
    """
    if said.shape != (count,) or said.dtype != np.int64:
        return np.zeros(count, dtype=np.int64)
    return np.clip(said, -most, most)
