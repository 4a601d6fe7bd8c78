"""Variances, histograms and running shares between ends that were found. Post-processing only.

Rows beyond the ends are seen as noisy counts; how far beyond they lie is not. How steeply rows thin out between an
anchor and its end tells what to expect, and the note under an answer says what was supposed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import log, sqrt
from typing import Any

import numpy as np

from sfumato.answers.cells import running_totals, share_intervals, shares
from sfumato.answers.found_bounds import LOST, QUARTER_OF_AN_OCTAVE, SEEN, in_every_group, rough
from sfumato.kernel.certify import Certified
from sfumato.kernel.mechanisms.found_ends import HALF_SQUARE, MOST_AWAY, PLACES, FoundEnds
from sfumato.kernel.mechanisms.protocol import Mechanism, Released
from sfumato.kernel.widths import deviation, error, rows_at_anchor, rows_at_clamp
from sfumato.query.rewrite import EndsColumn, FoundBinsColumn, FoundSpreadColumn, OutputColumn

Interval = tuple[float, float]
# Constants that were chosen on one half of fifteen columns: docs/decisions/0020-found-ends.md
TYPICAL = 0.25  # how far a row that is seen beyond an end lies from it, in parts of the distance to the other anchor
STEEPNESS, LEAST_EXCESS, MOST_EXCESS, FLATTEST = 2.0, 0.35, 2.5, 2.05  # and at most, in root mean square


@dataclass(frozen=True, slots=True)
class Side:
    """Rows beyond an end, and how far the other anchor is."""

    count: float
    most: float  # at the confidence of the answer
    reach: float
    excess: float  # in parts of the reach, in root mean square at most


@dataclass(frozen=True, slots=True)
class Ends:
    """What the numbers of one group say of its ends."""

    low: float
    high: float
    rows: float
    spread: float  # of the noise of a count
    below: Side
    above: Side


def read(mechanism: Mechanism, found: Any, confidence: float = 0.95) -> Ends | None:
    """None where there were too few rows to find ends, or far more beyond one than sought, or the line has no more."""
    ends = _ends(mechanism)
    low_anchor, low, high_anchor, high = found[:PLACES]
    line, width = ends.line, len(found) - PLACES - len(ends.moments)
    below, above, rows, spread = _beyond(ends, np.array(found[PLACES : PLACES + width], dtype=np.float64))
    cells = len(line.edges()) - 1
    first, begin, end, last = (line.at(edge) for edge in (low, low_anchor, high_anchor, high))
    lost = rows_at_clamp(ends.end) + LOST * 2 / float(ends.end) + 2 * spread
    sought = rows_at_anchor(ends.anchor, cells)
    if begin >= end or rows < sought or max(below, above) > lost or high == cells or (low == 0 and not line.one_sided):
        return None
    more = spread / deviation(ends.within.law) * error(ends.within.law, 2 * confidence - 1) if confidence > 0.5 else 0
    sides = [
        Side(count, max(count, 0.0) + more, reach, _excess(sought, max(count, 0.0) + more, reach / (end - begin)))
        for count, reach in ((below, end - first), (above, last - begin))
    ]
    return Ends(first, last, rows, spread, *sides)


def _beyond(ends: FoundEnds, numbers: Any) -> tuple[float, float, float, float]:
    """Noisy counts of the rows below and above the bins and of all, and the deviation of the noise of a count."""
    one, strategy = deviation(ends.within.law), ends.within.strategy
    if strategy is None:
        return float(numbers[0]), float(numbers[-1]), float(numbers.sum()), one
    matrix = running_totals(strategy)
    totals = matrix @ numbers
    spread = max(float(np.linalg.norm(row)) for row in (matrix[0], matrix[-1] - matrix[-2]))
    return float(totals[0]), float(totals[-1] - totals[-2]), float(totals[-1]), one * spread


def _excess(at_anchor: float, beyond: float, apart: float) -> float:
    """Where rows thin out like size^-a, the mean square beyond is 2/((a - 1)(a - 2)) of the end's; bounded twice."""
    steep = max(log(max(at_anchor / max(beyond, 1.0), 1.0)) / log(QUARTER_OF_AN_OCTAVE * max(apart, 1.0)), FLATTEST)
    return min(max(STEEPNESS * sqrt(2 / ((steep - 1) * (steep - 2))), LEAST_EXCESS), MOST_EXCESS)


# ---- variances


def spread_of(column: FoundSpreadColumn, found: Any, mechanism: Mechanism) -> float | None:
    known = read(mechanism, found)
    if known is None:
        return None
    mean, variance = _moments(found, known.rows)
    unit = _unit(known)
    for side, away in ((known.above, MOST_AWAY - mean), (known.below, MOST_AWAY + mean)):
        if side.count > SEEN * known.spread:
            variance += _more(side.count / known.rows, away, TYPICAL * side.reach / unit)
    return _shown(column, sqrt(max(variance, 0.0)) * unit, known.rows)


