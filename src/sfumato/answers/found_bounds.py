"""Sums and averages whose bounds were found: values, error bars, and on what they depend. Post-processing only.

Rows beyond the clamp are seen as a noisy count; how far beyond they lie is not. How steeply rows thin out between the
anchor and the clamp tells what to expect, and the note under an answer says what was supposed.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import log, sqrt
from typing import Any

from sfumato.errors import so_many
from sfumato.kernel.certify import Certified
from sfumato.kernel.mechanisms.additive import DiscreteLaplace, Law
from sfumato.kernel.mechanisms.found_bounds import BoundedSum
from sfumato.kernel.mechanisms.protocol import Mechanism, Released
from sfumato.kernel.widths import deviation, error, rows_at_anchor, rows_at_clamp
from sfumato.plan.nodes import Magnitudes
from sfumato.query.rewrite import FoundColumn, FoundMeanColumn, FoundSumColumn, KeyColumn, OutputColumn

MOST_NOTES = 12
# Constants that were chosen on one half of fourteen columns and held on the other: docs/decisions/0016-found-bounds.md
TYPICAL = Fraction(35, 100)  # by what part of the clamp a row that is seen beyond it exceeds it
STEEPNESS, LEAST_EXCESS, MOST_EXCESS = 0.5, 0.75, 1.5  # and at most, on average
SEEN, SURELY_SEEN = 1.645, 2.5  # spreads of a count's noise
LOST = 4  # so many times 2/epsilon rows more than sought beyond the clamp: the anchor was wrong
QUARTER_OF_AN_OCTAVE = 2**0.25


@dataclass(frozen=True, slots=True)
class Beyond:
    """One side of zero: what the counts say of rows beyond the clamp."""

    count: int
    most: float  # rows, at the confidence of the answer
    matters: bool  # whether the side has rows of the size of the anchor, or surely some beyond

    def typical(self, spread: float) -> int:
        return self.count if self.count > (SEEN if self.matters else SURELY_SEEN) * spread else 0


@dataclass(frozen=True, slots=True)
class Found:
    """What the numbers of one group say of its sum, in steps."""

    clamp: int
    total: int
    law: Law  # of the total's noise
    below: Beyond
    above: Beyond
    excess: float  # by what part of the clamp rows beyond it exceed it, on average at most
    spread: float

    @property
    def value(self) -> Fraction:
        return self.total + TYPICAL * self.clamp * (self.above.typical(self.spread) - self.below.typical(self.spread))

    @property
    def clipped(self) -> tuple[int, int]:
        """How far the sum of all values may lie below and above that of clamped ones."""
        low, high = (side.most if side.matters else 0.0 for side in (self.below, self.above))
        return round(self.excess * self.clamp * low), round(self.excess * self.clamp * high)

    @property
    def farthest(self) -> Fraction:
        """How large a mean can be if the supposition holds."""
        return self.clamp * (1 + Fraction(self.excess))


def read(mechanism: Mechanism, found: Any, confidence: float = 0.95) -> Found | None:
    """None where there were too few rows to find bounds, or more beyond than within, or values beyond the last edge."""
    if not isinstance(mechanism, BoundedSum):
        raise TypeError("only of a sum whose bounds are found")
    anchor, clamp, far_below, below, above, far_above, total = found
    law, edges = mechanism.counting.law, mechanism.edges
    spread = float(law.scale) if isinstance(law, DiscreteLaplace) else deviation(law)
    sought, near, far = rows_at_anchor(mechanism.anchor, len(edges)), below + above, far_below + far_above
    most_lost = rows_at_clamp(mechanism.clamp) + LOST * 2 / float(mechanism.clamp) + 2 * sqrt(2) * spread
    if near + far < sought / 2 or far > min(most_lost, near) or clamp == len(edges) - 1:
        return None
    one_sided = error(law, 2 * confidence - 1) if confidence > 0.5 else 0
    lower, upper = (
        Beyond(more, max(more, 0) + one_sided, more + some >= sought / 4 or more > SURELY_SEEN * spread)
        for more, some in ((far_below, below), (far_above, above))
    )
    excess = _excess(sought, max(lower.most, upper.most), QUARTER_OF_AN_OCTAVE * edges[clamp] / edges[anchor])
    return Found(edges[clamp], total, mechanism.noise(edges[clamp]), lower, upper, excess, spread)


def _excess(at_anchor: float, beyond: float, apart: float) -> float:
    """Where rows thin out like size^-a, those beyond exceed the clamp by 1/(a - 1) of it; bounded on both sides."""
    steep = log(at_anchor / max(beyond, 1.0)) / log(apart) if at_anchor > beyond else 0.0
    return MOST_EXCESS if steep <= 1 else min(max(STEEPNESS / (steep - 1), LEAST_EXCESS), MOST_EXCESS)


def sum_of(column: FoundSumColumn, found: Any, mechanism: Mechanism) -> float | None:
    known = read(mechanism, found)
    return None if known is None else in_units(known.value, column.total.cells)


def mean_of(column: FoundMeanColumn, found: Any, count: int, mechanism: Mechanism) -> float | None:
    known = read(mechanism, found)
    if known is None:
        return None
    return float(within(known.value / max(count, 1), known.farthest) * column.total.cells.step)


def within(mean: Fraction, farthest: Fraction) -> Fraction:
    return min(max(mean, -farthest), farthest)


def counted(count: Released) -> int:
    """A number of values, also when it was counted as the only cell of a histogram."""
    return count if isinstance(count, int) else count[0]


def in_units(steps: Fraction | int, cells: Magnitudes) -> float:
    value = steps * cells.step
    return round(value) if cells.exponent >= 0 else float(value)


def rough(number: float) -> str:
    """Three digits, without an exponent where people would have to read one."""
    return f"{float(f'{number:.3g}'):,.15g}"


def found_bounds(
    certified: Certified,
    columns: Sequence[OutputColumn],
    rows: Sequence[Mapping[str, Any]],
    values: Sequence[tuple[Released, ...]],
) -> tuple[str, ...]:
    """A sentence for every sum and group: which bounds were found, what they cost and what their error bar supposes."""
    found = {column: column.total.finding for column in columns if isinstance(column, FoundSumColumn | FoundMeanColumn)}
    return in_every_group(certified, columns, found, rows, values, _words)


def in_every_group(
    certified: Certified,
    columns: Sequence[OutputColumn],
    found: Mapping[Any, Fraction],
    rows: Sequence[Mapping[str, Any]],
    values: Sequence[tuple[Released, ...]],
    words: Callable[[Any, Mechanism, Any, float], str],
) -> tuple[str, ...]:
    """What words are made of each of these columns, of what was released for it, and of the part of the spend that went
    into finding bounds, in percent: in the first groups, and how many more there are."""
    keys = [column.name for column in columns if isinstance(column, KeyColumn)]
    notes = []
    for column, finding in found.items():
        mechanism = certified.releases[column.measure].mechanism
        percent = float(100 * certified.plan.measures[column.measure].share * finding / certified.cost.amount)
        for row, numbers in list(zip(rows, values, strict=True))[:MOST_NOTES]:
            group = "".join(f", {row[key]}" for key in keys)
            notes.append(f"{column.name}{group}: {words(column, mechanism, numbers[column.measure], percent)}")
        if len(rows) > MOST_NOTES:
            notes.append(f"{column.name}: so too in {so_many(len(rows) - MOST_NOTES, 'more group')}.")
    return tuple(notes)


def _words(column: FoundColumn, mechanism: Mechanism, numbers: Any, percent: float) -> str:
    if (known := read(mechanism, numbers)) is None:
        return f"no bounds were found with {percent:.3g} % of the spend: too few rows, or all 0. Spend more."
    cells = column.total.cells
    clamp = f"{in_units(known.clamp, cells):.6g}"
    beyond = " and ".join(
        f"no more than {side.most:,.0f} rows lie {where}" if side.matters else f"none {where}"
        for side, where in ((known.above, f"above {clamp}"), (known.below, f"below -{clamp}"))
    )
    farther = rough(float(known.excess * known.clamp * cells.step))
    return (
        f"bounds -{clamp} to {clamp} were found privately with {percent:.3g} % of the spend; the error bar holds if "
        f"{beyond}, on average by no more than {farther}. Declared bounds are better."
    )
