"""Bounds that nobody declared: found from noisy counts of magnitudes, then used to clamp a sum.

Two rounds in one release. The first adds noise to the number of rows in every cell of a public grid of magnitudes. All
that follows from these noisy counts is post-processing: how far values reach, and the clamp that loses least to
clipping and noise together; `kernel.widths` works both out and is not believed. The second round adds up what lies
within that clamp and adds noise for it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from sfumato.errors import plan_refused
from sfumato.kernel.cost import Currency
from sfumato.kernel.entropy import Entropy
from sfumato.kernel.mechanisms.additive import Additive, DiscreteLaplace, Law
from sfumato.kernel.mechanisms.protocol import Added, Event, Released, Weighed
from sfumato.kernel.widths import best_bounds, deviation
from sfumato.schema.allow import Family


@dataclass(frozen=True, slots=True)
class BoundedSum:
    """Releases (low, high, sum, beyond, counted) of every group: bounds and sum in steps, and of how many rows at most
    how many lie beyond, as far as noisy counts tell.

    `counting` is the noise of the counts, `adding` what the sum may cost in the same currency.
    Claim: costs what the counts do and `adding` besides, when a unit has at most l1 rows in all groups, the squares of
    its rows in each group add up to at most l2_squared, and no row of a cell is larger than its edge; whatever bounds
    `kernel.widths` names.
    Proof: docs/proofs/private-bounds.md
    """

    counting: Additive
    adding: Fraction
    edges: tuple[int, ...]

    def __post_init__(self) -> None:
        if self.counting.cells != 2 * len(self.edges) + 1 or self.adding <= 0:
            raise ValueError("rows are counted in every cell of magnitudes, and the sum has a price of its own")

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
        """`finding` is the part of the share that the counts cost."""
        counts = finding * share
        counting = Additive.for_share(counts, currency, l1, l2_squared, cells=2 * len(edges) + 1)
        return cls(counting, share - counts, edges)

    @property
    def currency(self) -> Currency:
        return "epsilon" if isinstance(self.counting.law, DiscreteLaplace) else "rho"

    @property
    def family(self) -> Family:
        return "found_bounds"

    def cost(self, currency: Currency) -> Fraction:
        """Of both rounds: ε for Laplace noise, ρ for Gaussian noise."""
        if currency != self.currency:
            raise plan_refused(f"found bounds with this noise are not paid in {currency}")
        return self.counting.cost(currency) + self.adding

    def event(self) -> Event:
        l1, l2_squared, price = self.counting.l1, self.counting.l2_squared, self.cost(self.currency)
        shared = {} if l2_squared == l1**2 else {"rows_squared": str(l2_squared)}
        return {
            "mechanism": "bounded_sum",
            "rows": str(l1),
            **shared,
            self.currency: str(price),
            "counting": str(price - self.adding),
            "adding": str(self.adding),
        }

    def check(self, entry: Added) -> None:
        if not isinstance(entry, Weighed) or not entry.fit(self.edges):
            raise plan_refused("the engine answered with something else than counts and sums of cells")

    def noise(self, most: int) -> Law:
        """The noise of a sum of values of at most this size; of none, that of the smallest size."""
        size, counting = max(most, 1), self.counting
        return Additive.for_share(self.adding, self.currency, counting.l1 * size, counting.l2_squared * size**2).law

    def draw(self, entries: Sequence[Added], entropy: Entropy) -> list[Released]:
        return [self.find(entry, entropy) for entry in entries if isinstance(entry, Weighed)]

    def find(self, entry: Weighed, entropy: Entropy) -> tuple[int, ...]:
        """Bounds and sum of one group. Needs: cells that fit."""
        size = 2 * len(self.edges) + 1
        noisy = entry.cells.dense(size) + self.counting.law.draw(size, entropy)
        found = best_bounds(
            np.asarray(noisy, dtype=np.float64), self.counting.law, self.edges, deviation(self.noise(1))
        )
        low, high, beyond, counted = self._safe(found)
        # From here on the data is used again, and only the numbers just released decide how.
        total = clamped(entry, low, high, self.edges) + int(self.noise(max(-low, high)).draw(1, entropy)[0])
        return low, high, total, beyond, counted

    def _safe(self, found: Any) -> tuple[int, int, int, int]:
        """What was worked out for accuracy, as numbers that can be used: a bound that is no edge of its side is 0.

        Claim: the first is 0 or minus an edge, the second 0 or an edge, whatever was said.
        """
        low, high, beyond, counted = (number if type(number) is int else 0 for number in found)
        return low if -low in self.edges else 0, high if high in self.edges else 0, beyond, counted


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