def spread_interval(column: FoundSpreadColumn, found: Any, mechanism: Mechanism, confidence: float) -> Interval | None:
    """The noise, what may have been clipped, and how wide cells are. Clamping never makes a variance larger."""
    known, ends = read(mechanism, found, confidence), _ends(mechanism)
    if known is None:
        return None
    mean, variance = _moments(found, known.rows)
    unit, squares = _unit(known), variance + mean**2 - HALF_SQUARE
    laws = [ends.within.law, *(noise.law for noise in ends.moments)]
    width = max(error(law, confidence) / deviation(law) for law in laws if deviation(law)) if laws else 0.0
    by_count = squares - 2 * mean**2
    noises = by_count * sqrt(3) * deviation(laws[0]), 2 * mean * deviation(laws[1]), deviation(laws[2])
    half = width * sqrt(sum(noise**2 for noise in noises)) / known.rows
    clipped = sum(
        _more(side.most / known.rows, away, side.excess * side.reach / unit)
        for side, away in ((known.above, MOST_AWAY - mean), (known.below, MOST_AWAY + mean))
    )
    low, high = (sqrt(max(end, 0.0)) * unit for end in (variance - half, max(variance, 0.0) + half + clipped))
    # Values are those of the middles of cells, in steps: a deviation is off by no more than they are.
    off = unit / 2 + _half_a_cell(ends, known)
    return _shown(column, max(low - off, 0.0), known.rows), _shown(column, high + off, known.rows)


def _moments(found: Any, rows: float) -> tuple[float, float]:
    """The mean and the variance of deviations from the middle of the ends."""
    mean = found[-2] / rows
    return mean, HALF_SQUARE + found[-1] / rows - mean**2


def _more(share: float, away: float, excess: float) -> float:
    """By how much the variance is larger if such a share of rows lies so much beyond an end that is so far away."""
    return share * ((away + excess) ** 2 - away**2)


def _unit(known: Ends) -> float:
    return (known.high - known.low) / (2 * MOST_AWAY)


def _half_a_cell(ends: FoundEnds, known: Ends) -> float:
    """Of whole numbers that have cells of their own nothing."""
    farthest = max(abs(known.low), abs(known.high))
    wide = (farthest + float(ends.line.step)) * float(ends.line.width)
    return 0.0 if ends.line.whole and wide < 1 else wide / 2


def _shown(column: FoundSpreadColumn, deviation: float, rows: float) -> float:
    """Of a sample, times n / (n - 1)."""
    variance = deviation**2 * (rows / max(rows - 1, 1.0) if column.spread.sample else 1.0)
    return sqrt(variance) if column.spread.root else variance


# ---- histograms and running shares


def bins_of(column: FoundBinsColumn, found: Any, mechanism: Mechanism) -> list[dict[str, float]]:
    """Bins [low, high), of whole numbers the first and the last of each; or shares up to their ends. Nothing if no ends
    were found."""
    if read(mechanism, found) is None:
        return []
    ends, numbers = _ends(mechanism), found[PLACES:]
    edges = ends.line.bins(found[1], found[3], ends.bins)
    whole = ends.line.whole
    highs = [_end(edge - 1 if whole else edge, whole) for edge in edges[1:]]
    if column.ends.wanted == "totals":
        up_to = shares(ends.within, numbers)[1:-1].tolist()
        return [{"at": at, "share": share} for at, share in zip(highs, up_to, strict=True)]
    return [
        {"low": _end(low, whole), "high": high, "count": count}
        for low, high, count in zip(edges, highs, numbers[1:-1], strict=False)
    ]


def bins_interval(column: FoundBinsColumn, found: Any, mechanism: Mechanism, confidence: float) -> list[Interval]:
    if read(mechanism, found) is None:
        return []
    ends, numbers = _ends(mechanism), found[PLACES:]
    if column.ends.wanted == "totals":
        return share_intervals(ends.within, numbers, confidence)[1:-1]
    half = error(ends.within.law, confidence)
    return [(count - half, count + half) for count in numbers[1:-1]]


def _end(edge: Fraction, whole: bool) -> float:
    return int(edge) if whole else float(edge)


def _ends(mechanism: Mechanism) -> FoundEnds:
    if not isinstance(mechanism, FoundEnds):
        raise TypeError("only of ends that are found")
    return mechanism


# ---- what is said of them


def found_ends(
    certified: Certified,
    columns: Sequence[OutputColumn],
    rows: Sequence[Mapping[str, Any]],
    values: Sequence[tuple[Released, ...]],
) -> tuple[str, ...]:
    """A sentence for every column and group: which ends were found, what they cost, and what lies beyond."""
    found = {
        column: column.ends.finding for column in columns if isinstance(column, FoundSpreadColumn | FoundBinsColumn)
    }
    return in_every_group(certified, columns, found, rows, values, _words)


def _words(column: EndsColumn, mechanism: Mechanism, numbers: Any, percent: float) -> str:
    if (known := read(mechanism, numbers)) is None:
        return f"no bounds were found with {percent:.3g} % of the spend: too few rows. Spend more."
    found = f"bounds {known.low:.6g} to {known.high:.6g} were found privately with {percent:.3g} % of the spend; "
    if isinstance(column, FoundSpreadColumn):
        beyond = " and ".join(
            f"no more than {side.most:,.0f} rows lie {where}, in root mean square by no more than "
            f"{rough(side.excess * side.reach)}"
            for side, where in ((known.above, "above"), (known.below, "below"))
        )
        return f"{found}the error bar holds if {beyond}. Declared bounds are better."
    below, above = (max(0, round(side.count)) for side in (known.below, known.above))
    where = "in no bin" if column.ends.wanted == "bins" else "beyond the last point, or before the first"
    return f"{found}about {below:,} rows below and {above:,} above the bins are {where}. Declared bounds are better."
