"""Bounds that nobody declared: a clamp is chosen by rank, then used to clamp a sum.

Four rounds in one release. Two choices among the edges of a public grid of magnitudes: an anchor, beyond which there
are surely rows, and from there upwards a clamp, beyond which there are few. Then noisy counts of the rows around them,
and the sum of all that lies within the clamp. How many rows are sought beyond either is asked of `kernel.widths` and
not believed: whatever it says, the price is the same.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from sfumato.errors import plan_refused
from sfumato.kernel.cost import Currency, root_below
from sfumato.kernel.entropy import Entropy
from sfumato.kernel.mechanisms.additive import Additive, DiscreteLaplace, Law
from sfumato.kernel.mechanisms.choice import Exponential, PermuteAndFlip
from sfumato.kernel.mechanisms.protocol import Added, CellCounts, Event, Numbers, Released, Weighed
from sfumato.kernel.mechanisms.ranks import safe
from sfumato.kernel.widths import rows_at_anchor, rows_at_clamp, rows_of_a_cell
from sfumato.schema.allow import Family

# Of what finding bounds costs: the anchor, the clamp, the counts.
SPLIT = (Fraction(7, 33), Fraction(18, 33), Fraction(8, 33))
AROUND = 4  # counts: rows below the clamp, on either side from the anchor up to it, above it
FINE = 64  # scores are whole numbers, in parts of a row
MOST_SOUGHT = 1 << 40  # sought beyond an edge, so that no score overflows
NEVER = 1 << 60


@dataclass(frozen=True, slots=True)
class BoundedSum:
    """Releases (anchor, clamp, four counts, sum) of every group: the places of two edges, how many rows lie below minus
    the clamp, from there to minus the anchor, from the anchor to the clamp and above it, and the clamped sum in steps.

    `anchor` and `clamp` are what one row costs in each choice, as ε; `counting` is the noise of the counts, `adding`
    what the sum may cost in the same currency.
    Claim: costs l1·(anchor + clamp) in ε, or l2_squared·(anchor² + clamp²)/8 in ρ, and what counts and sum do besides,
    when a unit has at most l1 rows in all groups, the squares of its rows in each group add up to at most l2_squared,
    and no row of a cell is larger than its edge; whatever `kernel.widths` says.
    Proof: docs/proofs/private-bounds.md
    """

    edges: tuple[int, ...]
    anchor: Fraction
    clamp: Fraction
    counting: Additive
    adding: Fraction

    def __post_init__(self) -> None:
        if self.counting.cells != AROUND or min(self.anchor, self.clamp, self.adding) <= 0:
            raise ValueError("rows are counted around a clamp, and every round has a price of its own")

    @classmethod
    def for_share(
        cls,
        share: Fraction,
        currency: Currency,
        l1: int,
        l2_squared: int,
        edges: tuple[int, ...],
        finding: Fraction,
    ) -> "BoundedSum":
        """`finding` is the part of the share that goes into finding bounds."""
        anchor, clamp, counts = (finding * share * part for part in SPLIT)
        if currency == "epsilon":
            anchor, clamp = anchor / l1, clamp / l1
        else:
            anchor, clamp = root_below(8 * anchor / l2_squared), root_below(8 * clamp / l2_squared)
        counting = Additive.for_share(counts, currency, l1, l2_squared, cells=AROUND)
        return cls(edges, anchor, clamp, counting, (1 - finding) * share)

    @property
    def currency(self) -> Currency:
        return "epsilon" if isinstance(self.counting.law, DiscreteLaplace) else "rho"

    @property
    def family(self) -> Family:
        return "found_bounds"

    def cost(self, currency: Currency) -> Fraction:
        """Of all rounds: ε for permute-and-flip and Laplace noise, ρ for exponential choices and Gaussian noise."""
        if currency != self.currency:
            raise plan_refused(f"found bounds with this noise are not paid in {currency}")
        if currency == "epsilon":
            choices = self.counting.l1 * (self.anchor + self.clamp)
        else:
            one = Fraction(1)
            choices = sum((Exponential(each, one).rho() for each in (self.anchor, self.clamp)), Fraction(0))
            choices *= self.counting.l2_squared
        return choices + self.counting.cost(currency) + self.adding

    def event(self) -> Event:
        l1, l2_squared, price = self.counting.l1, self.counting.l2_squared, self.cost(self.currency)
        shared = {} if l2_squared == l1**2 else {"rows_squared": str(l2_squared)}
        return {
            "mechanism": "bounded_sum",
            "rows": str(l1),
            **shared,
            self.currency: str(price),
            "finding": str(price - self.adding),
            "adding": str(self.adding),
        }

    def check(self, entry: Added) -> None:
        if not isinstance(entry, Weighed) or not entry.fit(self.edges):
            raise plan_refused("the engine answered with something else than counts and sums of cells")

    def noise(self, most: int) -> Law:
        """The noise of a sum of values of at most this size."""
        counting = self.counting
        return Additive.for_share(self.adding, self.currency, counting.l1 * most, counting.l2_squared * most**2).law

    def draw(self, entries: Sequence[Added], entropy: Entropy) -> list[Released]:
        return [self.find(entry, entropy) for entry in entries if isinstance(entry, Weighed)]

    def find(self, entry: Weighed, entropy: Entropy) -> tuple[int, ...]:
        """All rounds for one group. Needs: cells that fit."""
        rows = larger(entry.cells, len(self.edges))
        sought = rows_at_anchor(self.anchor, len(self.edges))
        places = np.arange(len(self.edges))
        anchor = choose_edge(rows, 0, self.anchor, sought, 0 * places, self.currency, entropy)
        # From here on each round uses the data again, and only the numbers just chosen decide how.
        sought, farther = rows_at_clamp(self.clamp), min(safe(rows_of_a_cell(self.clamp, FINE)), MOST_SOUGHT)
        clamp = choose_edge(rows, anchor, self.clamp, sought, farther * (places - anchor), self.currency, entropy)
        around = counts_around(entry.cells, len(self.edges), anchor, clamp) + self.counting.law.draw(AROUND, entropy)
        most = self.edges[clamp]
        total = clamped(entry, -most, most, self.edges) + int(self.noise(most).draw(1, entropy)[0])
        return anchor, clamp, *around.tolist(), total


def choose_edge(
    rows: Numbers, first: int, epsilon: Fraction, wanted: int, farther: Numbers, currency: Currency, entropy: Entropy
) -> int:
    """The cell of an edge from the first place on, so that `wanted` rows lie beyond, and the lower its cost the better.

    `rows` are the numbers beyond all edges, which run outwards: cell j lies between edges j and j + 1. Its score is how
    far the wanted number is from those beyond its two ends, and what it costs in parts of a row.
    Claim: with every row more or less the log-probability of a choice moves by at most ε, whatever is wanted and
    whatever a place costs; all cells are candidates, so as much chance is used whatever was chosen before.
    Needs: one row moves each of `rows` by 0 or 1; a `first` and costs that do not depend on them, or were released.
    """
    wanted = min(max(safe(wanted), 0), MOST_SOUGHT)
    gaps = np.maximum(np.maximum(rows[1:] - wanted, wanted - rows[:-1]), 0)
    costs = np.minimum(np.maximum(farther, 0), MOST_SOUGHT)
    scores = -FINE * gaps - np.where(np.arange(len(gaps)) < first, NEVER, costs)
    law = PermuteAndFlip if currency == "epsilon" else Exponential
    return max(first, law(epsilon, Fraction(FINE)).draw(scores, entropy))


def larger(cells: CellCounts, edges: int) -> Numbers:
    """How many rows are not 0, and how many are larger than each edge, whatever their sign.

    Claim: one row more moves each of them by 0 or 1.
    """
    dense = cells.dense(2 * edges + 1)
    sizes = dense[edges + 1 :] + dense[edges - 1 :: -1]
    return np.asarray(np.append(np.cumsum(sizes[::-1])[::-1], 0))


def counts_around(cells: CellCounts, edges: int, anchor: int, clamp: int) -> Numbers:
    """Rows below minus the clamp, from there up to minus the anchor, from the anchor's cell to the clamp, and above it.

    Claim: a row is counted once at most.
    """
    places = edges + np.array([-clamp - 1, -anchor, anchor + 1, clamp + 2])
    below = np.concatenate([[0], np.cumsum(cells.counts)])
    first, second, third, fourth = below[np.searchsorted(cells.places, places)].tolist()
    return np.array([first, second - first, fourth - third, int(below[-1]) - fourth], dtype=np.int64)


def clamped(entry: Weighed, low: int, high: int, edges: tuple[int, ...]) -> int:
    """The sum of all values clamped to [low, high].

    Claim: a row in a cell adds at most max(-low, high).
    Needs: low that is 0 or minus an edge, high that is 0 or an edge.
    """
    total, middle = 0, len(edges)
    for place, count, found in zip(entry.cells.places.tolist(), entry.cells.counts.tolist(), entry.sums, strict=True):
        if place != middle:
            most = high if place > middle else low
            total += found if edges[abs(place - middle) - 1] <= abs(most) else count * most
    return total
