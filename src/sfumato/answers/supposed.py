"""Error bars before a question is asked, where they depend on the answer: of a group of about so many rows.

How many rows is the analyst's own guess. Their values are taken to lie evenly over one half of what their bounds allow;
an answer that noise leaves as it is then has the error bar that is told. No data is near.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from sfumato.answers.cells import HALF
from sfumato.answers.clipped import Clipped
from sfumato.answers.columns import Noises, interval_of, value_of
from sfumato.answers.formulas import Formulas
from sfumato.answers.rounding import margin
from sfumato.kernel.certify import Certified
from sfumato.kernel.mechanisms.additive import Additive
from sfumato.kernel.mechanisms.keys import KeySelection
from sfumato.kernel.mechanisms.protocol import CellCounts, Mechanism, Numbers
from sfumato.kernel.mechanisms.rank_bars import balanced, counts_between
from sfumato.kernel.mechanisms.ranks import RankChoice
from sfumato.plan.lattice import Lattice
from sfumato.query.computing import Computed, shown
from sfumato.query.rewrite import (
    CdfColumn,
    CountColumn,
    MeanColumn,
    OutputColumn,
    QuantileColumn,
    SpreadColumn,
    SumColumn,
)
from sfumato.schema.numbers import whole

MOST_SUPPOSED = 10**9  # rows; so many are counted without an overflow


def supposed_rows(rows: int | None) -> int | None:
    return None if rows is None else whole(rows, "rows", least=1, most=MOST_SUPPOSED)


def supposed_error(
    column: OutputColumn | Computed,
    columns: Sequence[OutputColumn | Computed],
    certified: Certified,
    rows: int,
    confidence: float,
    clipped: Clipped | None = None,
) -> float | None:
    """From the number to the farther end of its error bar; None where bounds or groups are still to be found.

    columns: all of the answer, of which this one may be computed.
    """
    mechanisms = tuple(release.mechanism for release in certified.releases)
    measured = {each.name: each for each in columns if not isinstance(each, Computed)}
    made_of = [measured[each.column] for each in column.operands] if isinstance(column, Computed) else [column]
    entries: list[Any] = [rows] * len(mechanisms)
    totals = isinstance(column, Computed) and column.totals
    known = all(_put(part, entries, mechanisms, rows) for part in made_of)
    if not known or (totals and certified.selection is not None):  # nobody knows how many groups are shown
        return None
    if clipped is not None:
        entries = [0 if place in clipped.counted else entry for place, entry in enumerate(entries)]
    released, held = tuple(entries), None if clipped is None else clipped.interval
    if isinstance(column, Computed):
        groups = certified.plan.groups if totals else 1
        formulas = Formulas((column,), measured, mechanisms, (released,) * groups)
        (intervals,) = formulas.intervals([released], confidence, held)
        values = [value_of(part, (), released, mechanisms) for part in made_of]
        given = [groups * value if each.total else value for value, each in zip(values, column.operands, strict=True)]
        interval, value = intervals[column.name], shown(column.formula, lambda name: given[int(name)])
    else:
        own = interval_of(column, released, Noises(mechanisms, confidence))
        interval = own if held is None else held(column, released, confidence)
        value = value_of(column, (), released, mechanisms)
    found = None if value is None else margin(interval, value)
    return float(found) if isinstance(found, int | float) else None


def _put(column: OutputColumn, entries: list[Any], mechanisms: Sequence[Mechanism], rows: int) -> bool:
    """Put what would be released of such rows, without noise, in the places of this column; False if it is unknown."""
    match column:
        case CountColumn(measure=measure):
            selection = mechanisms[measure]
            if isinstance(selection, KeySelection):  # a smaller group is not shown
                entries[measure] = max(rows, selection.threshold)
        case SumColumn(measure=measure, lattice=lattice):
            entries[measure] = round(rows * (lattice.centre + _from_centre(lattice)))
        case MeanColumn(total=total, lattice=lattice):
            entries[total] = round(rows * _from_centre(lattice))
        case SpreadColumn(total=total, squares=squares, spread=spread):
            entries[total] = round(rows * _from_centre(spread.lattice))
            # Of values that lie evenly on one side of the middle, a third of the largest square.
            entries[squares] = round(rows * (Fraction(spread.squares.upper, 3) - spread.squares.centre))
        case QuantileColumn(measure=measure, quantile=quantile) if quantile.step is None:
            entries[measure] = _ranks(mechanisms[measure], rows)
        case CdfColumn(measure=measure):
            entries[measure] = _running(mechanisms[measure], rows)
        case _:
            return False
    return True


def _from_centre(lattice: Lattice) -> Fraction:
    """The mean of values that lie evenly over the lower half."""
    return Fraction(lattice.lower - lattice.upper, 4)


def _evenly(cells: int, rows: int) -> Numbers:
    """So many rows over the lower half of a line."""
    half = max(1, cells // 2)
    counts = np.zeros(cells, dtype=np.int64)
    counts[:half] = np.diff(np.arange(half + 1, dtype=np.int64) * rows // half)
    return counts


def _ranks(mechanism: Mechanism, rows: int) -> tuple[int, ...]:
    """The places of the quantiles, and the counts around them."""
    if not isinstance(mechanism, RankChoice):
        raise TypeError("a quantile is chosen by rank")
    counts = _evenly(mechanism.cells, rows)
    below = np.cumsum(counts)
    cells = [int(np.searchsorted(below, max(1, round(level * rows)))) for level in mechanism.levels]
    positions = tuple(int((cell + HALF) * mechanism.parts) for cell in cells)
    places = np.flatnonzero(counts)
    between = counts_between(CellCounts(places, counts[places]), mechanism.cuts(positions))
    answers = balanced(len(between), mechanism.tilt) @ between if mechanism.gaussian else between
    return *positions, *answers.tolist()


def _running(mechanism: Mechanism, rows: int) -> tuple[int, ...]:
    if not isinstance(mechanism, Additive) or mechanism.strategy is None:
        raise TypeError("running totals are noisy sums of cells")
    return tuple(mechanism.strategy.answers(_evenly(mechanism.strategy.size, rows)).tolist())
