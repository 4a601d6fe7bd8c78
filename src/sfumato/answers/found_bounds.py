"""Sums and averages whose bounds were found: values, and which bounds and what they clip. Post-processing only."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from sfumato.kernel.certify import Certified
from sfumato.kernel.mechanisms.additive import Law
from sfumato.kernel.mechanisms.found_bounds import BoundedSum
from sfumato.kernel.mechanisms.protocol import Mechanism, Released
from sfumato.plan.nodes import Magnitudes
from sfumato.query.rewrite import FoundColumn, FoundMeanColumn, FoundSumColumn, KeyColumn, OutputColumn

MOST_NOTES = 12


def sum_of(column: FoundSumColumn, found: tuple[int, ...]) -> float | None:
    return in_units(found[2], column.total.cells) if has_bounds(found) else None


def mean_of(column: FoundMeanColumn, found: tuple[int, ...], count: int) -> float | None:
    """Within the bounds found."""
    if not has_bounds(found):
        return None
    low, high, total, *_ = found
    inside = min(max(Fraction(total, max(count, 1)), Fraction(low)), Fraction(high))
    return float(inside * column.total.cells.step)


def has_bounds(found: tuple[int, ...]) -> bool:
    """Without any, every value was clamped to 0 and nothing is known of the sum, not even its error."""
    return any(found[:2])


def counted(count: Released) -> int:
    """A number of values, also when it was counted as the only cell of a histogram."""
    return count if isinstance(count, int) else count[0]


def noise_of(mechanism: Mechanism, found: tuple[int, ...]) -> Law:
    """What was added to the sum: it follows from the bounds that were found."""
    if not isinstance(mechanism, BoundedSum):
        raise TypeError("only a sum whose bounds are found has noise that depends on them")
    return mechanism.noise(max(-found[0], found[1]))


def in_units(steps: int, cells: Magnitudes) -> float:
    value = steps * cells.step
    return int(value) if cells.exponent >= 0 else float(value)


def found_bounds(
    certified: Certified,
    columns: Sequence[OutputColumn],
    rows: Sequence[Mapping[str, Any]],
    values: Sequence[tuple[Released, ...]],
) -> tuple[str, ...]:
    """A sentence for every sum and group: which bounds were found, what they cost and what they clip."""
    keys = [column.name for column in columns if isinstance(column, KeyColumn)]
    notes = []
    for column in columns:
        if isinstance(column, FoundSumColumn | FoundMeanColumn):
            share = certified.plan.measures[column.measure].share * column.total.finding / certified.cost.amount
            for row, numbers in list(zip(rows, values, strict=True))[:MOST_NOTES]:
                group = "".join(f", {row[key]}" for key in keys)
                notes.append(f"{column.name}{group}: {_words(column, numbers[column.measure], float(100 * share))}")
            if len(rows) > MOST_NOTES:
                notes.append(f"{column.name}: so too in {len(rows) - MOST_NOTES} more groups.")
    return tuple(notes)


def _words(column: FoundColumn, found: Any, percent: float) -> str:
    low, high, _, beyond, counted = found
    if not has_bounds(found):
        return f"no bounds were found with {percent:.3g} % of the spend: too few rows, or all 0. Spend more."
    ends = " to ".join(f"{in_units(end, column.total.cells):.6g}" for end in (low, high))
    clipped = f"at most about {100 * min(beyond / max(counted, 1), 1):.2g} % of the rows lie beyond"
    return f"bounds {ends} were found privately with {percent:.3g} % of the spend; {clipped}."
